"""Draw what surrounds every page: page config, sidebar and navigation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import Fault
from proofspan.ui.health import load
from proofspan.ui.health.load import KNOWN_SHARE
from proofspan.ui.status import workspace_status
from proofspan.ui.status.notices import fault_panel, run_name
from proofspan.ui.visit import session
from proofspan.ui.visit.links import follow, show_links
from proofspan.ui.visit.routes import HEALTH_PAGE, HEALTH_TITLE, OLD_HEALTH, PAGES, WALKTHROUGH_TITLE
from proofspan.ui.visit.view_state import ViewState, read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import feed
from proofspan.ui.widgets.text import counted

SIDEBAR_PIXELS = 210


def run() -> None:
    """The whole dashboard for one script run: what `app.py` calls."""
    st.set_page_config(page_title="Proofspan", layout="wide", initial_sidebar_state=SIDEBAR_PIXELS)
    markup.stylesheet()
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
        markup.show(markup.text([markup.Piece("Proofspan")], role="title"))
        try:
            manifest = session.workspace()
            opened = session.current() if manifest.runs else session.without_runs(manifest)
            return _sidebar(opened, on_health=title == HEALTH_TITLE)
        except Fault:  # the page says what and where, with room for it
            markup.show(markup.text([markup.Piece("This workspace cannot be opened.", "muted")], role="hint"))
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
    markup.show(
        markup.text([markup.Piece("Workspace")], role="heading"),
        markup.text([markup.Piece(manifest.name)], role="line"),
    )
    _run_switcher(opened)
    for group, entries in PAGES.items():
        markup.show(markup.text([markup.Piece(group)], role="heading"))
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
    place: DeltaGenerator, opened: session.Opened, *, on_health: bool, share: float = load.LATE_SHARE
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
            help=markup.label(wrong.tip, limit=160),
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
        format_func=lambda run_id: markup.clean(titles[run_id]),
        label_visibility="collapsed",
        on_change=_switch_run,
        args=(key,),
    )
    if opened.run.title:
        markup.show(markup.text([markup.Piece(opened.run.title)], role="hint"))


def _switch_run(key: str) -> None:
    """Another run keeps filter and question: what was seen in one is looked for in the other.

    The run that this one was compared with is no longer the other one when it is chosen itself.
    """
    view, run = read_view(), st.session_state[key]
    vs = None if view.vs == run else view.vs
    write_view(view.change(run=run, vs=vs, cite=None, chunk=None, page=None))


# How many problems Health would show, for the sidebar of every page: no look into a file is taken for it.


@dataclass(frozen=True, slots=True)
class Badge:
    """Problems of the workspace's files, rules that the shown run breaks, errors of the run as a whole, and
    audits of the chunk ids that fail.

    `is_all` is False while files were not read yet: then there may be more.
    """

    files: int
    rules: int
    run: int
    ids: int
    is_all: bool

    @property
    def count(self) -> int:
        """All problems together."""
        return self.files + self.rules + self.run + self.ids

    @property
    def tip(self) -> str:
        """What is counted."""
        told = [
            *([counted(self.files, "problem") + " of files"] if self.files else []),
            *([counted(self.rules, "rule") + " broken"] if self.rules else []),
            *([counted(self.run, "error") + " of the run"] if self.run else []),
            *([counted(self.ids, "failed audit") + " of chunk ids"] if self.ids else []),
        ]
        more = "" if self.is_all else "; more may show when files are read on Health"
        return f"{', '.join(told)}{more}"


def badge_of(opened: session.Opened, *, on_health: bool, share: float = KNOWN_SHARE) -> Badge | None:
    """What is known of the workspace and of the shown run; on Health itself, what that page shows.

    None while the run is being counted, which is waited for with a `share` of the page's patience. What
    cannot be counted is told by the page, with room for it; the sidebar stays as it is.
    """
    try:
        if on_health:
            workspace_status.full_check(opened)
        counted_run = _of_run(opened, on_health=on_health, share=share)
        ids = load.failed_audits(opened, on_health=on_health)
    except Fault:
        counted_run, ids = (0, 0, False), None
    if counted_run is None:
        return None
    rules, errors, is_all = counted_run
    report = workspace_status.known_check(opened)
    is_all = is_all and report.hashed and ids is not None
    return Badge(len(report.findings), rules, errors, ids or 0, is_all)


def _of_run(opened: session.Opened, *, on_health: bool, share: float) -> tuple[int, int, bool] | None:
    """The rules that the shown run breaks, its errors as a whole, and whether those are all."""
    store = session.store_or_none(opened)
    if store is None:
        return 0, 0, not opened.manifest.runs
    if on_health:
        load.load(opened, store)
    known = load.known_findings(opened, store, share=share)
    if known is None:
        return None
    rules = sum(rule_of(code).severity == "error" for code in known.codes)
    errors = sum(each.problem.severity == "error" and not each.is_of_file for each in known.findings)
    return rules, errors, known.is_all
