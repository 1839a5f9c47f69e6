"""Printed page labels ("iv", "A-3") from a PDF's label rules (ISO 32000-1, 12.4.2).

The rules come from a stranger's file: numbers and prefixes are bounded, so that no label is a megabyte long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proofspan.evidence.types import SpanQuery

#: At most so many characters of a label are read from a file, and repeated in a note.
MAX_PREFIX = 40
MAX_LISTED = 5
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


def with_page(query: SpanQuery, labels: Sequence[str]) -> tuple[SpanQuery, str]:
    """The query with the page that its printed label names, and what is to be said of that label.

    A label names a page only where exactly one bears it: it is never counted back to an index. Where a
    `page_idx` is cited as well, that one counts.
    """
    label = query.cited_label
    if label is None:
        return query, ""
    pages = pages_labelled(label, labels)
    shown = f"“{label[:MAX_PREFIX]}”"
    if query.cited_page_idx is not None:
        if not pages or query.cited_page_idx in pages:
            return query, ""
        return query, f"{shown} is printed on {_page_list(pages)}, not on the cited page_idx"
    if len(pages) == 1:
        return replace(query, cited_page_idx=pages[0]), ""
    if pages:
        return query, f"{shown} is printed on {_page_list(pages)}: all pages were searched"
    if not any(labels):
        return query, f"the document carries no page labels to find {shown} by: all pages were searched"
    return query, f"no page is labelled {shown}: all pages were searched"


def printed_on(query: SpanQuery) -> str:
    """Which page a label led to, for a quote that stands on another one; empty where none did."""
    label, page_idx = query.cited_label, query.cited_page_idx
    return "" if label is None else f"“{label[:MAX_PREFIX]}” is printed on page_idx {page_idx}"


def pages_labelled(label: str, labels: Sequence[str]) -> list[int]:
    """The pages that bear a label as it is printed; if none does, those that differ from it in case alone."""
    wanted = label.strip()
    exact = [page_idx for page_idx, printed in enumerate(labels) if printed and printed.strip() == wanted]
    folded = wanted.casefold()
    return exact or [idx for idx, printed in enumerate(labels) if printed and printed.casefold() == folded]


def _page_list(pages: Sequence[int]) -> str:
    more = ", …" if len(pages) > MAX_LISTED else ""
    return "page_idx " + ", ".join(map(str, pages[:MAX_LISTED])) + more


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
