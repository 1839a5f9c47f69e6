"""Where two answers to one question differ, word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Literal

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
        return _numbers(self.was), _numbers(self.now)


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
    """Which words of each side stand in the other one as well, in one order; whether that is rough."""
    start = _equal_ends(old, new)
    end = _equal_ends(old[start:][::-1], new[start:][::-1])
    middles = old[start : len(old) - end], new[start : len(new) - end]
    kept = tuple([False] * len(middle) for middle in middles)
    is_rough = _pairs(*middles) > MOST_PAIRS
    if not is_rough:
        for block in SequenceMatcher(None, *middles, autojunk=False).get_matching_blocks():
            for side, at in zip(kept, (block.a, block.b), strict=True):
                side[at : at + block.size] = [True] * block.size
    ends = [True] * start, [True] * end
    return [*ends[0], *kept[0], *ends[1]], [*ends[0], *kept[1], *ends[1]], is_rough


def _equal_ends(old: Sequence[str], new: Sequence[str]) -> int:
    """How many words are the same from the start on."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _pairs(old: Sequence[str], new: Sequence[str]) -> int:
    """How many pairs of equal words there are: what it costs to compare."""
    counts = Counter(new)
    return sum(times * counts[word] for word, times in Counter(old).items())


def _parts(tokens: Sequence[str], kept: Sequence[bool], others: frozenset[str]) -> tuple[Part, ...]:
    """Neighbours of one kind together, but each number for itself. The white space around what differs does
    not differ; `others` are the words of the other answer."""
    kinds = (_kind(token.strip(), is_kept, others) for token, is_kept in zip(tokens, kept, strict=True))
    numbered = [
        (kind, place if kind == "number" else 0, token)
        for place, (kind, token) in enumerate(zip(kinds, tokens, strict=True))
    ]
    parts: list[Part] = []
    for (kind, _), run in groupby(numbered, key=lambda item: item[:2]):
        text = "".join(token for _, _, token in run)
        body = text if kind == "same" else text.strip()
        before, _, after = text.partition(body) if body else (text, "", "")
        _append(parts, before, "same")
        _append(parts, body, kind)
        _append(parts, after, "same")
    return tuple(parts)


def _kind(word: str, is_kept: bool, others: frozenset[str]) -> Change:
    if is_kept:
        return "same"
    return "number" if _DIGIT.search(word) and word not in others else "words"


def _append(parts: list[Part], text: str, change: Change) -> None:
    """Adds a stretch, to the one before it where both are the same in the other answer."""
    if text and change == "same" and parts and parts[-1].change == "same":
        text = parts.pop().text + text
    if text:
        parts.append(Part(text, change))


def _numbers(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.text for part in parts if part.change == "number"))
