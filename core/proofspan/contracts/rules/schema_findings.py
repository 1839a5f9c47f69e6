"""Errors of a record's JSON Schema as problems with the contract's codes.

The codes are `missing_`, `wrong_type_`, `empty_` and `bad_` with the field's name: each place once, in a
fixed order, and a bounded number of them however large the record is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jsonschema_rs

from proofspan.contracts.records.field_values import DELTA_S_NAMES, LAMBDA_NAMES
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import validator
from proofspan.contracts.rules.catalogue import Rule, problem
from proofspan.contracts.rules.context import shown
from proofspan.errors import Problem

Path = tuple[str | int, ...]

#: How many problems of one record are listed.
MOST = 100
#: In a record of more than `LARGE` values only the beginning of each list is checked, up to the first wrong
#: entries: rounded up to `WINDOW` entries, `FARTHEST` at most.
LARGE, WINDOW, FARTHEST = 1 << 14, 1 << 8, 1 << 16
#: How deep a schema looks.
_DEPTH = 12
#: Families, the most telling first: a place has one problem.
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


#: The place of an error, its family, and a message.
_Error = tuple[Path, str, str]


@lru_cache(maxsize=1 << 9)
def code_name(field: str) -> str:
    """Return a field's name as codes spell it, ASCII: lambda_state for `λ_observe`, recall_at_50."""
    if (known := _NAMES.get(field)) is not None:
        return known
    for sign, spelled in _SPELLED.items():
        field = field.replace(sign, spelled)
    return _OTHERS.sub("_", field.lower()).strip("_") or "field"


def field_at(path: Sequence[str | int]) -> str:
    """Return a place inside a record with list positions from 1: `citations[2].offsets`."""
    field = ""
    for part in path:
        field += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if field else part
    return field


@Rule(
    "more_findings",
    "reading",
    "more than are listed",
    "The record breaks the contract in more places than are listed.",
    "Fix the listed ones, and validate again.",
)
def schema_problems(record_type: str, obj: Json) -> tuple[Problem, ...]:
    """Validate a record against the schema of its type; takes a microsecond or two if it is valid."""
    compiled = validator(record_type)
    try:
        if compiled.is_valid(obj):
            return ()
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 has no bytes for
        obj = _cut(obj, sys.maxsize)
    is_large = _size(obj) > LARGE
    most = _length(compiled, obj) if is_large else LARGE
    by_place: dict[Path, _Error] = {}
    for error in sorted(map(_read, compiled.iter_errors(_cut(obj, most))), key=_order):
        by_place.setdefault(error[0], error)
    listed = []
    for path, family, message in list(by_place.values())[:MOST]:
        named = next((part for part in reversed(path) if isinstance(part, str)), "")
        code = f"{family}_{code_name(named)}"
        if not named:
            code = "not_an_object" if family == "wrong_type" else "bad_record"
        listed.append(problem(code, field_at(path), message))
    if len(by_place) > MOST:
        message = f"{len(by_place) - MOST:,} more places at least do not follow the schema"
        listed.append(problem("more_findings", "", message))
    elif is_large:
        message = f"the record is large: of its lists only the first {most:,} entries were checked"
        listed.append(problem("more_findings", "", message))
    return tuple(listed)


def _length(compiled: jsonschema_rs.Validator, obj: Json) -> int:
    """Return how many entries of an invalid record's lists to check, by bisection for the first wrong one.

    The validator lists all errors at once, and a hostile line can hold millions of them.
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
    """Cut lists to `most` entries, drop what is below `_DEPTH`, and replace lone surrogates."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        kept = value.items() if depth < _DEPTH else ()
        return {_cut(name, most): _cut(each, most, depth + 1) for name, each in kept}
    if isinstance(value, list):
        return [_cut(each, most, depth + 1) for each in value[: most if depth < _DEPTH else 0]]
    return value


def _size(value: Json, depth: int = 0) -> int:
    """Count the values in it, as deep as a schema looks."""
    if not isinstance(value, dict | list):
        return 1
    children = (value.values() if isinstance(value, dict) else value) if depth < _DEPTH else ()
    return 1 + sum(_size(each, depth + 1) for each in children)


def _read(error: Any) -> _Error:
    path: Path = tuple(error.instance_path)
    kind, value = error.kind, error.instance
    if kind.name in ("required", "anyOf"):
        errors = [branch[0].kind for branch in kind.context] if kind.name == "anyOf" else [kind]
        names = [each.property for each in errors]
        return (*path, names[0]), "missing", f"{' or '.join(names)} is missing"
    name = field_at(path[-1:] if path and isinstance(path[-1], str) else path[-2:]) or "the record"
    if value is None and path:
        return path, "missing", f"{name} is null"
    message = f"{name} is {shown(value)}"
    if kind.name == "type":
        *others, last = [_TYPES[each] for each in _TYPES if each in kind.types and each != "null"]
        return path, "wrong_type", f"{message}, not {', '.join(others)}{' or ' if others else ''}{last}"
    if kind.name in _MINIMA and not value:
        return path, "empty", message
    bound = _BOUNDS.get(kind.name, "which its schema does not allow").format(getattr(kind, "limit", ""))
    if kind.name == "enum":
        bound = f"none of {', '.join(str(each) for each in kind.options if each is not None)}"
    return path, "bad", f"{message}, {bound}"


def _order(error: _Error) -> tuple[tuple[tuple[int, int | str], ...], int, str]:
    path, family, message = error
    place = tuple((0, part) if isinstance(part, int) else (1, part) for part in path)
    return place, _FAMILIES.index(family), message
