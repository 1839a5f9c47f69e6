"""The release verdict as Trends, Compare and Health show it: one object, one way to draw it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from proofspan.metrics.catalogue import METRICS
from proofspan.services.compare import other_run
from proofspan.services.documents.background import Done, Failed
from proofspan.services.gate import release_verdict
from proofspan.services.release import Reason, ReleaseVerdict, State
from proofspan.store.query.store import Store
from proofspan.ui.status import background, notices
from proofspan.ui.status.workspace_status import state_of
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row, show_grid
from proofspan.wording import counted

#: The share of a page's patience that is spent on the verdict where the page can do without.
SHARE = 0.15
#: The reasons that a page names; the gate lists all of them.
MOST_REASONS = 4
_SIGNS: dict[State, tuple[str, Kind]] = {
    "ready": ("✓", "pass"),
    "not_ready": ("✗", "fail"),
    "not_enough_evidence": ("?", "warn"),
}
#: What a reason's status is called and looks like.
_STATUSES: dict[str, tuple[str, Look]] = {
    "fail": ("✗ fails", "red"),
    "open": ("? open", "yellow"),
    "warn": ("! warning", "yellow"),
}


def verdict_key(opened: session.Opened, store: Store, vs: str | None) -> tuple[Hashable, ...]:
    """Return what changes with all that the verdict on the shown run is made of."""
    runs = [run_id for run_id in (opened.run.run_id, vs) if run_id is not None]
    files = (state_of(opened.manifest, file) for file in (opened.run.bundles, opened.run.metrics))
    return ("release", *session.indexes_key(opened, store, *runs), *files)


def compared_with(opened: session.Opened, vs: str | None = None) -> str | None:
    """Return the run that the shown one is compared with: `vs`, else the address's, else the usual one."""
    manifest, run_id = opened.manifest, opened.run.run_id
    asked = next((each for each in (vs, opened.view.vs) if each and manifest.run(each) is not None), None)
    return asked if asked and asked != run_id else other_run(manifest, run_id)


def verdict_of(opened: session.Opened, store: Store, vs: str | None = None) -> ReleaseVerdict:
    """Return the verdict on the shown run, as `proofspan gate` gives it."""
    return _verdict(opened, store, compared_with(opened, vs))[1]()


def _verdict(
    opened: session.Opened, store: Store, other: str | None
) -> tuple[Hashable, Callable[[], ReleaseVerdict]]:
    """Return the verdict's key, and what returns it: one that any page has made is not made again."""
    key = verdict_key(opened, store, other)
    make = partial(release_verdict, store, opened.manifest, opened.run.run_id, against=other)
    return key, partial(session.recent("release", 16).get_or_make, key, make)


def verdict_when_ready(opened: session.Opened, store: Store) -> tuple[ReleaseVerdict | None, Hashable | None]:
    """Return the same, or None and the key of the task that makes it. Raises its Fault."""
    key, make = _verdict(opened, store, compared_with(opened))
    outcome = background.ask(key, make, share=SHARE)
    if isinstance(outcome, Failed):
        raise outcome.fault
    return (outcome.value, None) if isinstance(outcome, Done) else (None, key)


def wait_for_claims(opened: session.Opened, store: Store, *others: str) -> None:
    """While the claims of the shown run, or of the others, are being checked, wait and rerun the page."""
    runs = [run_id for run_id in (opened.run.run_id, *others) if store.stamp(run_id) is not None]

    def are_checked() -> bool:
        return all(map(store.are_claims_checked, runs))

    if are_checked():
        return
    job, key = session.locating(opened, store), ("locate others", *session.identity(opened))

    def is_over() -> bool:
        at_work = (job is not None and job.is_running) or session.jobs().is_running(key)
        return are_checked() or not at_work

    if not is_over():
        notices.wait(is_over, "The claims of the answers are being checked; the page updates by itself.")


def verdict_line(verdict: ReleaseVerdict) -> list[Piece]:
    """Return `✗ Not ready, compared with R004. 16 of 20 checks pass, 4 fail.` in pieces."""
    sign, kind = _SIGNS[verdict.state]
    return [
        Piece("Release check: ", "h2"),
        Piece(f"{sign} {verdict.words}", kind, term=f"release.{verdict.state}"),
        Piece(f"{verdict.compared}. {verdict.counts_in_words()}."),
    ]


#: Checks that are none of a metric, code, issue or cause, and the terms that explain them.
_TERMS: Mapping[str, str] = {
    "causes": "term.cause",
    "line_issues": "term.line issue",
    "stop_rule": "term.stop rule",
    "pinning": "term.pinning record",
    "determinism": "term.determinism",
}


def check_term(name: str) -> str:
    """Return what explains a release check in the glossary, by its name; "" for nothing."""
    if name in METRICS:
        return f"metric.{name}"
    kind, _, code = name.partition("_")
    if kind == "flips":
        return "term.flip"
    return f"{_KINDS[kind]}.{code}" if kind in _KINDS else _TERMS.get(name, "")


#: The beginning of a check's name → its kind of term.
_KINDS: Mapping[str, str] = {"suspicion": "issue", "code": "rule", "cause": "cause"}


def show_verdict(verdict: ReleaseVerdict, view: ViewState, *, most: int = MOST_REASONS) -> None:
    """Draw the verdict with its reasons, the most harmful first, and what would change each."""
    markup.show(markup.text(verdict_line(verdict), role="line"))
    reasons = verdict.reasons
    if reasons[:most]:
        rows = tuple(_row(reason, verdict, view) for reason in reasons[:most])
        columns = (Column(Cell("Result"), "start"), Column(Cell("Questions"), "end"))
        with st.container(key=f"reasons-{len(rows)}"):
            show_grid(Grid(f"Reasons for {verdict.run_id}", "Reason", columns, rows), key="reason-cells")
    if len(reasons) > most:
        markup.note(f"{counted(len(reasons) - most, 'more reason')} among the checks.", "muted")


def _row(reason: Reason, verdict: ReleaseVerdict, view: ViewState) -> Row:
    word, look = _STATUSES[reason.status]
    href = None
    if reason.shown is not None and reason.count:
        href = replace(view.with_nothing_chosen(), filter=reason.shown).link("")
    spoken = f"{reason.sentence}: open {counted(reason.count, 'question')}"
    questions = Cell(f"{reason.count:,}" if reason.count else "", href=href, spoken=spoken if href else "")
    title = reason.sentence.partition(":")[0].replace("`", "")
    terms = ((title, term),) if (term := check_term(reason.check)) else ()
    head = Cell(reason.sentence.replace("`", ""), note=reason.change.replace("`", ""), terms=terms)
    return Row(head, (Cell(word, look=look), questions))
