"""Is the one run better than the other? What is compared with what, and the sentences that say how it ends.

Everything here is counted elsewhere (`proofspan.store`) and told here: a page and a command say the same
words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import orjson

from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.statistics import LEVEL, Mean, flips_needed, mcnemar, mean_difference
from proofspan.metrics.values import MetricValue
from proofspan.store.query.comparison import Flips
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper, open_source

#: The one that needs no gold.
WITHOUT_GOLD = "answered_ok"
#: So few flips are evidence, if all of them go one way.
FEWEST = flips_needed(1, 0) or 0


def other_run(manifest: Manifest, run_id: str) -> str | None:
    """What a run is compared with where nobody says: its baseline, else the run before it in time.

    Runs of the same time, or without one, follow each other as the manifest lists them. None for the first.
    """
    run = manifest.run(run_id)
    if run is None:
        return None
    if run.baseline is not None and run.baseline != run_id and manifest.run(run.baseline) is not None:
        return run.baseline
    ordered = sorted(manifest.runs, key=lambda each: each.ts or "")  # stable: as listed
    place = ordered.index(run)
    return ordered[place - 1].run_id if place else None


def verdict_sentence(flips: Flips, *, run: str, vs: str, outcome: str, has_gold: bool = True) -> str:
    """The sentence that decides: `6 fixed, 1 regressed of 37 by SectionMatch@1: p = 0.125, not yet evidence.`

    `has_gold` says whether the workspace names gold questions at all.
    """
    by, judged = OUTCOMES[outcome], _judged(flips)
    if run == vs:
        return f"{run} is compared with itself, so nothing can differ."
    if not judged:
        is_gold_missing = outcome != WITHOUT_GOLD and not has_gold
        return _nothing_judged(flips, run=run, vs=vs, by=by, is_gold_missing=is_gold_missing)
    if not flips.fixed + flips.regressed:
        stay = f"{flips.both:,} right in both runs, {flips.neither:,} in neither"
        return f"No flip among {_questions(judged)} by {by}: {stay}."
    p = mcnemar(flips.fixed, flips.regressed)
    flipped = f"{_or_none(flips.fixed)} fixed, {_or_none(flips.regressed)} regressed"
    told = f"{flipped} of {judged:,} by {by}: {p_words(p)}, {_conclusion(flips, p, run)}."
    return told[:1].upper() + told[1:]


def needs_sentence(flips: Flips) -> str:
    """How many flips and questions evidence would take; "" where it is there, or nothing can be judged."""
    judged, flipped = _judged(flips), flips.fixed + flips.regressed
    if not judged or mcnemar(flips.fixed, flips.regressed) < LEVEL:
        return ""
    if judged < FEWEST:
        return f"{_questions(judged)} cannot tell: evidence takes {FEWEST} flips or more, all one way."
    if not flipped:
        return f"Evidence takes {FEWEST} flips or more, all one way."
    needed = flips_needed(flips.fixed, flips.regressed)
    if needed is None:
        return "As many for the better as for the worse: more questions like these would not tell either."
    needed = max(needed, flipped + 1)
    questions = ceil(judged * needed / flipped)
    return (
        f"In these shares evidence takes about {needed:,} flips (here {flipped:,}), "
        f"so about {questions:,} questions like these (here {judged:,})."
    )


def scope_sentences(flips: Flips, *, run: str, vs: str, outcome: str) -> tuple[str, ...]:
    """Which questions are compared, where those are not all questions of both runs."""
    judged = _judged(flips)
    shared, said = judged + flips.left_out, []
    counts = ((flips.only_here, run), (flips.only_there, vs))
    alone = [f"{count:,} only in {name}" for count, name in counts if count]
    if shared and alone:
        said.append(f"Compared on the {_questions(shared)} of both; {', '.join(alone)}.")
    if judged and flips.left_out:
        by = OUTCOMES[outcome]
        said.append(
            f"{flips.left_out:,} of {shared:,} cannot be judged by {by} in one of the runs: left out."
        )
    return tuple(said)


def p_words(p: float) -> str:
    """`p = 0.125`; so many digits that it never reads as if it lay on the other side of 0.05."""
    if p < 0.001:
        return "p < 0.001"
    if p > 0.9995:
        return "p = 1"
    digits = next((n for n in (3, 4, 5) if (round(p, n) < LEVEL) == (p < LEVEL)), 6)
    return f"p = {p:.{digits}f}"


def _judged(flips: Flips) -> int:
    return flips.fixed + flips.regressed + flips.both + flips.neither


def _conclusion(flips: Flips, p: float, run: str) -> str:
    if p < LEVEL:
        return f"evidence that {run} is {'better' if flips.fixed > flips.regressed else 'worse'}"
    return "no sign of a difference" if flips.fixed == flips.regressed else "not yet evidence"


def _nothing_judged(flips: Flips, *, run: str, vs: str, by: str, is_gold_missing: bool) -> str:
    """Why there is nothing to decide."""
    here, there = flips.left_out + flips.only_here, flips.left_out + flips.only_there
    if not here or not there:
        empty = (
            f"Neither {run} nor {vs} holds" if not here and not there else f"{vs if here else run} holds no"
        )
        return f"{empty} a question." if not here and not there else f"{empty} question."
    if not flips.left_out:
        return f"{run} and {vs} have no question in common: {here:,} and {there:,} questions of their own."
    if is_gold_missing:
        return f"Nothing can be judged by {by}: the workspace names no gold questions."
    return f"None of the {_questions(flips.left_out)} of both runs can be judged by {by} in both."


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}"


def _or_none(count: int) -> str:
    return f"{count:,}" if count else "none"


# The metrics of two runs side by side, each with the difference and how sure it is.


@dataclass(frozen=True, slots=True)
class MetricPair:
    """One metric in both runs: `here` in the newer one, `there` in the other; None where it is not known.

    `difference` is the mean of the differences question by question, over the questions that count in both
    runs; None for a quantile, whose `gap` (newer − other) has no interval. `p` is McNemar's of a share whose
    questions count as 0 or 1.
    """

    metric: Metric
    here: MetricValue | None
    there: MetricValue | None
    difference: Mean | None = None
    gap: float | None = None
    p: float | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the difference is evidence: by McNemar's p where there is one, else by its interval."""
        if self.p is not None:
            return self.p < LEVEL
        mean = self.difference
        return mean is not None and (mean.low > 0 or mean.high < 0)

    @property
    def is_better(self) -> bool | None:
        """Whether the newer run does better; None where nothing says so, or neither way is better."""
        change = self.difference.mean if self.difference is not None else self.gap
        if not change or self.metric.better is None:
            return None
        return (change > 0) == (self.metric.better == "higher")


def metric_pairs(
    here: Mapping[str, MetricValue],
    there: Mapping[str, MetricValue],
    paired: Callable[[str], np.ndarray],
) -> tuple[MetricPair, ...]:
    """Every metric that one of the runs has, in the order of the catalogue.

    `paired` gives the differences of a metric, newer − other, over the questions that count in both.
    """
    both = [(metric, here.get(metric_id), there.get(metric_id)) for metric_id, metric in METRICS.items()]
    return tuple(
        _pair(metric, now, then, paired)
        for metric, now, then in both
        if any(value is not None and value.denominator for value in (now, then))
    )


def _pair(
    metric: Metric,
    now: MetricValue | None,
    then: MetricValue | None,
    paired: Callable[[str], np.ndarray],
) -> MetricPair:
    if now is None or then is None or now.value is None or then.value is None:
        return MetricPair(metric, now, then)
    if metric.kind == "quantile":
        return MetricPair(metric, now, then, gap=now.value - then.value)
    differences = paired(metric.metric_id)
    known = differences[np.isfinite(differences)]
    return MetricPair(metric, now, then, mean_difference(known.tolist()), p=_p(metric, known))


def _p(metric: Metric, differences: np.ndarray) -> float | None:
    """Whether a share flips more one way than the other; None where questions count as more than 0 or 1."""
    if metric.kind != "share" or not len(differences) or not np.isin(differences, (-1, 0, 1)).all():
        return None
    return mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))


# What was pinned for two runs, and where it differs: the first place to look for why one is better.

#: The largest record that is read, in bytes, and how deep it is looked into: deeper parts compare whole.
MOST_BYTES = 4 * 1024 * 1024
MOST_DEEP = 12
#: What names the run itself is different in any two.
_OWN = frozenset({"run_id", "ts"})
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class PinDifference:
    """A key whose value differs: `was` in the older run, `now` in the newer, as text; None: not pinned."""

    key: str
    was: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Pins:
    """What differs, key by key, and the names of what is the same. `problems`: records that are lost."""

    differing: tuple[PinDifference, ...]
    same: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def compared_pins(manifest: Manifest, was: Run, now: Run) -> Pins:
    """The manifest's `pinned` of both runs, each with the record that it names."""
    problems: list[Problem] = []
    then, here = ({**_own_pins(run), **_record(manifest, run, problems)} for run in (was, now))
    return pin_differences(then, here, problems=tuple(problems))


def pin_differences(
    was: Mapping[str, Any], now: Mapping[str, Any], *, problems: tuple[Problem, ...] = ()
) -> Pins:
    """Two trees of values, keys sorted; a part that is the same is named once, at its top.

    Values are the same where their JSON is: 1 is not 1.0 and not true.
    """
    differing: list[PinDifference] = []
    same: list[str] = []
    for key, then, here in _leaves("", was, now, 0):
        if then is not _ABSENT and here is not _ABSENT and _json(then) == _json(here):
            same.append(key)
        else:
            differing.append(PinDifference(key, *(None if v is _ABSENT else _words(v) for v in (then, here))))
    return Pins(tuple(differing), tuple(same), problems)


def read_record(manifest: Manifest, run: Run) -> Mapping[str, Any]:
    """The pinning record of a run, empty where it names none. Fault where it cannot be read."""
    if run.record is None:
        return {}
    with open_source(artifact_path(manifest, run.record)) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _unusable(run, f"it is larger than {MOST_BYTES:,} bytes")
    try:
        known = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _unusable(run, f"it is not valid JSON: {error}") from error
    if not isinstance(known, dict):
        raise _unusable(run, "it is no JSON object")
    if is_deeper(known, MAX_DEPTH):
        raise _unusable(run, f"it is nested more than {MAX_DEPTH} deep")
    return known


def _unusable(run: Run, reason: str) -> InputFault:
    return InputFault.of(
        "record_unusable",
        f"the pinning record of {run.run_id} cannot be used: {reason}",
        where=run.record.path if run.record else "",
        fix="write one JSON object there, or take `record` out of the run's `pinned`",
    )


def _own_pins(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.pinned.items() if key != "record"}


def _record(manifest: Manifest, run: Run, problems: list[Problem]) -> dict[str, Any]:
    try:
        return {key: value for key, value in read_record(manifest, run).items() if key not in _OWN}
    except Fault as fault:
        problems.extend(fault.problems)
        return {}


def _leaves(key: str, was: Any, now: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """The highest keys below which nothing differs, and the lowest of what does."""
    trees = [value for value in (was, now) if value is not _ABSENT]
    is_tree = all(isinstance(value, Mapping) for value in trees) and depth < MOST_DEEP
    is_same = len(trees) == 2 and bool(key) and _json(was) == _json(now)
    if is_same or not is_tree or not any(trees):
        if key:
            yield key, was, now
        return
    for name in sorted({name for tree in trees for name in tree}):
        then, here = (_ABSENT if tree is _ABSENT else tree.get(name, _ABSENT) for tree in (was, now))
        yield from _leaves(f"{key}.{name}" if key else name, then, here, depth + 1)


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else _json(value).decode("utf-8", "replace")
