"""A quote on one page: the status it earns there, its boxes, and the words that differ.

Two thresholds: above `SURE` an alignment is taken as it is; between `MAYBE` and `SURE` only where words in
unbroken order confirm it. A wrong box is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.contracts.records import Box
from core.evidence.align import Alignment, Unit, align, occurrences, windows
from core.evidence.pagetext import PageText, QuoteText
from core.evidence.types import Difference, Status

#: Agreement from which a fuzzy place is taken as it is, and from which it may be taken at all.
SURE = 0.80
MAYBE = 0.60
#: Words in unbroken order that confirm a place between the two, and a part of a quote.
CONFIRMING_RUN = 6
PART_RUN = 8
#: A part of a quote is placed when it agrees this well in itself and is this much of the quote.
PART_AGREEMENT = 0.85
PART_COVERAGE = 0.35
#: Quotes of fewer tokens must agree letter by letter: there is too little to confirm anything else.
SHORT_QUOTE = 4
#: A gap of more page words than this inside a found quote is left out of its boxes.
MAX_BRIDGED = 8
MAX_DIFFERENCES = 40
WINDOWS = 3
WINDOW_SHARE = 0.3
ELLIPSIS = re.compile(r"\[\s*(?:\.\s?\.\s?\.|…)\s*\]|\(\s*(?:\.\s?\.\s?\.|…)\s*\)|(?:\.\s?){2}\.|…")
RANK: dict[Status, int] = {"exact": 4, "normalized": 3, "fuzzy": 2, "partial": 1, "not_found": 0}


@dataclass(frozen=True, slots=True)
class Match:
    """A quote placed on a page. `quote` is the token range of the quote that was found, half open."""

    status: Status
    agreement: float
    rects: tuple[Box, ...]
    differences: tuple[Difference, ...]
    quote: tuple[int, int]
    page: tuple[int, int]

    @property
    def is_clean(self) -> bool:
        """Whether the whole quote stands there, but for how it is set."""
        return self.status in ("exact", "normalized")

    def equals(self, other: Match) -> bool:
        """Whether both agree with the quote as well."""
        return (self.status, self.agreement) == (other.status, other.agreement)

    def beats(self, other: Match | None) -> bool:
        """Whether this is the better place; equal places are not better."""
        if other is None:
            return True
        return (RANK[self.status], self.agreement) > (RANK[other.status], other.agreement)


def find_on_page(quote: QuoteText, page: PageText) -> list[Match]:
    """The places of a quote on a page, the best first; more than one only where they are equally good."""
    if not quote.tokens or not page.tokens:
        return []
    return _letter_by_letter(quote, page) or _word_by_word(quote, page)


def _letter_by_letter(quote: QuoteText, page: PageText) -> list[Match]:
    """Places that hold the quote's letters in unbroken order, the best status only."""
    found = []
    for window in occurrences(quote.tokens, page.tokens):
        alignment = align(quote.tokens, page.tokens, window)
        if alignment is not None and (match := _judge(quote, page, alignment)):
            found.append(match)
    clean = [match for match in found if match.is_clean]
    return _best_of(clean or found)


def _word_by_word(quote: QuoteText, page: PageText) -> list[Match]:
    """Places that agree well enough without agreeing letter by letter."""
    if len(quote.tokens) < SHORT_QUOTE:
        return []
    found = []
    for window in windows(quote.tokens, page.tokens, limit=WINDOWS, share=WINDOW_SHARE):
        alignment = align(quote.tokens, page.tokens, window)
        if alignment is not None and (match := _judge(quote, page, alignment)):
            found.append(match)
    return _best_of(found)


def _best_of(found: Sequence[Match]) -> list[Match]:
    """The best match first, then those as good as it at other places."""
    if not found:
        return []
    best = found[0]
    for match in found[1:]:
        if match.beats(best):
            best = match
    return [best, *(match for match in found if match.page != best.page and match.equals(best))]


def _judge(quote: QuoteText, page: PageText, alignment: Alignment) -> Match | None:
    """The status that an alignment earns; None where it proves nothing."""
    whole_quote = alignment.quote == (0, len(quote.tokens))
    if whole_quote and alignment.is_whole:
        status: Status = "exact" if _is_verbatim(quote, page, alignment) else "normalized"
        return _match(quote, page, alignment, status, 1.0)
    if len(quote.tokens) < SHORT_QUOTE:
        return None
    confirmed = alignment.longest_run >= min(CONFIRMING_RUN, len(quote.tokens) // 2)
    if alignment.agreement >= SURE or (alignment.agreement >= MAYBE and confirmed):
        return _match(quote, page, alignment, "fuzzy", alignment.agreement)
    part = (
        alignment.coverage >= PART_COVERAGE
        and alignment.inner_agreement >= PART_AGREEMENT
        and alignment.longest_run >= PART_RUN
    )
    return _match(quote, page, alignment, "partial", alignment.coverage) if part else None


def _is_verbatim(quote: QuoteText, page: PageText, alignment: Alignment) -> bool:
    """Whether the page's own words hold the quote character by character, white space apart."""
    first, last = page.tokens.first[alignment.page[0]], page.tokens.last[alignment.page[1] - 1]
    lead, trail = _outer_words(quote)
    return " ".join(quote.words) in page.text(max(0, first - lead), min(len(page.words) - 1, last + trail))


def _outer_words(quote: QuoteText) -> tuple[int, int]:
    """How many words without a letter or digit open and close the quote (bullets, dashes)."""
    return quote.tokens.first[0], len(quote.words) - 1 - quote.tokens.last[-1]


def _match(quote: QuoteText, page: PageText, alignment: Alignment, status: Status, agreement: float) -> Match:
    return Match(
        status=status,
        agreement=round(agreement, 4),
        rects=_rects(page, alignment),
        differences=differences(quote, page, alignment.units),
        quote=alignment.quote,
        page=alignment.page,
    )


def _rects(page: PageText, alignment: Alignment) -> tuple[Box, ...]:
    """Boxes around the found words, bridging small gaps."""
    rects: list[Box] = []
    for start, end in _stretches(alignment.units):
        rects.extend(page.lines(page.tokens.first[start], page.tokens.last[end - 1]))
    return tuple(rects)


def _stretches(units: Sequence[Unit]) -> Iterator[tuple[int, int]]:
    """Page token ranges without the wide gaps."""
    start, end = units[0].page
    for unit in units[1:]:
        if not unit.agrees and unit.page[1] - unit.page[0] > MAX_BRIDGED:
            continue
        if unit.agrees and unit.page[0] - end > MAX_BRIDGED:
            yield start, end
            start = unit.page[0]
        if unit.agrees:
            end = unit.page[1]
    yield start, end


def differences(quote: QuoteText, page: PageText, units: Sequence[Unit]) -> tuple[Difference, ...]:
    """The words that differ, numbers first, else in the quote's order."""
    found: list[Difference] = []
    for unit in units:
        if unit.likeness < 1.0:
            found.append(_difference(quote, page, unit))
    found.sort(key=lambda difference: difference.kind != "number")
    return tuple(found[:MAX_DIFFERENCES])


def _difference(quote: QuoteText, page: PageText, unit: Unit) -> Difference:
    (q0, q1), (p0, p1) = unit.quote, unit.page
    ours = quote.text(quote.tokens.first[q0], quote.tokens.last[q1 - 1]) if q1 > q0 else ""
    theirs = page.text(page.tokens.first[p0], page.tokens.last[p1 - 1]) if p1 > p0 else ""
    number = any(quote.tokens.is_number[q0:q1]) or any(page.tokens.is_number[p0:p1])
    return Difference(ours, theirs, "number" if number else "word")
