"""The phrases of an answer that the reference looks for in the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Runs of ASCII letters, digits, hyphens and white space that begin with a letter or digit.
_PHRASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-\s]{4,}")

#: Shorter phrases, counted without the white space behind them, prove nothing.
SHORTEST = 5


def phrases(answer: str) -> Iterator[str]:
    """The phrases of five characters or more, in order, without the white space behind them."""
    for found in _PHRASE.findall(answer):
        phrase = found.rstrip()
        if len(phrase) >= SHORTEST:
            yield phrase


def placed_phrases(answer: str) -> Iterator[tuple[str, int, int]]:
    """Each phrase with its half-open range in the answer, repeats included."""
    for match in _PHRASE.finditer(answer):
        phrase = match[0].rstrip()
        if len(phrase) >= SHORTEST:
            yield phrase, match.start(), match.start() + len(phrase)
