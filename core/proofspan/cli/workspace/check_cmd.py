"""`proofspan check`: is everything there that the manifest names, and is it what it was?"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import NamedPath, print_problems, progress_bar
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest import trust
from proofspan.manifest.check import (
    ATTACHMENTS_WRONG,
    FINDINGS,
    LINES_UNREADABLE,
    ArtifactCheck,
    CheckReport,
    check_workspace,
    sha256_lines,
)
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.contents_check import everything, opening
from proofspan.services.workspace.open import goals_of
from proofspan.wording import counted

#: Wide enough for keys and paths where nothing says how wide the output is.
WIDTH_WITHOUT_TERMINAL = 140

#: More exact than the state where the first problem's code says more.
_WORDS = {
    "path_refused": "path refused",
    "path_outside": "leaves its folder",
    "root_not_trusted": "root not confirmed",
    "not_a_file": "not a file",
    "pdf_is_html": "is a web page",
    "json_is_html": "is a web page",
    "jsonl_is_csv": "is CSV",
    "empty_file": "is empty",
    "locked": "is locked",
    "no_pages": "has no pages",
    "record_unusable": "no pinning record",
    "pin_contradicts": "contradicts the run",
    LINES_UNREADABLE: "some lines unreadable",
    ATTACHMENTS_WRONG: "some attachments wrong",
}
_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold"}


@click.command("check")
@click.argument("workspace", type=NamedPath())
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--no-hashes", is_flag=True, help="Leave out comparing files with their sha256.")
@click.option("--sha256-lines", "as_lines", is_flag=True, help="Print each artifact's sha256 line to paste.")
@click.option("--trust-roots", is_flag=True, help="Confirm the folders in `roots`, now and later.")
def command(workspace: Path, as_json: bool, no_hashes: bool, as_lines: bool, trust_roots: bool) -> None:
    """Verify a workspace: every artifact there, of the right kind, with the right hash, every line a record.

    Exit status: 0 nothing is wrong, 1 something is, 2 the manifest itself cannot be used.
    """
    manifest = load_manifest(workspace)
    if trust_roots:
        for _, folder in trust.untrusted_roots(manifest):
            trust.remember(manifest.folder, folder)
    with PdfPool(workers=1) as pool, progress_bar("checking") as on_progress:
        report = check_workspace(
            manifest,
            hashes=not no_hashes,
            every_hash=as_lines,
            on_progress=on_progress,
            examine=opening(pool) if as_lines else everything(manifest, pool),
            others=goals_of(manifest)[1],
        )
    if as_lines:
        for line in sha256_lines(report):
            click.echo(printable(line))
        # A hash that differs is what the lines are asked for; the rest is still wrong.
        others = [
            each for each in report.problems if each.severity == "error" and each.code != "hash_differs"
        ]
        print_problems(others)
        sys.exit(1 if others else 0)
    if as_json:
        click.echo(json.dumps(report_to_json(report), ensure_ascii=False, indent=2, sort_keys=True))
    else:
        _print_report(report)
    sys.exit(0 if report.ok else 1)


def report_to_json(report: CheckReport) -> dict[str, Any]:
    """The report as plain data: sizes in bytes, a state for each artifact, every problem with its fix."""
    return {
        "name": report.manifest.name,
        "workspace": str(report.manifest.folder),
        "ok": report.ok,
        "hashes_compared": report.hashed,
        "artifacts": [
            {
                "key": check.artifact.key,
                "path": check.artifact.path,
                "root": check.artifact.root,
                "state": check.state,
                "size": check.size,
                "sha256": check.sha256,
                "sha256_expected": check.artifact.sha256,
                "problems": list(map(asdict, check.problems)),
            }
            for check in report.artifacts
        ],
        "manifest_problems": list(map(asdict, report.others)),
    }


def _print_report(report: CheckReport) -> None:
    console = Console(width=None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL, highlight=False)
    name, folder = printable(report.manifest.name), printable(str(report.manifest.folder))
    console.print(Text.assemble((name, "bold"), "  ", (folder, "dim")))
    console.print()
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    table.add_column("")
    table.add_column("artifact", overflow="fold")
    table.add_column("path", overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("state", no_wrap=True)
    for check in report.artifacts:
        artifact, (sign, words, style) = check.artifact, _state_of(check, hashed=report.hashed)
        path = f"{artifact.root}: {artifact.path}" if artifact.root else artifact.path
        table.add_row(
            Text(sign, style),
            Text(printable(artifact.key)),
            Text(printable(path), "dim"),
            Text("" if check.size is None else decimal(check.size)),
            Text(words, style),
        )
    console.print(table)
    if report.problems:
        console.print()
    for problem in report.problems:
        head = (problem.severity, _STYLES[problem.severity])
        console.print(Text.assemble(head, "  ", printable(problem.message)), soft_wrap=True)
        for name, value in (("where", problem.where), ("fix", problem.fix)):
            if value:
                console.print(Text.assemble((f"  {name:<7}", "dim"), printable(value)), soft_wrap=True)
    console.print()
    checks = report.artifacts
    good = sum(check.is_good for check in checks)
    agreeing = sum(
        check.state == "ok" and check.sha256 == check.artifact.sha256 is not None for check in checks
    )
    severities = Counter(problem.severity for problem in report.problems)
    parts = [f"{good} of {counted(len(checks), 'artifact')} {'is' if good == 1 else 'are'} good"]
    if report.hashed:
        parts.append(f"{counted(agreeing, 'hash', 'hashes')} {'agrees' if agreeing == 1 else 'agree'}")
    parts += [counted(severities[name], name) for name in ("error", "warning", "note") if severities[name]]
    console.print(Text(" · ".join(parts), "bold green" if report.ok else "bold red"))


def _state_of(check: ArtifactCheck, *, hashed: bool) -> tuple[str, str, str]:
    """Sign, words and style of a state; a good file of which something cannot be used has its own."""
    codes = [problem.code for problem in check.problems]
    if check.state != "ok":
        return "✗", _WORDS.get(codes[0], check.state.replace("_", " ")), "red"
    partly = next((_WORDS[code] for code in codes if code in FINDINGS), None)
    sign, words, style = ("✓", "good", "green") if partly is None else ("!", partly, "yellow")
    if "no_line_yet" in codes:
        words = "holds no line yet"
    elif check.file is None:
        words = "not written yet"
    elif check.artifact.sha256 is None:
        words += ", no hash given"
    else:
        words += ", hash agrees" if hashed else ", hash not compared"
    return sign, words, style
