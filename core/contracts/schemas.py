"""The published contract: one JSON Schema (draft 2020-12) a record type, under `data/schemas/`.

A record's `$schema` names its type offline; nothing is ever fetched.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import orjson

FOLDER = Path(__file__).resolve().parents[2] / "data" / "schemas"

_FILE = re.compile(r"(?P<name>[a-z][a-z-]*)-(?P<version>[0-9]+\.[0-9]+)\.json")


@cache
def schema_files() -> dict[str, tuple[str, Path]]:
    """Record type, such as "trace" → the version and the file of its newest schema; sorted by type."""
    matches = (_FILE.fullmatch(path.name) for path in FOLDER.iterdir())
    found = [(match["name"], match["version"], FOLDER / match.string) for match in matches if match]
    return {name: (version, path) for name, version, path in sorted(found, key=_by_version)}


def schema_names() -> tuple[str, ...]:
    """The record types that have a schema; sorted."""
    return tuple(schema_files())


def schema(name: str) -> dict[str, Any]:
    """The newest schema of a record type. KeyError for a type that has none."""
    _, path = schema_files()[name]
    loaded: dict[str, Any] = orjson.loads(path.read_bytes())
    return loaded


def _by_version(found: tuple[str, str, Path]) -> tuple[str, list[int]]:
    name, version, _ = found
    return name, [int(part) for part in version.split(".")]
