"""The quick way for a quote that stands word for word: it may only say what the whole search says."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.evidence.text import locate as locating
from proofspan.evidence.text.locate import locate, verbatim_on
from proofspan.evidence.text.page_index import WordIndex
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import FoundSpan, SpanQuery

WORDS = ["the", "oil", "level", "Check", "engine", "when", "warm", "between", "MIN", "Oil", "of"]
MARKS = ["5", "-5", "(5)", "3.2", "12%", "–", "•", "max.", "litre,", "a", "$", "1/4", "don’t", "per-cent"]


@dataclass(frozen=True)
class Book:
    """Pages of words, eight to a line."""

    pages: tuple[PageText, ...]

    @classmethod
    def of(cls, *texts: list[str]) -> Book:
        return cls(tuple(map(_page, texts)))

    @property
    def page_count(self) -> int:
        return len(self.pages)

    def page_text(self, page_idx: int) -> PageText:
        return self.pages[page_idx]

    def word_index(self, pages: range) -> WordIndex:
        return WordIndex.of(map(self.page_text, pages), start=pages.start)


def _page(words: list[str]) -> PageText:
    placed, x = [], 0.0
    for number, word in enumerate(words):
        x = x if number % 8 else 20.0
        y = 20.0 + 14.0 * (number // 8)
        placed.append(((x, y, x + 5.0 * len(word), y + 10.0), word))
        x += 5.0 * len(word) + 3.0
    return PageText.of(placed, width=600.0, height=800.0)


def slowly(query: SpanQuery, book: Book) -> FoundSpan:
    """What the whole search says."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(locating, "verbatim_on", lambda *_: None)
        return locate(query, book)


some_words = st.lists(st.sampled_from([*WORDS, *WORDS, *WORDS, *MARKS]), min_size=12, max_size=60)


@pytest.mark.slow
@settings(max_examples=400)
@given(some_words, some_words, st.data())
def test_what_is_found_at_once_is_what_the_whole_search_finds(
    words: list[str], others: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(words) - 6))
    end = data.draw(st.integers(start + 6, len(words)))
    query = SpanQuery(" ".join(words[start:end]), 0)
    book = Book.of(words, others)
    assert locate(query, book) == slowly(query, book)


SENTENCE = "Read the level when the engine is warm : it must lie between MIN and MAX at 5 degrees or more"
TEXT = SENTENCE.split(" ")


def test_a_quote_that_stands_once_is_found_at_once_with_its_lines() -> None:
    page = _page(TEXT)
    found = verbatim_on(SpanQuery("", 0), "engine is warm : it must lie", 0, page)
    assert found is not None
    assert (found.status, found.agreement, len(found.rects)) == ("exact", 1.0, 2)
    assert all(left[1] < right[1] for left, right in pairwise(found.rects))


@pytest.mark.parametrize(
    "quote",
    [
        "level when the engine",  # few words
        "level when the Engine is warm",  # another case
        "at 5 degrees or more warm",  # not in this order
        "between MIN and MAX at 5",  # a figure at its end
    ],
)
def test_what_is_in_doubt_is_left_to_the_whole_search(quote: str) -> None:
    query, book = SpanQuery(quote, 0), Book.of(TEXT)
    assert locate(query, book) == slowly(query, book)


def test_a_quote_that_stands_twice_is_left_to_the_whole_search() -> None:
    assert verbatim_on(SpanQuery("", 0), " ".join(TEXT[:8]), 0, _page(TEXT + TEXT)) is None
    assert verbatim_on(SpanQuery("", 0), "bread the level when the engine", 0, _page(TEXT)) is None
