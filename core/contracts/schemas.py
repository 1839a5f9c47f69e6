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
def schema_names() -> tuple[str, ...]:
    """The record types that have a schema, such as "trace"; sorted."""
    matches = (_FILE.fullmatch(path.name) for path in FOLDER.iterdir())
    return tuple(sorted({match["name"] for match in matches if match}))


def schema(name: str, *, version: str = "1.0") -> dict[str, Any]:
    """The schema of a record type. KeyError for a type that has none."""
    if name not in schema_names():
        raise KeyError(name)
    loaded: dict[str, Any] = orjson.loads((FOLDER / f"{name}-{version}.json").read_bytes())
    return loaded
