"""`proofspan metrics`: the metrics of the Trends and Compare pages, with goals and intervals."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    CACHE_OPTION,
    JSON_OPTION,
    OUTPUT_OPTION,
    SIGNS,
    NamedPath,
    check_outputs,
    json_text,
    print_problems,
    workspace_files,
    write_bytes,
    write_parts,
)
from proofspan.cli.tables import pairs_table, table_of
from proofspan.cli.workspace.index_cmd import indexed
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.envelope import ENVELOPE
from proofspan.diagnosis.topic import in_words
from proofspan.errors import printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Run
from proofspan.metrics.catalogue import GROUPS, LEFT_OUT, METRICS
from proofspan.metrics.packs import PACK_SOURCE, RATE, RATE_COUNTED, others_in_words
from proofspan.metrics.values import (
    counted_in_words,
    interval_in_words,
    missing_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.metrics.report import (
    MetricsReport,
    definitions,
    metrics_report,
    report_to_json,
    require_labels,
    run_pack,
)
from proofspan.services.metrics.run_metrics import GoldGaps, RunMetrics
from proofspan.services.workspace.open import chosen_run, goals_of
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.files.types import RunFacts
from proofspan.store.query.metrics import Slice
from proofspan.wording import counted

#: Columns of an output that is not a terminal.
WIDTH_WITHOUT_TERMINAL = 160


@click.command("metrics")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="The run; the latest if none; repeat.")
@click.option("--against", "vs", metavar="ID", help="Compare with this run, question by question.")
@click.option("--by", type=click.Choice(get_args(Slice)), help="Print the metrics of each slice too.")
@click.option(
    "--metric",
    "named",
    multiple=True,
    metavar="ID",
    type=click.Choice(list(METRICS)),
    help="Only these metrics, by their ids as --explain lists them; repeat.",
)
@click.option("--explain", is_flag=True, help="Print how each metric is counted.")
@click.option("--pack", "as_pack", is_flag=True, help="Print the run's metrics pack instead.")
@JSON_OPTION
@CACHE_OPTION
@OUTPUT_OPTION
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
    """Measure runs of WORKSPACE: each metric with its counts, interval, goal, and what was left out.

    The index is refreshed and claims are checked first. A run's stored metrics pack is compared with the
    computed numbers. Without the chunk file no answer has a label, so only metrics that need none can be
    measured: name them with --metric.

    Exit status: 0 good, 1 a goal fails, a stored pack differs or something could not be read, 2 unusable
    input. With --pack: 0 or 2.
    """
    if as_pack and (as_json or explain or vs or asked["by"] or asked["named"] or len(run_ids) > 1):
        raise click.UsageError("--pack prints the pack of one run and nothing else")
    manifest = load_manifest(workspace)
    runs = [chosen_run(manifest, run_id) for run_id in dict.fromkeys(run_ids)] or [chosen_run(manifest, None)]
    compared = [chosen_run(manifest, vs)] if vs is not None else []
    own = [runs[0].metrics] if as_pack else []
    check_outputs([output], workspace_files(manifest, without=own))
    store = indexed(manifest, [run.run_id for run in (*runs, *compared)], cache_dir, claims=not as_pack)
    if as_pack:
        cache = cache_dir or default_cache_dir()
        pack = run_pack(store, manifest, runs[0].run_id, cache_dir=cache)
        write_bytes(pack.encode("utf-8", "replace"), output)
        return
    for run in (*runs, *compared):
        require_labels(store, manifest, run.run_id, asked["named"] or METRICS)
    reports = [metrics_report(store, manifest, run.run_id, by=asked["by"], vs=vs) for run in runs]
    problems = goals_of(manifest)[1]
    if as_json:
        value: dict[str, Json] = {
            "name": manifest.name,
            "runs": [report_to_json(report) for report in reports],
            "problems": [str(problem) for problem in problems],
        }
        write_bytes(json_text(value | ({"definitions": definitions()} if explain else {})), output)
    else:
        parts: list[RenderableType] = []
        for report, run in zip(reports, runs, strict=True):
            parts += [Text()] * bool(parts) + [*_parts(report, run, asked["named"])]
        if explain:
            parts += [Text(), *_explained(asked["named"])]
        write_parts(*parts, output=output, width=WIDTH_WITHOUT_TERMINAL)
        print_problems([*problems, *(problem for report in reports for problem in report.problems)])
    sys.exit(1 if any(report.has_findings for report in reports) else 0)


#: The metrics of a slice if none is named.
OF_A_SLICE = ("section_match_at_1", "gt_in_top_20", "citation_match", "ok")
NO_SLICE = "No question is in such a slice."
#: Slices by place, and why their questions add up to more than the run has.
OF_PLACES: Mapping[Slice | None, str] = {
    "section": "A question is in every section that it is about, those included that hold others.",
    "document": "A question is in every document that it is about.",
}
#: How many questions without gold, or without a trace, are named.
NAMED = 8
#: Fields of every record, which say nothing about the numbers.
_OF_EVERY_RECORD = frozenset({"$schema", *ENVELOPE})


def _explained(named: Sequence[str]) -> Iterator[RenderableType]:
    metrics = [METRICS[metric_id] for metric_id in named or METRICS]
    definitions = [(each.name, each.metric_id, each.counted, each.source) for each in metrics]
    for name, metric_id, text, source in definitions + [(RATE, "", RATE_COUNTED, PACK_SOURCE)] * (not named):
        yield Text.assemble((name, "bold"), (f"  {metric_id}", "dim"))
        yield Padding(Text(text), (0, 0, 0, 2))
        yield Padding(Text(f"Source: {source}", "dim"), (0, 0, 1, 2))


def _parts(report: MetricsReport, run: Run, named: Sequence[str]) -> Iterator[RenderableType]:
    measured = report.measured
    title = f" · {printable(run.title)}" if run.title else ""
    questions = counted(measured.questions, "question")
    yield Text.assemble((printable(measured.run_id), "bold"), f"{title} · {questions}")
    yield Text(printable(report.facts.profile.describe()), "dim")
    yield from map(Text, _left_out(report.facts, report.gaps))
    yield Text()
    yield _metrics(measured, named)
    if measured.pack is not None and run.metrics is not None:
        yield Text()
        pack, file = measured.pack, printable(run.metrics.path)
        count = counted(len(pack.numbers), "number")
        dataset = f" of {printable(pack.dataset)}" if pack.dataset else ""
        if measured.differences:
            yield Text(f"✗ The metrics pack {file}{dataset} differs from the computed numbers:", "red")
            yield from (Text(f"  {difference.in_words()}") for difference in measured.differences)
        else:
            agrees = f"agrees with the computed numbers: {count}"
            yield Text(f"✓ The metrics pack {file}{dataset} {agrees}", "green")
        others = [f"{name}: {value}" for name, value in others_in_words(pack) if name not in _OF_EVERY_RECORD]
        if others:
            yield Text(f"  It also says {printable(', '.join(others))[:400]}", "dim")
    if report.slices is not None:
        yield Text()
        metrics = [METRICS[metric_id] for metric_id in named or OF_A_SLICE]
        table = table_of(report.by or "", *(metric.name for metric in metrics))
        for name, values in report.slices.items():
            cells = (values.get(metric.metric_id) for metric in metrics)
            shown = in_words([name]) if report.by in OF_PLACES else name
            table.add_row(
                Text(printable(shown)), *(Text(value_in_words(value) if value else "") for value in cells)
            )
        yield table if report.slices else Text(NO_SLICE)
        if report.slices and report.by in OF_PLACES:
            yield Text(OF_PLACES[report.by], "dim")
    if report.compared is not None:
        yield Text()
        pairs = [pair for pair in report.compared.pairs if not named or pair.metric.metric_id in named]
        yield pairs_table(pairs, report.compared.vs, measured.run_id)
        yield from map(Text, map(printable, report.compared.sentences))


def _left_out(facts: RunFacts, gaps: GoldGaps) -> Iterator[str]:
    if facts.from_report:
        yield "Counted from the stored report: the run has no traces that could be read."
    if lines := facts.line_issues - facts.unmatched:
        yield f"Lines that could not be used as they are: {lines:,}; `proofspan index` lists them"
    if facts.waiting_bytes:
        yield f"The last line ({counted(facts.waiting_bytes, 'byte')}) is not finished yet and is left out"
    if gaps.questions is None:
        yield "There are no gold questions, so metrics that compare with them cannot be computed."
    without = {
        "without a gold question": gaps.without_gold,
        "of the gold set without a trace": gaps.without_trace,
    }
    for words, q_ids in without.items():
        if q_ids:
            names = printable(", ".join(q_ids[:NAMED]).replace("\n", " "))
            more = f" and {len(q_ids) - NAMED:,} more" if len(q_ids) > NAMED else ""
            yield f"{counted(len(q_ids), 'question')} {words}: {names}{more}"


def _metrics(measured: RunMetrics, named: Sequence[str]) -> Table:
    table = table_of("metric", "value", "of", "95 %", "goal", "verdict", "left out")
    for column in table.columns[1:4]:
        column.justify, column.no_wrap = "right", True
    table.columns[0].no_wrap = table.columns[4].no_wrap = True
    group = None
    for metric_id, value in measured.values.items():
        if named and metric_id not in named:
            continue
        if group != value.metric.group and not named:
            group = value.metric.group
            table.add_row(Text(GROUPS[group], "bold"))
        goal, verdict = measured.goals.get(metric_id), measured.verdicts.get(metric_id)
        sign, style = SIGNS[verdict.status] if verdict else ("", "")
        reasons = (f"{LEFT_OUT[reason]} {count:,}" for reason, count in value.left_out.items() if count)
        table.add_row(
            Text(f"  {value.metric.name}"),
            Text(number_in_words(value.metric, value.value)),
            Text(counted_in_words(value) if value.denominator else missing_in_words(value), "dim"),
            Text(interval_in_words(value), "dim"),
            Text(str(goal) if goal else ""),
            Text(f"{sign} {verdict.why}", style) if verdict else Text(),
            Text(", ".join(reasons), "dim"),
        )
    return table
