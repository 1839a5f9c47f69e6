"""`proofspan import KIND`: other tools' files into a workspace."""

from __future__ import annotations

from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.errors import printable
from core.traces.importers.mapped import import_mapped
from core.traces.importers.report import ImportReport

#: How many unreadable lines and problems are listed before the rest is only counted.
LISTED = 30


@click.group("import")
def command() -> None:
    """Turn other tools' files into a workspace."""


@command.command("mapped")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--mapping",
    required=True,
    type=click.Path(path_type=Path),
    help="YAML file that says where things stand.",
)
@click.option(
    "--to",
    "workspace",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to make the workspace in.",
)
@click.option(
    "--link/--copy", default=False, help="Hard-link documents instead of copying them (the default)."
)
@click.option(
    "--force", is_flag=True, help="Replace what an earlier import made in the folder, and only that."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def mapped(source: Path, mapping: Path, workspace: Path, link: bool, force: bool, as_json: bool) -> None:
    """Turn any JSON or JSONL of RAG results into a workspace, as a mapping says.

    Examples of mappings lie in data/mappings. Exit status 1 where fields, lines or documents were missing;
    the workspace is made all the same.
    """
    report = import_mapped(source, mapping=mapping, workspace=workspace, link=link, force=force)
    if as_json:
        click.echo(orjson.dumps(report.as_json(), option=orjson.OPT_INDENT_2))
    else:
        _print(report, workspace)
    raise SystemExit(1 if report.has_findings else 0)


def _print(report: ImportReport, workspace: Path) -> None:
    console = Console(soft_wrap=True)
    documents = f"{len(report.documents) - len(report.missing):,} of {len(report.documents):,} documents"
    console.print(
        Text(
            f"{report.traces:,} traces ({report.joined:,} with gold), {report.chunks:,} chunks, "
            f"{report.gold:,} gold questions, {documents} → {workspace}"
        )
    )
    console.print(_field_table(report))
    if report.missing:
        names = ", ".join(
            each.doc_id if each.path else f"{each.doc_id} ({each.reason})" for each in report.missing
        )
        console.print(Text(printable(f"{len(report.missing):,} documents are missing: {names}")))
        console.print("Put each at its path in the manifest; `proofspan check` lists those still missing.")
    issues = [f"{each.source.file}:{each.source.line}: {each.reason}" for each in report.issues]
    for lines in (issues, [str(problem) for problem in report.problems]):
        for line in lines[:LISTED]:
            console.print(Text(printable(line)))
        if len(lines) > LISTED:
            console.print(Text(f"… and {len(lines) - LISTED:,} more; --json lists all"))


def _field_table(report: ImportReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("field")
    for name in ("found", "not found", "unusable"):
        table.add_column(name, justify="right")
    table.add_column("")
    for count in report.fields:
        first = f"first on line {count.first_unusable}" if count.first_unusable else ""
        cells = (count.key, f"{count.found:,}", f"{count.absent:,}", f"{count.unusable:,}", first)
        table.add_row(*(Text(cell) for cell in cells))
    return table
