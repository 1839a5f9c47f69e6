"""The Question page's sentences about the gold passage."""

from __future__ import annotations

import pytest

from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.services.question.view import load_question
from proofspan.ui.wording.question import gold_rows
from tests.made_traces import made_trace

CHUNKS = {
    "c1": Chunk("c1", "Use only rosin flux.", doc_id="d", section_id="2.26", page_idx=0),
    "c2": Chunk("c2", "Strip the wire.", doc_id="d", section_id="2.25", page_idx=57),
}
RETRIEVED = {"stages": {"retrieved": [{"id": "c3"}, {"id": "c2"}]}}


def gold_words(gold: GoldQuestion | None, **record: object) -> str | None:
    line = {"q_id": "Q1", "q": "Which flux?", "answer": "rosin", "chunks": [{"id": "c1"}]} | record
    trace = made_trace(line)
    known = {"Q1": gold} if gold else {}
    view = load_question(trace, chunks=CHUNKS, gold=known, corpus=Corpus({}), profile=Profile())
    rows = gold_rows(view)
    assert [name for name, _ in rows] == ["Gold"] * len(rows)
    return "".join(piece.text for piece in rows[0][1]) if rows else None


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q1", "Which flux?", **more)  # type: ignore[arg-type]


PAGE = gold(spans=(GoldSpan("d", 57, "wire"),))
TWO_PAGES = gold(spans=(GoldSpan("d", 57, "wire"), GoldSpan("d", 59, "flux")))


@pytest.mark.parametrize(
    ("known", "record", "words"),
    [
        (
            PAGE,
            RETRIEVED,
            "page 58 · retrieved at rank 2 of 2 · not in the prompt",
        ),
        (
            PAGE,
            {"stages": {"fused": [{"id": "c3"}]}, "chunks": []},
            "page 58 · not among the 1 fused",
        ),
        (PAGE, {}, "page 58 · not in the prompt"),
        (
            PAGE,
            {"chunks": [{"id": "c1"}, {"id": "c2"}]},
            "page 58 · in the prompt at rank 2 of 2 · the answer cites nothing",
        ),
        (
            gold(sections=("2.26",)),
            {"answer": "rosin citations: [c1]"},
            "section 2.26 · in the prompt at rank 1 of 1 · cited",
        ),
        (
            gold(sections=("2.26",)),
            {"answer": "rosin citations: [c2]"},
            "section 2.26 · in the prompt at rank 1 of 1 · not cited",
        ),
        (
            gold(sections=("2.26",)),
            {"answer": "not in context"},
            "section 2.26 · in the prompt at rank 1 of 1 · refused",
        ),
        (
            gold(answerable=False),
            {"answer": "not in context"},
            "the documents contain no answer · Correctly refused",
        ),
        (
            gold(chunks=("c2", "m|r=00000000|s=4.2|p=008|b=001", "c2", "x", "y")),
            {},
            "chunk c2 or chunk of section 4.2, p. 8 or chunk x or 1 more · none of them in the prompt",
        ),
        (
            TWO_PAGES,
            RETRIEVED,
            "page 58 and page 60 · the first of them retrieved at rank 2 of 2 · none of them in the prompt",
        ),
        (
            TWO_PAGES,
            {"chunks": [{"id": "c1"}, {"id": "c2"}], "answer": "rosin citations: [c2]"},
            "page 58 and page 60 · the first of them in the prompt at rank 2 of 2 · "
            "at least one of them cited",
        ),
        (
            gold(spans=(GoldSpan("d", 57, "wire"), GoldSpan("d", 57, "strip"))),
            {},
            "page 58 · not in the prompt",
        ),
        (gold(answerable=False), {}, "the documents contain no answer · Should have refused"),
        (gold(), {}, None),
        (None, {}, None),
    ],
)
def test_the_gold_row_says_what_it_is_and_where_it_was_lost(
    known: GoldQuestion | None, record: dict[str, object], words: str | None
) -> None:
    assert gold_words(known, **record) == words


def test_a_trace_that_leaves_out_its_chunks_leaves_the_ranks_open() -> None:
    trace = made_trace({"q_id": "Q1", "q": "q"})
    view = load_question(trace, chunks=CHUNKS, gold={"Q1": PAGE}, corpus=Corpus({}), profile=Profile())
    assert [piece.text for piece in gold_rows(view)[0][1]] == ["page 58"]


def test_the_document_is_named_where_the_passages_are_of_several() -> None:
    other = {"chunks": [{"id": "c9", "doc_id": "e"}]}
    assert gold_words(PAGE, **other) == "page 58 of d · not in the prompt"
    of_id = gold(chunks=("m|r=00000000|s=4.2|p=008|b=001",))
    assert gold_words(of_id, chunks=[{"id": "c1"}, *other["chunks"]]) == (
        "chunk of section 4.2, p. 8 of m · not in the prompt"
    )


def test_the_tip_says_how_many_chunks_there_were_to_be_seen() -> None:
    line = {"q_id": "Q1", "q": "q", "chunks": [{"id": "c1"}], "stages": {"fused": [{"id": "c3"}]}}
    trace = made_trace(line)
    view = load_question(trace, chunks=CHUNKS, gold={"Q1": PAGE}, corpus=Corpus({}), profile=Profile())
    (_, pieces), *_ = gold_rows(view)
    assert (pieces[-1].text, pieces[-1].kind) == ("not among the 1 fused", "strong")
    assert pieces[-1].tip == "The prompt has 1 chunk."
