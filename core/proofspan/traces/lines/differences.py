"""The differences of two JSON values as they are written: fields, values, and how far numbers are apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from decimal import Decimal
from math import isfinite
from typing import Final, NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.traces.lines.canonical_hash import written
from proofspan.traces.lines.reader import ABSENT, Number, Pairs

#: How many characters of a value are shown.
SHOWN: Final = 120
#: A field by its names from the top: `("metrics", "latency_ms")`; lists on the way are entered.
FieldPath = tuple[str, ...]


class FieldDifference(NamedTuple):
    """A field with different values; `gap` is the distance of two numbers, None for other values."""

    field: str
    a: str
    b: str
    gap: float | None


def field_path(text: str) -> FieldPath:
    """Return the path of a field such as `metrics.latency_ms`."""
    return tuple(text.split("."))


def without(value: Json, fields: Collection[FieldPath]) -> Json:
    """Return a value without some fields, each a path from the top."""
    if not fields:
        return value
    if type(value) is list:
        return [without(each, fields) for each in value]
    if type(value) is not Pairs:
        return value
    dropped = {path[0] for path in fields if len(path) == 1}
    return Pairs(
        (name, without(each, [path[1:] for path in fields if len(path) > 1 and path[0] == name]))
        for name, each in value
        if name not in dropped
    )


def differences(a: Json, b: Json, field: str = "") -> Iterator[FieldDifference]:
    """Yield the fields in which two values differ, in the order of `a`, those of `b` alone last.

    Entries of lists count from 1. Values are as `parse_as_written` returns them; neither has a duplicate key.
    """
    if type(a) is Pairs and type(b) is Pairs:
        mine, theirs = dict(a), dict(b)
        for name in dict.fromkeys((*mine, *theirs)):
            inside = f"{field}.{name}" if field else name
            yield from differences(mine.get(name, ABSENT), theirs.get(name, ABSENT), inside)
    elif type(a) is list and type(b) is list:
        for number in range(max(len(a), len(b))):
            inside = f"{field}[{number + 1}]"
            one, other = (each[number] if number < len(each) else ABSENT for each in (a, b))
            yield from differences(one, other, inside)
    elif _form(a) != _form(b):
        yield FieldDifference(field, shown(_form(a)), shown(_form(b)), _gap(a, b))


def shown(text: str) -> str:
    """Return a value's text, shortened in its middle."""
    half = SHOWN // 2
    return text if len(text) <= SHOWN else f"{text[:half]}…{text[-half + 1 :]}"


def _form(value: Json) -> str:
    return "absent" if value is ABSENT else written(value)


def _gap(a: Json, b: Json) -> float | None:
    if type(a) is not Number or type(b) is not Number:
        return None
    try:
        gap = float(abs(Decimal(a) - Decimal(b)))  # as written: 0.2 and 0.1 are 0.1 apart
    except ArithmeticError:
        return None
    return gap if isfinite(gap) else None
