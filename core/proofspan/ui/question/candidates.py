"""The candidates of one stage as a table that can be read aloud, copied from, and chosen from."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from proofspan.contracts.records.records import Candidate
from proofspan.display_names import COLUMN_NAMES, FEATURE_NAMES
from proofspan.services.question.view import CandidateView, StageView
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.table import NOTHING, Cell, Chip, Column, Folding, Grid, Row
from proofspan.ui.wording.citation import redirected
from proofspan.wording import Labels, no_labels, page_tip, printed_on

#: The one table of the page: it stays, with its focus and its scroll, while its rows change.
KEY = "candidates"
#: CSS pixels of the frame.
HEIGHT = 384
#: A producer may write any number of features; more of them would hide the text.
MAX_SCORES = 12
#: Characters of a text, of its tip, of a name.
TEXT_CHARS, TIP_CHARS, NAME_CHARS = 110, 600, 80
#: Characters of a chunk in which its text is looked for.
READ_CHARS = 1_500
#: Two or more lines of `name: value`, then an empty line.
_HEADER = re.compile(r"\A\s*(?:\w[\w .-]{0,30}:[^\n]{0,100}\n){2,20}[^\S\n]*\n")
GOLD_WORDS = {"chunk": "gold", "page": "gold page", "section": "gold section"}

#: Below this many rem a column moves under the chunk's text, after its title.
_UNDER = {width: Folding(width, "chunk", titled=True) for width in (32, 38)}
_COLUMNS = (
    Column(Cell("Rank", tip="Place in this list, the best first"), "end", "rank", width=2.9),
    Column(Cell("Chunk", tip="How the retrieved piece of text begins"), "start", "chunk", lines=2),
    Column(Cell("Section"), "start", "section", width=3.8, folds=_UNDER[32]),
    Column(Cell("Page", tip="As printed, below it in the PDF"), "end", "page", width=3.4, folds=_UNDER[32]),
    Column(
        Cell("Score", tip="The last score that the pipeline gave it"),
        "end",
        "score",
        width=3.5,
        folds=_UNDER[38],
    ),
    Column(
        Cell(COLUMN_NAMES["previous_rank"], tip="Rank in the stage before"),
        "end",
        "was",
        width=3,
        folds=_UNDER[38],
    ),
    Column(
        Cell(
            "Marks", tip="What the answer cites, what the gold question expects, and ids of an earlier build"
        ),
        "start",
        "marks",
        width=5.2,
    ),
)
#: These are shown whatever the rows hold.
_ALWAYS = ("rank", "chunk")


def candidates_grid(stage: StageView, titles: Mapping[str, str] = {}, *, labels: Labels = no_labels) -> Grid:
    """Return the stage's candidates in rank order, without columns in which no row has a value.

    `titles` are those of the workspace's documents; a chunk names its own where there are several. `labels`
    are the printed page numbers of a document.
    """
    named = {view.candidate.doc_id for view in stage.candidates} - {None, ""}
    has_several = len(titles) > 1 or len(named) > 1
    rows = []
    for view in stage.candidates:
        candidate, (text, tip) = view.candidate, beginning_of(view)
        section = clean(candidate.section_id or "")[:NAME_CHARS]
        marks = [Chip(f"cited {', '.join(map(str, view.cited_by))}", "orange")] if view.cited_by else []
        marks += [Chip(GOLD_WORDS[view.gold], "green")] if view.gold else []
        marks += [Chip("redirected", "gray")] if view.redirect else []
        doc_id = candidate.doc_id or ""
        document = clean(titles.get(doc_id) or doc_id)[:NAME_CHARS] if has_several else ""
        cells = (
            Cell(text, note=document, tip=tip),
            Cell(section) if section else NOTHING,
            NOTHING if candidate.page_idx is None else _page(candidate.page_idx, labels(candidate.doc_id)),
            NOTHING if candidate.score is None else Cell(_number(candidate.score)),
            NOTHING if view.was_rank is None else Cell(f"{view.was_rank:,}"),
            Cell(chips=tuple(marks)) if marks else NOTHING,
        )
        # The redirect, and scores; the raw record has other values.
        scores = _scores(candidate)
        details = [*([redirected(view.redirect)] if view.redirect else []), *_in_words(scores)]
        raw = " · ".join(f"{name} {_number(value)}" for name, value in scores.items())
        key, head = row_key(candidate.chunk_id), Cell(f"{candidate.rank:,}")
        rows.append(Row(head, cells, key=key, details=" · ".join(details), details_tip=raw))
    kept = [
        place
        for place, column in enumerate(_COLUMNS[1:])
        if column.name in _ALWAYS or any(row.cells[place] != NOTHING for row in rows)
    ]
    columns = tuple(_COLUMNS[1:][place] for place in kept)
    lines = tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in rows)
    name = "Retrieved chunks of this stage"
    return Grid(name, _COLUMNS[0], columns, lines, height=HEIGHT, choose="chunk", more="Show all scores")


def _page(page_idx: int, labels: Sequence[str]) -> Cell:
    """Return `p. 18` above `PDF 26`, as narrow as the column; without a printed number `PDF 26`."""
    printed, in_pdf = printed_on(page_idx, labels).strip(), f"PDF {page_idx + 1:,}"
    tip = page_tip(page_idx)
    return Cell(clean(f"p. {printed}"), note=in_pdf, tip=tip) if printed else Cell(in_pdf, tip=tip)


def _scores(candidate: Candidate) -> dict[str, float]:
    """Return the numbers that stages logged of a candidate, by their names in the trace."""
    own = [("", candidate.features), ("pre ", candidate.pre_score), ("post ", candidate.post_score)]
    numbers = {
        f"{prefix}{clean(name)[:NAME_CHARS]}": value
        for prefix, values in own
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    return dict(islice(numbers.items(), MAX_SCORES))


def _in_words(scores: Mapping[str, float]) -> list[str]:
    """Return scores as `keywords: rank 9`, `rank fusion 0.031`: a rank says more than its score."""
    words = []
    for name, value in scores.items():
        base = name.removesuffix("_rank")
        named = FEATURE_NAMES.get(base, base.replace("_", " "))
        if base != name:
            words.append(f"{named}: rank {_number(value)}")
        elif f"{name}_rank" not in scores:
            words.append(f"{named} {_number(value)}")
    return words


def row_key(chunk_id: str) -> str:
    """Return the name of a chunk in the browser: an id may be as long, and hold, whatever it likes."""
    return hashlib.sha1(chunk_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]


def beginning_of(view: CandidateView) -> tuple[str, str]:
    """Return how a candidate's text begins, and more of it for a tip.

    A block of `name: value` lines that a chunker put in front is left out.
    """
    if view.candidate.text is None:
        line = f"(no such chunk: {clean(view.candidate.chunk_id)})"
    else:
        text = clean(view.candidate.text[:READ_CHARS])
        header = _HEADER.match(text)
        line = " ".join(text[header.end() if header else 0 :].split()) or " ".join(text.split())
    return _beginning(line, TEXT_CHARS), _beginning(line, TIP_CHARS)


def _beginning(line: str, limit: int) -> str:
    """Cut a line behind a word, unless that would leave little of it."""
    if len(line) <= limit:
        return line
    whole = line[:limit].rpartition(" ")[0]
    return f"{whole} …" if len(whole) > limit // 2 else f"{line[:limit]}…"


def _number(value: float) -> str:
    """Return a number with three decimals, or by its power of ten where those would say nothing."""
    if not math.isfinite(value):
        return "–"
    if value and not 0.0005 <= abs(value) < 1e9:
        return f"{value:.1e}"
    return f"{value:,.3f}" if value % 1 else f"{value:,.0f}"
