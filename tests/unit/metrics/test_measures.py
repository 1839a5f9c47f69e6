"""The counts of every metric, by a table of questions that can be added up by hand."""

from __future__ import annotations

from typing import get_args

import pytest

from proofspan.metrics.catalogue import LEFT_OUT, METRICS
from proofspan.metrics.relevance import Unranked
from proofspan.metrics.values import Tally
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MEASURES, MEETS, MISSES
from proofspan.store.query.store import Store
from tests.unit.store.index_rows import store_of

RANKED = {"answerable": True, "unranked": None, "refused": False}
NAN, INFINITE = float("nan"), float("inf")
NO_OTHERS = {"claims_derived": 0, "claims_other_language": 0}
QUESTIONS: tuple[dict[str, object], ...] = (
    RANKED
    | {"q_id": "hit", "bucket": "hit", "section_rank": 1, "top_rank": 2, "section_coverage": 0.5}
    | {"recall_1": 0.5, "recall_5": 1.0, "recall_10": 1.0, "recall_20": 1.0, "recall_50": None}
    | {"ndcg_10": 0.75, "reciprocal_rank": 1.0, "cited": 3, "cited_retrieved": 2}
    | {"citation_precision": 0.5, "citation_recall": 1.0, "anchor_coverage": 0.75}
    | {"label": "ok", "delta_s": 0.25, "latency_ms": 100.0}
    | {"support": 0.5, "contradictions": 1, "claim_count": 2, "claims_supported": 1, **NO_OTHERS}
    | {"grounded": "contradicted", "correct": "wrong"},
    RANKED
    | {"q_id": "policy", "bucket": "score_policy", "section_rank": 4, "top_rank": 20}
    | {"section_coverage": 0.25, "recall_1": 0.0, "recall_5": 0.5, "recall_10": 0.5, "recall_20": 0.5}
    | {"recall_50": 1.0, "ndcg_10": 0.5, "reciprocal_rank": 0.25, "cited": 1, "cited_retrieved": 0}
    | {"citation_precision": 0.0, "citation_recall": 0.0, "anchor_coverage": None}
    | {"label": "generation_drift", "delta_s": 0.5, "latency_ms": 300.0}
    | {"support": 1.0, "contradictions": 0, "claim_count": 3, "claims_supported": 1}
    | {"claims_derived": 1, "claims_other_language": 1, "grounded": "yes", "correct": "correct"},
    RANKED
    | {"q_id": "gap", "bucket": "retrieval_gap", "section_rank": None, "top_rank": 21, "refused": True}
    | {"section_coverage": 0.0, "recall_1": 0.0, "recall_5": 0.0, "recall_10": 0.0, "recall_20": 0.0}
    | {"recall_50": 0.5, "ndcg_10": 0.0, "reciprocal_rank": 0.0, "cited": 0, "cited_retrieved": 0}
    | {"label": "refusal_suspect", "delta_s": NAN, "latency_ms": INFINITE}
    | {"support": None, "contradictions": 0, "claim_count": 0, "claims_supported": 0, **NO_OTHERS}
    | {"grounded": None, "correct": "declined_wrongly"},
    {"q_id": "declined", "answerable": False, "unranked": "unanswerable", "refused": True, "cited": 0}
    | {"cited_retrieved": 0, "label": "refusal_ok", "delta_s": None, "latency_ms": None},
    {"q_id": "invented", "answerable": False, "unranked": "unanswerable", "refused": False, "cited": 1}
    | {"cited_retrieved": 1, "label": "generation_drift", "delta_s": 1e300, "latency_ms": 200.0}
    | {"support": 0.75, "contradictions": 0, "claim_count": 1, "claims_supported": 0}
    | {"claims_derived": 0, "claims_other_language": 1, "grounded": "yes", "correct": "unknown"},
    {"q_id": "unknown", "answerable": None, "unranked": "no_gold", "refused": False, "cited": 0}
    | {"cited_retrieved": 0, "label": "ok", "delta_s": 0.75, "latency_ms": -INFINITE},
    {"q_id": "unplaced", "answerable": True, "unranked": "gold_unplaced", "refused": False, "cited": 1}
    | {"cited_retrieved": 1, "label": "ok"},
    {"q_id": "unlabelled", "answerable": True, "unranked": "no_candidates", "label": None},
    RANKED  # its section is found, but the chunk file does not have the section
    | {"q_id": "no corpus", "bucket": "hit", "section_rank": 1, "top_rank": None, "cited": 0}
    | {"cited_retrieved": 0, "citation_recall": 0.0, "anchor_coverage": 0.25, "label": "retrieval_drift"},
)
UNRANKED = {"no_gold": 1, "unanswerable": 2, "gold_unplaced": 1, "no_candidates": 1}
NO_CORPUS = {**UNRANKED, "no_corpus": 1}
HELD = {"no_gold": 1, "unanswerable": 2, "no_label": 1, "declined": 1}
UNCHECKED = {"no_label": 1, "not_checked": 4}
#: The metrics that count ids or claims, of which a question may have several.
WEIGHTED = ("citation_overlap", "supported_claims")
#: metric id → denominator, sum, sum of squares, left out.
COUNTED: dict[str, tuple[int, float, float, dict[str, int]]] = {
    "section_match_at_1": (4, 2, 2, UNRANKED),
    "gt_in_top_20": (4, 2, 2, UNRANKED),
    "recall_at_1": (3, 0.5, 0.25, NO_CORPUS),
    "recall_at_5": (3, 1.5, 1.25, NO_CORPUS),
    "recall_at_10": (3, 1.5, 1.25, NO_CORPUS),
    "recall_at_20": (3, 1.5, 1.25, NO_CORPUS),
    "recall_at_50": (2, 1.5, 1.25, {**NO_CORPUS, "short_list": 1}),
    "ndcg_at_10": (3, 1.25, 0.8125, NO_CORPUS),
    "mrr": (3, 1.25, 1.0625, NO_CORPUS),
    "section_coverage": (3, 0.75, 0.3125, NO_CORPUS),
    "citation_precision": (2, 0.5, 0.25, {**HELD, "nothing_cited": 1, "gold_unplaced": 1}),
    "citation_recall": (3, 1, 1, {**HELD, "gold_unplaced": 1}),
    "citation_match": (2, 1, 1, {**HELD, "nothing_cited": 1, "gold_unplaced": 1}),
    "citation_overlap": (6, 4, 4, {"no_label": 1, "nothing_cited": 4}),
    "anchor_coverage": (2, 1, 0.625, {**HELD, "no_anchor": 2}),
    "claim_support": (3, 2.25, 1.8125, {**UNCHECKED, "no_claims": 1}),
    "contradicted_answers": (3, 1, 1, {**UNCHECKED, "no_claims": 1}),
    "supported_claims": (4, 3, 3, {**UNCHECKED, "no_claims": 2}),
    "grounded_answers": (3, 2, 2, {**UNCHECKED, "no_claims": 1}),
    "correct_answers": (3, 1, 1, {**UNCHECKED, "undecided": 1}),
    "wrong_answers": (3, 1, 1, {**UNCHECKED, "undecided": 1}),
    "answered_precision": (4, 1, 1, {"no_gold": 1, "no_label": 1, "declined": 2, "gold_unplaced": 1}),
    "over_refusal": (5, 1, 1, {"no_gold": 1, "unanswerable": 2, "no_label": 1}),
    "under_refusal": (2, 1, 1, {"no_gold": 1, "answerable": 6}),
    "ok": (8, 3, 3, {"no_label": 1}),
    "generation_drift": (8, 2, 2, {"no_label": 1}),
    "retrieval_drift": (8, 1, 1, {"no_label": 1}),
    "refusal_suspect": (8, 1, 1, {"no_label": 1}),
    "refusal_ok": (8, 1, 1, {"no_label": 1}),
    "delta_s_mean": (3, 1.5, 0.875, {"not_logged": 6}),
    "lambda_convergent": (0, 0, 0, {"few_variants": 9}),
}
#: metric id → denominator, value, left out; three numbers are too few for an interval.
RANKS = {
    "delta_s_p95": (3, 0.75, {"not_logged": 6}),
    "latency_p50": (3, 200.0, {"not_logged": 6}),
    "latency_p95": (3, 300.0, {"not_logged": 6}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    variants = [row | {"paraphrase": 1} for row in QUESTIONS]  # none of which is a headline
    again = [row | {"repeat": 2} for row in QUESTIONS]
    folder = tmp_path_factory.mktemp("measures")
    return store_of(folder, {"R1": [*QUESTIONS, *variants, *again], "R0": []})


@pytest.mark.parametrize("metric_id", COUNTED)
def test_a_metric_counts_what_its_definition_says(store: Store, metric_id: str) -> None:
    of, total, squares, left_out = COUNTED[metric_id]
    assert store.measure(Filter("R1"))[metric_id] == Tally(of, total, squares, left_out=left_out)


@pytest.mark.parametrize("metric_id", RANKS)
def test_a_quantile_is_one_of_the_logged_numbers(store: Store, metric_id: str) -> None:
    of, value, left_out = RANKS[metric_id]
    assert store.measure(Filter("R1"))[metric_id] == Tally(of, value=value, left_out=left_out)


def test_every_metric_of_the_index_is_checked_here_and_in_the_order_of_the_catalogue() -> None:
    assert {*COUNTED, *RANKS} == MEASURES.keys()
    assert list(MEASURES) == [metric_id for metric_id in METRICS if metric_id != "bundle_coverage"]


def test_a_question_is_either_counted_or_left_out_for_a_reason_that_has_words(store: Store) -> None:
    for metric_id, tally in store.measure(Filter("R1")).items():
        assert tally.left_out.keys() <= LEFT_OUT.keys()
        if metric_id not in WEIGHTED:
            assert tally.of + sum(tally.left_out.values()) == len(QUESTIONS)


def test_why_a_ranking_is_not_judged_are_the_words_of_the_index() -> None:
    assert MEASURES["gt_in_top_20"].reasons == get_args(Unranked)


@pytest.mark.parametrize("metric_id", MISSES)
def test_what_meets_and_what_misses_a_metric_is_all_that_it_counts(store: Store, metric_id: str) -> None:
    tally = store.measure(Filter("R1"))[metric_id]
    missed, met = (store.matching(Filter("R1", **{name: metric_id})) for name in ("miss", "met"))
    if metric_id not in WEIGHTED:
        assert missed + met == tally.of
    if METRICS[metric_id].kind == "share" and metric_id not in WEIGHTED:
        assert (met if METRICS[metric_id].better == "higher" else missed) == tally.total


@pytest.mark.parametrize(
    ("metric_id", "missed", "q_ids"),
    [
        ("section_match_at_1", "SectionMatch@1 missed", ["gap", "policy"]),
        ("citation_overlap", "Citation overlap missed", ["hit", "policy"]),
        ("recall_at_50", "recall@50 below 1", ["gap"]),
        ("under_refusal", "Under-refusal", ["invented"]),
        ("delta_s_p95", "ΔS above 0.45", ["policy", "unknown"]),
    ],
)
def test_a_list_of_what_a_metric_misses_says_so(
    store: Store, metric_id: str, missed: str, q_ids: list[str]
) -> None:
    shown = Filter("R1", miss=metric_id)
    assert shown.where().sentence == missed
    assert store.page(shown, Sort("q_id"), limit=9, offset=0)["q_id"].tolist() == q_ids


def test_the_words_for_what_meets_a_metric() -> None:
    named = ("gt_in_top_20", "mrr", "generation_drift", "delta_s_mean")
    assert [MEETS[name].sentence for name in named] == [
        "GT-in-top-20 met",
        "MRR of 1",
        "no Unsupported answer",
        "ΔS up to 0.45",
    ]


def test_nothing_is_counted_of_no_questions(store: Store) -> None:
    for shown in (Filter("R0"), Filter("R1", text="nowhere")):
        measures = store.measure(shown)
        assert list(measures) == list(MEASURES)
        assert all(tally == Tally(0) for tally in measures.values())
        assert store.measure_by(shown, "type") == {}


def test_a_share_of_ids_is_compared_question_by_question(store: Store) -> None:
    shown = Filter("R1", vs="R1")
    assert store.paired(shown, ["citation_overlap"])["citation_overlap"].tolist() == [0.0, 0.0, 0.0, 0.0]
