"""Signals, suspicions and what a profile changes, on single traces."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS, Trace
from proofspan.diagnosis.answers import other_refusal
from proofspan.diagnosis.corpus import ChunkView, Corpus
from proofspan.diagnosis.gold import GoldOutcome
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.messages import MEANINGS, SUSPICIONS, next_step, step_for, suspicion_text
from proofspan.diagnosis.suggest import add_facts, suggest_profile
from proofspan.diagnosis.types import TEMPLATES, Profile, ReportRow, Signals, profile_from
from proofspan.diagnosis.words import tokens
from proofspan.errors import InputFault
from tests.made_traces import made_trace

CHUNKS = {
    "a1": "Torque the wheel bolts to 45 Nm. The wheel is then seated.",
    "a2": "Check the wheel and the tyre pressure.",
    "a3": "The radio has a wheel for the volume.",
    "a4": "Gardening is pleasant; wheel barrows help.",
}
CORPUS = Corpus(CHUNKS)
NONE = Profile(template="none")
PAYLOAD = Profile(template="payload")


def trace_of(
    answer: str, *, q: str = "Which torque for the wheel bolts?", ids: str = "a1 a2", **more: Any
) -> Trace:
    record = {
        "q": q,
        "q_id": "Q1",
        "chunks": [{"id": name} for name in ids.split()],
        "answer": answer,
        **more,
    }
    return made_trace(record, run_id=None)


def row_of(answer: str, profile: Profile | None = None, **more: Any) -> ReportRow:
    return reflect(trace_of(answer, **more), CORPUS, profile or Profile())


def test_signals_name_the_phrase_and_the_words() -> None:
    signals = row_of("Torque the wheel bolts to 45 Nm. citations: [a1]").signals
    assert signals.phrase == "Torque the wheel bolts to 45 Nm"
    assert signals.query_found == ("torque", "the", "wheel", "bolts")
    assert signals.query_missing == ("which", "for")
    assert signals.answer_coverage == 1.0
    assert signals.query_coverage == 1.0


def test_rare_words_weigh_more_than_common_ones() -> None:
    without_rare = row_of("the wheel sprocket. citations: [a2]", ids="a2").signals.answer_coverage
    without_common = row_of("the tyre sprocket. citations: [a2]", ids="a2").signals.answer_coverage
    assert without_rare is not None and without_common is not None
    assert 0 < without_rare < without_common < 1


def test_coverage_leaves_out_the_citation_line_and_bracketed_ids() -> None:
    assert row_of("wheel bolts [a1] (a2). citations: [a1, a2]").signals.answer_coverage == 1.0
    assert row_of("wheel bolts (spurious)").signals.answer_coverage != 1.0


def test_a_text_without_content_words_has_no_coverage() -> None:
    row = row_of("", q="Is it?")
    assert (row.signals.query_coverage, row.signals.answer_coverage) == (None, None)
    assert "query_terms_too_few" in row.suspicions


def test_a_question_of_stopwords_alone_says_nothing_about_alignment() -> None:
    assert "query_terms_too_few" in row_of("x", q="What is X?").suspicions
    assert "query_terms_too_few" not in row_of("x", q="What is torque?").suspicions


@pytest.mark.parametrize(
    ("answer", "more", "suspicion"),
    [
        ("Not in context, sorry.", {}, "refusal_not_exact"),
        ("wheel bolts. citations: []", {}, "citations_empty"),
        ("wheel bolts. citations:", {}, "citations_empty"),
        ("wheel bolts. citations: [a9]", {}, "citation_outside_retrieved"),
        ("wheel bolts. citations: [a1]", {"ids": "a1 gone"}, "unresolved_chunk_id"),
        ("wheel bolts. citations: [gone]", {}, "unresolved_chunk_id"),
        ("wheel. citations: [a1]", {"citations": [{"chunk_id": "a2"}]}, "citations_disagree"),
        ("I don't know.", {}, "refusal_other_wording"),
        ("The document does not say.", {}, "refusal_other_wording"),
        ("wheel bolts. citations: [a1]", {"ok": False}, "ok_contradicts"),
        ("wheel bolts", {"ok": True}, "ok_contradicts"),
        ("x", {"chunks": [{"id": "a1"}, {}]}, "chunk_without_id"),
    ],
)
def test_the_stricter_reading_is_a_suspicion(answer: str, more: dict[str, Any], suspicion: str) -> None:
    assert suspicion in row_of(answer, **more).suspicions


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        ("Torque the wheel bolts. citations: [a1]", {"ok": True}),
        ("  NOT IN CONTEXT\n", {}),
        ("wheel bolts. citations: [a1, a2]", {"citations": [{"chunk_id": "a2"}, {"chunk_id": "a1"}]}),
        ("wheel bolts. citations: [a1]", {"citations": []}),
        ("not in context", {"ok": False}),
    ],
)
def test_a_clean_answer_has_no_suspicion(answer: str, more: dict[str, Any]) -> None:
    assert row_of(answer, **more).suspicions == ()


def test_ids_are_counted_cited_retrieved_resolved() -> None:
    signals = row_of("wheel. citations: [a1, a3, gone]").signals
    assert (signals.cited, signals.cited_retrieved, signals.cited_resolved) == (3, 1, 2)


def test_template_none_leaves_out_the_template_and_the_citations() -> None:
    assert row_of("Torque the wheel bolts").label == "generation_drift"
    assert row_of("Torque the wheel bolts", NONE).label == "ok"
    strange = row_of("Torque the wheel bolts. citations: [a9]", NONE)
    assert (strange.label, strange.suspicions) == (
        "ok",
        ("citation_outside_retrieved", "unresolved_chunk_id"),
    )


def test_template_payload_goes_by_the_payload() -> None:
    text = "Torque the wheel bolts. citations: [a9]"
    assert row_of(text, PAYLOAD).label == "generation_drift"
    cited = row_of(text, PAYLOAD, citations=[{"chunk_id": "a1"}])
    assert (cited.label, cited.signals.cited_retrieved, cited.citations_in_answer) == ("ok", 1, ("a9",))
    assert row_of("Torque the wheel bolts", PAYLOAD, citations=[{"chunk_id": "a9"}]).why == (
        "template/citations violated"
    )


def test_refusal_phrases_of_the_profile_replace_the_references() -> None:
    profile = Profile(refusal=("I don't know", "keine Ahnung"))
    assert row_of("i DON'T know", profile).label == "refusal_suspect"
    assert row_of("Keine Ahnung!", profile).label == "refusal_suspect"
    assert row_of("not in context", profile).label == "generation_drift"
    assert row_of("I don't know", profile, q="Zebra?").label == "refusal_ok"


def test_a_refusals_own_words_claim_nothing() -> None:
    assert row_of("I don't know", Profile(refusal=("I don't know",))).signals.answer_coverage is None


@pytest.mark.parametrize(
    "answer",
    [
        *("I do not know.", "I don’t know", "i'm not sure about that", "I am unable to find it."),
        *("The provided context doesn't mention the torque.", "This passage does not explicitly state it."),
        *("There is no information about bolts.", "It is not mentioned in the given document."),
        *("This isn't specified in the text", "Insufficient information.", "That cannot be determined."),
    ],
)
def test_common_ways_to_decline_are_recognised(answer: str) -> None:
    assert other_refusal(answer.lower())


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "The bolt does not fit.",
            "Do not torque the nut; no information plate is needed.",
            "Unable seamen.",
        ),
        *("The context is clear: do it.", "He does not know of it.", "It is not stated to be round."),
    ],
)
def test_other_negations_are_no_refusal(answer: str) -> None:
    assert other_refusal(answer.lower()) is None


def facts_of(answers: list[tuple[str, dict[str, Any]]], profile: Profile) -> dict[str, int]:
    facts: dict[str, int] = {}
    for answer, more in answers:
        trace = trace_of(answer, **more)
        add_facts(facts, trace, reflect(trace, CORPUS, profile), profile)
    return facts


def test_a_run_without_template_is_offered_the_profile_that_fits() -> None:
    answers = [("Torque it.", {}), ("I don't know.", {}), ("I don't know", {}), ("I'm not sure.", {})]
    suggestion = suggest_profile(facts_of(answers, Profile()), Profile())
    assert suggestion is not None
    assert suggestion.profile == Profile(template="none", refusal=("i don't know", "i'm not sure"))
    labels = [row_of(answer, suggestion.profile).label for answer, _ in answers]
    assert labels == ["generation_drift", *["refusal_suspect"] * 3]


def test_a_run_with_payloads_is_offered_the_payload() -> None:
    answers = [("Torque it.", {"citations": [{"chunk_id": "a1"}]}), ("I don't know.", {})]
    suggestion = suggest_profile(facts_of(answers, Profile()), Profile())
    assert suggestion is not None
    assert suggestion.profile.template == "payload"


@pytest.mark.parametrize("answer", ["not in context", "Torque. citations: [a1]"])
def test_one_answer_that_follows_the_template_is_enough(answer: str) -> None:
    facts = facts_of([("Torque it.", {}), (answer, {})], Profile())
    assert suggest_profile(facts, Profile()) is None


def test_nothing_is_suggested_without_traces_or_template() -> None:
    assert suggest_profile({}, Profile()) is None
    assert suggest_profile(facts_of([("x", {})], NONE), NONE) is None


def test_profile_from_reads_what_is_given() -> None:
    assert profile_from({}) == Profile()
    assert profile_from({"template": "none", "refusal": "No idea"}) == Profile("none", ("No idea",))
    assert profile_from({"refusal": []}) == Profile("seed", ())


@pytest.mark.parametrize(
    "mapping", [{"template": "seeds"}, {"template": ["seed"]}, {"refusal": [1]}, {"refusal": [" "]}, {"x": 1}]
)
def test_profile_from_says_what_is_wrong(mapping: dict[str, Any]) -> None:
    with pytest.raises(InputFault) as caught:
        profile_from(mapping)
    assert caught.value.problems[0].where.startswith("triage.")
    assert caught.value.problems[0].fix


def test_every_label_and_suspicion_has_its_sentence() -> None:
    for label in LABELS:
        assert MEANINGS[label].endswith(".")
        assert all(next_step(label, template).endswith(".") for template in TEMPLATES)
    for code in SUSPICIONS:
        assert suspicion_text(code).endswith(".")
    assert "foreign_code" in suspicion_text("foreign_code")


@pytest.mark.parametrize(
    ("label", "gold", "signals", "expected"),
    [
        ("refusal_suspect", GoldOutcome("uncited", 2, 2, is_refusal=True), {}, "passage, and declines. Look"),
        ("refusal_suspect", GoldOutcome("dropped", None, 13), {}, "Let more candidates through"),
        ("refusal_suspect", GoldOutcome("missed"), {}, "Raise recall"),
        ("refusal_ok", GoldOutcome("missed"), {}, "Raise recall"),
        ("refusal_suspect", GoldOutcome("declined", is_refusal=True), {}, "declining is right"),
        ("ok", GoldOutcome("answered"), {"numbers_unsupported": ("1",)}, "and yet one was given"),
        ("ok", GoldOutcome("uncited", 2, 2), {"answer_coverage": 0.9}, "cites only others. Check the answer"),
        ("refusal_suspect", None, {}, "Raise top-k"),
        ("ok", None, {"numbers_unsupported": ("4.8",)}, "Check the figures"),
        ("ok", GoldOutcome("missed"), {"answer_coverage": 0.9}, "without that passage"),
        ("ok", GoldOutcome("cited", 1, 1), {"answer_coverage": 0.11}, "not most of its words"),
        ("ok", GoldOutcome("cited", 1, 1), {"answer_coverage": 0.9}, "Take it as the baseline"),
        ("generation_drift", GoldOutcome("cited", 1, 1), {"numbers_unsupported": ("1",)}, "template last"),
    ],
)
def test_the_next_step_of_an_answer_follows_its_signals(
    label: Any, gold: GoldOutcome | None, signals: Any, expected: str
) -> None:
    row = ReportRow("q", label, "", (), (), Signals(**signals))
    assert expected in step_for(row, "seed", gold)


def test_labels_do_not_depend_on_how_much_is_kept() -> None:
    small = Corpus(CHUNKS, cache_bytes=1500)
    for answer in ("Torque the wheel bolts. citations: [a1]", "wheel. citations: [a3]", "not in context"):
        for ids in ("a1 a2 a3 a4", "a4 a3", "a1 a1"):
            trace = trace_of(answer, ids=ids)
            assert reflect(trace, small, Profile()) == reflect(trace, CORPUS, Profile())


def test_an_empty_corpus_labels_all_the_same() -> None:
    row = reflect(trace_of("Torque. citations: [a1]"), Corpus({}), Profile())
    assert (row.label, row.signals.answer_coverage) == ("retrieval_drift", 0.0)


@given(st.text() | st.text(alphabet="aZ_9 -.ΣςİK\u0301\u200b"))
def test_tokens_are_those_of_the_reference(text: str) -> None:
    expected = [word for word in re.split(r"\W+", text.lower()) if word]
    assert tokens(text) == expected
    assert ChunkView(text).words == frozenset(expected)


@pytest.mark.parametrize(
    "answer",
    [
        "citations:[\n" * 30_000,
        "]" + "citations:[" * 30_000,
        "citations" + " " * 200_000,
        "[" * 100_000 + "(" * 100_000,
        "1/" * 100_000,
        "1." * 100_000,
        "i do not " * 20_000 + "a" * 100_000,
        "the document does not " + "ly" * 100_000,
        "a-" * 100_000,
    ],
    ids=lambda answer: answer[:14],
)
def test_a_hostile_answer_costs_time_in_proportion_to_its_length(answer: str) -> None:
    started = time.process_time()
    row_of(answer)
    assert time.process_time() - started < 5  # quadratic: minutes
