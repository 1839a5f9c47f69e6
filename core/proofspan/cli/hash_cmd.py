"""`proofspan hash`: the canonical sha256 of JSONL and JSON files."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from proofspan.cli.output import NamedPath, json_text
from proofspan.errors import InputFault, Problem, printable
from proofspan.traces.lines.canonical_hash import Hashed, hash_file
from proofspan.traces.lines.unpack import plain_source
from proofspan.wording import counted

#: So many findings of a file are printed; `--json` has the first thousand.
ISSUES_SHOWN = 20
PACKED = (".gz", ".zst")


@click.command("hash")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=NamedPath())
@click.option("--json", "as_json", is_flag=True, help="Print hashes and findings as JSON.")
def command(files: tuple[Path, ...], as_json: bool) -> None:
    """Print the canonical sha256 of each FILE: JSONL, or JSON where its name ends in .json; .gz and .zst too.

    The same data give the same hash whatever the order of keys, white space, blank lines, escapes in strings
    and packing. The order of lines counts, and a number is as it is written: 1 and 1.0 differ.

    Exit status: 0 every file has a hash, 1 some line is no JSON, or has a key twice: its file has none, 2 a
    file cannot be read at all.
    """
    hashed, problems = _hashed(files)
    if as_json:
        click.echo(json_text(list(_told(hashed))), nl=False)
    else:
        for path, found in hashed:
            _print(path, found)
    if problems:
        raise InputFault(*problems)
    sys.exit(1 if any(found.sha256 is None for _, found in hashed) else 0)


def _hashed(files: Sequence[Path]) -> tuple[list[tuple[Path, Hashed]], list[Problem]]:
    """Each file's hash, and what is wrong with those that cannot be read."""
    hashed: list[tuple[Path, Hashed]] = []
    problems: list[Problem] = []
    for path in files:
        try:
            hashed.append((path, _hash(path)))
        except InputFault as fault:
            problems += fault.problems
    return hashed, problems


def _hash(path: Path) -> Hashed:
    name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    with tempfile.TemporaryDirectory(prefix="proofspan-") as folder:
        plain = plain_source(path, cache_dir=Path(folder))
        return hash_file(plain, file=str(path), whole=name.suffix.lower() == ".json")


def _print(path: Path, found: Hashed) -> None:
    """`sha256  path`, or what keeps the file from having one."""
    if found.sha256 is not None:
        click.echo(printable(f"{found.sha256}  {path}"))
        return
    for issue in found.issues[:ISSUES_SHOWN]:
        click.echo(printable(str(issue)), err=True)
    lines = f"{found.findings:,} of {counted(found.lines, 'line')}"
    click.echo(printable(f"{path}: no hash: {lines} without a canonical form"), err=True)


def _told(hashed: Sequence[tuple[Path, Hashed]]) -> Iterator[dict[str, object]]:
    for path, found in hashed:
        yield {
            "path": str(path),
            "sha256": found.sha256,
            "lines": found.lines,
            "findings": found.findings,
            "issues": [
                {
                    "code": issue.code,
                    "line": issue.source.line,
                    "reason": issue.message,
                    "fix": issue.fix,
                    "excerpt": issue.excerpt,
                }
                for issue in found.issues
            ],
        }
