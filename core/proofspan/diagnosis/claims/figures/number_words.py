"""Numbers written as words: one to 999 in English, German and French, with thousand, million and so on.

"One", "ein" and "un" are articles or pronouns as often as numbers, and count only before a scale, a unit or a
fraction. Words that another of the three languages uses otherwise ("elf", "sept", "cent") count only where
the language is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

from proofspan.diagnosis.numbers import CARDINALS, ORDINALS

#: "article": an article is all that it is made of.
Kind = Literal["number", "ordinal", "article", "fraction"]


class Spelled(NamedTuple):
    """A number in words, with its half-open range."""

    start: int
    end: int
    value: Decimal
    kind: Kind


_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_GERMAN = """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
    sechzehn siebzehn achtzehn neunzehn""".split()  # noqa: SIM905
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()  # noqa: SIM905
_FRENCH = """zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze
    seize""".split()  # noqa: SIM905
_FRENCH_TENS = "vingt trente quarante cinquante soixante".split()  # noqa: SIM905
_ORDINALS = (
    ORDINALS,
    """erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte""".split(),  # noqa: SIM905
    """premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième
    douzième""".split(),  # noqa: SIM905
)
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "hundert": 100,
    "tausend": 10**3,
    "millionen": 10**6,
    "milliarden": 10**9,
    "billionen": 10**12,
    "cent": 100,
    "cents": 100,
    "mille": 10**3,
    "millions": 10**6,
    "milliard": 10**9,
    "milliards": 10**9,
}
_ARTICLES = frozenset(("one", "a", "ein", "eine", "einen", "einer", "un", "une", "eins"))
_UNITS_ONE = frozenset(("one", "un", "une"))
_HALF = frozenset(("half", "hälfte", "moitié"))
_FRACTIONS = {
    "half": Fraction(1, 2),
    "halves": Fraction(1, 2),
    "hälfte": Fraction(1, 2),
    "moitié": Fraction(1, 2),
    "third": Fraction(1, 3),
    "thirds": Fraction(1, 3),
    "drittel": Fraction(1, 3),
    "tiers": Fraction(1, 3),
    "quarter": Fraction(1, 4),
    "quarters": Fraction(1, 4),
    "viertel": Fraction(1, 4),
    "quart": Fraction(1, 4),
    "quarts": Fraction(1, 4),
    "fifth": Fraction(1, 5),
    "fifths": Fraction(1, 5),
    "fünftel": Fraction(1, 5),
    "cinquième": Fraction(1, 5),
    "cinquièmes": Fraction(1, 5),
    "tenth": Fraction(1, 10),
    "tenths": Fraction(1, 10),
    "zehntel": Fraction(1, 10),
    "dixièmes": Fraction(1, 10),
}
#: One word of German each: anderthalb, eineinhalb, zweieinhalb.
_AND_A_HALF = {
    f"{word}einhalb": value + Decimal("0.5") for value, word in enumerate(("ein", *_GERMAN[2:13]), 1)
} | {"anderthalb": Decimal("1.5")}
#: Words of one language that are other words in another.
_ONLY_IN = {"elf": "de", "null": "de", "acht": "de", "sept": "fr", "cent": "fr", "cents": "fr", "mille": "fr"}
_ONLY_IN |= {"neuf": "fr", "tiers": "fr", "quart": "fr", "quarts": "fr", "premier": "fr"}


def _values() -> dict[str, int]:
    values = {word: value for value, word in enumerate(CARDINALS)}
    values |= {word: 10 * value for value, word in enumerate(_ENGLISH_TENS, 2)}
    german = dict(enumerate(_GERMAN))
    for tens, word in enumerate(_GERMAN_TENS, 2):
        german[10 * tens] = word
        for unit in range(1, 10):
            german[10 * tens + unit] = ("ein" if unit == 1 else _GERMAN[unit]) + "und" + word
    for hundreds in range(1, 10):
        stem = ("ein" if hundreds == 1 else _GERMAN[hundreds]) + "hundert"
        german |= {100 * hundreds + value: stem + (german[value] if value else "") for value in range(100)}
    values |= {word: value for value, word in german.items()}
    values |= {word.replace("ß", "ss"): value for value, word in german.items()}
    values |= {word: value for value, word in enumerate(_FRENCH) if word != "un"}
    values |= {word: 10 * value for value, word in enumerate(_FRENCH_TENS, 2)} | {"vingts": 20}
    values |= {"zwo": 2, "cent": 100, "cents": 100, "dix": 10}
    return values


_VALUES = _values()
_ORDINAL_VALUES = {word: value for line in _ORDINALS for value, word in enumerate(line, 1)}
_ORDINAL_VALUES |= {
    word + end: value for word, value in _ORDINAL_VALUES.items() if word[-1] == "e" for end in "rns"
}
_ORDINAL_VALUES |= {"première": 1, "seconde": 2}
#: A text without any of these has no number in words, unless it has a scale and an article: "a million".
WORDS = frozenset(_VALUES) | frozenset(_AND_A_HALF) | frozenset(_ORDINAL_VALUES) | frozenset(_FRACTIONS)
SCALES = frozenset(_SCALES)
ARTICLES = frozenset(_ARTICLES)
#: Words that only numbers above twenty and fractions have, or other languages than English.
LARGE_WORDS = (
    (WORDS | {"hundred", "hundert", "thousand", "tausend"})
    - frozenset((*CARDINALS, *ORDINALS, "quarter"))
    - _ONLY_IN.keys()
)
_KNOWN = WORDS | ARTICLES | SCALES
#: The most words of one number.
_MOST_WORDS = 20
#: Behind a share: no noun, but what it is a share of, what compares by it, or an end.
_NO_NOUN = re.compile(
    r"\s*(?:$|[^\w\s-]|\n\s*\n)|\s+(?:of|off|and|or|as|to|than|in|at|from|by|is|are|was|were|has|have|had|more|less|fewer"
    r"|higher|lower|larger|smaller|greater|longer|shorter|cheaper|faster|slower|full|empty|du|de|des|d['’]|et|ou|en|à|est"
    r"|sont|était|plus|moins)(?!\w)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W\d_]+")
_JOINTS = frozenset((" ", "-", "\u00a0", "\u2011", " and ", " et ", "-et-", "-and-", "\n"))


def spelled_numbers(text: str, language: str = "") -> Iterator[Spelled]:
    """Yield the numbers in words, in order; `language` is "en", "de", "fr", or empty if it is not known."""
    sequence: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(text):
        word = match[0].lower()
        if word not in _KNOWN:
            if sequence and word not in ("and", "et"):
                yield from _read(sequence, text)
                sequence = []
            continue
        if word in _ONLY_IN and language != _ONLY_IN[word]:
            if sequence:
                yield from _read(sequence, text)
                sequence = []
            continue
        if sequence and text[sequence[-1][2] : match.start()] not in _JOINTS:
            yield from _read(sequence, text)
            sequence = []
        sequence.append((word, *match.span()))
    yield from _read(sequence, text)


def _read(sequence: list[tuple[str, int, int]], text: str) -> Iterator[Spelled]:
    """Read a run of number words, from left to right, as few numbers as possible."""
    at = 0
    while at < len(sequence):
        word, start, end = sequence[at]
        at += 1
        if word in _ORDINAL_VALUES:
            yield Spelled(start, end, Decimal(_ORDINAL_VALUES[word]), "ordinal")
        elif word in _AND_A_HALF:
            yield Spelled(start, end, _AND_A_HALF[word], "number")
        elif word in _HALF:
            value = Decimal("0.5")
            if len(sequence) > at + 1 and sequence[at][0] in _ARTICLES and sequence[at + 1][0] in _SCALES:
                value = value.scaleb(len(str(_SCALES[sequence[at + 1][0]])) - 1)  # half a million
                end, at = sequence[at + 1][2], at + 2
            yield Spelled(start, end, value, "fraction")
        elif word in _ARTICLES or word in _VALUES:
            total, current, limit = 0, _VALUES.get(word, 1), 10**15
            kind: Kind = "article" if word in _ARTICLES else "number"
            for word, _, behind in sequence[at : at + _MOST_WORDS]:
                if word in _FRACTIONS and word not in _HALF and total + current <= 20:
                    if word in _ORDINAL_VALUES and not _is_share(text, behind):
                        break
                    share, kind = (total + current) * _FRACTIONS[word], "fraction"
                    at, end = at + 1, behind
                    break
                if _SCALES.get(word) == 100 and 0 < current < 100:
                    current *= 100
                elif 100 < _SCALES.get(word, 0) < limit and current:
                    limit = _SCALES[word]
                    total, current = total + current * limit, 0
                elif word in _UNITS_ONE and current % 100 in (20, 30, 40, 50, 60, 70, 80, 90):
                    current += 1
                elif word in _VALUES and (_follows(current, _VALUES[word]) or (total and not current)):
                    added = _VALUES[word]
                    current = 80 if (current, added) == (4, 20) else current + added
                else:
                    break
                at, end, kind = at + 1, behind, "number"
            if kind != "fraction" and _is_half(
                sequence[at : at + 2]
            ):  # one and a half, two and a half million
                kind = "number"
                end, at = sequence[at + 1][2], at + 2
                value = (Decimal(total + current) * 10 + 5).scaleb(-1)
                if at < len(sequence) and _SCALES.get(sequence[at][0], 0) > 100:
                    value = value.scaleb(len(str(_SCALES[sequence[at][0]])) - 1)
                    end, at = sequence[at][2], at + 1
                yield Spelled(start, end, value, kind)
            elif kind == "fraction":
                yield Spelled(start, end, _decimal(share), kind)
            elif total and not current:  # as precise as "5 million" in digits
                yield Spelled(start, end, Decimal(total // limit).scaleb(len(str(limit)) - 1), kind)
            else:
                yield Spelled(start, end, Decimal(total + current), kind)


def _is_share(text: str, end: int) -> bool:
    """Return whether an ordinal behind "a" or "one" is a share: "a fifth of", but not "a fifth season"."""
    return _NO_NOUN.match(text, end) is not None


def _is_half(words: list[tuple[str, int, int]]) -> bool:
    return len(words) == 2 and words[0][0] in ("a", "one") and words[1][0] in _HALF


def _follows(current: int, value: int) -> bool:
    """Return whether a word of this value goes on with a number: twenty-five, quatre-vingt, soixante-dix."""
    if (current, value) == (4, 20):
        return True
    rest = current % 100
    if value < 100 and rest == 0 and current:
        return True
    if rest in (60, 80) and 0 < value < 20:
        return True
    return (rest >= 20 and rest % 10 == 0 and 0 < value < 10) or (rest in (10, 70, 90) and value in (7, 8, 9))


def _decimal(share: Fraction) -> Decimal:
    """A fraction as two significant digits, or all it has."""
    exact = Decimal(share.numerator) / Decimal(share.denominator)
    return exact if len(exact.as_tuple().digits) < 4 else Decimal(f"{float(share):.2g}")
