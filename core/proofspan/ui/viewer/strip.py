"""The evidence strip: all pages of a document in one line, with what lies on them, in the browser.

What is sent and drawn never grows with the document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import orjson
import streamlit as st

from proofspan.services.page.strip_marks import PageMark, cell_firsts, cell_of
from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean
from proofspan.wording import counted, page_words, printed_on, with_printed

#: How many numbers of one kind are named in a cell's words.
NUMBERS_NAMED = 6
#: Of a document with more pages the strip names those without a mark by their PDF page.
MOST_LABELS = 2_000
#: Ranks beyond this are all drawn at the same height.
LOWEST_RANK = 20


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked cell: its place `at`, from 0, what a click on it sends (`go`), and its words.

    `heights` has the height (0–1] of each kind that is drawn: `cited`, `gold`, `retrieved`, `fails`, `fine`.
    `shown` marks the page that is shown.
    """

    at: int
    go: int
    words: str
    heights: Mapping[str, float]
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """A line of `cells` with marks, in order. `name` is read by screen readers, `rest` is below the strip.

    `firsts` holds the first page_idx of every cell and, last, the number of pages; empty where cells are not
    pages. `jumps`: a cell without a mark goes to its first page. `labels` are the printed page
    numbers.
    """

    name: str
    rest: str
    cells: int
    marks: tuple[Mark, ...]
    firsts: tuple[int, ...] = ()
    jumps: bool = False
    labels: Sequence[str] = ()


def draw_strip(strip: Strip, *, key: str, on_go: Callable[[int], None]) -> None:
    """Draw any strip; `on_go` gets the number that a cell sends, which the caller checks."""

    def go_on() -> None:
        go = st.session_state[key].get("go")  # a browser may send anything
        if isinstance(go, int | float) and not isinstance(go, bool) and go == int(go):
            on_go(int(go))

    with st.container(key=f"strip-{key}"):
        component("ui/viewer/strip")(key=key, data=packed(strip), on_go_change=go_on)


def page_strip(
    marks: Sequence[PageMark], *, page_count: int, page_idx: int | None, labels: Sequence[str] = ()
) -> Strip:
    """Return the pages of a document as cells, `page_idx` being the one that is shown.

    A shared cell goes to its first marked page, else to its first. `labels` are the printed labels by
    page_idx, where the document has any.
    """
    firsts = cell_firsts(page_count)
    inside = [mark for mark in marks if 0 <= mark.page_idx < page_count]
    shared: dict[int, list[PageMark]] = {}
    for mark in inside:
        shared.setdefault(cell_of(mark.page_idx, page_count), []).append(mark)
    here = None if page_idx is None or not 0 <= page_idx < page_count else page_idx
    at_here = -1 if here is None else cell_of(here, page_count)
    if here is not None:
        shared.setdefault(at_here, [])
    drawn = tuple(
        _page_cell(at, held, firsts, shown=here if at == at_here else None, labels=labels)
        for at, held in sorted(shared.items())
    )
    # `96 pages: cited on 43, gold on 43, retrieved on 5 pages`
    cited = [mark.page_idx for mark in inside if mark.cited]
    gold = [mark.page_idx for mark in inside if mark.gold]
    ranked = [mark.page_idx for mark in inside if mark.ranks]
    parts = [
        f"{word} on {page_words(pages[0]) if len(pages) == 1 else counted(len(pages), 'page')}"
        for word, pages in (("cited", cited), ("gold", gold), ("retrieved", ranked))
        if pages
    ]
    rest = with_printed(counted(page_count, "page") + (f": {', '.join(parts)}" if parts else ""), labels)
    return Strip(f"All pages: {rest}", rest, len(firsts) - 1, drawn, firsts, jumps=True, labels=labels)


def packed(strip: Strip) -> bytes:
    """Return what the browser needs, as JSON in UTF-8."""
    return orjson.dumps(
        {
            "name": clean(strip.name),
            "rest": clean(strip.rest),
            "cells": strip.cells,
            "firsts": strip.firsts,
            "labels": [clean(each) for each in strip.labels] if len(strip.labels) <= MOST_LABELS else (),
            "jumps": strip.jumps,
            "marks": [
                {
                    "at": mark.at,
                    "go": mark.go,
                    "words": clean(mark.words),
                    "shown": mark.shown,
                    **mark.heights,
                }
                for mark in strip.marks
            ],
        }
    )


def _page_cell(
    at: int, marks: Sequence[PageMark], firsts: Sequence[int], *, shown: int | None, labels: Sequence[str]
) -> Mark:
    first, last = firsts[at], firsts[at + 1] - 1
    only = first == last
    go = marks[0].page_idx if marks else shown if shown is not None else first
    place = with_printed(page_words(first) if only else f"PDF pages {first + 1:,}–{last + 1:,}", labels)
    if shown is not None:
        place += " (shown)" if only else f", {page_words(shown, printed_on(shown, labels))} shown"
    cited = sorted({number for mark in marks for number in mark.cited})
    ranks = sorted({rank for mark in marks for rank in mark.ranks})
    gold = sum(mark.gold for mark in marks)
    held = [_numbered("cited", cited)] if cited else []
    held += [f"gold × {gold}" if gold > 1 else "gold"] if gold else []
    held += [_numbered("rank" if len(ranks) == 1 else "ranks", ranks)] if ranks else []
    heights = {"cited": 1.0} if cited else {}
    heights |= {"gold": 1.0} if gold else {}
    if ranks:
        heights["retrieved"] = round(1 - (min(ranks[0], LOWEST_RANK) - 1) / LOWEST_RANK, 2)
    words = f"{place}: {', '.join(held)}" if held else place
    return Mark(at, go, words, heights, shown is not None)


def _numbered(noun: str, numbers: Sequence[int]) -> str:
    named = ", ".join(f"{number:,}" for number in numbers[:NUMBERS_NAMED])
    more = len(numbers) - NUMBERS_NAMED
    return f"{noun} {named}" + (f" and {more:,} more" if more > 0 else "")
