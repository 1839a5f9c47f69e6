"""The lists and features that a run logs, and its own settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from proofspan.diagnosis.claims.check import SUPPORTED
from proofspan.errors import Fault
from proofspan.metrics import fusion
from proofspan.metrics.fusion import Ranks
from proofspan.services.pinning.read import read_record
from proofspan.services.whatif.lists import Lists
from proofspan.services.whatif.ranking import FusionSettings, fused
from proofspan.services.whatif.types import Logged, LoggedList, Settings, Ties

#: The constant of a fusion that is not known, as its authors chose it, and those that are tried then.
DEFAULT_K = 60.0
_TRIED_K = (DEFAULT_K, *(float(k) for k in range(1, 201) if k != DEFAULT_K))
#: Questions that the constant is tried on.
_SAMPLE = 200
#: The end of the name of a feature that holds a rank.
RANK = "_rank"


def logged(lists: Lists) -> Logged:
    """Return what a run logs, and so what can be changed."""
    if "logged" not in lists.kept:
        lists.kept["logged"] = _logged(lists)
    known: Logged = lists.kept["logged"]
    return known


def sources_of(lists: Lists) -> Mapping[str, Ranks]:
    """Return the places in each list that can be fused, by its name.

    A feature `NAME_rank` is the place in the list NAME. Without such features each number that the first
    stage logs is a list, by falling value, unless it only repeats the entry's own score.
    """
    if "sources" not in lists.kept:
        ranks = sorted(name for name in lists.features if name.endswith(RANK) and name in lists.in_base)
        found: dict[str, Ranks] = {
            name.removesuffix(RANK): np.nan_to_num(np.clip(lists.features[name], 0, 1e9)).astype(np.int32)
            for name in ranks
        }
        if not ranks:
            for name in sorted(lists.in_base):
                feature = lists.features[name]
                known = np.isfinite(feature)
                if not _repeats_score(lists, feature):
                    ordered = fusion.order(np.where(known, feature, 0.0), known)
                    found[name] = fusion.places(ordered, known.sum(axis=1))
        lists.kept["sources"] = found
    sources: Mapping[str, Ranks] = lists.kept["sources"]
    return sources


def _repeats_score(lists: Lists, feature: np.ndarray) -> bool:
    scores = next((lists.scores[name] for name in ("retrieved", "fused") if lists.sizes[name].any()), feature)
    known = np.isfinite(feature)
    return bool((feature[known] == scores[known]).all())


def _logged(lists: Lists) -> Logged:
    sources, why = sources_of(lists), _why(lists)
    settings = _own_settings(lists)
    same = np.zeros(lists.questions, bool)
    by = fusion_of(lists, settings, settings)
    if by is not None and len(sources) > 1:
        same = _reproduced(lists, by)
    elif lists.questions and len(sources) == 1:
        (only,) = sources.values()
        same = (np.where(only > 0, only, 0) == _fused_list(lists)).all(axis=1)
    return Logged(
        lists.run.run_id,
        lists.questions,
        tuple(_described(name, ranks.astype(float), ranks > 0) for name, ranks in sources.items()),
        tuple(
            _described(name, values, np.isfinite(values))
            for name, values in sorted(lists.features.items())
            if not name.endswith(RANK)
        ),
        settings,
        int(same.sum()),
        why,
        tuple(trace.q_id for trace, is_same in zip(lists.traces, same, strict=True) if not is_same),
    )


def _described(name: str, values: np.ndarray, known: np.ndarray) -> LoggedList:
    numbers = values[known]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    counts = known.sum(axis=1)
    return LoggedList(name, int((counts > 0).sum()), int(counts.max(initial=0)), low, high)


def _why(lists: Lists) -> tuple[str, ...]:
    sources, why = sources_of(lists), []
    if not lists.questions:
        why.append(f"{lists.run.run_id} has no question.")
    elif len(sources) < 2:
        named = f"only the list {next(iter(sources))}" if sources else "no separate lists"
        why.append(
            f"Nothing can be fused: the run logs {named}. Log the rank of each candidate in each list as the "
            "features NAME_rank of `stages.retrieved`."
        )
    if lists.questions and not any(not name.endswith(RANK) for name in lists.features):
        why.append("Nothing can be reranked: the candidates log no numeric features.")
    if lists.questions and not lists.sizes["reranked"].any():
        why.append("The run logs no reranked list, so there is no reranker to leave out.")
    if lists.questions and not lists.is_judged.any():
        why.append("No question has gold, so ranking metrics cannot be computed.")
    if lists.labeller.corpus is None:
        why.append("Without the chunk file no answer has a label.")
    return tuple(why)


def _own_settings(lists: Lists) -> Settings:
    """Return the run's own settings, by its pinning record, else as its lists show them."""
    sources = sources_of(lists)
    sizes = (lists.ranks["chunks"] > 0).sum(axis=1)
    prompt = Counter(sizes[sizes > 0].tolist()).most_common(1)
    own = Settings(prompt=prompt[0][0] if prompt else None, profile=lists.profile, support=SUPPORTED)
    if len(sources) < 2:
        return own
    k, top, depth, ties = _pinned(lists)
    longest = int(lists.sizes["fused"].max(initial=0))
    depth = depth or max(int(ranks.max(initial=0)) for ranks in sources.values())
    own = replace(
        own,
        weights=tuple((name, 1.0) for name in sources),
        depth=depth,
        top=top or longest or None,
        ties=ties,
        k=k,
    )
    return own if k is not None else replace(own, k=_measured_k(lists, own))


def _pinned(lists: Lists) -> tuple[float | None, int | None, int | None, Ties]:
    """Return k, top, depth and tie-break as the run's pinning record has them."""
    try:
        record = read_record(lists.manifest, lists.run).values
    except Fault:  # `check` reports it
        record = {}
    pinned = record.get("fusion")
    stated: Mapping[str, Any] = pinned if isinstance(pinned, dict) else {}

    def number(name: str) -> float | None:
        value = stated.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    top, depth = (int(value) if (value := number(name)) and value >= 1 else None for name in ("top", "depth"))
    words = str(stated.get("tie_break", record.get("tie_break", "")))
    ties: Ties = "chunk" if "chunk" in words and "section" not in words else "section"
    k = number("k")
    return (k if k is not None and k > 0 else None), top, depth, ties


def _measured_k(lists: Lists, own: Settings) -> float | None:
    """Return the constant that gives most of the logged orders; None where none gives any."""
    if not lists.sizes["fused"].any():
        return None
    best, most = None, 0
    rows = slice(0, _SAMPLE)
    for k in _TRIED_K:
        by = fusion_of(lists, own, replace(own, k=k))
        found = 0 if by is None else int(_reproduced(lists, by, rows).sum())
        if found > most:
            best, most = k, found
            if found == len(lists.traces[rows]):
                break
    return best


def _fused_list(lists: Lists) -> Ranks:
    """Return the list that a fusion would make: the fused one, else the retrieved one."""
    first = lists.ranks["fused"]
    return np.where((first > 0).any(axis=1, keepdims=True), first, lists.ranks["retrieved"])


def _reproduced(lists: Lists, by: FusionSettings, rows: slice = slice(None)) -> np.ndarray:
    """Return for each question whether its fused list comes out as it is logged."""
    found, _, _ = fused(lists, by, sources_of(lists), rows)
    same: np.ndarray = (found == _fused_list(lists)[rows]).all(axis=1)
    return same


def fusion_of(lists: Lists, own: Settings, settings: Settings) -> FusionSettings | None:
    """Return all that the fused list is made by; None where the run logs fewer than two lists."""
    names = tuple(sources_of(lists))
    if len(names) < 2:
        return None
    given = dict(own.weights) | dict(settings.weights)
    return FusionSettings(
        names,
        settings.k if settings.k is not None else own.k if own.k is not None else DEFAULT_K,
        tuple(given.get(name, 1.0) for name in names),
        settings.depth if settings.depth is not None else own.depth,
        settings.top if settings.top is not None else own.top,
        settings.ties or own.ties or "section",
    )
