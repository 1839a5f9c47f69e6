"""Compare two runs: metrics, pinned settings, sentences that say which one is better, answers, and flips."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate, groupby, takewhile
from math import ceil
from typing import Any, Literal, get_args

import numpy as np
import orjson
import pandas as pd

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.claims.check import OF_ANY_LANGUAGE, check_answer
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import question_cell
from proofspan.diagnosis.verdicts.types import CORRECT
from proofspan.errors import Fault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.statistics import LEVEL, Mean, flips_needed, mcnemar, mean_difference
from proofspan.metrics.values import MetricValue, difference_in_words
from proofspan.services.pinning.read import read_record
from proofspan.services.question.view import CandidateView, GoldMark, StageView
from proofspan.services.rows import Column, Layout, exports
from proofspan.store.files.types import Flips
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import AXES, OUTCOMES
from proofspan.store.query.store import Store
from proofspan.wording import counted

#: The outcomes that need no gold questions, the usual one first.
WITHOUT_GOLD = ("answered_ok", "grounded_answers")
#: The outcomes that a comparison counts side by side.
COMPARED = ("section_match_at_1", "grounded_answers", "correct_answers")
#: The fewest flips, all one way, that are statistically significant.
FEWEST = flips_needed(1, 0) or 0
#: The label of a difference between the numbers of two runs that is not taken question by question.
NOT_PAIRED = "not paired"


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


def verdict_sentence(
    flips: Flips, *, run: str, vs: str, outcome: str, has_gold: bool = True, is_test: bool = True
) -> str:
    """Return the conclusion of a comparison in a sentence.

    `Retrieval: 6 fixed, 1 regressed of 37 by SectionMatch@1: p = 0.125, not statistically significant.`
    `has_gold` is whether the workspace names gold questions. Without `is_test` the flips are no evidence, as
    `chosen_sentence` says, and nothing is concluded from them.
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
    if not judged and outcome not in WITHOUT_GOLD and not has_gold:
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
    conclusion = "statistically significant" if p < LEVEL else "not statistically significant"
    flipped = f"{AXES[outcome].name}: {fixed} fixed, {regressed} regressed"
    if not is_test:
        return f"{flipped} of {judged:,} by {by}."
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


def chosen_sentence(manifest: Manifest, run: Run, vs: Run) -> str:
    """Return which questions alone were computed again for a run derived from `vs`; "" for all of them.

    Questions are chosen because they fail, and those can only improve: their flips are no evidence.
    """
    try:
        derived = read_record(manifest, run).values.get("derived")
    except Fault:  # reported with the pinned settings
        return ""
    if not isinstance(derived, dict) or derived.get("parent") != vs.run_id:
        return ""
    settings = derived.get("settings")
    cohort = settings.get("cohort") if isinstance(settings, dict) else None
    if not isinstance(cohort, dict) or not isinstance(cohort.get("q_ids"), list):
        return ""
    questions = counted(len(cohort["q_ids"]), "question")
    return (
        f"Only the {questions} of {cohort.get('name')} were reranked; the others are as in {vs.run_id}. "
        "Questions chosen because they fail can only improve, so this is no evidence: rerank all questions."
    )


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

    `difference` is the mean difference per question over the questions that count in both runs. None for a
    number that cannot be paired: a quantile, bundle coverage, or without a question in common. Its `gap`
    (newer − other) has no interval. `p` is McNemar's of a share whose questions count as 0 or 1.
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


def pair_in_words(pair: MetricPair) -> str:
    """Return `+14 pts (1 to 27), paired over 37 questions`, `−30 ms, not paired`; "" without a difference."""
    mean = pair.difference
    if mean is None:
        return "" if pair.gap is None else f"{difference_in_words(pair.metric, pair.gap)}, {NOT_PAIRED}"
    if mean.low == mean.high == 0:
        return f"no difference in any of {counted(mean.pairs, 'question')}"
    ends = (difference_in_words(pair.metric, end, with_unit=False) for end in (mean.low, mean.high))
    change = difference_in_words(pair.metric, mean.mean)
    return f"{change} ({' to '.join(ends)}), paired over {counted(mean.pairs, 'question')}"


def metric_pairs(
    here: Mapping[str, MetricValue],
    there: Mapping[str, MetricValue],
    paired: Callable[[Sequence[str]], Mapping[str, np.ndarray]],
) -> tuple[MetricPair, ...]:
    """Pair the metrics that one of the runs has, in the order of the catalogue.

    `paired` returns the differences of metrics, newer − other, over the questions that count in both.
    """
    known = {name: (here.get(name), there.get(name)) for name in METRICS}
    valued = [name for name, both in known.items() if all(each and each.value is not None for each in both)]
    differences = paired([name for name in valued if METRICS[name].kind != "quantile"])
    pairs = []
    for name, (now, then) in known.items():
        if not any(value is not None and value.denominator for value in (now, then)):
            continue
        metric = METRICS[name]
        gap, difference, p = None, None, None
        if name in differences:
            of_both = differences[name][np.isfinite(differences[name])]
            difference = mean_difference(of_both.tolist())
            if metric.kind == "share" and len(of_both) and np.isin(of_both, (-1, 0, 1)).all():
                p = mcnemar(int((of_both > 0).sum()), int((of_both < 0).sum()))
        if difference is None and now and now.value is not None and then and then.value is not None:
            gap = now.value - then.value
        pairs.append(MetricPair(metric, now, then, difference, gap, p))
    return tuple(pairs)


#: The depth below which parts are compared as a whole.
MOST_DEEP = 12
#: Keys that differ between any two runs.
_OWN = frozenset({"$schema", "run_id", "ts", "determinism"})
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
            tree |= {
                key: value for key, value in read_record(manifest, run).values.items() if key not in _OWN
            }
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


Change = Literal["same", "words", "number"]

#: A word with the signs inside it (`2.5`, `5W-30`, `1/16`), else one sign; and the white space around it.
_TOKEN = re.compile(r"\s*(?:\w+(?:[.,:/'’-]\w+)*|\S)\s*")
#: Pairs of equal words that are tried. Of texts with more, all between their equal ends counts as different.
MOST_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one answer: the `same` in the other one, `words` that are not, a `number` that differs."""

    text: str
    change: Change


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """Both answers in parts; each side's join back to its text.

    `figures` are values of one quantity that differ, in the older answer and in the newer
    one. `is_rough`: the answers are too long and too different to be compared word by word.
    """

    was: tuple[Part, ...]
    now: tuple[Part, ...]
    figures: tuple[tuple[str, str], ...] = ()
    is_rough: bool = False

    @property
    def is_same(self) -> bool:
        """Whether both say the same, whatever their white space."""
        return all(part.change == "same" for part in (*self.was, *self.now))


def answer_difference(was: str, now: str, *, question: str = "") -> AnswerDifference:
    """Where two answers to a question differ; white space alone is no difference."""
    old, new = (_TOKEN.findall(text) if text.strip() else [text] * bool(text) for text in (was, now))
    old_words, new_words = ([token.strip() for token in tokens] for tokens in (old, new))
    kept_old, kept_new, is_rough = _kept(old_words, new_words)
    places: list[tuple[_Place, _Place]] = []
    if not is_rough and not (all(kept_old) and all(kept_new)):
        gaps = _gaps(old, kept_old), _gaps(new, kept_new)
        for pair in _differing_figures(was, now, question):
            then, here = (_gap_at(each, place) for each, place in zip(gaps, pair, strict=True))
            if then is not None and then == here:
                places.append(pair)
    return AnswerDifference(
        _parts(old, kept_old, [then for then, _ in places]),
        _parts(new, kept_new, [here for _, here in places]),
        tuple((was[slice(*then)], now[slice(*here)]) for then, here in places),
        is_rough,
    )


#: The first character of a stretch of an answer, and the one behind it.
_Place = tuple[int, int]


def _differing_figures(was: str, now: str, question: str) -> Iterator[tuple[_Place, _Place]]:
    """Yield figures of the older answer with those of the newer one that differ from them."""
    older = EvidenceSource("prompt", None, SourceText(was))
    checked = check_answer(now, [older], Corpus({"was": was, "now": now}).survey, question=question)
    for each in (each for claim in checked.claims for each in claim.differences):
        if each.kind in OF_ANY_LANGUAGE:
            yield (each.found_start, each.found_end), (each.claimed_start, each.claimed_end)


def _gaps(tokens: Sequence[str], kept: Sequence[bool]) -> list[tuple[int, int, int]]:
    """Return the start and end of each token that the other answer lacks, and the kept ones before it."""
    ends = list(accumulate(map(len, tokens)))
    before = list(accumulate(kept))
    return [
        (end - len(token), end, count)
        for token, is_kept, end, count in zip(tokens, kept, ends, before, strict=True)
        if not is_kept
    ]


def _gap_at(gaps: Sequence[tuple[int, int, int]], place: _Place) -> int | None:
    """Return the gap in which a stretch differs; None where all of it is kept."""
    return next((gap for start, end, gap in gaps if start < place[1] and place[0] < end), None)


def _kept(old: Sequence[str], new: Sequence[str]) -> tuple[list[bool], list[bool], bool]:
    """Return which words of each side the other one has in the same order, and whether that is rough."""

    def equal(old: Sequence[str], new: Sequence[str]) -> int:
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))

    start = equal(old, new)
    end = equal(old[start:][::-1], new[start:][::-1])
    middles = old[start : len(old) - end], new[start : len(new) - end]
    kept = tuple([False] * len(middle) for middle in middles)
    counts = Counter(middles[1])
    is_rough = sum(times * counts[word] for word, times in Counter(middles[0]).items()) > MOST_PAIRS
    if not is_rough:
        for block in SequenceMatcher(None, *middles, autojunk=False).get_matching_blocks():
            for side, at in zip(kept, (block.a, block.b), strict=True):
                side[at : at + block.size] = [True] * block.size
    was, now = ([True] * start + middle + [True] * end for middle in kept)
    return was, now, is_rough


def _parts(tokens: Sequence[str], kept: Sequence[bool], figures: Sequence[_Place]) -> tuple[Part, ...]:
    """Neighbours of one kind together, but each word of `figures` for itself. The white space around what
    differs does not differ."""
    numbered: list[tuple[Change, int, str]] = []
    end = 0
    for place, (token, is_kept) in enumerate(zip(tokens, kept, strict=True)):
        start, end = end, end + len(token)
        if is_kept:
            numbered.append(("same", 0, token))
        elif any(start < stop and begin < end for begin, stop in figures):
            numbered.append(("number", place, token))
        else:
            numbered.append(("words", 0, token))
    parts: list[Part] = []
    for (kind, _), run in groupby(numbered, key=lambda item: item[:2]):
        text = "".join(token for _, _, token in run)
        body = text if kind == "same" else text.strip()
        before, _, after = text.partition(body) if body else (text, "", "")
        stretches: tuple[tuple[str, Change], ...] = ((before, "same"), (body, kind), (after, "same"))
        for stretch, change in stretches:
            if stretch and change == "same" and parts and parts[-1].change == "same":
                parts[-1] = Part(parts[-1].text + stretch, change)
            elif stretch:
                parts.append(Part(stretch, change))
    return tuple(parts)


# How the candidates of one question moved from one run to another.

Move = Literal["up", "down", "same", "new", "gone"]

#: So far down the lists are compared.
TOP = 20


@dataclass(frozen=True, slots=True)
class Aligned:
    """One chunk in both lists: `was` in the older run, `now` in the newer; None where a list lacks it.

    `view` is the candidate as the newer run has it, else as the older one had it. `gold` says by what it is
    right in either run.
    """

    chunk_id: str
    was: CandidateView | None
    now: CandidateView | None
    view: CandidateView
    gold: GoldMark | None

    @property
    def was_rank(self) -> int | None:
        """Its rank in the older run, from 1; it may lie beyond the top that is shown."""
        return self.was.candidate.rank if self.was else None

    @property
    def rank(self) -> int | None:
        """Its rank in the newer run."""
        return self.now.candidate.rank if self.now else None

    @property
    def move(self) -> Move:
        """Which way it went."""
        if self.was_rank is None or self.rank is None:
            return "new" if self.was_rank is None else "gone"
        return "same" if self.rank == self.was_rank else "up" if self.rank < self.was_rank else "down"

    @property
    def places(self) -> int:
        """By how many ranks it went up or down; 0 where it is in one list alone."""
        return abs(self.was_rank - self.rank) if self.was_rank is not None and self.rank is not None else 0


def aligned(was: StageView | None, now: StageView | None, *, top: int = TOP) -> tuple[Aligned, ...]:
    """Every chunk among the first `top` of either list, once: by its rank in the newer run, then those that
    are only in the older one.

    A chunk that a list names twice counts where it comes first. One of an earlier build is that of today.
    """
    pairs: dict[str, list[CandidateView | None]] = {}
    for side, stage in ((1, now), (0, was)):
        for view in stage.candidates if stage else ():
            pair = pairs.setdefault(view.id_today, [None, None])
            pair[side] = pair[side] or view
    rows = []
    for chunk_id, (then, here) in pairs.items():
        known = [view for view in (here, then) if view is not None]
        if min(view.candidate.rank for view in known) <= top:
            gold = next((view.gold for view in known if view.gold), None)
            rows.append(Aligned(chunk_id, then, here, known[0], gold))
    return tuple(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.was_rank or 0)))


def have_nothing_in_common(rows: Sequence[Aligned]) -> bool:
    """Whether both runs list candidates and share none: their chunk ids may come from different builds."""
    return {row.move for row in rows} == {"new", "gone"}


# The questions that two runs answer differently well, in an order, and as files.

FlipKind = Literal["fixed", "regressed"]
FLIP_KINDS: tuple[FlipKind, ...] = get_args(FlipKind)

#: The most flips of a kind that are listed; the rest is counted.
MOST_LISTED = 5_000
#: What a list of flips may be sorted by: the URL's name → the columns, in their natural direction.
FLIP_SORTS: Mapping[str, tuple[str, ...]] = {
    "section_rank": ("section_rank", "was_rank"),
    "label": ("label", "was_label"),
    "correct": ("correct", "was_correct"),
}
#: The columns of an exported row.
COLUMNS = (
    *("run_id", "vs", "outcome", "flip", "q_id", "q"),
    *("was_label", "label", "was_bucket", "bucket", "was_rank", "rank"),
    *("was_grounded", "grounded", "was_correct", "correct"),
)


def flip_list(store: Store, shown: Filter, kind: FlipKind, sort: Sort) -> pd.DataFrame:
    """The first `MOST_LISTED` flips of a kind, as `Store.flip_rows` has them, in the asked order.

    By any other order than those of `FLIP_SORTS` they stay as they come, the worst first.
    """
    rows = store.flip_rows(shown, kind, MOST_LISTED, 0)
    by = list(FLIP_SORTS.get(sort.by, ()))
    if not by:
        return rows
    orders = {"label": LABELS, "correct": CORRECT}
    severity = {
        name: rows[name].map(orders[sort.by].index, na_action="ignore") for name in by if sort.by in orders
    }
    keys = rows.assign(**severity)
    order = keys.sort_values(by, ascending=not sort.descending, kind="stable", na_position="last").index
    return rows.loc[order].reset_index(drop=True)


def flip_frames(store: Store, shown: Filter, sort: Sort) -> Iterator[pd.DataFrame]:
    """Both lists with `COLUMNS`, the fixed ones first: what an export writes."""
    for kind in FLIP_KINDS:
        rows = flip_list(store, shown, kind, sort).rename(columns={"section_rank": "rank"})
        yield rows.assign(run_id=shown.run, vs=shown.vs, outcome=shown.outcome, flip=kind)[list(COLUMNS)]


def ranks_in_words(was: int | None, now: int | None) -> str:
    """`7 → 1`, `none → 3`, and `1` where it stayed: the rank of the gold section then and now."""
    then, here = ("none" if rank is None else f"{rank:,}" for rank in (was, now))
    return here if then == here else f"{then} → {here}"


def labels_in_words(was: str | None, now: str | None) -> str:
    """`retrieval_drift → ok`, and `ok` where it stayed."""
    then, here = was or "no label", now or "no label"
    return here if then == here else f"{then} → {here}"


_CELLS = (
    Column("flip", lambda row: row["flip"]),
    Column("q_id", lambda row: question_cell(row["q_id"])),
    Column("question", lambda row: question_cell(row["q"])),
    Column("gold at rank", lambda row: ranks_in_words(row["was_rank"], row["rank"])),
    Column("correct", lambda row: ranks_in_words(row["was_correct"], row["correct"])),
    Column("label", lambda row: labels_in_words(row["was_label"], row["label"])),
)
#: The exports of flips by kind; the Markdown table is for a pull request.
FLIP_EXPORTS = exports(
    Layout(COLUMNS, frozenset({"was_rank", "rank"}), lambda _: _CELLS), "csv", "jsonl", "markdown"
)
