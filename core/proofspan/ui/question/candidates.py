"""The candidates of one stage as a table that can be read aloud, copied from, and chosen from.

A small component of our own, because a canvas can do none of that and keeps a selection of its own. Its parts
are files beside this module, handed over as inline strings, so that nothing is fetched. The words come from
`proofspan.ui.question.candidates`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import orjson
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of
from proofspan.services.question.view import CandidateView, StageView
from proofspan.ui.widgets.markup import clean
from proofspan.ui.wording.citation import redirected

_NAME = "proofspan_candidates"
#: The one table of the page: it stays, with its focus and its scroll, while its rows change.
KEY = "candidates"


def show_candidates(stage: StageView, *, chosen: str | None, on_choose: Callable[[str], None]) -> None:
    """Draws the table; a row that is chosen calls `on_choose` with its chunk id. `chosen` has the bar.

    Where the component cannot be mounted, the bare rows are shown.
    """
    rows = candidate_rows(stage)
    names = {name_of(row.chunk_id): row.chunk_id for row in rows}
    try:
        _component()(
            key=KEY, data=packed(rows, chosen=chosen), on_choose_change=lambda: _chosen(names, on_choose)
        )
    except (StreamlitAPIException, TypeError):
        st.caption("The table could not start; these are its rows.")
        frame = pd.DataFrame([{name: getattr(row, name) for name in columns_of(rows)} for row in rows])
        st.dataframe(frame.astype(str), hide_index=True)


def packed(rows: Sequence[CandidateRow], *, chosen: str | None) -> bytes:
    """What the browser needs, as JSON in UTF-8; the rows stay the same whatever is chosen."""
    columns = columns_of(rows)
    return orjson.dumps(
        {
            "columns": [
                {"name": name, "title": COLUMNS[name][0], "help": COLUMNS[name][1]} for name in columns
            ],
            "rows": [
                {
                    "name": name_of(row.chunk_id),
                    "tip": row.tip,
                    "besides": row.besides,
                    **{name: getattr(row, name) for name in columns},
                }
                for row in rows
            ],
            "chosen": None if chosen is None else name_of(chosen),
            "nothing": NOTHING,
        }
    )


def name_of(chunk_id: str) -> str:
    """A chunk in the browser: an id may be as long, and hold, whatever it likes."""
    return hashlib.sha1(chunk_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]


def _chosen(names: Mapping[str, str], on_choose: Callable[[str], None]) -> None:
    """Tells of a row that was chosen; what else a browser may send is none."""
    sent = st.session_state[KEY].get("choose")
    if isinstance(sent, str) and sent in names:
        on_choose(names[sent])


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = (text_of(f"ui/question/candidates.{part}") for part in ("html", "css", "js"))
    return st.components.v2.component(_NAME, html=html, css=css, js=js)


# The candidates of one stage as rows in words: what stands in each cell of their table. Pure.

#: A producer may write any number of features; more of them would hide the text.
MAX_SCORES = 12
#: Characters of a text, of its tip, of a name.
TEXT_CHARS, TIP_CHARS, NAME_CHARS = 110, 600, 80
#: So much of a chunk is looked at for where its text begins.
READ_CHARS = 1_500
#: Stands in a cell without a value.
NOTHING = "–"
#: Two or more lines of `name: value`, then an empty line.
_HEADER = re.compile(r"\A\s*(?:\w[\w .-]{0,30}:[^\n]{0,100}\n){2,20}[^\S\n]*\n")
_GOLD = {"chunk": "gold", "page": "gold page", "section": "gold section"}

Mark = Literal["cited", "gold", "former"]
Column = Literal["rank", "chunk", "section", "page", "score", "was", "marks"]
#: Columns in their order: title, and what the pointer is told on it.
COLUMNS: Mapping[Column, tuple[str, str]] = {
    "rank": ("rank", "Place in this list, the best first"),
    "chunk": ("chunk", "How the retrieved piece of text begins"),
    "section": ("section", ""),
    "page": ("page", "PDF page, counted from 1"),
    "score": ("score", "The last score that the pipeline gave it"),
    "was": ("was", "Rank in the stage before"),
    "marks": ("", "What the answer cites, what the gold question expects, and ids of an earlier build"),
}
#: These are left out where no row has a value.
_OPTIONAL: tuple[Column, ...] = ("section", "page", "score", "was", "marks")


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate's cells; "" where there is no value. `page` is the PDF page, counted from 1.

    `tip` is more of its text. `besides` is a line of small print: the document where there are several, from
    where a redirect leads, then the features with their values. `marks` are pairs of a kind and its words.
    """

    chunk_id: str
    rank: str
    chunk: str
    tip: str
    section: str
    page: str
    score: str
    was: str
    marks: tuple[tuple[Mark, str], ...]
    besides: str


def candidate_rows(stage: StageView) -> list[CandidateRow]:
    """One row a candidate, in rank order."""
    documents = {view.candidate.doc_id for view in stage.candidates} - {None, ""}
    return [_row(view, names_document=len(documents) > 1) for view in stage.candidates]


def columns_of(rows: Sequence[CandidateRow]) -> list[Column]:
    """The columns that have something to show."""
    empty = {name for name in _OPTIONAL if not any(getattr(row, name) for row in rows)}
    return [name for name in COLUMNS if name not in empty]


def beginning_of(view: CandidateView) -> tuple[str, str]:
    """How a candidate's text begins, and more of it for a tip."""
    text = _text(view)
    return _beginning(text, TEXT_CHARS), _beginning(text, TIP_CHARS)


def _row(view: CandidateView, *, names_document: bool) -> CandidateRow:
    candidate = view.candidate
    text, tip = beginning_of(view)
    document = [clean(candidate.doc_id or "")[:NAME_CHARS]] if names_document and candidate.doc_id else []
    led = [redirected(view.redirect)] if view.redirect else []
    return CandidateRow(
        chunk_id=candidate.chunk_id,
        rank=f"{candidate.rank:,}",
        chunk=text,
        tip=tip,
        section=clean(candidate.section_id or "")[:NAME_CHARS],
        page="" if candidate.page_idx is None else f"{candidate.page_idx + 1:,}",
        score="" if candidate.score is None else _number(candidate.score),
        was="" if view.was_rank is None else f"{view.was_rank:,}",
        marks=tuple(_marks(view)),
        besides=" · ".join([*document, *led, *_scores(view)]),
    )


def _text(view: CandidateView) -> str:
    """How the chunk's text begins, behind a block of `name: value` lines that a chunker put in front."""
    if view.candidate.text is None:
        return f"(no such chunk: {clean(view.candidate.chunk_id)})"
    text = clean(view.candidate.text[:READ_CHARS])
    header = _HEADER.match(text)
    return " ".join(text[header.end() if header else 0 :].split()) or " ".join(text.split())


def _beginning(line: str, limit: int) -> str:
    """A line cut behind a word, unless that would leave little of it."""
    if len(line) <= limit:
        return line
    whole = line[:limit].rpartition(" ")[0]
    return f"{whole} …" if len(whole) > limit // 2 else f"{line[:limit]}…"


def _marks(view: CandidateView) -> Iterator[tuple[Mark, str]]:
    if view.cited_by:
        yield "cited", f"cited {', '.join(map(str, view.cited_by))}"
    if view.gold:
        yield "gold", _GOLD[view.gold]
    if view.redirect:
        yield "former", "redirected"


def _scores(view: CandidateView) -> list[str]:
    """Features, pre and post scores with their names; what is no number stays in the raw record."""
    candidate = view.candidate
    named = (
        *_numbers(candidate.features, ""),
        *_numbers(candidate.pre_score, "pre "),
        *_numbers(candidate.post_score, "post "),
    )
    return [f"{name} {_number(value)}" for name, value in named[:MAX_SCORES]]


def _numbers(values: Mapping[str, object], prefix: str) -> Iterable[tuple[str, float]]:
    return (
        (f"{prefix}{clean(name)[:NAME_CHARS]}", float(value))
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    )


def _number(value: float) -> str:
    """Three decimals; what those would make nothing, or what is very large, by its power of ten."""
    if not math.isfinite(value):
        return NOTHING
    if value and not 0.0005 <= abs(value) < 1e9:
        return f"{value:.1e}"
    return f"{value:,.3f}" if value % 1 else f"{value:,.0f}"
