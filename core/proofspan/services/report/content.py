"""The content of a release report, which its page, PDF and picture share.

Nothing is judged here: the verdict is that of `proofspan.services.release`, the numbers are those of Trends
and Compare, and the counts are those of Triage's lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from proofspan.display_names import BUCKET_NAMES, CAUSE_NAMES, CORRECT_NAMES
from proofspan.errors import Fault
from proofspan.fingerprints import sha256_of
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.goals import FAILURES, Status
from proofspan.metrics.values import (
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    missing_in_words,
    number_in_words,
)
from proofspan.services.compare import (
    FLIP_KINDS,
    WITHOUT_GOLD,
    FlipKind,
    MetricPair,
    chosen_sentence,
    flip_list,
    labels_in_words,
    needs_sentence,
    pair_in_words,
    ranks_in_words,
    scope_sentences,
    verdict_sentence,
)
from proofspan.services.markdown_text import one_line
from proofspan.services.metrics.run_metrics import HEADLINES, RunMetrics, paired_metrics, run_metrics
from proofspan.services.release import Check, Reason, ReleaseVerdict, State
from proofspan.services.report.what_if import Suggestion
from proofspan.services.workspace.open import run_date
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.store import FULL_COLUMNS, Store
from proofspan.wording import counted

#: The most reasons, changes and closest questions that have room on one screen.
MOST_REASONS, MOST_CHANGES, MOST_CLOSE = 4, 3, 2
#: The most flips that are shown, by kind; a place that one kind leaves free is the other's.
MOST_FLIPS: Mapping[FlipKind, int] = {"fixed": 3, "regressed": 2}
#: What flips are looked for by, the first that has any.
_OUTCOMES = ("correct_answers", "section_match_at_1")
#: The questions of a row of the table, by its name.
_GOOD = METRICS["correct_answers"].name
_ROWS: Mapping[str, Mapping[str, Any]] = {
    _GOOD: {"met": "correct_answers"},
    "Number differs": {"difference": ("number",)},
    CAUSE_NAMES["unsupported"]: {"cause": ("unsupported",)},
    CAUSE_NAMES["over_refusal"]: {"cause": ("over_refusal",)},
    BUCKET_NAMES["retrieval_gap"]: {"bucket": ("retrieval_gap",)},
    BUCKET_NAMES["score_policy"]: {"bucket": ("score_policy",)},
}
#: The page that a setting opens, before the sentence about it.
WHAT_IF = "What-if"
#: Titles over the reasons, by the verdict.
WHY: Mapping[State, str] = {
    "ready": "What to watch",
    "not_ready": "Why not yet",
    "not_enough_evidence": "What is not known",
}


@dataclass(frozen=True, slots=True)
class Number:
    """A headline metric: `number` and how `sure` it is, its goal and whether that is met, and its change."""

    metric_id: str
    name: str
    number: str
    sure: str
    goal: str
    status: Status
    change: str


@dataclass(frozen=True, slots=True)
class Close:
    """A question that counts against a check; `words` say how near it is to counting for it, or its cause."""

    q_id: str
    words: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """A reason of the verdict with questions that count against its check.

    They are those closest to removing it where something orders them, else the most harmful; `lead` says
    which.
    """

    reason: Reason
    closest: tuple[Close, ...] = ()
    lead: Literal["Closest", "Worst"] = "Closest"

    @property
    def closest_in_words(self) -> str:
        """`Closest: Q97, gold at rank 2; Q108, gold at rank 2.`; "" without one."""
        named = ((one_line(each.q_id, cut=24), each.words) for each in self.closest)
        words = "; ".join(", ".join(filter(None, each)) for each in named)
        return f"{self.lead}: {words}." if words else ""

    @property
    def sentence(self) -> str:
        """Return the reason as plain text with its full stop."""
        return _plain(self.reason.sentence)


@dataclass(frozen=True, slots=True)
class Count:
    """A row of the table: the list of questions in this run and in the other, and which joined or left it.

    None where it is not known, as claims are not checked or there is no other run.
    """

    name: str
    shown: Filter
    was: int | None
    now: int | None
    fixed: int | None
    regressed: int | None

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Return the numbers as they are written, `–` where one is not known."""
        numbers = (self.was, self.now, self.fixed, self.regressed)
        was, now, fixed, regressed = ("–" if each is None else f"{each:,}" for each in numbers)
        return was, now, fixed, regressed


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that was fixed or regressed by `outcome`; `words` say what it was and what it is."""

    kind: FlipKind
    q_id: str
    q: str
    outcome: str
    words: str

    @property
    def sign(self) -> str:
        """`✓ Fixed` or `✗ Regressed`."""
        return "✓ Fixed" if self.kind == "fixed" else "✗ Regressed"


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """A report on one run. Foreign text in it is on one line, cut, without control characters.

    `what_if` is a setting that would help, None without one or before it is looked for.
    """

    verdict: ReleaseVerdict
    title: str
    about: str
    headline: str
    numbers: tuple[Number, ...]
    why: tuple[Why, ...]
    more_reasons: int
    changes: tuple[str, ...]
    counts: tuple[Count, ...]
    counts_note: str
    flips: tuple[Flip, ...]
    flips_note: str
    what_if: Suggestion | None = None

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the changes that have room: a setting that would help takes that of all but the first."""
        if self.what_if is None:
            return self.changes
        return (f"{WHAT_IF}: {self.what_if.sentence}", *self.changes[:1], *self.changes[MOST_CHANGES:])

    @property
    def why_title(self) -> str:
        """Return the title over the reasons."""
        return WHY[self.verdict.state]

    @property
    def since(self) -> str:
        """Return the title of the table."""
        against = self.verdict.against
        return f"Since {one_line(against, cut=30)}" if against is not None else "Questions"


def release_report(store: Store, manifest: Manifest, verdict: ReleaseVerdict) -> ReleaseReport:
    """Return the report on the run of a verdict, compared with the verdict's other run.

    Raises as `release_verdict` does.
    """
    run_id, against = verdict.run_id, verdict.against
    here = run_metrics(store, manifest, run_id)
    pairs: Mapping[str, MetricPair] = {}
    if against is not None:
        there = run_metrics(store, manifest, against)
        both = Filter(run_id, vs=against)
        pairs = {each.metric.metric_id: each for each in paired_metrics(store, both, here, there)}
    names = one_line(run_id, cut=40), one_line(against, cut=40) if against is not None else ""
    reasons = verdict.reasons
    checks = {check.name: check for check in verdict.checks}
    flips, conclusion, needed = _flips(store, manifest, verdict)
    changes = [*map(_plain, verdict.changes)]
    return ReleaseReport(
        verdict=verdict,
        title=f"Release report · {' against '.join(filter(None, names))}",
        about=_about(manifest, verdict),
        headline=_headline(verdict),
        numbers=tuple(_number(here, name, pairs.get(name)) for name in HEADLINES),
        why=tuple(_why(store, run_id, each, checks.get(each.check)) for each in reasons[:MOST_REASONS]),
        more_reasons=max(0, len(reasons) - MOST_REASONS),
        changes=(*changes[:MOST_CHANGES], *filter(None, (needed,))),
        counts=tuple(_counts(store, manifest, verdict)),
        counts_note=conclusion,
        flips=flips,
        flips_note=_flips_note(verdict, flips),
    )


def _plain(sentence: str) -> str:
    """Return a sentence of the verdict, which may quote foreign names, as plain text with its full stop."""
    words = one_line(sentence.replace("`", ""), cut=240)
    return words if words.endswith((".", "…")) else f"{words}."


def _about(manifest: Manifest, verdict: ReleaseVerdict) -> str:
    """`Meridian owner's manual · 41 questions · 27 Feb 2026 · manifest sha256 3f9a12c0`."""
    run = manifest.run(verdict.run_id)
    day = one_line(run_date(run), cut=30) if run is not None else ""
    parts = [one_line(manifest.name, cut=60), counted(verdict.questions, "question"), day]
    if manifest.file is not None:
        with suppress(OSError, Fault):
            parts.append(f"manifest sha256 {sha256_of(manifest.file)[:8]}")
    return " · ".join(filter(None, parts))


def _headline(verdict: ReleaseVerdict) -> str:
    """Return the two heaviest reasons as sentences, else how many checks pass."""
    wanted = {"not_ready": "fail", "not_enough_evidence": "open", "ready": ""}[verdict.state]
    reasons = [each for each in verdict.reasons if each.status == wanted]
    if not reasons:
        return f"{verdict.counts_in_words()}."
    more = len(reasons) - 2
    named = " ".join(_plain(each.sentence) for each in reasons[:2])
    return f"{named} And {counted(more, 'more reason')}." if more > 0 else named


def _number(run: RunMetrics, metric_id: str, pair: MetricPair | None) -> Number:
    metric, value = METRICS[metric_id], run.values[metric_id]
    goal, judged = run.goals.get(metric_id), run.verdicts.get(metric_id)
    status: Status = judged.status if judged is not None else "unknown"
    words = f"goal {goal.in_words()}" if goal is not None else "no goal set"
    if value.value is None:
        why = left_out_in_words(value) or f"no {metric.of}"
        return Number(metric_id, metric.name, "–", f"{missing_in_words(value)}: {why}", words, "unknown", "")
    sure = " · ".join(filter(None, (counted_in_words(value), interval_in_words(value))))
    change = pair_in_words(pair) if pair is not None and pair.there is not None else ""
    if change and pair is not None and pair.difference is not None:
        is_equal = pair.difference.low == pair.difference.high == 0
        change += "" if is_equal else f", {'' if pair.is_clear else 'not '}significant"
    return Number(metric_id, metric.name, number_in_words(metric, value.value), sure, words, status, change)


#: What of an answer's claims counts against a metric, and what that is called.
_LACKING: Mapping[str, tuple[tuple[str, ...], str]] = {
    "contradicted_answers": (("claims_differs",), "contradicted"),
    "grounded_answers": (("claims_unsupported", "claims_differs"), "not supported"),
    "supported_claims": (("claims_unsupported", "claims_differs"), "not supported"),
}


def _why(store: Store, run_id: str, reason: Reason, check: Check | None) -> Why:
    """Return a reason with the questions closest to where its check wants them, else the most harmful.

    Close is a gold section by its rank, a question by its number in a mean, and an answer by the share of its
    claims that counts against it. What the pipeline logs of itself has no such questions.
    """
    if check is None or not check.count or check.name not in MISSES:
        return Why(reason)
    shown, metric = Filter(run_id, miss=check.name), METRICS[check.name]
    if nearest := tuple(_nearest(store, shown, metric)):
        return Why(reason, nearest)
    if check.subject == "ranking" and metric.kind == "share":
        ranked: list[tuple[int, str]] = []
        for frame in store.rows(shown, Sort()):
            known = frame[frame["section_rank"].notna()]
            ranked += zip(known["section_rank"].astype(int), known["q_id"].astype(str), strict=True)
        close = (Close(q_id, f"gold at rank {rank:,}") for rank, q_id in sorted(ranked)[:MOST_CLOSE])
        return Why(reason, tuple(close))
    if check.name in _LACKING:
        columns, words = _LACKING[check.name]
        lacking: list[tuple[float, int, int, str]] = []
        for frame in store.rows(shown, Sort()):
            for q_id, whole, *parts in frame[["q_id", "claim_count", *columns]].itertuples(index=False):
                part = sum(map(int, parts))
                lacking.append((part / whole, part, int(whole), str(q_id)))
        found = (
            Close(q_id, f"{part:,} of {counted(whole, 'claim')} {words}")
            for _, part, whole, q_id in sorted(lacking)[:MOST_CLOSE]
        )
        return Why(reason, tuple(found))
    if metric.group in ("ranking", "pipeline"):
        return Why(reason)
    worst = store.page(shown, Sort(), limit=MOST_CLOSE, offset=0)
    pairs = zip(worst["q_id"].astype(str), worst["cause"], strict=True)
    named = (
        Close(q_id, CAUSE_NAMES[cause], cause) if cause in FAILURES else Close(q_id, "")
        for q_id, cause in pairs
    )
    return Why(reason, tuple(named), "Worst")


def _nearest(store: Store, shown: Filter, metric: Metric) -> Iterator[Close]:
    """Yield the questions whose number in a mean is nearest to the best one; none where rows lack it."""
    if metric.kind != "mean":
        return
    column, sign = metric.measure.value if metric.measure else "", 1 if metric.better == "lower" else -1
    numbers: list[tuple[float, str]] = []
    for frame in store.rows(shown, Sort()) if column in FULL_COLUMNS else ():
        known = frame[frame[column].notna() & (frame[column] != 0)]
        numbers += zip(sign * known[column].astype(float), known["q_id"].astype(str), strict=True)
    for number, q_id in sorted(numbers)[:MOST_CLOSE]:
        yield Close(q_id, number_in_words(metric, sign * number))


def _counts(store: Store, manifest: Manifest, verdict: ReleaseVerdict) -> Iterator[Count]:
    """Yield the rows of the table: a question in both runs that left a list of failures is fixed."""
    run_id, against = verdict.run_id, verdict.against
    runs = [each for each in (run_id, against) if each is not None]
    asked = {run: _q_ids(store, Filter(run)) for run in runs}
    common = frozenset.intersection(*asked.values())
    for name, restricted in _ROWS.items():
        shown = Filter(run_id, **restricted)
        needs_gold = "difference" not in restricted and restricted.get("cause") != ("unsupported",)
        is_known = manifest.gold is not None or not needs_gold
        lists: dict[str, frozenset[str] | None] = {}
        for run in runs:
            needs_claims = "bucket" not in restricted
            can_tell = is_known and (not needs_claims or store.are_claims_checked(run))
            lists[run] = _q_ids(store, Filter(run, **restricted)) if can_tell else None
        now, was = lists[run_id], lists.get(against or "")
        joined = left = None
        if now is not None and was is not None:
            joined, left = len((now - was) & common), len((was - now) & common)
        fixed, regressed = (joined, left) if name == _GOOD else (left, joined)
        then, here = (None if each is None else len(each) for each in (was, now))
        yield Count(name, shown, then, here, fixed, regressed)


def _q_ids(store: Store, shown: Filter) -> frozenset[str]:
    return frozenset(map(str, store.places(shown, Sort("file"))["q_id"]))


def _flips(store: Store, manifest: Manifest, verdict: ReleaseVerdict) -> tuple[tuple[Flip, ...], str, str]:
    """Return the flips to show, the conclusion of the comparison, and how many questions it would need."""
    run, vs = manifest.run(verdict.run_id), manifest.run(verdict.against or "")
    if run is None or vs is None:
        return (), "There is no other run to compare with.", ""
    has_gold = manifest.gold is not None
    outcomes = _OUTCOMES if has_gold else WITHOUT_GOLD[:1]
    found: dict[FlipKind, dict[str, Flip]] = {kind: {} for kind in FLIP_KINDS}
    for outcome in outcomes:
        shown = Filter(run.run_id, vs=vs.run_id, outcome=outcome)
        for kind in FLIP_KINDS:
            for row in flip_list(store, shown, kind, Sort()).head(5).to_dict("records"):
                if row["q_id"] not in found["fixed"] | found["regressed"]:
                    found[kind][str(row["q_id"])] = _flip(row, kind, outcome)
    room = sum(MOST_FLIPS.values())
    kept: dict[FlipKind, list[Flip]] = {
        kind: [*found[kind].values()][:most] for kind, most in MOST_FLIPS.items()
    }
    for kind in FLIP_KINDS:
        free = room - sum(map(len, kept.values()))
        kept[kind] += [*found[kind].values()][len(kept[kind]) :][:free]
    counted_by = Filter(run.run_id, vs=vs.run_id, outcome=("section_match_at_1" if has_gold else outcomes[0]))
    flips, chosen = store.flips(counted_by), chosen_sentence(manifest, run, vs)
    names = {"run": run.run_id, "vs": vs.run_id, "outcome": counted_by.outcome}
    conclusion = verdict_sentence(flips, **names, has_gold=has_gold, is_test=not chosen)
    sentences = (conclusion, chosen, *scope_sentences(flips, **names))
    needed = "" if chosen else needs_sentence(flips)
    return (
        tuple(each for kind in FLIP_KINDS for each in kept[kind]),
        one_line(" ".join(filter(None, sentences)), cut=400),
        needed,
    )


def _flip(row: Mapping[Any, Any], kind: FlipKind, outcome: str) -> Flip:
    """Return a row of Compare as a flip, in the words of what it flipped by."""
    if outcome == "correct_answers":
        was, now = (CORRECT_NAMES.get(row[name], "not judged") for name in ("was_correct", "correct"))
        words = now if was == now else f"{was} → {now.lower()}"
    elif outcome == "section_match_at_1":
        ranks = (row["was_rank"], row["section_rank"])
        was_rank, rank = (None if each is None or each != each else int(each) for each in map(_known, ranks))
        words = f"gold at rank {ranks_in_words(was_rank, rank)}"
    else:
        words = labels_in_words(row["was_label"], row["label"])
    return Flip(kind, str(row["q_id"]), one_line(str(row["q"] or ""), cut=120), outcome, words)


def _known(value: object) -> Any:
    """Return a number, None for what pandas has in place of one."""
    return value if isinstance(value, int | float) else None


def _flips_note(verdict: ReleaseVerdict, flips: tuple[Flip, ...]) -> str:
    if verdict.against is None:
        return "Without another run no question can be fixed or regressed."
    if not flips:
        return f"No question was fixed or regressed since {one_line(verdict.against, cut=40)}."
    return ""
