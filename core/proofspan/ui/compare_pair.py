"""One question in two runs: what is loaded of each, and where it stands among the questions that flipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from proofspan.errors import Fault, Problem
from proofspan.services.compared_flips import FLIP_KINDS, FlipKind
from proofspan.services.spans import PageView, Target, targets_of
from proofspan.store.queries import Store
from proofspan.ui import question_load, session
from proofspan.ui.question_load import Loaded
from proofspan.ui.state import ViewState, question_name


@dataclass(frozen=True, slots=True)
class Side:
    """A question in one of the runs: its answer, and the page of the passage that is chosen.

    `loaded` is None where the run does not hold the question, or its record is lost (`problems`).
    """

    opened: session.Opened
    loaded: Loaded | None = None
    targets: tuple[Target, ...] = ()
    shown: PageView | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def run_id(self) -> str:
        """The run."""
        return self.opened.run.run_id

    @property
    def answer(self) -> str:
        """What it answered; "" where that is not there."""
        return self.loaded.view.trace.answer if self.loaded else ""

    @property
    def q(self) -> str:
        """The question; "" where that is not there."""
        return self.loaded.view.trace.q if self.loaded else ""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a question stands among those that flipped: in words, and the names of its neighbours."""

    position: str
    previous: str | None
    following: str | None


def side(opened: session.Opened, store: Store, view: ViewState) -> Side:
    """The question of the address in one run, at the citation or passage that the address names.

    A run that cites something else shows what it would show without that choice.
    """
    key = view.change(run=opened.run.run_id).key
    found = store.find(key) if key is not None else None
    if key is None or found is None:
        return Side(opened)
    try:
        loaded = question_load.question(opened, key, found.source, is_labelled=found.row["label"] is not None)
    except Fault as fault:
        return Side(opened, problems=fault.problems)
    targets = targets_of(loaded.view)
    chosen = question_load.chosen_target(loaded, targets, cite=view.cite, chunk=view.chunk)
    shown = question_load.placed(opened, chosen, targets, page=None) if chosen else None
    return Side(opened, loaded, targets, shown, loaded.problems)


def step(lists: Mapping[FlipKind, pd.DataFrame], view: ViewState) -> Step:
    """The neighbours of the open question: among those of the kind that the address names, else of both."""
    kinds = [kind for kind in FLIP_KINDS if view.filter.flip in ("", kind)]
    names = [question_name(str(q_id)) for kind in kinds for q_id in lists[kind]["q_id"]]
    what = kinds[0] if len(kinds) == 1 else "flipped"
    if view.q not in names:
        return Step(f"not among the {len(names):,} {what}", None, names[0] if names else None)
    at = names.index(view.q)
    return Step(
        f"{at + 1:,} of {len(names):,} {what}",
        names[at - 1] if at else None,
        names[at + 1] if at + 1 < len(names) else None,
    )
