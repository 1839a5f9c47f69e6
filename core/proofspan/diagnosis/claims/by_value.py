"""Numbers that no text has as written, and that the evidence supports by value or by arithmetic.

For the numbers that the quick reading of `proofspan.diagnosis.numbers` leaves open. Reading figures takes
about ten times as long, so only chunks are read that have a number with digits that may agree.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from proofspan.diagnosis.claims.derived import DIGITS, announced_in, derivation, near_words
from proofspan.diagnosis.claims.figures import Figure, FigureIndex, figures_of
from proofspan.diagnosis.claims.figures.first_digits import leading_digits, leading_ranges
from proofspan.diagnosis.claims.figures.number_words import LARGE_WORDS
from proofspan.diagnosis.claims.word_forms import language_of
from proofspan.diagnosis.corpus import ChunkView
from proofspan.diagnosis.numbers import Number
from proofspan.diagnosis.words import tokens

#: The most numbers of an answer that are read by value, those that are derived, and figures of the evidence.
MOST_OPEN, MOST_DERIVED, MOST_PRINTED = 500, 20, 20_000
#: The chunks whose figures are kept.
MOST_READ = 1 << 12

_SENTENCE_END = re.compile(r"[.!?]\s|\n")


def without_supported(
    numbers: Sequence[Number], claims: str, question: str, evidence: Sequence[ChunkView]
) -> list[Number]:
    """Return the numbers of an answer that do not agree with, nor follow from, figures of the evidence.

    `claims` is the answer without citations. Of an answer with more than `MOST_OPEN` numbers the rest is
    returned as it is.
    """
    if not numbers:
        return []
    claimed = figures_of(claims, language=_separators(claims))
    pairs = list(_figures_around(numbers[:MOST_OPEN], claimed))
    wanted = list(dict.fromkeys([figure for _, figure in pairs if figure is not None]))
    printed = figures_of(question)
    for view in _worth_reading(wanted, evidence):
        printed += _figures_in(view.text)
        if len(printed) > MOST_PRINTED:
            break
    index = FigureIndex(printed)
    unmatched = {figure for figure in wanted if index.agreeing(figure) is None}
    named = [figure for figure in claimed[:MOST_OPEN] if figure not in unmatched]
    nearest = _Nearest(evidence)
    derived = {
        figure
        for figure in [figure for figure in wanted if figure in unmatched][:MOST_DERIVED]
        if _follows(figure, claims, named, nearest)
    }
    still_open = unmatched - derived
    left = [number for number, figure in pairs if figure is None or figure in still_open]
    return [*left, *numbers[MOST_OPEN:]]


def _separators(text: str) -> str:
    """The language of a text where it may write numbers otherwise than English does."""
    language = language_of(text)
    return language if language in ("de", "fr") else ""


def _figures_around(
    numbers: Sequence[Number], claimed: Sequence[Figure]
) -> Iterator[tuple[Number, Figure | None]]:
    """Yield each number with the figure that it is part of."""
    at = 0
    for number in numbers:
        while at < len(claimed) and claimed[at].end <= number.start:
            at += 1
        is_within = at < len(claimed) and claimed[at].start <= number.start
        yield number, claimed[at] if is_within else None


def _worth_reading(wanted: Sequence[Figure], evidence: Sequence[ChunkView]) -> Iterator[ChunkView]:
    """Yield the chunks that may have a figure that agrees with a wanted one, judged by digits alone."""
    if not wanted:
        return
    ranges = {each for figure in wanted for each in leading_ranges(figure)}
    for view in evidence:
        leading, is_large = _digits_in(view)
        if is_large or any(
            (at := bisect_left(leading, low)) < len(leading) and leading[at] <= high for low, high in ranges
        ):
            yield view


@lru_cache(maxsize=MOST_READ)
def _digits_in(view: ChunkView) -> tuple[list[float], bool]:
    """Return the leading digits of a chunk's numbers, sorted, and whether it has words of large numbers."""
    return sorted(map(leading_digits, view.numbers)), not view.words.isdisjoint(LARGE_WORDS)


@lru_cache(maxsize=MOST_READ)
def _figures_in(text: str) -> tuple[Figure, ...]:
    """Return the figures of a chunk, which many answers of a run are compared with."""
    return tuple(figures_of(text, language=_separators(text)))


def _follows(figure: Figure, claims: str, named: Sequence[Figure], nearest: _Nearest) -> bool:
    """Whether a figure follows from those that the answer names, or from those nearest to its sentence."""
    sentence = _sentence(claims, figure)
    if len(named) > 1 and derivation(figure, named, claim=sentence, stated=named):
        return True
    is_worth = figure.digits > DIGITS or (figure.digits == DIGITS and announced_in(sentence))
    return bool(is_worth and derivation(figure, nearest.to(sentence), claim=sentence))


def _sentence(text: str, figure: Figure) -> str:
    """The sentence around a figure, at most 300 characters to each side."""
    start = max(figure.start - 300, 0)
    for match in _SENTENCE_END.finditer(text, start, figure.start):
        start = match.end()
    end = _SENTENCE_END.search(text, figure.end, figure.end + 300)
    return text[start : end.start() if end else figure.end + 300]


class _Nearest:
    """The figures of the chunk that shares most words with a sentence."""

    def __init__(self, evidence: Sequence[ChunkView]) -> None:
        self._evidence = evidence

    def to(self, sentence: str) -> list[Figure]:
        """Return figures, those nearest to the sentence's words first."""
        words = set(tokens(sentence))
        place = max(
            range(len(self._evidence)),
            key=lambda place: len(words & self._evidence[place].words),
            default=None,
        )
        if place is None:
            return []
        text = self._evidence[place].text
        return near_words(_figures_in(text), text, words)
