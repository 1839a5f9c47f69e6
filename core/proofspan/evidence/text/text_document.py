"""Locate a quote in a document without pages: the search of a page, with results in characters and lines.

The whole text is one page whose words have character positions instead of boxes, so that status, agreement
and differences mean the same as in a PDF.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from proofspan.contracts.records.records import Box, Offsets
from proofspan.evidence.text.locate import (
    MAX_QUOTE_CHARACTERS,
    NO_TOKENIZER,
    beginning_of,
    locate,
    needs_tokenizer,
)
from proofspan.evidence.text.page_index import WordIndex
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.text.tokens import HAS_CJK, TOKEN_CJK, fold, tokenize
from proofspan.evidence.types import FoundSpan, Place, SpanQuery, TextRange

WORD = re.compile(r"\S+")
LINE = re.compile(r"[^\n]*\n|[^\n]+")
#: Characters in a note of the text at the offsets of a quote.
MAX_EXCERPT = 80


@dataclass(frozen=True, slots=True)
class TextPage(PageText):
    """A text as a page. Token `i` covers the characters `starts[i]` to `ends[i]` (half open): those of its
    words, in a script without spaces only its own.

    A "box" of this page is `(start, 0, end, 1)`, a range of characters.
    """

    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    @classmethod
    def of_text(cls, text: str) -> TextPage:
        """Build the page of a whole text."""
        found = [(match.group(), match.start()) for match in WORD.finditer(text)]
        words = tuple(word for word, _ in found)
        at = array("q", (start for _, start in found))
        touching = [False] * len(words)
        tokens = tokenize(words, touching=touching)
        starts = array("q", (at[first] for first in tokens.first))
        ends = array("q", (at[last] + len(words[last]) for last in tokens.last))
        for number, word in enumerate(words):
            if HAS_CJK.search(word) and len(folded := fold(word)) == len(word):
                own = enumerate(TOKEN_CJK.finditer(folded), start=bisect_left(tokens.first, number))
                for token, match in own:
                    starts[token], ends[token] = at[number] + match.start(), at[number] + match.end()
        return cls(words, (), touching, _tokens=[tokens], starts=starts, ends=ends)

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """Return the characters of the tokens `start` to `end` (half open) as a box."""
        return ((float(self.starts[start]), 0.0, float(self.ends[end - 1]), 1.0),)

    def character(self, token: int) -> int:
        """Return the character at which a token begins."""
        return self.starts[token]


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text with its lines, which end with a line feed only. It implements `Pages`.

    `is_extracted`: the text was extracted from a web page, so that its lines are not the file's.
    """

    text: str
    line_starts: Sequence[int]  # ascending, from 0
    page: TextPage
    is_extracted: bool = False

    @classmethod
    def of(cls, text: str, *, is_extracted: bool = False) -> TextDocument:
        """Build a document from its canonical text."""
        starts = array("q", (line.start() for line in LINE.finditer(text)))
        return cls(text, starts, TextPage.of_text(text), is_extracted)

    @property
    def line_count(self) -> int:
        """Number of lines; text after the last line feed counts as one."""
        return len(self.line_starts)

    @property
    def page_count(self) -> int:
        """A text counts as one page."""
        return 1

    def page_text(self, page_idx: int) -> TextPage:
        """Return the text as a page."""
        return self.page

    def word_index(self, pages: range) -> WordIndex:
        """Return an empty index: there is no other page to search."""
        return WordIndex()

    def line_of(self, character: int) -> int:
        """Return the line of a character, counted from 1."""
        return bisect_right(self.line_starts, character)

    def line_range(self, line: int) -> tuple[int, int]:
        """Return the characters of a line, counted from 1, without its line feed."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < self.line_count else len(self.text)
        return start, end - (self.text[end - 1 : end] == "\n")

    def range(self, start: int, end: int) -> TextRange:
        """Return a half-open range of characters (not empty) with its lines."""
        return TextRange(start, end, self.line_of(start), self.line_of(end - 1))

    def ranges(self, offsets: Offsets) -> tuple[TextRange, ...]:
        """Return the characters of the text that offsets name, without white space around them."""
        there = self.text[offsets.start : offsets.end]
        start = offsets.start + len(there) - len(there.lstrip())
        return (self.range(start, start + len(there.strip())),) if there.strip() else ()


def locate_in_text(query: SpanQuery, document: TextDocument) -> FoundSpan:
    """Locate a quote in a text. Cited pages and boxes do not apply to a text and are ignored.

    Offsets in characters, bytes of the text as UTF-8, or 1-based lines decide which of several places is
    meant; a note reports offsets in tokens, which cannot. Without a quote, or if it is not found, the text at
    the offsets is returned as unverified.
    """
    offsets = _in_characters(query.offsets, document)
    notes = []
    if offsets is not None and offsets.end - offsets.start <= 2 * len(query.quote) + MAX_QUOTE_CHARACTERS:
        there = document.text[offsets.start : offsets.end]
        if any(map(str.isalnum, there)) and there.split() == query.quote.split():
            return FoundSpan("exact", None, False, 1.0, ranges=document.ranges(offsets))
    on_page = SpanQuery(query.quote, 0, offsets, before=query.before, after=query.after)
    found = locate(on_page, document)
    if needs_tokenizer(query, found):
        notes.append(NO_TOKENIZER)
    named = document.ranges(offsets) if offsets is not None and found.status == "not_found" else ()
    if named:
        excerpt = document.text[named[0].start : min(named[0].end, named[0].start + 2 * MAX_EXCERPT)]
        words = " ".join(excerpt.split())
        shown = words if len(words) <= MAX_EXCERPT else words[: MAX_EXCERPT - 1].rstrip() + "…"
        notes.append(f"the text at its offsets is “{shown}”")
    # The boxes of an exact match are cut to the character.
    exact = QuoteText.of(beginning_of(query.quote)) if found.status == "exact" else None
    return replace(
        found,
        page_idx=None,
        page_mismatch=False,
        rects=(),
        ranges=_ranges_of(found.rects, document, exact),
        alternatives=tuple(
            Place(0, (), _ranges_of(place.rects, document, exact)) for place in found.alternatives
        ),
        unverified_ranges=named,
        note="; ".join(filter(None, (*notes, found.note))),
    )


def _in_characters(offsets: Offsets | None, document: TextDocument) -> Offsets | None:
    """The offsets in characters of the text, None where they cannot be converted."""
    if offsets is None or offsets.unit == "token" or not 0 <= offsets.start < offsets.end:
        return None
    if offsets.unit == "char":
        return offsets
    if offsets.unit == "byte":
        data = document.text.encode("utf-8", "surrogatepass")
        start, end = (len(data[:at].decode("utf-8", "ignore")) for at in (offsets.start, offsets.end))
        return Offsets(start, end)
    if not 1 <= offsets.start <= document.line_count:
        return None
    last = min(max(offsets.start, offsets.end - 1), document.line_count)
    return Offsets(document.line_range(offsets.start)[0], document.line_range(last)[1])


def _ranges_of(
    boxes: Iterable[Box], document: TextDocument, exact: QuoteText | None
) -> tuple[TextRange, ...]:
    """The boxes of a `TextPage` as ranges in order, overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((int(box[0]), int(box[2])) for box in boxes):
        if exact is not None:
            start, end = _trimmed(start, end, document.text, exact)
        if merged and start <= merged[-1][1]:
            start, end = merged[-1][0], max(end, merged.pop()[1])
        merged.append((start, end))
    return tuple(document.range(start, end) for start, end in merged)


def _trimmed(start: int, end: int, text: str, quote: QuoteText) -> tuple[int, int]:
    """The range with its outer words cut to the quote's: its `only` is not `only,`."""
    first, last = quote.words[quote.tokens.first[0]], quote.words[quote.tokens.last[-1]]
    if quote.tokens.first[0] == quote.tokens.last[-1]:
        at = text.find(first, max(0, start - len(first)))
        return (at, at + len(first)) if 0 <= at < end and at + len(first) > start else (start, end)
    opening, *_, closing = text[start:end].split()
    if opening.endswith(first):
        start += len(opening) - len(first)
    if closing.startswith(last):
        end -= len(closing) - len(last)
    return start, end
