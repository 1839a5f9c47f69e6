"""Panels and notices above a page: faults, an index that is being built, lines that could not be read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from proofspan.errors import Problem
from proofspan.manifest.types import Run
from proofspan.services.workspace.index_job import IndexJob
from proofspan.services.workspace.open import run_date
from proofspan.store.files.types import RunFacts
from proofspan.store.query.store import Store
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.visit import session
from proofspan.ui.visit.routes import HEALTH_PAGE, TRIAGE_PAGE
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Kind, Role
from proofspan.wording import counted

#: How many unreadable lines of a run without records are shown as panels; Health lists them all.
LINES_IN_PANELS = 3


def fault_panel(problems: Iterable[Problem], *, as_page: bool = False) -> None:
    """Draw a panel per problem: what happened, where, and how to fix it.

    Where nothing else is shown, with `as_page`, the first problem is the page's title.
    """
    for problem in problems:
        message = problem.message[:1].upper() + problem.message[1:]
        facts = [("Where", [markup.Piece(problem.where, "code")])] if problem.where else []
        facts += [("What to do", markup.coded(problem.fix))] if problem.fix else []
        if as_page and not markup.HAS_TITLE.get():
            title = markup.text([markup.Piece(message.replace("`", ""), "h1")], role="title")
        else:
            title = markup.text(markup.coded(message, "strong"), role="line")
        with st.container(border=True):
            markup.show(title, markup.facts(facts))


def to_triage(view: ViewState) -> None:
    """Draw the way to Triage where there is nothing else to do."""
    with st.container(key="way-out"):
        st.page_link(
            TRIAGE_PAGE, label="Back to Triage", query_params=view.as_list().params(), width="content"
        )


def store_or_progress(opened: session.Opened) -> Store:
    """Return the index of the shown run, an older one with a progress bar while it is being built.

    Without any index yet, the page's script stops here.
    """
    store, job = session.index(opened)
    if problem := session.cache_dir().problem:
        fault_panel([problem])
    # Always one place: what follows keeps its own, and no part is shown twice while a page is replaced.
    place = st.empty()
    facts = store.run_facts(opened.run.run_id) if store is not None else None
    if job is not None:
        with place.container():
            if job.failure:
                folder, run_id = opened.manifest.folder, opened.run.run_id
                again = f"proofspan index {shlex.quote(str(folder))} --run {shlex.quote(run_id)}"
                fix = f"fix that, or see all of it with `{again}`"
                failed = Problem("index_failed", job.failure, run_id, fix)
                fault_panel([failed, *(facts.problems if facts and facts.unread_bytes else ())])
                st.button("Try again", key="index-again", on_click=session.jobs().forget)
            else:
                _index_progress(job, opened, facts)
    elif store is not None and session.is_being_written(opened):
        with place.container():
            _follow(opened, store.stamp(opened.run.run_id))
    if store is None:
        st.stop()
    return store


@fragment()
def _index_progress(job: IndexJob, opened: session.Opened, shown: RunFacts | None) -> None:
    """Draw how far the index is, and rerun the page when it is done, or as soon as there is a part to show.

    `shown` are the facts of the index that the page was drawn from.
    """
    steps = session.jobs().progress
    seen_steps, run_id, store = steps.count, opened.run.run_id, session.store_of(opened)
    if not job.is_running or (shown is None and store.stamp(run_id) is not None):
        st.rerun()
    run_again_after(steps, seen_steps)
    step = job.progress
    message = f"{step.rows:,} of about {step.estimate:,} traces" if step and step.done else "starting"
    seen = "" if shown is None else " What you see is the index from before."
    if shown is not None and shown.unread_bytes:
        seen = f" What you see, numbers included, are the first {shown.traces:,}."
    st.progress(step.share if step else 0.0, text=f"Reading {markup.label(run_id)}: {message}.{seen}")
    if shown is not None and shown.unread_bytes:
        ready = store.run_facts(run_id).traces
        if ready > shown.traces and st.button(f"Show the first {ready:,}", key="index-more"):
            st.rerun()


@fragment(run_every=2)
def _follow(opened: session.Opened, stamp: object) -> None:
    """Rerun the page when traces were added to a file that is being written, and when that has ended."""
    store, job = session.index(opened)
    is_over = not session.is_being_written(opened)
    if is_over or job is not None or store is None or store.stamp(opened.run.run_id) != stamp:
        st.rerun()
    markup.note(f"{opened.run.run_id} is being written; new answers appear as they come.", "muted")


@fragment()
def wait(is_over: Callable[[], bool], words: str, kind: Kind = "plain", role: Role = "hint") -> None:
    """Draw a line that says what is waited for; rerun the page when that `is_over`.

    It is asked when an index job goes on to another run or ends: nothing else may end the wait.
    """
    milestones = session.jobs().milestones
    seen = milestones.count
    if is_over():
        st.rerun()
    run_again_after(milestones, seen)
    markup.note(words, kind, role=role)


def line_issue_notice(facts: RunFacts, view: ViewState) -> None:
    """Draw how many lines could not be read and how many report rows have no trace, linked to Health."""
    unread = facts.line_issues - facts.unmatched
    summary = f"{counted(unread, 'line')} of this run's files could not be read." if unread else ""
    if facts.unmatched:
        rows, verb = counted(facts.unmatched, "row"), "has" if facts.unmatched == 1 else "have"
        summary = f"{summary} {rows} of its report {verb} no trace.".strip()
    if summary:
        st.page_link(HEALTH_PAGE, label=f":red[{summary}]", query_params=view.params(), width="content")


def waiting_notice(waiting_bytes: int) -> None:
    """Draw that the last line of a file is not complete yet, which is not an error."""
    if waiting_bytes:
        message = f"The last line ({counted(waiting_bytes, 'byte')}) is not finished yet; it is read once "
        markup.note(f"{message}its line break is there.", "muted")


def empty_run_panels(store: Store, run_id: str) -> None:
    """Draw why a run has no record: the first of the lines that could not be read."""
    fault_panel(
        Problem(str(line.code), str(line.reason), f"{line.file}:{line.line}", str(line.remedy))
        for line in store.line_issues(run_id).head(LINES_IN_PANELS).itertuples()
    )


def notes(message: Iterable[str]) -> None:
    """Draw what in the address could not be used."""
    for note in message:
        markup.note(note, "muted")


def run_names(
    runs: Iterable[Run], *, but: str = "", results: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the runs' names by id, `R004 · 26 Feb`, without the run `but`.

    With `results`, the words on each run's result by its id, a name has these too and the title at its end.
    """
    names = {}
    for run in runs:
        parts = [run.run_id, (results or {}).get(run.run_id), run_date(run, year=False)]
        parts += [run.title] if results is not None else []
        if run.run_id != but:
            names[run.run_id] = " · ".join(filter(None, parts))
    return names
