"""A metric over the values of one setting, each against the logged run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from proofspan.metrics.statistics import holm, paired_p
from proofspan.services.whatif.engine import SHOWN, measured, usable
from proofspan.services.whatif.lists import Lists
from proofspan.services.whatif.logged import logged
from proofspan.services.whatif.types import Settings, Sweep, SweepPoint, Swept, Weights


def sweep(
    lists: Lists, settings: Settings, swept: Swept, name: str, values: Sequence[float], metric_id: str
) -> Sweep:
    """Return a metric at each value of a setting, the others being `settings`.

    `name` is the list or feature of a weight, else "". A difference is clear if it is larger than chance
    allows for the values that are tried (Holm), by McNemar's test of a share, else by the paired
    differences. KeyError for a metric that a what-if does not show.
    """
    if metric_id not in SHOWN:
        raise KeyError(metric_id)
    points: list[SweepPoint] = []
    tried: list[tuple[int, float]] = []
    for place, value in enumerate(values):
        used, _ = usable(lists, with_value(settings, swept, name, value))
        found = measured(lists, used, metric_id)
        is_own = is_logged(lists, settings, swept, name, value)
        if not is_own:
            tried.append(
                (place, paired_p(found.difference, found.differences) if found.p is None else found.p)
            )
        points.append(SweepPoint(value, found.here, found.difference, found.p, False, is_own))
    clear = holm([p for _, p in tried])
    for (place, _), is_clear in zip(tried, clear, strict=True):
        points[place] = replace(points[place], is_clear=is_clear)
    return Sweep(swept, name, metric_id, settings, tuple(points))


def with_value(settings: Settings, swept: Swept, name: str, value: float) -> Settings:
    """Return settings with one of them changed."""
    if swept == "weight":
        return replace(settings, weights=_with(settings.weights, name, value))
    if swept == "rerank":
        return replace(settings, rerank=_with(settings.rerank, name, value), is_unranked=False)
    given: dict[str, Any] = {swept: value if swept in ("k", "support") else int(value)}
    return replace(settings, **given)


def _with(weights: Weights, name: str, value: float) -> Weights:
    return tuple((dict(weights) | {name: value}).items())


def is_logged(lists: Lists, settings: Settings, swept: Swept, name: str, value: float) -> bool:
    """Return whether a value of the swept setting is the logged run itself."""
    own = logged(lists).settings
    if swept == "weight":
        others = tuple(each for each in settings.weights if each[0] != name)
        return replace(settings, weights=others) == Settings() and dict(own.weights).get(name) == value
    if swept == "rerank":
        return False
    without: dict[str, Any] = {swept: None}
    return replace(settings, **without) == Settings() and getattr(own, swept) == value
