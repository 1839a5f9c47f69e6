"""Conditions on traces as SQL, and the lists of questions that count against a metric.

The metrics themselves are declared in `proofspan.metrics.catalogue`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.gold import GOOD_STATES
from proofspan.metrics.catalogue import DELTA_S, METRICS, Measure, Metric, case


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: `sql` with named parameters, their values, the sentence, and the columns it reads."""

    sql: str
    params: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    columns: tuple[str, ...] = ()


#: The traces that headline numbers count: one a question.
HEADLINE = Clause("paraphrase = 0 AND seed = 0 AND repeat = 1", columns=("paraphrase", "seed", "repeat"))
#: The labels of what went wrong.
FAILING_LABELS: tuple[Label, ...] = ("generation_drift", "retrieval_drift", "refusal_suspect")
#: Whether a trace went wrong, null where that cannot be judged. Where its claims are checked: a cause was
#: found; else where its gold is known: it is anything but cited, or rightly declined; else by the label.
FAILS = Clause(
    f"coalesce(cause <> 'none', gold_state NOT IN {tuple(sorted(GOOD_STATES))}, label IN {FAILING_LABELS})",
    columns=("cause", "gold_state", "label"),
)

#: From where on a question's ΔS counts against it.
FAR = 0.45
#: Traces of a question that are enough to say whether it converges.
PARAPHRASES, SEEDS = 3, 2

#: The measures by metric id, in the order of the catalogue; bundles are not in the index.
MEASURES: Mapping[str, Measure] = {
    metric_id: metric.measure for metric_id, metric in METRICS.items() if metric.measure is not None
}

#: What a question can be right or wrong by in two runs, with the words after "by"; the first where none is
#: named.
OUTCOMES: Mapping[str, str] = {
    "section_match_at_1": METRICS["section_match_at_1"].name,
    "gt_in_top_20": METRICS["gt_in_top_20"].name,
    "citation_match": "citation match",
    "grounded_answers": "supported claims",
    "correct_answers": "the expected answer",
    "answered_ok": "answers that do not fail",
}


class Axis(NamedTuple):
    """Which of a question's results an outcome is about, and what it is called where right and wrong."""

    name: str
    right: str
    wrong: str


#: The axes of the outcomes: what was fixed, or regressed.
AXES: Mapping[str, Axis] = {
    "section_match_at_1": Axis("Retrieval", "gold section first", "not first"),
    "gt_in_top_20": Axis("Retrieval", "gold section in the top 20", "not in it"),
    "citation_match": Axis("Citations", "gold passage cited", "not cited"),
    "grounded_answers": Axis("Grounding", "supported", "not supported"),
    "correct_answers": Axis("Correctness", "correct", "not correct"),
    "answered_ok": Axis("Answers", "no failure", "a failure"),
}
_ANSWERED_OK = Measure(
    f"NOT {FAILS.sql}", case((f"{FAILS.sql} IS NULL", "no_label")), ("no_label",), FAILS.columns
)


def measure_of(name: str) -> Measure:
    """Return the measure of a metric or an outcome. KeyError for an unknown one."""
    return _ANSWERED_OK if name == "answered_ok" else MEASURES[name]


def _sides(metric: Metric, measure: Measure) -> tuple[Clause, Clause] | None:
    """Return what counts against a metric, and what is in it and does not.

    None where nothing does: neither way is up, or no limit is known.
    """
    if measure is DELTA_S:
        limit, missed, met = f"> {FAR}", f"ΔS above {FAR}", f"ΔS up to {FAR}"
    elif metric.kind == "quantile" or metric.better is None:
        return None
    elif metric.better == "lower":
        limit, missed, met = "> 0", metric.name, f"no {metric.name}"
    elif metric.kind == "share":
        limit, missed, met = "< 1", f"{metric.name} missed", f"{metric.name} met"
    else:
        limit, missed, met = "< 1", f"{metric.name} below 1", f"{metric.name} of 1"
    sql = f"{measure.number} {limit}"
    return Clause(sql, {}, missed, measure.columns), Clause(f"NOT ({sql})", {}, met, measure.columns)


_SIDES = {metric_id: _sides(METRICS[metric_id], measure) for metric_id, measure in MEASURES.items()}
#: By metric id: the questions that count against it, and those that count in it and not against it.
MISSES: Mapping[str, Clause] = {metric_id: sides[0] for metric_id, sides in _SIDES.items() if sides}
MEETS: Mapping[str, Clause] = {metric_id: sides[1] for metric_id, sides in _SIDES.items() if sides}
