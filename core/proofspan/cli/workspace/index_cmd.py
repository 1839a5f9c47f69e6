"""`proofspan index`: build or refresh the index of a workspace, check its claims and locate its citations."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson

from proofspan.cli.output import NamedPath, json_text, progress_bar
from proofspan.diagnosis.types import TEMPLATES, Template
from proofspan.errors import printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.workspace.index_job import Event
from proofspan.services.workspace.open import profile_of_options, with_profile
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.files.types import Progress as Step
from proofspan.store.files.types import RunReport
from proofspan.store.index.build import build_index
from proofspan.store.index.scan import spare_pandas
from proofspan.wording import counted

if TYPE_CHECKING:  # slow to import: see `command` and `indexed`
    from proofspan.services.passes.checking import CheckedReport
    from proofspan.services.passes.locating import PlacedReport
    from proofspan.store.query.store import Store

#: Line issues of a run that are printed; `--json` has the first hundred, the dashboard all.
ISSUES_SHOWN = 20
#: PDF processes, and seconds for one citation: a quote that is not found makes a worker read the document.
LOCATORS, TIMEOUT_S = 2, 60.0
#: Statuses, the best first, and what a citation may be besides.
COUNTED = ("exact", "normalized", "fuzzy", "partial", "not_found", "not_placed")
BESIDES = {"page_mismatch": "on another page than cited", "numbers_differ": "with other numbers"}

#: Statuses of claims, the best first.
CLAIMS: Mapping[str, str] = {
    "supported": "supported",
    "derived": "derived",
    "other_language": "in another language than their evidence",
    "differs": "with a difference",
    "unsupported": "unsupported",
}


@click.command("index")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "runs", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("--cache-dir", type=NamedPath(), help="The index's folder.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes that read large files, and PDFs.")
@click.option("--template", type=click.Choice(TEMPLATES), help="Read the runs with another profile.")
@click.option("--refusal", multiple=True, help="A refusal phrase of that profile (may be repeated).")
@click.option("--claims/--no-claims", default=True, help="Check the claims of the answers as well.")
@click.option("--locate/--no-locate", default=True, help="Locate the citations as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--progress-json", is_flag=True, help="Print progress as JSON, one object a line.")
def command(
    workspace: Path,
    runs: tuple[str, ...],
    cache_dir: Path | None,
    workers: int | None,
    template: Template | None,
    refusal: tuple[str, ...],
    claims: bool,
    locate: bool,
    as_json: bool,
    progress_json: bool,
) -> None:
    """Build or refresh the index of a workspace, where it is out of date.

    Then the claims of the answers are checked against the chunks, and the citations are located in the
    workspace's documents, so that lists can be filtered by their status. The dashboard can be used meanwhile.

    Exit status: 0 every record was read, 1 some lines or files could not be read, 2 nothing can be indexed.
    The status of claims and citations does not count.
    """
    if click.get_current_context().obj:
        spare_pandas()
    manifest = with_profile(load_manifest(workspace), profile_of_options(template, refusal))
    cache, in_words = cache_dir or default_cache_dir(), not (as_json or progress_json)
    with _progress(as_lines=progress_json, quiet=as_json) as on_step:
        report = build_index(
            manifest,
            runs=runs or None,
            cache_dir=cache,
            workers=workers,
            on_progress=partial(on_step, "progress"),
        )
        if in_words:
            for run in report.runs:
                _print_run(run)
            if not report.runs:
                click.echo("The manifest lists no run yet, so there is nothing to index.", err=True)
        run_ids = [run.run_id for run in report.runs]
        checked: list[CheckedReport] = []
        if claims:
            from proofspan.services.passes.checking import check_runs  # as below

            for of_run in check_runs(
                manifest, run_ids, cache_dir=cache, workers=workers, on_progress=partial(on_step, "checking")
            ):
                checked.append(of_run)
                if in_words:
                    _print_checked(of_run)
        placed: list[PlacedReport] = []
        if locate:
            # A tenth of a second to import, which a page that waits for the index alone need not wait for.
            from proofspan.evidence.pdf.pool import PdfPool
            from proofspan.services.page_base import page_messages
            from proofspan.services.passes.locating import place_runs

            with PdfPool(workers=workers or LOCATORS, timeout_s=TIMEOUT_S) as pool:
                for found in place_runs(
                    manifest,
                    run_ids,
                    cache_dir=cache,
                    pool=pool,
                    workers=workers or LOCATORS,
                    on_progress=partial(on_step, "locating"),
                ):
                    findings = page_messages(manifest, found.run_id, cache_dir=cache, document=pool.document)
                    placed.append(replace(found, findings=findings))
                    if in_words:
                        _print_placed(placed[-1])
    data = {
        "findings": report.has_findings,
        "runs": [asdict(run) for run in report.runs],
        "checked": [asdict(run) for run in checked],
        "located": [asdict(run) for run in placed],
    }
    if as_json:
        click.echo(json_text(data), nl=False)
    elif progress_json:
        click.echo(orjson.dumps({"event": "done", **data}, option=orjson.OPT_SORT_KEYS))
    sys.exit(1 if report.has_findings else 0)


def _print_run(run: RunReport) -> None:
    done = f"{counted(run.lines_read, 'line')} read, {run.reason}" if run.was != "fresh" else run.reason
    click.echo(printable(f"{run.run_id}: {counted(run.rows, 'trace')} ({done})"))
    if run.waiting_bytes:
        click.echo(
            f"  the last line ({counted(run.waiting_bytes, 'byte')}) is not finished yet and is left out"
        )
    for problem in run.problems:
        click.echo(printable(f"{problem.severity}: {problem}"), err=True)
    for issue in run.issues[:ISSUES_SHOWN]:
        click.echo(str(issue), err=True)
    if run.line_issues > ISSUES_SHOWN:
        click.echo(f"… {counted(run.line_issues, 'line')} of {run.run_id} could not be read in all", err=True)


def _print_checked(run: CheckedReport) -> None:
    """Print `R005: 61 claims: 50 supported, 2 derived, 3 differ, 6 unsupported`."""
    counts = [f"{run.claims[name]:,} {words}" for name, words in CLAIMS.items() if run.claims.get(name)]
    total = f"{run.run_id}: {counted(sum(run.claims.values()), 'claim')}"
    click.echo(printable(f"{total}: {', '.join(counts)}" if counts else total))


def _print_placed(run: PlacedReport) -> None:
    """Print `R005: 47 citations: 40 exact, 4 fuzzy, 3 not placed (no quote) · 2 on another page`."""
    counts = run.counts
    statuses = [f"{counts[name]:,} {name.replace('_', ' ')}" for name in COUNTED if name in counts]
    if run.reasons:
        reasons = (f"{count:,} {why.replace('_', ' ')}" for why, count in run.reasons.items())
        statuses[-1] += f" ({', '.join(reasons)})"
    besides = (f"{counts[name]:,} {words}" for name, words in BESIDES.items() if name in counts)
    states = " · ".join(filter(None, (", ".join(statuses), *besides)))
    total = f"{run.run_id}: {counted(run.citations, 'citation')}"
    click.echo(printable(f"{total}: {states}" if states else total))
    for problem in run.problems:
        click.echo(printable(f"warning: {problem}"), err=True)
    for finding in run.findings:
        click.echo(printable(f"pages: {finding}"), err=True)


#: Seconds between two progress lines of the same run.
SECONDS_A_LINE = 0.2

#: Takes bytes while a run is read, traces while its claims are checked and its citations located.
OnStep = Callable[[Event, Step], None]


@contextmanager
def _progress(*, as_lines: bool, quiet: bool) -> Iterator[OnStep]:
    """Show a bar in a terminal, or print JSON lines for a program."""
    if not as_lines:
        with progress_bar("", quiet=quiet) as on_progress:
            verbs: dict[Event, str] = {
                "progress": "indexing",
                "checking": "checking claims of",
                "locating": "locating citations of",
            }
            yield lambda event, step: on_progress(f"{verbs[event]} {step.run_id}", step.done, step.total)
        return
    last: tuple[Event, str] | None = None
    due = 0.0

    def print_line(event: Event, step: Step) -> None:
        """Print the first and the last step of each run and event, and some between."""
        nonlocal last, due
        if (event, step.run_id) == last and step.done != step.total and time.monotonic() < due:
            return
        last, due = (event, step.run_id), time.monotonic() + SECONDS_A_LINE
        click.echo(orjson.dumps({"event": event, **asdict(step)}, option=orjson.OPT_SORT_KEYS))
        sys.stdout.flush()

    yield print_line


def indexed(
    manifest: Manifest, runs: Sequence[str], cache_dir: Path | None, *, claims: bool = False
) -> Store:
    """Bring the index of these runs up to date and return the workspace's store; else as `refreshed`."""
    from proofspan.store.query.store import Store  # slow to import: it needs pandas, which indexing does not

    return Store(manifest, refreshed(manifest, runs, cache_dir, claims=claims))


def refreshed(
    manifest: Manifest, runs: Sequence[str], cache_dir: Path | None, *, claims: bool = False
) -> Path:
    """Bring the index of these runs up to date, and with `claims` their checked claims; return its folder.

    `cache_dir` None is the dashboard's. Raises StoreFault when the index cannot be written.
    """
    cache = cache_dir or default_cache_dir()
    with _progress(as_lines=False, quiet=False) as on_step:
        build_index(manifest, runs=runs, cache_dir=cache, on_progress=partial(on_step, "progress"))
        if claims:
            from proofspan.services.passes.checking import check_runs

            list(check_runs(manifest, runs, cache_dir=cache, on_progress=partial(on_step, "checking")))
    return cache
