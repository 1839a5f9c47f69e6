"""Citations and gold passages in a line, and a citation to be copied."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.contracts.records.records import Chunk, Citation, GoldSpan
from proofspan.diagnosis.types import Profile
from proofspan.evidence.types import Difference, FoundSpan, SpanQuery, TextRange
from proofspan.manifest.types import Artifact, Document
from proofspan.services.page.target import Target
from proofspan.services.page.text_view import TextView
from proofspan.services.page.view import PageView
from proofspan.services.question.view import CitationView, load_question
from proofspan.ui.wording.citation import (
    citation_line,
    first_step,
    gold_line,
    reference,
    spoken_names,
    status_words,
)
from tests.made_traces import made_trace

MISQUOTE = (Difference("1/16", "1/32", "number"),)
IN_TEXT = (TextRange(10, 90, 12, 14),)
EXACT = FoundSpan("exact", 65, False, 1.0)


def citation(number: int = 1, *, view: dict[str, Any] | None = None, **changes: Any) -> CitationView:
    cited: dict[str, Any] = {"chunk_id": "c", "doc_id": "manual", "section_id": "2.26", "page_idx": 65}
    joined: dict[str, Any] = {"quote_from": "payload", "is_retrieved": True, "chunk": Chunk("c", "text")}
    return CitationView(Citation(number=number, **cited | changes), **joined | (view or {}))


def line_of(view: CitationView, found: FoundSpan | None, **options: Any) -> tuple[str, str, str]:
    line = citation_line(view, found, **options)
    return line.badge, line.place, " · ".join(line.notes)


@pytest.mark.parametrize(
    ("view", "found", "words"),
    [
        (citation(), EXACT, ("1 · exact", "section 2.26 · PDF page 66", "")),
        (citation(section_id=None), EXACT, ("1 · exact", "PDF page 66", "")),
        (
            citation(2),
            FoundSpan("fuzzy", 65, False, 0.931, differences=MISQUOTE),
            ("2 · fuzzy 93 %", "section 2.26 · PDF page 66", "says 1/16, page says 1/32"),
        ),
        (
            citation(3),
            FoundSpan("partial", 65, False, 0.999),
            ("3 · in part >99 %", "section 2.26 · PDF page 66", ""),
        ),
        (
            citation(4),
            FoundSpan("not_found", None, False, 0.0),
            ("4 · not found", "section 2.26 · PDF page 66", ""),
        ),
        (
            citation(5, view={"is_retrieved": False}),
            FoundSpan("exact", 66, True, 1.0),
            ("5 · exact · other page +1", "section 2.26 · PDF page 67, cited PDF page 66", "not retrieved"),
        ),
        (citation(6), None, ("6", "section 2.26 · PDF page 66", "")),
        (
            citation(7, view={"quote_from": None, "chunk": None}),
            None,
            ("7 · not resolved", "section 2.26 · PDF page 66", ""),
        ),
        (
            citation(
                7,
                chunk_id=None,
                view={"quote_from": None, "chunk": None, "is_retrieved": True, "page_rank": 2},
            ),
            None,
            ("7", "section 2.26 · PDF page 66", "on a retrieved page (rank 2)"),
        ),
        (
            citation(7, chunk_id=None, view={"quote_from": None, "chunk": None, "is_retrieved": False}),
            None,
            ("7", "section 2.26 · PDF page 66", "not retrieved"),
        ),
        (
            citation(8, page_idx=None, page_note="page_below_one"),
            FoundSpan("exact", 0, False, 1.0),
            ("8 · exact", "section 2.26 · PDF page 1", "its page is below 1, yet such pages count from 1"),
        ),
        (
            citation(9, page_from="chunk_id"),
            EXACT,
            ("9 · exact", "section 2.26 · PDF page 66", "page from its chunk id"),
        ),
    ],
)
def test_a_line_says_how_sure_where_and_what_differs(
    view: CitationView, found: FoundSpan | None, words: tuple[str, str, str]
) -> None:
    assert line_of(view, found) == words


def test_a_document_is_named_where_there_are_several() -> None:
    assert line_of(citation(), EXACT, names_document=True)[1] == "section 2.26 · PDF page 66 · manual"


def test_a_line_of_a_document_without_pages_names_lines() -> None:
    found = FoundSpan("exact", None, False, 1.0, ranges=IN_TEXT)
    assert line_of(citation(), found, on="text")[1] == "section 2.26 · lines 12–14"
    gone = FoundSpan("not_found", None, False, 0.0)
    assert line_of(citation(), gone, on="text")[:2] == ("1 · not found", "section 2.26")


@pytest.mark.parametrize(
    ("found", "is_wrong"),
    [
        (EXACT, False),
        (FoundSpan("fuzzy", 65, False, 0.9), False),
        (FoundSpan("fuzzy", 65, False, 0.9, differences=MISQUOTE), True),
        (FoundSpan("exact", 64, True, 1.0), True),
        (FoundSpan("not_found", None, False, 0.0), True),
        (None, None),
    ],
)
def test_a_page_that_contradicts_its_citation_is_marked(
    found: FoundSpan | None, is_wrong: bool | None
) -> None:
    assert citation_line(citation(), found).is_wrong is is_wrong


def test_a_box_that_nothing_confirms_is_called_unverified() -> None:
    box = ((10.0, 10.0, 90.0, 20.0),)
    assert status_words(FoundSpan("not_found", None, False, 0.0, unverified=box)) == "unverified"


def test_several_gold_spans_are_numbered() -> None:
    span = GoldSpan("manual", 42, "Press SET")
    line = gold_line(span, FoundSpan("exact", 42, False, 1.0), number=2)
    assert (line.badge, line.place) == ("gold 2 · exact", "PDF page 43 · manual")
    assert gold_line(span, None).badge == "gold"
    assert gold_line(span, None, names_document=False).place == "PDF page 43"


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (FoundSpan("exact", 64, True, 1.0), "is not the page of its quote"),
        (FoundSpan("not_found", None, False, 0.0), "does not contain its quote"),
        (FoundSpan("fuzzy", 64, True, 0.9, differences=MISQUOTE), "has another number"),
    ],
)
def test_a_page_that_contradicts_a_citation_comes_before_every_other_step(
    found: FoundSpan, reason: str
) -> None:
    fine = FoundSpan("normalized", 3, False, 1.0)
    assert first_step([(1, fine), (2, found)]) == f"Check the cited page first: that of citation 2 {reason}."
    assert first_step([(1, fine)]) is None


def place(found: FoundSpan | None, *, printed: str | None = None, **more: Any) -> PageView:
    target = Target("cited", 1, "m", SpanQuery("quote", 41), section_id="4.2")
    document = Document("m", Artifact("documents[m]", "m.pdf"), title="Meridian\nowner's manual")
    page_idx = found.page_idx if found else 41
    known = {"cite:1": found} if found else {}
    return PageView(target, document, page_idx, 97, printed, found=known, **more)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (
            place(FoundSpan("exact", 41, False, 1.0), printed="34"),
            "Meridian owner's manual, section 4.2, PDF page 42, page_idx 41, printed 34",
        ),
        (
            place(FoundSpan("exact", 0, True, 1.0)),
            "Meridian owner's manual, section 4.2, PDF page 1, page_idx 0",
        ),
        (
            place(FoundSpan("not_found", None, False, 0.0)),
            "Meridian owner's manual, section 4.2, PDF page 42, page_idx 41, text not found there",
        ),
        (
            place(FoundSpan("exact", None, False, 1.0, ranges=IN_TEXT), text=TextView((), 40)),
            "Meridian owner's manual, section 4.2, lines 12–14",
        ),
    ],
)
def test_a_citation_to_be_copied_names_document_section_and_both_page_numbers(
    view: PageView, words: str
) -> None:
    assert reference(view) == words


def test_citations_are_read_aloud_with_status_and_page() -> None:
    line = {"q_id": "Q1", "q": "q", "answer": "a", "citations": [{"chunk_id": "c", "page": 66}, {"id": "x"}]}
    trace = made_trace(line)
    view = load_question(trace, chunks={}, gold={}, corpus=None, profile=Profile())
    moved = {"cite:1": FoundSpan("exact", 66, True, 1.0)}
    assert spoken_names(view, moved) == {
        1: "citation 1, exact · other page +1, PDF page 67, cited PDF page 66",
        2: "citation 2, not resolved",
    }
    in_text = {"cite:1": FoundSpan("exact", None, False, 1.0, ranges=IN_TEXT)}
    assert spoken_names(view, in_text, on="text")[1] == "citation 1, exact, lines 12–14"
