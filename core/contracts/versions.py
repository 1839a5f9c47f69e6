"""Versions of records: the same major version is read, a newer minor one too, another major one is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from core.contracts.findings import Finding, shown
from core.contracts.records import Json
from core.contracts.schemas import schema_files, type_named

#: What nearly every record says; whoever reads a million of them compares with this first.
USUAL: Final = "1.0.0"
UNSUPPORTED: Final = "schema_version_unsupported"

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.[0-9]{1,9})?")


def refusal(record_type: str, obj: Mapping[str, Json]) -> Finding | None:
    """Why a record cannot be read: it is of another major version. None for one that can."""
    return next((each for each in version_findings(record_type, obj) if each.code == UNSUPPORTED), None)


def is_readable(record_type: str, obj: Mapping[str, Json]) -> bool:
    """Whether the record is of the major version that is read, or says nothing that could be told."""
    return refusal(record_type, obj) is None


def version_findings(record_type: str, obj: Mapping[str, Json]) -> Iterator[Finding]:
    """What the record's own `schema_version` and `$schema` say of how it can be read."""
    version, uri = obj.get("schema_version"), obj.get("$schema")
    if version != USUAL and isinstance(version, str):
        yield from _of_version(record_type, version, "schema_version")
    if isinstance(uri, str):
        yield from _of_schema(record_type, uri)


@lru_cache(maxsize=1 << 8)
def _of_version(record_type: str, version: str, field: str) -> tuple[Finding, ...]:
    """What one version means where `record_type` is read."""
    if not version.strip():
        return (Finding(f"empty_{field}", field, f"{field} is {shown(version)}"),)
    match = _VERSION.fullmatch(version)
    if match is None:
        return (Finding(f"bad_{field}", field, f"{field} is {shown(version)}, not like {USUAL}"),)
    read = schema_files()[record_type][0]
    major, minor = (int(part) for part in read.split("."))
    if int(match[1]) != major:
        said = f"{field} is {shown(version)}, and only {major}.x of {record_type} records is read"
        return (Finding(UNSUPPORTED, field, said),)
    if int(match[2]) > minor:
        said = f"{field} is {shown(version)}, and what {read} of {record_type} records has is read"
        return (Finding("schema_version_newer", field, said),)
    return ()


@lru_cache(maxsize=1 << 8)
def _of_schema(record_type: str, uri: str) -> tuple[Finding, ...]:
    """What a `$schema` means where `record_type` is read. Any record may be read as its envelope."""
    named = type_named(uri)
    if named is None:
        return (Finding("unknown_schema", "$schema", f"{shown(uri)} names no record type that is known"),)
    name, version = named
    if record_type not in (name, "envelope"):
        said = f"{shown(uri)} names {name} records, and this is read as {record_type}"
        return (Finding("schema_conflict", "$schema", said),)
    return _of_version(name, version, "$schema")
