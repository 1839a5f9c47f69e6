"""The logged lists of the shown run and what follows from settings, cached by the state of their files."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.whatif import engine
from proofspan.services.whatif import logged as logs
from proofspan.services.whatif import sweep as sweeps
from proofspan.services.whatif.lists import Lists, load_lists
from proofspan.services.whatif.types import Logged, Settings, Sweep, Swept, WhatIf
from proofspan.services.workspace.changes import Changes
from proofspan.store.files.types import Progress
from proofspan.store.query.store import Store
from proofspan.ui.status import background
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.status.workspace_status import state_of
from proofspan.ui.visit import session

#: Runs whose lists are kept for all visits: those of 10,000 traces take some hundred megabytes.
MOST_RUNS = 2
#: Chunks of the prompt that is tried beforehand, as many as most prompts hold.
TRIED = 10
#: Up to this many questions a sweep is drawn without being asked for.
SWEPT_AT_ONCE = 2_000


@dataclass(slots=True)
class _Reading:
    """How far the lists of a run are read."""

    progress: Progress | None = None
    changes: Changes = field(default_factory=Changes)


def lists_key(opened: session.Opened, store: Store) -> tuple[Hashable, ...]:
    """Return what changes with all that the lists are read from."""
    manifest, run = opened.manifest, opened.run
    files = (manifest.gold, manifest.chunks, manifest.redirects, run.traces, run.record)
    states = (state_of(manifest, file) for file in files)
    return ("whatif", *session.indexes_key(opened, store, run.run_id), *states)


def lists(opened: session.Opened, store: Store) -> Lists | None:
    """Return the lists of the shown run; None while they are read, with a bar that says how far.

    Raises Fault where they cannot be read.
    """
    key = lists_key(opened, store)
    known = session.recent("whatif lists", MOST_RUNS)
    found: Lists | None = known.get(key)
    if found is not None:
        return found
    reading = session.cached("whatif reading", key, _Reading, most=MOST_RUNS)

    def note(step: Progress) -> None:
        reading.progress = step
        reading.changes.note()

    def read() -> Lists:
        found = load_lists(opened.manifest, opened.run.run_id, store, on_progress=note)
        # A longer prompt holds the chunks that other settings bring into it: what is known of them from here
        # on makes the first change as quick as the others.
        engine.what_if(found, Settings(prompt=TRIED))
        return found

    outcome = background.tasks().get(key, read, background.PATIENCE_S, once=True)
    if isinstance(outcome, Failed):
        raise outcome.fault
    if isinstance(outcome, Waiting):
        _reading(key, reading)
        return None
    known.put(key, outcome.value)
    return outcome.value


@fragment()
def _reading(key: Hashable, reading: _Reading) -> None:
    seen = reading.changes.count
    if background.tasks().is_done(key):
        st.rerun()
    background.rerun_when_done([key])
    run_again_after(reading.changes, seen)
    step = reading.progress
    message = f"{step.done:,} of {step.total:,} questions" if step else "starting"
    st.progress(step.share if step else 0.0, text=f"Reading the logged lists: {message}.")


def logged(key: Hashable, found: Lists) -> Logged:
    """Return what the run logs, and so what can be changed."""
    return session.cached("whatif logged", key, lambda: logs.logged(found))


def is_reranked(found: Lists) -> bool:
    """Return whether the run logs the order of a reranker."""
    return bool(found.sizes["reranked"].any())


def what_if(key: Hashable, found: Lists, settings: Settings) -> WhatIf:
    """Return what follows from settings."""
    return session.cached("whatif", (key, settings), lambda: engine.what_if(found, settings), most=24)


def sweep(
    key: Hashable,
    found: Lists,
    settings: Settings,
    swept: Swept,
    of: str,
    values: Sequence[float],
    metric: str,
) -> Sweep | None:
    """Return a metric over values of one setting; None while it is computed, with a line that says so."""
    whole = ("whatif sweep", key, settings, swept, of, tuple(values), metric)
    outcome = background.ask(whole, partial(sweeps.sweep, found, settings, swept, of, values, metric))
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed):
        raise outcome.fault
    background.hint(f"Computing {len(values)} settings …", [whole])
    return None
