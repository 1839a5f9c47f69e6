"""The two runs of the Compare page, their numbers, and one question in both."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pandas as pd

from proofspan.contracts.records.records import TraceKey
from proofspan.errors import Fault, Problem
from proofspan.services.compare import (
    COMPARED,
    FLIP_KINDS,
    WITHOUT_GOLD,
    FlipKind,
    MetricPair,
    flip_list,
    other_run,
)
from proofspan.services.metrics.run_metrics import paired_metrics, run_metrics
from proofspan.services.page.target import Target, targets_of
from proofspan.services.page.view import PageView
from proofspan.store.files.types import Flips, Neighbours
from proofspan.store.query.filters import Filter
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.store.query.store import Store
from proofspan.ui.question import load
from proofspan.ui.question.load import Loaded
from proofspan.ui.status import notices, workspace_status
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, question_name

#: The columns that questions move in.
MOVES: tuple[Literal["correct", "cause", "label", "bucket"], ...] = ("correct", "cause", "label", "bucket")
#: Questions by what they were and what they are; None: no label, or not judged.
Transitions = Sequence[tuple[str | None, str | None, int]]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs side by side: `opened` is the newer one, `other` the one that it is compared with.

    `shown` selects the questions that are compared: by type, cohort or place. Other filters go by an answer
    and would favour one of the runs; `left_out` names those that were asked for. The page's own links begin
    with the views of `opened` and `other`.
    """

    opened: session.Opened
    other: session.Opened
    shown: Filter
    left_out: str


def with_other(opened: session.Opened) -> ViewState:
    """Return the state with a run to compare with, where there is one, and an outcome."""
    view, manifest = opened.view, opened.manifest
    vs, notes = view.vs, view.notes
    if vs is not None and manifest.run(vs) is None:
        notes += (f'There is no run "{vs}" in this workspace to compare with.',)
        vs = None
    vs = vs or other_run(manifest, opened.run.run_id)
    outcome = view.filter.outcome or (next(iter(OUTCOMES)) if manifest.gold else WITHOUT_GOLD[0])
    return replace(view.change(vs=vs, outcome=outcome, ids=view.ids, at=view.at), notes=notes)


def compared(opened: session.Opened, view: ViewState) -> Compared | None:
    """Return both runs; None where the state names no other one."""
    other = opened.manifest.run(view.vs) if view.vs is not None else None
    if other is None:
        return None
    asked = view.filter
    named = Filter(asked.run, vs=asked.vs, outcome=asked.outcome)
    shown = replace(named, type=asked.type, cohort=asked.cohort, about=asked.about)
    rest = replace(asked.without_comparison, type=(), cohort="", about=(), all_variants=False)
    flip = asked.flip if view.q is not None else ""  # which list a question was opened from
    links = replace(view, filter=replace(shown, flip=flip), ids=(), level=(), present=False)
    there = links.change(run=other.run_id, vs=None, flip="", outcome="")
    return Compared(
        opened=replace(opened, view=links),
        other=replace(opened, run=other, view=there),
        shown=shown,
        left_out=rest.where().sentence,
    )


def is_readable(both: Compared, store: Store) -> bool:
    """Return whether the other run has an index; while it is built, show the progress and wait.

    Where nothing is building it, it is built now.
    """
    run_id = both.other.run.run_id
    if store.stamp(run_id) is not None:
        return True
    if session.others_are_indexed(both.opened):

        def is_over() -> bool:
            return store.stamp(run_id) is not None or not session.others_are_indexed(both.opened)

        message = f"{run_id} is not indexed yet. It is being read; the comparison appears by itself."
        notices.wait(is_over, message, "muted", "line")
        return False
    notices.store_or_progress(both.other)
    return True


def metrics(both: Compared, store: Store) -> tuple[MetricPair, ...]:
    """Return every metric of both runs with its difference."""
    shown = replace(both.shown, outcome="")  # which says by what flips are counted

    def pairs() -> tuple[MetricPair, ...]:
        here, there = (
            run_metrics(store, both.opened.manifest, run_id, shown=replace(shown, run=run_id, vs=""))
            for run_id in (shown.run, shown.vs)
        )
        return paired_metrics(store, shown, here, there)

    return session.cached("compared metrics", (shown, *_state(both, store)), pairs, most=8)


def flip_lists(both: Compared, store: Store) -> dict[FlipKind, pd.DataFrame]:
    """Return the fixed and the regressed questions, in the order of the address."""
    shown, sort = both.shown, both.opened.view.sort
    return session.cached(
        "flip lists",
        (shown, sort, *_state(both, store)),
        lambda: {kind: flip_list(store, shown, kind, sort) for kind in FLIP_KINDS},
        most=8,
    )


def changes(both: Compared, store: Store) -> dict[str, Flips]:
    """Return how many questions were fixed and regressed by each outcome that is counted side by side."""
    shown, has_gold = both.shown, both.opened.manifest.gold is not None
    outcomes = [each for each in COMPARED if has_gold or each in WITHOUT_GOLD]
    return session.cached(
        "changes",
        (shown, has_gold, *_state(both, store)),
        lambda: {each: store.flips(replace(shown, outcome=each)) for each in outcomes},
        most=8,
    )


def moves(both: Compared, store: Store) -> Mapping[str, Transitions]:
    """Return how many questions went from which value to which, by the columns of `MOVES`."""
    shown = both.shown
    return session.cached(
        "moves",
        (shown, *_state(both, store)),
        lambda: {name: store.transitions(shown, name) for name in MOVES},
        most=8,
    )


def _state(both: Compared, store: Store) -> tuple[Hashable, ...]:
    """Return what changes when one of the runs does, or a file that is read with them."""
    runs = (both.opened.run, both.other.run)
    bundles = (workspace_status.state_of(both.opened.manifest, run.bundles) for run in runs)
    return *session.indexes_key(both.opened, store, *(run.run_id for run in runs)), *bundles


@dataclass(frozen=True, slots=True)
class Side:
    """A question in one of the runs: its answer, and the page of the chosen passage.

    `loaded` is None where the run does not have the question, or its record cannot be read (`problems`).
    `row` is its row in the index, with the verdict where claims are checked.
    """

    opened: session.Opened
    loaded: Loaded | None = None
    row: Mapping[str, object] = field(default_factory=dict)
    targets: tuple[Target, ...] = ()
    shown: PageView | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def run_id(self) -> str:
        """Return the run."""
        return self.opened.run.run_id


def side(opened: session.Opened, store: Store, view: ViewState) -> Side:
    """Load the question of the address in one run, at the citation or passage of the address.

    A run that cites something else shows its first passage.
    """
    key = view.change(run=opened.run.run_id).key
    found = store.find(key) if key is not None else None
    if key is None or found is None:
        return Side(opened)
    try:
        loaded = load.question(opened, key, found.source, is_labelled=found.row["label"] is not None)
    except Fault as fault:
        return Side(opened, problems=fault.problems)
    targets = targets_of(loaded.view)
    chosen = load.chosen_target(loaded, targets, cite=view.cite, chunk=view.chunk)
    shown = load.placed(opened, chosen, targets, page=None) if chosen else None
    return Side(opened, loaded, found.row, targets, shown, loaded.problems)


def step(lists: Mapping[FlipKind, pd.DataFrame], view: ViewState) -> tuple[Neighbours, str]:
    """Return the neighbours of the open question among the flips of the address's kind, else of both, and
    what that list is called.
    """
    kinds, keys = _flipped(lists, view)
    what = kinds[0] if len(kinds) == 1 else "flipped"
    names = [question_name(key.q_id) for key in keys]
    if view.q not in names:
        return Neighbours(None, keys[0] if keys else None, None, len(keys)), what
    at = names.index(view.q)
    previous, following = keys[at - 1] if at else None, keys[at + 1] if at + 1 < len(keys) else None
    return Neighbours(previous, following, at + 1, len(keys)), what


def key_at(lists: Mapping[FlipKind, pd.DataFrame], view: ViewState, position: int) -> TraceKey | None:
    """Return the question at a position, from 0, of that list; None past its end."""
    _, keys = _flipped(lists, view)
    return keys[position] if position < len(keys) else None


def _flipped(
    lists: Mapping[FlipKind, pd.DataFrame], view: ViewState
) -> tuple[list[FlipKind], list[TraceKey]]:
    kinds = [kind for kind in FLIP_KINDS if view.filter.flip in ("", kind)]
    return kinds, [TraceKey("", str(q_id)) for kind in kinds for q_id in lists[kind]["q_id"]]
