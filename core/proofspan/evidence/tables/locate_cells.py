"""Locate a citation of a table's row, column or cell that the search for a quote did not place."""

from __future__ import annotations

from proofspan.contracts.records.records import Box
from proofspan.evidence.tables.cell_match import CellMatch, without_overlap
from proofspan.evidence.tables.cells import matches_of
from proofspan.evidence.tables.citations import TableCitation, read_citation
from proofspan.evidence.tables.grid import Grid, grid_of
from proofspan.evidence.text.locate import COMMON_WORDS, MAX_ALTERNATIVES, beginning_of
from proofspan.evidence.text.match import CLEAN, MAX_DIFFERENCES, MAX_UNCLEAN
from proofspan.evidence.text.page_index import Pages, searched
from proofspan.evidence.types import FoundSpan, Place, SpanQuery

#: Characters of a label or head that a note quotes.
MAX_NAME = 120


def locate_cells(query: SpanQuery, pages: Pages, found: FoundSpan) -> FoundSpan:
    """Return the place of a cited row, column or cell, or `found` where it is better or the quote cites none.

    The cited page is searched, then those beside it, then the pages with most of its words. A cell with
    another value is reported on the cited page alone: everywhere else it is another table's.
    """
    if found.status == "exact":
        return found
    citation = read_citation(beginning_of(query.quote))
    if citation is None:
        return found
    best = _best(citation, query, pages, is_text=found.status not in CLEAN)
    if best is None or (found.status in CLEAN and best.status not in CLEAN):
        return found
    return best


def _best(citation: TableCitation, query: SpanQuery, pages: Pages, *, is_text: bool) -> FoundSpan | None:
    cited = query.cited_page_idx
    cited = cited if cited is not None and 0 <= cited < pages.page_count else None
    if cited is not None:
        span = _on_page(citation, query, pages, cited, is_text=is_text)
        if span is not None:
            return span
    if len(citation.quote.tokens) < COMMON_WORDS:
        return None
    near = [] if cited is None else [idx for idx in (cited - 1, cited + 1) if 0 <= idx < pages.page_count]
    index = pages.word_index(searched(pages.page_count, cited))
    likely = [idx for idx in index.with_words(citation.quote.tokens) if idx != cited and idx not in near]
    spans = [_on_page(citation, query, pages, idx, is_text=is_text) for idx in (*near, *likely)]
    clean = [span for span in spans if span is not None and not span.differences]
    return max(clean, key=lambda span: span.agreement, default=None)


def _on_page(
    citation: TableCitation, query: SpanQuery, pages: Pages, page_idx: int, *, is_text: bool
) -> FoundSpan | None:
    grid = grid_of(pages.page_text(page_idx))
    if grid is None:
        return None
    matches = matches_of(citation, grid, is_text=is_text)
    if not matches:
        return None
    match = without_overlap(matches[0])
    others = [Place(page_idx, _rects(grid, each)) for each in matches[1 : 1 + MAX_ALTERNATIVES]]
    is_sentence = not citation.has_separators and not citation.values and bool(match.heads and match.labels)
    is_whole = match.explained > MAX_UNCLEAN and not match.blemishes
    is_clean = is_whole and not match.differences and not is_sentence
    row, column = (_names(grid, cells) for cells in (match.labels, match.heads))
    named = ", ".join(f"{kind} '{name}'" for kind, name in (("row", row), ("column", column)) if name)
    return FoundSpan(
        status="normalized" if is_clean else "fuzzy",
        page_idx=page_idx,
        page_mismatch=query.cited_page_idx not in (None, page_idx),
        agreement=1.0 if is_clean else min(MAX_UNCLEAN, round(match.explained, 4)),
        rects=_rects(grid, match),
        differences=match.differences[:MAX_DIFFERENCES],
        alternatives=tuple(others) if is_clean else (),
        note="; ".join(filter(None, (named, citation.note))),
    )


def _rects(grid: Grid, match: CellMatch) -> tuple[Box, ...]:
    return tuple(rect for cell in match.cells for rect in grid.rects(grid.words_of(cell)))


def _names(grid: Grid, cells: tuple[tuple[int, ...], ...]) -> str:
    name = " · ".join(grid.text(grid.words_of(cell)).strip(" :") for cell in cells)
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"
