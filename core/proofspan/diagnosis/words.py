"""Words as triage counts them: the reference's tokens, and the content words among them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple
from unicodedata import normalize

from proofspan.contracts.records.records import NO_QUESTION

_NON_WORD = re.compile(r"\W+")

#: ASCII letters to lower case, digits and the underscore as they are, everything else to a space: for ASCII
#: text the same tokens as splitting the lower-cased text at `\W+`, several times as fast.
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if _NON_WORD.match(chr(code)) is None else 32 for code in range(128)
)
_ASCII_WORDS += bytes([32]) * 128

#: Tokens shorter than this are ignored, as the reference does.
SHORTEST = 3

#: English words of three letters or more that say nothing about a subject, and the words that questions open
#: with. The reference lets them count as alignment; coverage and `query_terms_too_few` do not.
STOPWORDS = frozenset(
    """
    about above across after again against all almost along already also although always among and
    another any anyone anything are aren around because been before being below between both but
    came can cannot come could couldn did didn does doesn doing don done down during each either
    else enough etc even ever every everyone everything far few first for from further gave get gets
    give given gives giving goes going got had hadn has hasn have haven having hence her here hers
    herself him himself his how however indeed instead into isn its itself just keep kept last least
    less let like likely made mainly make makes making many may maybe might mine more most mostly
    much must mustn myself near need needs neither never next nobody none nor not nothing now off
    often once one only onto other others otherwise our ours ourselves out over own per perhaps
    please quite rather really regarding same say says see seem seems several shall she should
    shouldn since some someone something somewhat still such take takes tell than that the their
    theirs them themselves then there thereby therefore these they thing things this those though
    through throughout thus together too toward towards under unless until upon use used uses using
    usually various very via was wasn way well were weren what whatever when whenever where whereas
    wherever whether which whichever while who whoever whole whom whose why will with within without
    won would wouldn yes yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def tokens(text: str) -> list[str]:
    """The non-empty pieces of the lower-cased text between runs of non-word characters, in order."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return [word for word in _NON_WORD.split(text.lower()) if word]


def query_tokens(question: str) -> tuple[str, ...]:
    """The distinct tokens of three letters or more that the reference aligns by, in order of appearance.

    A question that its source does not have gives none.
    """
    if question == NO_QUESTION:
        return ()
    return tuple(dict.fromkeys([word for word in tokens(question) if len(word) >= SHORTEST]))


def is_content(token: str) -> bool:
    """Whether a token carries a subject: three letters or more, no stopword, not digits alone."""
    return len(token) >= SHORTEST and token not in STOPWORDS and not token.isdecimal()


# Word forms as texts of different producers share them: case, ligatures, hyphens and endings aside.
#
# A manual's catalogue says "switch" where an answer says "switching", a PDF breaks "acceler-ator" at a line's
# end, and a model writes "start-stop" in one word: comparing tokens alone would call each of these missing.

_BREAK = re.compile(r"(?<=\w)[-‐]\s*[\r\n]\s*(?=\w)")
_UNIT = re.compile(r"\w++(?:[-‐] ?\w++)*")
_HYPHENED = re.compile(r"\b\w++(?:[-‐] ?\w++)+")
#: Han, kana, hangul and the scripts of south-east Asia: there is no space between words.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
#: Soft hyphens, and the ordinal signs that mean degrees in many manuals and would become letters.
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
        if is_content(word) or UNSPACED.search(word):
            by_form.setdefault(form(word), word)
    return tuple(by_form.values())


class Layout(NamedTuple):
    """The positions of the forms of a text's words, and of words that forbid or deny, from 0."""

    places: Mapping[str, Sequence[int]]
    negations: Sequence[int]
    length: int


class Passage:
    """A text as the forms of its words; hyphened words count as one word and as two.

    Positions are computed on demand, as for most texts the forms are enough.
    """

    def __init__(self, text: str, words: Collection[str] | None = None) -> None:
        """`words` are the text's distinct `tokens`, where somebody has them already."""
        self.text = text
        # The words of `_units`, quicker: most texts are ASCII, and few of their words are hyphened.
        if not text.isascii() or "-" in text:
            line = plain(text)
            hyphened = (_joined(list(_pieces(unit))) for unit in _HYPHENED.findall(line))
            words = {*_pieces(line), *chain.from_iterable(hyphened)}
        self.forms = frozenset(map(form, set(tokens(text)) if words is None else words))

    @cached_property
    def layout(self) -> Layout:
        """Return the places of the forms."""
        places: dict[str, list[int]] = {}
        negations: list[int] = []
        length = 0
        for at, unit in enumerate(_units(self.text)):
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
    """Return the common form of a word's inflections: "tyres" and "tyre", "towed" and "towing".

    Step 1 of Porter's algorithm (1980), then without a final e; words of other scripts stay as they are. It
    is no lemma: "ran" is not "run", and "poisonous" not "poison".
    """
    if len(word) <= 3 or not word.isascii():
        return word
    bare = word
    if word.endswith("ies"):
        bare = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(_PLURAL_ENDS_ELSEWHERE):
        bare = word[:-1]
    else:
        for ending in ("ing", "ed"):
            stem = word.removesuffix(ending)
            if stem != word and len(stem) >= 3 and not word.endswith("eed") and _VOWEL.search(stem):
                bare = stem
                break
    bare = _DOUBLED.sub(r"\1", bare)
    bare = bare.removesuffix("e") if len(bare) > 3 else bare
    return bare[:-1] + "i" if bare.endswith("y") else bare


def _pieces(line: str) -> Iterator[str]:
    """Yield tokens; in scripts without spaces, every two adjacent letters."""
    words = tokens(line)
    if not UNSPACED.search(line):
        yield from words
        return
    for word in words:
        if len(word) > 2 and not word.isascii() and UNSPACED.search(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word


# Lower-cased text and the way back to the original: some letters become two (İ), so positions shift.


class Folded:
    """A text with its lower case; ranges found in `lower` are given in the original."""

    __slots__ = ("_origin", "lower", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()
        # str.lower decides letter by letter how long the result is, so the lengths add up.
        self._origin: list[int] | None = None
        if len(self.lower) != len(text):
            self._origin = [at for at, char in enumerate(text) for _ in char.lower()]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range in the original of the non-empty range `[start, end)` of the lower-cased text."""
        if self._origin is None:
            return start, end
        return self._origin[start], self._origin[end - 1] + 1


# The phrases of an answer that the reference looks for in the evidence.

#: Runs of ASCII letters, digits, hyphens and white space that begin with a letter or digit.
_PHRASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-\s]{4,}")

#: Shorter phrases, counted without the white space behind them, prove nothing.
SHORTEST_PHRASE = 5


def phrases(answer: str) -> Iterator[str]:
    """The phrases of five characters or more, in order, without the white space behind them."""
    for found in _PHRASE.findall(answer):
        phrase = found.rstrip()
        if len(phrase) >= SHORTEST_PHRASE:
            yield phrase


def placed_phrases(answer: str) -> Iterator[tuple[str, int, int]]:
    """Each phrase with its half-open range in the answer, repeats included."""
    for match in _PHRASE.finditer(answer):
        phrase = match[0].rstrip()
        if len(phrase) >= SHORTEST_PHRASE:
            yield phrase, match.start(), match.start() + len(phrase)
