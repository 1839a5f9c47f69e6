"""How stable an answer is when its question is asked in other words or with another seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.services.question.variants import (
    ASPECTS,
    Aspect,
    Stability,
    Steadiness,
    least_steady_first,
    question_stability,
    run_stability,
)
from proofspan.store.query.store import Store
from tests.unit.store_workspace import RUN, built, trace, write_workspace

CITES_ANOTHER = "The oil filter holds 4 litres.\ncitations: [c2]"


def variants(q_id: str, *answers: str, state: str | None = None) -> list[dict[str, object]]:
    """Three paraphrases by two seeds; the last answers are the last traces'."""
    places = [(paraphrase, seed) for paraphrase in range(3) for seed in range(2)]
    reported = [None] * (6 - len(answers)) + list(answers)
    return [
        trace(q_id, paraphrase=p, seed=s, **({"answer": a} if a else {}), **({"λ": state} if state else {}))
        for (p, s), a in zip(places, reported, strict=True)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("stability")
    moved = variants("Q3")
    moved[5] |= {"chunks": [{"id": "c3"}], "λ": "divergent"}
    moved[4] |= {"λ": "convergent"}
    records = [
        *variants("Q1", state="convergent"),
        *variants("Q2", CITES_ANOTHER, "not in context", state="convergent"),
        *moved,
        trace("Q4"),
        trace("Q5"),
        trace("Q5", seed=1),
        trace("Q5", seed=1),
    ]
    return built(write_workspace(folder / "w", {RUN: records}), folder / "cache")


def test_every_aspect_is_counted_over_the_questions_that_have_it(store: Store) -> None:
    found = run_stability(store, RUN)
    assert (len(found.questions), found.once, found.enough) == (4, 1, 3)
    assert {aspect: found.staying(aspect).words for aspect in ASPECTS} == {
        "rank1": "3 of 4, 75 % (30–95 %)",
        "cited": "3 of 4, 75 % (30–95 %)",
        "label": "2 of 4, 50 % (15–85 %)",
    }
    assert (found.steady.part, found.steady.whole) == (2, 4)


def test_the_least_steady_come_first_with_what_the_log_says_of_them(store: Store) -> None:
    questions = run_stability(store, RUN).questions
    assert [(each.q_id, each.changing) for each in questions] == [
        ("Q3", ("rank1", "label")),
        ("Q2", ("cited", "label")),
        ("Q1", ()),
        ("Q5", ()),
    ]
    assert {each.q_id: set(each.states) for each in questions} == {
        "Q1": {"convergent"},
        "Q2": {"convergent"},
        "Q3": {"convergent", "divergent"},
        "Q5": set(),
    }
    assert all(each.q == "What holds the oil filter?" for each in questions)


def test_a_log_that_says_convergent_of_what_changes_is_doubted(store: Store) -> None:
    doubted = run_stability(store, RUN).convergent_by_log_alone
    assert (doubted.part, doubted.whole) == (1, 2)


def test_one_question_is_as_steady_as_it_is_in_its_run(store: Store) -> None:
    in_run = {each.q_id: each.stays for each in run_stability(store, RUN).questions}
    for q_id, stays in in_run.items():
        alone = question_stability(store, RUN, q_id)
        assert alone is not None
        assert alone.stays == stays
    assert question_stability(store, RUN, "Q4") is None
    assert question_stability(store, RUN, "nobody's") is None


def test_a_run_that_asks_once_says_nothing_of_stability(tmp_path: Path) -> None:
    store = built(write_workspace(tmp_path / "w", {RUN: [trace("Q1")], "R2": []}), tmp_path / "cache")
    assert run_stability(store, RUN) == Stability((), once=1)
    assert run_stability(store, "R2") == Stability(())
    assert Stability(()).steady.words == "nothing to count"


def question(q_id: str, **stays: bool | None) -> Steadiness:
    known: dict[Aspect, bool | None] = {aspect: stays.get(aspect, True) for aspect in ASPECTS}
    return Steadiness(q_id, "?", 6, 3, 2, known)


@pytest.mark.parametrize(
    ("stays", "is_steady"),
    [({}, True), ({"cited": None}, None), ({"cited": None, "label": False}, False)],
)
def test_steady_is_what_changes_in_nothing_that_is_known(
    stays: dict[str, bool | None], is_steady: bool | None
) -> None:
    assert question("Q1", **stays).is_steady is is_steady


def test_the_order_is_the_same_for_any_order_of_questions() -> None:
    listed = [question("Q2"), question("Q1", label=False), question("Q1"), question("Q3", label=False)]
    wanted = least_steady_first(listed)
    assert [each.q_id for each in wanted] == ["Q1", "Q3", "Q1", "Q2"]
    assert least_steady_first(reversed(listed)) == wanted
