"""The card of a box: what it is, how well it agrees, what differs, and its text, bounded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofspan.evidence.types import Difference, FoundSpan, SpanQuery, Status
from proofspan.services.page.shapes import PageSpan
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.ui.viewer.span_cards import LEAST_CHARS, MOST_CHARS, TEXT_CHARS, UNVERIFIED, cards_of

QUOTE = "Fill in 4.8 litres of oil."
CITED = Target("cited", 1, "manual", SpanQuery(QUOTE, 8), section_id="8.1")
EXACT = FoundSpan("exact", 8, False, 1.0)


def view(found: FoundSpan = EXACT, *, verified: bool = True, **more: str) -> PageView:
    span = PageSpan("cite:1", "cited", (), ((1, 2, 3, 4),), True, verified)
    return PageView(CITED, page_idx=8, spans=(span,), found={"cite:1": found}, texts=more)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("exact", "exact: word for word"),
        ("normalized", "normalized: but for case, punctuation or hyphenation"),
        ("fuzzy", "fuzzy: 86% agrees"),
        ("partial", "in part: 86% of it"),
        ("not_found", "not found"),
    ],
)
def test_the_status_is_shown_in_words(status: Status, expected: str) -> None:
    card = cards_of(view(replace(EXACT, status=status, agreement=0.86)), [CITED])["cite:1"]
    assert card.status.replace(" %", "%").replace("\u202f%", "%") == expected
    assert (card.name, card.notes, card.text, card.cut) == ("cited 1", ("section 8.1",), QUOTE, 0)


def test_figures_that_differ_come_first_and_further_ones_are_counted() -> None:
    words = tuple(Difference(f"a{number}", f"b{number}", "word") for number in range(4))
    found = replace(EXACT, status="fuzzy", differences=(*words, Difference("4.8", "4.3", "number")))
    card = cards_of(
        replace(view(found), target=replace(CITED, score=0.5)), [], answer="It takes 4.8 litres."
    )["cite:1"]
    assert card.notes[0] == "The answer says 4.8 litres, the page says 4.3 litres."
    assert card.notes[3:] == ("And 2 more.", "section 8.1", "score 0.500")


def test_a_box_that_nothing_confirms_says_so_and_another_page_is_named() -> None:
    assert cards_of(view(verified=False), [CITED])["cite:1"].status == UNVERIFIED
    elsewhere = replace(EXACT, page_idx=9, page_mismatch=True)
    assert "Cited is PDF page 9." in cards_of(view(elsewhere), [CITED])["cite:1"].notes


def test_the_pages_own_words_come_before_the_quote_and_what_cannot_be_shown_is_seen() -> None:
    shown = replace(view(), texts={"cite:1": "the page's\x00 words"})
    assert cards_of(shown, [CITED])["cite:1"].text == "the page's� words"


def test_texts_are_bounded_alone_and_together() -> None:
    long = replace(CITED, query=SpanQuery("w" * 50_000, 8))
    card = cards_of(replace(view(), target=long), [long])["cite:1"]
    assert (len(card.text), card.cut) == (MOST_CHARS, 50_000 - MOST_CHARS)
    many = [replace(long, kind="retrieved", chunk_id=str(number)) for number in range(2_000)]
    spans = tuple(PageSpan(each.id, "retrieved", (), ((1, 2, 3, 4),)) for each in many)
    shown = PageView(many[0], page_idx=8, spans=spans, found={each.id: EXACT for each in many})
    cards = cards_of(shown, many)
    assert len(cards) == 2_000
    assert sum(len(each.text) for each in cards.values()) <= max(TEXT_CHARS, 2_000 * LEAST_CHARS)
