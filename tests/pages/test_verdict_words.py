"""The words of a verdict: chips, the cause with its sentence, ways to its evidence, the way of the gold."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.types import (
    CAUSES,
    CORRECT,
    GROUNDED,
    TRAIL_STAGES,
    Cause,
    CauseEvidence,
    Correct,
    Correctness,
    GoldPart,
    GoldTrail,
    Grounded,
    PartPlace,
    TrailStage,
    Verdict,
)
from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, GROUNDED_NAMES
from proofspan.services.question.view import QuestionView, load_question
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Stop
from proofspan.ui.wording import verdict as words
from proofspan.ui.wording.answer import answer_pieces, marked_expected
from tests.made_traces import made_trace

PLACE = PartPlace("held", 1.0, 1, "c1", 0, 9)


def verdict_of(cause: Cause = "none", sentence: str = "", **more: Any) -> Verdict:
    return Verdict(None, Correctness("unknown"), cause, "certain", sentence, **more)


def view_of(*spans: GoldSpan) -> QuestionView:
    trace = made_trace({"q_id": "Q1", "q": "Which oil?", "answer": "Use 5W-30.", "chunks": [{"id": "c1"}]})
    chunk = Chunk("c1", "Use grade 5W-30.", doc_id="manual", page_idx=3)
    gold = {"Q1": GoldQuestion("Q1", "Which oil?", answer="5W-30", spans=spans)}
    corpus = Corpus({"c1": chunk.text})
    return load_question(trace, chunks={"c1": chunk}, gold=gold, corpus=corpus, profile=Profile())


def part_of(text: str = "Use grade 5W-30.", page_idx: int | None = 3, **places: PartPlace) -> GoldPart:
    stages: tuple[TrailStage, ...] = TRAIL_STAGES
    known = {stage: places[stage] for stage in stages if stage in places}
    return GoldPart(text, "manual", page_idx, known)


@pytest.mark.parametrize(("grounded", "correct"), [*product((*GROUNDED, None), CORRECT)])
def test_each_axis_has_a_chip_with_its_sign_its_name_and_what_it_means(grounded: Any, correct: Any) -> None:
    chips = words.chips(grounded, correct)
    named = [GROUNDED_NAMES[grounded]] if grounded else []
    assert [chip.text[2:] for chip in chips] == [*named, CORRECT_NAMES[correct]]
    assert all(chip.text[0] in "✓✕◐?" and chip.text[1] == " " and chip.tip for chip in chips)


def test_nothing_with_a_fault_is_ever_green() -> None:
    for verdict in product((*GROUNDED, None), CORRECT, CAUSES):
        grounded, correct, cause = verdict
        is_good = grounded in ("yes", None) and correct in ("correct", "declined_rightly") and cause == "none"
        assert (words.tone(*verdict) == "pass") == is_good, verdict
        chip = words.verdict_chip(*verdict)
        assert (chip.look == "green") == chip.text.startswith("✓") == is_good, verdict
        bad = grounded in ("contradicted", "no") or correct in ("wrong", "declined_wrongly")
        assert not bad or words.tone(*verdict) == "fail", verdict


@pytest.mark.parametrize(
    ("grounded", "correct", "cause", "word"),
    [
        ("contradicted", "correct", "contradicted", "✕ Contradicted"),
        ("yes", "wrong", "not_extracted", "✕ Wrong"),
        (None, "declined_wrongly", "over_refusal", "– Refused"),
        (None, "declined_wrongly", "missed_top_ranked", "– Refused"),
        (None, "declined_rightly", "none", "✓ Refused"),
        ("yes", "correct", "unsafe_omission", "⚠ Unsafe"),
        ("partly", "correct", "unsupported", "? Unsupported"),
        ("yes", "partly", "incomplete", "◐ Incomplete"),
        ("yes", "correct", "bad_citation", "! Bad citation"),
        ("yes", "unknown", "wrong_source", "✕ Wrong source"),
        ("yes", "unknown", "none", "? Not known"),
        ("yes", "correct", "none", "✓ Correct"),
    ],
)
def test_in_short_a_verdict_is_its_worst_part(
    grounded: Grounded | None, correct: Correct, cause: Cause, word: str
) -> None:
    assert words.verdict_chip(grounded, correct, cause).text == word


@pytest.mark.parametrize("cause", [each for each in CAUSES if each != "none"])
def test_a_cause_leads_with_its_name(cause: Cause) -> None:
    name, sentence = words.cause_pieces(verdict_of(cause, "The prompt held the answer at rank 1."))
    assert (name.text, name.kind) == (f"{CAUSE_NAMES[cause]}: ", "strong")
    assert sentence.text == "The prompt held the answer at rank 1."
    assert [piece.text for piece in words.cause_pieces(verdict_of(cause))] == [CAUSE_NAMES[cause]]


def test_a_name_that_the_sentence_begins_with_comes_once() -> None:
    pieces = words.cause_pieces(verdict_of("contradicted", "Wrong number: the answer says 1.4 litre."))
    assert [(piece.text, piece.kind) for piece in pieces] == [
        ("Wrong number: ", "strong"), ("the answer says 1.4 litre.", "plain"),
    ]  # fmt: skip
    pieces = words.cause_pieces(verdict_of("not_extracted", "Not what is expected: 1.4 for 1.0."))
    assert pieces[0].text == "Not extracted: "
    pieces = words.cause_pieces(verdict_of("unsupported", "Nothing says “<b>x</b>: y”."))
    assert pieces[0].text == "Unsupported: "


def test_without_a_failure_there_is_a_sentence_and_no_cause_to_be_certain_of() -> None:
    good = verdict_of("none", "Right by the expected answer.")
    assert [(piece.text, piece.kind) for piece in words.cause_pieces(good)] == [
        ("Right by the expected answer.", "plain")
    ]
    assert words.certainty_piece(good).text == ""
    assert words.certainty_piece(verdict_of("incomplete", "x")).text == "certain"


def test_evidence_is_a_claim_s_else_a_chunk_else_a_gold_passage_and_each_place_comes_once() -> None:
    view = view_of(GoldSpan("manual", 3, "Use grade 5W-30."), GoldSpan("manual", 4, "Or 0W-20."))
    evidence = (
        CauseEvidence("c1", "manual", 3, 0, 9, 1),
        CauseEvidence("c1", "manual", 3, 10, 12, 2),
        CauseEvidence("c9", "manual", 7, 0, 9, 3),
        CauseEvidence(None, "manual", 4, 0, 0),
        CauseEvidence(None, "manual", 99, 0, 0),
    )
    ways = words.evidence_ways(view, verdict_of("contradicted", evidence=evidence), claims=[1, 2])
    assert [(label, change.get("at_claim"), change["chunk"]) for label, change in ways] == [
        ("PDF page 4", 1, None),
        ("PDF page 8", None, "c9"),
        ("PDF page 5", None, "gold:2"),
    ]
    many = tuple(CauseEvidence(f"c{n}", "manual", n, 0, 9) for n in range(20))
    assert len(words.evidence_ways(view, verdict_of("unsupported", evidence=many))) == words.MAX_WAYS


def test_a_stage_says_what_of_the_passage_is_there() -> None:
    part = part_of(
        corpus=PLACE,
        retrieved=PartPlace("held", 1.0, 12, "c1"),
        fused=PartPlace("part", 0.604, 3, "c1"),
        reranked=PartPlace("same_page", 0.0, 4, "c2"),
        prompt=PartPlace("absent"),
        cited=PartPlace("held", 1.0, 1, "c1"),
    )
    assert words.stops_of(part) == [
        Stop("retrieved", "rank 12", "held"),
        Stop("fused", "60 % at rank 3", "part"),
        Stop("reranked", "same page, other text", "same_page"),
        Stop("in the prompt", "no", "absent"),
        Stop("cited", "yes", "held"),
    ]


def test_the_corpus_is_named_only_where_no_chunk_of_it_has_the_passage() -> None:
    part = part_of(corpus=PartPlace("part", 0.7, None, "c1"), prompt=PartPlace("part", 0.001, 1, "c1"))
    assert words.stops_of(part) == [
        Stop("in the corpus", "70 %", "part"),
        Stop("in the prompt", "<1 % at rank 1", "part"),
    ]


def test_a_trail_says_how_many_passages_are_needed_and_by_what_they_are_followed() -> None:
    one, two = (part_of(),), (part_of(), part_of(page_idx=None))
    assert words.trail_note(GoldTrail(one, "text")) == ""
    assert words.trail_note(GoldTrail(two, "text")) == "the answer needs 2 passages"
    note = "the answer needs 2 passages · by page only: the gold has no words"
    assert words.trail_note(GoldTrail(two, "page")) == note
    (piece,) = words.part_pieces(two[0], 1, 2, names_document=True)
    assert piece.text == "1 of 2 · PDF page 4 of manual · “Use grade 5W-30.”"
    assert words.part_name(two[0], 1, 2) == "The way of passage 1 of 2, PDF page 4"
    assert words.part_name(two[1], 1, 1) == "The way of the right passage"


def test_the_stages_are_a_list_for_screen_readers_and_hostile_words_stay_words() -> None:
    hostile = '"><img src=x onerror=alert(1)>'
    made = markup.stops([Stop(hostile, hostile, "part")], name=hostile).html
    assert "<img" not in made
    assert made.count("<li ") == 1
    assert '<ol class="ps-stops" role="list" aria-label="&quot;&gt;' in made
    with pytest.raises(ValueError, match="unknown holding"):
        markup.stops([Stop("fused", "rank 1", '"><b>')], name="way")  # type: ignore[arg-type]


def test_what_differs_as_a_whole_is_not_marked_but_a_figure_is() -> None:
    text = "Turn the red knob to the left."
    part, whole = ((0, 8),), ((0, len(text)),)
    assert words.telling(Correctness("wrong"), part, text) == part
    assert words.telling(Correctness("wrong"), whole, text) == ()
    assert words.telling(Correctness("wrong", is_figure=True), whole, text) == whole
    assert words.telling(Correctness("wrong"), ((0, 99), (-5, 2)), "") == ()


def test_another_run_has_a_sign_and_its_verdict_in_words() -> None:
    assert words.run_chip("ok", "contradicted", "wrong", "contradicted") == (
        "✕", "red", "Contradicted · Wrong · Contradicts its evidence",
    )  # fmt: skip
    assert words.run_chip("ok", "yes", "correct", "none") == ("✓", "green", "Supported · Correct")
    assert words.run_chip("refusal_ok", None, "declined_rightly", "none").sign == "✓"
    for unknown in (None, float("nan"), "<b>"):
        assert words.run_chip("ok", unknown, unknown, unknown) == ("·", "gray", "Grounded, not judged yet")
    assert words.run_chip(None, None, None, None).words == "no label"


def test_what_differs_is_marked_in_both_answers() -> None:
    pieces = answer_pieces("It holds 1.4 litre.", unexpected=[(9, 18)], unsupported=[(9, 12)])
    assert [(piece.text, piece.kind) for piece in pieces if piece.kind != "plain"] == [
        ("1.4 litre", "unexpected")
    ]
    pieces = answer_pieces("It holds 1.4 litre.", unexpected=[(9, 18)], claimed=[(9, 12)])
    assert [(piece.text, piece.kind) for piece in pieces if piece.kind != "plain"] == [
        ("1.4", "claimed"), (" litre", "unexpected"),
    ]  # fmt: skip
    pieces = marked_expected("1.0 litre, cold", [(0, 9), (11, 15)])
    assert [(piece.text, piece.kind) for piece in pieces] == [
        ("1.0 litre", "expected"), (", ", "plain"), ("cold", "expected"),
    ]  # fmt: skip


@pytest.mark.parametrize("marks", [(), ((0, 99),), ((2, 2),), ((0, 2), (1, 3)), ((3, 40), (50, 60))])
def test_marks_never_change_the_expected_answer(marks: Any) -> None:
    assert "".join(piece.text for piece in marked_expected("1.0 litre", marks)) == "1.0 litre"
