"""Locate a citation of a table's row, column or cell that the search for a quote did not place."""

from __future__ import annotations

from collections.abc import Iterable

from proofspan.contracts.records.records import Box
from proofspan.evidence.tables.cell_match import CellMatch, without_overlap
from proofspan.evidence.tables.cells import matches_of
from proofspan.evidence.tables.citations import TableCitation, read_citation
from proofspan.evidence.tables.grid import Grid, grid_of
from proofspan.evidence.tables.reading import head_of
from proofspan.evidence.text.locate import COMMON_WORDS, MAX_ALTERNATIVES, beginning_of
from proofspan.evidence.text.match import CLEAN, MAX_DIFFERENCES, MAX_UNCLEAN, STRONG_RUN
from proofspan.evidence.text.page_index import Pages, searched
from proofspan.evidence.text.producer_hints import check_box
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
    best = _Search(citation, query, pages, found).best()
    if best is None or (best.status not in CLEAN and (found.status in CLEAN or _is_misquoted(found, best))):
        return found
    return best


def _is_misquoted(found: FoundSpan, best: FoundSpan) -> bool:
    """Whether the quote is there but for a number: cells that explain less of it leave the number out."""
    has_number = any(each.kind == "number" for each in found.differences)
    return has_number and not best.differences and found.agreement >= best.agreement


class _Search:
    """The search for the cells of one citation in a document."""

    def __init__(self, citation: TableCitation, query: SpanQuery, pages: Pages, found: FoundSpan) -> None:
        self.citation, self.query, self.pages = citation, query, pages
        #: Rows and columns of words alone are taken where the words are not found as a quote.
        self.is_text = found.status not in CLEAN
        cited = query.cited_page_idx
        self.cited = cited if cited is not None and 0 <= cited < pages.page_count else None
        #: What was found as a quote, or is a long one of the cited page, is not looked for elsewhere: that
        #: would read the whole document.
        is_here = self.cited is not None and found.page_idx == self.cited
        is_long = len(citation.quote.tokens) >= STRONG_RUN
        self.is_settled = not self.is_text or (is_here and is_long)
        self.note = found.note if cited is not None and self.cited is None else ""

    def best(self) -> FoundSpan | None:
        """Return the best place; None without one."""
        own = self._on_page(self.cited) if self.cited is not None else None
        if (own is not None and not own.differences) or len(self.citation.quote.tokens) < COMMON_WORDS:
            return own
        if self.is_settled:
            return own
        near = [] if self.cited is None else [self.cited - 1, self.cited + 1]
        clean = self._clean(idx for idx in near if 0 <= idx < self.pages.page_count)
        if clean is not None or own is not None:
            return clean or own
        index = self.pages.word_index(searched(self.pages.page_count, self.cited))
        likely = index.with_words(self.citation.quote.tokens)
        return self._clean(idx for idx in likely if idx != self.cited and idx not in near)

    def _clean(self, page_indices: Iterable[int]) -> FoundSpan | None:
        """The best place on other pages, without differences."""
        spans = [self._on_page(page_idx) for page_idx in page_indices]
        clean = [span for span in spans if span is not None and not span.differences]
        return max(clean, key=lambda span: span.agreement, default=None)

    def _on_page(self, page_idx: int) -> FoundSpan | None:
        page, citation = self.pages.page_text(page_idx), self.citation
        grid = grid_of(page)
        matches = matches_of(citation, grid, is_text=self.is_text) if grid is not None else []
        if grid is None or not matches:
            return None
        match = without_overlap(matches[0])
        is_sentence = not (citation.rows or citation.values) and bool(match.heads and match.labels)
        is_whole = match.explained > MAX_UNCLEAN and not match.blemishes
        is_clean = is_whole and not match.differences and not is_sentence
        rects = _rects(grid, match)
        agrees, unverified, box_note = check_box(self.query, rects, page)
        row, column = _names(grid, match.labels), _names(grid, match.heads)
        if not column and len(match.values) == 1:
            column = _shown(head_of(grid, match.values[0][0]))
        named = [f"{kind} '{name}'" for kind, name in (("row", row), ("column", column)) if name]
        others = tuple(Place(page_idx, _rects(grid, each)) for each in matches[1 : 1 + MAX_ALTERNATIVES])
        return FoundSpan(
            status="normalized" if is_clean else "fuzzy",
            page_idx=page_idx,
            page_mismatch=self.query.cited_page_idx is not None and page_idx not in self.query.cited_pages,
            agreement=1.0 if is_clean else min(MAX_UNCLEAN, round(match.explained, 4)),
            rects=rects,
            differences=match.differences[:MAX_DIFFERENCES],
            alternatives=others if is_clean else (),
            note="; ".join(filter(None, (self.note, ", ".join(named), citation.note, box_note))),
            box_agrees=agrees,
            unverified=unverified,
            row=row,
            column=column,
        )


def _rects(grid: Grid, match: CellMatch) -> tuple[Box, ...]:
    return tuple(rect for cell in match.cells for rect in grid.rects(grid.words_of(cell)))


def _names(grid: Grid, cells: Iterable[tuple[int, ...]]) -> str:
    return _shown(" · ".join(grid.text(grid.words_of(cell)).strip(" :") for cell in cells))


def _shown(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"
