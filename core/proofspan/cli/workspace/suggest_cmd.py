"""`proofspan import suggest`: a first mapping for a file of another tool."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

import click

from proofspan.cli.output import STDOUT, NamedPath, output_to
from proofspan.errors import Fault, printable
from proofspan.services.suggesting.draft import suggested
from proofspan.traces.formats.records import sample_of
from proofspan.traces.registry import Recognized, recognized


@click.command("suggest", short_help="Write a first mapping for a file of another tool")
@click.argument("file", type=NamedPath())
@click.option("--out", default=STDOUT, metavar="MAPPING", help="The mapping to write; stdout without it.")
def command(file: Path, out: str) -> None:
    """Write a first mapping for FILE, guessed from its records: JSON, JSONL, CSV or Parquet.

    Each line says in how many of the records its field is, with an example. What is unsure is a comment.
    Exit status 1 if no question and no text was found, so that the mapping must be completed.
    """
    known = _recognized(file)
    if known is not None:
        name = shlex.quote(str(file))
        note = f"{file.name} is {known.format.title}: proofspan open {name} reads it without a mapping"
        click.echo(printable(note), err=True)
    try:
        text, is_usable = suggested(file)
    except Fault:
        if known is None:
            raise
        raise SystemExit(0) from None
    with output_to(out) as stream:
        stream.write(text.encode())
    if out != STDOUT:
        arguments = ["import", "mapped", str(file), "--mapping", out, "--to"]
        click.echo(printable(f"next: proofspan {shlex.join(arguments)} WORKSPACE"), err=True)
    raise SystemExit(0 if is_usable else 1)


def _recognized(file: Path) -> Recognized | None:
    with suppress(Fault):
        return recognized(sample_of(file))
    return None
