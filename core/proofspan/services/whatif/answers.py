"""The logged answers on another prompt: their labels, their claims by another threshold, their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.claims.check import status_by
from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.judge import LOST, RIGHT, grounded_by, lost_cause
from proofspan.diagnosis.verdicts.types import Cause, TrailStage
from proofspan.metrics.fusion import Ranks
from proofspan.services.whatif.lists import Lists
from proofspan.services.whatif.ranking import NewLists
from proofspan.traces.records.trace_record import STAGES


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
    if not lists.labels:
        return known
    by = profile or lists.profile
    changed = (ranks != lists.ranks["chunks"]).any(axis=1)
    if profile is not None and profile != lists.profile:
        changed = np.ones_like(changed)
    rows = np.flatnonzero(changed)
    logged = (ranks == lists.ranks["chunks"]).all(axis=1)
    for row, ids in zip(rows.tolist(), prompts(lists, ranks, rows), strict=True):
        known[row] = lists.labels[row].label(lists.traces[row].chunk_ids if logged[row] else ids, by)
    return known


def same_sets(was: Ranks, now: Ranks) -> NDArray[np.bool_]:
    """Return for each question whether two lists hold the same candidates."""
    same: NDArray[np.bool_] = ((was > 0) == (now > 0)).all(axis=1)
    return same


@dataclass(frozen=True, slots=True)
class Claims:
    """The checked claims of an answer: status and support of each, and whether any has a note."""

    statuses: tuple[ClaimStatus, ...]
    supports: tuple[float, ...]
    is_noted: bool


def claims(lists: Lists) -> list[Claims | None] | None:
    """Return the checked claims of each answer, None for one without; None where none is checked."""
    if not lists.store.are_claims_checked(lists.run.run_id):
        return None
    if "claims" not in lists.kept:
        rows = lists.table.column("row").to_numpy()
        lists.kept["claims"] = [_claims(text) for text in lists.store.claims_of(lists.run.run_id, rows)]
    known: list[Claims | None] = lists.kept["claims"]
    return known


def _claims(text: str | None) -> Claims | None:
    if text is None:
        return None
    records = orjson.loads(text)
    return Claims(
        tuple([each["status"] for each in records]),
        tuple([each["support"] for each in records]),
        any(each["note"] for each in records),
    )


def by_support(found: Claims, least: float) -> tuple[ClaimStatus, ...]:
    """Return the statuses of claims with another threshold; only their support decides those it decided."""
    return tuple(
        [
            status_by(support, least) if status in _BY_SUPPORT else status
            for status, support in zip(found.statuses, found.supports, strict=True)
        ]
    )


def supported(lists: Lists, least: float) -> dict[str, Sequence[object]]:
    """Return the columns of the index that depend on the least support of a supported claim."""
    found = claims(lists)
    if found is None:
        return {}
    statuses = [None if each is None else by_support(each, least) for each in found]
    grounded = [
        None if of is None or each is None else grounded_by(of, is_noted=each.is_noted)
        for of, each in zip(statuses, found, strict=True)
    ]
    counts = {
        f"claims_{status}": [None if of is None else of.count(status) for of in statuses]
        for status in sorted(_BY_SUPPORT)
    }
    return {"grounded": grounded, **counts}


#: The statuses that support alone decides.
_BY_SUPPORT: frozenset[ClaimStatus] = frozenset(("supported", "unsupported"))


#: The stages of a trace under their names in a trail.
_STAGES_OF_TRAIL: tuple[TrailStage, ...] = ("retrieved", "fused", "reranked", "prompt")


def causes(lists: Lists, new: NewLists) -> list[Cause | None]:
    """Return the cause of each outcome with other lists, None for one that is unknown.

    It is as indexed where the lists are as logged. Where the prompt holds what the answer was made from, only
    causes that lie before the answer can change; elsewhere it is as `judge` says of a trace with another
    prompt than that of its answer.
    """
    logged: list[Cause | None] = lists.table.column("cause").to_pylist()
    correct, grounded = (lists.table.column(name).to_pylist() for name in ("correct", "grounded"))
    changed = np.any([(new.ranks[name] != lists.ranks[name]).any(axis=1) for name in new.ranks], axis=0)
    found = list(logged)
    same = is_answered(lists, new)
    for row in np.flatnonzero(changed).tolist():
        if logged[row] is None and correct[row] is None:
            continue  # no verdict
        if same[row]:
            if logged[row] in LOST:
                found[row] = _lost(lists, new, row) or logged[row]
        elif grounded[row] == "contradicted":
            found[row] = "contradicted"
        else:
            is_right = logged[row] == "none" and correct[row] in RIGHT
            found[row] = _lost(lists, new, row) or ("none" if is_right else None)
    return found


def is_answered(lists: Lists, new: NewLists) -> NDArray[np.bool_]:
    """Return for each question whether its prompt holds the very chunks that its answer was made from."""
    prompt = new.ranks["chunks"]
    same = same_sets(lists.ranks["chunks"], prompt)
    for row, chunks in lists.made_from.items():
        same[row] = {lists.ids[row][column] for column in np.flatnonzero(prompt[row]).tolist()} == chunks
    return same


def _lost(lists: Lists, new: NewLists, row: int) -> Cause | None:
    """Return which cause lies before the prompt; None where nothing was lost, or it is not known.

    It depends on the stages that hold the candidates with words of the gold passage, so that is its key.
    """
    known = lists.telling[row]
    if known is None:
        return None
    telling, columns = known
    held = tuple([tuple((new.ranks[name][row, columns] > 0).tolist()) for name in STAGES])
    key = row, held
    kept: dict[object, Cause | None] = lists.kept.setdefault("lost", {})
    if key not in kept:
        kept[key] = lost_cause(telling.trail(dict(zip(_STAGES_OF_TRAIL, held, strict=True))))
    return kept[key]
