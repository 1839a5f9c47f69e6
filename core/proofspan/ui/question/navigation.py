"""Navigation of the Question page: the question in its list, its neighbours, and its other runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from proofspan.contracts.records.records import Attachment, TraceKey
from proofspan.diagnosis.verdicts.types import Verdict
from proofspan.errors import InputFault, Problem
from proofspan.services.page.target import Target
from proofspan.services.question.view import QuestionView
from proofspan.store.files.columns import KEY_COLUMNS
from proofspan.store.files.types import Found
from proofspan.store.query.store import Store
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, change_view, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.wording.question import short_id
from proofspan.ui.wording.verdict import RunChip, run_chip

#: The columns by which the traces of a question differ.
_VARIANT = ("paraphrase", "seed", "repeat")


def with_question(state: ViewState, store: Store) -> ViewState:
    """Return the state with a question: its own, else, unless it names a chunk, the first of the list."""
    if state.q is not None or state.chunk is not None:
        return state
    first = key_at(store, state, 0)
    if first is None:
        return state
    return state.change(q=question_name(first.q_id, first.repeat), p=first.paraphrase, s=first.seed)


def key_at(store: Store, state: ViewState, position: int) -> TraceKey | None:
    """Return the question at a position, from 0, of the list of an address; None past its end."""
    rows = store.page(state.filter, state.sort, limit=1, offset=position)
    for row in rows[[*KEY_COLUMNS]].to_dict("records"):
        return TraceKey(state.run, str(row["q_id"]), *(int(row[name]) for name in _VARIANT))
    return None


def find(
    store: Store, state: ViewState, key: TraceKey, *, bad_lines: Callable[[], Sequence[Problem]]
) -> Found | TraceKey:
    """Return the question of the URL, or the run's first trace of it if the run does not have this one.

    Raises `InputFault` if the run has none; `bad_lines` returns the unreadable lines that name the question,
    which are then reported.
    """
    if (existing := store.find(key)) is not None:
        return existing
    for record in store.traces_of(key.q_id, key.run_id, KEY_COLUMNS).to_dict("records"):
        return TraceKey(key.run_id, key.q_id, *(int(record[name]) for name in _VARIANT))
    missing = Problem(
        "no_such_question",
        f"question {state.q} isn't in run {key.run_id}",
        where=f"?run={key.run_id}&q={state.q}",
        fix="choose one on the Triage page; the question may be in another run",
    )
    raise InputFault(missing, *bad_lines())


def passage_notes(
    view: QuestionView, state: ViewState, chosen: Target | None, *, claims: int = 0
) -> tuple[str, ...]:
    """Return notes on what the URL names and the question, with `claims` claims, does not have."""
    name = short_id(view.trace.q_id)
    notes = []
    if state.at_claim is not None:
        if state.at_claim > claims:
            notes.append(f"at_claim {state.at_claim} is no claim of {name}")
    elif state.chunk is not None:
        if chosen is None or chosen.chunk_param != state.chunk:
            notes.append(f'chunk "{short_id(state.chunk)}" is no chunk of this workspace')
    elif state.cite is not None and (chosen is None or (chosen.kind, chosen.number) != ("cited", state.cite)):
        notes.append(f"cite {state.cite} is no citation of {name}")
    if state.stage is not None and state.stage not in {stage.name for stage in view.stages}:
        notes.append(f"stage {state.stage} is no stage of {name}")
    return tuple(f"In the address, {note}: left out." for note in notes)


def outline_notes(state: ViewState, seen: Attachment | None) -> tuple[str, ...]:
    """Return a note on an attachment that the URL outlines and the page does not have."""
    if state.see is None or seen is not None:
        return ()
    return (f'In the address, see "{short_id(state.see)}" is no attachment of this page: left out.',)


# The same question in the other runs, also while those are still being indexed.


def show_other_runs(
    store: Store,
    key: TraceKey,
    verdict: Verdict | None,
    *,
    runs: Sequence[str],
    at_work: Callable[[], bool],
) -> None:
    """Show the question in every run that has it, in the order of `runs`, each with its verdict there.

    `verdict` is that on the shown answer, which may not be in the index yet. A run without an index may have
    the question. While `at_work` returns that runs are being indexed, this part runs again for each.
    """
    if at_work():
        fragment()(_other_runs)(store, key, verdict, runs, at_work)
    else:
        _other_runs(store, key, verdict, runs)


def _other_runs(
    store: Store,
    key: TraceKey,
    verdict: Verdict | None,
    runs: Sequence[str],
    at_work: Callable[[], bool] | None = None,
) -> None:
    if at_work is not None:
        milestones = session.jobs().milestones
        seen = milestones.count
        if not at_work():
            st.rerun()  # the page without this fragment
        run_again_after(milestones, seen)
    indexed, variant = set(store.runs()), (key.paraphrase, key.seed)
    by_run = {
        run_id: row
        for run_id, traces in store.same_question(key.q_id).items()
        if (row := next((each for each in traces if (each.paraphrase, each.seed) == variant), None))
    }
    shown = [run_id for run_id in runs if run_id in by_run or run_id not in indexed]
    if len(shown) < 2:
        return
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center", key="other-runs"):
        markup.note("In other runs:", "muted", width="content")
        for run_id in shown:
            row = by_run.get(run_id)
            name = question_name(key.q_id, row.repeat) if row else question_name(key.q_id)
            if row is not None:
                judged = verdict if verdict is not None and run_id == key.run_id else row
                chip = run_chip(row.label, judged.grounded, judged.correct, judged.cause)
            else:
                chip = RunChip("…", "gray", "being indexed" if at_work else "not indexed")
            name_of_chip = markup.label(f"{chip.sign} {run_id}", limit=60)
            escaped = f":{chip.look}-badge[{name_of_chip}]"
            is_clicked = st.button(
                escaped,
                key=f"run-{run_id}",
                help=markup.label(chip.words),
                type="secondary" if run_id == key.run_id else "tertiary",
                on_click=change_view,
                kwargs={"run": run_id, "q": name, "cite": None, "chunk": None, "page": None},
            )
            if is_clicked and at_work:
                st.rerun()  # a click in a fragment runs the fragment alone
