"""The goals of the sprint beside what the runs measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, Goal, judge, read_goals
from proofspan.metrics.values import MetricValue, Tally, metric_value
from proofspan.services.metrics.run_metrics import BUNDLES, in_order, run_metrics
from proofspan.services.sprint.types import GoalNow, Item
from proofspan.store.query.filters import Filter
from proofspan.store.query.metrics import RunSums
from proofspan.store.query.store import Store

#: Goals of the sprint plan (docs/requirements.md) in words, and the metric that we measure them by.
_IN_WORDS = {"evidence ux readiness": BUNDLES, "evidence readiness": BUNDLES}


def goals_now(
    manifest: Manifest, store: Store | None, goals: Sequence[Item], sums: Mapping[str, RunSums]
) -> tuple[GoalNow, ...]:
    """Return the goals with the number of the latest run that measures them, and the run that moved it."""
    return tuple(_now(manifest, store, item, sums) for item in goals)


def metric_of(item: Item) -> str | None:
    """Return the metric of a goal: the one that it names, else the one that its title begins with."""
    named = item.line("metric")
    return named if named in METRICS else metric_named(item.line("title"))


def metric_named(title: str) -> str | None:
    """Return the metric that a goal's title names, None if it names none."""
    return _names().get(title.strip("*: ").casefold())


@lru_cache(maxsize=1)
def _names() -> Mapping[str, str]:
    names = {
        name.casefold(): each.metric_id for each in METRICS.values() for name in (each.metric_id, each.name)
    }
    return names | _IN_WORDS


def _now(manifest: Manifest, store: Store | None, item: Item, sums: Mapping[str, RunSums]) -> GoalNow:
    metric_id = metric_of(item)
    needed, questions = item.fields.get("needed"), item.fields.get("questions")
    if metric_id is None:
        return GoalNow(item, None, needed=needed, questions=questions, why="no metric measures this goal")
    found = [] if store is None else list(_measured(manifest, store, metric_id, sums))
    if not found:
        why = "no run with an index measures it"
        return GoalNow(item, metric_id, needed=needed, questions=questions, why=why)
    run_id, value = found[-1]
    moved_by, was = _moved(found)
    goal = goal_of(item, metric_id)
    return GoalNow(
        item,
        metric_id,
        run_id=run_id,
        value=value,
        verdict=judge(goal, value) if goal is not None else None,
        needed=_needed(goal, value) if value.numerator is not None else needed,
        questions=value.denominator if value.numerator is not None else questions,
        moved_by=moved_by,
        was=was,
    )


def goal_of(item: Item, metric_id: str) -> Goal | None:
    """Return the goal's threshold, else the default one of its metric."""
    read, _ = read_goals({metric_id: item.line("threshold")}) if item.line("threshold") else ({}, ())
    return read.get(metric_id, DEFAULT_GOALS.get(metric_id))


def _measured(
    manifest: Manifest, store: Store, metric_id: str, sums: Mapping[str, RunSums]
) -> Iterator[tuple[str, MetricValue]]:
    """Yield the number of each run of the pipeline that has one, in the order of time.

    A run that was computed from another shows what could be, not what is.
    """
    for run in in_order(manifest):
        if run.run_id not in sums or run.derived_from is not None:
            continue
        if metric_id == BUNDLES:
            value = run_metrics(store, manifest, run.run_id, shown=Filter(run.run_id)).values[BUNDLES]
        else:
            tally: Tally | None = sums[run.run_id].measures.get(metric_id)
            if tally is None:
                continue
            value = metric_value(METRICS[metric_id], tally)
        if value.value is not None:
            yield run.run_id, value


def _moved(found: Sequence[tuple[str, MetricValue]]) -> tuple[str | None, MetricValue | None]:
    """Return the last run whose number differs from that before it, and the number before."""
    for (_, before), (run_id, after) in zip(reversed(found[:-1]), reversed(found[1:]), strict=True):
        if before.value != after.value:
            return run_id, before
    return None, None


def _needed(goal: Goal | None, value: MetricValue) -> int | None:
    """Return how many of the judged questions the goal needs: 26 of 37 for at least 70 %."""
    if goal is None:
        return None
    exact = Fraction(goal.passes.number) * value.denominator
    return {">=": ceil(exact), ">": floor(exact) + 1}.get(goal.passes.comparison)
