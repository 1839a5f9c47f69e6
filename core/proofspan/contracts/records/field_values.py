"""Single values of foreign records, read by one rule each: ids, numbers, pages, offsets, λ.

A value of the wrong type reads as absent here; whoever needs it to be present says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from proofspan.contracts.records.records import Box, BoxSpace, Json, Offsets, OffsetUnit

PageNote = Literal["page_below_one", "page_unreadable", "pages_disagree"]

#: The names under which a chunk's id goes, the first one present counts.
ID_NAMES = ("id", "chunk_id", "snippet_id")
#: The names of what a pipeline says of its own answer, in the order in which they count.
DELTA_S_NAMES = ("ΔS", "deltaS", "ΔS_q_ctx")
LAMBDA_NAMES = ("λ", "lambda", "lambda_state", "λ_observe")

#: λ as a sign, and the word for it.
LAMBDA_SIGNS: Mapping[str, str] = {"→": "convergent", "←": "divergent", "<>": "recursive", "×": "chaotic"}

#: Whole numbers are read up to here: beyond, floats skip some.
LARGEST = 1 << 53

#: The units of offsets; a record that names another has offsets in no known unit.
OFFSET_UNITS: dict[str, OffsetUnit] = {"char": "char", "byte": "byte", "token": "token", "line": "line"}


def text_of(value: Json) -> str | None:
    """A name or id: text as it is, a number in its shortest spelling, None for all else and for ""."""
    if type(value) is str:
        return value or None
    if type(value) is int or type(value) is float:
        return str(value)
    return None


def number_of(value: Json) -> float | None:
    """A score or measure as a float; None for text, booleans and null."""
    if type(value) is float:
        return value
    return float(value) if type(value) is int else None


def first_of(record: Mapping[str, Json], names: Iterable[str]) -> Json:
    """The first value that is not null under any of the names; None without one."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return value
    return None


def lambda_of(value: Json) -> str | None:
    """The λ state: the word for its sign, or the pipeline's own word in lower case."""
    if type(value) is not str or not (word := value.strip()):
        return None
    return LAMBDA_SIGNS.get(word, word.lower())


def index_of(value: Json) -> int | None:
    """A whole number, `14.0` included; None for all else and beyond ±`LARGEST`."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and abs(value) <= LARGEST else None


def id_of(record: Mapping[str, Json]) -> str | None:
    """Return the id under the first of `ID_NAMES` that is present: text as it is, a number in its spelling.

    None if there is neither. So the ids `7` and `"7"` of two producers match. The reference keeps a number as
    it is: its report lists `7` where ours lists `"7"`, and the text `citations: [7]` cites one of our ids,
    but not one of its own.
    """
    for name in ID_NAMES:
        if name in record:
            value = record[name]
            return value if type(value) is str else text_of(value)
    return None


def page_of(record: Mapping[str, Json]) -> tuple[int | None, PageNote | None]:
    """The 0-based page of a record, from `page_idx` (0-based) or `page` (1-based), and what is odd."""
    page_idx, page = record.get("page_idx"), record.get("page")
    if page_idx is not None:
        index = index_of(page_idx)
        if index is None or index < 0:
            return None, "page_unreadable"
        disagree = page is not None and index_of(page) != index + 1
        return index, "pages_disagree" if disagree else None
    if page is None:
        return None, None
    number = index_of(page)
    if number is None:
        return None, "page_unreadable"
    return (number - 1, None) if number >= 1 else (None, "page_below_one")


def offsets_of(value: Json) -> Offsets | None:
    """Offsets as `{start, end, unit}` or as a pair; characters unless the unit says otherwise."""
    unit: OffsetUnit = "char"
    if isinstance(value, dict):
        named = value.get("unit")
        if named is not None:
            if not isinstance(named, str) or named not in OFFSET_UNITS:
                return None
            unit = OFFSET_UNITS[named]
        value = [value.get("start"), value.get("end")]
    if not isinstance(value, list) or len(value) != 2:
        return None
    start, end = index_of(value[0]), index_of(value[1])
    return None if start is None or end is None else Offsets(start, end, unit)


SPACES: dict[str, BoxSpace] = {
    "points": "points",
    "unit": "unit",
    "0-1": "unit",
    "per_mille": "per_mille",
    "0-1000": "per_mille",
}


def span_of(record: Mapping[str, Json]) -> Offsets | None:
    """Return the place of a record's text: its `offsets`, else its `span` of lines.

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
