"""`proofspan import KIND`: other tools' files into a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import NamedPath
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.services.imported_pages import ImportedPages, imported_pages
from proofspan.traces.importers.mapped import import_mapped
from proofspan.traces.importers.report import ImportReport
from proofspan.wording import counted

#: How many unreadable lines and problems are listed before the rest is only counted.
LISTED = 30
#: PDF processes, and seconds for one passage: one that stands nowhere makes its worker read the document.
WORKERS, TIMEOUT_S = 2, 60.0


@click.group("import")
def command() -> None:
    """Turn other tools' files into a workspace."""


@command.command("mapped")
@click.argument("source", type=NamedPath())
@click.option(
    "--mapping",
    required=True,
    type=NamedPath(),
    help="YAML file that says where things stand.",
)
@click.option(
    "--to",
    "workspace",
    required=True,
    type=NamedPath(),
    help="Folder to make the workspace in.",
)
@click.option(
    "--link/--copy", default=False, help="Hard-link documents instead of copying them (the default)."
)
@click.option(
    "--force", is_flag=True, help="Replace what an earlier import made in the folder, and only that."
)
@click.option(
    "--pages/--no-pages",
    "check_pages",
    default=True,
    help="Look for some passages of each document, to see whether the page base is right.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def mapped(
    source: Path, mapping: Path, workspace: Path, link: bool, force: bool, check_pages: bool, as_json: bool
) -> None:
    """Turn any JSON or JSONL of RAG results into a workspace, as a mapping says.

    Examples of mappings lie in data/mappings. Exit status 1 where fields, lines or documents were missing, or
    the pages show another base than the mapping states; the workspace is made all the same.
    """
    report = import_mapped(source, mapping=mapping, workspace=workspace, link=link, force=force)
    pages = _pages(workspace, mapping) if check_pages else ()
    told = [line for each in pages for line in each.lines()]
    if as_json:
        click.echo(orjson.dumps({**report.as_json(), "pages": told}, option=orjson.OPT_INDENT_2))
    else:
        _print(report, workspace)
        for line in told:
            click.echo(line)
    is_off = any(each.is_systematic for each in pages)
    raise SystemExit(1 if report.has_findings or is_off else 0)


def _pages(workspace: Path, mapping: Path) -> tuple[ImportedPages, ...]:
    with PdfPool(workers=WORKERS, timeout_s=TIMEOUT_S) as pool:
        return imported_pages(workspace, mapping, pool=pool, workers=WORKERS)


def _print(report: ImportReport, workspace: Path) -> None:
    console = Console(soft_wrap=True)
    console.print(Text(printable(f"{_made(report)} → {workspace}")))
    console.print(_field_table(report))
    for line in _not_taken(report):
        console.print(Text(printable(line)))
    issues = [f"{each.where}: {each.message}" for each in report.issues]
    for lines in (issues, [str(problem) for problem in report.problems]):
        for line in lines[:LISTED]:
            console.print(Text(printable(line)))
        if len(lines) > LISTED:
            console.print(Text(f"… and {len(lines) - LISTED:,} more; --json lists all"))


def _made(report: ImportReport) -> str:
    there = len(report.documents) - len(report.missing)
    return (
        f"{counted(report.traces, 'trace')} ({report.joined:,} with gold), "
        f"{counted(report.chunks, 'chunk')}, {counted(report.gold, 'gold question')}, "
        f"{there:,} of {counted(len(report.documents), 'document')}"
    )


def _not_taken(report: ImportReport) -> Iterator[str]:
    """The documents that were not taken, one line for all of the same reason and remedy."""
    names: dict[tuple[str, str], list[str]] = {}
    for each in report.missing:
        names.setdefault((each.reason, each.fix), []).append(each.doc_id)
    for (reason, fix), doc_ids in names.items():
        yield f"{counted(len(doc_ids), 'document')} not taken: {', '.join(doc_ids)}: {reason} — {fix}"


def _field_table(report: ImportReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("field")
    for name in ("found", "not found", "unusable"):
        table.add_column(name, justify="right")
    table.add_column("")
    for count in report.fields:
        first = f"first on line {count.first_unusable}" if count.first_unusable else ""
        if not count.found and not first:
            first = "never found"
        cells = (count.key, f"{count.found:,}", f"{count.absent:,}", f"{count.unusable:,}", first)
        table.add_row(*(Text(cell) for cell in cells))
    return table
