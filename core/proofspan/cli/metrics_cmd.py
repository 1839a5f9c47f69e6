"""`proofspan metrics`: the numbers of the Trends and Compare pages, with goals and how sure they are."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import Console, RenderableType
from rich.text import Text

from proofspan.cli.indexed import indexed
from proofspan.cli.metrics_table import explained, print_problems, tables
from proofspan.cli.output import check_outputs, workspace_files
from proofspan.cli.paths import NamedPath
from proofspan.cli.results import RESULT_OPTIONS, Option, json_text, with_options, write_bytes, write_parts
from proofspan.contracts.records import Json
from proofspan.errors import Fault, Problem
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.catalogue import METRICS
from proofspan.services.goals import goals_of
from proofspan.services.metrics_report import MetricsReport, definitions, metrics_report, report_to_json
from proofspan.services.packing import run_pack
from proofspan.services.workspace import chosen_run
from proofspan.store.cache import default_cache_dir
from proofspan.store.measuring import Slice

#: Wide enough for every column where nothing says how wide the output is.
WIDTH_WITHOUT_TERMINAL = 160

_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--run", "run_ids", multiple=True, metavar="ID", help="The run; the latest if none; repeat."
    ),
    click.option("--against", "vs", metavar="ID", help="Compare with this run, question by question."),
    click.option("--by", type=click.Choice(get_args(Slice)), help="The numbers of each slice too."),
    click.option(
        "--metric",
        "named",
        multiple=True,
        metavar="ID",
        type=click.Choice(list(METRICS)),
        help="Only these metrics, by their ids as --explain lists them; repeat.",
    ),
    click.option("--explain", is_flag=True, help="Say how each is counted."),
    click.option("--pack", "as_pack", is_flag=True, help="Print the run's metrics pack instead."),
    *RESULT_OPTIONS,
)


@click.command("metrics")
@click.argument("workspace", type=NamedPath())
@with_options(*_OPTIONS)
def command(
    workspace: Path,
    run_ids: tuple[str, ...],
    vs: str | None,
    as_pack: bool,
    as_json: bool,
    explain: bool,
    cache_dir: Path | None,
    output: str,
    **asked: Any,
) -> None:
    """Measure runs of WORKSPACE: each number with its counts, interval, goal, and what was left out.

    The index is brought up to date first. A run's stored metrics pack is compared with what is counted.

    Exit status: 0 good, 1 a goal fails, a stored pack differs or something could not be read, 2 unusable
    input. With --pack: 0 or 2.
    """
    if as_pack and (as_json or explain or vs or asked["by"] or asked["named"] or len(run_ids) > 1):
        raise click.UsageError("--pack prints the pack of one run and nothing else")
    manifest = load_manifest(workspace)
    runs = [chosen_run(manifest, run_id) for run_id in dict.fromkeys(run_ids)] or [chosen_run(manifest, None)]
    compared = [chosen_run(manifest, vs)] if vs is not None else []
    check_outputs([output], _inputs(manifest, runs[0] if as_pack else None))
    store = indexed(manifest, [run.run_id for run in (*runs, *compared)], cache_dir)
    if as_pack:
        cache = cache_dir or default_cache_dir()
        pack = run_pack(store, manifest, runs[0].run_id, cache_dir=cache)
        write_bytes(pack.encode("utf-8", "replace"), output)
        return
    reports = [metrics_report(store, manifest, run.run_id, by=asked["by"], vs=vs) for run in runs]
    problems = goals_of(manifest)[1]
    if as_json:
        write_bytes(json_text(_told(manifest, reports, problems, explain=explain)), output)
    else:
        _print(list(zip(reports, runs, strict=True)), problems, output, explain=explain, named=asked["named"])
    sys.exit(1 if any(report.has_findings for report in reports) else 0)


def _inputs(manifest: Manifest, written: Run | None) -> list[Path]:
    """Every file of the workspace, but for the metrics pack of the run whose pack is written."""
    own: Path | None = None
    if written is not None and written.metrics is not None:
        with suppress(Fault):
            own = artifact_path(manifest, written.metrics)
    return [path for path in workspace_files(manifest) if path != own]


def _told(
    manifest: Manifest, reports: Sequence[MetricsReport], problems: Sequence[Problem], *, explain: bool
) -> dict[str, Json]:
    return {
        "name": manifest.name,
        "runs": [report_to_json(report) for report in reports],
        "problems": [str(problem) for problem in problems],
    } | ({"definitions": definitions()} if explain else {})


def _print(
    reports: Sequence[tuple[MetricsReport, Run]],
    problems: Sequence[Problem],
    output: str,
    *,
    explain: bool,
    named: Sequence[str],
) -> None:
    """The tables on stdout or in a file, and on stderr what is wrong with what was read for them."""
    parts: list[RenderableType] = []
    for report, run in reports:
        parts += [Text()] * bool(parts) + [tables(report, run, named=named)]
    if explain:
        parts += [Text(), explained(named)]
    write_parts(*parts, output=output, width=WIDTH_WITHOUT_TERMINAL)
    told = [*problems, *(problem for report, _ in reports for problem in report.problems)]
    print_problems(told, Console(stderr=True, highlight=False))
