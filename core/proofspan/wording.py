"""Phrases that every room needs: counts with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: "1 question", "1,200 questions"; `plural` for nouns such as "hashes"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


#: Beginnings that make a spreadsheet run a cell as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_text(text: str) -> str:
    """Return the text of a cell, with a `'` before what a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
