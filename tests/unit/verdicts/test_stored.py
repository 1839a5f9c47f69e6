"""Verdicts in the index: the order by harm, filters and counts by cause, and runs without verdicts."""

from __future__ import annotations

import pytest

from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store.index_rows import store_of

pytestmark = pytest.mark.slow


def judged(q_id: str, cause: str, correct: str, harm: int, **more: object) -> dict[str, object]:
    sentence = f"{cause} of {q_id}"
    return {"q_id": q_id, "cause": cause, "correct": correct, "harm": harm, "cause_sentence": sentence} | more


ROWS = [
    judged("right", "none", "correct", 10, support=1.0, label="generation_drift"),
    judged("declined", "none", "declined_rightly", 10, label="refusal_ok"),
    judged("open", "none", "unknown", 9, support=0.2),
    judged("misquote", "contradicted", "wrong", 1, support=0.1, grounded="contradicted", label="ok"),
    judged("misquote too", "contradicted", "wrong", 1, support=0.05, grounded="contradicted", label="ok"),
    judged("missed", "missed_top_ranked", "declined_wrongly", 7, label="refusal_suspect"),
    {"q_id": "not judged", "label": "generation_drift"},
    judged("misquote", "none", "correct", 10, paraphrase=1),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    unchecked = [{"q_id": "ok", "label": "ok"}, {"q_id": "drift", "label": "generation_drift"}]
    return store_of(tmp_path_factory.mktemp("verdicts"), {"R1": ROWS, "R2": unchecked})


def listed(store: Store, shown: Filter, sort: Sort | None = None) -> list[str]:
    return store.page(shown, sort or Sort(), limit=50, offset=0)["q_id"].tolist()


def test_the_most_harmful_come_first_and_within_it_the_least_supported(store: Store) -> None:
    assert listed(store, Filter("R1")) == [
        *("misquote too", "misquote", "missed", "open", "right", "declined", "not judged")
    ]


def test_without_verdicts_the_order_is_by_label(store: Store) -> None:
    assert listed(store, Filter("R2")) == ["drift", "ok"]


def test_labels_still_sort(store: Store) -> None:
    found = listed(store, Filter("R1"), Sort("label"))
    assert found[:2] == ["right", "not judged"], "within a label the most harmful first"
    assert found[-3:] == ["misquote too", "misquote", "open"]


@pytest.mark.parametrize(
    ("sort", "first"),
    [("cause", "misquote too"), ("correct", "misquote too"), ("grounded", "misquote too")],
)
def test_a_verdict_sorts_worst_first_and_what_has_none_last(store: Store, sort: str, first: str) -> None:
    for descending in (False, True):
        found = listed(store, Filter("R1"), Sort(sort, descending))
        assert found[-1] == "not judged"
    assert listed(store, Filter("R1"), Sort(sort))[0] == first


@pytest.mark.parametrize(
    ("shown", "q_ids"),
    [
        (Filter("R1", cause=("contradicted", "missed_top_ranked")), ["misquote too", "misquote", "missed"]),
        (Filter("R1", cause=("none",), correct=("unknown",)), ["open"]),
        (Filter("R1", grounded=("contradicted",)), ["misquote too", "misquote"]),
        (Filter("R1", fails=False), ["open", "right", "declined"]),
        (Filter("R2", cause=("none",)), []),
        (Filter("R2", fails=True), ["drift"]),
    ],
)
def test_a_verdict_filters(store: Store, shown: Filter, q_ids: list[str]) -> None:
    assert listed(store, shown) == q_ids
    assert store.matching(shown) == len(q_ids)


def test_outcomes_are_counted_without_their_own_part_of_the_filter(store: Store) -> None:
    whole = {
        ("contradicted", "wrong"): 2,
        ("missed_top_ranked", "declined_wrongly"): 1,
        ("none", "unknown"): 1,
        ("none", "correct"): 1,
        ("none", "declined_rightly"): 1,
        (None, None): 1,
    }
    assert store.outcome_counts(Filter("R1")) == whole
    assert store.outcome_counts(Filter("R1", cause=("none",), correct=("wrong",))) == whole
    assert store.outcome_counts(Filter("R1", label=("ok",))) == {
        ("contradicted", "wrong"): 2,
        ("none", "unknown"): 1,
    }
    assert store.outcome_counts(Filter("R2")) == {}


def test_axes_are_counted_most_frequent_first(store: Store) -> None:
    assert store.verdict_counts(Filter("R1", cause=("contradicted",)), "cause") == {
        "none": 3,
        "contradicted": 2,
        "missed_top_ranked": 1,
    }
    assert store.verdict_counts(Filter("R1"), "grounded") == {"contradicted": 2}
    assert store.verdict_counts(Filter("R2"), "cause") == {}


def test_a_page_has_answers_causes_and_on_request_claims(store: Store) -> None:
    page = store.page(Filter("R1"), Sort(), limit=1, offset=0, with_claims=True)
    assert page["cause_sentence"].tolist() == ["contradicted of misquote too"]
    assert {"answer", "claims", "grounded", "certainty", "harm"} <= set(page.columns)
    assert "claims" not in store.page(Filter("R1"), Sort(), limit=1, offset=0).columns
