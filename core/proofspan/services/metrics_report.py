"""Everything that `proofspan metrics` tells of one run, and the same as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite

import numpy as np

from proofspan.contracts.records import Json
from proofspan.errors import Problem
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Goal, Verdict
from proofspan.metrics.packs import PACK_SOURCE, RATE, RATE_COUNTED
from proofspan.metrics.values import MetricValue
from proofspan.services.compared_metrics import MetricPair, metric_pairs
from proofspan.services.comparing import scope_sentences, verdict_sentence
from proofspan.services.measuring import BUNDLES, GoldGaps, RunMetrics, gold_gaps, metrics_by, run_metrics
from proofspan.store.filters import Filter
from proofspan.store.measuring import Slice
from proofspan.store.queries import Store
from proofspan.store.types import RunFacts

#: Digits of numbers in plain data: beyond them the order in which a sum was added up would show.
DECIMALS = 9
#: What runs are said to be better by, the first that can be judged.
BY = ("section_match_at_1", "answered_ok")


@dataclass(frozen=True, slots=True)
class Compared:
    """A run against another one: each metric in both, and the sentences that say how it ends."""

    vs: str
    pairs: tuple[MetricPair, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricsReport:
    """One run. `slices` has the metrics by slice of the kind `by`, None where none are asked for."""

    measured: RunMetrics
    facts: RunFacts
    gaps: GoldGaps
    by: Slice | None = None
    slices: Mapping[str, Mapping[str, MetricValue]] | None = None
    compared: Compared | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read for it."""
        return (*self.facts.problems, *self.measured.problems)

    @property
    def has_findings(self) -> bool:
        """Whether a goal fails, the stored pack differs, or something could not be read."""
        return bool(self.measured.failed or self.measured.differences or self.problems)


def metrics_report(
    store: Store, manifest: Manifest, run_id: str, *, by: Slice | None = None, vs: str | None = None
) -> MetricsReport:
    """What there is to tell of a run, against `vs` where one is named; both need an index."""
    measured = run_metrics(store, manifest, run_id)
    return MetricsReport(
        measured,
        store.run_facts(run_id),
        gold_gaps(store, manifest, run_id),
        by,
        metrics_by(store, run_id, by) if by else None,
        _compared(store, manifest, measured, vs) if vs else None,
    )


def _compared(store: Store, manifest: Manifest, measured: RunMetrics, vs: str) -> Compared:
    run_id = measured.run_id
    shown = Filter(run_id, vs=vs)

    def paired(metric_id: str) -> np.ndarray:
        return np.empty(0) if metric_id == BUNDLES else store.paired(shown, metric_id)

    pairs = metric_pairs(measured.values, run_metrics(store, manifest, vs).values, paired)
    has_gold = manifest.gold is not None
    said: list[str] = []
    for outcome in BY:
        flips = store.flips(Filter(run_id, vs=vs, outcome=outcome))
        said.append(verdict_sentence(flips, run=run_id, vs=vs, outcome=outcome, has_gold=has_gold))
        said += scope_sentences(flips, run=run_id, vs=vs, outcome=outcome)
    return Compared(vs, pairs, tuple(dict.fromkeys(said)))


def report_to_json(report: MetricsReport) -> dict[str, Json]:
    """The report as plain data: every number with its counts, interval, goal, and what was left out."""
    measured, facts, gaps = report.measured, report.facts, report.gaps
    told: dict[str, Json] = {
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
        "metrics": {
            name: _value(value) | _judged(measured.goals.get(name), measured.verdicts.get(name))
            for name, value in measured.values.items()
        },
        "pack": _pack(measured),
        "problems": [asdict(problem) for problem in report.problems],
    }
    if report.slices is not None:
        told["by"] = report.by
        told["slices"] = [
            {"slice": name, "metrics": {metric_id: _value(value) for metric_id, value in values.items()}}
            for name, values in report.slices.items()
        ]
    if report.compared is not None:
        told["against"] = {
            "run_id": report.compared.vs,
            "said": list(report.compared.sentences),
            "metrics": {pair.metric.metric_id: _pair(pair) for pair in report.compared.pairs},
        }
    return told


def definitions() -> dict[str, Json]:
    """How each metric is counted, by its id, and what only a metrics pack has."""
    told: dict[str, Json] = {
        name: {"name": metric.name, "counted": metric.counted, "source": metric.source}
        for name, metric in METRICS.items()
    }
    return told | {RATE: {"name": RATE, "counted": RATE_COUNTED, "source": PACK_SOURCE}}


def _value(value: MetricValue) -> dict[str, Json]:
    return {
        "value": _rounded(value.value),
        "low": _rounded(value.low),
        "high": _rounded(value.high),
        "numerator": value.numerator,
        "denominator": value.denominator,
        "left_out": {reason: count for reason, count in value.left_out.items() if count},
    }


def _judged(goal: Goal | None, verdict: Verdict | None) -> dict[str, Json]:
    if goal is None or verdict is None:
        return {}
    told = {"is": str(goal), "from_default": goal.from_default}
    return {"goal": told, "verdict": verdict.status, "why": verdict.why}


def _pack(measured: RunMetrics) -> dict[str, Json]:
    stored = measured.pack
    return {
        "counted": {key: _rounded(number) for key, number in measured.numbers.items()},
        "stored": None
        if stored is None
        else {key: None if number is None else float(number) for key, number in stored.numbers.items()},
        "differences": [difference.in_words() for difference in measured.differences],
    }


def _pair(pair: MetricPair) -> dict[str, Json]:
    told: dict[str, Json] = {
        "here": _rounded(pair.here.value if pair.here else None),
        "there": _rounded(pair.there.value if pair.there else None),
        "gap": _rounded(pair.gap),
        "p": _rounded(pair.p),
        "difference": None,
    }
    if (mean := pair.difference) is not None:
        told["difference"] = {
            "mean": _rounded(mean.mean),
            "low": _rounded(mean.low),
            "high": _rounded(mean.high),
            "pairs": mean.pairs,
            "method": mean.method,
        }
    return told


def _rounded(number: float | None) -> float | None:
    if number is None or not isfinite(number):
        return None
    return round(number, DECIMALS) + 0.0
