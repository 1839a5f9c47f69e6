"""The rules of offsets: they begin before they end, from 0, in whole numbers of one known unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofspan.contracts.findings import Finding, Placed, shown
from proofspan.contracts.records import Json, OffsetUnit
from proofspan.contracts.values import OFFSET_UNITS, index_of, offsets_of


def offset_findings(value: Json) -> Iterator[Finding]:
    """What is wrong with the `offsets` of a record: `{start, end, unit}` or a pair; not null."""
    if not isinstance(value, dict | list):
        yield Finding("wrong_type_offsets", "offsets", f"offsets are {shown(value)}, not start and end")
    elif (wrong := _wrong(value)) is not None:
        yield Finding("bad_offsets", "offsets", wrong)


def unit_of(item: Mapping[str, Json]) -> OffsetUnit | None:
    """The unit of a record's offsets; None where they cannot be read."""
    offsets = offsets_of(item.get("offsets"))
    return None if offsets is None else offsets.unit


def mixed_units(items: Sequence[Json]) -> Iterator[Placed]:
    """One finding where the offsets of a list are in several units, at the first entry that differs."""
    units = [unit_of(item) if isinstance(item, dict) else None for item in items]
    first = next(filter(None, units), None)
    for place, unit in enumerate(units, start=1):
        if unit is not None and unit != first:
            said = f"offsets here are in {unit}, the first of this list in {first}"
            yield place, Finding("mixed_offset_units", "offsets", said)
            return


def _wrong(value: dict[str, Json] | list[Json]) -> str | None:
    """What is wrong with offsets, in words; None for a span."""
    if isinstance(value, list):
        if len(value) != 2:
            return f"offsets are {shown(value)}, not a start and an end"
        start, end, unit = value[0], value[1], None
    else:
        start, end, unit = value.get("start"), value.get("end"), value.get("unit")
    if unit is not None and (not isinstance(unit, str) or unit not in OFFSET_UNITS):
        return f"the unit {shown(unit)} is none of {', '.join(OFFSET_UNITS)}"
    for name, number in (("start", start), ("end", end)):
        if number is None:
            return f"{name} is missing"
        if (whole := index_of(number)) is None or whole < 0:
            return f"{name} is {shown(number)}, no whole number from 0"
    return None if start < end else f"start {shown(start)} is not before end {shown(end)}"
