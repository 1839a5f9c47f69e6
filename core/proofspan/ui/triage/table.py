"""The Triage table in the browser: a real table whose rows are links, and what a click in it means.

A small component of our own, because a canvas can be neither read aloud nor copied from, and its rows have no
address. Its three parts are files beside this module, handed over as inline strings, so that nothing is
fetched. The words come from `proofspan.ui.triage.table`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import urlencode

import orjson
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.contracts.records.records import TraceKey
from proofspan.contracts.rules.catalogue import in_order, rule_of
from proofspan.diagnosis.gold import GoldOutcome
from proofspan.resources import text_of
from proofspan.store.query.filters import Sort
from proofspan.ui.visit.links import script
from proofspan.ui.visit.view_state import ViewState, question_name, read_view, write_view
from proofspan.ui.widgets import text as words
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.markup import clean
from proofspan.ui.wording import citation

ROWS_A_PAGE = 50
#: So many rows stand there whole. Of a longer list thirteen and a half are in sight, and the rest scrolls
#: inside the table, header in sight. A row that is cut says that there are more (see triage_table.js).
ROWS_WHOLE = 15
ROWS_IN_SIGHT = 13.5
ROW_PIXELS = 34
#: Header and frame, beside the rows.
FRAME_PIXELS = 36
#: The one table of the page: the component stays, with its focus, while its rows change.
KEY = "triage-rows"

_NAME = "proofspan_triage_table"
_PAGE = "./question?"
#: The URL parameters that name a question; the rest names the list that it was chosen from.
_OWN = ("q", "p", "s")


def show_table(rows: pd.DataFrame, view: ViewState, *, offsets: Mapping[TraceKey, int] | None = None) -> None:
    """Draws the page of rows. A click on one opens its question, a click on a header sorts in SQL.

    `offsets` is what `table_rows` takes. Where the component cannot be mounted, the bare rows are shown.
    """
    shown = table_rows(rows, offsets)
    data = packed(shown, own_parameters(rows, view), view)
    try:
        _mount(data, height=frame_height(len(shown)))
    except (StreamlitAPIException, TypeError):
        st.caption("The table could not start; these are its rows without their links.")
        frame = pd.DataFrame(shown).drop(columns=["broken", "was"])
        st.dataframe(frame.set_axis([header.title for header in HEADERS.values()], axis=1), hide_index=True)


def own_parameters(rows: pd.DataFrame, view: ViewState) -> list[str]:
    """Return of each row the part of its address that no other row has."""
    return [_encoded(opened(row, view), only=_OWN) for _, row in rows.iterrows()]


def opened(row: pd.Series[Any], view: ViewState) -> ViewState:
    """The state that shows the question of an index row, in the same list."""
    return view.as_list().change(
        q=question_name(row["q_id"], int(row["repeat"])), p=int(row["paraphrase"]), s=int(row["seed"])
    )


def packed(rows: Sequence[TableRow], own: Sequence[str], view: ViewState) -> bytes:
    """What the browser needs, as JSON in UTF-8.

    `rows` holds the texts of a row in the order of `columns`, then the rules that it breaks, what it was in
    another run, and what is its own in its address: `page`, that, `&` and `list` make the whole. While `list`
    stays the same, so does the scroll position. Without a question that ranking can be judged by, `ranked` is
    false, and `broken` without one that breaks a rule.
    """
    return orjson.dumps(
        {
            "page": _PAGE,
            "list": _list_parameters(view),
            "colours": LABEL_COLOURS,
            "ranked": any(row.gold_rank != NOTHING for row in rows),
            "broken": any(row.rules != NOTHING for row in rows),
            "columns": [
                {"name": name, "title": header.title, "help": header.help, **_order(header, view.sort)}
                for name, header in HEADERS.items()
            ],
            "rows": [(*astuple(row), part) for row, part in zip(rows, own, strict=True)],
        }
    )


def frame_height(rows: int) -> int | Literal["content"]:
    """The height in pixels that is kept free for so many rows, so that what follows never jumps.

    A few rows take what they need: in a narrow window they are higher.
    """
    return "content" if rows <= ROWS_WHOLE else int(ROW_PIXELS * ROWS_IN_SIGHT + FRAME_PIXELS)


def sort_after_click(column: str, sort: Sort) -> Sort:
    """The order after a click on a header: the column's own direction first, then the other one."""
    header = HEADERS[column]
    if sort.by != header.sort:
        return Sort(header.sort, header.descending_first)
    return Sort(header.sort, not sort.descending)


def _order(header: Header, sort: Sort) -> dict[str, str]:
    """`aria-sort` and arrow of a header. Worst first is an order of its own, and needs no arrow."""
    if sort.by != header.sort:
        return {"sorted": "", "arrow": ""}
    if sort == Sort():
        return {"sorted": "other", "arrow": ""}
    return (
        {"sorted": "descending", "arrow": "↓"} if sort.descending else {"sorted": "ascending", "arrow": "↑"}
    )


def _list_parameters(view: ViewState) -> str:
    return _encoded(view.as_list())


def _encoded(state: ViewState, *, only: Iterable[str] | None = None) -> str:
    params = state.params()
    names = params if only is None else [name for name in only if name in params]
    return urlencode({name: params[name] for name in names}, doseq=True)


def _mount(data: bytes, *, height: int | Literal["content"]) -> None:
    with st.container(key="triage-table"):
        _component()(key=KEY, data=data, height=height, on_sort_change=_sort)


def _sort() -> None:
    """Sort by the column whose header was clicked; a browser may send anything."""
    column = st.session_state[KEY].get("sort")
    if isinstance(column, str) and column in HEADERS:
        view = read_view()
        sort = sort_after_click(column, view.sort)
        write_view(view.change(sort=sort.by, desc=sort.descending))


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css = (text_of(f"ui/triage/table.{part}") for part in ("html", "css"))
    return st.components.v2.component(_NAME, html=html, css=css, js=script("ui/triage/table.js"))


# The Triage table's words: an index page as the few columns that a person reads, every cell a text.

#: What a cell holds at most; the whole text stands on the Question page.
MAX_QUESTION = 300
MAX_NUMBERS = 3
NO_LABEL = "no label"
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Header:
    """A column: its title, what a click on it sorts by, and in which direction first."""

    title: str
    sort: str
    descending_first: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One question as the table shows it; the fields are the columns, in the order of `HEADERS`.

    `broken` are the titles of the rules that `rules` counts. `was` stands below the label: what the question
    got in the run that is compared with, where it differs.
    """

    label: str
    question: str
    why: str
    section: str
    gold_rank: str
    cited: str
    coverage: str
    numbers: str
    stands_out: str
    rules: str
    broken: str = ""
    was: str = ""


HEADERS: Mapping[str, Header] = {
    "label": Header("label", "worst", help="Worst first"),
    "question": Header("question", "question"),
    "why": Header("why", "why", help="The rule that decided the label"),
    "section": Header("rank 1 in", "section", help="Section of the candidate at rank 1"),
    "gold_rank": Header(
        "gold § at",
        "section_rank",
        help="Rank of the first candidate of a gold section in the last stage; none: it is not in that list",
    ),
    "cited": Header(
        "cited",
        "evidence",
        help="Citations whose chunk is known, of those cited; sorted by what became of their text",
    ),
    "coverage": Header(
        "coverage",
        "answer_coverage",
        help="Share of the answer's words that the evidence holds, by rarity",
    ),
    "numbers": Header(
        "unsupported",
        "unsupported",
        descending_first=True,
        help="Numbers that stand nowhere in the evidence",
    ),
    "stands_out": Header("what stands out", "suspicions", descending_first=True),
    "rules": Header(
        "rules", "codes", descending_first=True, help="Rules of the contract that the record breaks"
    ),
}


def table_rows(rows: pd.DataFrame, offsets: Mapping[TraceKey, int] | None = None) -> list[TableRow]:
    """A page of index rows in words, cut to what a cell can show.

    `offsets` says of traces how many pages from the cited one their text stands; their `run_id` is "".
    """
    known = offsets or {}
    keys, outcomes = _keys(rows), _gold(rows)
    return [
        _table_row(record, key, gold, known.get(key))
        for record, key, gold in zip(rows.to_dict("records"), keys, outcomes, strict=True)
    ]


def _table_row(
    record: Mapping[Hashable, Any], key: TraceKey, gold: GoldOutcome | None, offset: int | None
) -> TableRow:
    label, why, section = record["label"], record["why"], record["rank1_section"]
    states, omitted = _list(record["evidence"]), len(_list(record["safety_omitted"]))
    broken = in_order(_list(record["codes"]))
    coverage = None if pd.isna(record["answer_coverage"]) else float(record["answer_coverage"])
    return TableRow(
        label=label if isinstance(label, str) else NO_LABEL,
        question=_shortened(" · ".join([*words.variant(key), record["q"] or key.q_id]), MAX_QUESTION),
        why=clean(words.why(why)) if isinstance(why, str) else "",
        section=_shortened(section, 40) if isinstance(section, str) and section else NOTHING,
        gold_rank=gold_rank(record["unranked"], record["section_rank"]),
        cited=_cited(record["cited_resolved"], record["cited"]),
        coverage=NOTHING if coverage is None else f"{coverage:.2f}",
        numbers=_first_few(_list(record["numbers_unsupported"])) or NOTHING,
        rules=f"{len(broken):,}" if broken else NOTHING,
        stands_out=clean(
            words.stands_out(
                _list(record["suspicions"]),
                label=label,
                coverage=coverage,
                gold=gold,
                cited=citation.wrong_text(states),
                besides=citation.besides(states, offset=offset, omitted=omitted),
            )
        ),
        broken=clean("; ".join(rule_of(code).title for code in broken)),
        was=_was(record),
    )


def _was(record: Mapping[Hashable, Any]) -> str:
    """`was ok · score_policy`: only what the run that is compared with has otherwise."""
    pairs = [(record.get(f"was_{name}"), record[name]) for name in ("label", "bucket")]
    told = [was for was, now in pairs if isinstance(was, str) and was != now]
    return f"was {' · '.join(told)}" if told else ""


def gold_rank(unranked: Any, rank: Any) -> str:
    """The gold section's rank in the last stage, `none` where it is not in it; of no use where not judged."""
    if isinstance(unranked, str):
        return NOTHING
    return "none" if pd.isna(rank) else f"{int(rank):,}"


def _keys(rows: pd.DataFrame) -> Iterator[TraceKey]:
    columns = (rows[name] for name in ("q_id", "paraphrase", "seed", "repeat"))
    for q_id, paraphrase, seed, repeat in zip(*columns, strict=True):
        yield TraceKey("", str(q_id), int(paraphrase), int(seed), int(repeat))


def _list(values: Any) -> Sequence[str]:
    return () if values is None or isinstance(values, float) else list(values)


def _shortened(text: str, limit: int) -> str:
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _cited(resolved: Any, cited: Any) -> str:
    return NOTHING if pd.isna(cited) or not cited else f"{int(resolved)} of {int(cited)}"


def _gold(rows: pd.DataFrame) -> Iterator[GoldOutcome | None]:
    """What became of each row's gold passage, None where it is not known."""
    names = ("gold_state", "gold_seen_rank", "gold_retrieved_rank", "gold_is_refusal")
    for state, seen, retrieved, is_refusal in zip(*(rows[name] for name in names), strict=True):
        known = isinstance(state, str)
        yield GoldOutcome(state, _rank(seen), _rank(retrieved), None, bool(is_refusal)) if known else None


def _rank(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _first_few(numbers: Sequence[str]) -> str:
    shown = [_shortened(number, 20) for number in numbers[:MAX_NUMBERS]]
    left_out = [f"+{len(numbers) - MAX_NUMBERS}"] if len(numbers) > MAX_NUMBERS else []
    return ", ".join([*shown, *left_out])
