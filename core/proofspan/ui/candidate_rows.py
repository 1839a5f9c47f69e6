"""The candidates of one stage as rows in words: what stands in each cell of their table. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.services.questions import CandidateView, StageView
from proofspan.ui.redirect_words import redirected
from proofspan.ui.safe import clean

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
