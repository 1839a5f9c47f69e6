"""The metrics of a run with their goals and its stored metrics pack, and those of all runs over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proofspan.contracts.records.records import LABELS, Label, TraceKey
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import lowered
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Goal, Verdict, judge
from proofspan.metrics.packs import (
    QUESTIONS,
    Base,
    Basis,
    Measured,
    Pack,
    PackDifference,
    differences,
    measured,
    read_pack,
)
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import MetricValue, Tally, metric_value
from proofspan.services.bundles.report import counts
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.compare import MetricPair, metric_pairs, other_run
from proofspan.services.workspace.open import chosen_run, goals_of
from proofspan.services.workspace.readable import unpacked
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MEASURES
from proofspan.store.query.metrics import Slice
from proofspan.store.query.store import Store
from proofspan.traces.records.gold import read_gold

BUNDLES = "bundle_coverage"


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """A run's metrics in the catalogue's order, with the goals and verdicts of those that have a goal.

    `questions` counts the headline questions, `states` all traces by logged λ state (None: none). `numbers`
    are those of a metrics pack with their `bases`, `pack` is the stored one, None without a readable one, and
    `differences` are the numbers that differ. `problems` are about files that could not be read.
    """

    run_id: str
    questions: int
    values: Mapping[str, MetricValue]
    goals: Mapping[str, Goal]
    verdicts: Mapping[str, Verdict]
    states: Mapping[str | None, int]
    numbers: Mapping[str, float | None]
    bases: Mapping[str, Base] = field(default_factory=dict)
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
    bundles, unread = stored_bundles(manifest, run)
    covered = Tally(0, left_out={"no_bundle": questions})
    if bundles is not None:
        covered = _coverage(store, manifest, asked, bundles)
    values = _values({**store.measure(asked), BUNDLES: covered})
    states = store.state_counts(Filter(run_id, all_variants=True))
    goals, _ = goals_of(manifest)
    chaotic = states.get("chaotic", 0)
    counted: dict[Basis, Measured] = {QUESTIONS: measured(values, store.state_counts(asked))}
    pack: Pack | None = None
    wrong: tuple[Problem, ...] = ()
    if run.metrics is not None and shown is None:
        try:
            path = artifact_path(manifest, run.metrics)
            with unpacked(path, fix_encoding=run.metrics.fix_encoding) as plain:
                pack, wrong = read_pack(plain, file=run.metrics.path)
        except Fault as fault:
            wrong = _warnings(fault)
    if pack is not None and "traces" in pack.bases:
        counted["traces"] = measured(_values(store.measure_traces(run_id)), states, "traces")
    return RunMetrics(
        run_id=run_id,
        questions=questions,
        values=values,
        goals=goals,
        verdicts={name: judge(goal, values[name], chaotic=chaotic) for name, goal in goals.items()},
        states=states,
        numbers=counted[QUESTIONS].numbers,
        bases=counted[QUESTIONS].bases,
        pack=pack,
        differences=differences(pack, counted) if pack else (),
        problems=(*unread, *wrong),
    )


def paired_metrics(
    store: Store, shown: Filter, here: RunMetrics, there: RunMetrics
) -> tuple[MetricPair, ...]:
    """Return every metric of two runs with its difference, paired where both runs have the question.

    `shown` names both runs and the questions that are compared. All pages and commands show these.
    """
    return metric_pairs(
        here.values,
        there.values,
        lambda names: store.paired(shown, [each for each in names if each in MEASURES]),
    )


def metrics_by(store: Store, run_id: str, by: Slice) -> dict[str, dict[str, MetricValue]]:
    """Return the metrics of each slice of a run's headline questions, the largest first, without bundles."""
    return {name: _values(tallies) for name, tallies in store.measure_by(Filter(run_id), by).items()}


def stored_bundles(manifest: Manifest, run: Run) -> tuple[StoredBundles | None, tuple[Problem, ...]]:
    """Return a run's stored bundles, None if there are none or they cannot be read.

    Problems with reading them are warnings.
    """
    if run.bundles is None:
        return None, ()
    try:
        with unpacked(artifact_path(manifest, run.bundles)) as plain:
            return StoredBundles.of(plain, file=run.bundles.path, run_id=run.run_id), ()
    except Fault as fault:
        return None, _warnings(fault)


def _warnings(fault: Fault) -> tuple[Problem, ...]:
    return tuple(replace(each, severity="warning") for each in fault.problems)


def gold_gaps(store: Store, manifest: Manifest, run_id: str) -> GoldGaps:
    """Return the questions of a run without gold, and the gold questions without a trace."""
    if manifest.gold is None:
        return GoldGaps()
    try:
        path = artifact_path(manifest, manifest.gold)
        with unpacked(path, fix_encoding=manifest.gold.fix_encoding) as plain:
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


def _coverage(store: Store, manifest: Manifest, shown: Filter, bundles: StoredBundles) -> Tally:
    """Count answered questions whose stored bundle cites a page of one of the workspace's documents.

    An answered question has an answer without a refusal phrase; one without a bundle is not covered.
    """
    refusal = lowered(profile_from(manifest.triage).refusal)
    documents = {document.doc_id for document in manifest.documents}
    covered = answered = declined = 0
    for frame in store.rows(shown, Sort("file")):
        columns = (frame[name].tolist() for name in ("q_id", "paraphrase", "seed", "repeat", "answer"))
        for q_id, paraphrase, seed, repeat, answer in zip(*columns, strict=True):
            key = TraceKey(shown.run, q_id, paraphrase, seed, repeat)
            if counts(key, answer, is_refusal=refuses(answer.lower(), refusal)):
                answered += 1
                covered += bundles.cited.get(key) in documents
            else:
                declined += 1
    return Tally(answered, float(covered), float(covered), left_out={"declined": declined})


#: The shares at the top of the page.
HEADLINES = ("correct_answers", "section_match_at_1", "gt_in_top_20", "citation_match")


@dataclass(frozen=True, slots=True)
class RunTrend:
    """A run's metrics, and its questions by label, bucket and cause, with None for those without.

    `causes` is empty while claims are not checked. `refusals` counts the judged questions by (refused?, gold
    in the top 20?).
    """

    run: Run
    measured: RunMetrics
    labels: Mapping[Label | None, int]
    buckets: Mapping[Bucket | None, int]
    causes: Mapping[str, int]
    refusals: Mapping[tuple[bool, bool], int]

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.run_id

    @property
    def questions(self) -> int:
        """The number of its questions."""
        return sum(self.labels.values())

    def value(self, metric_id: str) -> MetricValue | None:
        """Return a metric's number, None if nothing is counted for it."""
        value = self.measured.values.get(metric_id)
        return value if value is not None and value.value is not None else None


@dataclass(frozen=True, slots=True)
class Trends:
    """The indexed runs, oldest first, with the index of the shown one, and the one that it is compared with.

    `missing` are the runs without an index.
    """

    runs: tuple[RunTrend, ...]
    shown: int
    other: RunTrend | None = None
    missing: tuple[str, ...] = ()

    @property
    def current(self) -> RunTrend:
        """The shown run."""
        return self.runs[self.shown]


def in_order(manifest: Manifest) -> tuple[Run, ...]:
    """Sort the runs by time; those without one, or with the same, keep the manifest's order."""
    return tuple(sorted(manifest.runs, key=lambda run: run.ts or ""))


def run_trend(store: Store, manifest: Manifest, run: Run) -> RunTrend:
    """Read a run's metrics and counts. Raises StoreFault if it has no index."""
    shown, measured = Filter(run=run.run_id), run_metrics(store, manifest, run.run_id)
    labels: dict[Label | None, int] = {label: measured.values[label].numerator or 0 for label in LABELS}
    labels[None] = measured.values["ok"].left_out.get("no_label", 0)
    causes = store.verdict_counts(shown, "cause")
    return RunTrend(run, measured, labels, store.bucket_counts(shown), causes, store.refusal_table(shown))


def trends(
    manifest: Manifest,
    indexed: Sequence[str],
    *,
    shown: str,
    vs: str | None,
    trend: Callable[[Run], RunTrend],
) -> Trends:
    """Return the `indexed` runs, with `shown` among them; `trend` reads a run.

    It is compared with `vs`, else with its baseline or the run before it, if those have an index.
    """
    runs = {run.run_id: trend(run) for run in in_order(manifest) if run.run_id in indexed}
    other = vs if vs in runs and vs != shown else other_run(manifest, shown)
    missing = tuple(run.run_id for run in manifest.runs if run.run_id not in indexed)
    return Trends(tuple(runs.values()), list(runs).index(shown), runs.get(other or ""), missing)
