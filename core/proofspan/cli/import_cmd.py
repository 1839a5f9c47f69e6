"""`proofspan import KIND`: another tool's files into a workspace. Every registered importer is a KIND."""

from __future__ import annotations

from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import FIX_OPTION, NamedPath
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.services.imported_pages import imported_pages
from proofspan.traces.importers.registry import importers
from proofspan.traces.importers.workspace import ImportReport, import_source
from proofspan.wording import counted

#: How many unreadable lines and problems are listed; the rest is only counted.
LISTED = 30
#: PDF processes, and seconds for one passage: for a passage that is nowhere, all pages are read.
WORKERS, TIMEOUT_S = 2, 60.0

_EXIT_STATUS = (
    "Exit status 1 if fields, lines or documents were missing, or the pages show another base than the "
    "import took; the workspace is made all the same."
)


class _Kinds(click.Group):
    """The importers as subcommands, looked up when they are needed: entry points may come and go."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(importers())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        importer = importers().get(cmd_name)
        if importer is None:
            return None

        @click.command(
            importer.name,
            help=f"{importer.description}\n\n{_EXIT_STATUS}",
            short_help=importer.description.partition(". ")[0].rstrip("."),
        )
        @click.argument("source", type=NamedPath())
        @click.option("--to", required=True, type=NamedPath(), help="Folder to make the workspace in.")
        @click.option("--link/--copy", help="Hard-link documents instead of copying them (the default).")
        @click.option(
            "--force", is_flag=True, help="Replace what an earlier import made in the folder, and only that."
        )
        @click.option(
            "--pages/--no-pages",
            default=True,
            help="Look for some passages of each document, to see whether the page base is right.",
        )
        @click.option("--json", is_flag=True, help="Print the report as JSON.")
        def run(
            source: Path,
            to: Path,
            link: bool,
            force: bool,
            pages: bool,
            json: bool,
            fix_encoding: bool = False,
            **files: Path,
        ) -> None:
            report = import_source(
                importer,
                source,
                workspace=to,
                files=files,
                link=link,
                force=force,
                fix_encoding=fix_encoding,
            )
            written_by = files["mapping"].name if "mapping" in files else importer.name
            lines: list[str] = []
            is_off = False
            if pages:
                with PdfPool(workers=WORKERS, timeout_s=TIMEOUT_S) as pool:
                    lines, is_off = imported_pages(
                        to, written_by, report.page_keys, pool=pool, workers=WORKERS
                    )
            if json:
                click.echo(orjson.dumps({**report.as_json(), "pages": lines}, option=orjson.OPT_INDENT_2))
            else:
                _print(report, to)
                for line in lines:
                    click.echo(line)
            raise SystemExit(1 if report.has_findings or is_off else 0)

        run.params[1:1] = [
            click.Option([f"--{name}"], required=True, type=NamedPath(), help=text)
            for name, text in importer.files.items()
        ]
        return FIX_OPTION(run) if importer.fixes else run


@click.command("import", cls=_Kinds)
def command() -> None:
    """Turn another tool's files into a workspace."""


def _print(report: ImportReport, workspace: Path) -> None:
    console = Console(soft_wrap=True)
    present = len(report.documents) - len(report.missing)
    made = (
        f"{counted(report.traces, 'trace')} ({report.joined:,} with gold), "
        f"{counted(report.chunks, 'chunk')}, {counted(report.gold, 'gold question')}, "
        f"{present:,} of {counted(len(report.documents), 'document')}"
    )
    console.print(Text(printable(f"{made} → {workspace}")))
    if report.fields:
        table = Table(box=None, pad_edge=False)
        table.add_column("field")
        for name in ("found", "not found", "unusable"):
            table.add_column(name, justify="right")
        table.add_column("")
        for count in report.fields:
            note = f"first on line {count.first_unusable}" if count.first_unusable else ""
            if not count.found and not note:
                note = "never found"
            cells = (count.key, f"{count.found:,}", f"{count.absent:,}", f"{count.unusable:,}", note)
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)
    missing: dict[tuple[str, str], list[str]] = {}
    for document in report.missing:
        if document.problem is not None:
            missing.setdefault((document.problem.message, document.problem.fix), []).append(document.doc_id)
    for (message, fix), doc_ids in missing.items():
        names = ", ".join(doc_ids)
        line = f"{counted(len(doc_ids), 'document')} not taken: {names}: {message} — {fix}"
        console.print(Text(printable(line)))
    issues = [f"{each.where}: {each.message}" for each in report.issues]
    for lines in (issues, [str(problem) for problem in report.problems]):
        for line in lines[:LISTED]:
            console.print(Text(printable(line)))
        if len(lines) > LISTED:
            console.print(Text(f"… and {len(lines) - LISTED:,} more; --json lists all"))
