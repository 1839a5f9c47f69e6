"""The numbers of Trends, cached by the state of the indexes and files, and the figures made of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from proofspan.charts.lines import Form, Line, Point, Rule
from proofspan.charts.stacks import Band, Part
from proofspan.charts.theme import Hue
from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import Profile
from proofspan.display_names import BUCKET_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.errors import Fault
from proofspan.fingerprints import file_state
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Bound, Goal
from proofspan.metrics.ranked import BUCKETS
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import MetricValue, left_out_in_words, value_in_words
from proofspan.services.compare import verdict_sentence
from proofspan.services.gate import GateReport, gate_run
from proofspan.services.metrics.cohorts import Conversion, Ranks, conversions
from proofspan.services.metrics.run_metrics import metrics_by
from proofspan.services.metrics.trends import HEADLINES, RunTrend, Trends, run_trend, trends
from proofspan.services.question.variants import Stability, run_stability
from proofspan.store.query.filters import Filter
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.metrics import Slice
from proofspan.store.query.store import Store
from proofspan.ui.compare.tables import Transitions
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.chart import BUCKET_COLOURS, LABEL_COLOURS

#: Cohort → run → its conversion.
Converted = Mapping[str, Mapping[str, Conversion]]


def load(opened: session.Opened, store: Store) -> Trends:
    """Return the numbers of all runs that have an index."""
    manifest, known, indexed = opened.manifest, session.identity(opened), store.runs()
    store.run_sums(indexed)  # of all at once, which the runs then take from memory

    def trend(run: Run) -> RunTrend:
        key = (*known, run.run_id, _state(store, run, manifest))
        return session.cached("trend", key, lambda: run_trend(store, manifest, run), most=200)

    return trends(manifest, indexed, shown=opened.view.run, vs=opened.view.vs, trend=trend)


def ranks(opened: session.Opened, store: Store, shown: Trends) -> Ranks:
    """Return the ranks of all judged questions in these runs."""
    runs = tuple(run.run_id for run in shown.runs)
    return session.cached("ranks", _key(opened, store, *runs), lambda: Ranks.of(store.ranks(runs)), most=4)


def moves(opened: session.Opened, store: Store, shown: Trends) -> Transitions:
    """Return how many questions moved from which bucket of the other run to which of the shown one."""
    if shown.other is None:
        return ()
    run, vs = shown.current.run_id, shown.other.run_id
    transitions = partial(store.transitions, Filter(run, vs=vs), "bucket")
    return session.cached("moves", _key(opened, store, run, vs), transitions)


def slices(opened: session.Opened, store: Store, by: Slice) -> Mapping[str, Mapping[str, MetricValue]]:
    """Return the shown run's metrics by slice."""
    run_id = opened.run.run_id
    return session.cached("slices", (by, *_key(opened, store, run_id)), lambda: metrics_by(store, run_id, by))


def stability(opened: session.Opened, store: Store) -> Stability:
    """Return how steady the shown run's questions are over paraphrases and seeds."""
    run_id = opened.run.run_id
    return session.cached("stability", _key(opened, store, run_id), lambda: run_stability(store, run_id))


def gate(opened: session.Opened, store: Store, shown: Trends) -> GateReport:
    """Return the release check of the shown run, as `proofspan gate` does it."""
    manifest, run_id = opened.manifest, opened.run.run_id
    against = opened.view.vs if shown.other is not None and opened.view.vs == shown.other.run_id else None
    states = (_state(store, run.run, manifest) for run in shown.runs)
    key = (*session.identity(opened), run_id, against, *states)
    return session.cached("gate", key, lambda: gate_run(store, manifest, run_id, against=against))


def flips(opened: session.Opened, store: Store, shown: Trends) -> dict[str, str]:
    """Return the deciding sentence of each headline metric that two runs can be compared by."""
    if shown.other is None:
        return {}
    run, vs, has_gold = shown.current.run_id, shown.other.run_id, opened.manifest.gold is not None

    def sentence(outcome: str) -> str:
        found = store.flips(Filter(run, vs=vs, outcome=outcome))
        return verdict_sentence(found, run=run, vs=vs, outcome=outcome, has_gold=has_gold)

    return session.cached(
        "flips",
        (has_gold, *_key(opened, store, run, vs)),
        lambda: {outcome: sentence(outcome) for outcome in HEADLINES if outcome in OUTCOMES},
    )


def cohorts(opened: session.Opened, store: Store, shown: Trends) -> tuple[Sequence[Cohort], Converted]:
    """Return the workspace's cohorts, and how many of each converted in every run.

    Raises Fault where their file cannot be read.
    """
    manifest, known = opened.manifest, tuple(read_cohorts(opened.manifest).values())
    state = _print(manifest, manifest.cohorts)
    key = (state, *_key(opened, store, *(run.run_id for run in shown.runs)))
    return known, session.cached(
        "cohorts",
        key,
        lambda: {
            cohort.name: {each.run_id: each for each in conversions(store, manifest, cohort)}
            for cohort in known
        },
        most=4,
    )


def _key(opened: session.Opened, store: Store, *runs: str) -> tuple[Hashable, ...]:
    """Return what changes with the indexes of these runs."""
    return *session.identity(opened), *runs, *(store.stamp(run_id) for run_id in runs)


def _state(store: Store, run: Run, manifest: Manifest) -> str:
    """Return what changes with all that a run's numbers are made of."""
    files = (_print(manifest, artifact) for artifact in (run.bundles, run.metrics))
    return f"{store.stamp(run.run_id)} {' '.join(files)}"


def _print(manifest: Manifest, artifact: Artifact | None) -> str:
    if artifact is None:
        return "-"
    try:
        return file_state(artifact_path(manifest, artifact))
    except Fault:  # what is wrong with it is among the run's problems
        return "refused"


_STATE_HUES: Mapping[str, Hue] = {
    "convergent": "green",
    "recursive": "blue",
    "divergent": "orange",
    "chaotic": "red",
}
#: What a list is sorted by to see the questions behind a quantile.
_SORTED = {"delta_s_p95": "delta_s", "latency_p50": "latency", "latency_p95": "latency"}

#: Characters of a run's name in a hover.
ROOM = 44

#: How many questions (or traces) have each value; None: those without any.
Counts = Mapping[str | None, int]


@dataclass(frozen=True, slots=True)
class Kind:
    """A value that questions fall into, with its display name and its colour."""

    value: str
    name: str
    hue: Hue


@dataclass(frozen=True, slots=True)
class Split:
    """A set of values: `field` is the filter that keeps one, `none` the name for questions without any.

    `of_traces`: all traces are counted, not one per question.
    """

    field: str
    kinds: tuple[Kind, ...]
    none: str
    of_traces: bool = False

    def link(self, kind: Kind, run_id: str, view: ViewState) -> str:
        """Return the address of a run's list of that kind."""
        return _kind_address(self, kind, run_id, view.profile)

    def whole(self, counts: Counts) -> int:
        """Return how many fall into any of the kinds."""
        return sum(counts.get(kind.value, 0) for kind in self.kinds)


BY_LABEL = Split(
    "label",
    tuple(Kind(label, LABEL_NAMES[label], LABEL_COLOURS[label]) for label in reversed(LABELS)),
    NO_LABEL,
)
BY_BUCKET = Split(
    "bucket",
    tuple(Kind(bucket, BUCKET_NAMES[bucket], BUCKET_COLOURS[bucket]) for bucket in BUCKETS),
    "Not judged",
)
BY_STATE = Split(
    "state",
    tuple(Kind(state, state, hue) for state, hue in _STATE_HUES.items()),
    "Not logged",
    of_traces=True,
)


def base(view: ViewState, run_id: str) -> ViewState:
    """Return the state that this page's links begin with: all questions of a run, with the page's profile."""
    return ViewState(profile=view.profile).change(run=run_id)


def behind(metric_id: str, run_id: str, view: ViewState) -> ViewState:
    """Return the list of questions behind a number: those that count against it, else those counted."""
    start = base(view, run_id)
    if metric_id in _SORTED:
        return start.change(sort=_SORTED[metric_id], desc=True)
    if metric_id in MISSES:
        return start.change(miss=metric_id)
    chosen = {"label": (metric_id,)} if metric_id in LABELS else {}
    return start.change(**chosen)


def address_behind(metric_id: str, run_id: str, view: ViewState) -> str:
    """Return the address of that list."""
    return _address_behind(metric_id, run_id, view.profile)


# A page of thirty runs has hundreds of these addresses, each of them twice.
@lru_cache(maxsize=1 << 12)
def _address_behind(metric_id: str, run_id: str, profile: Profile | None) -> str:
    return behind(metric_id, run_id, ViewState(profile=profile)).link("")


@lru_cache(maxsize=1 << 12)
def _kind_address(split: Split, kind: Kind, run_id: str, profile: Profile | None) -> str:
    chosen = {split.field: (kind.value,), "all_variants": split.of_traces}
    return base(ViewState(profile=profile), run_id).change(**chosen).link("")


def run_words(run: RunTrend) -> str:
    """Return `R004 · hybrid + rerank`, cut to the room that a hover has."""
    words = f"{run.run_id} · {run.run.title}" if run.run.title else run.run_id
    return words if len(words) <= ROOM else f"{words[:ROOM].rstrip()}…"


def metric_line(trends: Trends, metric_id: str, hue: Hue, view: ViewState) -> Line:
    """Return one metric over the runs."""
    return Line(
        METRICS[metric_id].name, hue, tuple(metric_point(run, metric_id, view) for run in trends.runs)
    )


def metric_point(run: RunTrend, metric_id: str, view: ViewState) -> Point:
    """Return a run's number, with its count, interval, goal and what is left out."""
    value = run.measured.values.get(metric_id)
    if value is None:
        return Point(None)
    verdict = run.measured.verdicts.get(metric_id)
    goal = run.measured.goals.get(metric_id)
    message = (
        run_words(run),
        f"{value.metric.name}: {value_in_words(value)}",
        f"goal {goal.in_words()}: {verdict.why}" if goal and verdict else "",
        left_out_in_words(value),
        "A click lists what counts against it." if metric_id in MISSES else "A click lists the questions.",
    )
    return Point(
        value.value,
        value.low,
        value.high,
        tuple(filter(None, message)),
        address_behind(metric_id, run.run_id, view),
    )


def rules(goals: Mapping[str, Goal], hues: Mapping[str, Hue], *, form: Form) -> tuple[Rule, ...]:
    """Return the goals of these metrics as lines in their colours: the passing bound, and the warning one.

    Of two goals at one place the first is drawn.
    """
    found: dict[float, Rule] = {}
    for metric_id, hue in hues.items():
        goal = goals.get(metric_id)
        for bound, words in ((goal.passes, "goal"), (goal.warns, "warns")) if goal else ():
            if bound is not None:
                found.setdefault(bound.value, Rule(bound.value, f"{words} {bound_words(bound, form)}", hue))
    return tuple(found.values())


def goal_words(goals: Mapping[str, Goal], metric_ids: Iterable[str], *, form: Form) -> str:
    """Return ` Goals: Citation match ≥ 95 %, Anchor coverage ≥ 70 %.`; "" without goals."""
    words = [
        f"{METRICS[one].name} {bound_words(goals[one].passes, form)}" for one in metric_ids if one in goals
    ]
    return f" Goal{'s' * (len(words) > 1)}: {', '.join(words)}." if words else ""


def bound_words(bound: Bound, form: Form = "number") -> str:
    """Return `≥ 70 %`, `≤ 0.45`: short enough for the edge of a figure."""
    sign = {">=": "≥", "<=": "≤", "==": "="}.get(bound.comparison, bound.comparison)
    return f"{sign} {100 * bound.value:g} %" if form == "percent" else f"{sign} {bound.number}"


def bands(
    trends: Trends,
    split: Split,
    counts: Sequence[Counts],
    view: ViewState,
    *,
    more: Sequence[Mapping[str, str]] = (),
) -> tuple[Band, ...]:
    """Return the values of each run's questions, as shares of the questions that have any.

    `counts` has an entry per run, `more` a further line of the hover by run and value. A value that no run
    has is left out.
    """
    wholes = [split.whole(run) for run in counts]
    return tuple(
        Band(
            kind.name,
            kind.hue,
            tuple(
                _part(run, kind, found.get(kind.value, 0), whole, split, view, more[place] if more else {})
                for place, (run, found, whole) in enumerate(zip(trends.runs, counts, wholes, strict=True))
            ),
        )
        for kind in split.kinds
        if any(run.get(kind.value) for run in counts)
    )


def _part(
    run: RunTrend, kind: Kind, count: int, whole: int, split: Split, view: ViewState, more: Mapping[str, str]
) -> Part:
    share = f", {share_in_words(count, whole)}" if whole else ""
    message = (
        run_words(run),
        f"{kind.name}: {count:,} of {whole:,}{share}",
        more.get(kind.value, ""),
        f"A click lists the {'traces' if split.of_traces else 'questions'}.",
    )
    return Part(
        count, whole, tuple(filter(None, message)), split.link(kind, run.run_id, view) if count else ""
    )


def line_words(trends: Trends, metric_ids: Sequence[str]) -> str:
    """Return the shown run's numbers of a figure in a sentence."""
    values = [trends.current.measured.values[one] for one in metric_ids]
    return ", ".join(f"{each.metric.name} {value_in_words(each)}" for each in values)


def band_words(shown: Sequence[Band], place: int) -> str:
    """Return the counts of a stack's bar in a sentence."""
    return ", ".join(f"{band.parts[place].count:,} {band.name}" for band in shown)


def flows(runs: Sequence[str], known: Ranks) -> tuple[Mapping[str, str], ...]:
    """Return, for each run and bucket, the buckets of its questions in the run before."""
    return ({}, *(_flow(known, was, now) for was, now in pairwise(runs)))


def _flow(known: Ranks, was: str, now: str) -> Mapping[str, str]:
    steps = known.steps(was, now)
    came = {
        bucket: ", ".join(
            f"{count:,} {BUCKET_NAMES[before] if before else 'not judged'}"
            for before in (*BUCKETS, None)
            if (count := steps[before, bucket])
        )
        for bucket in BUCKETS
    }
    return {bucket: f"in {was}: {message}" for bucket, message in came.items() if message}
