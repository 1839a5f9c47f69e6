"""Printed page labels ("iv", "A-3") from a PDF's label rules (ISO 32000-1, 12.4.2).

The rules come from a stranger's file: numbers and prefixes are bounded, so that no label is a megabyte long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

MAX_PREFIX = 40
MAX_NUMBER = 1_000_000
MAX_ROMAN = 4_999
MAX_LETTERS = 26 * 8
ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def page_labels(rules: Sequence[Mapping[str, Any]], page_count: int) -> tuple[str, ...]:
    """The printed label of every page, "" where no rule reaches; empty when there are no rules at all.

    A rule has `startpage` (0-based), `prefix`, `style` (D, R, r, A, a or "") and `firstpagenum`.
    """
    usable = sorted((rule for rule in rules if isinstance(rule.get("startpage"), int)), key=_start)
    if not usable:
        return ()
    starts = [_start(rule) for rule in usable]
    labels = []
    for page_idx in range(page_count):
        position = bisect_right(starts, page_idx) - 1
        labels.append("" if position < 0 else _label(usable[position], page_idx))
    return tuple(labels)


def _start(rule: Mapping[str, Any]) -> int:
    return int(rule["startpage"])


def _label(rule: Mapping[str, Any], page_idx: int) -> str:
    """The label that one rule gives to one page."""
    first = rule.get("firstpagenum", 1)
    number = page_idx - _start(rule) + (first if isinstance(first, int) else 1)
    prefix = "".join(c for c in str(rule.get("prefix") or "")[:MAX_PREFIX] if c.isprintable())
    style = str(rule.get("style") or "")
    return prefix + (numeral(number, style) if style else "")


def numeral(number: int, style: str) -> str:
    """`number` in a label style; decimal where it is out of the style's sensible range."""
    if not 1 <= number <= MAX_NUMBER:
        return ""
    if style in ("R", "r") and number <= MAX_ROMAN:
        digits = _roman(number)
        return digits.upper() if style == "R" else digits
    if style in ("A", "a") and number <= MAX_LETTERS:
        letter = chr(ord(style) + (number - 1) % 26)
        return letter * ((number - 1) // 26 + 1)
    return str(number)


def _roman(number: int) -> str:
    """Lower-case Roman numerals."""
    parts = []
    for value, digits in ROMAN:
        count, number = divmod(number, value)
        parts.append(digits * count)
    return "".join(parts)
