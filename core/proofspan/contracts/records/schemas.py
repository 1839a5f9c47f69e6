"""The published contract: one JSON Schema (draft 2020-12) per record type, under `data/schemas/`.

A schema may refer to another by its `$id`; loading it includes the schemas that it refers to. A record's
`$schema` names its type offline; nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from proofspan.resources import SCHEMAS

#: What the `$id` of a schema begins with; record type and version follow.
URN = "urn:proofspan:schema:"

_FILE = re.compile(r"(?P<name>[a-z][a-z-]*)-(?P<version>[0-9]+\.[0-9]+)\.json")
#: Our own names, and those of the data contracts (docs/requirements.md).
_NAMED = re.compile(
    rf"(?:{URN}|https?://wfgy\.dev/schemas/)"
    r"(?P<name>[a-z][a-z_-]{0,40})-(?P<version>[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?)(?:\.json)?"
)


@cache
def schema_files() -> dict[str, tuple[str, Path]]:
    """Record type, such as "trace" → the version and the file of its newest schema; sorted by type."""
    matches = (_FILE.fullmatch(path.name) for path in SCHEMAS.iterdir())
    found = [(match["name"], match["version"], SCHEMAS / match.string) for match in matches if match]
    found.sort(key=lambda each: (each[0], [int(part) for part in each[1].split(".")]))
    return {name: (version, path) for name, version, path in found}


def schema_names() -> tuple[str, ...]:
    """Return the record types that have a schema, sorted."""
    return tuple(schema_files())


def schema(name: str) -> dict[str, Any]:
    """Return the newest schema of a record type; those that it refers to are among its `$defs`, by name.

    KeyError for a type that has none.
    """
    whole = schema_alone(name)
    waiting = sorted(_named_in(whole))
    others: dict[str, Any] = {}
    while waiting:
        other = waiting.pop()
        if other != name and other not in others:
            others[other] = schema_alone(other)
            waiting += sorted(_named_in(others[other]))
    if others:
        whole["$defs"] = whole.get("$defs", {}) | dict(sorted(others.items()))
    return whole


def schema_alone(name: str) -> dict[str, Any]:
    """Return the newest schema of a record type as in its file, references to others unresolved."""
    _, path = schema_files()[name]
    loaded: dict[str, Any] = orjson.loads(path.read_bytes())
    return loaded


@cache
def validator(name: str) -> jsonschema_rs.Validator:
    """Compile the schema of a record type, once. KeyError for a type that has none."""
    return jsonschema_rs.validator_for(resolved_schema(name))


def resolved_schema(name: str) -> dict[str, Any]:
    """Return the newest schema of a record type with its references resolved, which validates faster."""
    whole = schema(name)
    resolved: dict[str, Any] = expanded(whole, whole, whole)
    return resolved


@lru_cache(maxsize=1 << 8)
def type_named(uri: str) -> tuple[str, str] | None:
    """Return the record type and version that a record's `$schema` names; None for an unknown one.

    `https://wfgy.dev/schemas/chunk-1.0.json`, as the data contracts have it, and our own
    `urn:proofspan:schema:chunk-1.0` are both ("chunk", "1.0"). The version need not be one that is read.
    """
    match = _NAMED.fullmatch(uri)
    if match is None:
        return None
    name = match["name"].replace("_", "-")
    return (name, match["version"]) if name in schema_files() else None


def _named_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(uri := node.get("$ref"), str) and (named := type_named(uri.partition("#")[0])):
            yield named[0]
        node = list(node.values())
    for child in node if isinstance(node, list) else ():
        yield from _named_in(child)


def expanded(node: Any, base: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    """Return a part of a schema with what its references name in their place; the same values follow it.

    `base` is the schema that its references are relative to, `whole` the one that contains all. Definitions
    are left out.
    """
    if isinstance(node, list):
        return [expanded(each, base, whole) for each in node]
    if not isinstance(node, dict):
        return node
    own = {name: expanded(each, base, whole) for name, each in node.items() if name not in ("$ref", "$defs")}
    if "$ref" not in node:
        return own
    uri, _, pointer = node["$ref"].partition("#")
    named = type_named(uri)
    home = base if named is None else whole["$defs"].get(named[0], whole)
    target = home
    for step in filter(None, pointer.split("/")):
        target = target[step]
    return both(expanded(target, home, whole), own)


def both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the values that follow both of two schemas without references.

    Fields of both are joined, so that a validator looks at each once. Annotations are those of `other`.
    """
    apart = [
        {name: one[name] for name in group & one.keys()}
        for dependent, group in _DEPENDENT.items()
        if (dependent in one or dependent in other) and group & one.keys() and group & other.keys()
    ]
    one = {name: value for name, value in one.items() if not any(name in part for part in apart)}
    joined = {**one, **other}
    for name in one.keys() & other.keys() - _ANNOTATIONS:
        mine, theirs = one[name], other[name]
        if name == "properties":
            fields = {field: both(mine[field], theirs[field]) for field in mine.keys() & theirs.keys()}
            joined[name] = {**mine, **theirs, **fields}
        elif name == "required":
            joined[name] = [*dict.fromkeys((*mine, *theirs))]
        elif name in ("minimum", "minLength", "minItems"):
            joined[name] = max(mine, theirs)
        elif name == "type" and (shared := [each for each in _types(theirs) if each in _types(mine)]):
            types = [each for each in shared if each != "integer" or "number" not in shared]
            joined[name] = types[0] if len(types) == 1 else types
        elif mine != theirs:
            apart.append({name: mine})
    return {**joined, "allOf": [*joined.get("allOf", ()), *apart]} if apart else joined


#: Keywords that change nothing about what is valid.
_ANNOTATIONS = frozenset({"title", "description", "examples", "$id", "$schema"})
#: A keyword whose meaning depends on the keywords beside it → those.
_DEPENDENT: Mapping[str, Set[str]] = {
    "additionalProperties": {"additionalProperties", "properties"},
    "items": {"items", "prefixItems"},
    "if": {"if", "then", "else"},
}


def _types(stated: str | list[str]) -> list[str]:
    types = [stated] if isinstance(stated, str) else stated
    return [*types, "integer"] if "number" in types else types
