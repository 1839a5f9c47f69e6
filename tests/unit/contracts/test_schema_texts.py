"""The published schemas read well: titles, descriptions and examples everywhere, and the examples hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.record_rules import RECORD_TYPES
from proofspan.contracts.records.schemas import both, expanded, schema, schema_alone, schema_names, validator

#: What says by itself what it allows.
_SPEAKING = ({"boolean"}, {"null"})
WRITTEN_BY_PEOPLE = ("cohort", "manifest", "mapping", "pinning")


def _named_parts(node: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property and entry of a schema with its place."""
    children = [(f"{place}.{name}", child) for name, child in node.get("properties", {}).items()]
    children += [(f"{place}[]", node["items"])] if "items" in node else []
    for where, child in children:
        yield where, child
        yield from _named_parts(child, where)


def _parts(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Every part of a schema with its place, references replaced by what they refer to."""
    alone, whole = schema_alone(name), schema(name)
    defined = [(f"$defs.{key}", expanded(node, alone, whole)) for key, node in alone.get("$defs", {}).items()]
    inside = [each for place, part in defined for each in _named_parts(part, place)]
    return [*_named_parts(expanded(whole, whole, whole), ""), *defined, *inside]


def _types(node: dict[str, Any]) -> set[str]:
    """The types that a part allows, without null."""
    stated = node.get("type", [])
    return {*([stated] if isinstance(stated, str) else stated)} - {"null"}


@pytest.mark.parametrize("name", (*RECORD_TYPES, *WRITTEN_BY_PEOPLE))
def test_a_schema_says_what_everything_is(name: str) -> None:
    for place, part in _parts(name):
        is_entry = place.endswith("[]") and _types(part) <= {"string", "number", "integer"}
        if not is_entry:
            assert part.get("title"), f"{name}: {place} has no title"
            assert part.get("description", "").endswith((".", "`")), f"{name}: {place} has no description"


@pytest.mark.parametrize("name", RECORD_TYPES)
def test_a_record_types_schema_has_examples(name: str) -> None:
    assert schema_alone(name)["examples"]
    for place, part in _parts(name):
        is_plain = _types(part) & {"string", "number", "integer"} and not place.endswith("[]")
        if is_plain and "enum" not in part and _types(part) not in _SPEAKING:
            assert part.get("examples"), f"{name}: {place} has no example"


@pytest.mark.parametrize("name", schema_names())
def test_examples_hold_wherever_they_are(name: str) -> None:
    whole = schema(name)
    for example in whole.get("examples", []):
        validator(name).validate(example)
    for place, part in _parts(name):
        examples = part.get("examples", [])
        if examples:
            alone = {key: value for key, value in part.items() if key != "examples"}
            compiled = jsonschema_rs.validator_for(alone)
            for example in examples:
                assert compiled.is_valid(example), f"{name}: {place}: {example!r}"


@pytest.mark.parametrize("name", schema_names())
def test_a_whole_schema_is_self_contained(name: str) -> None:
    whole = schema(name)
    compiled = jsonschema_rs.validator_for(whole)
    assert not compiled.is_valid(7)
    embedded = [value["$id"] for value in whole.get("$defs", {}).values() if "$id" in value]
    assert len(set(embedded)) == len(embedded)
    assert whole["$id"] not in embedded


def test_the_envelope_is_described_once() -> None:
    described = [name for name in schema_names() if '"mem_hash": {' in _text(name)]
    assert described == ["envelope"]


def _text(name: str) -> str:
    from proofspan.contracts.records.schemas import schema_files

    return schema_files()[name][1].read_text(encoding="utf-8")


_ODD = st.sampled_from([None, True, 0, -1, 2.5, 1 << 60, "", " ", "x", [], [1], [3, 9], {}, {"start": 4}])


@cache
def _whole(name: str) -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Return a schema, the same with its references replaced, and a validator that follows them itself."""
    whole = schema(name)
    return whole, expanded(whole, whole, whole), jsonschema_rs.validator_for(whole)


@pytest.mark.parametrize("name", schema_names())
@settings(max_examples=30)
@given(data=st.data())
def test_resolved_references_change_nothing(name: str, data: st.DataObject) -> None:
    (whole, replaced, referring), resolved = _whole(name), validator(name)
    record = dict(data.draw(st.sampled_from(whole.get("examples") or [{}])))
    named = sorted({*record, *replaced.get("properties", {})})
    for field in data.draw(st.lists(st.sampled_from(named), max_size=3)):
        inside = record.get(field)
        if isinstance(inside, list) and inside and isinstance(inside[0], dict) and data.draw(st.booleans()):
            key = data.draw(st.sampled_from([*inside[0], "page", "score", "k_pos"]))
            record[field] = [{**inside[0], key: data.draw(_ODD)}, *inside[1:]]
        else:
            record[field] = data.draw(_ODD)
    assert resolved.is_valid(record) is referring.is_valid(record)


_PARTS = [
    {"type": "number", "minimum": 1},
    {"type": ["integer", "null"], "minimum": 0, "maximum": 2},
    {"type": "string", "minLength": 1},
    {"type": ["string", "array"], "minItems": 2},
    {"enum": [1, "x", None]},
    {"enum": ["x", "y"]},
    {"required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    {"required": ["b"], "properties": {"a": {"minimum": 1}}, "additionalProperties": False},
    {"properties": {"a": {"type": ["number", "null"]}}, "additionalProperties": {"type": "string"}},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {"items": {"type": "integer"}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    {"if": {"required": ["b"]}, "then": {"maxProperties": 1}},
    {"anyOf": [{"required": ["a"]}, {"type": "array"}]},
    {"anyOf": [{"required": ["b"]}, {"type": "array"}], "allOf": [{"maxItems": 2}]},
]
_VALUES = [
    *(None, 0, 1, 2, 2.5, True, "", "x", "y", [], [1], [1, 2], [1, "x"], ["x", "x"], {}, {"a": 1}),
    *({"a": 0}, {"a": 1.5}, {"b": "x"}, {"a": 1, "b": "x"}, {"a": None, "b": "y"}, {"b": 7, "c": "x"}),
]


@pytest.mark.parametrize("one", _PARTS)
def test_a_value_follows_both_schemas_or_not_their_join(one: dict[str, Any]) -> None:
    for other in _PARTS:
        first, second, joined = map(jsonschema_rs.validator_for, (one, other, both(one, other)))
        for value in _VALUES:
            assert joined.is_valid(value) is (first.is_valid(value) and second.is_valid(value))
