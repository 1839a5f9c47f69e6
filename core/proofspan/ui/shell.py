"""Draw what surrounds every page: page config, sidebar and navigation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.errors import Fault
from proofspan.ui import health_load, safe, session
from proofspan.ui.badge import Badge, badge_of
from proofspan.ui.inputs import feed
from proofspan.ui.links import follow, show_links
from proofspan.ui.notices import fault_panel, run_name
from proofspan.ui.routes import HEALTH_PAGE, HEALTH_TITLE, OLD_HEALTH, PAGES, WALKTHROUGH_TITLE
from proofspan.ui.state import ViewState, read_view, write_view

SIDEBAR_PIXELS = 210


def run() -> None:
    """The whole dashboard for one script run: what `app.py` calls."""
    st.set_page_config(page_title="Proofspan", layout="wide", initial_sidebar_state=SIDEBAR_PIXELS)
    safe.stylesheet()
    page = st.navigation(
        [
            st.Page(script, title=title, url_path=path or None, default=not path)
            for group in PAGES.values()
            for script, title, path in group
        ]
        + [st.Page(_moved, title=HEALTH_TITLE, url_path=OLD_HEALTH)],
        position="hidden",
    )
    if page.url_path == OLD_HEALTH:
        follow(read_view().link("health"), replaces=True)
    show_links()
    late = _framed(page.title) if page.title != WALKTHROUGH_TITLE or not read_view().present else None
    with _faults_shown():
        page.run()
    if late is not None:
        late()


def _moved() -> None:
    """Show nothing at Health's old address: the browser moves on to the new one."""


def _framed(title: str) -> Callable[[], None] | None:
    """The sidebar, whatever becomes of the page; and what of it is left to be drawn when that is there."""
    with st.sidebar:
        safe.show(safe.text([safe.Piece("Proofspan")], role="title"))
        try:
            manifest = session.workspace()
            opened = session.current() if manifest.runs else session.without_runs(manifest)
            return _sidebar(opened, on_health=title == HEALTH_TITLE)
        except Fault:  # the page says what and where, with room for it
            safe.show(safe.text([safe.Piece("This workspace cannot be opened.", "muted")], role="hint"))
    return None


@contextmanager
def _faults_shown() -> Iterator[None]:
    """A fault inside becomes its panel; everything around it still works."""
    try:
        yield
    except Fault as fault:
        fault_panel(fault.problems)


def _sidebar(opened: session.Opened, *, on_health: bool) -> Callable[[], None] | None:
    """All of it; a badge that is still being counted is left to be drawn by what is returned."""
    manifest, view, late = opened.manifest, opened.view, None
    safe.show(
        safe.text([safe.Piece("Workspace")], role="heading"),
        safe.text([safe.Piece(manifest.name)], role="line"),
    )
    _run_switcher(opened)
    for group, entries in PAGES.items():
        safe.show(safe.text([safe.Piece(group)], role="heading"))
        for script, title, _ in entries:
            if title != HEALTH_TITLE:
                st.page_link(script, label=title, query_params=view.params())
            elif (wrong := badge_of(opened, on_health=on_health)) is not None:
                _health_link(view, wrong)
            else:
                late = partial(_late_link, st.empty(), opened, on_health=on_health)
                late(share=0.0)
    return late


def _late_link(
    place: DeltaGenerator, opened: session.Opened, *, on_health: bool, share: float = health_load.LATE_SHARE
) -> None:
    with place:
        _health_link(opened.view, badge_of(opened, on_health=on_health, share=share))


def _health_link(view: ViewState, wrong: Badge | None) -> None:
    """The way to Health with the number of its problems; a sign while they are being counted."""
    params, title = view.params(), HEALTH_TITLE
    if wrong is None:
        st.page_link(HEALTH_PAGE, label=f"{title} :gray-badge[…]", help="being counted", query_params=params)
    elif wrong.count:
        st.page_link(
            HEALTH_PAGE,
            label=f"{title} :red-badge[{wrong.count:,}{'' if wrong.is_all else '+'}]",
            help=safe.label(wrong.tip, limit=160),
            query_params=params,
        )
    else:
        st.page_link(HEALTH_PAGE, label=title, query_params=params)


def _run_switcher(opened: session.Opened) -> None:
    titles = {run.run_id: run_name(run) for run in opened.manifest.runs}
    if not titles:
        return
    key = "run-switcher"
    feed(key, opened.view.run)
    st.selectbox(
        "Run",
        list(titles),
        key=key,
        format_func=lambda run_id: safe.clean(titles[run_id]),
        label_visibility="collapsed",
        on_change=_switch_run,
        args=(key,),
    )
    if opened.run.title:
        safe.show(safe.text([safe.Piece(opened.run.title)], role="hint"))


def _switch_run(key: str) -> None:
    """Another run keeps filter and question: what was seen in one is looked for in the other.

    The run that this one was compared with is no longer the other one when it is chosen itself.
    """
    view, run = read_view(), st.session_state[key]
    vs = None if view.vs == run else view.vs
    write_view(view.change(run=run, vs=vs, cite=None, chunk=None, page=None))
