"""Where two answers to one question differ, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Literal, get_args

import pandas as pd

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import question_cell
from proofspan.services.question.view import CandidateView, GoldMark, StageView
from proofspan.services.rows import Column, Layout, exports
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

Change = Literal["same", "words", "number"]

#: A word with the signs inside it (`2.5`, `5W-30`, `1/16`), else one sign; and the white space around it.
_TOKEN = re.compile(r"\s*(?:\w+(?:[.,:/'’-]\w+)*|\S)\s*")
_DIGIT = re.compile(r"\d")
#: Pairs of equal words that are tried. Of texts with more, all between their equal ends counts as different.
MOST_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of one answer: the `same` in the other one, `words` that are not, a `number` that the other
    does not have at all."""

    text: str
    change: Change


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """Both answers in parts; each side's join back to its text.

    `is_rough`: the answers are too long and too different to be compared word by word.
    """

    was: tuple[Part, ...]
    now: tuple[Part, ...]
    is_rough: bool = False

    @property
    def is_same(self) -> bool:
        """Whether both say the same, whatever their white space."""
        return all(part.change == "same" for part in (*self.was, *self.now))

    @property
    def numbers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The numbers that only one of the answers has: the older one's, the newer one's."""
        was, now = (
            tuple(dict.fromkeys(part.text for part in side if part.change == "number"))
            for side in (self.was, self.now)
        )
        return was, now


def answer_difference(was: str, now: str) -> AnswerDifference:
    """Where two answers differ; white space alone is no difference."""
    old, new = _tokens(was), _tokens(now)
    old_words, new_words = ([token.strip() for token in tokens] for tokens in (old, new))
    kept_old, kept_new, is_rough = _kept(old_words, new_words)
    return AnswerDifference(
        _parts(old, kept_old, frozenset(new_words)), _parts(new, kept_new, frozenset(old_words)), is_rough
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text) if text.strip() else [text] if text else []


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


def _parts(tokens: Sequence[str], kept: Sequence[bool], others: frozenset[str]) -> tuple[Part, ...]:
    """Neighbours of one kind together, but each number for itself. The white space around what differs does
    not differ; `others` are the words of the other answer."""
    numbered: list[tuple[Change, int, str]] = []
    for place, (token, is_kept) in enumerate(zip(tokens, kept, strict=True)):
        word = token.strip()
        if is_kept:
            numbered.append(("same", 0, token))
        elif _DIGIT.search(word) and word not in others:
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
}
#: The columns of an exported row.
COLUMNS = (
    *("run_id", "vs", "outcome", "flip", "q_id", "q"),
    *("was_label", "label", "was_bucket", "bucket", "was_rank", "rank"),
)


def flip_list(store: Store, shown: Filter, kind: FlipKind, sort: Sort) -> pd.DataFrame:
    """The first `MOST_LISTED` flips of a kind, as `Store.flip_rows` has them, in the asked order.

    By any other order than those of `FLIP_SORTS` they stay as they come, the worst first.
    """
    rows = store.flip_rows(shown, kind, MOST_LISTED, 0)
    by = list(FLIP_SORTS.get(sort.by, ()))
    if not by:
        return rows
    severity = {name: rows[name].map(LABELS.index, na_action="ignore") for name in by if "label" in name}
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
    Column("label", lambda row: labels_in_words(row["was_label"], row["label"])),
)
#: The exports of flips by kind; the Markdown table is for a pull request.
FLIP_EXPORTS = exports(
    Layout(COLUMNS, frozenset({"was_rank", "rank"}), lambda _: _CELLS), "csv", "jsonl", "markdown"
)
