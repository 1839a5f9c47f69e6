"""Phrases that every room needs: counts with their nouns, and names of pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: "1 question", "1,200 questions"; `plural` for nouns such as "hashes"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


#: Beginnings that make a spreadsheet run a cell as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_text(text: str) -> str:
    """Return the text of a cell, with a `'` before what a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


# Names of pages.

#: Returns the printed numbers of a document by page_idx, as far as they are known; () without any.
Labels = Callable[[str | None], Sequence[str]]


def no_labels(doc_id: str | None) -> Sequence[str]:
    """Return that no printed number is known."""
    return ()


_NAMED = re.compile(r"PDF pages? (\d+(?:,\d{3})*)(?:–(\d+(?:,\d{3})*))?")


def page_words(page_idx: int, printed: str | None = None) -> str:
    """Return `p. 41 (PDF 42)`, or `PDF page 42` where no number is printed."""
    number = f"{page_idx + 1:,}"
    return (
        f"p. {' '.join(printed.split())} (PDF {number})"
        if printed and printed.strip()
        else f"PDF page {number}"
    )


def page_tip(page_idx: int, page_count: int | None = None) -> str:
    """Return how files name a page: `page_idx 41 · PDF page 42 of 97`."""
    of = f" of {page_count:,}" if page_count else ""
    return f"page_idx {page_idx} · PDF page {page_idx + 1:,}{of}"


def printed_on(page_idx: int, labels: Sequence[str]) -> str:
    """Return the number printed on a page, "" where it is not known."""
    return labels[page_idx] if 0 <= page_idx < len(labels) else ""


def with_printed(text: str, labels: Sequence[str]) -> str:
    """Return a text of ours about one document with its `PDF page 42` as `p. 41 (PDF 42)`.

    In brackets it is `p. 41, PDF 42`. `labels` are the printed numbers of that document by page_idx; a page
    without one is named as before.
    """

    def name(found: re.Match[str]) -> str:
        first, last = (int(number.replace(",", "")) - 1 for number in (found[1], found[2] or found[1]))
        printed = [printed_on(first, labels), printed_on(last, labels)]
        if not all(printed):
            return found[0]
        words = page_words(first, printed[0])
        if found[2]:
            words = f"pp. {printed[0]}–{printed[1]} (PDF {found[1]}–{found[2]})"
        is_in_brackets = text[: found.start()].endswith("(")
        return words.replace(" (", ", ").removesuffix(")") if is_in_brackets else words

    return _NAMED.sub(name, text) if labels else text
