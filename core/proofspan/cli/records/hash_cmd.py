"""`proofspan hash`: the canonical sha256 of JSONL and JSON files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from proofspan.cli.output import NamedPath, json_text
from proofspan.errors import InputFault, Problem, printable
from proofspan.traces.lines.canonical_hash import Hashed, hash_file
from proofspan.traces.lines.unpack import PACKED, plain_source, temporary_folder
from proofspan.wording import counted

#: How many issues of a file are printed; `--json` has the first thousand.
ISSUES_SHOWN = 20


@click.command("hash")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=NamedPath())
@click.option("--json", "as_json", is_flag=True, help="Print hashes and findings as JSON.")
def command(files: tuple[Path, ...], as_json: bool) -> None:
    """Print the canonical sha256 of each FILE: JSONL, or JSON if its name ends in .json; .gz and .zst too.

    The same data has the same hash whatever the order of keys, white space, blank lines, escapes in strings
    and packing. The order of lines matters, and numbers are compared as written: 1 and 1.0 differ.

    Exit status: 0 every file has a hash, 1 a file has none, since a line is not JSON or has a duplicate key,
    2 a file cannot be read at all.
    """
    hashed: list[tuple[Path, Hashed]] = []
    problems: list[Problem] = []
    for path in files:
        try:
            name = path.with_suffix("") if path.suffix.lower() in PACKED else path
            with temporary_folder() as folder:
                plain = plain_source(path, cache_dir=Path(folder))
                result = hash_file(plain, file=str(path), whole=name.suffix.lower() == ".json")
            hashed.append((path, result))
        except InputFault as fault:
            problems += fault.problems
    if as_json:
        reports = [
            {
                "path": str(path),
                "sha256": result.sha256,
                "lines": result.lines,
                "findings": result.findings,
                "issues": [
                    {
                        "code": issue.code,
                        "line": issue.source.line,
                        "reason": issue.message,
                        "fix": issue.fix,
                        "excerpt": issue.excerpt,
                    }
                    for issue in result.issues
                ],
            }
            for path, result in hashed
        ]
        click.echo(json_text(reports), nl=False)
    for path, result in hashed if not as_json else ():
        if result.sha256 is not None:
            click.echo(printable(f"{result.sha256}  {path}"))
            continue
        for issue in result.issues[:ISSUES_SHOWN]:
            click.echo(printable(str(issue)), err=True)
        lines = f"{result.findings:,} of {counted(result.lines, 'line')}"
        click.echo(printable(f"{path}: no hash: {lines} without a canonical form"), err=True)
    if problems:
        raise InputFault(*problems)
    sys.exit(1 if any(result.sha256 is None for _, result in hashed) else 0)
