"""The filters of the Triage list.

The ones that are used most are in the bar, the others in a menu beside it. A restriction that a link from
another page sets has no widget: it is a button with the filter's sentence, which removes it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.display_names import DIFFERENCE_NAMES, FILTER_NAMES, ISSUE_NAMES
from proofspan.store.query.filters import Filter, support_in_words
from proofspan.ui.visit.view_state import ViewState, change_view, read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin, feed, search_field, select
from proofspan.wording import counted

#: Values with the number of questions that have them, most frequent first.
Choices = Sequence[tuple[str, int]]
#: How many values a filter offers, the most frequent first, besides those that are chosen.
OFFERED = 200
#: Pixels in which a chosen value can be read.
WIDTH_CHOSEN = 250
#: The ranges of support that the menu offers; an address may have any.
SUPPORTS = ("0-0.25", "0-0.48", "0.25-0.48", "0.48-0.75", "0.48-1", "0.75-1")
#: The filters that only links set, and rules, which most often a link names.
_CHIPS = ("code", "about", "fails", "miss", "refused", "was", "was_bucket", "was_correct", "flip", "cohort")
_NONE = Filter("")
#: The menu's key.
MENU = "more-filters"


def filter_bar(
    options: Mapping[str, Choices],
    view: ViewState,
    *,
    traces: int,
    questions: int,
    cohorts: Choices = (),
    has_claims: bool = False,
) -> None:
    """Draw the search, the filters that are used most, a menu of the others, and a button that clears all.

    `cohorts` are frozen lists of questions with their sizes. A run with more `traces` than `questions` has
    paraphrases, seeds or repeats. One that `has_claims` can be filtered by them.
    """
    search_field(
        "Search questions and answers",
        key="search",
        value=view.filter.text,
        placeholder="Search …",
        width=190,
        on_search=lambda words: change_view(text=words),
    )
    _choice("suspicion", options["suspicion"], view.filter.suspicion, width=150)
    _choice("doc", options["doc"], view.filter.doc, width=145)
    _choice("section", options["section"], view.filter.section, width=125)
    menu = st.popover("More", key=MENU, on_change="rerun")  # with another title it would close
    if menu.open:  # a widget that the browser does not show yet would not take its value from the address
        with menu:
            for name in ("code", "type", "state"):
                offered, chosen = options.get(name, ()), getattr(view.filter, name)
                if offered or chosen:
                    _choice(name, offered, chosen, in_menu=True)
            counts, cohort = dict(cohorts), view.filter.cohort
            names = {name: _option("cohort", name, counts.get(name)) for name in (*counts, cohort) if name}
            if names:
                _one_of("cohort", names, cohort or None, key=_key("cohort", counts), none="")
            unsupported = {True: "some unsupported", False: "none unsupported"}
            _one_of("unsupported", unsupported, view.filter.unsupported, key="filter-unsupported")
            if has_claims:
                _claim_filters(options.get("difference", ()), view.filter)
            if traces > questions:
                feed("all-variants", view.filter.all_variants)
                st.toggle(
                    f"All {counted(traces, 'trace')}",
                    key="all-variants",
                    help="Paraphrases, other seeds and repeats too; else one trace a question",
                    on_change=lambda: change_view(all_variants=st.session_state["all-variants"]),
                )
    if view.is_filtered:
        st.button("Clear", key="clear", type="tertiary", on_click=show_all)


def _claim_filters(differences: Choices, shown: Filter) -> None:
    _one_of(
        "contradictions",
        {True: "some claims differ", False: "no claim differs"},
        shown.contradictions,
        key="filter-contradictions",
    )
    if differences or shown.difference:
        _choice("difference", differences, shown.difference, in_menu=True)
    ranges = {each: support_in_words(each) for each in (*SUPPORTS, shown.support) if each}
    _one_of("support", ranges, shown.support or None, key="filter-support", none="")


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
    names = {"suspicion": ISSUE_NAMES, "difference": DIFFERENCE_NAMES}.get(name, {})
    shown = names.get(value) or markup.clean(value)
    return shown if count is None else f"{shown} · {count:,}"


def show_all() -> None:
    """Show every question of the run."""
    write_view(read_view().without_filter())
