"""Ranges of an explanation hold in the original texts, whatever lower-casing does to their length."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.explain import explain
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Explanation, Profile
from proofspan.diagnosis.words import Folded
from tests.made_traces import made_trace

CHUNKS = {
    "a1": "İİ Torque the wheel bolts to 45 Nm at the end",
    "a2": "start of a page. TORQUE again.",
}


def trace_of(answer: str, *, q: str = "Which torque?", ids: str = "a1 a2", **more: Any) -> Trace:
    record = {"q": q, "chunks": [{"id": name} for name in ids.split()], "answer": answer, **more}
    return made_trace(record, run_id=None)


def explained(answer: str, profile: Profile | None = None, **more: Any) -> Explanation:
    return explain(trace_of(answer, **more), Corpus(CHUNKS), profile or Profile())


def test_a_phrase_is_placed_behind_letters_that_grow_in_lower_case() -> None:
    (match,) = explained("İ: wheel BOLTS. citations: [a1]", ids="a1").phrases
    assert (match.phrase, match.answer_start, match.answer_end) == ("wheel BOLTS", 3, 14)
    assert match.chunk_ids == {"a1"}


def test_a_phrase_across_a_join_is_in_each_chunk() -> None:
    (match,) = explained("the end\n\nstart of a page!").phrases
    assert match.chunk_ids == {"a1", "a2"}


def test_every_phrase_is_listed_with_its_chunks() -> None:
    found = explained("torque, wheel and torque again", q="x", ids="a1 a2").phrases
    assert [(match.phrase, match.chunk_ids) for match in found] == [("torque", {"a1", "a2"})]
    twice = explained("torque, x, torque").phrases
    assert [match.answer_start for match in twice] == [0, 11]


def test_query_tokens_are_placed_in_the_question() -> None:
    asked = "Which TORQUE, torque?"
    which, torque = explained("x", q=asked).query
    assert (which.token, which.is_content, which.is_found) == ("which", False, False)
    assert [asked[start:end] for start, end in torque.in_question] == ["TORQUE", "torque"]
    assert torque.is_found


def test_unsupported_numbers_and_missing_words_are_placed() -> None:
    answer = "Use 45 or 46 Nm with a sprocket. citations: [a1]"
    found = explained(answer)
    assert [(number.text, answer[number.start : number.end]) for number in found.numbers] == [("46", "46")]
    assert found.words_missing == ("sprocket",)


def test_cited_ids_are_placed_one_after_the_other() -> None:
    cited = explained("See a1. citations: [a1, gone, a1]").cited
    assert cited == {(20, 22): "a1", (24, 28): "gone", (30, 32): "a1"}


def test_an_id_of_the_payload_alone_has_no_range() -> None:
    assert explained("Torque", Profile(template="payload"), citations=[{"chunk_id": "a2"}]).cited == {}


def test_the_refusal_is_marked_in_the_original() -> None:
    found = explained("İ Sorry, NOT in Context.")
    assert (found.refusal, found.is_other_wording, found.phrases) == ("NOT in Context", False, ())
    other = explained("İ I don’t know that")
    assert (other.refusal, other.is_other_wording) == ("I don’t know", True)


LETTERS = st.text(alphabet="aAİıΣςßﬁK 45.,\n-[]:", max_size=40)


@given(LETTERS)
def test_folding_leads_back_to_letters_that_lower_to_the_same(text: str) -> None:
    folded = Folded(text)
    for at in range(len(folded.lower)):
        start, end = folded.original(at, at + 1)
        assert end == start + 1
        assert folded.lower[at] in text[start:end].lower() + "σς"


@settings(deadline=None)
@given(answer=LETTERS, q=LETTERS, first=LETTERS, second=LETTERS)
def test_explanation_agrees_with_the_signals(answer: str, q: str, first: str, second: str) -> None:
    texts = {"a1": first, "a2": second}
    corpus, trace = Corpus(texts), trace_of(answer, q=q)
    found, row = explain(trace, corpus, Profile()), reflect(trace, corpus, Profile())
    assert (found.phrases[0].phrase if found.phrases else None) == row.signals.phrase
    assert tuple(dict.fromkeys(number.text for number in found.numbers)) == row.signals.numbers_unsupported
    assert tuple(token.token for token in found.query if token.is_found) == row.signals.query_found
    assert tuple(found.cited.values()) == row.citations_in_answer
    for match in found.phrases:
        assert answer[match.answer_start : match.answer_end] == match.phrase
        assert all(
            match.phrase.lower() in texts[name].lower()
            for name in match.chunk_ids
            if len(match.chunk_ids) == 1
        )
