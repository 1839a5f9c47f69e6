"""`proofspan index`: build or refresh the index of a workspace."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from core.cli import Started
from core.cli.paths import NamedPath
from core.errors import printable
from core.manifest.load import load_manifest
from core.services.workspace import profile_of_options, with_profile
from core.store.cache import default_cache_dir
from core.store.index import IndexReport, RunReport, build_index
from core.store.index import Progress as IndexProgress
from core.store.scan import spare_pandas
from core.store.types import OnProgress
from core.triage.profile import TEMPLATES
from core.triage.types import Template

#: So many line issues of a run are printed; `--json` has the first hundred, the dashboard all.
ISSUES_SHOWN = 20


@click.command("index")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "runs", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("--cache-dir", type=NamedPath(), help="Where the index lies.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that read large files.")
@click.option("--template", type=click.Choice(TEMPLATES), help="Read the runs with another profile.")
@click.option("--refusal", multiple=True, help="A refusal phrase of that profile (may be repeated).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--progress-json", is_flag=True, help="Print progress as JSON, one object a line.")
def command(
    workspace: Path,
    runs: tuple[str, ...],
    cache_dir: Path | None,
    workers: int | None,
    template: Template | None,
    refusal: tuple[str, ...],
    as_json: bool,
    progress_json: bool,
) -> None:
    """Build or refresh the index of a workspace; what is up to date is left alone.

    Exit status: 0 everything could be read, 1 some lines or files could not, 2 nothing can be indexed.
    """
    started = click.get_current_context().find_object(Started)
    if started and started.alone:
        spare_pandas()
    manifest = with_profile(load_manifest(workspace), profile_of_options(template, refusal))
    with _progress(as_lines=progress_json, quiet=as_json) as on_progress:
        report = build_index(
            manifest,
            runs=runs or None,
            cache_dir=cache_dir or default_cache_dir(),
            workers=workers,
            on_progress=on_progress,
        )
    if as_json:
        click.echo(orjson.dumps(report_to_json(report), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    elif progress_json:
        click.echo(orjson.dumps({"event": "done", **report_to_json(report)}, option=orjson.OPT_SORT_KEYS))
    else:
        for run in report.runs:
            _print_run(run)
        if not report.runs:
            click.echo("The manifest lists no run yet, so there is nothing to index.", err=True)
    sys.exit(1 if report.has_findings else 0)


def report_to_json(report: IndexReport) -> dict[str, object]:
    """The report as plain data."""
    return {"findings": report.has_findings, "runs": [asdict(run) for run in report.runs]}


def _print_run(run: RunReport) -> None:
    done = f"{_count(run.lines_read, 'line')} read, {run.reason}" if run.was != "fresh" else run.reason
    click.echo(printable(f"{run.run_id}: {_count(run.rows, 'trace')} ({done})"))
    if run.waiting_bytes:
        click.echo(f"  {run.waiting_bytes:,} bytes of a last line without line end wait for the rest of it")
    for problem in run.problems:
        click.echo(printable(f"{problem.severity}: {problem}"), err=True)
    for issue in run.issues[:ISSUES_SHOWN]:
        where = f"{issue.source.file}:{issue.source.line}"
        click.echo(printable(f"{where}: {issue.reason} — {issue.remedy}"), err=True)
    if run.line_issues > ISSUES_SHOWN:
        click.echo(f"… {_count(run.line_issues, 'line')} of {run.run_id} could not be used in all", err=True)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


@contextmanager
def _progress(*, as_lines: bool, quiet: bool) -> Iterator[OnProgress | None]:
    """A bar in a terminal, JSON lines where a program listens, else nothing."""
    if as_lines:
        yield _print_progress
    elif quiet or not sys.stderr.isatty():
        yield None
    else:
        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Bars(bar).show


class _Bars:
    """One bar a run, made when it is first heard of."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: IndexProgress) -> None:
        """Move the run's bar to where it is."""
        if progress.run_id not in self._tasks:
            self._tasks[progress.run_id] = self._bar.add_task(
                printable(progress.run_id), total=progress.total
            )
        self._bar.update(self._tasks[progress.run_id], completed=progress.done)


def _print_progress(progress: IndexProgress) -> None:
    click.echo(orjson.dumps({"event": "progress", **asdict(progress)}, option=orjson.OPT_SORT_KEYS))
    sys.stdout.flush()
