"""`proofspan determinism`: PASS or FAIL on the outputs of two runs, with their first difference."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from proofspan.cli.output import JSON_OPTION, OUTPUT_OPTION, NamedPath, check_outputs, json_text, write_bytes
from proofspan.errors import printable
from proofspan.manifest.load import load_manifest
from proofspan.services.determinism import (
    Compared,
    Determinism,
    compare_outputs,
    compare_runs,
    conclusion,
)
from proofspan.services.pinning.proof import with_proof
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted

#: How many files of a folder are described.
FILES_SHOWN = 10


@click.command("determinism")
@click.argument("outputs", nargs=-1, required=True, metavar="A B", type=NamedPath())
@click.option("--runs", nargs=2, metavar="R1 R2", help="Compare the traces of two runs of the workspace A.")
@click.option("--ignore", multiple=True, metavar="FIELD", help="Leave a field of the records out; repeat.")
@click.option(
    "--record", type=NamedPath(), metavar="FILE", help="Write both hashes into this pinning record."
)
@JSON_OPTION
@OUTPUT_OPTION
def command(
    outputs: tuple[Path, ...],
    runs: tuple[str, str] | None,
    ignore: tuple[str, ...],
    record: Path | None,
    as_json: bool,
    output: str,
) -> None:
    """Decide whether A and B, the outputs of two runs of one command, are the same: PASS or FAIL.

    A and B are files (JSONL, JSON, text or anything else, packed or not) or folders. Their bytes are
    compared, then their records, for which the order of keys, white space and packing do not matter; the
    order of records does, and numbers are compared as written. FIELD is a name or a path such as
    metrics.latency_ms. With --runs A is a workspace, and run_id, ts and trace_id are left out.

    Exit status: 0 PASS, 1 FAIL, 2 something cannot be read.
    """
    if len(outputs) != (1 if runs else 2):
        wanted = "one workspace with --runs" if runs else "two files or folders"
        raise click.UsageError(f"name {wanted}, not {len(outputs)}")
    if runs:
        manifest = load_manifest(outputs[0])
        found = compare_runs(manifest, *(chosen_run(manifest, each) for each in runs), ignore=ignore)
    else:
        found = compare_outputs(*outputs, ignore=ignore)
    check_outputs([output], [each for each in outputs if each.is_file()])
    if record is not None:
        write_bytes(with_proof(record, found), str(record))
    if as_json:
        write_bytes(json_text(report_to_json(found)), output)
    else:
        lines = [*_lines(found), *([f"hashes written to {record}"] if record is not None else [])]
        write_bytes("".join(f"{printable(line)}\n" for line in lines).encode("utf-8", "replace"), output)
    sys.exit(0 if found.passes else 1)


def report_to_json(found: Determinism) -> dict[str, Any]:
    """The verdict as plain data, with every file."""
    of, a, b = found.sha256
    return {
        "passes": found.passes,
        "a": found.a,
        "b": found.b,
        "conclusion": conclusion(found),
        "ignored": list(found.ignored),
        "sha256": {"of": of, "a": a, "b": b},
        "files": [asdict(each) for each in found.files],
        "only_in_a": [each.name for each in found.alone if each.b is None],
        "only_in_b": [each.name for each in found.alone if each.a is None],
    }


def _lines(found: Determinism) -> Iterator[str]:
    yield conclusion(found)
    wrong = [each for each in found.files if not each.passes]
    for file in wrong[:FILES_SHOWN]:
        yield from _difference_lines(file, named=len(found.files) + len(found.alone) > 1)
    if len(wrong) > FILES_SHOWN:
        yield f"… and {len(wrong) - FILES_SHOWN:,} more files that differ, see --json"
    for pair in found.alone[:FILES_SHOWN]:
        yield f"only in {'B' if pair.a is None else 'A'}: {pair.name}"
    if len(found.alone) > FILES_SHOWN:
        yield f"… and {len(found.alone) - FILES_SHOWN:,} more files on one side, see --json"
    of, *hashes = found.sha256
    is_one = len(found.files) == 1 and not found.alone
    for side, name, sha256 in zip("AB", (found.a, found.b), hashes, strict=True):
        count = f", {_counted(found.files[0], 'AB'.index(side))}" if is_one else ""
        yield f"{side}  {name}{count}"
        yield f"   sha256 of {of}: {sha256}"


def _counted(file: Compared, side: int) -> str:
    if file.form == "bytes":
        return "compared as bytes"
    return counted(file.counts[side], "line" if file.form == "lines" else "record")


def _difference_lines(file: Compared, *, named: bool) -> Iterator[str]:
    first = file.first
    if first is None:
        return
    place = [file.name] if named else []
    if first.line or first.line_b:
        same = first.line == first.line_b
        place.append(f"line {first.line:,}" if same else f"line {first.line:,} of A, {first.line_b:,} of B")
    place += [part for part in (first.record, first.field) if part]
    yield f"first difference: {', '.join(place)}" if place else "first difference:"
    yield f"  A {first.a}"
    yield f"  B {first.b}"
    if file.largest is not None:
        gap = file.largest
        yield f"largest distance of two numbers: {gap.size:g} (line {gap.line:,}, {gap.field})"
