"""The Triage table.

Each column is declared once, with its header, its cell, its order and its place in a narrow list.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, cast

import pandas as pd
import streamlit as st

from proofspan.contracts.records.records import GoldQuestion, Label, TraceKey
from proofspan.contracts.rules.catalogue import in_order, rule_of
from proofspan.diagnosis.messages import LITTLE_COVERED
from proofspan.display_names import (
    BUCKET_NAMES,
    CAUSE_NAMES,
    COLUMN_NAMES,
    DIFFERENCE_NAMES,
    GOLD_NAMES,
    ISSUE_NAMES,
    LABEL_NAMES,
    NO_LABEL,
)
from proofspan.journal.annotations import Annotation, Target
from proofspan.store.files.evidence_states import EVIDENCE
from proofspan.store.files.scores import export_columns
from proofspan.store.query.filters import Sort
from proofspan.store.query.score_conditions import SORT, name_in, number_in, number_words, score_columns
from proofspan.ui.triage.chosen import row_key
from proofspan.ui.triage.excerpt import differing, excerpt
from proofspan.ui.triage.reviewed import reviewed
from proofspan.ui.visit.view_state import (
    OPTIONAL_COLUMNS,
    ViewState,
    question_name,
    read_view,
    write_view,
)
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.table import (
    NOTHING,
    TICK_REM,
    Cell,
    Chip,
    Column,
    Folding,
    Grid,
    Row,
    Ticks,
    explained,
    show_grid,
)
from proofspan.ui.widgets.text import shortened, variant
from proofspan.ui.wording import citation
from proofspan.ui.wording.verdict import cause_sentence, verdict_chip
from proofspan.wording import Labels, no_labels

#: The rows scroll with the page: a list of its own height inside it would be a second thing to scroll.
ROWS_A_PAGE = 25
#: The key of the page's one table: the component stays, with its focus, while its rows change.
KEY = "triage-rows"
#: The longest question, and the most numbers, that a cell holds; the Question page has the rest.
MAX_QUESTION, MAX_NUMBERS = 300, 3
#: Characters of an answer, and of a cause's sentence.
MAX_ANSWER, MAX_CAUSE = 110, 220
#: Characters of a score's label, and of its name above the column.
MAX_LABEL, MAX_SCORE_TITLE = 40, 24
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


class Known(NamedTuple):
    """The things that rows show besides their values.

    `offsets` gives the page offset of traces (see `TriageRow`); their `run_id` is "". `gold` are the gold
    questions by id, `titles` the documents' by id where there are several. `hidden` are suspicions that the
    page says once of the whole run. `labels` are the printed page numbers of a document. `reviews` are
    people's verdicts by answer and name.
    """

    offsets: Mapping[TraceKey, int] = {}
    gold: Mapping[str, GoldQuestion] = {}
    titles: Mapping[str, str] = {}
    hidden: Container[str] = ()
    labels: Labels = no_labels
    reviews: Mapping[Target, Mapping[str, Annotation]] = {}


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True)
class TriageRow:
    """A row of the index (`values` by column) with the address of its question."""

    key: TraceKey
    values: Mapping[Hashable, Any]
    href: str
    known: Known

    @property
    def offset(self) -> int | None:
        """Return the number of pages from the cited page to the one that holds the text.

        None where that is not known or not one number.
        """
        return self.known.offsets.get(self.key)

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
    if label:
        chip = Chip(LABEL_NAMES[label], LABEL_COLOURS[label], tip, f"label.{label}")
    else:
        chip = Chip(NO_LABEL, "none")
    return Cell(chips=(chip,), note=f"was {was}" if was else "")


def _verdict(row: TriageRow) -> Cell:
    cause = row.text("cause") or None
    if not row.text("correct"):
        return Cell(chips=(Chip("Not judged", "none", "There is no verdict on this answer."),))
    values = cast(Any, (row.text("grounded") or None, row.text("correct"), cause))
    before = cast(Any, tuple(row.text(f"was_{name}") or None for name in ("grounded", "correct", "cause")))
    chip, was = verdict_chip(*values), ""
    if before[2] and before != values:
        was = verdict_chip(*before).text
        was = f"was {CAUSE_NAMES[before[2]] if was == chip.text else was}"
    return Cell(chips=(chip,), note=was)


def _cause(row: TriageRow) -> Cell:
    sentence, cause = cause_sentence(row.values, row.known.labels), row.text("cause")
    return (
        explained(shortened(sentence, MAX_CAUSE), f"cause.{cause}" if cause else "") if sentence else NOTHING
    )


def _answer(row: TriageRow) -> Cell:
    text, marks = excerpt(row.text("answer"), differing(row.text("claims")), MAX_ANSWER)
    return Cell(text, marks=marks) if text else NOTHING


def _expected(row: TriageRow) -> Cell:
    gold = row.known.gold.get(row.key.q_id)
    if gold is None:
        return NOTHING
    if not gold.answerable:
        return Cell("No answer in the documents", look="quiet")
    text = gold.answer or next((span.quote for span in gold.spans if span.quote), "")
    return Cell(shortened(text, MAX_ANSWER), look="quiet") if text else NOTHING


def _section(row: TriageRow) -> Cell:
    section, doc_id = shortened(row.text("rank1_section"), 40), row.text("rank1_doc")
    titles = row.known.titles
    document = shortened(titles.get(doc_id) or doc_id, 40) if titles else ""
    return Cell(section or document, note=document if section else "") if section or document else NOTHING


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


def _reviewed(row: TriageRow) -> Cell:
    answer = Target(row.text("run_id"), row.key.q_id, row.key.paraphrase, row.key.seed)
    return reviewed(row.known.reviews.get(answer, {}))


@dataclass(frozen=True, slots=True)
class TriageColumn:
    """A column: its cell, the `sort` that a click on its header asks for, and that order in words both ways.

    Without a `sort` its header asks for nothing. `layout` is the column as the browser gets it. Where the
    list is too narrow for all columns, those with the least of `stays` move under the question first; one
    with 0 never does.
    """

    cell: Callable[[TriageRow], Cell]
    layout: Column
    sort: str = ""
    order: tuple[str, str] = ("", "")
    descending_first: bool = False
    stays: int = 0


def _layout(name: str, help: str = "", **more: Any) -> Column:
    """Return the layout of a column, whose title is that of `COLUMN_NAMES`."""
    options = {"align": "start", "sorts": True, **more}
    return Column(explained(COLUMN_NAMES[name], _TERMS.get(name, ""), tip=help), name=name, **options)


#: Columns that a term of the glossary explains.
_TERMS: Mapping[str, str] = {
    "verdict": "term.correct",
    "label": "term.label",
    "cause": "term.cause",
    "issues": "term.suspicion",
    "expected": "term.gold question",
    "why": "term.label",
    "section": "term.section",
    "gold_rank": "term.bucket",
    "cited": "term.citation",
    "coverage": "term.coverage",
    "support": "term.support",
    "contradictions": "term.contradiction",
    "numbers": "finding.unsupported",
    "rules": "term.rule, code",
}


#: All columns in their order. Some may be new only here: what a cell reads is in
#: `store.files.columns.PAGE_COLUMNS`, what a sort orders by in `store.query.filters.SORTS`.
COLUMNS: Mapping[str, TriageColumn] = {
    "verdict": TriageColumn(
        _verdict,
        _layout("verdict", "Most harmful first", width=9.9, narrow=9.5),
        "worst",
        ("most harmful first", "least harmful first"),
    ),
    "label": TriageColumn(
        _label,
        _layout("label", "Worst label first", width=9.9, narrow=9.5),
        "label",
        ("worst label first", "best label first"),
    ),
    "cause": TriageColumn(
        _cause,
        _layout("cause", "The first point of failure", lines=3, width=14.5),
        "cause",
        ("by cause, most harmful first", "by cause, least harmful first"),
        stays=9,
    ),
    "issues": TriageColumn(
        lambda row: Cell(" · ".join(issues(row))),
        _layout("issues", lines=3, width=12),
        "suspicions",
        ("fewest issues first", "most issues first"),
        descending_first=True,
        stays=7,
    ),
    "question": TriageColumn(
        _question,
        _layout("question", lines=3),
        "question",
        ("questions A to Z", "questions Z to A"),
    ),
    "answer": TriageColumn(_answer, _layout("answer", lines=3, width=12.5, sorts=False), stays=8),
    "expected": TriageColumn(
        _expected,
        _layout("expected", "The answer of the gold question", lines=3, width=9.5, sorts=False),
        stays=7,
    ),
    "section": TriageColumn(
        _section,
        _layout("section", "Document and section of the candidate at rank 1", lines=3, width=7.4),
        "section",
        ("by top section", "by top section, reversed"),
        stays=5,
    ),
    "why": TriageColumn(
        lambda row: Cell(WHY.get(row.text("why"), row.text("why")), look="quiet"),
        _layout("why", "The rule that decided the label", lines=3, width=8),
        "why",
        ("by reason", "by reason, reversed"),
        stays=7,
    ),
    "gold_rank": TriageColumn(
        lambda row: gold_rank(row.values["unranked"], row.values["section_rank"]),
        _layout(
            "gold_rank",
            "Rank of the first candidate of a gold section in the last stage; none: it is not in that list",
            align="end",
            width=3.7,
        ),
        "section_rank",
        ("best rank of the gold section first", "worst rank of the gold section first"),
        stays=10,
    ),
    "cited": TriageColumn(
        _cited,
        _layout(
            "cited",
            "Citations whose chunk is known, of those cited; sorted by how their text was found",
            align="end",
            width=3.8,
        ),
        "evidence",
        ("worst cited text first", "best cited text first"),
        stays=10,
    ),
    "coverage": TriageColumn(
        _coverage,
        _layout(
            "coverage",
            "Share of the answer's words that the evidence holds, weighted by rarity",
            align="end",
            width=5,
        ),
        "answer_coverage",
        ("least covered first", "most covered first"),
        stays=10,
    ),
    "support": TriageColumn(
        _support,
        _layout(
            "support",
            "How well the evidence supports the answer's claims, led by the weakest",
            align="end",
            width=4.6,
        ),
        "support",
        ("weakest support first", "strongest support first"),
        stays=12,
    ),
    "contradictions": TriageColumn(
        _contradictions,
        _layout("contradictions", "Claims that differ from their evidence", align="end", width=4.2),
        "contradictions",
        ("fewest contradictions first", "most contradictions first"),
        descending_first=True,
        stays=11,
    ),
    "numbers": TriageColumn(
        _numbers,
        _layout("numbers", "Numbers in the answer that the evidence does not contain", lines=3, width=6.2),
        "unsupported",
        ("fewest unsupported numbers first", "most unsupported numbers first"),
        descending_first=True,
        stays=7,
    ),
    "rules": TriageColumn(
        _rules,
        _layout("rules", "Rules of the citation contract that the record breaks", align="end", width=3.1),
        "codes",
        ("fewest broken rules first", "most broken rules first"),
        descending_first=True,
        stays=10,
    ),
    "reviewed": TriageColumn(
        _reviewed,
        _layout(
            "reviewed", "Verdicts of people; disputed where they say different things", lines=3, width=10
        ),
        "reviewed",
        ("disputed reviews first", "answers without a review first"),
        stays=8,
    ),
}


def _score(row: TriageRow, name: str) -> Cell:
    numbers, words_in = export_columns(name)
    number, labels = row.values.get(numbers), row.values.get(words_in) or []
    words = ", ".join(shortened(label, MAX_LABEL) for label in labels)
    if number is None or pd.isna(number):
        return Cell(words) if words else NOTHING
    # A word for the number, such as `true` or `4`, says it already.
    is_same = not words or (len(labels) == 1 and number_in(labels[0]) == number)
    return Cell(number_words(number), note="" if is_same else f"of {words}" if len(labels) > 1 else words)


def column_named(name: str) -> TriageColumn:
    """Return a column of the table: one of `COLUMNS`, or a score's."""
    score = name_in(name)
    if score is None:
        return COLUMNS[name]
    title, of = shortened(score, MAX_SCORE_TITLE), shortened(score, MAX_LABEL)
    return TriageColumn(
        lambda row: _score(row, score),
        Column(
            Cell(title, tip=f"{of}: the mean in a trace, and its labels"),
            name=name,
            align="end",
            sorts=True,
            lines=3,
            width=max(5.5, 0.55 * len(title) + 1),  # with room for the sign of its order
        ),
        f"{SORT}{score}",
        (f"lowest {of} first", f"highest {of} first"),
        stays=8,
    )


#: What a list shows: with verdicts, and of a run whose claims are not checked. Others can be chosen.
JUDGED = ("verdict", "cause", "question", "answer", "expected", "section")
UNJUDGED = ("label", "issues", "question", "answer", "expected", "section")
#: Columns that are left out where no row has a value. A page whose answers nobody has reviewed says so.
_MAY_BE_LEFT_OUT = frozenset({"expected", *OPTIONAL_COLUMNS}) - {"reviewed"}
#: The least width of the question, in rem; where there is less the next column moves under it.
LEAST_QUESTION = 13
#: The padding of a column, in rem, which its width does not include.
_PADDING = 1.2
#: Orders that an address may ask for and no header does.
_OTHER_ORDERS: Mapping[str, tuple[str, str]] = {
    "correct": ("wrong answers first", "correct answers first"),
    "grounded": ("contradicted answers first", "supported answers first"),
    "resolved": ("fewest citations resolved first", "most citations resolved first"),
    "safety": ("fewest omitted warnings first", "most omitted warnings first"),
}


def show_table(
    rows: Sequence[TriageRow],
    view: ViewState,
    *,
    is_judged: bool,
    has_gold: bool,
    is_reviewed: bool,
    ticks: Ticks | None,
    on_tick: Callable[[Sequence[str], bool], None],
) -> None:
    """Draw the page of rows. A click on one opens its question, a click on a header sorts in SQL.

    `is_reviewed`: people have reviewed answers of the run. With `ticks` rows can be chosen, and `on_tick` is
    called as in `show_grid`. The rest as in `triage_grid`.
    """

    def sort(column: str) -> None:
        now = read_view()
        if column_named(column).sort:
            asked = sort_after_click(column, now.sort)
            write_view(now.change(sort=asked.by, desc=asked.descending))

    with st.container(key="triage-table"):
        reviewed = ("reviewed",) if is_reviewed else ()
        chosen = (*view.columns, *reviewed, *(score_columns(name)[0] for name in view.shown_scores))
        grid = triage_grid(
            rows,
            view.sort,
            chosen=chosen,
            is_judged=is_judged,
            has_gold=has_gold,
            with_ticks=ticks is not None,
        )
        show_grid(grid, key=KEY, on_sort=sort, ticks=ticks, on_tick=on_tick)


def triage_rows(rows: pd.DataFrame, view: ViewState, known: Known = NOTHING_KNOWN) -> list[TriageRow]:
    """Return rows of the index with the addresses of their questions, which stay in the list of `view`."""
    made, listed = [], view.as_list()
    if rows["rank1_doc"].nunique() < 2 and rows["rank1_section"].notna().all():
        known = known._replace(titles={})  # one document's name in each row says nothing
    for values in rows.to_dict("records"):
        numbers = (int(values[name]) for name in ("paraphrase", "seed", "repeat"))
        key = TraceKey("", str(values["q_id"]), *numbers)
        shown = listed.change(q=question_name(key.q_id, key.repeat), p=key.paraphrase, s=key.seed)
        made.append(TriageRow(key, values, shown.link("question"), known))
    return made


def triage_grid(
    rows: Sequence[TriageRow],
    sort: Sort,
    *,
    chosen: Sequence[str] = (),
    is_judged: bool = True,
    has_gold: bool = True,
    with_ticks: bool = False,
) -> Grid:
    """Return the table of these rows, in the order `sort`.

    `chosen` are columns besides those that every list shows. Without `is_judged` there is no verdict yet, and
    labels are in its place; without `has_gold` no answer is expected. A column in which no row has a value is
    left out, unless the list is in its order. `with_ticks`: rows can be chosen.
    """
    names = columns_of(chosen, is_judged=is_judged, has_gold=has_gold)
    columns_named = {name: column_named(name) for name in names}
    cells = {name: [column.cell(row) for row in rows] for name, column in columns_named.items()}
    shown = {
        name: column
        for name, column in columns_named.items()
        if name not in _MAY_BE_LEFT_OUT
        or column.sort == sort.by
        or any(each not in (NOTHING, Cell()) for each in cells[name])
    }
    below = _folded_below(shown, TICK_REM if with_ticks else 0)
    corner, *columns = [
        replace(
            column.layout,
            folds=Folding(below[name], "question", titled=True) if name in below else None,
            sorted=_sorted(column, sort, is_judged=is_judged),
        )
        for name, column in shown.items()
    ]
    keys = [row_key(row.key) if with_ticks else "" for row in rows]
    drawn = zip(keys, *(cells[name] for name in shown), strict=True)
    made = [Row(head, tuple(others), key) for key, head, *others in drawn]
    return Grid("Questions of this run", corner, tuple(columns), tuple(made))


def columns_of(chosen: Sequence[str], *, is_judged: bool, has_gold: bool) -> list[str]:
    """Return the columns of a list in their order: those of every list, then what is chosen, then scores."""
    always = [name for name in (JUDGED if is_judged else UNJUDGED) if has_gold or name != "expected"]
    others = [name for name in OPTIONAL_COLUMNS if name in chosen and name not in always]
    return [*always, *others, *(name for name in chosen if name_in(name) is not None)]


def _folded_below(shown: Mapping[str, TriageColumn], taken: float) -> dict[str, float]:
    """Return for each column that may move under the question the width in rem below which it does.

    `taken` is the width of what is beside the columns, in rem.

    A column stays while it fits beside those that stay longer: whatever is chosen, nothing is cut.
    """
    moving = sorted((name for name in shown if shown[name].stays), key=lambda name: -shown[name].stays)
    staying = [column.layout.width or LEAST_QUESTION for column in shown.values() if not column.stays]
    least = taken + sum(width + _PADDING for width in staying)
    found: dict[str, float] = {}
    for name in moving:
        least += (shown[name].layout.width or 0) + _PADDING
        found[name] = round(least, 2)
    return found


def _sorted(
    column: TriageColumn, sort: Sort, *, is_judged: bool
) -> Literal["", "ascending", "descending", "other"]:
    """Return a header's `aria-sort`; most harmful first is an order of its own, by label without verdicts."""
    by = "label" if sort.by == "worst" and not is_judged else sort.by
    if by != column.sort:
        return ""
    return "other" if sort == Sort() else "descending" if sort.descending else "ascending"


def sort_after_click(column: str, sort: Sort) -> Sort:
    """Return the order after a click on a header: the column's own direction first, then the other one."""
    clicked = column_named(column)
    is_same = sort.by == clicked.sort
    return Sort(clicked.sort, not sort.descending if is_same else clicked.descending_first)


def order(sort: Sort) -> str:
    """Return in words what a list shows first."""
    if sort.score:
        return column_named(score_columns(sort.score)[0]).order[sort.descending]
    orders = {**_OTHER_ORDERS, **{column.sort: column.order for column in COLUMNS.values() if column.sort}}
    ascending = (f"by {sort.by}, ascending", f"by {sort.by}, descending")
    return orders.get(sort.by, ascending)[sort.descending]


def issues(row: TriageRow) -> list[str]:
    """Return what to look at in a row, most important first.

    An id that may be made up, what is wrong with its cited text, its gold, what else its citations have, its
    other suspicions, and a grounded answer that the evidence hardly covers.
    """
    hidden = row.known.hidden
    codes, states = [code for code in row.list("suspicions") if code not in hidden], row.list("evidence")
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
