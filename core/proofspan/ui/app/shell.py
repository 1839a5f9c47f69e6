"""Draw what surrounds every page: page config, sidebar and navigation."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.errors import Fault
from proofspan.ui.health import load
from proofspan.ui.status.notices import fault_panel, run_names
from proofspan.ui.visit import session
from proofspan.ui.visit.files import looks_once
from proofspan.ui.visit.links import follow, show_links
from proofspan.ui.visit.routes import (
    HEALTH_PAGE,
    HEALTH_TITLE,
    MOVED,
    OPEN_PAGE,
    OPEN_PATH,
    OPEN_TITLE,
    PAGES,
    ROOT_NAME,
    WALKTHROUGH_TITLE,
)
from proofspan.ui.visit.turns import in_turn
from proofspan.ui.visit.view_state import read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import select
from proofspan.wording import counted

SIDEBAR_PIXELS = 210


@in_turn
@looks_once
def run() -> None:
    """Draw the whole dashboard for one script run; `app.py` calls it."""
    st.set_page_config(page_title="Proofspan", layout="wide", initial_sidebar_state=SIDEBAR_PIXELS)
    titles = {path: title for group in PAGES.values() for _, title, path in group}
    page = st.navigation(
        [
            st.Page(script, title=title, url_path=path or ROOT_NAME, default=not path)
            for group in PAGES.values()
            for script, title, path in group
        ]
        + [st.Page(OPEN_PAGE, title=OPEN_TITLE, url_path=OPEN_PATH)]
        + [st.Page(_moved, title=titles[path], url_path=old) for old, path in MOVED.items()],
        position="hidden",
    )
    markup.stylesheet(page.url_path)
    if page.url_path in MOVED:
        follow(read_view().link(MOVED[page.url_path]), replaces=True)
    show_links()
    is_framed = page.title != WALKTHROUGH_TITLE or not read_view().present
    health_link = _sidebar() if is_framed else None
    try:
        page.run()
    except Fault as fault:  # everything around its panel still works
        fault_panel(fault.problems)
    if health_link is not None and page.title == HEALTH_TITLE:  # now that this page's number is known
        _health_link(*health_link)


def _moved() -> None:
    """Show nothing at an address that no page has: the browser moves on to the page's own."""


def _sidebar() -> tuple[DeltaGenerator, session.Opened] | None:
    """Draw the sidebar and return the place of its link to Health; None where no workspace can be opened."""
    with st.sidebar:
        markup.note("Proofspan", role="title")
        try:
            opened = session.current(needs_run=False)
        except Fault:  # the page shows it, with room for the details
            markup.note("This workspace cannot be opened.", "muted")
            st.page_link(OPEN_PAGE, label=OPEN_TITLE)
            return None
        markup.show(
            markup.text([markup.Piece("Workspace")], role="heading"),
            markup.text([markup.Piece(opened.manifest.name)], role="line"),
        )
        st.page_link(OPEN_PAGE, label=OPEN_TITLE, query_params=opened.view.params())
        if names := run_names(opened.manifest.runs):
            select("Run", names, opened.view.run, key="run-switcher", on_choose=_switch_run)
            if opened.run.title:
                markup.note(opened.run.title)
        for group, entries in PAGES.items():
            markup.note(group, role="heading")
            for script, title, _ in entries:
                if title == HEALTH_TITLE:
                    place = st.empty()
                    _health_link(place, opened)
                else:
                    st.page_link(script, label=title, query_params=opened.view.params())
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
