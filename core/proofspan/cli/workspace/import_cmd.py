"""`proofspan import KIND`: another tool's files into a workspace. Every registered importer is a KIND."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import FIX_OPTION, NamedPath
from proofspan.cli.workspace.opening import confirm_links
from proofspan.cli.workspace.suggest_cmd import command as suggest
from proofspan.errors import Problem, printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.services.imported_pages import imported_pages
from proofspan.services.opening.documents import Found, find
from proofspan.services.opening.things import pdfs_of
from proofspan.traces.importers.registry import importers
from proofspan.traces.importers.workspace import ImportReport, import_source
from proofspan.wording import counted

#: How many unreadable lines and problems are listed; the rest is only counted.
LISTED = 30
#: How many missing documents are named without --list.
NAMED = 5
_AMBIGUOUS = ("several different files could be it", "Name the right one with --documents.")
_REFUSED = ("it is behind a link that was not confirmed", "Confirm it with --trust-roots.")
#: PDF processes, and seconds for one passage: for a passage that is nowhere, all pages are read.
WORKERS, TIMEOUT_S = 2, 60.0

_EXIT_STATUS = (
    "Exit status 1 if fields, lines or documents were missing, or the pages show another base than the "
    "import took; the workspace is made all the same."
)


class _Kinds(click.Group):
    """`suggest`, and the importers, looked up when they are needed: entry points may come and go."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*importers(), str(suggest.name)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == suggest.name:
            return suggest
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
        @click.option("--documents", multiple=True, metavar="DIR", type=NamedPath(), help="Where PDFs are.")
        @click.option("--trust-roots", is_flag=True, help="Follow links out of --documents without asking.")
        @click.option("--list", "lists_all", is_flag=True, help="List all missing documents and problems.")
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
            documents: tuple[Path, ...],
            trust_roots: bool,
            lists_all: bool,
            link: bool,
            force: bool,
            pages: bool,
            json: bool,
            fix_encoding: bool = False,
            **files: Path,
        ) -> None:
            search = _Search(documents, trust_roots=trust_roots)
            report = import_source(
                importer,
                source,
                workspace=to,
                files=files,
                link=link,
                force=force,
                fix_encoding=fix_encoding,
                find=search if documents else None,
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
                _print(report, to, search.found, lists_all=lists_all)
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


class _Search:
    """Looks for documents among the PDFs of --documents; `found` says what came of it."""

    def __init__(self, documents: Collection[Path], *, trust_roots: bool) -> None:
        self.pdfs, self.trust_roots, self.found = pdfs_of([*documents]), trust_roots, Found()

    def __call__(self, names: Collection[str]) -> Mapping[str, Path]:
        self.found = find(names, self.pdfs, confirm=partial(confirm_links, trust_all=self.trust_roots))
        return self.found.files


def _print(report: ImportReport, workspace: Path, found: Found, *, lists_all: bool) -> None:
    console = Console(soft_wrap=True)
    present = len(report.documents) - len(report.missing)
    made = (
        f"{counted(report.traces, 'trace')} ({report.joined:,} with gold), "
        f"{counted(report.chunks, 'chunk')}, {counted(report.gold, 'gold question')}, "
        f"{present:,} of {counted(len(report.documents), 'document')}"
    )
    console.print(Text(printable(f"{made} → {workspace}")))
    if report.fields:
        console.print(_table(report))
    for line in _missing(report, found, lists_all=lists_all):
        console.print(Text(printable(line)))
    most = None if lists_all else LISTED
    listed: tuple[tuple[Problem, ...], ...] = (report.issues, report.problems)
    for problems in listed:
        for problem in problems[:most]:
            console.print(Text(str(problem)))
        if most is not None and len(problems) > most:
            console.print(Text(f"… and {len(problems) - most:,} more; --list lists all"))


def _table(report: ImportReport) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("field", min_width=max(len(count.key) for count in report.fields))
    for name in ("found", "not found", "unusable"):
        table.add_column(name, justify="right")
    table.add_column("", overflow="fold")
    for count in report.fields:
        note = f"first on {report.unit} {count.first_unusable}" if count.first_unusable else ""
        if count.key.split(".")[-1] == "where" and not note:
            note = "not found: left out" if count.absent else ""
        elif not count.found and not note and count.absent:
            note = "always null" if count.null == count.absent else f"never found: {count.instead}"
        elif not count.found and not note:
            note = "never found"
        cells = (count.key, f"{count.found:,}", f"{count.absent:,}", f"{count.unusable:,}", note)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _missing(report: ImportReport, found: Found, *, lists_all: bool) -> list[str]:
    """Return a line for each reason why documents were not taken, with their number, or their names."""
    reasons: dict[tuple[str, str], list[str]] = {}
    others = {**dict.fromkeys(found.ambiguous, _AMBIGUOUS), **dict.fromkeys(found.refused, _REFUSED)}
    for each in report.missing:
        if each.problem is not None:
            message = each.problem.message.partition(", to ")[0]  # links may lead to as many places
            reasons.setdefault(others.get(each.doc_id, (message, each.problem.fix)), []).append(each.doc_id)
    whole = {each.doc_id: each.problem.message for each in report.missing if each.problem is not None}
    lines = []
    for (message, fix), doc_ids in reasons.items():
        if len(doc_ids) == 1 and whole[doc_ids[0]].startswith(message):
            message = whole[doc_ids[0]]
        is_named = lists_all or len(doc_ids) <= NAMED
        names = f": {', '.join(doc_ids)}" if is_named else " (--list names them)"
        lines.append(f"{counted(len(doc_ids), 'document')} not taken{names}: {message} — {fix}")
    return lines
