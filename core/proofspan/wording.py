"""Phrases that every room needs: counts with their nouns, and names of pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: "1 question", "1,200 questions"; `plural` for nouns such as "hashes"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


#: Control characters, bidirectional overrides, lone surrogates and what is no character.
_UNSHOWABLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """Replace what cannot be shown by U+FFFD, one for one, so that ranges still hold.

    Lone surrogates cannot be encoded; control characters and bidirectional overrides would let text pose as
    other text. Tabs and line breaks stay.
    """
    return _UNSHOWABLE.sub("\ufffd", text)


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


_NUMBER = r"\d+(?:,\d{3})*"
_RANGE = rf"{_NUMBER}(?:–{_NUMBER})?"
_NAMED = re.compile(rf"PDF pages ({_RANGE}(?:(?:, | to ){_RANGE})*)|PDF page ({_NUMBER})")


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
        numbers: str = found[1] or found[2]
        printed = {
            number: " ".join(printed_on(int(number.replace(",", "")) - 1, labels).split())
            for number in re.findall(_NUMBER, numbers)
        }
        if not all(printed.values()):
            return found[0]
        pages = re.sub(_NUMBER, lambda number: printed[number[0]], numbers)
        words = f"{'p.' if len(printed) == 1 else 'pp.'} {pages} (PDF {numbers})"
        is_in_brackets = text[: found.start()].endswith("(")
        return words.replace(" (", ", ").removesuffix(")") if is_in_brackets else words

    return _NAMED.sub(name, text) if labels else text
