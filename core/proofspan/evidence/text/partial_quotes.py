"""Locate quotes in pieces: with an ellipsis, with a header that is not on the page, over a page's edge.

Each piece between ellipses is located by itself, in order, on the same page.
"""

from __future__ import annotations

import re
from dataclasses import replace

from proofspan.evidence.text.align import occurrences, windows
from proofspan.evidence.text.match import (
    MAX_UNCLEAN,
    PART_MISSING,
    SHORT_QUOTE,
    SURE,
    Match,
    end_missing,
    find_on_page,
    judged,
)
from proofspan.evidence.text.page_index import Pages
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.text.token_pairs import weight
from proofspan.evidence.types import Place

PARAGRAPH = re.compile(r"\n[ \t\r\f\v]*\n")
#: A body of fewer tokens is too short to represent a quote whose header is not on the page.
MIN_BODY = 8
#: A line that a chunker writes above a text, such as "Company: Meridian": a name of few words, and a value.
HEADER_LINE = re.compile(r"[ \t]*[^\W\d_][^:\n]{0,39}:[ \t]+[^\n]{0,200}[^\s.!?]")
MAX_NAME_WORDS, MAX_HEADER_LINES = 4, 12
#: Tags of HTML that only format; those of the first group may be within a word.
TAG = re.compile(
    r"</?(?:(su[bp]|b|strong|i|em|u|s|small|span|mark|a)|br|p|div|t[dhr]|table|thead|tbody|li|ul|ol|h[1-6])"
    r"(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
ELLIPSIS = re.compile(r"[\[(]\s*(?:(?:\.\s?){2}\.|…)\s*[\])]|(?:\.\s?){2}\.+|…")
#: Distance of a piece from its neighbour at most, in tokens of the page; less for a short piece.
MAX_GAP = 400
MAX_GAP_SHORT = 80
#: A match that continues on the next page ends this near the edge, in tokens (headers and footers between).
EDGE_TOKENS = 60


def pieces_of(text: str) -> list[QuoteText]:
    """Return the pieces between ellipses that have a letter or digit."""
    return [piece for part in ELLIPSIS.split(text) if (piece := QuoteText.of(part)).tokens]


def header_of(text: str) -> str:
    """Return the lines of `Name: value` above the first blank line of a text, "" where they are others.

    A chunker writes them for the retriever. So does a document, on its own page: whether they are the page's
    has to be checked there. A single line, or one that ends as a sentence does, may be an invented one.
    """
    above, blank, body = PARAGRAPH.sub("\0", text, count=1).partition("\0")
    lines = above.split("\n")
    if not blank or not 1 < len(lines) <= MAX_HEADER_LINES or len(QuoteText.of(body).tokens) < MIN_BODY:
        return ""
    names = [line.partition(":")[0] for line in lines if HEADER_LINE.fullmatch(line.rstrip())]
    are_names = len(names) == len(lines) and all(len(name.split()) <= MAX_NAME_WORDS for name in names)
    return above if are_names else ""


def without_tags(text: str) -> str:
    """Return a text without the HTML tags that converters leave in Markdown; those in a word leave no gap."""
    return TAG.sub(lambda tag: "" if tag[1] else " ", text) if "<" in text else text


def body_of(text: str) -> QuoteText | None:
    """Return the text after the first blank line, above which a chunker may put a header, or None."""
    _, blank, rest = PARAGRAPH.sub("\0", text.strip(), count=1).partition("\0")
    body = QuoteText.of(rest)
    return body if blank and len(body.tokens) >= MIN_BODY else None


def find_body(quote: QuoteText, body: QuoteText, page: PageText) -> list[Match]:
    """Locate the quote's body on a page like a quote, as partial matches of the whole quote."""
    total, own = _weight_of(quote), _weight_of(body)
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
    found = [match for match in joined if match.is_proof]
    return max(found, key=lambda match: (match.merit, match.page[0] - match.page[1]), default=None)


def _around(pieces: list[QuoteText], longest: int, anchor: Match, page: PageText) -> dict[int, Match]:
    """The matches of the pieces by their number: of each the one nearest to the piece before or after it."""
    found = {longest: anchor}
    for numbers, side in ((range(longest + 1, len(pieces)), 1), (range(longest - 1, -1, -1), 0)):
        edge = anchor.page[side]
        for number in numbers:
            match = _nearest(pieces[number], page, edge, forward=side == 1)
            if match is not None:
                found[number], edge = match, match.page[side]
    return found


def _nearest(piece: QuoteText, page: PageText, edge: int, *, forward: bool) -> Match | None:
    is_long = len(piece.tokens) >= SHORT_QUOTE
    reach = MAX_GAP if is_long else MAX_GAP_SHORT
    low, high = (edge, min(len(page.tokens), edge + reach)) if forward else (max(0, edge - reach), edge)
    inside = [
        place for place in occurrences(piece.tokens, page.tokens) if low <= place[0] and place[1] <= high
    ]
    for place in inside if forward else inside[::-1]:
        if match := judged(piece, page, place):
            return match
    if is_long:
        for start, end in windows(piece.tokens, page.tokens, limit=3, share=SURE / 2, within=(low, high)):
            if match := judged(piece, page, (max(low, start), min(high, end))):
                return match
    return None


def _joined(pieces: list[QuoteText], found: dict[int, Match]) -> Match:
    """The matches of pieces as one partial match."""
    weights = [_weight_of(piece) for piece in pieces]
    agreement = sum(weights[number] * match.agreement for number, match in found.items()) / sum(weights)
    ordered = [found[number] for number in sorted(found)]
    differing = [difference for match in ordered for difference in match.differences]
    return Match(
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


def _weight_of(quote: QuoteText) -> float:
    return sum(map(weight, quote.tokens.keys))


def with_continuation(
    quote: QuoteText, match: Match, page_idx: int, pages: Pages
) -> tuple[Match, tuple[Place, ...]]:
    """Return a partial match with the agreement of all its parts, and its parts on neighbouring pages."""
    weights = [weight(key) for key in quote.tokens.keys]
    start, end = match.quote
    below = len(pages.page_text(page_idx).tokens) - match.page[1]
    places: list[Place] = []
    differences = match.differences
    agreement = sum(weights[start:end]) / sum(weights) * match.part_agreement
    for low, high, step, distance in ((0, start, -1, match.page[0]), (end, len(weights), 1, below)):
        beside = page_idx + step
        while high - low >= PART_MISSING and distance <= EDGE_TOKENS and 0 <= beside < pages.page_count:
            page, tokens = pages.page_text(beside), quote.tokens
            words = quote.words[tokens.first[low] : tokens.last[high - 1] + 1]
            parts = find_on_page(QuoteText.of(" ".join(words)), page)
            sides = [(part.page[0], len(page.tokens) - part.page[1])[::step] for part in parts]
            found = next((n for n, (near, _) in enumerate(sides) if near <= EDGE_TOKENS), None)
            if found is None:
                break
            part = parts[found]
            places.append(Place(beside, part.rects))
            missing = end_missing(quote, (low, high))
            differences = (*(each for each in differences if each != missing), *part.differences)
            agreement += sum(weights[low:high]) / sum(weights) * part.agreement
            # What is left of the quote may go on another page further.
            low, high = (low + part.quote[1], high) if step > 0 else (low, low + part.quote[0])
            beside, distance = beside + step, sides[found][1]
    agreed = round(min(agreement, MAX_UNCLEAN), 4)
    joined = replace(match, agreement=agreed, differences=differences) if places else match
    return joined, tuple(places)
