"""Compare two runs: their metrics, their pinned settings, and sentences that say which one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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
from proofspan.store.files.types import Flips
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper, open_source
from proofspan.wording import counted

#: The outcome that needs no gold questions.
WITHOUT_GOLD = "answered_ok"
#: The fewest flips, all one way, that are statistically significant.
FEWEST = flips_needed(1, 0) or 0


def other_run(manifest: Manifest, run_id: str) -> str | None:
    """Return the run to compare with by default: the baseline, else the run before it in time.

    Runs without a time, or with the same, are in the order of the manifest. None for the first run.
    """
    run = manifest.run(run_id)
    if run is None:
        return None
    if run.baseline is not None and run.baseline != run_id and manifest.run(run.baseline) is not None:
        return run.baseline
    ordered = sorted(manifest.runs, key=lambda each: each.ts or "")
    index = ordered.index(run)
    return ordered[index - 1].run_id if index else None


def verdict_sentence(flips: Flips, *, run: str, vs: str, outcome: str, has_gold: bool = True) -> str:
    """Return the conclusion of a comparison in a sentence.

    `6 fixed, 1 regressed of 37 by SectionMatch@1: p = 0.125, not statistically significant.` `has_gold` is
    whether the workspace names gold questions.
    """
    by, judged = OUTCOMES[outcome], flips.judged
    here, there = flips.left_out + flips.only_here, flips.left_out + flips.only_there
    if run == vs:
        return f"{run} is compared with itself."
    if not judged and not here and not there:
        return f"Neither {run} nor {vs} has a question."
    if not judged and not (here and there):
        return f"{vs if here else run} has no question."
    if not judged and not flips.left_out:
        return f"{run} and {vs} have no question in common: {here:,} and {there:,} questions of their own."
    if not judged and outcome != WITHOUT_GOLD and not has_gold:
        return f"Nothing can be judged by {by}: the workspace names no gold questions."
    if not judged:
        return (
            f"None of the {counted(flips.left_out, 'question')} of both runs can be judged by {by} in both."
        )
    if not flips.fixed + flips.regressed:
        unchanged = f"{flips.both:,} right in both runs, {flips.neither:,} in neither"
        return f"No flip among {counted(judged, 'question')} by {by}: {unchanged}."
    p = mcnemar(flips.fixed, flips.regressed)
    fixed, regressed = (f"{count:,}" if count else "none" for count in (flips.fixed, flips.regressed))
    if p < LEVEL:
        better = "better" if flips.fixed > flips.regressed else "worse"
        conclusion = f"statistically significant: {run} is {better}"
    else:
        conclusion = "not statistically significant"
    flipped = f"{fixed} fixed, {regressed} regressed".capitalize()
    return f"{flipped} of {judged:,} by {by}: {p_words(p)}, {conclusion}."


def needs_sentence(flips: Flips) -> str:
    """Return how many questions significance would need; "" if it is reached, or nothing can be judged."""
    judged, flipped = flips.judged, flips.fixed + flips.regressed
    if not judged or mcnemar(flips.fixed, flips.regressed) < LEVEL:
        return ""
    if judged < FEWEST or not flipped:
        few = f" {counted(judged, 'question')} cannot be enough." if judged < FEWEST else ""
        return f"At least {FEWEST} flips, all one way, are needed.{few}"
    needed = flips_needed(flips.fixed, flips.regressed)
    if needed is None:
        return "As many questions improved as got worse, so more questions like these would not help."
    needed = max(needed, flipped + 1)
    questions = ceil(judged * needed / flipped)
    return (
        f"About {questions:,} questions are needed (you have {judged:,}), "
        f"with about {needed:,} flips in these proportions (you have {flipped:,})."
    )


def scope_sentences(flips: Flips, *, run: str, vs: str, outcome: str) -> tuple[str, ...]:
    """Return which questions are compared, if those are not all questions of both runs."""
    judged, sentences = flips.judged, []
    shared = judged + flips.left_out
    alone = [
        f"{count:,} only in {name}"
        for count, name in ((flips.only_here, run), (flips.only_there, vs))
        if count
    ]
    if shared and alone:
        sentences.append(f"Compared on the {counted(shared, 'question')} of both; {', '.join(alone)}.")
    if judged and flips.left_out:
        by = OUTCOMES[outcome]
        sentences.append(
            f"{flips.left_out:,} of {shared:,} are left out: not judged by {by} in one of the runs."
        )
    return tuple(sentences)


def p_words(p: float) -> str:
    """Return `p = 0.125`, with enough digits that it never seems to be on the other side of 0.05."""
    if p < 0.001:
        return "p < 0.001"
    if p > 0.9995:
        return "p = 1"
    digits = next((n for n in (3, 4, 5) if (round(p, n) < LEVEL) == (p < LEVEL)), 6)
    return f"p = {p:.{digits}f}"


@dataclass(frozen=True, slots=True)
class MetricPair:
    """A metric in two runs: `here` in the newer one, `there` in the other; None if unknown.

    `difference` is the mean difference per question over the questions that count in both runs; None for a
    quantile, whose `gap` (newer − other) has no interval. `p` is McNemar's of a share whose questions count
    as 0 or 1.
    """

    metric: Metric
    here: MetricValue | None
    there: MetricValue | None
    difference: Mean | None = None
    gap: float | None = None
    p: float | None = None

    @property
    def is_clear(self) -> bool:
        """True if the difference is significant: by McNemar's p if there is one, else by its interval."""
        if self.p is not None:
            return self.p < LEVEL
        mean = self.difference
        return mean is not None and (mean.low > 0 or mean.high < 0)

    @property
    def is_better(self) -> bool | None:
        """True if the newer run is better; None if that is unknown, or neither direction is better."""
        change = self.difference.mean if self.difference is not None else self.gap
        if not change or self.metric.better is None:
            return None
        return (change > 0) == (self.metric.better == "higher")


def metric_pairs(
    here: Mapping[str, MetricValue],
    there: Mapping[str, MetricValue],
    paired: Callable[[str], np.ndarray],
) -> tuple[MetricPair, ...]:
    """Pair the metrics that one of the runs has, in the order of the catalogue.

    `paired` returns the differences of a metric, newer − other, over the questions that count in both.
    """
    pairs = []
    for metric_id, metric in METRICS.items():
        now, then = here.get(metric_id), there.get(metric_id)
        if not any(value is not None and value.denominator for value in (now, then)):
            continue
        gap, difference, p = None, None, None
        if now is not None and then is not None and now.value is not None and then.value is not None:
            if metric.kind == "quantile":
                gap = now.value - then.value
            else:
                differences = paired(metric_id)
                known = differences[np.isfinite(differences)]
                difference = mean_difference(known.tolist())
                if metric.kind == "share" and len(known) and np.isin(known, (-1, 0, 1)).all():
                    p = mcnemar(int((known > 0).sum()), int((known < 0).sum()))
        pairs.append(MetricPair(metric, now, then, difference, gap, p))
    return tuple(pairs)


#: The largest record that is read, in bytes, and the depth below which parts are compared as a whole.
MOST_BYTES = 4 * 1024 * 1024
MOST_DEEP = 12
#: Keys that differ between any two runs.
_OWN = frozenset({"run_id", "ts"})
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class PinDifference:
    """A key with different values as text: `was` in the older run, `now` in the newer; None if not pinned."""

    key: str
    was: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Pins:
    """Pinned settings of two runs: the keys that differ and that agree; `problems` about their records."""

    differing: tuple[PinDifference, ...]
    same: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def compared_pins(manifest: Manifest, was: Run, now: Run) -> Pins:
    """Compare the pinned settings of two runs, those in their records included."""
    problems: list[Problem] = []
    trees: list[dict[str, Any]] = []
    for run in (was, now):
        tree = {key: value for key, value in run.pinned.items() if key != "record"}
        try:
            tree |= {key: value for key, value in read_record(manifest, run).items() if key not in _OWN}
        except Fault as fault:
            problems += fault.problems
        trees.append(tree)
    return replace(pin_differences(*trees), problems=tuple(problems))


def pin_differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> Pins:
    """Compare two trees of values; a part that agrees is named once, at its top.

    Values agree if their JSON does: 1 is not 1.0 and not true.
    """
    differing: list[PinDifference] = []
    same: list[str] = []
    for key, then, here in _leaves("", was, now, 0):
        if then is not _ABSENT and here is not _ABSENT and _json(then) == _json(here):
            same.append(key)
        else:
            differing.append(PinDifference(key, *(None if v is _ABSENT else _words(v) for v in (then, here))))
    return Pins(tuple(differing), tuple(same))


def read_record(manifest: Manifest, run: Run) -> Mapping[str, Any]:
    """Return the pinning record of a run, empty if it names none. Raises Fault if it cannot be read."""
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
        raise _unusable(run, "it is not a JSON object")
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


def _leaves(key: str, was: Any, now: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield the highest keys below which all agree, and the lowest keys that differ."""
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
