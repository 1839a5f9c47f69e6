"""Labels of the logged answers on another prompt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.labelling import verdict
from proofspan.diagnosis.types import Profile
from proofspan.metrics.fusion import Ranks
from proofspan.services.whatif.lists import Lists

#: Labels that are kept, one for each prompt of a question.
_MOST_KEPT = 500_000


def prompts(lists: Lists, ranks: Ranks, rows: NDArray[np.intp]) -> list[tuple[str, ...]]:
    """Return the chunk ids of some questions' prompts, in their order."""
    chosen = ranks[rows]
    row, column = np.nonzero(chosen)
    ordered = np.lexsort((chosen[row, column], row))
    ends = np.cumsum((chosen > 0).sum(axis=1)).tolist()
    columns = column[ordered].tolist()
    starts = [0, *ends][:-1]
    return [
        tuple([lists.ids[at][each] for each in columns[start:end]])
        for at, start, end in zip(rows.tolist(), starts, ends, strict=True)
    ]


def labels(lists: Lists, ranks: Ranks, profile: Profile | None) -> list[Label | None]:
    """Return the label of each answer on its prompt, by the run's profile or another one.

    Prompts that are as logged keep their label, unless the profile is another one.
    """
    known: list[Label | None] = lists.table.column("label").to_pylist()
    corpus, by = lists.labeller.corpus, profile or lists.profile
    if corpus is None:
        return known
    changed = (ranks != lists.ranks["chunks"]).any(axis=1)
    if profile is not None and profile != lists.profile:
        changed = np.ones_like(changed)
    rows = np.flatnonzero(changed)
    kept: dict[tuple[int, tuple[str, ...]], Label | None] = lists.kept.setdefault(("labels", by), {})
    if len(kept) > _MOST_KEPT:
        kept.clear()
    logged = (ranks == lists.ranks["chunks"]).all(axis=1)
    for row, ids in zip(rows.tolist(), prompts(lists, ranks, rows), strict=True):
        key = row, ids
        if key not in kept:
            trace = lists.traces[row]
            found = verdict(trace if logged[row] else replace(trace, chunk_ids=ids), corpus, by)
            kept[key] = None if found is None else found.label
        known[row] = kept[key]
    return known


def same_sets(was: Ranks, now: Ranks) -> NDArray[np.bool_]:
    """Return for each question whether two lists hold the same candidates."""
    same: NDArray[np.bool_] = ((was > 0) == (now > 0)).all(axis=1)
    return same
