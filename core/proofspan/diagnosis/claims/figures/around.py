"""Read what is around a number: sign, currency, bracket, scale, unit, and words such as about."""

from __future__ import annotations

import re
from typing import Literal

from proofspan.diagnosis.claims.figures.units import (
    AMBIGUOUS,
    CURRENCY_CODES,
    CURRENCY_SIGNS,
    DOLLARS,
    MONEY_SCALES,
    NO_UNIT,
    PHRASE_STARTS,
    SCALED_CURRENCIES,
    SCALES,
    UNITS,
    Unit,
    unit_phrase,
)

#: Words before the figure: about, at most, at least.
Bound = Literal["", "~", "<", ">"]

#: What makes a number an ordinal; letters that touch it otherwise are a unit, or a name.
ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ère|e|ème|eme|nde?|\.)(?![^\W_])")
_TAIL = re.compile(r"[ \u00a0\u2009\u202f-]{0,2}([%‰¢°º℃℉Ω″]|[$€£¥₹]|[^\W\d_]+(?:[€$])?)")
_CLOSING = re.compile(r"[\d.,\s'’%a-zA-Z€$]{1,40}\)")
_OF_UNIT = re.compile(r"[\s-]{0,2}(?:of\s|de\s|d['’])?")
_FURTHER = re.compile(r"\s*[\d(—–-]")
_WORD_BEHIND = re.compile(r"\s[A-Z]")
_DEGREES = re.compile(r"[°º]\s?([CF])?(?![^\W_])")
_BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(
        """about approximately approx around roughly nearly almost some circa ca rund etwa ungefähr knapp fast
        environ presque quelque ~ ≈ c""".split(),  # noqa: SIM905
        "~",
    ),
    **dict.fromkeys(
        """over above exceeding exceeds exceeded über mindestens > ≥ dépassant least minimum""".split(),  # noqa: SIM905
        ">",
    ),
    **dict.fromkeys("below under unter höchstens < ≤ most maximum".split(), "<"),  # noqa: SIM905
}
BOUND_WORDS = frozenset(word for word in _BOUNDS if word.isalpha())
#: What these words end with.
_BOUND_ENDS = frozenset(word[-1] for word in _BOUNDS) | frozenset(".nsueto")
_BOUND_PAIRS: dict[str, Bound] = {
    **dict.fromkeys(("more than", "greater than", "higher than", "mehr als", "plus de", "au moins"), ">"),
    **dict.fromkeys(
        ("less than", "fewer than", "lower than", "up to", "weniger als", "bis zu", "moins de", "au plus"),
        "<",
    ),
    **dict.fromkeys(("close to", "près de", "autour de"), "~"),
}


def sign_and_currency(text: str, start: int, covered: int) -> tuple[int, Unit, bool, int]:
    """Return where sign, currency and bracket before a number begin, what they are, and the bracket's place.

    The place is -1 without a bracket that is closed behind the number.
    """
    at, unit, is_negative, opening = start, NO_UNIT, False, -1
    while at > covered:
        place = at - 1
        mark = text[place]
        is_spaced = mark in " \u00a0\u202f"
        if is_spaced:
            place -= 1
            if place < covered:
                break
            mark = text[place]
        if mark in CURRENCY_SIGNS and unit is NO_UNIT:
            unit, at = CURRENCY_SIGNS[mark], place
            if mark == "$" and text[max(place - 1, covered) : place].isupper():
                letters = text[max(place - 2, covered) : place].lstrip()
                letters = letters if letters in DOLLARS else letters[-1:]
                if letters in DOLLARS:
                    unit, at = UNITS[DOLLARS[letters]], place - len(letters)
        elif mark == "(" and opening < 0 and not is_spaced:
            opening = at = place
        elif mark in "-−–" and not is_spaced and not is_negative:
            if place and (text[place - 1].isalnum() or text[place - 1] in ")]%'\"."):
                break
            is_negative, at = True, place
        elif mark == "+" and not is_spaced:
            at = place
        elif (
            mark.isupper()
            and unit is NO_UNIT
            and place >= 2
            and text[place - 2 : place + 1] in CURRENCY_CODES
        ):
            if place >= 3 and text[place - 3].isalnum():
                break
            unit, at = CURRENCY_CODES[text[place - 2 : place + 1]], place - 2
        else:
            break
    if opening >= 0 and not _closes(text, start):
        if unit is not NO_UNIT and text[opening + 1 : start].strip():
            return opening + 1, unit, is_negative, -1
        return start, NO_UNIT, False, -1
    return at, unit, is_negative, opening


def _closes(text: str, start: int) -> bool:
    return _CLOSING.match(text, start) is not None


def scale_and_unit(text: str, end: int, *, is_money: bool, is_integer: bool) -> tuple[int | None, Unit, int]:
    """Return scale and unit behind a number, and where they end: -1 if the number is part of a name."""
    match = _TAIL.match(text, end)
    if match is None:
        return None, NO_UNIT, end
    word, at = match[1], match.start(1)
    gap = text[end:at]
    lower = word.lower()
    if "-" in gap and (gap != "-" or (word.isupper() and len(word) < 3 and word not in UNITS)):
        return None, NO_UNIT, -1 if gap == "-" else end
    power = SCALES.get(lower)
    if power is not None and lower in ("k", "md", "mds", "bio", "mill") and gap and not is_money:
        power = None
    if power is not None and not gap and is_integer and word in ("K",) and not is_money:
        return None, NO_UNIT, -1
    if (
        power is None
        and lower in MONEY_SCALES
        and (is_money or (not gap and not is_integer and word in "MBT"))
    ):
        power = MONEY_SCALES[lower]
    if power is None and lower in SCALED_CURRENCIES:
        return *SCALED_CURRENCIES[lower], match.end()
    if power is not None:
        stop = match.end()
        if text[stop : stop + 1] == "." and lower in ("tsd", "mio", "mrd", "bio", "mill", "mln"):
            stop += 1
        further = _OF_UNIT.match(text, stop)
        if further is not None:
            match = _TAIL.match(text, further.end())
            if match is not None and match.start(1) == further.end():
                nested = _unit_at(text, match, further[0])
                if nested is not None:
                    return power, *nested
            nested_scale = _TAIL.match(text, stop)  # "10 thousand million", "3 Tsd. Mio."
            if nested_scale is not None and SCALES.get(nested_scale[1].lower(), 0) > power:
                return power + SCALES[nested_scale[1].lower()], NO_UNIT, nested_scale.end()
        return power, NO_UNIT, stop
    found = _unit_at(text, match, gap)
    if found is not None:
        return None, *found
    if not gap and word[0].isalpha() and not ORDINAL.match(text, end) and len(word) < 4:
        return None, NO_UNIT, -1
    return None, NO_UNIT, end


def _unit_at(text: str, match: re.Match[str], gap: str) -> tuple[Unit, int] | None:
    """The unit that a word behind a number begins; `gap` is what is between them."""
    word, at = match[1], match.start(1)
    if word.lower() in PHRASE_STARTS or word in PHRASE_STARTS:
        phrase = unit_phrase(text, at)
        if phrase is not None:
            return phrase
    if word in "°º":
        degrees = _DEGREES.match(text, at)
        if degrees is not None and degrees[1]:
            return UNITS["°C"] if degrees[1] == "C" else UNITS["°F"], degrees.end()
        return UNITS["°"], match.end()
    unit = UNITS.get(word) or (UNITS.get(word.lower()) if len(word) > 3 else None)
    if len(word) == 1 and word.isalpha() and (word.isupper() and gap and _WORD_BEHIND.match(text, at + 1)):
        return None  # 12 A New Section
    if text[match.end() : match.end() + 1].isdecimal():
        return None  # 12 A320
    if unit is None or (word in AMBIGUOUS and gap not in ("", "-")):
        return None
    if word in CURRENCY_SIGNS and _FURTHER.match(text, match.end()):
        return None  # the next figure's
    return unit, match.end()


def bound_of(text: str, at: int) -> Bound:
    """Return what the words or the sign before a figure make of it: about, at least, at most."""
    if not at or not (text[at - 1] in "~≈<>≤≥" or text[max(at - 2, 0)] in _BOUND_ENDS):
        return ""
    ahead = text[max(at - 24, 0) : at].split()
    if not ahead:
        return ""
    last = ahead[-1].lower()
    bound = _BOUNDS.get(last) or (None if last[-1].isalnum() else _BOUNDS.get(last[-1]))
    if bound is None and len(ahead) > 1:
        bound = _BOUND_PAIRS.get(f"{ahead[-2].lower()} {last}")
    return bound or ""
