"""Versions of records: the same major version is read, a newer minor one too, another major one is not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.records import Json
from proofspan.contracts.schemas import schema_files, type_named

#: What nearly every record says; whoever reads a million of them compares with this first.
USUAL: Final = "1.0.0"
UNSUPPORTED: Final = "schema_version_unsupported"

#: No name of a type or version is as long, and what is remembered of hostile ones is bounded.
_LONGEST: Final = 300
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.[0-9]{1,9})?")


def refusal(record_type: str, obj: Mapping[str, Json]) -> Finding | None:
    """Why a record cannot be read: it is of another major version. None for one that can."""
    return _refusal(record_type, *_stated(obj))


def is_readable(record_type: str, obj: Mapping[str, Json]) -> bool:
    """Whether the record is of the major version that is read, or says nothing that could be told."""
    return refusal(record_type, obj) is None


def version_findings(record_type: str, obj: Mapping[str, Json]) -> tuple[Finding, ...]:
    """What the record's own `schema_version` and `$schema` say of how it can be read."""
    version, uri = _stated(obj)
    found: tuple[Finding, ...] = ()
    if version is not None and version != USUAL:
        found = _of_version(record_type, version, "schema_version")
    return found if uri is None else (*found, *_of_schema(record_type, uri))


def _stated(obj: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """`schema_version` and `$schema`, None where they are no text; no more of them than names a version."""
    version, uri = obj.get("schema_version"), obj.get("$schema")
    return (
        version[:_LONGEST] if type(version) is str else None,
        uri[:_LONGEST] if type(uri) is str else None,
    )


@lru_cache(maxsize=1 << 8)
def _refusal(record_type: str, version: str | None, uri: str | None) -> Finding | None:
    found = version_findings(record_type, {"schema_version": version, "$schema": uri})
    return next((each for each in found if each.code == UNSUPPORTED), None)


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
        said = f"{field} is {shown(version)}, newer than the {read} that is known of {record_type} records"
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
