"""The Triage table.

Each column is declared once, with its header, its cell, its order and its place in a narrow list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
import streamlit as st

from proofspan.contracts.records.records import Label, TraceKey
from proofspan.contracts.rules.catalogue import in_order, rule_of
from proofspan.diagnosis.messages import LITTLE_COVERED
from proofspan.display_names import (
    BUCKET_NAMES,
    COLUMN_NAMES,
    DIFFERENCE_NAMES,
    GOLD_NAMES,
    ISSUE_NAMES,
    LABEL_NAMES,
    NO_LABEL,
)
from proofspan.store.files.evidence_states import EVIDENCE
from proofspan.store.query.filters import Sort
from proofspan.ui.visit.view_state import ViewState, question_name, read_view, write_view
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.table import NOTHING, Cell, Chip, Column, Folding, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened, variant
from proofspan.ui.wording import citation

ROWS_A_PAGE = 50
#: CSS pixels of the frame: some thirteen rows and a half, of which the rest scrolls inside it.
HEIGHT = 495
#: The key of the page's one table: the component stays, with its focus, while its rows change.
KEY = "triage-rows"
#: The longest question, and the most numbers, that a cell holds; the Question page has the rest.
MAX_QUESTION, MAX_NUMBERS = 300, 3
#: The reference's reasons for a label in the width of a column; the Question page has them in full.
WHY: Mapping[str, str] = {
    "template/citations violated": "Template or citations violated",
    "answer text not grounded in evidence": "Answer not grounded",
    "evidence lacks query terms": "No query term found",
    "citations present and answer grounded": "Cited and grounded",
    "evidence contains query terms but model refused": "Query terms found",
    "no query terms found in evidence; refusal acceptable": "No query term found",
}
#: Gold that the answerer was given within these ranks is not an issue.
FIRST_RANKS = 3


@dataclass(frozen=True, slots=True)
class TriageRow:
    """A row of the index (`values` by column) with the address of its question.

    `offset` is the number of pages from the cited page to the one that holds the text, None where that is not
    known or not one number.
    """

    key: TraceKey
    values: Mapping[Hashable, Any]
    href: str
    offset: int | None = None

    def list(self, name: str) -> Sequence[str]:
        """Return the values of a list column, () where it is null."""
        values = self.values[name]
        return () if values is None or isinstance(values, float) else list(values)

    def number(self, name: str) -> float | None:
        """Return a number, None where it is null."""
        return None if pd.isna(self.values[name]) else self.values[name]

    def text(self, name: str) -> str:
        """Return a text, "" where it is null."""
        value = self.values.get(name)
        return value if isinstance(value, str) else ""


def _label(row: TriageRow) -> Cell:
    label: Label | None = row.values["label"] if row.text("label") else None
    reason, names = row.text("why"), {**LABEL_NAMES, **BUCKET_NAMES}
    pairs = [(row.text(f"was_{name}"), row.text(name)) for name in ("label", "bucket")]
    was = " · ".join(names[before] for before, now in pairs if before and before != now)
    tip = " · ".join(filter(None, (WHY.get(reason, reason), label)))
    chip = Chip(LABEL_NAMES[label], LABEL_COLOURS[label], tip) if label else Chip(NO_LABEL, "none")
    return Cell(chips=(chip,), note=f"was {was}" if was else "")


def _question(row: TriageRow) -> Cell:
    text = shortened(" · ".join([*variant(row.key), row.text("q") or row.key.q_id]), MAX_QUESTION)
    return Cell(text, href=row.href)


def gold_rank(unranked: Any, rank: Any) -> Cell:
    """Return the gold section's rank in the last stage, `none` where it is not in it."""
    if isinstance(unranked, str):
        return NOTHING
    return Cell("none") if pd.isna(rank) else Cell(f"{int(rank):,}")


def _cited(row: TriageRow) -> Cell:
    cited = row.number("cited")
    return Cell(f"{row.number('cited_resolved') or 0:.0f} of {cited:.0f}") if cited else NOTHING


def _coverage(row: TriageRow) -> Cell:
    coverage = row.number("answer_coverage")
    return NOTHING if coverage is None else Cell(f"{coverage:.2f}")


def _numbers(row: TriageRow) -> Cell:
    numbers = row.list("numbers_unsupported")
    shown = [shortened(number, 20) for number in numbers[:MAX_NUMBERS]]
    more = [f"+{len(numbers) - MAX_NUMBERS}"] if len(numbers) > MAX_NUMBERS else []
    return Cell(", ".join([*shown, *more]), look="red") if numbers else NOTHING


def _support(row: TriageRow) -> Cell:
    support = row.number("support")
    return NOTHING if support is None else Cell(f"{support:.2f}")


def _contradictions(row: TriageRow) -> Cell:
    count = row.number("contradictions")
    kinds = ", ".join(DIFFERENCE_NAMES.get(kind, kind) for kind in row.list("difference_kinds"))
    return Cell(f"{count:,.0f}", look="red", tip=kinds, spoken=kinds) if count else NOTHING


def _rules(row: TriageRow) -> Cell:
    broken = in_order(row.list("codes"))
    titles = "; ".join(rule_of(code).title for code in broken)
    return Cell(f"{len(broken):,}", look="quiet", tip=titles, spoken=titles) if broken else NOTHING


@dataclass(frozen=True, slots=True)
class TriageColumn:
    """A column: its cell, the `sort` that a click on its header asks for, and that order in words both ways.

    `optional`: left out of a page of rows that have no value. `unless`: left out where that column is shown,
    except from an order by this one. `layout` is the column as the browser gets it.
    """

    cell: Callable[[TriageRow], Cell]
    sort: str
    order: tuple[str, str]
    layout: Column
    descending_first: bool = False
    optional: bool = False
    unless: str = ""


def _layout(name: str, help: str = "", **more: Any) -> Column:
    """Return the layout of a column, whose title is that of `COLUMN_NAMES`."""
    options = {"align": "start", "sorts": True, **more}
    return Column(Cell(COLUMN_NAMES[name], tip=help), name=name, **options)


#: Below this many rem a narrow column moves under the question, after its title.
_UNDER = {width: Folding(width, "question", titled=True) for width in (30, 38, 46, 60, 84)}
#: The columns in their order. Some may be new only here: what a cell reads is in
#: `store.files.columns.PAGE_COLUMNS`, what a sort orders by in `store.query.filters.SORTS`.
COLUMNS: Mapping[str, TriageColumn] = {
    "label": TriageColumn(
        _label,
        "worst",
        ("worst first", "best first"),
        _layout("label", "Worst first", width=11.4, narrow=8.6),
    ),
    "question": TriageColumn(
        _question, "question", ("questions A to Z", "questions Z to A"), _layout("question", lines=True)
    ),
    "why": TriageColumn(
        lambda row: Cell(WHY.get(row.text("why"), row.text("why")), look="quiet"),
        "why",
        ("by reason", "by reason, reversed"),
        _layout("why", "The rule that decided the label", width=10, folds=Folding(84, "label", shown=64)),
    ),
    "section": TriageColumn(
        lambda row: Cell(shortened(section, 40)) if (section := row.text("rank1_section")) else NOTHING,
        "section",
        ("by top section", "by top section, reversed"),
        _layout(
            "section",
            "Section of the candidate at rank 1",
            align="end",
            width=4.4,
            narrow=3.9,
            folds=_UNDER[38],
        ),
    ),
    "gold_rank": TriageColumn(
        lambda row: gold_rank(row.values["unranked"], row.values["section_rank"]),
        "section_rank",
        ("best rank of the gold section first", "worst rank of the gold section first"),
        _layout(
            "gold_rank",
            "Rank of the first candidate of a gold section in the last stage; none: it is not in that list",
            align="end",
            width=3.7,
            narrow=3.2,
            folds=_UNDER[38],
        ),
        optional=True,
    ),
    "cited": TriageColumn(
        _cited,
        "evidence",
        ("worst cited text first", "best cited text first"),
        _layout(
            "cited",
            "Citations whose chunk is known, of those cited; sorted by how their text was found",
            align="end",
            width=3.8,
            folds=_UNDER[38],
        ),
    ),
    "coverage": TriageColumn(
        _coverage,
        "answer_coverage",
        ("least covered first", "most covered first"),
        _layout(
            "coverage",
            "Share of the answer's words that the evidence holds, weighted by rarity",
            align="end",
            width=5,
            folds=_UNDER[30],
        ),
        unless="support",
    ),
    "support": TriageColumn(
        _support,
        "support",
        ("weakest support first", "strongest support first"),
        _layout(
            "support",
            "How well the evidence supports the answer's claims, led by the weakest",
            align="end",
            width=4.6,
            folds=_UNDER[30],
        ),
        optional=True,
    ),
    "contradictions": TriageColumn(
        _contradictions,
        "contradictions",
        ("fewest contradictions first", "most contradictions first"),
        _layout(
            "contradictions",
            "Claims that differ from their evidence",
            align="end",
            width=4.2,
            folds=_UNDER[46],
        ),
        descending_first=True,
        optional=True,
    ),
    "numbers": TriageColumn(
        _numbers,
        "unsupported",
        ("fewest unsupported numbers first", "most unsupported numbers first"),
        _layout(
            "numbers", "Numbers in the answer that the evidence does not contain", width=6.2, folds=_UNDER[84]
        ),
        descending_first=True,
        optional=True,
    ),
    "issues": TriageColumn(
        lambda row: Cell(" · ".join(issues(row))),
        "suspicions",
        ("fewest issues first", "most issues first"),
        _layout("issues", lines=True, width=15, folds=Folding(60, "question")),
        descending_first=True,
    ),
    "rules": TriageColumn(
        _rules,
        "codes",
        ("fewest broken rules first", "most broken rules first"),
        _layout(
            "rules",
            "Rules of the citation contract that the record breaks",
            align="end",
            width=3.1,
            folds=_UNDER[60],
        ),
        descending_first=True,
        optional=True,
    ),
}
#: Columns whose values come with the pass over claims.
OF_CLAIMS = ("support", "contradictions")
#: Orders that an address may ask for and no header does.
_OTHER_ORDERS: Mapping[str, tuple[str, str]] = {
    "label": ("worst label first", "best label first"),
    "resolved": ("fewest citations resolved first", "most citations resolved first"),
    "safety": ("fewest omitted warnings first", "most omitted warnings first"),
}


def show_table(
    rows: pd.DataFrame,
    view: ViewState,
    *,
    offsets: Mapping[TraceKey, int] | None = None,
    has_claims: bool = False,
) -> None:
    """Draw the page of rows. A click on one opens its question, a click on a header sorts in SQL.

    `offsets` gives the page offset of traces (see `TriageRow`); their `run_id` is "". `has_claims` as in
    `triage_grid`.
    """

    def sort(column: str) -> None:
        now = read_view()
        asked = sort_after_click(column, now.sort)
        write_view(now.change(sort=asked.by, desc=asked.descending))

    with st.container(key="triage-table"):
        grid = triage_grid(triage_rows(rows, view, offsets), view.sort, has_claims=has_claims)
        show_grid(grid, key=KEY, on_sort=sort)


def triage_rows(
    rows: pd.DataFrame, view: ViewState, offsets: Mapping[TraceKey, int] | None = None
) -> list[TriageRow]:
    """Return rows of the index with the addresses of their questions, which stay in the list of `view`."""
    made, listed = [], view.as_list()
    for values in rows.to_dict("records"):
        numbers = (int(values[name]) for name in ("paraphrase", "seed", "repeat"))
        key = TraceKey("", str(values["q_id"]), *numbers)
        shown = listed.change(q=question_name(key.q_id, key.repeat), p=key.paraphrase, s=key.seed)
        made.append(TriageRow(key, values, shown.link("question"), (offsets or {}).get(key)))
    return made


def triage_grid(rows: Sequence[TriageRow], sort: Sort, *, has_claims: bool = False) -> Grid:
    """Return the table of these rows, in the order `sort`.

    With `has_claims` their columns are there before the claims are checked, so that no row moves then.
    """
    cells = {name: [column.cell(row) for row in rows] for name, column in COLUMNS.items()}
    filled = {
        name: column
        for name, column in COLUMNS.items()
        if not column.optional
        or (has_claims and name in OF_CLAIMS)
        or any(cell is not NOTHING for cell in cells[name])
    }
    shown = {
        name: column
        for name, column in filled.items()
        if column.unless not in filled or sort.by == column.sort
    }
    corner, *columns = [replace(column.layout, sorted=_sorted(column, sort)) for column in shown.values()]
    lines = zip(*(cells[name] for name in shown), strict=True)
    made = tuple(Row(head, tuple(others)) for head, *others in lines)
    return Grid("Questions of this run", corner, tuple(columns), made, height=HEIGHT)


def _sorted(column: TriageColumn, sort: Sort) -> Literal["", "ascending", "descending", "other"]:
    """Return a header's `aria-sort`; worst first is an order of its own."""
    if sort.by != column.sort:
        return ""
    return "other" if sort == Sort() else "descending" if sort.descending else "ascending"


def sort_after_click(column: str, sort: Sort) -> Sort:
    """Return the order after a click on a header: the column's own direction first, then the other one."""
    clicked = COLUMNS[column]
    is_same = sort.by == clicked.sort
    return Sort(clicked.sort, not sort.descending if is_same else clicked.descending_first)


def order(sort: Sort) -> str:
    """Return in words what a list shows first."""
    orders = {**_OTHER_ORDERS, **{column.sort: column.order for column in COLUMNS.values()}}
    ascending = (f"by {sort.by}, ascending", f"by {sort.by}, descending")
    return orders.get(sort.by, ascending)[sort.descending]


def issues(row: TriageRow) -> list[str]:
    """Return what to look at in a row, most important first.

    An id that may be made up, what is wrong with its cited text, its gold, what else its citations have, its
    other suspicions, and a grounded answer that the evidence hardly covers.
    """
    codes, states = row.list("suspicions"), row.list("evidence")
    first = [code for code in codes if code == "citation_outside_retrieved"]
    coverage = row.number("answer_coverage")
    is_thin = row.text("label") == "ok" and coverage is not None and coverage < LITTLE_COVERED
    listed = [
        *(ISSUE_NAMES[code] for code in first),
        # Faults of the cited text, worst first.
        *(EVIDENCE[state].name.capitalize() for state in ("not_found", "numbers_differ") if state in states),
        _gold_issue(row),
        *citation.besides(states, offset=row.offset, omitted=len(row.list("safety_omitted"))),
        *(ISSUE_NAMES.get(code, code) for code in codes if code not in first),
        "Low coverage" if is_thin else "",
    ]
    return [clean(issue) for issue in listed if issue]


def _gold_issue(row: TriageRow) -> str:
    """Return what happened to the gold passage; "" where that is not known or no issue."""
    state, seen = row.text("gold_state"), row.number("gold_seen_rank")
    if not state:
        return ""
    if state in ("answered", "declined"):
        return GOLD_NAMES[state]
    if seen is None:
        retrieved = row.number("gold_retrieved_rank")
        return "Gold not retrieved" if retrieved is None else f"Gold dropped (rank {retrieved:,.0f})"
    if state == "uncited":
        event = "Refused with gold" if row.values["gold_is_refusal"] else "Gold not cited"
        return f"{event} (rank {seen:,.0f})"
    return "" if seen <= FIRST_RANKS else f"Gold at rank {seen:,.0f}"
