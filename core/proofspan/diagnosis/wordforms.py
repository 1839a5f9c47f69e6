"""Word forms as texts of different producers share them: case, ligatures, hyphens and endings aside.

A manual's catalogue says "switch" where an answer says "switching", a PDF breaks "acceler-ator" at a line's
end, and a model writes "start-stop" in one word: comparing tokens alone would call each of these missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from proofspan.diagnosis.words import is_content, tokens

_BREAK = re.compile(r"(?<=\w)[-‐]\s*[\r\n]\s*(?=\w)")
_UNIT = re.compile(r"\w++(?:[-‐] ?+\w++)*+")
_HYPHENED = re.compile(r"\b\w++(?:[-‐] ?+\w++)++")
#: Han, kana, hangul and the scripts of south-east Asia: words stand side by side without a space.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
#: Soft hyphens, and the ordinal signs that stand for degrees in many manuals and would become letters.
_STRAY = {0xAD: None, ord("º"): "°", ord("ª"): "°"}
_VOWEL = re.compile("[aeiouy]")
_DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")
_PLURAL_ENDS_ELSEWHERE = ("ss", "us", "is")


#: Words that forbid or deny; of a contraction such as "don't" the part before the apostrophe.
_NEGATIONS = frozenset(
    """
    not never no nobody none nor nothing neither without cannot avoid don doesn didn isn aren wasn weren mustn
    shouldn won wouldn couldn
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def plain(text: str) -> str:
    """A text without case, compatibility forms (ligatures, wide letters) and soft hyphens, on one line."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalize("NFKC", normalize("NFKC", text.translate(_STRAY)).casefold())
    return " ".join(folded.split())


def named_words(text: str) -> tuple[str, ...]:
    """The distinct content words of a text in order, one of each form; what a line's end cuts is one word."""
    by_form: dict[str, str] = {}
    for word in _pieces(plain(_BREAK.sub("", text))):
        if is_content(word) or _UNSPACED.search(word):
            by_form.setdefault(form(word), word)
    return tuple(by_form.values())


class Layout(NamedTuple):
    """Where the forms of a text's words stand, and the words that forbid or deny; words count from 0."""

    places: Mapping[str, Sequence[int]]
    negations: Sequence[int]
    length: int


class Passage:
    """A text as the forms of its words; words with a hyphen between them count as one word and as two.

    Where they stand is worked out when somebody asks: of most texts their forms alone say enough.
    """

    __slots__ = ("_layout", "forms", "text")

    def __init__(self, text: str, words: Collection[str] | None = None) -> None:
        """`words` are the text's distinct `tokens`, where somebody has them already."""
        self.text = text
        self.forms = frozenset(map(form, _words_of(text, words)))
        self._layout: Layout | None = None

    @property
    def layout(self) -> Layout:
        """The places of the forms."""
        if self._layout is None:
            self._layout = _layout(self.text)
        return self._layout


def _words_of(text: str, known: Collection[str] | None) -> Collection[str]:
    """The words of `_units`, quicker: most texts are ASCII, and few of their words are hyphened."""
    if text.isascii() and "-" not in text:
        return set(tokens(text)) if known is None else known
    line = plain(text)
    words = set(_pieces(line))
    for unit in _HYPHENED.findall(line):
        words.update(_joined(list(_pieces(unit))))
    return words


def _layout(text: str) -> Layout:
    places: dict[str, list[int]] = {}
    negations: list[int] = []
    length = 0
    for at, unit in enumerate(_units(text)):
        length = at + 1
        for part in unit:
            places.setdefault(form(part), []).append(at)
            if part in _NEGATIONS:
                negations.append(at)
    return Layout(places, negations, length)


def _units(text: str) -> Iterator[list[str]]:
    """The words of a text in order; of hyphened words each, all of them as one, and each two as one."""
    for unit in _UNIT.findall(plain(text)):
        if unit.isascii() and "-" not in unit:
            yield [unit]
            continue
        parts = list(_pieces(unit))
        if "-" in unit or "‐" in unit:
            parts += _joined(parts)
        yield parts


def _joined(parts: Sequence[str]) -> list[str]:
    return ["".join(parts), *(first + second for first, second in pairwise(parts))]


@lru_cache(maxsize=1 << 16)
def form(word: str) -> str:
    """What a word's inflections share: "tyres" and "tyre", "batteries" and "battery", "towed" and "towing".

    Step 1 of Porter's algorithm (1980), then without a final e; words of other scripts stay as they are. It
    is no lemma: "ran" is not "run", and "poisonous" not "poison".
    """
    if len(word) <= 3 or not word.isascii():
        return word
    bare = _without_ending(word)
    bare = _DOUBLED.sub(r"\1", bare)
    bare = bare.removesuffix("e") if len(bare) > 3 else bare
    return bare[:-1] + "i" if bare.endswith("y") else bare


def _without_ending(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(_PLURAL_ENDS_ELSEWHERE):
        return word[:-1]
    for ending in ("ing", "ed"):
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= 3 and not word.endswith("eed") and _VOWEL.search(bare):
            return bare
    return word


def _pieces(line: str) -> Iterator[str]:
    """Tokens; where a script parts no words, every two letters that stand side by side."""
    words = tokens(line)
    if not _UNSPACED.search(line):
        yield from words
        return
    for word in words:
        if len(word) > 2 and not word.isascii() and _UNSPACED.search(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word
