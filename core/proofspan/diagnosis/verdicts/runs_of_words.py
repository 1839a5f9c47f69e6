"""Where a passage's words are in another text, in runs: the same text as two programs read it from a page.

Both are compared as letters and digits without what is between them, so that hyphens at the ends of lines,
ligatures, lost spaces, and cells on lines of their own make no difference. A match begins and ends where
words do, and a number is the same or not.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from proofspan.diagnosis.claims.word_forms import WORD, folded, number_form, words_of

#: Characters of one text that are looked at.
MOST_TEXT = 200_000
#: Letters and digits from the beginning of a word on by which a run is found: two words or three.
_SEED = 10
#: Places in the text that are tried for one beginning of a run.
_MOST_PLACES = 8
#: Words of a run. Two in a row are the same by chance.
_SHORTEST_RUN = 3
#: Letters beside a run in which the next words are looked for, and how many in a row may be missing: a word
#: or two that were read otherwise.
_BESIDE, _MOST_MISSED = 12, 3


#: Letters between two runs that are one place of a text.
APART = 200
#: Runs before one that may be linked with it.
_MOST_LINKS = 40


class Piece(NamedTuple):
    """A word of a text: what it is compared by, and `text[start:end]`."""

    key: str
    start: int
    end: int


class Run(NamedTuple):
    """Words `first` to `last` (half open) of the passage, at `start` to `end` of the squeezed text."""

    first: int
    last: int
    start: int
    end: int


def pieces_of(text: str) -> Iterator[Piece]:
    """Yield the words of a text; letters of scripts without spaces one by one."""
    for match in WORD.finditer(text, 0, MOST_TEXT):
        word, start = match[0], match.start()
        if word[0].isdigit():
            yield Piece(number_form(word), start, match.end())
        elif word.isascii() or words_of(word) == [word]:
            if key := folded(word).replace("'", ""):
                yield Piece(key, start, match.end())
        else:
            for place, letter in enumerate(word, start):
                if key := folded(letter):
                    yield Piece(key, place, place + 1)


class Squeezed:
    """A text as letters and digits: `line`, with a space between two numbers, and where its words begin."""

    __slots__ = ("line", "starts")

    def __init__(self, keys: Sequence[str]) -> None:
        """`keys` are those of the text's pieces."""
        parts: list[str] = []
        starts = []
        length, before = 0, ""
        for key in keys:
            if key[0].isdigit() and before[-1:].isdigit():
                parts.append(" ")
                length += 1
            starts.append(length)
            parts.append(key)
            length += len(key)
            before = key
        self.line = "".join(parts)
        self.starts = array("I", starts)

    @property
    def cost(self) -> int:
        """Return its approximate bytes."""
        return 300 + len(self.line) + self.starts.itemsize * len(self.starts)

    def word_at(self, place: int) -> int:
        """Return the number of the word that begins at a place of `line`, or of the first behind it."""
        return bisect_left(self.starts, place)

    def is_whole(self, start: int, end: int) -> bool:
        """Return whether words begin at `start` and end at `end`."""
        return self._begins(start) and (end >= len(self.line) or self.line[end] == " " or self._begins(end))

    def _begins(self, place: int) -> bool:
        at = bisect_left(self.starts, place)
        return at < len(self.starts) and self.starts[at] == place

    def find(self, written: str, start: int = 0, end: int | None = None) -> int:
        """Return where whole words are first that are `written` in `line[start:end]`, -1 for nowhere."""
        line = self.line
        end = len(line) if end is None else end
        for _ in range(_MOST_PLACES * _MOST_PLACES):
            start = line.find(written, start, end)
            if start < 0 or self.is_whole(start, start + len(written)):
                return start
            start += 1
        return -1


class Passage:
    """A passage that is looked for in many texts."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys
        self.squeezed = Squeezed(keys)
        self.line = self.squeezed.line
        starts = self.squeezed.starts
        self._ends = [start + len(key) for start, key in zip(starts, keys, strict=True)]
        self._seeds: dict[str, list[int]] = {}
        for number, start in enumerate(starts):
            if start + _SEED <= len(self.line):
                self._seeds.setdefault(self.line[start : start + _SEED], []).append(number)

    def runs_in(self, text: Squeezed) -> list[Run]:
        """Return the words that a text has in runs, in the order of the passage, each place of it once."""
        if not self.line:
            return []
        at = text.find(self.line)
        if at >= 0:
            return [Run(0, len(self.keys), at, at + len(self.line))]
        places = self._places(text)
        if not places:
            return []
        taken = bytearray(len(text.line) + 1)
        kept: list[Run] = []
        for run in self._likeliest(list(self._longest(text, places))):
            kept += self._free(run, taken)
        if not kept:
            return []
        kept.sort()
        return self._with_neighbours(kept, text, taken)

    def _places(self, text: Squeezed) -> dict[int, list[int]]:
        """Return the places of the text at which a run may begin, by the number of its first word."""
        line, seeds = text.line, self._seeds
        if len(seeds) < len(text.starts) and not any(map(line.__contains__, seeds)):
            return {}  # of most texts, found sooner so
        by_seed: dict[str, list[int]] = {}
        for start in text.starts:
            seed = line[start : start + _SEED]
            if seed in seeds:
                places = by_seed.setdefault(seed, [])
                if len(places) < _MOST_PLACES:
                    places.append(start)
        return {number: places for seed, places in by_seed.items() for number in seeds[seed]}

    def _longest(self, text: Squeezed, places: dict[int, list[int]]) -> Iterator[Run]:
        """Yield runs that cannot be longer, from left to right."""
        behind = 0
        for number in sorted(places):
            if number < behind:
                continue
            run = max(
                (self._from(number, place, text) for place in places[number]),
                key=lambda each: (each.last, -each.start),
            )
            if run.last - run.first >= _SHORTEST_RUN:
                yield run
                behind = run.last

    def _likeliest(self, runs: list[Run]) -> list[Run]:
        """Return runs with those first that follow one another in both texts, in the longest chains.

        A passage may repeat a phrase; the surroundings show which of them a text has.
        """
        runs.sort()
        starts = self.squeezed.starts
        lengths = [float(run.end - run.start) for run in runs]
        before = [-1] * len(runs)
        for number, run in enumerate(runs):
            own = best = lengths[number]
            for other in range(number - 1, max(-1, number - 1 - _MOST_LINKS), -1):
                each = runs[other]
                in_text = run.start - each.end
                between = starts[run.first] - self._ends[each.last - 1]
                if 0 <= in_text <= APART and between <= APART:
                    length = lengths[other] + own - abs(in_text - between) / 2
                    if length > best:
                        best, before[number] = length, other
            lengths[number] = best
        order = sorted(range(len(runs)), key=lambda number: (-lengths[number], number))
        chained: dict[int, None] = {}
        for number in order:
            while number >= 0 and number not in chained:
                chained[number] = None
                number = before[number]
        return [runs[number] for number in chained]

    def _from(self, number: int, place: int, text: Squeezed) -> Run:
        """Return the longest run from a word of the passage and a place of the text on."""
        base = self.squeezed.starts[number]
        last = number
        while last < len(self.keys):
            begin = self._ends[last - 1] if last > number else base
            written = self.line[begin : self._ends[last]]
            if not text.line.startswith(written, place + begin - base):
                break
            last += 1
        while last > number and not text.is_whole(place, place + self._ends[last - 1] - base):
            last -= 1
        end = place + self._ends[last - 1] - base if last > number else place
        return Run(number, last, place, end)

    def _free(self, run: Run, taken: bytearray) -> Iterator[Run]:
        """Yield what no longer run has taken of the text, and take it."""
        shift = run.start - self.squeezed.starts[run.first]
        first = run.first
        for number in range(run.first, run.last + 1):
            if number < run.last:
                start, end = self.squeezed.starts[number] + shift, self._ends[number] + shift
                if taken.find(1, start, end) < 0:
                    continue
            if number - first >= _SHORTEST_RUN:
                start, end = self.squeezed.starts[first] + shift, self._ends[number - 1] + shift
                taken[start:end] = b"\1" * (end - start)
                yield Run(first, number, start, end)
            first = number + 1

    def _with_neighbours(self, runs: list[Run], text: Squeezed, taken: bytearray) -> list[Run]:
        """Return runs with the single words of the passage that are beside them, where a word differs."""
        found = list(runs)
        behind = 0
        for number, run in enumerate(runs):
            ahead = runs[number + 1].first if number + 1 < len(runs) else len(self.keys)
            before = range(run.first - 1, behind - 1, -1)
            found += self._beside(before, run.start, text, taken, forward=False)
            found += self._beside(range(run.last, ahead), run.end, text, taken, forward=True)
            behind = run.last
        unique: dict[int, Run] = {}
        for each in sorted(found, key=lambda run: (run.first, -run.last)):
            unique.setdefault(each.first, each)
        return list(unique.values())

    def _beside(
        self, numbers: range, place: int, text: Squeezed, taken: bytearray, *, forward: bool
    ) -> Iterator[Run]:
        missed = 0
        for number in numbers:
            key = self.keys[number]
            if forward:
                start = text.find(key, place, place + _BESIDE + len(key))
            else:
                low = max(0, place - _BESIDE - len(key))
                start = text.line.rfind(key, low, place)
            end = start + len(key)
            if start < 0 or not text.is_whole(start, end) or taken.find(1, start, end) >= 0:
                missed += 1
                if missed == _MOST_MISSED:
                    return
                continue
            taken[start:end] = b"\1" * (end - start)
            missed, place = 0, end if forward else start
            yield Run(number, number + 1, start, end)


def clusters(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Yield runs that follow one another in the text too, with at most `APART` letters between."""
    if not runs:
        return
    cluster = [runs[0]]
    for before, run in pairwise(runs):
        if not 0 <= run.start - before.end <= APART:
            yield cluster
            cluster = []
        cluster.append(run)
    yield cluster
