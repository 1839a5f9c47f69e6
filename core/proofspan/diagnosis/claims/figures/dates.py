"""Dates and periods in a text, in English, German and French: days, months, quarters, halves and years.

A fiscal year is the year that it is called by, and a year that ended on a day is read as that day. 03/12/2017
is read in both orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Date(NamedTuple):
    """A day or a period; 0 is a part that is not given. `quarter`: 1 to 4, or 5 and 6 for the halves."""

    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0


_NAMES = """
January Januar janvier Jan JANUARY Jänner
February Februar février Feb FEBRUARY fév févr
March März mars Mar MARCH Mrz
April April avril Apr APRIL avr
May Mai mai MAY
June Juni juin Jun JUNE
July Juli juillet Jul JULY juil
August August août Aug AUGUST aout
September September septembre Sep SEPTEMBER Sept
October Oktober octobre Oct OCTOBER Okt
November November novembre Nov NOVEMBER nov
December Dezember décembre Dec DECEMBER Dez déc
"""
MONTHS = {name: number for number, line in enumerate(_NAMES.split("\n")) for name in line.split()}
#: Lower-case words beside which a date or a period may be: a text without them has none but in digits.
TRIGGERS = frozenset(name.lower() for name in MONTHS) | frozenset(
    "q h fy cy fiscal quarter quartal quartals trimestre geschäftsjahr geschäftsjahres exercice".split()  # noqa: SIM905
)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"\d{4}(?![\d]|[.,]\d)"
_WITH_MONTH = re.compile(
    rf"(?<![\w.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+)?(?P<m1>{_MONTH})\b\.?(?:,?\s+(?P<y1>{_YEAR}))?"
    rf"|(?<!\w)(?P<m2>{_MONTH})\b\.?(?:\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d%]|[.,]\d(?!\d{{3}})))?"
    rf"(?:(?:\s*,\s*|\s+)(?P<y2>{_YEAR}))?"
)
_QUARTERS = {
    word: number
    for number, line in enumerate(
        (
            "first 1st erste ersten erstes premier 1er",
            "second 2nd zweite zweiten zweites deuxième 2e 2ème",
            "third 3rd dritte dritten drittes troisième 3e 3ème",
            "fourth 4th vierte vierten viertes quatrième 4e 4ème",
        ),
        1,
    )
    for word in line.split()
}
_OF_YEAR = (
    r"(?:[\s,]*(?:of\s+|de\s+|des\s+|in\s+|/|-)?(?:the\s+)?(?:fiscal(?:\s+year)?\s+|FY\s?|Geschäftsjahrs?\s+|l['’]exercice\s+)?"
    r"(?P<{0}>\d{{4}}(?![\d]|[.,]\d)|['’]\d\d(?!\d)|(?<=FY)\d\d(?!\d)))?"
)
_PERIOD = re.compile(
    rf"(?<!\w)(?:Q(?P<q1>[1-4])|(?P<q2>[1-4])Q|(?P<half>[12])H|H(?P<h2>[12])|(?P<q3>[1-4])\.\s*Quartals?"
    rf"|(?P<q4>{'|'.join(_QUARTERS)})\s+(?:fiscal\s+)?(?:quarter|Quartals?|trimestre))"
    rf"(?:(?P<y0>\d\d)(?!\d)|(?!\w){_OF_YEAR.format('y1')})"
    rf"|(?<!\w)(?P<y2>\d{{4}})[\s-]?Q(?P<q5>[1-4])(?!\w)"
    r"|(?<!\w)(?:FY|CY)[\s-]?['’]?(?P<y3>\d{4}|\d{2})(?!\d)"
    r"|(?<!\w)(?:fiscal(?:\s+years?)?|Geschäftsjahr(?:e?s)?|(?:l['’])?exercice)\s+(?P<y4>\d{4})(?!\d|[.,]\d)",
    re.IGNORECASE,
)
_NUMERIC = re.compile(
    r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\d]|[-/.]\d)"
    r"|(?P<a>\d{1,2})(?P<t>[-/.])(?P<b>\d{1,2})(?P=t)(?P<z>\d{4}|(?<=/)\d{2})(?![\d]|[-/.]\d)"
)
_BARE_YEAR = re.compile(r"(?:1[89]|20)\d\d")

#: A date's range in the text, and its readings, the likelier first.
Found = tuple[int, int, tuple[Date, ...]]


def dates_in_words(text: str) -> Iterator[Found]:
    """Yield the dates with a month's name, then the quarters, halves and fiscal years, each in order."""
    for match in _WITH_MONTH.finditer(text):
        if match["m1"]:
            date = Date(int(match["y1"] or 0), MONTHS[match["m1"]], int(match["d1"]))
        elif match["d2"] or match["y2"]:
            date = Date(int(match["y2"] or 0), MONTHS[match["m2"]], int(match["d2"] or 0))
        else:
            continue
        if date.day <= 31:
            yield *match.span(), (date,)
    for match in _PERIOD.finditer(text):
        groups = match.groupdict()
        year = next((groups[name] for name in ("y0", "y1", "y2", "y3", "y4") if groups[name]), "0")
        quarter = next((groups[name] for name in ("q1", "q2", "q3", "q5") if groups[name]), "0")
        half = groups["half"] or groups["h2"]
        named = _QUARTERS[groups["q4"].lower()] if groups["q4"] else int(quarter)
        yield *match.span(), (Date(full_year(year), quarter=4 + int(half) if half else named),)


def numeric_date(text: str, start: int) -> Found | None:
    """Return the date of digits alone that begins here."""
    match = _NUMERIC.match(text, start)
    if match is None:
        return None
    if match["y"]:
        readings = [Date(int(match["y"]), int(match["m"]), int(match["d"]))]
    else:
        one, other, year = int(match["a"]), int(match["b"]), full_year(match["z"])
        readings = [Date(year, other, one), Date(year, one, other)]
        if match["t"] == "/":
            readings.reverse()
    valid = tuple(dict.fromkeys(date for date in readings if 0 < date.month < 13 and 0 < date.day < 32))
    return (*match.span(), valid) if valid else None


def is_year(digits: str) -> bool:
    """Return whether four digits are likely to be a year, 1800 to 2099."""
    return _BARE_YEAR.fullmatch(digits) is not None


def full_year(digits: str) -> int:
    """Return a year of four digits; of two, one from 1980 to 2079."""
    year = int(digits.lstrip("'’"))
    return year if (year == 0 and len(digits) == 1) or year > 99 else year + (2000 if year < 80 else 1900)


def covers(claimed: Date, found: Date) -> bool:
    """Return whether everything that a claimed date says is what the found one says, which may say more.

    A quarter's or a half's month belongs to calendar quarters; fiscal ones are not known.
    """
    if not any(one and one == other for one, other in zip(claimed, found, strict=True)):
        return False
    return all(one in (0, other) for one, other in zip(claimed, found, strict=True))


def contradicts(claimed: Date, found: Date) -> bool:
    """Return whether two dates give the same part differently."""
    return any(one and other and one != other for one, other in zip(claimed, found, strict=True))
