"""The one setting that would move a goal that a run fails most, as What-if computes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from proofspan.errors import Fault
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Goal, judge
from proofspan.metrics.statistics import holm, paired_p
from proofspan.metrics.values import counted_in_words, number_in_words
from proofspan.services.markdown_text import one_line
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.release import ReleaseVerdict
from proofspan.services.whatif.engine import SHOWN, Measured, measured
from proofspan.services.whatif.lists import Lists, load_lists
from proofspan.services.whatif.logged import logged
from proofspan.services.whatif.params import params_of
from proofspan.services.whatif.types import Settings
from proofspan.store.query.store import Store

#: Runs of more questions are not tried, as each setting ranks all of them again.
MOST_QUESTIONS = 2_000
#: The values that are tried of RRF's k, and of the weight of a list that is fused.
K_TRIED, WEIGHTS_TRIED = (1.0, 10.0, 30.0, 100.0), (0.0, 0.5, 2.0)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A setting that What-if shows to help with a failing goal; `params` are its part of an address there."""

    sentence: str
    params: tuple[tuple[str, str], ...]


def suggestion(store: Store, manifest: Manifest, verdict: ReleaseVerdict) -> Suggestion | None:
    """Return the best single setting for the first ranking goal that the run fails and one helps with.

    It meets the goal, or is better by more than chance allows for that many settings (Holm), and no ranking
    goal that the run meets would fail with it. None without one, for more than `MOST_QUESTIONS` questions,
    and where the lists cannot be read.
    """
    found = run_metrics(store, manifest, verdict.run_id)
    goals = {name: goal for name, goal in found.goals.items() if _is_ranking(name)}
    failing = [each.name for each in verdict.checks if each.status == "fail" and each.name in goals]
    if not failing or verdict.questions > MOST_QUESTIONS:
        return None
    try:
        lists = load_lists(manifest, verdict.run_id, store)
        return next(filter(None, (_best(lists, name, goals) for name in failing)), None)
    except Fault:
        return None


def _is_ranking(name: str) -> bool:
    return name in SHOWN and METRICS[name].group == "ranking"


def _best(lists: Lists, metric_id: str, goals: Mapping[str, Goal]) -> Suggestion | None:
    metric, goal = METRICS[metric_id], goals[metric_id]
    tried = [(words, settings, measured(lists, settings, metric_id)) for words, settings in _tried(lists)]
    clear = holm([_p(each) for *_, each in tried])
    kept = {name for name in goals if _meets(lists, Settings(), name, goals[name])}
    good: list[tuple[bool, float, bool, str, Settings, Measured]] = []
    for (words, settings, each), is_clear in zip(tried, clear, strict=True):
        is_met = judge(goal, each.here).status == "pass"
        gain = each.difference.mean if each.difference is not None else 0.0
        gain = gain if metric.better == "higher" else -gain
        if gain > 0 and (is_met or is_clear):
            good.append((is_met, gain, is_clear, words, settings, each))
    for is_met, _, is_clear, words, settings, each in sorted(good, key=lambda one: one[:2], reverse=True):
        if not all(_meets(lists, settings, name, goals[name]) for name in kept):
            continue
        reaches = "meets its goal" if is_met else "still fails"
        chance = "more than chance" if is_clear else "within chance"
        number = f"{counted_in_words(each.here)}, {number_in_words(metric, each.here.value)}"
        sentence = (
            f"with {words} {metric.name} would be {number}: {reaches}, {chance}, "
            f"the best of {len(tried)} settings tried."
        )
        params = params_of(settings).items()
        return Suggestion(sentence, tuple((name, text) for name, texts in params for text in texts))
    return None


def _meets(lists: Lists, settings: Settings, name: str, goal: Goal) -> bool:
    return judge(goal, measured(lists, settings, name).here).status == "pass"


def _p(each: Measured) -> float:
    return paired_p(each.difference, each.differences) if each.p is None else each.p


def _tried(lists: Lists) -> Iterator[tuple[str, Settings]]:
    """Yield single settings in words. Lists are fused again only where that gives the logged order."""
    own = logged(lists)
    if len(own.lists) > 1 and own.reproduced == own.questions:
        for k in K_TRIED:
            if k != own.settings.k:
                yield f"RRF k {k:g}", Settings(k=k)
        for each in own.lists:
            for weight in WEIGHTS_TRIED:
                if weight != dict(own.settings.weights).get(each.name):
                    settings = Settings(weights=((each.name, weight),))
                    yield f"weight {weight:g} of {one_line(each.name, cut=30)}", settings
    for each in own.features:
        yield f"the order of the score {one_line(each.name, cut=30)}", Settings(rerank=((each.name, 1.0),))
    if lists.sizes["reranked"].any():
        yield "the reranker off", Settings(is_unranked=True)
