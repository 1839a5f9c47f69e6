"""The scale that a table's caption or header names: "(in thousands, except per share data)", "TEUR"."""

from __future__ import annotations

import re
from typing import NamedTuple

from proofspan.diagnosis.claims.figures.units import (
    CURRENCY_SIGNS,
    MONEY_SCALES,
    NO_UNIT,
    SCALED_CURRENCIES,
    SCALES,
    UNITS,
    Unit,
)


class Scale(NamedTuple):
    """The scale of a table's caption or header: figures behind it are counted in `10 ** power` of `unit`."""

    power: int
    unit: Unit = NO_UNIT
    start: int = 0
    end: int = 0


_WORD = re.compile(
    r"(?<![^\W\d_])(?:[Tt]housands?|THOUSANDS?|[Mm]illions?|MILLIONS?|[Bb]illions?|BILLIONS?|[Tt]rillions?|[Ll]akhs?"
    r"|[Cc]rores?|[Tt]ausend|[Tt]sd|[Mm]io|Millionen|[Mm]rd|Milliarden|milliers|milliards?|Mds?(?=\s?€)|000s?"
    r"|TEUR|(?:[TkKM]|Mds?)€|(?<=[$€£])(?:mm|MM|m|M|bn|B|k|K)(?=\s*[,;)]))(?![^\W_])\.?"
)
_MONEY = r"(?:(?:US|U\.S\.|C|A|HK)?\s?\$|€|£|¥|₹|EUR|USD|GBP|CHF|JPY|Euro|euros?|(?:U\.?S\.? )?[Dd]ollars?)"
#: A scale word behind one of these is a caption's, not a number's.
_CAPTION_AHEAD = re.compile(
    rf"(?:\b(?:[Ii]n|IN|[Ee]n)\s+(?:{_MONEY}\s?)?|(?:^|[\s(]){_MONEY}\s?['’]?|\(\s*['’]?)\Z"
)
_OF_MONEY = re.compile(rf"\s+(?:of\s+|de\s+|d['’])?{_MONEY}")
_OF_THINGS = re.compile(r"\s+(?:of|de)\s")
_CLOSED = re.compile(r"\s*[,;)]")
#: A text without any of these words, in lower case, nor "000" has no caption.
CAPTION_WORDS = frozenset(SCALES) | frozenset(MONEY_SCALES) | frozenset(("teur", "t", "k", "m", "md", "mds"))
#: A caption has one of these; to look for them is much faster than to look for the scale words.
_HINTS = (
    *(
        "(",
        "in thousand",
        "in million",
        "in billion",
        "in Thousand",
        "in Million",
        "in tausend",
        "in Tausend",
    ),
    *(
        "in Mi",
        "in Mrd",
        "in Tsd",
        "in $",
        "in US",
        "in U.S",
        "in E",
        "in €",
        "in £",
        "in GBP",
        "in CHF",
        "In ",
    ),
    *("IN ", "en mil", "$ ", "€", "EUR", "000", "ollars", "Euro", "£", "¥", "USD", "CHF", "GBP", "in lakh"),
    *("in crore", "in Md", "in Mr", "in Ts"),
)
#: These need no other word beside them.
_CAPTION_ALONE = frozenset(("TEUR", "T€", "k€", "K€", "M€", "Md€", "Mds€"))


def scale_of(text: str) -> Scale | None:
    """Return the scale of a caption or header: the last that it names, which is the nearest to the rows."""
    scales = scales_of(text)
    return scales[-1] if scales else None


def scales_of(text: str) -> list[Scale]:
    """Return the scales that captions and headers within a text name, in order: "(in thousands)", "TEUR"."""
    if not any(hint in text for hint in _HINTS):
        return []
    scales = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if text[start - 2 : start].strip()[-1:].isdigit() and start:  # the scale of a number
            continue
        ahead = _CAPTION_AHEAD.search(text, max(start - 24, 0), start)
        money = _OF_MONEY.match(text, end)
        if not (ahead or money or match[0] in _CAPTION_ALONE):
            continue
        if _OF_THINGS.match(text, end) and not money:  # in millions of homes
            continue
        if ahead and ahead[0][0] == "(" and not (money or _CLOSED.match(text, end)):
            continue
        begin = ahead.start() if ahead else start
        stop = money.end() if money else end
        power, unit = _power_of(match[0])
        if unit is NO_UNIT:
            unit = _currency_within(text[begin:stop])
        scales.append(Scale(power, unit, begin, stop))
    return scales


def _power_of(word: str) -> tuple[int, Unit]:
    lower = word.lower().rstrip(".").strip("'’")
    if lower in SCALED_CURRENCIES:
        return SCALED_CURRENCIES[lower]
    if lower.rstrip("s").strip("'’") == "000":
        return 3, NO_UNIT
    return SCALES.get(lower) or MONEY_SCALES.get(lower, 0), NO_UNIT


def _currency_within(caption: str) -> Unit:
    for sign, unit in CURRENCY_SIGNS.items():
        if sign in caption:
            return unit
    for word in re.findall(r"[A-Za-z]+", caption):
        unit = UNITS.get(word, NO_UNIT)
        if unit.dimension == "currency":
            return unit
    return NO_UNIT
