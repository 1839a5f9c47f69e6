"""In which order two chunks are read, as far as their records tell."""

from __future__ import annotations

from proofspan.contracts.records import Box, Chunk

#: Two boxes stand one above the other where they share so much of the narrower one's width.
_SHARED_WIDTH = 0.5


def out_of_order(one: Chunk, other: Chunk) -> str | None:
    """Why `other` is read before `one`, "" where it is not, None where nothing says.

    Pages decide first. On one page, or where one is not known, order in the section and offsets are each
    enough to tell; boxes only where both are open, and only of chunks in one column.
    """
    verdicts = [_by_page(one, other)]
    if verdicts[0] is None:
        verdicts = [_by_order(one, other), _by_offsets(one, other)]
    if all(verdict is None for verdict in verdicts):
        verdicts = [_by_box(one, other)]
    known = [verdict for verdict in verdicts if verdict is not None]
    return next((verdict for verdict in known if verdict), "" if known else None)


def _by_page(one: Chunk, other: Chunk) -> str | None:
    if one.page_idx is None or other.page_idx is None or one.page_idx == other.page_idx:
        return None
    later = one.page_idx > other.page_idx
    return f"PDF page {one.page_idx + 1} against {other.page_idx + 1}" if later else ""


def _by_order(one: Chunk, other: Chunk) -> str | None:
    first, second = one.order_in_section, other.order_in_section
    if first is None or second is None or first == second:
        return None
    return f"order_in_section {first} against {second}" if first > second else ""


def _by_offsets(one: Chunk, other: Chunk) -> str | None:
    first, second = one.offsets, other.offsets
    if first is None or second is None or first.unit != second.unit or first.start == second.start:
        return None
    return f"offsets from {first.start:,} against {second.start:,}" if first.start > second.start else ""


def _by_box(one: Chunk, other: Chunk) -> str | None:
    first, second = one.box, other.box
    if first is None or second is None or one.box_space != other.box_space or one.page_idx is None:
        return None
    if one.page_idx != other.page_idx or not _are_in_one_column(first, second) or first[1] == second[1]:
        return None
    return f"top at {first[1]:g} against {second[1]:g}" if first[1] > second[1] else ""


def _are_in_one_column(one: Box, other: Box) -> bool:
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return shared >= _SHARED_WIDTH * min(one[2] - one[0], other[2] - other[0]) > 0
