"""The result of each run that a list of runs names, where no large index has to be read for it."""

from __future__ import annotations

from contextlib import suppress

from proofspan.errors import Fault
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from proofspan.ui.visit import session

#: Traces of a run whose result is counted before it is opened.
MOST_TRACES = 5_000


def known_results(opened: session.Opened) -> dict[str, tuple[int, int]]:
    """Return how many questions have the gold section first, and of how many, by run id, of indexed runs.

    A larger run has them once it was shown, one without gold none.
    """
    store, kept = session.store_of(opened), session.recent("run-results", 256)
    found = {}
    for run in opened.manifest.runs:
        is_shown = run.run_id == opened.run.run_id
        with suppress(Fault):  # the page shows what is wrong with the index
            stamp = store.stamp(run.run_id)
            key = (*session.identity(opened), run.run_id, stamp, is_shown)
            counts = kept.get(key)
            if counts is None and stamp is not None:
                counts = _result(store, run.run_id, is_shown=is_shown)
                kept.put(key, counts)
            if counts and counts[1]:
                found[run.run_id] = counts
    return found


def _result(store: Store, run_id: str, *, is_shown: bool) -> tuple[int, int]:
    facts = store.run_facts(run_id)
    if facts.unread_bytes or (facts.traces > MOST_TRACES and not is_shown):
        return 0, 0
    counts = store.bucket_counts(Filter(run=run_id))
    judged = sum(count for bucket, count in counts.items() if bucket is not None)
    return counts.get("hit", 0), judged
