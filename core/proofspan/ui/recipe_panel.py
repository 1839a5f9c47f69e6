"""The evaluation recipe as a list: each step with what is done of it, and the way to what is missing."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from proofspan.contracts.records import GoldQuestion
from proofspan.errors import Fault
from proofspan.services.measuring import RunMetrics
from proofspan.services.recipe import Done, Step, run_recipe
from proofspan.services.stability import Stability
from proofspan.store.queries import Store
from proofspan.traces.chunks import Places, place_of
from proofspan.ui import safe, session
from proofspan.ui.safe import Kind, Piece

_MARKS: Mapping[Done, tuple[str, Kind]] = {
    "done": ("✓ done", "ok"),
    "missing": ("to do", "refusal_suspect"),
    "waiting": ("waits", "no-label"),
}


def show_recipe(opened: session.Opened, store: Store, metrics: RunMetrics, stability: Stability) -> None:
    """The five steps of the shown run, by its metrics and its stability."""
    gold = _gold(opened)
    steps = run_recipe(
        store,
        metrics,
        stability,
        gold=gold,
        places=_places(opened, gold),
        corpus=[name for (_, name), each in session.sections_or_none(opened).items() if each.has_chunks],
    )
    done = sum(step.done == "done" for step in steps)
    head = [Piece("Evaluation recipe ", "strong"), Piece(f"{done:,} of {len(steps):,} steps done", "muted")]
    safe.show(safe.text(head, role="line"))
    with st.container(key="recipe", gap="xsmall"):
        for number, step in enumerate(steps, start=1):
            _step(number, step, opened)


def _step(number: int, step: Step, opened: session.Opened) -> None:
    mark, kind = _MARKS[step.done]
    safe.show(
        safe.text(
            [
                Piece(f"{number} ", "muted"),
                Piece(step.title, "strong"),
                Piece(mark, kind),
                Piece(step.said),
            ],
            role="line",
        )
    )
    if not step.ways:
        return
    with st.container(horizontal=True, gap="xxsmall", key=f"recipe-ways-{number:d}"):
        for way in step.ways:
            shown = opened.view.without_filter().as_list().change(**way.shows)
            st.page_link(
                "pages/triage.py",
                label=safe.label(way.words),
                query_params=shown.params(),
                width="content",
            )


def _gold(opened: session.Opened) -> Mapping[str, GoldQuestion]:
    try:
        return session.gold(opened)[0]
    except Fault:  # a lost gold file is among the run's own problems
        return {}


def _places(opened: session.Opened, gold: Mapping[str, GoldQuestion]) -> Places:
    """Where the chunks lie that gold questions name."""
    try:
        chunks = session.chunks(opened)[0]
    except Fault:  # so is a lost chunk file
        return {}
    named = (chunk for question in gold.values() for chunk in question.chunks)
    return {chunk: place_of(chunks[chunk]) for chunk in named if chunk in chunks}
