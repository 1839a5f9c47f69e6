"""The menu of scores of other tools: which are shown, what the list keeps of them, and its order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.store.files.scores import ScoreName
from proofspan.store.query.filters import Sort
from proofspan.store.query.score_conditions import (
    SORT,
    Condition,
    conditions_by_name,
    number_in,
    number_words,
)
from proofspan.ui.visit.view_state import ViewState, change_view, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin

MENU = "scores-menu"
#: How many names and labels the menu offers, the most frequent first, besides those that are chosen.
OFFERED = 200
RULE = (
    "Measures, feedback and annotations that the traces carry. Of several of one name in a trace, such as "
    "those of several people, the number is their mean, and any of their labels counts."
)
_NO_SCORE = "no score"
_WIDTH = 340

Counts = Callable[[str], Mapping[str, int]]


def scores_menu(view: ViewState, *, names_of: Callable[[], Sequence[ScoreName]], counted_by: Counts) -> None:
    """Draw the menu.

    `names_of` returns the scores of the run, and `counted_by` counts the list by a score's labels, without
    that score's part of the filter; a menu that is closed asks for neither.
    """
    menu = st.popover("Scores", key=MENU, on_change="rerun")
    if not menu.open:  # as in the menu of further filters
        return
    names = names_of()
    known = {each.name: each for each in names}
    offered = {each.name: each.traces for each in names[:OFFERED]}
    chosen = list(view.shown_scores)
    with menu, st.container(key="score-choices", width=_WIDTH, gap="small"):
        key = "chosen-scores"
        st.multiselect(
            "Scores of other tools",
            [*offered, *(name for name in chosen if name not in offered)],
            begin(key, chosen),
            key=key,
            format_func=lambda name: f"{markup.clean(name)} · {known[name].traces if name in known else 0:,}",
            placeholder="choose",
            select_all=False,
            help=RULE,
            on_change=lambda: show_scores(st.session_state[key]),
        )
        for name in chosen:
            _one_score(name, known.get(name), view, counted_by=counted_by)


def _one_score(name: str, known: ScoreName | None, view: ViewState, *, counted_by: Counts) -> None:
    """Draw the range of a score's numbers, its labels, and the order by it."""
    asked = conditions_by_name(view.filter.score).get(name, [])
    title, mark = markup.label(name, limit=60), sha1_8(name)
    bounds: dict[str, str] = {each.operator: each.value for each in asked if each.operator != "="}
    is_ranged = bool(bounds) or (known is not None and known.is_ranged)
    if is_ranged:
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            for escaped, operator, end in (
                (f"{title}: at least", ">=", known and known.lowest),
                ("at most", "<=", known and known.highest),
            ):
                key = f"score:{mark}{operator}"
                st.number_input(
                    escaped,
                    value=begin(key, number_in(bounds.get(operator, ""))),
                    key=key,
                    format="%g",
                    placeholder="" if end is None else number_words(end),
                    on_change=_bound,
                    args=(name, operator, key),
                )
    counts = counted_by(name)
    labels = [*list(counts)[:OFFERED], *(() if len(counts) <= OFFERED else ("",))]
    values = [each.value for each in asked if each.operator == "="]
    if not is_ranged or values or any(counts.values()):
        key = f"score:{mark}={sha1_8(repr(counts))}"
        st.multiselect(
            "or any of" if is_ranged else title,
            [*labels, *(value for value in values if value not in labels)],
            begin(key, values),
            key=key,
            format_func=lambda value: f"{markup.clean(value) or _NO_SCORE} · {counts.get(value, 0):,}",
            placeholder="any",
            select_all=False,
            on_change=lambda: _keep(name, "=", st.session_state[key]),
        )
    with st.container(horizontal=True, gap="small"):
        for title, descending in (("Lowest first", False), ("Highest first", True)):
            is_so = view.sort == Sort(f"{SORT}{name}", descending)
            st.button(
                f"*✓* {title}" if is_so else title,
                key=f"score:{mark}:{title}",
                type="tertiary",
                on_click=change_view,
                kwargs={"sort": f"{SORT}{name}", "desc": descending},
            )


def show_scores(names: Sequence[str]) -> None:
    """Show these scores, and neither filter nor sort by any other."""
    shown = read_view()
    kept = tuple(each for each in shown.filter.score if Condition.parse(each).name in names)
    order = {"sort": Sort().by, "desc": False} if shown.sort.score not in ("", *names) else {}
    change_view(scores=tuple(names), score=kept, **order)


def _bound(name: str, operator: str, key: str) -> None:
    value = st.session_state[key]
    _keep(name, operator, [] if value is None else [f"{value:.15g}"])


def _keep(name: str, operator: str, values: Sequence[str]) -> None:
    """Replace the conditions on a score with an operator; those on one side replace `<` or `>` too."""
    shown = read_view()
    others = [
        each
        for each in shown.filter.score
        if (part := Condition.parse(each)).name != name or part.operator[0] != operator[0]
    ]
    asked = [str(Condition.parse(str(Condition(name, operator, value)))) for value in values]  # type: ignore[arg-type]
    change_view(score=(*others, *asked), scores=shown.shown_scores)
