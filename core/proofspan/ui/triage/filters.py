"""The filters of the Triage list.

The ones that are used most are in the bar, the others in a menu beside it. A restriction that a link from
another page sets has no widget: it is a button with the filter's sentence, which removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.display_names import (
    BUCKET_NAMES,
    CAUSE_NAMES,
    CLAIM_NAMES,
    COLUMN_NAMES,
    CORRECT_NAMES,
    DIFFERENCE_NAMES,
    EVIDENCE_NAMES,
    FILTER_NAMES,
    GOLD_NAMES,
    GROUNDED_NAMES,
    ISSUE_NAMES,
    LABEL_NAMES,
)
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import SORT_KEYS, Filter, Sort, support_in_words
from proofspan.ui.triage.table import order
from proofspan.ui.visit.view_state import OPTIONAL_COLUMNS, ViewState, change_view, read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin, feed, search_field, select
from proofspan.wording import counted

#: Values with the number of questions that have them, most frequent first.
Choices = Sequence[tuple[str, int]]
#: Counts the list by the values of a filter.
CountedBy = Callable[[str], Choices]
#: How many values a filter offers, the most frequent first, besides those that are chosen.
OFFERED = 200
#: Pixels in which a chosen value can be read.
WIDTH_CHOSEN = 250
#: The ranges of support that the menu offers; an address may have any.
SUPPORTS = ("0-0.25", "0-0.48", "0.25-0.48", "0.48-0.75", "0.48-1", "0.75-1")
#: The filters that only links set, and rules, which most often a link names.
_CHIPS = (
    *("code", "about", "fails", "miss", "refused", "was", "was_cause", "was_bucket", "was_correct"),
    *("flip", "cohort"),
)
_NONE = Filter("")
#: The keys of the menus of further filters and of columns.
MENU, COLUMNS_MENU = "more-filters", "columns-menu"
#: The filters in the bar, with the pixels that each takes without a value.
_IN_BAR: Mapping[str, int] = {"cause": 120, "doc": 145, "section": 130, "evidence": 130}
#: The other filters of several values, which are in the menu.
_IN_MENU = (
    *("label", "correct", "grounded", "suspicion", "gold", "claim", "difference", "bucket"),
    *("code", "type", "state"),
)
#: Those whose values are counted in the list; the others are counted in the whole run.
_COUNTED = frozenset({"cause", "evidence", "label", "correct", "grounded", "gold", "claim", "bucket"})
_NAMES: Mapping[str, Mapping[str, str]] = {
    "label": LABEL_NAMES,
    "cause": CAUSE_NAMES,
    "correct": CORRECT_NAMES,
    "grounded": GROUNDED_NAMES,
    "suspicion": ISSUE_NAMES,
    "gold": GOLD_NAMES,
    "evidence": EVIDENCE_NAMES,
    "claim": CLAIM_NAMES,
    "difference": DIFFERENCE_NAMES,
    "bucket": BUCKET_NAMES,
}


def search(view: ViewState) -> None:
    """Draw the field that the list is searched by."""
    search_field(
        "Search questions and answers",
        key="search",
        value=view.filter.text,
        placeholder="Search …",
        width=190,
        on_search=lambda words: change_view(text=words),
    )


def filter_bar(
    options: Mapping[str, Choices],
    view: ViewState,
    *,
    counted_by: CountedBy,
    facts: RunFacts,
    cohorts: Choices = (),
    scores: Callable[[], None] | None = None,
) -> None:
    """Draw the filters that are used most, menus of the others, and a button that clears all.

    `counted_by` counts the list by a filter's values, without that filter; a menu that is closed asks for
    nothing. `cohorts` are frozen lists of questions with their sizes. `scores` draws the menu of scores,
    None for a run without any.
    """
    shown = view.filter
    known = {"cause": facts.checked is not None, "evidence": facts.placed is not None}
    for name, width in _IN_BAR.items():
        offered = counted_by(name) if name in _COUNTED else options[name]
        if known.get(name, True) or getattr(shown, name):
            _choice(name, offered, getattr(shown, name), width=width)
    if scores is not None:
        scores()
    menu = st.popover("More", key=MENU, on_change="rerun")  # with another title it would close
    if menu.open:  # a widget that the browser does not show yet would not take its value from the address
        with menu, st.container(horizontal=True, gap="small", key="more-choices"):
            is_checked = facts.checked is not None
            _further(options, view, counted_by=counted_by, cohorts=cohorts, is_checked=is_checked)
            if facts.traces > facts.questions:
                feed("all-variants", shown.all_variants)
                st.toggle(
                    f"All {counted(facts.traces, 'trace')}",
                    key="all-variants",
                    help="Paraphrases, other seeds and repeats too; else one trace a question",
                    on_change=lambda: change_view(all_variants=st.session_state["all-variants"]),
                )
    columns_menu(view)
    if view.is_filtered:
        st.button("Clear", key="clear", type="tertiary", on_click=show_all)


def _further(
    options: Mapping[str, Choices],
    view: ViewState,
    *,
    counted_by: CountedBy,
    cohorts: Choices,
    is_checked: bool,
) -> None:
    """Draw the filters of the menu, and the order."""
    shown = view.filter
    select(
        FILTER_NAMES["sort"],
        {by: order(Sort(by)) for by in SORT_KEYS} | {view.sort.by: order(view.sort)},
        view.sort.by,
        key="order",
        shows_words=True,
        width=WIDTH_CHOSEN,
        on_choose=lambda by: change_view(sort=by, desc=False),
    )
    for name in _IN_MENU:
        offered = counted_by(name) if name in _COUNTED else options.get(name, ())
        if offered or getattr(shown, name):
            _choice(name, offered, getattr(shown, name), in_menu=True)
    sizes, cohort = dict(cohorts), shown.cohort
    names = {name: _option("cohort", name, sizes.get(name)) for name in (*sizes, cohort) if name}
    if names:
        _one_of("cohort", names, cohort or None, key=_key("cohort", sizes), none="")
    unsupported = {True: "some unsupported", False: "none unsupported"}
    _one_of("unsupported", unsupported, shown.unsupported, key="filter-unsupported")
    omitting = dict(counted_by("safety"))
    if omitting or shown.safety is not None:
        words = {True: "may omit a warning", False: "omits no warning"}
        warnings = {value: f"{words[value]} · {omitting.get(str(value), 0):,}" for value in words}
        _one_of("safety", warnings, shown.safety, key=_key("safety", omitting))
    if is_checked:
        differing = {True: "some claims differ", False: "no claim differs"}
        _one_of("contradictions", differing, shown.contradictions, key="filter-contradictions")
        ranges = {each: support_in_words(each) for each in (*SUPPORTS, shown.support) if each}
        _one_of("support", ranges, shown.support or None, key="filter-support", none="")


def columns_menu(view: ViewState) -> None:
    """Draw the choice of further columns of the table."""
    menu = st.popover("Columns", key=COLUMNS_MENU, on_change="rerun")
    if menu.open:
        with menu:
            for name in OPTIONAL_COLUMNS:
                feed(f"column-{name}", name in view.columns)
                st.checkbox(COLUMN_NAMES[name], key=f"column-{name}", on_change=_choose_column, args=(name,))


def _choose_column(name: str) -> None:
    chosen = {*read_view().columns, name}
    if not st.session_state[f"column-{name}"]:
        chosen.remove(name)
    change_view(columns=tuple(each for each in OPTIONAL_COLUMNS if each in chosen))


def chips(view: ViewState, *, elsewhere: Container[str] = ()) -> None:
    """Draw a button for each restriction that a link set, which removes it, unless a toggle `elsewhere` shows
    it.
    """
    for name in _CHIPS:
        if name not in elsewhere and getattr(view.filter, name) != getattr(_NONE, name):
            shown, part = view.filter, {name: getattr(view.filter, name)}
            words = Filter(shown.run, vs=shown.vs, outcome=shown.outcome, **part).where().sentence
            escaped = markup.label(f"✕ {words}", limit=100)
            change = {name: getattr(_NONE, name)}
            st.button(escaped, key=f"chip-{name}", type="tertiary", on_click=change_view, kwargs=change)


def _choice(
    name: str, options: Choices, chosen: Sequence[str], *, width: int = WIDTH_CHOSEN, in_menu: bool = False
) -> None:
    """Draw a filter of several values. In the bar its title is the placeholder, in the menu it is above."""
    title, counts = FILTER_NAMES[name], dict(options[:OFFERED])
    key = _key(name, counts)
    values = [*counts, *(value for value in chosen if value not in counts)]
    st.multiselect(
        title,
        values,
        begin(key, list(chosen)),
        key=key,
        format_func=lambda value: _option(name, value, counts.get(value)),
        placeholder="any" if in_menu else title,
        label_visibility="visible" if in_menu else "collapsed",
        width=max(width, WIDTH_CHOSEN) if chosen else width,
        wrap=False,
        select_all=False,
        on_change=lambda: change_view(**{name: tuple(st.session_state[key])}),
    )


def _key(name: str, counts: Mapping[str, int]) -> str:
    """Return a key that changes with the counts: a browser keeps the words of chosen options."""
    return f"filter-{name}:{sha1_8(repr(counts))}"


def _one_of(
    name: str, names: Mapping[Any, str], chosen: object, *, key: str, none: str | None = None
) -> None:
    """Draw a filter of one value in the menu; without a value the filter is `none`."""
    select(
        FILTER_NAMES[name],
        names,
        chosen,
        key=key,
        placeholder="any",
        is_clearable=True,
        shows_words=True,
        width=WIDTH_CHOSEN,
        on_choose=lambda value: change_view(**{name: none if value is None else value}),
    )


def _option(name: str, value: str, count: int | None) -> str:
    if name == "code":
        value = f"{rule_of(value).title} ({value})"
    shown = _NAMES.get(name, {}).get(value) or markup.clean(value)
    return shown if count is None else f"{shown} · {count:,}"


def show_all() -> None:
    """Show every question of the run."""
    write_view(read_view().without_filter())
