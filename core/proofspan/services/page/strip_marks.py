"""Count a question's passages page by page, for the evidence strip. Pages share cells where they are many.

Nothing is located here. A located passage counts on its page, any other one on the page that its record
names: a strip over a hundred candidates must not open a hundred pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proofspan.evidence.text.locate import MAX_CITED_PAGES
from proofspan.evidence.types import FoundSpan
from proofspan.services.page.shapes import Layer
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


def page_marks(
    targets: Iterable[Target], found: Mapping[str, FoundSpan], doc_id: str
) -> tuple[PageMark, ...]:
    """Return the marked pages of a document in order; passages without a known page are left out."""
    pages: dict[int, list[Target]] = defaultdict(list)
    for target in targets:
        located = found.get(target.id)
        # The pages where it was found, else those in its record, as for a misquoted passage.
        own: Iterable[int] = target.query.cited_pages[:MAX_CITED_PAGES]
        if located is not None and located.page_idx is not None:
            own = (located.page_idx, *(place.page_idx for place in located.continues))
        is_counted = target.kind == "gold" or (target.number is not None and target.kind != "claim")
        for page_idx in own if target.doc_id == doc_id and is_counted else ():
            if page_idx >= 0:
                pages[page_idx].append(target)
    return tuple(
        PageMark(
            page_idx,
            _numbers(named, "cited"),
            sum(target.kind == "gold" for target in named),
            _numbers(named, "retrieved"),
        )
        for page_idx, named in sorted(pages.items())
    )


def _numbers(targets: Iterable[Target], kind: Layer) -> tuple[int, ...]:
    return tuple(sorted({each.number for each in targets if each.kind == kind and each.number is not None}))


def cell_firsts(page_count: int) -> tuple[int, ...]:
    """Return the first page of each of at most `MOST_CELLS` cells, none empty, and the number of pages."""
    cells = max(1, min(page_count, MOST_CELLS))
    return tuple(-(-at * page_count // cells) for at in range(cells + 1))


def cell_of(page_idx: int, page_count: int) -> int:
    """Return the cell of a page."""
    return page_idx * max(1, min(page_count, MOST_CELLS)) // page_count
