"""The metrics that a run is judged by: what each is called, how it is counted and where it comes from.

Here stand words alone; `proofspan.store` adds up what they are made of, `proofspan.metrics.values` makes
numbers of it. The words are what a page shows behind "how is this counted".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Group = Literal["ranking", "citations", "refusals", "labels", "pipeline", "evidence"]
Kind = Literal["share", "mean", "quantile"]
Better = Literal["higher", "lower"]

GROUPS: Mapping[Group, str] = {
    "ranking": "Ranking",
    "citations": "Citations",
    "refusals": "Answers and refusals",
    "labels": "Labels",
    "pipeline": "What the pipeline logged",
    "evidence": "Evidence",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a run.

    A *share* is counted things over things and has a Wilson interval; a *mean* of a number of each question
    the normal interval of a mean; a *quantile* (`quantile` in 0–1) the interval of its ranks. `of` names what
    the denominator counts, `counted` is the definition, `source` where it comes from, `unit` what a value is
    measured in ("" for numbers of 0–1). `better` says which way is up, None where neither is.
    """

    metric_id: str
    name: str
    group: Group
    kind: Kind
    counted: str
    source: str
    of: str = "questions"
    better: Better | None = "higher"
    unit: Literal["", "ms"] = ""
    quantile: float | None = None

    @property
    def is_of_unit_range(self) -> bool:
        """Whether every value lies in 0–1; what a pipeline logs may be anything."""
        return self.group != "pipeline" or self.kind == "share"


_IR = "Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), chapter 8"
_TREC = "trec_eval 9"
_GOLD = (
    "A question without gold, without an answer in the documents, or whose trace lists no candidate is left "
    "out."
)

_CHUNKS = "Where the gold names no chunks, all those of its sections count, else of its pages."

_LABELS: tuple[tuple[str, Better | None], ...] = (
    ("ok", "higher"),
    ("generation_drift", "lower"),
    ("retrieval_drift", "lower"),
    ("refusal_suspect", "lower"),
    ("refusal_ok", None),
)

_LISTED = (
    Metric(
        "section_match_at_1",
        "SectionMatch@1",
        "ranking",
        "share",
        "Questions whose candidate at rank 1 of the last stage lies in a gold section, of those with gold. "
        "Section ids are compared by their steps: 5.4.1 is another section than 5.4, unless 5.4 is only the "
        f"title over it. Gold without sections has those of its chunks, else its pages decide. {_GOLD}",
        "Sprint goal: at least 0.70",
    ),
    Metric(
        "gt_in_top_20",
        "GT-in-top-20",
        "ranking",
        "share",
        "Questions with a candidate of a gold section among the first 20 of the fused list, else of the "
        f"retrieved one, else of the answerer's chunks. {_GOLD}",
        "Sprint goal: at least 0.90",
    ),
    *(
        Metric(
            f"recall_at_{k}",
            f"recall@{k}",
            "ranking",
            "mean",
            f"The share of a question's gold chunks that stand in the first {k} places, averaged over "
            "questions; read from the first of the fused, retrieved and answerer's lists that is long "
            f"enough. A question without a list of {k} is left out. {_CHUNKS} {_GOLD}",
            _IR,
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
    ),
    Metric(
        "mrr",
        "MRR",
        "ranking",
        "mean",
        "One over the rank of the first gold chunk in the last stage, 0 where there is none, averaged over "
        f"questions. {_CHUNKS} {_GOLD}",
        f"{_TREC}, recip_rank",
    ),
    Metric(
        "section_coverage",
        "Section coverage",
        "ranking",
        "mean",
        "The share of the chunks of the gold sections, else of the gold pages, that stand in the top 20, "
        "averaged over questions. Gold that names chunks without sections, and all gold where the chunk file "
        f"has no sections or pages, is left out. {_GOLD}",
        "Acceptance target: at least 0.70 to the intended section",
    ),
    Metric(
        "citation_precision",
        "Citation precision",
        "citations",
        "mean",
        "The share of an answer's citations that point at the gold passage: by offsets where both have "
        "them, else by the quoted words, else by chunk, section or page. Averaged over questions with gold "
        "whose answer cites.",
        "Over gold spans, as precision of a set",
    ),
    Metric(
        "citation_recall",
        "Citation recall",
        "citations",
        "mean",
        "The share of a question's gold passages that a citation points at, averaged over answered "
        "questions with gold; an answer that cites nothing has 0.",
        "Over gold spans, as recall of a set",
    ),
    Metric(
        "citation_match",
        "Citation match",
        "citations",
        "share",
        "Answers that cite and point at the gold passage with at least one citation, of answers that cite.",
        "Acceptance target: at least 0.95 on the gold set",
        of="answers that cite",
    ),
    Metric(
        "citation_overlap",
        "Citation overlap",
        "citations",
        "share",
        "Cited chunk ids that are among the chunks that the answerer saw, of all cited ids.",
        "Always check cited against retrieved ids",
        of="cited ids",
    ),
    Metric(
        "anchor_coverage",
        "Anchor coverage",
        "citations",
        "mean",
        "The share of the gold anchor's words that stand, three or more in a row, in a cited passage: in "
        "the citation's quote, else in its chunk. Averaged over answered questions whose gold has an anchor.",
        "Acceptance target: at least 0.70",
    ),
    Metric(
        "answered_precision",
        "Answered precision",
        "refusals",
        "share",
        "Answered questions whose answer cites the gold passage, of all answered questions with gold. An "
        "answer to a question that the documents do not answer counts as wrong.",
        "Precision of selective answering",
        of="answered questions",
    ),
    Metric(
        "over_refusal",
        "Over-refusal",
        "refusals",
        "share",
        "Questions that the documents answer and the pipeline declined, of those that the documents answer.",
        "Refusals under constrained evidence",
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
        of="unanswerable questions",
        better="lower",
    ),
    *(
        Metric(
            label,
            label,
            "labels",
            "share",
            f"Questions labelled {label}, of those that have a label.",
            "Self-reflection triage",
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
        "Acceptance target: at most 0.45; below 0.60 is a warning",
        better="lower",
    ),
    Metric(
        "delta_s_p95",
        "ΔS p95",
        "pipeline",
        "quantile",
        "19 of 20 questions that log ΔS have at most this.",
        "Metrics pack",
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
        "Acceptance target: convergent over 3 paraphrases and 2 seeds; at least 0.80",
    ),
    Metric(
        "latency_p50",
        "Latency p50",
        "pipeline",
        "quantile",
        "Half of the questions that log a latency took at most this.",
        "Logged latency_ms",
        better="lower",
        unit="ms",
        quantile=0.5,
    ),
    Metric(
        "latency_p95",
        "Latency p95",
        "pipeline",
        "quantile",
        "19 of 20 questions that log a latency took at most this.",
        "Logged latency_ms",
        better="lower",
        unit="ms",
        quantile=0.95,
    ),
    Metric(
        "bundle_coverage",
        "Bundle coverage",
        "evidence",
        "share",
        "Answered questions whose evidence bundle is at citation_only or better, of all answered questions; "
        "from the run's stored bundles.",
        "Coverage gate of at least 0.95",
        of="answered questions",
    ),
)

#: By id, in the order in which they are shown.
METRICS: Mapping[str, Metric] = {metric.metric_id: metric for metric in _LISTED}
