"""Draw what surrounds every page: page config, sidebar and navigation."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from proofspan.errors import Fault
from proofspan.metrics.statistics import percent
from proofspan.ui.app.frame import show_frame
from proofspan.ui.app.titles import NAME, SIDEBAR_PIXELS, tab_title
from proofspan.ui.health import load
from proofspan.ui.help.show import show_help, sidebar_links
from proofspan.ui.status.notices import fault_panel, run_names, to_triage
from proofspan.ui.status.run_results import known_results
from proofspan.ui.visit import session
from proofspan.ui.visit.files import looks_once
from proofspan.ui.visit.kept_messages import correct_kept_messages
from proofspan.ui.visit.links import follow, show_links
from proofspan.ui.visit.routes import (
    COMPARE_TITLE,
    HEALTH_PAGE,
    HEALTH_TITLE,
    MOVED,
    NO_PAGE_ADDRESS,
    NO_PAGE_PATH,
    NO_PAGE_TITLE,
    OPEN_PAGE,
    OPEN_PATH,
    OPEN_TITLE,
    PAGES,
    ROOT_NAME,
    WALKTHROUGH_TITLE,
)
from proofspan.ui.visit.stale_values import correct_stale_values
from proofspan.ui.visit.turns import in_turn
from proofspan.ui.visit.view_state import read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import select
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

correct_kept_messages()
correct_stale_values()

#: The address that was opened and that no page has.
_UNKNOWN = "shell:unknown"


@in_turn
@looks_once
def run() -> None:
    """Draw the whole dashboard for one script run; `app.py` calls it."""
    st.set_page_config(layout="wide", initial_sidebar_state=SIDEBAR_PIXELS)
    page = _navigation()
    markup.page_stylesheet(page.url_path)
    if page.url_path in MOVED:
        follow(read_view().link(MOVED[page.url_path]), replaces=True)
    show_links()
    show_help(page.url_path)
    opened = _opened()
    title = _show_title(page.title, opened)
    markup.HAS_TITLE.set(False)
    view = read_view()
    is_framed = page.title != WALKTHROUGH_TITLE or not (view.present or view.speaker)
    health_link = _sidebar(opened) if is_framed else None
    # After the sidebar, whose room is reserved until this is there. A flipped question is a page of its own.
    show_frame("flip" if page.title == COMPARE_TITLE and view.q is not None else page.url_path)
    try:
        page.run()
    except Fault as fault:  # everything around its panel still works
        fault_panel(fault.problems, as_page=True)
        if opened is not None and page.url_path:
            to_triage(opened.view)
    except StopException:
        _finish(page.title, opened, title)
        raise
    _finish(page.title, opened, title)
    if health_link is not None and page.title == HEALTH_TITLE:  # now that this page's number is known
        _health_link(*health_link)


def _navigation() -> StreamlitPage:
    """Return the page of the address; for one that no page has, a page that says so."""
    titles = {path: title for group in PAGES.values() for _, title, path in group}
    known = {*titles, *MOVED, OPEN_PATH, NO_PAGE_PATH}
    context = get_script_run_ctx(suppress_warning=True)
    asked = (context.pages_manager.intended_page_name or "") if context is not None else ""
    if asked and asked not in known and "/" not in asked:
        st.session_state[_UNKNOWN] = asked
    unknown = st.session_state.get(_UNKNOWN)
    nowhere = (NO_PAGE_PATH, *([unknown] if unknown else []))
    return st.navigation(
        [
            st.Page(script, title=title, url_path=path or ROOT_NAME, default=not path)
            for group in PAGES.values()
            for script, title, path in group
        ]
        + [st.Page(OPEN_PAGE, title=OPEN_TITLE, url_path=OPEN_PATH)]
        + [st.Page(_moved, title=titles[path], url_path=old) for old, path in MOVED.items()]
        + [st.Page(_no_page, title=NO_PAGE_TITLE, url_path=path) for path in nowhere],
        position="hidden",
    )


def _moved() -> None:
    """Show nothing at an address that no page has: the browser moves on to the page's own."""


def _no_page() -> None:
    """Show that the address is that of no page, with the way to the first one."""
    markup.page_title(NO_PAGE_TITLE)
    address = st.query_params.get(NO_PAGE_ADDRESS) or st.session_state.get(_UNKNOWN, NO_PAGE_PATH)
    asked = markup.Piece(f"/{shortened(address, 200)}", "code")
    markup.show(markup.text([markup.Piece("Proofspan has no page at "), asked]))
    to_triage(read_view())


def _opened() -> session.Opened | None:
    """Return the workspace; None where none can be opened: the page shows why, with room for the details."""
    try:
        return session.current(needs_run=False)
    except Fault:
        return None


def _show_title(page: str, opened: session.Opened | None, shown: str = "") -> str:
    """Title the browser's tab by the page and what its address says now; `shown` is its title so far."""
    view = None
    if opened is not None:
        view = read_view().with_run([run.run_id for run in opened.manifest.runs], opened.run.run_id)
    title = tab_title(page, view)
    if title != shown:
        st.set_page_config(page_title=title)
    return title


def _finish(page: str, opened: session.Opened | None, title: str) -> None:
    """Title the tab by what the page has completed its address with, and a page that still waits."""
    _show_title(page, opened, title)
    if not markup.HAS_TITLE.get():
        with st.container(key="unseen-title"):
            markup.page_title(page)


def _sidebar(opened: session.Opened | None) -> tuple[DeltaGenerator, session.Opened] | None:
    """Draw the sidebar and return the place of its link to Health; None where no workspace can be opened."""
    with st.sidebar:
        markup.note(NAME, role="title")
        if opened is None:
            markup.note("This workspace cannot be opened.", "muted")
            st.page_link(OPEN_PAGE, label=OPEN_TITLE)
            return None
        markup.show(
            markup.text([markup.Piece("Workspace")], role="heading"),
            markup.text([markup.Piece(opened.manifest.name)], role="line"),
        )
        shown = opened.view.params()
        st.page_link(OPEN_PAGE, label=OPEN_TITLE, query_params=shown)
        results = known_results(opened)
        shares = {run_id: percent(first / judged) for run_id, (first, judged) in results.items()}
        if names := run_names(opened.manifest.runs, results=shares):
            select("Run", names, opened.view.run, key="run-switcher", on_choose=_switch_run)
            if opened.run.title:
                markup.note(opened.run.title)
            if opened.run.run_id in results:
                first, judged = results[opened.run.run_id]
                markup.note(f"Gold section first: {first:,} of {judged:,}")
        for group, entries in PAGES.items():
            markup.note(group, role="heading")
            for script, title, _ in entries:
                if title == HEALTH_TITLE:
                    place = st.empty()
                    _health_link(place, opened)
                else:
                    st.page_link(script, label=title, query_params=shown)
        sidebar_links()
    return place, opened


def _health_link(place: DeltaGenerator, opened: session.Opened) -> None:
    count = load.known_problems(opened)
    with place:
        st.page_link(
            HEALTH_PAGE,
            label=f"{HEALTH_TITLE} :red-badge[{count:,}]" if count else HEALTH_TITLE,
            help=f"{counted(count, 'problem')} when Health was last opened" if count else None,
            query_params=opened.view.params(),
        )


def _switch_run(run: str) -> None:
    """Show another run with the same filter and question; one that was compared with no longer is."""
    view = read_view()
    vs = None if view.vs == run else view.vs
    write_view(view.change(run=run, vs=vs, cite=None, chunk=None, page=None))
