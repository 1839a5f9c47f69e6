"""Lists, texts and turns inside another tool's records, of whatever type they turn out to be."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of, python_of, read_lists, read_records, sample_of
from proofspan.traces.formats.types import Reading

_PEOPLE = frozenset({"user", "human"})
_MODELS = frozenset({"assistant", "ai", "agent", "model"})
_NUMBERS = frozenset({int, float, bool})


def entries(
    path: Path,
    reading: Reading,
    *ways: tuple[str, ...],
    around: dict[str, Json] | None = None,
    used: Collection[str] = (),
) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the objects of the lists that a file's object holds, with their places: "results 3".

    `ways` are the keys that lead to the lists. An object without any is a record itself, so lines and arrays
    of the same records are read too. At the end `around` has the object, and its fields are counted, those
    in `used` as understood.
    """
    outer: dict[str, Json] = {} if around is None else around
    sample = sample_of(path)
    found = [way for way in ways if isinstance(_follow(sample.first, way), list)]
    if sample.shape == "object" and found:  # it may be too large for the memory
        names = map(".".join, found)
        yield from ((place, each) for _, place, each in read_lists(path, reading, *names, rest=outer))
        _count_around(outer, found, reading, used)
        return
    for place, record in read_records(path, reading):
        outer.clear()
        outer.update(record)
        lists = {way: value for way in ways if isinstance(value := _follow(record, way), list)}
        if not lists:
            yield place, record
            continue
        reading.records -= 1  # the entries are the records
        _count_around(record, [*lists], reading, used)
        for way, value in lists.items():
            yield from objects(value, reading, way[-1])


def _count_around(
    record: Mapping[str, Json], ways: list[tuple[str, ...]], reading: Reading, used: Collection[str]
) -> None:
    for above in sorted({way[:depth] for way in ways for depth in range(len(way))}):
        on_way = {way[len(above)] for way in ways if way[: len(above)] == above}
        value = _follow(record, above)
        if isinstance(value, dict):
            known = on_way if above else {*on_way, *used}
            reading.fields(value, known, at="".join(f"{step}." for step in above))


def _follow(record: Json, way: tuple[str, ...]) -> Json:
    for step in way:
        record = record.get(step) if isinstance(record, dict) else None
    return record


def objects(value: list[Json], reading: Reading, name: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the objects of the list `name` with their places and count them; others are problems."""
    for number, each in enumerate(value, start=1):
        reading.records += 1
        if isinstance(each, dict):
            yield f"{name} {number:,}", each
        else:
            reading.problem("not_an_object", "is no JSON object", f"{name} {number:,}", "Export it again.")


def first_object(value: Json) -> Mapping[str, Json]:
    """Return the first object of a list; {} for all else."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}


def object_of(value: Json) -> Mapping[str, Json]:
    """Return an object as it is, also one written into a cell; {} for all else."""
    value = json_of(value)
    return value if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """Return a list as tools write it: as it is, as JSON or as Python in a cell; another value alone."""
    value = json_of(value)
    if isinstance(value, str) and value[:1] == "[":
        value = python_of(value)
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _holds(value: Json) -> bool:
    """Return whether a value says something: 0 and false do."""
    return bool(value) or type(value) in _NUMBERS


def text(value: Json) -> str | None:
    """Return a value as text, that of an object or a list as JSON; None for null and for empty ones."""
    if isinstance(value, str):
        return value or None
    if not _holds(value) or (isinstance(value, float) and math.isnan(value)):
        return None
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def number(value: Json) -> float | None:
    """Return a finite number, also one written as text; None for all else."""
    if not isinstance(value, str):
        found = number_of(value)
    else:
        try:
            found = float(value)
        except ValueError:
            return None
    return found if found is not None and math.isfinite(found) else None


def measure(value: Json) -> Json:
    """Return a score as it is kept: a number, else a text; None for nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    found = number(value)
    return found if found is not None else text(value)


def kept(record: Mapping[str, Json], names: Iterable[str]) -> dict[str, Json]:
    """Return the named fields of a record that hold anything."""
    return {name: value for name in names if _holds(value := record.get(name))}


def stated(**values: Json) -> dict[str, Json]:
    """Return the values that hold anything by their names, such as the parts of a score."""
    return {name: value for name, value in values.items() if _holds(value)}


class Exchange(NamedTuple):
    """The last question of a conversation and the message that answers it; {} where nothing does."""

    q: str | None
    reply: Mapping[str, Json]


def exchange(messages: Json) -> Exchange:
    """Return the last question of a person that has an answer, else the last question."""
    asked: str | None = None
    answered: Exchange | None = None
    for by, message in _turns(messages):
        if by in _PEOPLE:
            asked = message_text(message)
        elif by in _MODELS and asked is not None:
            answered = Exchange(asked, message)
    return answered or Exchange(asked, {})


def last_question(messages: Json) -> str | None:
    """Return what a person asks last in the messages that a model was sent."""
    asked = [message_text(message) for by, message in _turns(messages) if by in _PEOPLE]
    return asked[-1] if asked else None


def _turns(messages: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the messages that hold text with who speaks, by `role`, `type` or `speaker`."""
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and message_text(message) is not None:
            names = (message.get(name) for name in ("role", "type", "speaker"))
            yield next((name for name in names if isinstance(name, str)), ""), message


def message_text(message: Mapping[str, Json]) -> str | None:
    """Return the text of a message: its `content` or `text`, of content blocks their texts together."""
    content = message.get("content", message.get("text"))
    if isinstance(content, list):
        parts = [block.get("text") for block in content if isinstance(block, dict)]
        if texts := [part for part in parts if isinstance(part, str)]:
            return "\n".join(texts)
    return text(content)
