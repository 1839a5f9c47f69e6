"""What surrounds every page: page config, sidebar, navigation, and the panel that a fault is shown in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

import streamlit as st

from core.errors import Fault, Problem
from core.manifest.types import Run
from core.ui import safe, session
from core.ui.state import ViewState, read_view, write_view

#: Navigation: group → (script, title, url path). A page that does not exist is not named.
PAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Browse": (("pages/triage.py", "Triage", ""), ("pages/question.py", "Question", "question")),
    "Trust": (("pages/workspace.py", "Workspace", "workspace"),),
}
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
        ],
        position="hidden",
    )
    with st.sidebar:
        safe.show(safe.text([safe.Piece("Proofspan")], role="title"))
        with _faults_shown():
            _sidebar(session.current())
    with _faults_shown():
        page.run()


def fault_panel(problems: Iterable[Problem]) -> None:
    """What happened, where, and what to do: one panel for all problems, foreign words as plain text."""
    for problem in problems:
        with st.container(border=True, key=None):
            safe.show(
                safe.text([safe.Piece(_sentence(problem.message), "strong")], role="line"),
                safe.facts(
                    [
                        (name, [safe.Piece(value, "code" if name == "Where" else "plain")])
                        for name, value in (("Where", problem.where), ("What to do", problem.remedy))
                        if value
                    ]
                ),
            )


def notes(view: ViewState) -> None:
    """What in the address could not be used, said once above the page."""
    for note in view.notes:
        safe.show(safe.text([safe.Piece(note, "muted")], role="hint"))


def run_title(run: Run) -> str:
    """A run as a line of the switcher: `R004 · hybrid + rerank · 26 Feb 2026`."""
    return " · ".join(part for part in (run.run_id, run.title, run_date(run)) if part)


def run_date(run: Run) -> str:
    """The run's day for people; the manifest's own words where they are no date."""
    if not run.ts:
        return ""
    try:
        day = datetime.fromisoformat(run.ts)
    except ValueError:
        return run.ts
    return f"{day.day} {day:%b %Y}"


@contextmanager
def _faults_shown() -> Iterator[None]:
    """A fault inside becomes its panel; everything around it still works."""
    try:
        yield
    except Fault as fault:
        fault_panel(fault.problems)


def _sidebar(opened: session.Opened) -> None:
    manifest, view = opened.manifest, opened.view
    safe.show(
        safe.text([safe.Piece("Workspace")], role="heading"),
        safe.text([safe.Piece(manifest.name)], role="line"),
    )
    _run_switcher(opened)
    for group, entries in PAGES.items():
        safe.show(safe.text([safe.Piece(group)], role="heading"))
        for script, title, _ in entries:
            st.page_link(script, label=title, query_params=view.params())


def _run_switcher(opened: session.Opened) -> None:
    titles = {run.run_id: run_title(run) for run in opened.manifest.runs}
    if not titles:
        return
    key = "run-switcher"
    if st.session_state.get(key) != opened.view.run:
        st.session_state[key] = opened.view.run
    st.selectbox(
        "Run",
        list(titles),
        key=key,
        format_func=lambda run_id: titles[run_id],
        label_visibility="collapsed",
        on_change=_switch_run,
        args=(key,),
    )


def _switch_run(key: str) -> None:
    """Another run keeps filter and question: what was seen in one is looked for in the other."""
    write_view(read_view().change(run=st.session_state[key], cite=None, chunk=None, page=None))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
