"""Count a question's passages page by page, for the evidence strip. Pages share cells where they are many.

Nothing is located here. A located passage counts on its page, any other one on the page that its record
names: a strip over a hundred candidates must not open a hundred pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofspan.evidence.types import FoundSpan
from proofspan.services.page.target import Target

#: Cells of a strip at most; a marked one is a button.
MOST_CELLS = 120


@dataclass(frozen=True, slots=True)
class PageMark:
    """The passages of one page (`page_idx`, from 0): numbers of citations, count of gold, ranks.

    Numbers and ranks count from 1; each is listed once, in order.
    """

    page_idx: int
    cited: tuple[int, ...] = ()
    gold: int = 0
    ranks: tuple[int, ...] = ()


@dataclass(slots=True)
class _Marks:
    cited: set[int] = field(default_factory=set)
    gold: int = 0
    ranks: set[int] = field(default_factory=set)


def page_marks(
    targets: Iterable[Target], found: Mapping[str, FoundSpan], doc_id: str
) -> tuple[PageMark, ...]:
    """Return the marked pages of a document in order; passages without a known page are left out."""
    pages: dict[int, _Marks] = {}
    for target in targets:
        page_idx = _page_of(target, found.get(target.id))
        if target.doc_id != doc_id or page_idx is None or page_idx < 0:
            continue
        page = pages.setdefault(page_idx, _Marks())
        if target.kind == "gold":
            page.gold += 1
        elif target.number is not None:
            (page.cited if target.kind == "cited" else page.ranks).add(target.number)
    return tuple(
        PageMark(page_idx, tuple(sorted(page.cited)), page.gold, tuple(sorted(page.ranks)))
        for page_idx, page in sorted(pages.items())
        if page.cited or page.gold or page.ranks
    )


def cell_firsts(page_count: int) -> tuple[int, ...]:
    """Return the first page of each of at most `MOST_CELLS` cells, none empty, and the number of pages."""
    cells = max(1, min(page_count, MOST_CELLS))
    return tuple(-(-at * page_count // cells) for at in range(cells + 1))


def cell_of(page_idx: int, page_count: int) -> int:
    """Return the cell of a page."""
    return page_idx * max(1, min(page_count, MOST_CELLS)) // page_count


def _page_of(target: Target, found: FoundSpan | None) -> int | None:
    """The page where it was found, else the one in its record, as for a misquoted passage."""
    if found is not None and found.page_idx is not None:
        return found.page_idx
    return target.query.cited_page_idx
