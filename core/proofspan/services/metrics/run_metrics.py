"""The metrics of a run with their goals, and its stored metrics pack compared with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import lowered
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault, Problem
from proofspan.evidence.bundles import Level
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Goal, Verdict, judge
from proofspan.metrics.packs import Pack, PackDifference, differences, numbers_of, read_pack
from proofspan.metrics.values import MetricValue, Tally, metric_value
from proofspan.services.bundles.report import COVERING, counts
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.workspace.open import chosen_run, goals_of
from proofspan.services.workspace.readable import unpacked
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metrics import Slice
from proofspan.store.query.store import Store
from proofspan.traces.records.gold import read_gold

BUNDLES = "bundle_coverage"


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """A run's metrics in the catalogue's order, with the goals and verdicts of those that have a goal.

    `questions` counts the headline questions, `states` all traces by logged λ state (None: none). `numbers`
    are those of a metrics pack, `pack` is the stored one, None without a readable one, and
    `differences` are the numbers that differ. `problems` are about files that could not be read.
    """

    run_id: str
    questions: int
    values: Mapping[str, MetricValue]
    goals: Mapping[str, Goal]
    verdicts: Mapping[str, Verdict]
    states: Mapping[str | None, int]
    numbers: Mapping[str, float | None]
    pack: Pack | None = None
    differences: tuple[PackDifference, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldGaps:
    """Questions without gold, and gold questions without a trace, by q_id in their files' order.

    `questions` counts the gold questions, None without a readable gold file.
    """

    questions: int | None = None
    without_gold: tuple[str, ...] = ()
    without_trace: tuple[str, ...] = ()


def run_metrics(store: Store, manifest: Manifest, run_id: str, *, shown: Filter | None = None) -> RunMetrics:
    """Return the metrics of a run's headline questions, or of those that `shown` keeps.

    The pack is that of the whole run, so it is compared only without `shown`. Raises InputFault for an
    unknown run, StoreFault if it has no index.
    """
    run = chosen_run(manifest, run_id)
    asked = shown or Filter(run_id)
    questions = store.matching(asked) if shown else sum(store.bucket_counts(asked).values())
    bundles, unread = bundle_levels(manifest, run)
    covered = Tally(0, left_out={"no_bundle": questions})
    if bundles is not None:
        covered = _coverage(store, manifest, asked, bundles)
    values = _values({**store.measure(asked), BUNDLES: covered})
    states = store.state_counts(Filter(run_id, all_variants=True))
    goals, _ = goals_of(manifest)
    chaotic = states.get("chaotic", 0)
    numbers = numbers_of(values, states)
    pack: Pack | None = None
    wrong: tuple[Problem, ...] = ()
    if run.metrics is not None and shown is None:
        try:
            pack, wrong = read_pack(artifact_path(manifest, run.metrics), file=run.metrics.path)
        except Fault as fault:
            wrong = _warnings(fault)
    return RunMetrics(
        run_id=run_id,
        questions=questions,
        values=values,
        goals=goals,
        verdicts={name: judge(goal, values[name], chaotic=chaotic) for name, goal in goals.items()},
        states=states,
        numbers=numbers,
        pack=pack,
        differences=differences(pack, numbers) if pack else (),
        problems=(*unread, *wrong),
    )


def metrics_by(store: Store, run_id: str, by: Slice) -> dict[str, dict[str, MetricValue]]:
    """Return the metrics of each slice of a run's headline questions, the largest first, without bundles."""
    return {name: _values(tallies) for name, tallies in store.measure_by(Filter(run_id), by).items()}


def bundle_levels(
    manifest: Manifest, run: Run
) -> tuple[Mapping[TraceKey, Level] | None, tuple[Problem, ...]]:
    """Return the levels of a run's stored bundles by trace, None if there are none or they cannot be read.

    Problems with reading them are warnings.
    """
    if run.bundles is None:
        return None, ()
    try:
        with unpacked(artifact_path(manifest, run.bundles)) as plain:
            return StoredBundles.of(plain, file=run.bundles.path, run_id=run.run_id).levels, ()
    except Fault as fault:
        return None, _warnings(fault)


def _warnings(fault: Fault) -> tuple[Problem, ...]:
    return tuple(replace(each, severity="warning") for each in fault.problems)


def gold_gaps(store: Store, manifest: Manifest, run_id: str) -> GoldGaps:
    """Return the questions of a run without gold, and the gold questions without a trace."""
    if manifest.gold is None:
        return GoldGaps()
    try:
        with unpacked(artifact_path(manifest, manifest.gold)) as plain:
            gold, _ = read_gold(plain, file=manifest.gold.path)
    except Fault:
        return GoldGaps()
    asked = dict.fromkeys(store.places(Filter(run_id), Sort("file"))["q_id"])
    return GoldGaps(
        len(gold),
        tuple(q_id for q_id in asked if q_id not in gold),
        tuple(q_id for q_id in gold if q_id not in asked),
    )


def _values(tallies: Mapping[str, Tally]) -> dict[str, MetricValue]:
    return {name: metric_value(METRICS[name], tallies[name]) for name in METRICS if name in tallies}


def _coverage(store: Store, manifest: Manifest, shown: Filter, bundles: Mapping[TraceKey, Level]) -> Tally:
    """Count answered questions with a stored bundle that covers them, as `proofspan bundle validate` does.

    An answered question has an answer without a refusal phrase; one without a bundle is not covered.
    """
    refusal = lowered(profile_from(manifest.triage).refusal)
    covered = answered = declined = 0
    for frame in store.rows(shown, Sort("file")):
        columns = (frame[name].tolist() for name in ("q_id", "paraphrase", "seed", "repeat", "answer"))
        for q_id, paraphrase, seed, repeat, answer in zip(*columns, strict=True):
            key = TraceKey(shown.run, q_id, paraphrase, seed, repeat)
            if counts(key, answer, is_refusal=refuses(answer.lower(), refusal)):
                answered += 1
                covered += bundles.get(key) in COVERING
            else:
                declined += 1
    return Tally(answered, float(covered), float(covered), left_out={"declined": declined})
