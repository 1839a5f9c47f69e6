"""Where the Question page is: which question of the list, what lies beside it, which passage is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from proofspan.contracts.records.records import LABELS, Attachment, Label, SourceLine, TraceKey
from proofspan.errors import InputFault, Problem
from proofspan.services.page.target import Target
from proofspan.services.question.view import QuestionView
from proofspan.store.query.store import Store
from proofspan.ui.status.fragments import fragment
from proofspan.ui.visit.view_state import ViewState, change_view, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.controls import Neighbour
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording.question import Ranking, ranking_of, short_id


@dataclass(frozen=True, slots=True)
class InList:
    """A question's line in its file and its place in the list that the URL's filter makes.

    `is_labelled` is False where the index has no label for it, since the run's chunks cannot be used;
    `stored_label` is what the run's stored report says, `ranking` what the index has of the gold's ranks.
    `codes` are the rules of the contract that the index says it breaks. `position` says it in words; a
    question that the filter does not show has no neighbours.
    """

    source: SourceLine
    is_labelled: bool
    stored_label: str | None
    ranking: Ranking
    codes: tuple[str, ...]
    position: str
    previous: Neighbour | None
    following: Neighbour | None


def with_question(state: ViewState, store: Store) -> ViewState:
    """The state with a question: its own, else (where no chunk is asked for either) the first of the list."""
    if state.q is not None or state.chunk is not None:
        return state
    first = store.page(state.filter, state.sort, limit=1, offset=0)
    if first.empty:
        return state
    row = first.iloc[0]
    name = question_name(str(row["q_id"]), int(row["repeat"]))
    return state.change(q=name, p=int(row["paraphrase"]), s=int(row["seed"]))


def trace_instead(store: Store, key: TraceKey) -> TraceKey | None:
    """The first trace that the run has of the question (its headline one), where it has not this very one."""
    if store.find(key) is not None:
        return None
    rows = store.same_question(key.q_id)
    first = next(rows[rows["run_id"] == key.run_id].itertuples(), None)
    if first is None:
        return None
    paraphrase, seed, repeat = (int(str(number)) for number in (first.paraphrase, first.seed, first.repeat))
    return TraceKey(key.run_id, key.q_id, paraphrase, seed, repeat)


def find(
    store: Store, state: ViewState, key: TraceKey, *, bad_lines: Callable[[], Sequence[Problem]] = tuple
) -> InList:
    """The question of the URL. Raises `InputFault` where the run does not hold it.

    `bad_lines` looks for lines that name the question and could not be read: they are told then.
    """
    found = store.find(key)
    if found is None:
        raise InputFault(_missing(key, state), *bad_lines())
    stored = found.row["stored_label"]
    beside = store.neighbours(state.filter, state.sort, key)
    return InList(
        source=found.source,
        is_labelled=found.row["label"] is not None,
        stored_label=None if stored is None else str(stored),
        ranking=ranking_of(found.row),
        codes=_texts(found.row["codes"]),
        position=_position(beside.position, beside.total),
        previous=_neighbour(beside.previous),
        following=_neighbour(beside.next),
    )


def _texts(values: object) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, list) else ()


def _missing(key: TraceKey, state: ViewState) -> Problem:
    return Problem(
        "no_such_question",
        f"run {key.run_id} holds no question {state.q}",
        where=f"?run={key.run_id}&q={state.q}",
        fix="choose one on the Triage page; the question may be in another run only",
    )


def passage_notes(view: QuestionView, state: ViewState, chosen: Target | None) -> tuple[str, ...]:
    """What the URL asks for and the question does not have; another passage or stage is shown instead."""
    name = short_id(view.trace.q_id)
    notes = []
    if state.chunk is not None and (chosen is None or chosen.chunk_param != state.chunk):
        notes.append(
            f'In the address, chunk "{short_id(state.chunk)}" is no chunk of this workspace: left out.'
        )
    elif (
        state.chunk is None
        and state.cite is not None
        and (chosen is None or chosen.kind != "cited" or chosen.number != state.cite)
    ):
        notes.append(f"In the address, cite {state.cite} is no citation of {name}: left out.")
    if state.stage is not None and state.stage not in {stage.name for stage in view.stages}:
        notes.append(f"In the address, stage {state.stage} is none that {name} lists: left out.")
    return tuple(notes)


def outline_notes(state: ViewState, seen: Attachment | None) -> tuple[str, ...]:
    """What the URL wants outlined and the shown page does not have."""
    if state.see is None or seen is not None:
        return ()
    return (f'In the address, see "{short_id(state.see)}" is no attachment of this page: left out.',)


def other_runs(store: Store, key: TraceKey, *, runs: Sequence[str]) -> list[OtherRun]:
    """The same question in every run that holds it, in the order of `runs`; one without an index may."""
    indexed = set(store.runs())
    rows = store.same_question(key.q_id)
    kept = rows[(rows["paraphrase"] == key.paraphrase) & (rows["seed"] == key.seed)]
    found = {str(row.run_id): row for row in kept.drop_duplicates("run_id").itertuples()}
    return [
        OtherRun(
            run_id=run_id,
            label=next((label for label in LABELS if label == row.label), None) if row else None,
            q=question_name(key.q_id, int(str(row.repeat))) if row else question_name(key.q_id),
            is_indexed=run_id in indexed,
        )
        for run_id in runs
        for row in [found.get(run_id)]
        if row is not None or run_id not in indexed
    ]


def _position(position: int | None, total: int) -> str:
    return f"not among the {total:,} shown" if position is None else f"{position:,} of {total:,} shown"


def _neighbour(key: TraceKey | None) -> Neighbour | None:
    return Neighbour(question_name(key.q_id, key.repeat), key.paraphrase, key.seed) if key else None


# The same question in the other runs, also while those are still being indexed.

#: Between two looks at runs that are being indexed.
LOOK_AGAIN_SECONDS = 0.7


@dataclass(frozen=True, slots=True)
class OtherRun:
    """The same question in a run: the run's id, its label there, and the URL's name of the question.

    Whether a run without an index holds the question is not known yet.
    """

    run_id: str
    label: Label | None
    q: str
    is_indexed: bool = True


def show_other_runs(
    find: Callable[[], Sequence[OtherRun]], *, current: str, at_work: Callable[[], bool]
) -> None:
    """The same question elsewhere: a run, coloured and named by the label that it got there.

    While `at_work` says that runs are being indexed, this part looks again by itself.
    """
    if at_work():
        _runs_at_work(find, current, at_work)
    else:
        _other_runs(find(), current, at_work=False)


@fragment(run_every=LOOK_AGAIN_SECONDS)
def _runs_at_work(find: Callable[[], Sequence[OtherRun]], current: str, at_work: Callable[[], bool]) -> None:
    if not at_work():
        st.rerun()  # the page without this clock
    _other_runs(find(), current, at_work=True)


def _other_runs(runs: Sequence[OtherRun], current: str, *, at_work: bool) -> None:
    if len(runs) < 2:
        return
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center", key="other-runs"):
        markup.show(markup.text([Piece("Same question:", "muted")], role="hint"), width="content")
        for run in runs:
            is_clicked = st.button(
                _run_label(run, at_work=at_work),
                key=f"run-{run.run_id}",
                type="secondary" if run.run_id == current else "tertiary",
                on_click=change_view,
                kwargs={"run": run.run_id, "q": run.q, "cite": None, "chunk": None, "page": None},
            )
            if is_clicked and at_work:
                st.rerun()  # a click in a fragment runs the fragment alone


def _run_label(run: OtherRun, *, at_work: bool) -> str:
    """A run's id and label as a coloured badge; the same colours as everywhere."""
    without = "no label" if run.is_indexed else "being indexed" if at_work else "not indexed"
    words = markup.label(f"{run.run_id} · {run.label or without}", limit=60)
    return f":{LABEL_COLOURS[run.label]}-badge[{words}]" if run.label else words
