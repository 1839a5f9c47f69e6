"""The answer's matched phrases, never cut inside a word or a number.

The reference's phrases are runs of ASCII letters, digits, hyphens and white space: one ends in the middle of
"15,000" and begins behind the first letter of "Öldruck". That decides a label; a mark that a person reads has
to cover the whole word, where the evidence holds the whole word, or none of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from proofspan.diagnosis.types import PhraseMatch

#: Letters and digits, with what joins them to one number ("15,000", "12:30") or word ("driver's", "km/h").
_WHOLE = re.compile(r"\w+(?:(?<=\d)[.,:](?=\d)\w+|['’](?=[^\W\d_])\w+|/\w+)*")


def whole_phrases(
    answer: str, phrases: Sequence[PhraseMatch], evidence: Sequence[str]
) -> tuple[PhraseMatch, ...]:
    """The phrases, widened to whole words where a text of `evidence` holds the wider one too, else narrowed.

    One of which nothing is left is left out.
    """
    lower = [text.lower() for text in evidence]
    words = [match.span() for match in _WHOLE.finditer(answer)]

    def is_in_evidence(start: int, end: int) -> bool:
        return any(answer[start:end].lower() in text for text in lower)

    found = []
    for phrase in phrases:
        start, end = _whole(phrase.answer_start, phrase.answer_end, words, is_in_evidence)
        text = answer[start:end].strip()
        if text:
            start += len(answer[start:end]) - len(answer[start:end].lstrip())
            found.append(replace(phrase, phrase=text, answer_start=start, answer_end=start + len(text)))
    return tuple(found)


def _whole(
    start: int, end: int, words: Sequence[tuple[int, int]], holds: Callable[[int, int], bool]
) -> tuple[int, int]:
    """The range with each end that cuts a word moved to one side of that word."""
    first = next((word for word in words if word[0] < start < word[1]), None)
    if first is not None:
        start = first[0] if holds(first[0], end) else first[1]
    last = next((word for word in words if word[0] < end < word[1]), None)
    if last is not None:
        end = last[1] if holds(start, last[1]) else last[0]
    return start, end
