"""A mapping's regular expressions, run by RE2: its time is linear, so no pattern can hang an import.

Python's own engine backtracks, and `(a+)+$` on forty letters takes it for ever; Arrow carries RE2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

MAX_PATTERN = 500
#: Longer values are not searched: a page number does not stand behind ten thousand letters.
MAX_VALUE = 10_000

_GROUP = "value"
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?P<name>\w+)>|\(\?|(?P<open>\()", re.DOTALL
)


def group_finder(pattern: str) -> Callable[[str], str | None]:
    """A function that gives what the pattern's one group holds in a text, None where nothing matches.

    ValueError where the pattern is too long, is none that RE2 reads, or has not exactly one group.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"is longer than {MAX_PATTERN} characters")
    named = _named(pattern)
    try:
        pc.extract_regex(pa.array([""]), pattern=named)
    except pa.ArrowInvalid as error:
        raise ValueError(f"is no regular expression of RE2: {error}") from None

    @lru_cache(maxsize=4096)
    def find(text: str) -> str | None:
        if len(text) > MAX_VALUE:
            return None
        found = pc.extract_regex(pa.array([text]), pattern=named)[0].as_py()
        return None if found is None else str(found[_GROUP])

    return find


def _named(pattern: str) -> str:
    """The pattern with its only group named, as Arrow wants it."""
    groups = [match for match in _TOKEN.finditer(pattern) if match["name"] or match["open"]]
    if len(groups) != 1:
        raise ValueError(f"has {len(groups)} groups in parentheses; exactly one says what is wanted")
    start, end = groups[0].span()
    return f"{pattern[:start]}(?P<{_GROUP}>{pattern[end:]}"
