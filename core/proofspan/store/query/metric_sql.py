"""Conditions on traces as SQL, and the lists of questions that count against a metric.

The metrics themselves are declared in `proofspan.metrics.catalogue`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.gold import GOOD_STATES
from proofspan.metrics.catalogue import DELTA_S, METRICS, Measure, Metric, case

# A condition as data: SQL, the values bound to it, the sentence for a person, the columns it reads.


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: `sql` with named parameters, their values, the sentence, and the columns it reads."""

    sql: str
    params: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    columns: tuple[str, ...] = ()


def listed(words: Iterable[str]) -> str:
    """Names of our own as SQL texts."""
    return ", ".join(f"'{word}'" for word in words)


def any_of(
    column: str,
    sql: str,
    values: tuple[str, ...],
    noun: str,
    *,
    name: str = "",
    names: Mapping[str, str] = {},
    after: str = "",
) -> Clause | None:
    """Match any of some values, bound as the parameter `name`, else as `column`; None without any.

    `names` are the values' display names.
    """
    if not values:
        return None
    words = " or ".join(names.get(value, value) for value in values)
    return Clause(sql, {name or column: list(values)}, f"{noun}{words}{after}", (column,))


#: The traces that headline numbers count: one a question.
HEADLINE = Clause("paraphrase = 0 AND seed = 0 AND repeat = 1", columns=("paraphrase", "seed", "repeat"))
#: The labels of what went wrong.
FAILING_LABELS: tuple[Label, ...] = ("generation_drift", "retrieval_drift", "refusal_suspect")
#: Whether a trace went wrong, null where that cannot be judged. Where its gold is known: it is anything but
#: cited, or rightly declined; else by the label.
FAILS = Clause(
    f"coalesce(gold_state NOT IN ({listed(sorted(GOOD_STATES))}), label IN ({listed(FAILING_LABELS)}))",
    columns=("gold_state", "label"),
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
    "answered_ok": "answers that do not fail",
}
_ANSWERED_OK = Measure(
    f"NOT {FAILS.sql}", case((f"{FAILS.sql} IS NULL", "no_label")), ("no_label",), FAILS.columns
)


def measure_of(name: str) -> Measure:
    """Return the measure of a metric or an outcome. KeyError for an unknown one."""
    return _ANSWERED_OK if name == "answered_ok" else MEASURES[name]


def _against(metric: Metric, measure: Measure) -> tuple[str, str, str] | None:
    """When a trace counts against a metric, as SQL on its number; the words for those that do and do not.

    None where nothing does: neither way is up, or no limit is known.
    """
    if measure is DELTA_S:
        return f"> {FAR}", f"ΔS above {FAR}", f"ΔS up to {FAR}"
    if metric.kind == "quantile" or metric.better is None:
        return None
    if metric.better == "lower":
        return "> 0", metric.name, f"no {metric.name}"
    if metric.kind == "share":
        return "< 1", f"{metric.name} missed", f"{metric.name} met"
    return "< 1", f"{metric.name} below 1", f"{metric.name} of 1"


def _clauses() -> Iterator[tuple[str, Clause, Clause]]:
    """For each metric that something counts against: what does, and what is in it and does not."""
    for metric_id, measure in MEASURES.items():
        against = _against(METRICS[metric_id], measure)
        if against is not None:
            limit, missed, met = against
            sql = f"{measure.number} {limit}"
            yield (
                metric_id,
                Clause(sql, {}, missed, measure.columns),
                Clause(f"NOT ({sql})", {}, met, measure.columns),
            )


#: By metric id: the questions that count against it, and those that count in it and not against it.
MISSES: Mapping[str, Clause] = {metric_id: missed for metric_id, missed, _ in _clauses()}
MEETS: Mapping[str, Clause] = {metric_id: met for metric_id, _, met in _clauses()}
