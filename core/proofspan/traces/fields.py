"""Single fields of foreign records, read by one rule each: spans, boxes, lists; and the values below them.

A value of the wrong type reads as absent here; whoever needs it to be present says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.contracts.records import Box, BoxSpace, Json, Offsets
from proofspan.contracts.values import (
    DELTA_S_NAMES,
    ID_NAMES,
    LAMBDA_NAMES,
    LAMBDA_SIGNS,
    PageNote,
    first_of,
    id_of,
    index_of,
    lambda_of,
    number_of,
    offsets_of,
    page_of,
    text_of,
)

__all__ = [
    "DELTA_S_NAMES",
    "ID_NAMES",
    "LAMBDA_NAMES",
    "LAMBDA_SIGNS",
    "SPACES",
    "PageNote",
    "box_of",
    "first_of",
    "id_of",
    "index_of",
    "lambda_of",
    "number_of",
    "numbers_of",
    "offsets_of",
    "page_of",
    "span_of",
    "text_of",
    "texts_of",
]

SPACES: dict[str, BoxSpace] = {
    "points": "points",
    "unit": "unit",
    "0-1": "unit",
    "per_mille": "per_mille",
    "0-1000": "per_mille",
}


def span_of(record: Mapping[str, Json]) -> Offsets | None:
    """Where a record's text stands: its `offsets`, else its `span` of lines.

    A span is `{line_start, line_end}` or a pair; lines count from 1, and both ends are among its lines.
    """
    offsets = offsets_of(record.get("offsets"))
    if offsets is not None:
        return offsets
    value = record.get("span")
    if isinstance(value, dict):
        value = [value.get("line_start"), value.get("line_end")]
    lines = offsets_of(value) if isinstance(value, list) else None
    end = index_of(lines.end + 1) if lines is not None else None
    return None if lines is None or end is None else Offsets(lines.start, end, "line")


def box_of(record: Mapping[str, Json]) -> tuple[Box | None, BoxSpace | None]:
    """The record's `bbox` of four numbers, and the space that `bbox_space` states (never guessed)."""
    sides = record.get("bbox")
    if not isinstance(sides, list) or len(sides) != 4:
        return None, None
    x0, y0, x1, y1 = (number_of(side) for side in sides)
    if x0 is None or y0 is None or x1 is None or y1 is None:
        return None, None
    space = record.get("bbox_space")
    return (x0, y0, x1, y1), SPACES.get(space) if isinstance(space, str) else None


def numbers_of(value: Json) -> dict[str, float]:
    """The numbers of an object of named scores; anything else in it is left to the raw view."""
    if not isinstance(value, dict):
        return {}
    return {name: number for name, each in value.items() if (number := number_of(each)) is not None}


def texts_of(value: Json) -> tuple[str, ...]:
    """A list of names, a single name counting as a list of one."""
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items if (text := text_of(item)) is not None)
