"""Where in a document a question's passages lie, page by page: what the evidence strip shows.

Where there are more pages than cells, pages share them.

Nothing is looked for here. A passage that was placed counts where it was found, any other one where its
record says that it stands: a strip over a hundred candidates must not open a hundred pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofspan.evidence.types import FoundSpan
from proofspan.services.page.target import Target

#: A strip has at most so many cells, each a button where it is marked.
MOST_CELLS = 120


@dataclass(frozen=True, slots=True)
class PageMark:
    """What lies on one page (`page_idx`, from 0): numbers of citations, how many gold passages, ranks.

    Numbers and ranks count from 1, each once and in order.
    """

    page_idx: int
    cited: tuple[int, ...] = ()
    gold: int = 0
    ranks: tuple[int, ...] = ()


@dataclass(slots=True)
class _Gathered:
    cited: set[int] = field(default_factory=set)
    gold: int = 0
    ranks: set[int] = field(default_factory=set)


def page_marks(
    targets: Iterable[Target], found: Mapping[str, FoundSpan], doc_id: str
) -> tuple[PageMark, ...]:
    """The marked pages of a document, first page first; passages of which no page is known are left out."""
    pages: dict[int, _Gathered] = {}
    for target in targets:
        page_idx = _page_of(target, found.get(target.id))
        if target.doc_id != doc_id or page_idx is None or page_idx < 0:
            continue
        page = pages.setdefault(page_idx, _Gathered())
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
    """The first page of each of at most `MOST_CELLS` cells, none of them empty, and the number of pages."""
    cells = max(1, min(page_count, MOST_CELLS))
    return tuple(-(-at * page_count // cells) for at in range(cells + 1))


def cell_of(page_idx: int, page_count: int) -> int:
    """The cell that a page lies in."""
    return page_idx * max(1, min(page_count, MOST_CELLS)) // page_count


def _page_of(target: Target, found: FoundSpan | None) -> int | None:
    """Where it was found, else the page that its record names: a misquoted passage is cited there still."""
    if found is not None and found.page_idx is not None:
        return found.page_idx
    return target.query.cited_page_idx
