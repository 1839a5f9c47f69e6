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
from proofspan.display_names import COLUMN_NAMES, FILTER_NAMES, NAMES
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
#: The filters in the bar. A narrow window has room for the first alone; the others are in its menu.
_IN_BAR = ("cause", "doc", "section", "evidence")
#: How many values a filter shows at once; more are in a list that can be searched.
_AT_ONCE = 20
#: The other filters of several values, which are in the menu.
_IN_MENU = (
    *("label", "correct", "grounded", "suspicion", "gold", "claim", "difference", "bucket"),
    *("code", "type", "state"),
)
#: Those whose values are counted in the list; the others are counted in the whole run.
_COUNTED = frozenset({"cause", "evidence", "label", "correct", "grounded", "gold", "claim", "bucket"})


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
    reviews: Callable[[], None] | None = None,
) -> None:
    """Draw the filters that are used most, a button each with its chosen values, and a menu of the others.

    `counted_by` counts the list by a filter's values, without that filter; a menu that is closed asks for
    nothing. `cohorts` are frozen lists of questions with their sizes. `scores` draws the menu of scores,
    None for a run without any. `reviews` draws the menu of people's reviews, None where none are kept.
    """

    def offered(name: str) -> Choices:
        return counted_by(name) if name in _COUNTED else options.get(name, ())

    shown = view.filter
    known = {
        "cause": facts.checked is not None,
        "evidence": facts.placed is not None,
        "doc": len(options["doc"]) > 1,
    }
    in_bar = [name for name in _IN_BAR if known.get(name, True) or getattr(shown, name)]
    for name in in_bar:
        menu_key = f"facet-{name}"
        menu = st.popover(
            _facet_label(name, getattr(shown, name)), key=menu_key, on_change="rerun", width="content"
        )
        if menu.open:
            with menu:
                _choice(name, offered(name), getattr(shown, name), menu=menu_key)
    if scores is not None:
        scores()
    if reviews is not None:
        reviews()
    menu = st.popover("More filters", key=MENU, on_change="rerun", width="content")
    if menu.open:  # a widget that the browser does not show yet would not take its value from the address
        with menu, st.container(horizontal=True, gap="small", key="more-choices"):
            with st.container(horizontal=True, gap="small", key="narrow-choices"):
                for name in in_bar[1:]:
                    _choice(name, offered(name), getattr(shown, name), prefix="narrow")
            is_checked = facts.checked is not None
            _further(offered, view, counted_by=counted_by, cohorts=cohorts, is_checked=is_checked)
            if facts.traces > facts.questions:
                feed("all-variants", shown.all_variants)
                st.toggle(
                    f"All {counted(facts.traces, 'trace')}",
                    key="all-variants",
                    help="Paraphrases, other seeds and repeats too; else one trace a question",
                    on_change=lambda: change_view(all_variants=st.session_state["all-variants"]),
                )


def _facet_label(name: str, chosen: Sequence[str]) -> str:
    """Return the title of a filter's button: its name, with the value or how many values are chosen."""
    title = FILTER_NAMES[name]
    if not chosen:
        return title
    words = markup.label(_option(name, chosen[0], None), limit=24) if len(chosen) == 1 else f"{len(chosen):,}"
    return f"{title}: **{words}**"


def clear_button(view: ViewState) -> None:
    """Draw the button that takes every filter away, where there is one."""
    if view.is_filtered:
        st.button("Clear", key="clear", type="tertiary", on_click=show_all)


def _further(
    offered: Callable[[str], Choices],
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
        values = offered(name)
        if values or getattr(shown, name):
            _choice(name, values, getattr(shown, name))
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


def columns_menu(view: ViewState, *, but: Container[str] = ()) -> None:
    """Draw the choice of further columns of the table, `but` some that it cannot show or always does."""
    menu = st.popover("Columns", key=COLUMNS_MENU, on_change="rerun")
    if menu.open:
        with menu:
            for name in OPTIONAL_COLUMNS:
                if name in but:
                    continue
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
    name: str, options: Choices, chosen: Sequence[str], *, prefix: str = "filter", menu: str = ""
) -> None:
    """Draw a filter of several values. In a `menu` of its own its few values are all in sight.

    That menu's button names what is chosen, which makes it another one: it is opened again.
    """
    counts = dict(options[:OFFERED])
    key = _key(name, counts, prefix)
    values = [*counts, *(value for value in chosen if value not in counts)]

    def choose() -> None:
        if menu:
            st.session_state[menu] = True
        change_view(**{name: tuple(st.session_state[key])})

    if menu and len(values) <= _AT_ONCE:
        st.pills(
            FILTER_NAMES[name],
            values,
            selection_mode="multi",
            default=begin(key, list(chosen)),
            key=key,
            format_func=lambda value: markup.label(_option(name, value, counts.get(value)), limit=100),
            on_change=choose,
        )
        return
    st.multiselect(
        FILTER_NAMES[name],
        values,
        begin(key, list(chosen)),
        key=key,
        format_func=lambda value: _option(name, value, counts.get(value)),
        placeholder="any",
        width=WIDTH_CHOSEN,
        wrap=False,
        select_all=False,
        on_change=choose,
    )


def _key(name: str, counts: Mapping[str, int], prefix: str = "filter") -> str:
    """Return a key that changes with the counts: a browser keeps the words of chosen options."""
    return f"{prefix}-{name}:{sha1_8(repr(counts))}"


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
    shown = NAMES.get(name, {}).get(value) or markup.clean(value)
    return shown if count is None else f"{shown} · {count:,}"


def show_all() -> None:
    """Show every question of the run."""
    write_view(read_view().without_filter())
