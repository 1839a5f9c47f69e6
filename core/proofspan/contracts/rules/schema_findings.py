"""What a record's JSON Schema says against it, in the contract's codes.

`missing_`, `wrong_type_`, `empty_` and `bad_` with the field's name: each place once, in a fixed order, a
bounded number of them however large the record is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema_rs

from proofspan.contracts.records.field_values import DELTA_S_NAMES, LAMBDA_NAMES
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import validator
from proofspan.contracts.rules.finding import Finding, shown

Path = tuple[str | int, ...]

#: So many findings of one record are listed.
MOST = 100
#: Of a record of more values than this only the beginning of its lists is looked at: so many entries
#: together, and so many at most.
LARGE, WINDOW, FARTHEST = 1 << 14, 1 << 8, 1 << 16
#: Deeper than this no schema looks.
_DEPTH = 12
#: Families, the one that says most first: a place has one finding.
_FAMILIES = ("missing", "wrong_type", "empty", "bad")
_TYPES = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}
_BOUNDS = {
    "minimum": "below {}",
    "maximum": "above {}",
    "minItems": "with fewer than {}",
    "maxItems": "with more than {}",
    "minLength": "shorter than {}",
}
_MINIMA = frozenset({"minLength", "minItems", "minProperties"})
_NAMES = dict.fromkeys(DELTA_S_NAMES, "delta_s") | dict.fromkeys(LAMBDA_NAMES, "lambda_state")
_SPELLED = {"ΔS": "delta_s", "deltaS": "delta_s", "λ": "lambda", "@": "_at_"}
_OTHERS = re.compile(r"[^a-z0-9_]+")


class _Fault(NamedTuple):
    """One error of the validator: where, of which family, and in words."""

    path: Path
    family: str
    said: str


@lru_cache(maxsize=1 << 9)
def code_name(field: str) -> str:
    """A field's name as codes spell it, ASCII: `λ_observe` is lambda_state, `recall@50` recall_at_50."""
    if (known := _NAMES.get(field)) is not None:
        return known
    for sign, spelled in _SPELLED.items():
        field = field.replace(sign, spelled)
    return _OTHERS.sub("_", field.lower()).strip("_") or "field"


def field_at(path: Sequence[str | int]) -> str:
    """A place inside a record as a person reads it, list positions from 1: `citations[2].offsets`."""
    field = ""
    for part in path:
        field += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if field else part
    return field


def schema_findings(record_type: str, obj: Json) -> tuple[Finding, ...]:
    """What the schema of `record_type` says against a record; nothing for most of them, in a microsecond."""
    compiled = validator(record_type)
    try:
        if compiled.is_valid(obj):
            return ()
    except UnicodeEncodeError:  # half of a character, which UTF-8 has no bytes for
        obj = _cut(obj, sys.maxsize)
    is_large = _size(obj) > LARGE
    most = _length(compiled, obj) if is_large else LARGE
    short = _cut(obj, most)
    by_place: dict[Path, _Fault] = {}
    for fault in sorted(map(_read, compiled.iter_errors(short)), key=_order):
        by_place.setdefault(fault.path, fault)
    listed = [_finding(fault) for fault in list(by_place.values())[:MOST]]
    if len(by_place) > MOST:
        said = f"{len(by_place) - MOST:,} more places at least do not follow the schema"
        listed.append(Finding("more_findings", "", said))
    elif is_large:
        said = f"the record is large: of its lists only the first {most:,} entries were looked at"
        listed.append(Finding("more_findings", "", said))
    return tuple(listed)


def _length(compiled: jsonschema_rs.Validator, obj: Json) -> int:
    """How many entries of an invalid record's lists have to be looked at to see what is wrong first.

    The validator lists all errors at once, and a hostile line can hold millions of them. Halving finds the
    first wrong entries; beyond `FARTHEST` nobody looks.
    """
    low, high = 0, WINDOW
    while high < FARTHEST and compiled.is_valid(_cut(obj, high)):
        low, high = high, high * 4
    while high - low > WINDOW:
        middle = (low + high) // 2
        if compiled.is_valid(_cut(obj, middle)):
            low = middle
        else:
            high = middle
    return high


def _cut(value: Json, most: int, depth: int = 0) -> Json:
    """The value with at most so many entries in each list, nothing below `_DEPTH`, and no half characters."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        kept = value.items() if depth < _DEPTH else ()
        return {_cut(name, most): _cut(each, most, depth + 1) for name, each in kept}
    if isinstance(value, list):
        return [_cut(each, most, depth + 1) for each in value[: most if depth < _DEPTH else 0]]
    return value


def _size(value: Json, depth: int = 0) -> int:
    """How many values it is made of, as far down as a schema looks."""
    if not isinstance(value, dict | list):
        return 1
    children = (value.values() if isinstance(value, dict) else value) if depth < _DEPTH else ()
    return 1 + sum(_size(each, depth + 1) for each in children)


def _read(error: Any) -> _Fault:
    """An error of the validator in our words."""
    path: Path = tuple(error.instance_path)
    kind, value = error.kind, error.instance
    if kind.name == "required":
        return _Fault((*path, kind.property), "missing", f"{kind.property} is missing")
    if kind.name == "anyOf":
        names = [branch[0].kind.property for branch in kind.context]
        return _Fault((*path, names[0]), "missing", f"{' or '.join(names)} is missing")
    name = field_at(path[-1:] if path and isinstance(path[-1], str) else path[-2:]) or "the record"
    if value is None and path:
        return _Fault(path, "missing", f"{name} is null")
    if kind.name == "type":
        return _Fault(path, "wrong_type", f"{name} is {shown(value)}, not {_wanted(kind.types)}")
    if kind.name in _MINIMA and not value:
        return _Fault(path, "empty", f"{name} is {shown(value)}")
    return _Fault(path, "bad", f"{name} is {shown(value)}, {_bound(kind)}")


def _wanted(types: Sequence[str]) -> str:
    """The types that a schema allows, null left out."""
    *others, last = [_TYPES[each] for each in _TYPES if each in types and each != "null"]
    return f"{', '.join(others)} or {last}" if others else last


def _bound(kind: Any) -> str:
    """What keeps a value of the right type from being allowed."""
    if kind.name == "enum":
        return f"none of {', '.join(str(each) for each in kind.options if each is not None)}"
    return _BOUNDS.get(kind.name, "which its schema does not allow").format(getattr(kind, "limit", ""))


def _finding(fault: _Fault) -> Finding:
    named = next((part for part in reversed(fault.path) if isinstance(part, str)), "")
    if not named:
        code = "not_an_object" if fault.family == "wrong_type" else "bad_record"
    else:
        code = f"{fault.family}_{code_name(named)}"
    return Finding(code, field_at(fault.path), fault.said)


def _order(fault: _Fault) -> tuple[tuple[tuple[int, int | str], ...], int, str]:
    """By place, positions as numbers; then what says most."""
    place = tuple((0, part) if isinstance(part, int) else (1, part) for part in fault.path)
    return place, _FAMILIES.index(fault.family), fault.said
