"""What surrounds every page: page config, sidebar, navigation, and the panel that a fault is shown in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.errors import Fault, Problem
from proofspan.manifest.types import Run
from proofspan.services.indexing import IndexJob
from proofspan.store.queries import Store
from proofspan.store.types import RunFacts
from proofspan.ui import health_load, safe, session, words
from proofspan.ui.badge import Badge, badge_of
from proofspan.ui.fragments import fragment
from proofspan.ui.inputs import feed
from proofspan.ui.links import follow, show_links
from proofspan.ui.state import ViewState, read_view, write_view

HEALTH_TITLE, WALKTHROUGH_TITLE = "Health", "Walkthrough"
HEALTH_PAGE = "pages/health.py"
_OLD_HEALTH = "workspace"
#: Navigation: group → (script, title, url path). A page that does not exist is not named.
PAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Browse": (
        ("pages/triage.py", "Triage", ""),
        ("pages/question.py", "Question", "question"),
        ("pages/walkthrough.py", WALKTHROUGH_TITLE, "walkthrough"),
    ),
    "Measure": (
        ("pages/trends.py", "Trends", "trends"),
        ("pages/compare.py", "Compare", "compare"),
    ),
    "Trust": ((HEALTH_PAGE, HEALTH_TITLE, "health"),),
}
SIDEBAR_PIXELS = 210
#: Of a run that holds no record, so many lines are shown as panels; Health lists them all.
LINES_IN_PANELS = 3


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
        + [st.Page(_moved, title=HEALTH_TITLE, url_path=_OLD_HEALTH)],
        position="hidden",
    )
    if page.url_path == _OLD_HEALTH:
        follow(read_view().link("health"), replaces=True)
    # A run that follows a fragment's run in the same thread would otherwise draw inside that fragment.
    with st._main:
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


def fault_panel(problems: Iterable[Problem]) -> None:
    """What happened, where, and what to do: one panel for all problems, foreign words as plain text."""
    for problem in problems:
        with st.container(border=True):
            safe.show(
                safe.text(safe.coded(_sentence(problem.message), "strong"), role="line"),
                safe.facts(
                    [
                        (name, [safe.Piece(value, "code")] if name == "Where" else safe.coded(value))
                        for name, value in (("Where", problem.where), ("What to do", problem.remedy))
                        if value
                    ]
                ),
            )


def store_or_progress(opened: session.Opened) -> Store:
    """The index of the shown run. While it is being built its progress stands here, and an older one serves.

    Where there is none at all yet, the page ends here; the rest of the dashboard stays.
    """
    standing = session.index(opened)
    if standing.cache_problem:
        fault_panel([standing.cache_problem])
    if standing.job is not None and standing.job.failure:
        _failed_index(standing.job.failure, opened)
    elif standing.job is not None:
        _index_progress(standing.job, opened.run.run_id, has_old_index=standing.store is not None)
    if standing.store is None:
        st.stop()
    return standing.store


@fragment(run_every=0.7)
def _index_progress(job: IndexJob, run_id: str, *, has_old_index: bool) -> None:
    if not job.is_running:
        st.rerun()
    step = job.progress
    told = f"{step.rows:,} traces so far" if step else "starting"
    older = " What you see is the index from before." if has_old_index else ""
    st.progress(step.share if step else 0.0, text=f"Reading {safe.label(run_id)}: {told}.{older}")


def _failed_index(said: str, opened: session.Opened) -> None:
    again = (
        f"proofspan index {shlex.quote(str(opened.manifest.folder))} --run {shlex.quote(opened.run.run_id)}"
    )
    fault_panel(
        [Problem("index_failed", said, opened.run.run_id, f"mend that, or see it all with `{again}`")]
    )
    st.button("Try again", key="index-again", on_click=session.build_again)


def line_issue_notice(facts: RunFacts, view: ViewState) -> None:
    """Lines that hold no record, in the run's own files and in those that it is read with, and report rows
    without a trace, with the way to their list."""
    unread = facts.line_issues - facts.unmatched
    told = f"{words.counted(unread, 'line')} of this run's files could not be read." if unread else ""
    if facts.unmatched:
        rows = words.counted(facts.unmatched, "row")
        told = f"{told} {rows} of its report {'has' if facts.unmatched == 1 else 'have'} no trace.".strip()
    if told:
        st.page_link(
            HEALTH_PAGE,
            label=f":red[{told}]",
            query_params=view.params(),
            width="content",
        )


def waiting_notice(waiting_bytes: int) -> None:
    """A last line whose writer is still at work: no finding, and nothing is lost."""
    if waiting_bytes:
        said = f"The last line ({words.counted(waiting_bytes, 'byte')}) is not finished yet; it is read once "
        safe.show(safe.text([safe.Piece(f"{said}its line break is there.", "muted")], role="hint"))


def empty_run_panels(store: Store, run_id: str) -> None:
    """Why a run without a single record has none: the first of its lines that hold none, a panel each."""
    fault_panel(
        Problem(str(line.code), str(line.reason), f"{line.file}:{line.line}", str(line.remedy))
        for line in store.line_issues(run_id).head(LINES_IN_PANELS).itertuples()
    )


def notes(said: Iterable[str]) -> None:
    """What in the address could not be used, said once above the page."""
    for note in said:
        safe.show(safe.text([safe.Piece(note, "muted")], role="hint"))


def run_name(run: Run) -> str:
    """A run in the width of the sidebar: `R004 · 26 Feb`."""
    return " · ".join(part for part in (run.run_id, run_date(run, year=False)) if part)


def run_date(run: Run, *, year: bool = True) -> str:
    """The run's day for people; the manifest's own words where they are no date."""
    if not run.ts:
        return ""
    try:
        day = datetime.fromisoformat(run.ts)
    except ValueError:
        return run.ts
    return f"{day.day} {day:%b %Y}" if year else f"{day.day} {day:%b}"


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


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
