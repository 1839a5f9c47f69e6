"""Locate quotes in pieces: those with an ellipsis, and those with a header that is not on the page.

Each piece between ellipses is located by itself, in order, on the same page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from proofspan.evidence.text.align import Alignment, align, occurrences, windows
from proofspan.evidence.text.match import MAX_UNCLEAN, SHORT_QUOTE, SURE, Match, find_on_page, judge
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.text.token_pairs import weight

PARAGRAPH = re.compile(r"\n[ \t\r\f\v]*\n")
#: A body of fewer tokens is too short to represent a quote whose header is not on the page.
MIN_BODY = 8
ELLIPSIS = re.compile(r"[\[(]\s*(?:(?:\.\s?){2}\.|…)\s*[\])]|(?:\.\s?){2}\.+|…")
#: Distance of a piece from its neighbour at most, in tokens of the page; less for a short piece.
MAX_GAP = 400
MAX_GAP_SHORT = 80


def pieces_of(text: str) -> list[QuoteText]:
    """Return the pieces between ellipses that have a letter or digit."""
    return [piece for part in ELLIPSIS.split(text) if (piece := QuoteText.of(part)).tokens]


def body_of(text: str) -> QuoteText | None:
    """Return the text after the first blank line, above which a chunker may put a header, or None."""
    _, blank, rest = PARAGRAPH.sub("\0", text.strip(), count=1).partition("\0")
    body = QuoteText.of(rest)
    return body if blank and len(body.tokens) >= MIN_BODY else None


def find_body(quote: QuoteText, body: QuoteText, page: PageText) -> list[Match]:
    """Locate the quote's body on a page like a quote, as partial matches of the whole quote."""
    total, own = (sum(map(weight, text.tokens.keys)) for text in (quote, body))
    start = len(quote.tokens) - len(body.tokens)
    return [
        replace(
            match,
            status="partial",
            agreement=round(match.agreement * own / total, 4),
            quote=(start + match.quote[0], start + match.quote[1]),
        )
        for match in find_on_page(body, page)
        if match.status != "partial"
    ]


def find_pieces(pieces: list[QuoteText], page: PageText) -> Match | None:
    """Locate the pieces of a quote on one page, in order: the longest anywhere, the others beside it.

    Of several places of the longest, choose the one whose pieces are closest together.
    """
    longest = max(range(len(pieces)), key=lambda number: len(pieces[number].tokens))
    if len(pieces[longest].tokens) < SHORT_QUOTE:
        return None
    anchors = find_on_page(pieces[longest], page)
    joined = [_joined(pieces, _around(pieces, longest, anchor, page)) for anchor in anchors]
    found = [match for match in joined if match is not None]
    return max(found, key=lambda match: (match.merit, match.page[0] - match.page[1]), default=None)


def _around(pieces: list[QuoteText], longest: int, anchor: Match, page: PageText) -> dict[int, Match]:
    found = {longest: anchor}
    edge = anchor.page[1]
    for number in range(longest + 1, len(pieces)):
        match = _nearest(pieces[number], page, edge, forward=True)
        if match is not None:
            found[number], edge = match, match.page[1]
    edge = anchor.page[0]
    for number in range(longest - 1, -1, -1):
        match = _nearest(pieces[number], page, edge, forward=False)
        if match is not None:
            found[number], edge = match, match.page[0]
    return found


def _nearest(piece: QuoteText, page: PageText, edge: int, *, forward: bool) -> Match | None:
    reach = MAX_GAP if len(piece.tokens) >= SHORT_QUOTE else MAX_GAP_SHORT
    low, high = (edge, min(len(page.tokens), edge + reach)) if forward else (max(0, edge - reach), edge)
    inside = [
        place for place in occurrences(piece.tokens, page.tokens) if low <= place[0] and place[1] <= high
    ]
    for place in inside if forward else inside[::-1]:
        match = _judged(piece, page, align(piece.tokens, page.tokens, place))
        if match is not None:
            return match
    if len(piece.tokens) < SHORT_QUOTE:
        return None
    return next(_by_words(piece, page, low, high), None)


def _by_words(piece: QuoteText, page: PageText, low: int, high: int) -> Iterator[Match]:
    for start, end in windows(piece.tokens, page.tokens, limit=3, share=SURE / 2, within=(low, high)):
        match = _judged(piece, page, align(piece.tokens, page.tokens, (max(low, start), min(high, end))))
        if match is not None:
            yield match


def _judged(piece: QuoteText, page: PageText, alignment: Alignment | None) -> Match | None:
    return None if alignment is None else judge(piece, page, alignment)


def _joined(pieces: list[QuoteText], found: dict[int, Match]) -> Match | None:
    """The matches of pieces as one partial match; None where it proves nothing."""
    weights = [sum(map(weight, piece.tokens.keys)) for piece in pieces]
    agreement = sum(weights[number] * match.agreement for number, match in found.items()) / sum(weights)
    ordered = [found[number] for number in sorted(found)]
    differing = [difference for match in ordered for difference in match.differences]
    joined = Match(
        status="partial",
        agreement=round(min(agreement, MAX_UNCLEAN), 4),
        rects=tuple(rect for match in ordered for rect in match.rects),
        differences=tuple(sorted(differing, key=lambda difference: difference.kind != "number")),
        quote=(0, sum(len(piece.tokens) for piece in pieces)),
        page=(ordered[0].page[0], ordered[-1].page[1]),
        run=max(match.run for match in ordered),
        part_agreement=min(agreement, MAX_UNCLEAN),
        footnotes=tuple(mark for match in ordered for mark in match.footnotes),
    )
    return joined if joined.is_proof else None
