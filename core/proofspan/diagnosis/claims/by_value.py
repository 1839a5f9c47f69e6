"""Numbers that no text has as written, and that the evidence supports by value or by arithmetic.

For the numbers that the quick reading of `proofspan.diagnosis.numbers` leaves open. Reading figures takes
about ten times as long, so that only answers with such numbers come here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from proofspan.diagnosis.claims.derived import MOST_OPERANDS, derivation
from proofspan.diagnosis.claims.figures import Figure, FigureIndex, figures_of
from proofspan.diagnosis.corpus import ChunkView
from proofspan.diagnosis.numbers import Number
from proofspan.diagnosis.words import tokens

#: The most numbers of an answer that are read by value, those that are derived, and figures of the evidence.
MOST_OPEN, MOST_DERIVED, MOST_PRINTED = 500, 20, 20_000

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
    claimed = figures_of(claims)
    printed = figures_of(question)
    for view in evidence:
        if len(printed) > MOST_PRINTED:
            break
        printed += figures_of(view.text)
    index = FigureIndex(printed)
    agreeing: dict[Figure, Figure | None] = {}
    left: list[tuple[Number, Figure | None]] = []
    at = 0
    for number in islice(numbers, MOST_OPEN):
        while at < len(claimed) and claimed[at].end <= number.start:
            at += 1
        figure = claimed[at] if at < len(claimed) and claimed[at].start <= number.start else None
        if figure is not None and figure not in agreeing:
            agreeing[figure] = index.agreeing(figure)
        if figure is None or agreeing[figure] is None:
            left.append((number, figure))
    named: list[Figure] = []
    if any(figure is not None for _, figure in left):
        named = [found for figure in claimed[:MOST_OPEN] if (found := index.agreeing(figure)) is not None]
    nearest = _Nearest(evidence)
    still_open = [
        number
        for place, (number, figure) in enumerate(left)
        if figure is None or place >= MOST_DERIVED or not _follows(figure, claims, named, nearest)
    ]
    return [*still_open, *numbers[MOST_OPEN:]]


def _follows(figure: Figure, claims: str, named: Sequence[Figure], nearest: _Nearest) -> bool:
    """Whether a figure follows from those that the answer names, or from those nearest to its sentence."""
    sentence = _sentence(claims, figure)
    if len(named) > 1 and derivation(figure, named, claim=sentence, stated=named):
        return True
    return derivation(figure, nearest.to(sentence), claim=sentence) is not None


def _sentence(text: str, figure: Figure) -> str:
    """The sentence around a figure, at most 300 characters to each side."""
    start = max(figure.start - 300, 0)
    for match in _SENTENCE_END.finditer(text, start, figure.start):
        start = match.end()
    end = _SENTENCE_END.search(text, figure.end, figure.end + 300)
    return text[start : end.start() if end else figure.end + 300]


class _Nearest:
    """Figures of the chunk that shares most words with a sentence, best those whose labels do."""

    def __init__(self, evidence: Sequence[ChunkView]) -> None:
        self._evidence = evidence
        self._read: dict[int, tuple[list[Figure], list[list[str]]]] = {}

    def to(self, sentence: str) -> list[Figure]:
        """Return at most `MOST_OPERANDS` figures, in the order of the text."""
        words = set(tokens(sentence))
        place = max(
            range(len(self._evidence)),
            key=lambda place: len(words & self._evidence[place].words),
            default=None,
        )
        if place is None:
            return []
        if place not in self._read:
            self._read[place] = _with_labels(self._evidence[place].text)
        figures, labels = self._read[place]
        if len(figures) <= MOST_OPERANDS:
            return figures
        shared = [len(words.intersection(label)) for label in labels]
        ranked = sorted(range(len(figures)), key=lambda number: (-shared[number], number))
        return [figures[number] for number in sorted(ranked[:MOST_OPERANDS])]


def _with_labels(text: str) -> tuple[list[Figure], list[list[str]]]:
    """The figures of a text, and the words before each: of several in a row those before the first."""
    figures = figures_of(text)
    labels: list[list[str]] = []
    at, label = 0, list[str]()
    for figure in figures:
        label = tokens(text[max(at, figure.start - 200) : figure.start]) or label
        labels.append(label)
        at = figure.end
    return figures, labels
