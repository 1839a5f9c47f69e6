"""The envelope and whatever else the contract asks of a record that a reader can do without.

Which fields these are stands in each schema, under `$defs/contract`: the envelope where it refers to that,
its `required`, and of each `anyOf` one field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import URN, schema_alone, schema_files, type_named
from proofspan.contracts.rules.finding import Finding, shown
from proofspan.contracts.rules.schema_findings import code_name

#: What every record of the pipeline says of its own making.
ENVELOPE: tuple[str, ...] = tuple(schema_alone("envelope")["required"])

_ENVELOPE_ID = f"{URN}envelope-1.0"
_NAMES = frozenset(ENVELOPE)
#: What must hold something, and where the plainest times have their signs: 2026-02-23T10:22:59Z.
_FILLED = itemgetter(*(name for name in ENVELOPE if name != "ts"))
_SIGNS, _PLAIN = itemgetter(4, 7, 10, 13, 16, -1), ("-", "-", "T", ":", ":", "Z")
_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
#: What is said of a record without any of them.
NO_ENVELOPE = Finding("envelope_missing", "", f"none of {', '.join(ENVELOPE)} is there")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the contract asks of a record type: its envelope, and of each of these groups one field."""

    envelope: bool
    groups: tuple[tuple[str, ...], ...]

    def is_met(self, obj: Mapping[str, Json]) -> bool:
        """Whether the first field of each group is there and holds something: the quick look."""
        values = [obj.get(names[0]) for names in self.groups]
        return all(values) and not any(type(value) is str and value.isspace() for value in values)


@cache
def asked_of(record_type: str) -> Asked:
    """What the schema of a record type says under `$defs/contract`."""
    contract = schema_alone(record_type).get("$defs", {}).get("contract", {})
    parts = [contract, *contract.get("allOf", ())]
    groups = [(name,) for name in contract.get("required", ())]
    groups += [tuple(each["required"][0] for each in part["anyOf"]) for part in parts if "anyOf" in part]
    has_envelope = record_type == "envelope" or any(part.get("$ref") == _ENVELOPE_ID for part in parts)
    return Asked(has_envelope, tuple(groups))


def contract_findings(record_type: str, obj: Mapping[str, Json]) -> tuple[Finding, ...]:
    """What the contract asks for beyond what a reader needs, and the record lacks or leaves empty."""
    asked = asked_of(record_type)
    enveloped = () if not asked.envelope or is_whole(obj) else tuple(envelope_findings(obj))
    return enveloped if asked.is_met(obj) else (*enveloped, *_lacking(asked, obj))


def _lacking(asked: Asked, obj: Mapping[str, Json]) -> Iterator[Finding]:
    for names in asked.groups:
        name = next((name for name in names if obj.get(name) is not None), None)
        if name is None:
            said = f"{' or '.join(names)} is missing"
            yield Finding(f"missing_{code_name(names[0])}", names[0], said)
        elif is_empty(obj[name]):
            yield empty(name, obj[name])


def envelope_findings(obj: Mapping[str, Json]) -> Iterator[Finding]:
    """What is wrong with a record's envelope: one finding where it has none at all."""
    if _NAMES.isdisjoint(obj):
        yield NO_ENVELOPE
        return
    values = [obj.get(name) for name in ENVELOPE]
    given = [value is not None for value in values]
    if not any(given):
        yield NO_ENVELOPE
        return
    if not all(given):
        for name, is_given in zip(ENVELOPE, given, strict=True):
            if not is_given:
                yield Finding(f"missing_{name}", name, f"{name} is missing")
    for name, value in zip(ENVELOPE, values, strict=True):
        if name != "schema_version" and isinstance(value, str) and not value.strip():
            yield empty(name, value)
    yield from time_findings(obj)


def is_whole(obj: Mapping[str, Json]) -> bool:
    """Whether the envelope is there and nothing is wrong with it: the quick look, a third of a microsecond.

    Whether the version can be read is asked elsewhere.
    """
    if "ts" not in obj:
        return False
    try:
        version, event, trace_id, agent_id, mem_rev, mem_hash = _FILLED(obj)
        is_filled = version.strip() and event.strip() and trace_id.strip() and agent_id.strip()
        return bool(is_filled and mem_rev.strip() and mem_hash.strip()) and _is_time(obj["ts"])
    except (KeyError, AttributeError):
        return False


def _is_time(ts: Json) -> bool:
    """Whether a value is a time; of the plainest ones the standard library knows soonest."""
    if type(ts) is not str:
        return False
    try:
        if _SIGNS(ts) == _PLAIN:
            datetime.fromisoformat(ts)
            return True
    except (IndexError, ValueError):
        pass
    return _TIME.fullmatch(ts) is not None


def time_findings(obj: Mapping[str, Json]) -> Iterator[Finding]:
    """A time that is not ISO 8601; an empty one is told elsewhere."""
    ts = obj.get("ts")
    if isinstance(ts, str) and ts.strip() and not _TIME.fullmatch(ts):
        yield Finding("bad_ts", "ts", f"ts is {shown(ts)}, not ISO 8601 like 2026-02-23T10:22:59Z")


def is_empty(value: Json) -> bool:
    """Whether a value holds nothing, as an adapter's default does: "", blanks or 0.

    An empty list may be right; whoever knows the list says so.
    """
    return not value.strip() if isinstance(value, str) else type(value) is int and value == 0


def empty(name: str, value: Json) -> Finding:
    """The finding for a field that holds nothing."""
    return Finding(f"empty_{code_name(name)}", name, f"{name} is {shown(value)}")


# Versions of records: the same major version is read, a newer minor one too, another major one is not.

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
