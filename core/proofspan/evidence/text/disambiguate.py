"""Choose between several matches of a quote on a page, and join a match that continues on the next page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proofspan.evidence.text.differences import end_missing
from proofspan.evidence.text.match import MAX_UNCLEAN, PART_MISSING, Match, find_on_page
from proofspan.evidence.text.page_index import Pages
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.text.producer_boxes import HELD_SHARE, given_box, held_share
from proofspan.evidence.text.token_pairs import weight
from proofspan.evidence.text.tokens import Tokens, tokenize
from proofspan.evidence.types import Place, SpanQuery

#: Words of context compared on either side.
CONTEXT_WORDS = 12
#: Offsets decide only within this many characters of a match, and if the next one is twice as far.
OFFSET_REACH = 400
#: A match that continues on the next page ends this near the edge, in tokens (headers and footers between).
EDGE_TOKENS = 60


def settle(query: SpanQuery, matches: Sequence[Match], page: PageText) -> tuple[Match, list[Match]]:
    """Return the match that box, context or offsets single out, and those left open."""
    if len(matches) > 1:
        single = _by_box(query, matches, page)
        single = single or _by_context(query, matches, page) or _by_offsets(query, matches, page)
        if single is not None:
            return single, []
    return matches[0], list(matches[1:])


def _by_box(query: SpanQuery, matches: Sequence[Match], page: PageText) -> Match | None:
    box = given_box(query, page)
    if box is None:
        return None
    inside = [match for match in matches if held_share(match.rects, box) >= HELD_SHARE]
    return inside[0] if len(inside) == 1 else None


def _by_context(query: SpanQuery, matches: Sequence[Match], page: PageText) -> Match | None:
    """The match whose neighbouring words agree best with the context; None if two agree as well."""
    before, after = tokenize(query.before.split()), tokenize(query.after.split())
    if not before and not after:
        return None
    scores = [_context_score(before, after, match, page.tokens) for match in matches]
    best = max(scores)
    return matches[scores.index(best)] if best > 0 and scores.count(best) == 1 else None


def _context_score(before: Tokens, after: Tokens, match: Match, page: Tokens) -> int:
    """The number of words next to the match that agree with the context, counted outwards."""
    start, end = match.page
    left = zip(reversed(before.keys[-CONTEXT_WORDS:]), reversed(page.keys[:start]), strict=False)
    right = zip(after.keys[:CONTEXT_WORDS], page.keys[end:], strict=False)
    return _agreeing(left) + _agreeing(right)


def _agreeing(pairs: zip[tuple[str, str]]) -> int:
    count = 0
    for ours, theirs in pairs:
        if ours != theirs:
            return count
        count += 1
    return count


def _by_offsets(query: SpanQuery, matches: Sequence[Match], page: PageText) -> Match | None:
    """The only match that begins within the character offsets, counted from the top of the page.

    If none does, the match that is clearly nearest to their start.
    """
    offsets = query.offsets
    if offsets is None or offsets.unit != "char":
        return None
    characters = [page.character(match.page[0]) for match in matches]
    within = [number for number, place in enumerate(characters) if offsets.start <= place < offsets.end]
    if within:
        return matches[within[0]] if len(within) == 1 else None
    distances = sorted((abs(place - offsets.start), number) for number, place in enumerate(characters))
    (nearest, number), (second, _) = distances[:2]
    return matches[number] if nearest <= OFFSET_REACH and nearest * 2 < second else None


def with_continuation(
    quote: QuoteText, match: Match, page_idx: int, pages: Pages
) -> tuple[Match, tuple[Place, ...]]:
    """Return a partial match with the agreement of all its parts, and its parts on neighbouring pages."""
    weights = [weight(key) for key in quote.tokens.keys]
    count = len(weights)
    start, end = match.quote
    below = len(pages.page_text(page_idx).tokens) - match.page[1]
    places: list[Place] = []
    differences = match.differences
    agreement = sum(weights[start:end]) / sum(weights) * match.part_agreement
    for (low, high), beside, distance in (
        ((0, start), page_idx - 1, match.page[0]),
        ((end, count), page_idx + 1, below),
    ):
        if high - low < PART_MISSING or distance > EDGE_TOKENS or not 0 <= beside < pages.page_count:
            continue
        part = _part(quote, (low, high), pages.page_text(beside), at_top=beside > page_idx)
        if part is not None:
            places.append(Place(beside, part.rects))
            missing = end_missing(quote, (low, high))
            differences = (*(each for each in differences if each != missing), *part.differences)
            agreement += sum(weights[low:high]) / sum(weights) * part.agreement
    agreed = round(min(agreement, MAX_UNCLEAN), 4)
    joined = replace(match, agreement=agreed, differences=differences) if places else match
    return joined, tuple(places)


def _part(quote: QuoteText, tokens: tuple[int, int], page: PageText, *, at_top: bool) -> Match | None:
    first, last = quote.tokens.first[tokens[0]], quote.tokens.last[tokens[1] - 1]
    for match in find_on_page(QuoteText.of(quote.text(first, last)), page):
        distance = match.page[0] if at_top else len(page.tokens) - match.page[1]
        if distance <= EDGE_TOKENS:
            return match
    return None
