"""Where a quote stands in a document: the cited page, its neighbours, then every page.

Pure: pages come in as words with boxes, a `FoundSpan` goes out. The same input gives the same answer, however
long it takes; the worker's deadline is what bounds the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.evidence.match import Match, find_on_page
from core.evidence.pagetext import Pages, QuoteText
from core.evidence.types import FoundSpan, Place, SpanQuery

MAX_QUOTE_CHARACTERS = 20_000
MAX_ALTERNATIVES = 20


def locate(query: SpanQuery, pages: Pages) -> FoundSpan:
    """Place a quote. `not_found` is an answer; nothing is placed that the page's words do not confirm."""
    quote = QuoteText.of(query.quote[:MAX_QUOTE_CHARACTERS])
    if not quote.tokens:
        return _not_found("the quote has no letter or digit to look for")
    best: tuple[Match, int, list[Match]] | None = None
    for page_idx in _order(query.cited_page_idx, pages.page_count):
        matches = find_on_page(quote, pages.page_text(page_idx))
        if matches and matches[0].beats(best[0] if best else None):
            best = matches[0], page_idx, matches[1:]
        if best and best[0].is_clean:
            break
    if best is None:
        return _not_found("")
    match, page_idx, others = best
    return FoundSpan(
        status=match.status,
        page_idx=page_idx,
        page_mismatch=query.cited_page_idx is not None and page_idx != query.cited_page_idx,
        agreement=match.agreement,
        rects=match.rects,
        differences=match.differences,
        alternatives=tuple(Place(page_idx, other.rects) for other in others[:MAX_ALTERNATIVES]),
    )


def _not_found(note: str) -> FoundSpan:
    return FoundSpan(status="not_found", page_idx=None, page_mismatch=False, agreement=0.0, note=note)


def _order(cited: int | None, page_count: int) -> Iterator[int]:
    """The cited page, then ever farther from it; from the first page on where none was cited."""
    if cited is None:
        yield from range(page_count)
        return
    if 0 <= cited < page_count:
        yield cited
    for distance in range(1, max(page_count, abs(cited)) + page_count):
        for page_idx in (cited - distance, cited + distance):
            if 0 <= page_idx < page_count:
                yield page_idx
