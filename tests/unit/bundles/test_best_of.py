"""The playlist "Best of": what the rule may choose, in which order, and that nothing depends on chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS, TraceKey
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.services.bundles.walkthrough_best import (
    BEFORE_REFUSAL,
    MOST,
    Answer,
    Refusal,
    best_of,
    refusal_of,
)
from proofspan.store.files.evidence_states import EVIDENCE_STATES


def answer(name: str, **more: Any) -> Answer:
    """An answer with exact proof on a page of its own."""
    given = {"evidence": ("exact",), "label": "ok", "grounded": "yes", "correct": "correct", "cause": "none"}
    return Answer(TraceKey("R1", name), **(given | {"place": ("manual", int(name[1:]))} | more))


PROOFS = [answer(f"Q{n:02}") for n in range(20)]
REFUSAL = answer("Q90", evidence=(), grounded=None, correct="declined_rightly", refusal="right")
MISQUOTE = answer("Q91", evidence=("numbers_differ",), grounded="contradicted", cause="contradicted")
WRONG = answer("Q92", correct="wrong", cause="answered_unanswerable")


def names(answers: list[Answer]) -> list[str]:
    return [key.q_id for key in best_of(answers)]


def test_proofs_come_first_then_one_that_was_caught_and_a_right_refusal_at_the_end() -> None:
    assert names([REFUSAL, WRONG, MISQUOTE, *PROOFS]) == [*(f"Q0{n}" for n in range(6)), "Q91", "Q90"]
    assert names([REFUSAL, WRONG, *PROOFS])[-2:] == ["Q92", "Q90"]
    assert names(PROOFS) == [f"Q0{n}" for n in range(MOST)]


def test_exact_proof_comes_before_other_proof_and_correct_before_unknown() -> None:
    aside = replace(PROOFS[0], evidence=("normalized", "exact"))
    partial = replace(PROOFS[1], evidence=("partial",))
    unknown = replace(PROOFS[2], correct="unknown")
    assert names([partial, aside, unknown, PROOFS[3]]) == ["Q03", "Q02", "Q00", "Q01"]


def test_pages_and_documents_vary() -> None:
    same = [replace(each, place=("manual", 7)) for each in PROOFS[:9]]
    others = [replace(PROOFS[10], place=("bulletin", None)), replace(PROOFS[11], place=("manual", 8))]
    assert names([*same, *others])[:3] == ["Q00", "Q10", "Q11"]


def test_a_picture_is_shown_if_any_proof_has_one() -> None:
    last = replace(PROOFS[15], has_figure=True)
    assert names([*PROOFS[:10], last])[0] == "Q15"
    aside = replace(last, evidence=("normalized",))
    assert names([*PROOFS[:10], aside])[-1] == "Q15"


@pytest.mark.parametrize(
    "change",
    [
        {"evidence": ("numbers_differ", "exact")},
        {"evidence": ("not_found",)},
        {"evidence": ("page_mismatch", "exact")},
        {"correct": "partly"},
        {"grounded": "partly"},
        {"cause": "unsafe_omission"},
        {"cause": None, "label": "retrieval_drift"},
        {"refusal": "unknown"},
    ],
)
def test_an_answer_with_a_known_fault_is_no_proof(change: dict[str, Any]) -> None:
    assert not replace(PROOFS[0], **change).is_proof
    assert best_of([replace(PROOFS[0], **change)]) == ()


def test_before_the_claims_are_checked_the_label_decides() -> None:
    plain = replace(PROOFS[0], evidence=(), grounded=None, correct=None, cause=None)
    assert plain.is_proof and names([plain]) == ["Q00"]


def test_a_short_run_has_no_refusal() -> None:
    assert names([REFUSAL, MISQUOTE, *PROOFS[:3]]) == ["Q00", "Q01", "Q02", "Q91"]
    assert names([REFUSAL, MISQUOTE, *PROOFS[:4]])[-1] == "Q90"
    assert names([REFUSAL, WRONG]) == []


def maybe(values: tuple[str, ...]) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), st.sampled_from(values))


ANSWERS = st.lists(
    st.builds(
        Answer,
        st.builds(TraceKey, st.just("R1"), st.sampled_from([f"Q{n}" for n in range(60)])),
        evidence=st.lists(st.sampled_from(EVIDENCE_STATES), max_size=2, unique=True).map(tuple),
        label=maybe(LABELS),
        grounded=maybe(GROUNDED),
        correct=maybe(CORRECT),
        cause=st.sampled_from((None, "none", *CAUSES[:3])),
        refusal=st.sampled_from((None, None, None, *get_args(Refusal))),
        place=st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 5)),
        has_figure=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda each: each.key,
)


@given(ANSWERS, st.randoms())
def test_the_choice_holds_its_rules_and_is_the_same_in_any_order(answers: list[Answer], dice: Any) -> None:
    chosen = best_of(answers)
    shuffled = list(answers)
    dice.shuffle(shuffled)
    assert best_of(shuffled) == chosen
    assert len(chosen) <= MOST and len(set(chosen)) == len(chosen)
    known = {each.key: each for each in answers}
    shown = [known[key] for key in chosen]
    refusals = [place for place, each in enumerate(shown) if each.refusal is not None]
    assert refusals in ([], [len(shown) - 1])
    assert all(place >= BEFORE_REFUSAL and shown[place].refusal == "right" for place in refusals)
    proofs = [each for each in shown if each.is_proof]
    assert shown[: len(proofs)] == proofs
    assert [each.tier for each in proofs] == sorted(each.tier for each in proofs)
    assert sum(each.caught is not None for each in shown) <= 1
    if proofs and any(each.is_proof and each.has_figure for each in answers):
        assert any(each.has_figure for each in proofs)


ROW = {"correct": None, "gold_is_refusal": None, "gold_state": None, "label": "ok"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, None),
        ({"correct": "declined_rightly"}, "right"),
        ({"correct": "declined_wrongly", "label": "refusal_ok"}, "wrong"),
        ({"correct": "wrong", "gold_is_refusal": True}, None),
        ({"label": "refusal_ok"}, "unknown"),
        ({"correct": "unknown", "label": "refusal_suspect"}, "unknown"),
        ({"gold_is_refusal": True, "gold_state": "declined"}, "right"),
        ({"gold_is_refusal": True, "gold_state": "uncited"}, "wrong"),
    ],
)
def test_a_refusal_is_right_only_where_that_is_known(row: dict[str, Any], expected: str | None) -> None:
    assert refusal_of(ROW | row) == expected
