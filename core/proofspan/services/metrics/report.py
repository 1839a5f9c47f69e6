"""The report of `proofspan metrics` on a run: its metrics as data and as tables, and its metrics pack."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path

import pandas as pd

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.envelope import USUAL
from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.packs import PACK_SOURCE, RATE, RATE_COUNTED, pack_text
from proofspan.metrics.statistics import Mean
from proofspan.metrics.values import MetricValue, left_out_in_words, value_in_words
from proofspan.services.compare import MetricPair, chosen_sentence, scope_sentences, verdict_sentence
from proofspan.services.metrics.run_metrics import (
    GoldGaps,
    RunMetrics,
    gold_gaps,
    metrics_by,
    paired_metrics,
    run_metrics,
)
from proofspan.services.rows import Column, Layout, exports, markdown_cell
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import Filter
from proofspan.store.query.metrics import Slice
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import read_trace_at
from proofspan.traces.separate.join_cache import trace_file

#: Digits of numbers in plain data: further ones depend on the order of summation.
DECIMALS = 9
#: The outcomes by which runs are compared.
BY = ("section_match_at_1", "answered_ok")


@dataclass(frozen=True, slots=True)
class Compared:
    """A run compared with another one: each metric in both, and the conclusions in sentences."""

    vs: str
    pairs: tuple[MetricPair, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricsReport:
    """The report on a run; `slices` has the metrics by slice of the kind `by`, None if not requested."""

    measured: RunMetrics
    facts: RunFacts
    gaps: GoldGaps
    by: Slice | None = None
    slices: Mapping[str, Mapping[str, MetricValue]] | None = None
    compared: Compared | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems with files that were read for it."""
        return (*self.facts.problems, *self.measured.problems)

    @property
    def has_findings(self) -> bool:
        """True if a goal fails, the stored pack differs, or something could not be read."""
        is_missed = any(verdict.status == "fail" for verdict in self.measured.verdicts.values())
        return bool(is_missed or self.measured.differences or self.problems)


def metrics_report(
    store: Store, manifest: Manifest, run_id: str, *, by: Slice | None = None, vs: str | None = None
) -> MetricsReport:
    """Build the report on a run, compared with `vs` if it is named; both need an index."""
    measured, compared = run_metrics(store, manifest, run_id), None
    if vs:
        shown, has_gold = Filter(run_id, vs=vs), manifest.gold is not None
        pairs = paired_metrics(store, shown, measured, run_metrics(store, manifest, vs))
        chosen = chosen_sentence(manifest, chosen_run(manifest, run_id), chosen_run(manifest, vs))
        sentences = [chosen]
        for outcome in BY:
            flips = store.flips(replace(shown, outcome=outcome))
            sentences.append(
                verdict_sentence(
                    flips, run=run_id, vs=vs, outcome=outcome, has_gold=has_gold, is_test=not chosen
                )
            )
            sentences += scope_sentences(flips, run=run_id, vs=vs, outcome=outcome)
        compared = Compared(vs, pairs, tuple(dict.fromkeys(filter(None, sentences))))
    slices = metrics_by(store, run_id, by) if by else None
    gaps = gold_gaps(store, manifest, run_id)
    return MetricsReport(measured, store.run_facts(run_id), gaps, by, slices, compared)


def require_labels(store: Store, manifest: Manifest, run_id: str, metric_ids: Iterable[str]) -> None:
    """Raise InputFault if one of the metrics needs labels and the run has none for want of the chunk file.

    Without labels refusals are not known, and these numbers would count other questions than with them. A run
    that is counted from its stored report has the labels of that.
    """
    facts = store.run_facts(run_id)
    measures = (METRICS[metric_id].measure for metric_id in metric_ids)
    if facts.from_report or not any(each and "no_label" in each.reasons for each in measures):
        return
    file = manifest.chunks.path if manifest.chunks is not None else ""
    needless = "ask only for metrics that need no labels, such as --metric gt_in_top_20"
    lost = [
        replace(
            problem,
            message=f"{problem.message}; metrics of {run_id} that need labels cannot be measured",
            where=_named_place(manifest, problem.where),
            fix=f"{problem.fix.removesuffix('.')}; or {needless}",
        )
        for problem in facts.problems
        if problem.severity == "error" and _is_about_chunks(problem, file)
    ]
    if lost:
        raise InputFault(*lost)


def _is_about_chunks(problem: Problem, file: str) -> bool:
    """Return whether a problem is about the manifest's key `chunks` or its `file` ("" if it names none)."""
    place = problem.where.partition(": ")[0]
    return place == "chunks" or (bool(file) and (place == file or place.startswith(f"{file}:")))


def _named_place(manifest: Manifest, where: str) -> str:
    """Return where a problem with the chunk file is, with the manifest's key and a file."""
    if manifest.chunks is None:
        return f"{manifest.file or manifest.folder}: {where}"
    return where if where.startswith("chunks: ") else f"chunks: {where}"


def report_to_json(report: MetricsReport) -> dict[str, Json]:
    """Return the report as plain data: each number with its counts, interval, goal, and what was left out."""
    measured, facts, gaps = report.measured, report.facts, report.gaps
    stored = measured.pack.numbers if measured.pack is not None else None
    metrics = {name: value_to_json(value) for name, value in measured.values.items()}
    for name, verdict in measured.verdicts.items():
        goal = measured.goals[name]
        threshold: Json = {"is": str(goal), "from_default": goal.from_default}
        metrics[name] |= {"goal": threshold, "verdict": verdict.status, "why": verdict.why}
    data: dict[str, Json] = {
        "run_id": measured.run_id,
        "profile": facts.profile.describe(),
        "questions": measured.questions,
        "traces": facts.traces,
        "from_report": facts.from_report,
        "line_issues": facts.line_issues - facts.unmatched,
        "waiting_bytes": facts.waiting_bytes,
        "gold_questions": gaps.questions,
        "without_gold": list(gaps.without_gold),
        "without_trace": list(gaps.without_trace),
        "findings": report.has_findings,
        "lambda_states": {state or "not logged": count for state, count in measured.states.items()},
        "metrics": metrics,
        "pack": {
            "counted": {key: _rounded(number) for key, number in measured.numbers.items()},
            "bases": {key: base._asdict() for key, base in measured.bases.items()},
            "stored": None
            if stored is None
            else {key: None if number is None else float(number) for key, number in stored.items()},
            "differences": [difference.in_words() for difference in measured.differences],
        },
        "problems": [asdict(problem) for problem in report.problems],
    }
    if report.slices is not None:
        data["by"] = report.by
        data["slices"] = [
            {
                "slice": name,
                "metrics": {metric_id: value_to_json(value) for metric_id, value in values.items()},
            }
            for name, values in report.slices.items()
        ]
    if report.compared is not None:
        sentences, pairs = list(report.compared.sentences), pairs_to_json(report.compared.pairs)
        data["against"] = {"run_id": report.compared.vs, "sentences": sentences, "metrics": pairs}
    return data


def pairs_to_json(pairs: Iterable[MetricPair]) -> dict[str, Json]:
    """Return metrics of two runs as plain data, by metric id."""
    return {
        pair.metric.metric_id: {
            "here": _rounded(pair.here.value if pair.here else None),
            "there": _rounded(pair.there.value if pair.there else None),
            "gap": _rounded(pair.gap),
            "p": _rounded(pair.p),
            "difference": difference_to_json(pair.difference),
        }
        for pair in pairs
    }


def difference_to_json(mean: Mean | None) -> dict[str, Json] | None:
    """Return a paired difference as plain data; None without one."""
    if mean is None:
        return None
    return {**mean._asdict(), **{name: _rounded(getattr(mean, name)) for name in ("mean", "low", "high")}}


def definitions() -> dict[str, Json]:
    """Return the definition of each metric by id, and of the number that only a metrics pack has."""
    known: dict[str, Json] = {
        name: {"name": metric.name, "counted": metric.counted, "source": metric.source}
        for name, metric in METRICS.items()
    }
    return known | {RATE: {"name": RATE, "counted": RATE_COUNTED, "source": PACK_SOURCE}}


def value_to_json(value: MetricValue) -> dict[str, Json]:
    return {
        "value": _rounded(value.value),
        "low": _rounded(value.low),
        "high": _rounded(value.high),
        "numerator": value.numerator,
        "denominator": value.denominator,
        "left_out": {reason: count for reason, count in value.left_out.items() if count},
    }


def _rounded(number: float | None) -> float | None:
    if number is None or not isfinite(number):
        return None
    return round(number, DECIMALS) + 0.0


#: The columns of an export; numbers are not rounded.
COLUMNS = (
    *("run_id", "slice", "metric", "name", "value", "low", "high", "numerator", "denominator"),
    *("goal", "verdict", "in_words", "left_out"),
)


def metric_rows(
    run_id: str,
    values: Mapping[str, MetricValue],
    *,
    measured: RunMetrics | None = None,
    slice_name: str = "",
) -> pd.DataFrame:
    """Return a row per metric; goals and verdicts are those of a whole run."""
    goals = measured.goals if measured is not None else {}
    verdicts = measured.verdicts if measured is not None else {}
    return pd.DataFrame(
        [
            {
                "run_id": run_id,
                "slice": slice_name,
                "metric": metric_id,
                "name": value.metric.name,
                "value": value.value,
                "low": value.low,
                "high": value.high,
                "numerator": value.numerator,
                "denominator": value.denominator,
                "goal": str(goals.get(metric_id, "")),
                "verdict": verdicts[metric_id].status if metric_id in verdicts else "",
                "in_words": value_in_words(value),
                "left_out": left_out_in_words(value),
            }
            for metric_id, value in values.items()
        ],
        columns=list(COLUMNS),
    )


_CELLS = (
    Column("slice", lambda row: markdown_cell(row["slice"])),
    Column("metric", lambda row: markdown_cell(row["name"])),
    Column("number", lambda row: markdown_cell(row["in_words"])),
    Column("goal", lambda row: markdown_cell(f"{row['goal']} {row['verdict']}")),
    Column("left out", lambda row: markdown_cell(row["left_out"])),
)


def _markdown_columns(first: pd.DataFrame | None) -> Sequence[Column]:
    has_slices = first is not None and first["slice"].any()
    return _CELLS if has_slices else _CELLS[1:]


#: The exports of metrics by kind.
METRIC_EXPORTS = exports(
    Layout(COLUMNS, frozenset({"numerator", "denominator"}), _markdown_columns), "csv", "json", "markdown"
)


def run_pack(store: Store, manifest: Manifest, run_id: str, *, cache_dir: Path) -> str:
    """Return the metrics pack of a run as JSON; packed traces are unpacked below `cache_dir`.

    Its time is the run's if the manifest has one, its state of memory that of the traces if they have one.
    The same run gives the same text. Raises InputFault for an unknown run or traces that differ from the
    index, StoreFault if the run has no index.
    """
    run = chosen_run(manifest, run_id)
    name = f"urn:proofspan:metrics:{manifest.name}/{run.run_id}"
    envelope = {
        "schema_version": USUAL,
        "event": "metrics.pack",
        "trace_id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "agent_id": "system",
    }
    if run.ts:
        envelope["ts"] = run.ts
    measured = run_metrics(store, manifest, run_id)
    line = store.line_of_one_memory(run_id)
    if line is not None:
        path = trace_file(manifest, run, cache_dir=cache_dir).needed_path
        raw = read_trace_at(path, line, run_id=run_id).raw
        memory = {key: text_of(raw.get(key)) for key in ("mem_rev", "mem_hash")}
        envelope |= {key: value for key, value in memory.items() if value is not None}
    dataset = None
    if manifest.gold is not None:
        version = f"_v{manifest.gold.version}" if manifest.gold.version else ""
        dataset = f"{Path(manifest.gold.path).name.partition('.')[0]}{version}"
    return pack_text(measured.numbers, dataset=dataset, bases=measured.bases, envelope=envelope)
