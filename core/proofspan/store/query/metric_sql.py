"""What a question counts for in each metric, as SQL over the index, and why it is left out.

`proofspan.metrics.catalogue` says the same in words. The expressions here are the only ones there are: what
adds them up (`proofspan.store.query.metrics`), what lists the questions that count against a metric and
what compares two runs question by question all read them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.records.records import LABELS, Label
from proofspan.diagnosis.gold import GOOD_STATES
from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.ranked import CUTS
from proofspan.metrics.values import LeftOut

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


#: A logged ΔS as large is no distance (it lies in 0–2) but a mistake; it would drown every sum.
NO_DISTANCE = 1_000
#: From where on a question's ΔS counts against it.
FAR = 0.45
#: Traces of a question that are enough to say whether it converges.
PARAPHRASES, SEEDS = 3, 2


@dataclass(frozen=True, slots=True)
class Measure:
    """What a trace counts for in one metric.

    `left` is SQL for the reason why it is left out, null where it counts, and one of `reasons`. `value` is
    SQL for what it counts for, a truth value in a share and a number else; it says something only where the
    trace counts. `weight` is SQL for how many things it stands for where that is not one: of those `value` is
    then the number of those counted.
    """

    value: str
    left: str
    reasons: tuple[LeftOut, ...]
    columns: tuple[str, ...]
    weight: str | None = None

    @property
    def number(self) -> str:
        """The trace's own number as SQL: 0–1 in a share, null where it is left out."""
        number = f"({self.value}) / ({self.weight})" if self.weight else f"CAST(({self.value}) AS DOUBLE)"
        return f"CASE WHEN ({self.left}) IS NULL THEN {number} END"


def _case(*reasons: tuple[str, LeftOut]) -> str:
    """The first reason whose condition holds; a condition that is null does not."""
    return "CASE " + " ".join(f"WHEN {sql} THEN '{word}'" for sql, word in reasons) + " END"


def _left_out(value: str, left: tuple[tuple[str, LeftOut], ...], *columns: str) -> Measure:
    reasons = tuple(dict.fromkeys(word for _, word in left))
    return Measure(value, _case(*left), reasons, columns)


#: The values of the column `unranked`.
_UNRANKED: tuple[LeftOut, ...] = ("no_gold", "unanswerable", "gold_unplaced", "no_candidates")
_NO_GOLD: tuple[str, LeftOut] = ("answerable IS NULL", "no_gold")
_UNANSWERABLE: tuple[str, LeftOut] = ("NOT answerable", "unanswerable")
_ANSWERABLE: tuple[str, LeftOut] = ("answerable", "answerable")
_NO_VERDICT: tuple[str, LeftOut] = ("refused IS NULL", "no_label")
_DECLINED: tuple[str, LeftOut] = ("refused", "declined")
#: Why an answer is not held against its gold, in the order in which it is found out.
_NOT_ANSWERED = (_NO_GOLD, _UNANSWERABLE, _NO_VERDICT, _DECLINED)


def _ranking(column: str) -> Measure:
    """A number of each judged question that is null where the chunks of its gold are not known."""
    left = f"coalesce(unranked, {_case((f'{column} IS NULL', 'no_corpus'))})"
    return Measure(column, left, (*_UNRANKED, "no_corpus"), ("unranked", column))


def _recall(k: int) -> Measure:
    column = f"recall_{k}"
    absent = _case(("reciprocal_rank IS NULL", "no_corpus"), (f"{column} IS NULL", "short_list"))
    reasons: tuple[LeftOut, ...] = (*_UNRANKED, "no_corpus", "short_list")
    return Measure(column, f"coalesce(unranked, {absent})", reasons, ("unranked", "reciprocal_rank", column))


def _cited(value: str, column: str, *absent: tuple[str, LeftOut]) -> Measure:
    """A number of each answer that is held against its gold; `absent` say why one has none all the same."""
    reasons = (*_NOT_ANSWERED, *absent)
    columns = ("answerable", "refused", "cited", column)
    left = f"CASE WHEN {column} IS NULL THEN {_case(*reasons)} END"
    return Measure(value, left, tuple(dict.fromkeys(word for _, word in reasons)), columns)


_NOTHING_CITED: tuple[str, LeftOut] = ("coalesce(cited, 0) = 0", "nothing_cited")
_UNPLACED: tuple[str, LeftOut] = ("TRUE", "gold_unplaced")
_NO_ANCHOR: tuple[str, LeftOut] = ("TRUE", "no_anchor")
_DELTA_S = _left_out(
    "delta_s", ((f"NOT coalesce(abs(delta_s) < {NO_DISTANCE}, FALSE)", "not_logged"),), "delta_s"
)
_LATENCY = _left_out(
    "latency_ms", (("NOT coalesce(isfinite(latency_ms), FALSE)", "not_logged"),), "latency_ms"
)

#: By metric id, in the order of the catalogue; bundles are not in the index.
MEASURES: Mapping[str, Measure] = {
    "section_match_at_1": Measure(
        "coalesce(section_rank = 1, FALSE)", "unranked", _UNRANKED, ("unranked", "section_rank")
    ),
    "gt_in_top_20": Measure(
        "coalesce(top_rank <= 20, FALSE)", "unranked", _UNRANKED, ("unranked", "top_rank")
    ),
    **{f"recall_at_{k}": _recall(k) for k in CUTS},
    "ndcg_at_10": _ranking("ndcg_10"),
    "mrr": _ranking("reciprocal_rank"),
    "section_coverage": _ranking("section_coverage"),
    "citation_precision": _cited("citation_precision", "citation_precision", _NOTHING_CITED, _UNPLACED),
    "citation_recall": _cited("citation_recall", "citation_recall", _UNPLACED),
    "citation_match": _cited("citation_precision > 0", "citation_precision", _NOTHING_CITED, _UNPLACED),
    "citation_overlap": Measure(
        "cited_retrieved",
        _case(("cited IS NULL", "no_label"), ("cited = 0", "nothing_cited")),
        ("no_label", "nothing_cited"),
        ("cited", "cited_retrieved"),
        weight="cited",
    ),
    "anchor_coverage": _cited("anchor_coverage", "anchor_coverage", _NO_ANCHOR),
    "answered_precision": _left_out(
        "answerable AND citation_recall > 0",
        (_NO_GOLD, _NO_VERDICT, _DECLINED, ("answerable AND citation_recall IS NULL", "gold_unplaced")),
        *("answerable", "refused", "citation_recall"),
    ),
    "over_refusal": _left_out("refused", (_NO_GOLD, _UNANSWERABLE, _NO_VERDICT), "answerable", "refused"),
    "under_refusal": _left_out("NOT refused", (_NO_GOLD, _ANSWERABLE, _NO_VERDICT), "answerable", "refused"),
    **{
        label: _left_out(f"label = '{label}'", (("label IS NULL", "no_label"),), "label")
        for label in METRICS
        if label in LABELS
    },
    "delta_s_mean": _DELTA_S,
    "delta_s_p95": _DELTA_S,
    "lambda_convergent": Measure(
        "converges", "unconverged", ("few_variants", "not_logged"), ("converges", "unconverged")
    ),
    "latency_p50": _LATENCY,
    "latency_p95": _LATENCY,
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
    f"NOT {FAILS.sql}", _case((f"{FAILS.sql} IS NULL", "no_label")), ("no_label",), FAILS.columns
)


def measure_of(name: str) -> Measure:
    """The measure of a metric or an outcome. KeyError where there is none such."""
    return _ANSWERED_OK if name == "answered_ok" else MEASURES[name]


def _against(metric: Metric, measure: Measure) -> tuple[str, str, str] | None:
    """When a trace counts against a metric, as SQL on its number; the words for those that do and do not.

    None where nothing does: neither way is up, or no limit is known.
    """
    if measure is _DELTA_S:
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
