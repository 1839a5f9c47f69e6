"""Locate a quote in a document: on the cited page, then its neighbours, then every page.

Pure: pages come in as words with boxes, a `FoundSpan` goes out. The same input gives the same result, however
long it takes; the worker's deadline bounds the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from proofspan.evidence.text.match import CLEAN, SURE, Match, find_misquoted, find_on_page
from proofspan.evidence.text.page_index import Pages, searched, share_of_words
from proofspan.evidence.text.page_text import PageText, QuoteText, other_orders
from proofspan.evidence.text.partial_quotes import (
    body_of,
    find_body,
    find_pieces,
    header_of,
    pieces_of,
    with_continuation,
    without_tags,
)
from proofspan.evidence.text.producer_hints import NO_BOX, BoxCheck, check_box, settle
from proofspan.evidence.types import FoundSpan, Place, SpanQuery, Status

MAX_QUOTE_CHARACTERS = 20_000
NO_TOKENIZER = "its offsets count tokens, which cannot be located without the tokenizer"
MAX_ALTERNATIVES = 20
#: Pages of one citation that are searched as cited ones.
MAX_CITED_PAGES = 20
#: Characters shown of a chunker's own lines.
MAX_HEADER_SHOWN = 200
#: A quote this short is too common to be located on a page that nobody cited, unless it is on one page only.
COMMON_WORDS = 4
#: Being on the cited page or next to it outweighs this much agreement.
NEARLY = 0.05
#: Another reading order is tried only where the page has this share of the quote's words.
REORDERED_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class _Spot:
    """Equally good matches of a quote on one page, and where it continues beyond that page.

    `page` has the words in the order in which the matches were found.
    """

    page_idx: int
    page: PageText
    matches: tuple[Match, ...]
    continues: tuple[Place, ...] = ()
    is_body: bool = False

    @property
    def best(self) -> Match:
        return self.matches[0]


def locate(query: SpanQuery, pages: Pages) -> FoundSpan:
    """Locate a quote. `not_found` is a result; nothing is located that the page's words do not confirm.

    Only the beginning of a quote longer than `MAX_QUOTE_CHARACTERS` is searched for; its match is partial.
    """
    text = beginning_of(query.quote)
    found = _without_header(text, pages, query) or _Search(text, pages, query).found()
    if found.status not in CLEAN and (plain := without_tags(text)) != text:
        other = _without_header(plain, pages, query) or _Search(plain, pages, query).found()
        found = _as_normalized(other) if other.status in CLEAN or other.agreement > found.agreement else found
    share = len(text) / max(1, len(query.quote.strip()))
    if needs_tokenizer(query, found):
        found = replace(found, note=_joined(NO_TOKENIZER, found.note))
    if share == 1 or not text:
        return found
    note = f"only the first {MAX_QUOTE_CHARACTERS:,} characters of the quote were searched for"
    status: Status = "partial" if found.status in CLEAN else found.status
    agreement = round(found.agreement * share, 4)
    return replace(found, status=status, agreement=agreement, note=_joined(note, found.note))


def _without_header(text: str, pages: Pages, query: SpanQuery) -> FoundSpan | None:
    """Locate a text without a chunker's own lines above it, if those are not on the page; else None."""
    header = header_of(text)
    if not header:
        return None
    found = _Search(text[len(header) :].strip(), pages, query).found()
    if found.page_idx is None:
        return None
    page, lines = pages.page_text(found.page_idx), header.split("\n")
    if 2 * sum(QuoteText.of(line).tokens.squeezed in page.tokens.squeezed for line in lines) >= len(lines):
        return None
    shown = "; ".join(" ".join(line.split()) for line in lines)
    note = f"above the text are lines that are not on the page: {shown[:MAX_HEADER_SHOWN]}"
    return replace(_as_normalized(found), note=_joined(found.note, note))


def _as_normalized(found: FoundSpan) -> FoundSpan:
    """Return the span of a quote of which something was left out, which is on the page but for that."""
    return replace(found, status="normalized") if found.status == "exact" else found


def needs_tokenizer(query: SpanQuery, found: FoundSpan) -> bool:
    """Return whether offsets in tokens would have helped, had they been in characters."""
    is_open = found.status == "not_found" or bool(found.alternatives)
    return is_open and query.offsets is not None and query.offsets.unit == "token"


def beginning_of(quote: str) -> str:
    """Return the part of a quote that is searched for, whole words."""
    quote = quote.strip()
    if len(quote) <= MAX_QUOTE_CHARACTERS:
        return quote
    whole = quote[: MAX_QUOTE_CHARACTERS + 1].rsplit(maxsplit=1)[0]
    return whole[:MAX_QUOTE_CHARACTERS]


class _Search:
    """The search for one quote in a document."""

    def __init__(self, text: str, pages: Pages, query: SpanQuery) -> None:
        self.quote, self.text, self.pages, self.query = QuoteText.of(text), text, pages, query
        cited = query.cited_page_idx
        self.cited = cited if cited is not None and 0 <= cited < pages.page_count else None
        self.is_scrap = len(self.quote.tokens) < COMMON_WORDS
        self.note = ""
        self.is_bare = self.cited is not None and not pages.page_text(self.cited).words
        if self.is_bare:
            self.note = f"page_idx {cited} has no text to compare the quote with"
        if cited is not None and self.cited is None:
            self.note = f"page_idx {cited} is not in the document, which has {pages.page_count} pages"

    @cached_property
    def pieces(self) -> list[QuoteText]:
        return pieces_of(self.text)

    @cached_property
    def body(self) -> QuoteText | None:
        return body_of(self.text)

    def found(self) -> FoundSpan:
        """The best spot, with other places as alternatives."""
        if not self.quote.tokens:
            note = "the quote has no letter or digit to search for"
            return _not_found(note, self._check_cited() if self.is_bare else NO_BOX)
        spots = self._spots()
        if not spots:
            return _not_found(self.note, self._check_cited())
        spot, *others = spots
        match, rest = settle(self.query, spot.matches, spot.page)
        if self.is_bare:
            agrees, unverified, box_note = self._check_cited()
        else:  # on the cited page where a part of the quote is there
            own = Place(spot.page_idx, match.rects)
            place = next((part for part in spot.continues if part.page_idx == self.cited), own)
            page = self.pages.page_text(place.page_idx)
            agrees, unverified, box_note = check_box(self.query, place.rects, page)
        places = [Place(spot.page_idx, other.rects) for other in rest]
        places += [Place(o.page_idx, m.rects) for o in others for m in o.matches if match.is_clean]
        pages = (spot.page_idx, *(place.page_idx for place in spot.continues))
        marks = ", ".join(match.footnotes)
        left_out = f"the page has footnote marks here that the quote leaves out: {marks}" if marks else ""
        return FoundSpan(
            status=match.status,
            page_idx=spot.page_idx,
            page_mismatch=self.query.cited_page_idx is not None and not {*pages} & {*self.query.cited_pages},
            agreement=match.agreement,
            rects=match.rects,
            differences=match.differences,
            alternatives=tuple(places[:MAX_ALTERNATIVES]),
            continues=spot.continues,
            note=_joined(self.note, box_note, left_out),
            box_agrees=agrees,
            unverified=unverified,
        )

    def _spots(self) -> list[_Spot]:
        """The best spots, the nearest to the cited page first; one unless several pages are as good."""
        near: list[_Spot] = []
        if self.cited is not None:
            cited = self.query.cited_pages[:MAX_CITED_PAGES]
            near = _best(self._on(cited), self.cited)
            if near and near[0].best.is_strong:
                return near
            here = near[:1]
            if not self.is_scrap:
                near += self._on((cited[0] - 1, cited[-1] + 1))
            if any(spot.best.is_clean for spot in near):
                return _best(near, self.cited)
            # Only the neighbouring pages could hold a better match.
            if any(spot.best.is_strong or spot.continues or spot.is_body for spot in here):
                return here
        elsewhere = self._elsewhere([spot.page_idx for spot in near])
        # Far from the cited page a spot must be clean where the quote is misquoted near that page; and where
        # it is not there at all, a place with other numbers must be sure: reports repeat their sentences with
        # the numbers of each year.
        is_misquoted = any(spot.best.is_misquoted for spot in near)
        for spot in elsewhere:
            has_other_numbers = any(difference.kind == "number" for difference in spot.best.differences)
            is_sure = not has_other_numbers or spot.best.merit >= (0, SURE)
            if self.cited is None or spot.best.is_clean or (is_sure and not is_misquoted):
                near.append(spot)
        return _best(near, self.cited)

    def _on(self, page_indices: Iterable[int]) -> list[_Spot]:
        spots = (self._spot(idx) for idx in page_indices if 0 <= idx < self.pages.page_count)
        return [spot for spot in spots if spot is not None]

    def _spot(self, page_idx: int) -> _Spot | None:
        """The matches on a page, in its own reading order or, where those are poor, in another."""
        page = self.pages.page_text(page_idx)
        spot = self._in_own_order(page_idx, page)
        is_poor = spot is None or spot.best.merit < (0, SURE)
        is_likely = not self.is_scrap or page_idx == self.cited
        if is_poor and is_likely and share_of_words(self.quote.tokens, page.tokens) >= REORDERED_SHARE:
            for other in other_orders(page):
                matches = find_on_page(self.quote, other)
                is_sure = bool(matches) and matches[0].status != "partial" and matches[0].merit >= (0, SURE)
                if is_sure and (spot is None or matches[0].merit > spot.best.merit):
                    spot = _Spot(page_idx, other, tuple(matches))
        if spot is None and page_idx == self.cited and (misquoted := find_misquoted(self.quote, page)):
            return _Spot(page_idx, page, tuple(misquoted))
        return spot

    def _in_own_order(self, page_idx: int, page: PageText) -> _Spot | None:
        """The whole quote, its pieces, a part that continues on the next page, or its body."""
        matches = find_on_page(self.quote, page)
        if matches and matches[0].is_clean:
            return _Spot(page_idx, page, tuple(matches))
        if len(self.pieces) > 1:
            joined = find_pieces(self.pieces, page)
            if joined is not None:
                return _Spot(page_idx, page, (joined,))
        if matches and matches[0].status != "partial":
            return _Spot(page_idx, page, tuple(matches))
        if len(self.pieces) > 1:
            return None
        if matches:
            part, continues = with_continuation(self.quote, matches[0], page_idx, self.pages)
            if part.is_proof:
                return _Spot(page_idx, page, (part, *matches[1:]), continues)
        bodies = find_body(self.quote, self.body, page) if self.body else []
        return _Spot(page_idx, page, tuple(bodies), is_body=True) if bodies else None

    def _elsewhere(self, known: list[int]) -> list[_Spot]:
        """The spots in the rest of the document: pages with all letters, else those with most words."""
        pages = searched(self.pages.page_count, self.cited)
        index = self.pages.word_index(pages)
        if len(pages) < (count := self.pages.page_count):
            note = f"only page_idx {pages[0]} to {pages[-1]} of the document's {count} pages were searched"
            self.note = _joined(self.note, note)
        with_letters = self._on(idx for idx in index.with_letters(self.quote.tokens) if idx not in known)
        clean = [spot for spot in with_letters if spot.best.is_clean]
        if clean:
            return clean if not self.is_scrap or len(clean) == 1 else []
        if self.is_scrap:
            return []
        return with_letters + self._on(idx for idx in index.with_words(self.quote.tokens) if idx not in known)

    def _check_cited(self) -> BoxCheck:
        """Check the producer's box on the cited page, where the quote is not."""
        if self.cited is None:
            return NO_BOX
        return check_box(self.query, (), self.pages.page_text(self.cited))


def _best(spots: list[_Spot], cited: int | None) -> list[_Spot]:
    """The best spots, the nearest to the cited page first, the earlier of two as near.

    Next to the cited page a spot that is nearly as good is the better one: misread letters decide nothing.
    """
    if not spots:
        return []
    rank, agreement = max(spot.best.merit for spot in spots)
    good = [spot for spot in spots if spot.best.merit[0] == rank]
    nearly = [s for s in good if cited is not None and abs(s.page_idx - cited) <= 1]
    nearly = [spot for spot in nearly if spot.best.agreement >= agreement - NEARLY]
    best = nearly or [spot for spot in good if spot.best.agreement == agreement]
    return sorted(
        best, key=lambda spot: (-spot.best.agreement, abs(spot.page_idx - (cited or 0)), spot.page_idx)
    )


def _not_found(note: str, box: BoxCheck) -> FoundSpan:
    agrees, unverified, box_note = box
    note = _joined(note, box_note)
    return FoundSpan("not_found", None, False, 0.0, note=note, box_agrees=agrees, unverified=unverified)


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
