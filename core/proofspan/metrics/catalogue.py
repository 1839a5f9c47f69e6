"""The catalogue of metrics: each with its name, its definition in words, and its measure as SQL.

`proofspan.store` sums the measures up, `proofspan.metrics.values` makes numbers of the sums. Another package
adds metrics by the entry-point group `proofspan.metrics` (docs/extending.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Literal, get_args

from proofspan.display_names import LABEL_NAMES
from proofspan.metrics.relevance import Unranked

Group = Literal["ranking", "citations", "claims", "refusals", "labels", "pipeline", "evidence"]
Kind = Literal["share", "mean", "quantile"]

Better = Literal["higher", "lower"]

GROUPS: Mapping[Group, str] = {
    "ranking": "Ranking",
    "citations": "Citations",
    "claims": "Claims",
    "refusals": "Answers and refusals",
    "labels": "Labels",
    "pipeline": "Logged by the pipeline",
    "evidence": "Evidence",
}

#: Why a question is not in a denominator.
LEFT_OUT: Mapping[str, str] = {
    "no_gold": "no gold question",
    "unanswerable": "the documents hold no answer",
    "answerable": "the documents hold an answer",
    "gold_unplaced": "the gold names no place",
    "no_candidates": "the trace lists no candidates",
    "unplaced": "without the chunk file no candidate has a place",
    "no_corpus": "the chunks of the gold place are not known",
    "short_list": "the list is shorter",
    "nothing_cited": "nothing is cited",
    "cited_in_text": "its ids are in the text, where template payload does not look: use seed or none",
    "cited_in_payload": "its ids are in the payload, where template seed does not look: use payload or none",
    "places_cited": "only places are cited, no chunk ids",
    "declined": "the answer declines",
    "no_anchor": "the gold has no anchor",
    "not_checked": "claims not checked yet",
    "no_claims": "no claim",
    "undecided": "correctness unknown",
    "no_label": "no label",
    "not_logged": "not logged",
    "few_variants": "fewer than 3 paraphrases × 2 seeds",
    "no_bundle": "no bundle",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """The value of a trace in a metric, as SQL over the columns of the index.

    `value` is a truth value in a share and a number otherwise. `left` is the reason for leaving a trace out,
    one of `reasons`, and null for one that counts. `weight` is the number of things that a trace counts for,
    of which `value` is then the number counted; None for one thing.
    """

    value: str
    left: str
    reasons: tuple[str, ...]
    columns: tuple[str, ...]
    weight: str | None = None

    @property
    def number(self) -> str:
        """The trace's number as SQL: 0–1 in a share, null if it is left out."""
        number = f"({self.value}) / ({self.weight})" if self.weight else f"CAST(({self.value}) AS DOUBLE)"
        return f"CASE WHEN ({self.left}) IS NULL THEN {number} END"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a run.

    A *share* is a count of a count and has a Wilson interval, a *mean* the normal interval of a mean, and a
    *quantile* (`quantile` in 0–1) the interval of its ranks. `counted` is the definition, `of` names what the
    denominator counts, `unit` is "" for numbers of 0–1 and "%" for means of shares, which lie in 0–1 too and
    are written in percent. `better` is None if neither direction is better. `measure` is None for a metric
    that is not computed from the index.
    """

    metric_id: str
    name: str
    group: Group
    kind: Kind
    counted: str
    source: str
    measure: Measure | None = None
    of: str = "questions"
    better: Better | None = "higher"
    unit: Literal["", "%", "ms"] = ""
    quantile: float | None = None

    @property
    def is_percent(self) -> bool:
        """True if its numbers are written in percent: those of a share, and means of shares."""
        return self.kind == "share" or self.unit == "%"

    @property
    def is_of_unit_range(self) -> bool:
        """True if every value is in 0–1; values that a pipeline logs may be anything."""
        return self.group != "pipeline" or self.kind == "share"


def case(*reasons: tuple[str, str]) -> str:
    """Return SQL for the first reason whose condition is true."""
    return "CASE " + " ".join(f"WHEN {sql} THEN '{word}'" for sql, word in reasons) + " END"


def measure(value: str, *left: tuple[str, str], columns: tuple[str, ...]) -> Measure:
    """Build a measure from its value and the conditions that leave a trace out."""
    return Measure(value, case(*left), tuple(dict.fromkeys(word for _, word in left)), columns)


#: The values of the column `unranked`.
_UNRANKED: tuple[str, ...] = get_args(Unranked)
_NO_GOLD: tuple[str, str] = ("answerable IS NULL", "no_gold")
_UNANSWERABLE: tuple[str, str] = ("NOT answerable", "unanswerable")
_ANSWERABLE: tuple[str, str] = ("answerable", "answerable")
_NO_VERDICT: tuple[str, str] = ("refused IS NULL", "no_label")
_DECLINED: tuple[str, str] = ("refused", "declined")
#: Why a trace counts no cited id: the values of the column `uncited`.
UNCITED: tuple[str, ...] = ("nothing_cited", "cited_in_text", "cited_in_payload", "places_cited")
_WHY_UNCITED = f"CASE WHEN coalesce(cited, 0) = 0 THEN coalesce(uncited, '{UNCITED[0]}') END"
_NOTHING_CITED: tuple[str, str] = (f"{_WHY_UNCITED} = '{UNCITED[0]}'", UNCITED[0])
_UNPLACED: tuple[str, str] = ("TRUE", "gold_unplaced")


def _ranked(value: str, column: str, *absent: tuple[str, str], beside: tuple[str, ...] = ()) -> Measure:
    """Measure a number of each judged question; `absent` are the reasons for its absence."""
    left = f"coalesce(unranked, {case(*absent)})" if absent else "unranked"
    return Measure(value, left, (*_UNRANKED, *(word for _, word in absent)), ("unranked", *beside, column))


def _of_chunks(column: str) -> Measure:
    """Measure a number that is null if the chunks of a question's gold are unknown."""
    return _ranked(column, column, (f"{column} IS NULL", "no_corpus"))


def _cited(value: str, column: str, *absent: tuple[str, str]) -> Measure:
    """Measure a number of each answer with gold; `absent` are the reasons for its absence."""
    reasons = (_NO_GOLD, _UNANSWERABLE, _NO_VERDICT, _DECLINED, *absent)
    columns = ("answerable", "refused", "cited", "uncited", column)
    left = f"CASE WHEN {column} IS NULL THEN {case(*reasons)} END"
    return Measure(value, left, tuple(dict.fromkeys(word for _, word in reasons)), columns)


#: Why the claims of an answer are in no metric. Without a label it cannot be checked either.
_UNCHECKED: tuple[tuple[str, str], ...] = (
    ("label IS NULL", "no_label"),
    ("claim_count IS NULL", "not_checked"),
)
_JUDGED_BY = ("label", "claim_count", "grounded", "correct")
_VERDICTS = "Judged by rules without a model; see docs/verdicts.md"


def _judged(value: str) -> Measure:
    """Measure a condition of the questions whose correctness is decided."""
    return measure(value, *_UNCHECKED, ("correct = 'unknown'", "undecided"), columns=_JUDGED_BY)


_CLAIMS_READ = ("label", "claim_count", "support", "contradictions")
_JUDGED_CLAIMS = "(claim_count - claims_other_language)"

#: A logged ΔS lies in 0–2; one as large as this is a mistake that would dominate every sum.
NO_DISTANCE = 1_000
DELTA_S = measure(
    "delta_s",
    (f"NOT coalesce(abs(delta_s) < {NO_DISTANCE}, FALSE)", "not_logged"),
    columns=("delta_s",),
)
_LATENCY = measure(
    "latency_ms", ("NOT coalesce(isfinite(latency_ms), FALSE)", "not_logged"), columns=("latency_ms",)
)

_IR = "Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), chapter 8"
_TREC = "trec_eval 9"
_GOLD = (
    "A question without gold, without an answer in the documents, or whose trace lists no candidate is left "
    "out."
)
_CHUNKS = "If the gold names no chunks, all those of its sections count, else of its pages."
_LABELS: tuple[tuple[str, Better | None], ...] = (
    ("ok", "higher"),
    ("generation_drift", "lower"),
    ("retrieval_drift", "lower"),
    ("refusal_suspect", "lower"),
    ("refusal_ok", None),
)

_BUILT_IN = (
    Metric(
        "section_match_at_1",
        "SectionMatch@1",
        "ranking",
        "share",
        "Questions whose candidate at rank 1 of the last stage lies in a gold section, of those with gold. "
        "Section ids are compared by their steps: 5.4.1 is another section than 5.4, unless 5.4 is only the "
        "title over it. Gold without sections has those of its chunks, else its pages decide. " + _GOLD,
        "Sprint goal: at least 0.70",
        _ranked("coalesce(section_rank <= 1, FALSE)", "section_rank"),
    ),
    Metric(
        "gt_in_top_20",
        "GT-in-top-20",
        "ranking",
        "share",
        "Questions with a candidate of a gold section among the first 20 of the fused list, else of the "
        f"retrieved one, else of the answerer's chunks. {_GOLD}",
        "Sprint goal: at least 0.90",
        _ranked("coalesce(top_rank <= 20, FALSE)", "top_rank"),
    ),
    *(
        Metric(
            f"recall_at_{k}",
            f"recall@{k}",
            "ranking",
            "mean",
            f"The share of a question's gold chunks that are in the first {k} places, averaged over "
            "questions; read from the first of the fused, retrieved and answerer's lists that is long "
            f"enough. A question without a list of {k} is left out. {_CHUNKS} {_GOLD}",
            _IR,
            _ranked(
                f"recall_{k}",
                f"recall_{k}",
                ("reciprocal_rank IS NULL", "no_corpus"),
                (f"recall_{k} IS NULL", "short_list"),
                beside=("reciprocal_rank",),
            ),
            unit="%",
        )
        for k in (1, 5, 10, 20, 50)
    ),
    Metric(
        "ndcg_at_10",
        "nDCG@10",
        "ranking",
        "mean",
        "The discounted gain of the first ten places of the last stage over that of the best order of the "
        f"gold chunks, averaged over questions. {_CHUNKS} {_GOLD}",
        f"Järvelin and Kekäläinen, ACM TOIS 20 (2002); {_TREC}, ndcg_cut_10",
        _of_chunks("ndcg_10"),
    ),
    Metric(
        "mrr",
        "MRR",
        "ranking",
        "mean",
        "One over the rank of the first gold chunk in the last stage, 0 without one, averaged over "
        f"questions. {_CHUNKS} {_GOLD}",
        f"{_TREC}, recip_rank",
        _of_chunks("reciprocal_rank"),
    ),
    Metric(
        "section_coverage",
        "Section coverage",
        "ranking",
        "mean",
        "The share of the chunks of the gold sections, else of the gold pages, that are in the top 20, "
        "averaged over questions. Gold that names chunks without sections, and all gold if the chunk file "
        f"has no sections or pages, is left out. {_GOLD}",
        "Acceptance target: at least 0.70 to the intended section",
        _of_chunks("section_coverage"),
        unit="%",
    ),
    Metric(
        "citation_precision",
        "Citation precision",
        "citations",
        "mean",
        "The share of an answer's citations that point at the gold passage: by offsets if both have "
        "them, else by the quoted words, else by chunk, section or page. Averaged over questions with gold "
        "whose answer cites.",
        "Over gold spans, as precision of a set",
        _cited("citation_precision", "citation_precision", _NOTHING_CITED, _UNPLACED),
        unit="%",
    ),
    Metric(
        "citation_recall",
        "Citation recall",
        "citations",
        "mean",
        "The share of a question's gold passages that a citation points at, averaged over answered "
        "questions with gold; an answer that cites nothing has 0.",
        "Over gold spans, as recall of a set",
        _cited("citation_recall", "citation_recall", _UNPLACED),
        unit="%",
    ),
    Metric(
        "citation_match",
        "Citation match",
        "citations",
        "share",
        "Answers that cite and point at the gold passage with at least one citation, of answers that cite.",
        "Acceptance target: at least 0.95 on the gold set",
        _cited("citation_precision > 0", "citation_precision", _NOTHING_CITED, _UNPLACED),
        of="answers that cite",
    ),
    Metric(
        "citation_overlap",
        "Citation overlap",
        "citations",
        "share",
        "Cited chunk ids that are among the chunks that the answerer saw, of all ids cited where the profile "
        "looks.",
        "Always check cited against retrieved ids",
        Measure(
            "cited_retrieved",
            f"CASE WHEN cited IS NULL THEN '{_NO_VERDICT[1]}' ELSE {_WHY_UNCITED} END",
            (_NO_VERDICT[1], *UNCITED),
            ("cited", "cited_retrieved", "uncited"),
            weight="cited",
        ),
        of="cited ids",
    ),
    Metric(
        "anchor_coverage",
        "Anchor coverage",
        "citations",
        "mean",
        "The share of the gold anchor's words that are, three or more in a row, in a cited passage: in "
        "the citation's quote, else in its chunk. Averaged over answered questions whose gold has an anchor.",
        "Our own reading of coverage, beside the section's: at least 0.70",
        _cited("anchor_coverage", "anchor_coverage", ("TRUE", "no_anchor")),
        unit="%",
    ),
    Metric(
        "claim_support",
        "Claim support",
        "claims",
        "mean",
        "How well the evidence supports an answer, 0 to 1: half of it is the support of its weakest claim, "
        "half the mean of all. Averaged over answers with claims; a refusal has none.",
        "Claims checked without a model; what it reaches is in the measurements",
        measure("support", *_UNCHECKED, ("support IS NULL", "no_claims"), columns=_CLAIMS_READ),
        of="answers with claims",
    ),
    Metric(
        "contradicted_answers",
        "Contradicted answers",
        "claims",
        "share",
        "Answers with a claim that differs from its evidence, in a number, a date, a name or a negation for "
        "instance, of answers with claims.",
        "Claims checked without a model; what it reaches is in the measurements",
        measure("contradictions > 0", *_UNCHECKED, ("claim_count = 0", "no_claims"), columns=_CLAIMS_READ),
        of="answers with claims",
        better="lower",
    ),
    Metric(
        "supported_claims",
        "Supported claims",
        "claims",
        "share",
        "Claims that the evidence supports, or whose figures follow from it, of all claims. Those in another "
        "language than their evidence are left out: only their figures and names are compared.",
        "Claims checked without a model; what it reaches is in the measurements",
        Measure(
            "(claims_supported + claims_derived)",
            case(*_UNCHECKED, (f"{_JUDGED_CLAIMS} = 0", "no_claims")),
            ("no_label", "not_checked", "no_claims"),
            ("label", "claim_count", "claims_supported", "claims_derived", "claims_other_language"),
            weight=_JUDGED_CLAIMS,
        ),
        of="claims",
    ),
    Metric(
        "grounded_answers",
        "Grounded answers",
        "claims",
        "share",
        "Answers whose claims all have evidence, of answers with claims.",
        _VERDICTS,
        measure("grounded = 'yes'", *_UNCHECKED, ("grounded IS NULL", "no_claims"), columns=_JUDGED_BY),
        of="answers with claims",
    ),
    Metric(
        "correct_answers",
        "Correct answers",
        "claims",
        "share",
        "Answers that say what is expected, or decline what the documents do not answer, of all whose "
        "correctness rules can decide. One that says a part of it is not correct.",
        _VERDICTS,
        _judged("correct IN ('correct', 'declined_rightly')"),
        of="decided questions",
    ),
    Metric(
        "wrong_answers",
        "Wrong answers",
        "claims",
        "share",
        "Answers that say something else than is expected, of all whose correctness rules can decide.",
        _VERDICTS,
        _judged("correct = 'wrong'"),
        of="decided questions",
        better="lower",
    ),
    Metric(
        "answered_precision",
        "Answered precision",
        "refusals",
        "share",
        "Answered questions whose answer cites the gold passage, of all answered questions with gold. An "
        "answer to a question that the documents do not answer counts as wrong.",
        "Precision of selective answering",
        measure(
            "answerable AND citation_recall > 0",
            _NO_GOLD,
            _NO_VERDICT,
            _DECLINED,
            ("answerable AND citation_recall IS NULL", "gold_unplaced"),
            columns=("answerable", "refused", "citation_recall"),
        ),
        of="answered questions",
    ),
    Metric(
        "over_refusal",
        "Over-refusal",
        "refusals",
        "share",
        "Questions that the documents answer and the pipeline declined, of those that the documents answer.",
        "Refusals under constrained evidence",
        measure("refused", _NO_GOLD, _UNANSWERABLE, _NO_VERDICT, columns=("answerable", "refused")),
        of="answerable questions",
        better="lower",
    ),
    Metric(
        "under_refusal",
        "Under-refusal",
        "refusals",
        "share",
        "Questions that the documents do not answer and the pipeline answered, of those that they do not.",
        "Refusals under constrained evidence",
        measure("NOT refused", _NO_GOLD, _ANSWERABLE, _NO_VERDICT, columns=("answerable", "refused")),
        of="unanswerable questions",
        better="lower",
    ),
    *(
        Metric(
            label,
            LABEL_NAMES[label],
            "labels",
            "share",
            f"Questions labelled {LABEL_NAMES[label]} ({label}), of those that have a label.",
            "Self-reflection triage",
            measure(f"label = '{label}'", ("label IS NULL", "no_label"), columns=("label",)),
            better=better,
        )
        for label, better in _LABELS
    ),
    Metric(
        "delta_s_mean",
        "ΔS mean",
        "pipeline",
        "mean",
        "The logged distance between question and retrieved context, averaged over questions that log one.",
        "Acceptance target: at most 0.45; below 0.60 is a warning by our own reading",
        DELTA_S,
        better="lower",
    ),
    Metric(
        "delta_s_p95",
        "ΔS p95",
        "pipeline",
        "quantile",
        "19 of 20 questions that log ΔS have at most this.",
        "Metrics pack",
        DELTA_S,
        better="lower",
        quantile=0.95,
    ),
    Metric(
        "lambda_convergent",
        "λ convergent",
        "pipeline",
        "share",
        "Questions all of whose traces, three paraphrases by two seeds or more, log the state convergent. "
        "One with fewer traces, or with a trace that logs no state, is left out.",
        "Acceptance target: convergent over 3 paraphrases and 2 seeds; at least 0.80 is our own reading",
        Measure("converges", "unconverged", ("few_variants", "not_logged"), ("converges", "unconverged")),
    ),
    *(
        Metric(
            f"latency_p{percent}",
            f"Latency p{percent}",
            "pipeline",
            "quantile",
            f"{part} questions that log a latency took at most this.",
            "Logged latency_ms",
            _LATENCY,
            better="lower",
            unit="ms",
            quantile=percent / 100,
        )
        for percent, part in ((50, "Half of the"), (95, "19 of 20"))
    ),
    Metric(
        "bundle_coverage",
        "Bundle coverage",
        "evidence",
        "share",
        "Answered questions with a stored evidence bundle in which a citation of the answer leads to a page "
        "of one of the workspace's documents, of all answered questions.",
        "Coverage gate of at least 0.95; what it counts is our own reading",
        of="answered questions",
    ),
)


def catalogue() -> dict[str, Metric]:
    """Return all metrics by id in the order in which they are shown: our own, then those of other packages.

    Raises ValueError if two metrics have the same id.
    """
    registered = (entry_point.load() for entry_point in entry_points(group="proofspan.metrics"))
    metrics: dict[str, Metric] = {}
    for metric in (*_BUILT_IN, *registered):
        if metrics.setdefault(metric.metric_id, metric) is not metric:
            raise ValueError(f"two metrics have the id {metric.metric_id}")
    return metrics


METRICS: Mapping[str, Metric] = catalogue()
