"""The rules of the envelope, of versions, and of what else the contract asks of a record.

Each schema names these fields under `$defs/contract`: the envelope if it refers to that, its `required`, and
of each `anyOf` one field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import URN, schema_alone, schema_files, type_named
from proofspan.contracts.rules.catalogue import Rule, plain_problem, problem
from proofspan.contracts.rules.context import shown
from proofspan.contracts.rules.schema_findings import code_name
from proofspan.errors import Problem

#: The fields by which every record of the pipeline says how it was made.
ENVELOPE: tuple[str, ...] = tuple(schema_alone("envelope")["required"])
_NO_ENVELOPE = f"none of {', '.join(ENVELOPE)} is there"

_TIME = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[Tt ](?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?\s?(?:[Zz]|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)

#: The events and agents of the data contracts, and the event of a metrics pack, for which they name none.
EVENTS: Final = ("ingest.write", "retrieve.run", "rerank.run", "answer.decide", "metrics.pack")
AGENTS: Final = ("scout", "medic", "engineer", "retriever", "system")
_SHA256 = re.compile(r"sha256:[0-9a-fA-F]{64}")
#: With its hyphens, or all 32 digits in one as OpenTelemetry writes them.
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?)[0-9a-fA-F]{4}(?:\1[0-9a-fA-F]{4}){2}\1[0-9a-fA-F]{12}")


@cache
def _required(record_type: str) -> tuple[bool, list[list[str]]]:
    """Return whether a record of a type owes an envelope, and groups of fields of which it owes one."""
    contract = schema_alone(record_type).get("$defs", {}).get("contract", {})
    parts = [contract, *contract.get("allOf", ())]
    groups = [[name] for name in contract.get("required", ())]
    groups += [[each["required"][0] for each in part["anyOf"]] for part in parts if "anyOf" in part]
    has_envelope = any(part.get("$ref") == f"{URN}envelope-1.0" for part in parts)
    return record_type == "envelope" or has_envelope, groups


def contract_problems(record_type: str, obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Find what the contract asks for, beyond what a reader needs, and the record lacks or leaves empty."""
    owes_envelope, groups = _required(record_type)
    if owes_envelope:
        yield from envelope_problems(obj)
    # In a metrics pack null is a statement: not measured.
    stated = obj.keys() if record_type == "metrics" else {name for name in obj if obj[name] is not None}
    for names in groups:
        name = next((name for name in names if name in stated), None)
        if name is None:
            yield problem(f"missing_{code_name(names[0])}", names[0], f"{' or '.join(names)} is missing")
        # An adapter's default is "", blanks or 0; an empty list may be right.
        elif not value.strip() if isinstance(value := obj[name], str) else type(value) is int and value == 0:
            yield problem(f"empty_{code_name(name)}", name, f"{name} is {shown(value)}")


@Rule(
    "envelope_missing",
    "envelope",
    "no envelope",
    "The record has none of the envelope's fields, so nothing says when, by whom and in which state of "
    "memory it was made.",
    "Write schema_version, event, ts, trace_id, agent_id, mem_rev and mem_hash into every record.",
)
def envelope_problems(obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Check a record's envelope; one that is missing as a whole is one problem."""
    if all(obj.get(name) is None for name in ENVELOPE):
        yield plain_problem("envelope_missing", "", _NO_ENVELOPE)
        return
    for name in ENVELOPE:
        value = obj.get(name)
        if value is None:
            yield problem(f"missing_{name}", name, f"{name} is missing")
        elif name != "schema_version" and isinstance(value, str) and not value.strip():
            yield problem(f"empty_{name}", name, f"{name} is {shown(value)}")
    yield from time_problems(obj)
    yield from _value_problems(obj)


@Rule(
    "unknown_event",
    "envelope",
    "event not listed",
    "The data contracts do not list the record's event, so programs that select by event miss it.",
    f"Write one of {', '.join(EVENTS)}.",
    "warning",
)
@Rule(
    "unknown_agent",
    "envelope",
    "agent not listed",
    "The data contracts do not list the record's agent_id.",
    f"Write one of {', '.join(AGENTS)}; a name of your own fits in a field of your own.",
    "warning",
)
@Rule(
    "trace_id_not_uuid",
    "envelope",
    "trace_id is no UUID",
    "The record's trace_id is no UUID, so it may come again in another run.",
    "Write a UUID for each pass over a question; the same in all records of that pass.",
    "warning",
)
@Rule(
    "mem_hash_not_sha256",
    "envelope",
    "mem_hash is no sha256",
    "The record's mem_hash is no whole sha256, so two states of memory may look alike.",
    "Write sha256: and all 64 hexadecimal digits.",
    "warning",
)
def _value_problems(obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Check what the envelope's fields say; empty ones and those of another type are reported elsewhere."""
    event, agent, trace_id, mem_hash = (
        value if isinstance(value := obj.get(name), str) and value.strip() else None
        for name in ("event", "agent_id", "trace_id", "mem_hash")
    )
    if event is not None and event not in EVENTS:
        yield problem("unknown_event", "event", f"event is {shown(event)}, not one of {', '.join(EVENTS)}")
    if agent is not None and agent not in AGENTS:
        message = f"agent_id is {shown(agent)}, not one of {', '.join(AGENTS)}"
        yield problem("unknown_agent", "agent_id", message)
    if trace_id is not None and not _UUID.fullmatch(trace_id):
        yield problem("trace_id_not_uuid", "trace_id", f"trace_id is {shown(trace_id)}")
    if mem_hash is not None and not _SHA256.fullmatch(mem_hash):
        yield problem("mem_hash_not_sha256", "mem_hash", f"mem_hash is {shown(mem_hash)}")


def time_problems(obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Check that a record's time is ISO 8601; an empty one is reported elsewhere."""
    ts = obj.get("ts")
    if isinstance(ts, str) and ts.strip() and not _TIME.fullmatch(ts):
        yield problem("bad_ts", "ts", f"ts is {shown(ts)}, not ISO 8601 like 2026-02-23T10:22:59Z")


#: The version that nearly every record states.
USUAL: Final = "1.0.0"
UNSUPPORTED: Final = "schema_version_unsupported"

#: How many characters of a type or version are read: what is cached of hostile ones is bounded.
_LONGEST: Final = 300
_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.[0-9]{1,9})?")


def refusal(record_type: str, obj: Mapping[str, Json]) -> Problem | None:
    """Return why a record cannot be read: it is of another major version. None if it can."""
    breaches = version_problems(record_type, obj)
    return next((each for each in breaches if each.code == UNSUPPORTED), None) if breaches else None


def version_problems(record_type: str, obj: Mapping[str, Json]) -> tuple[Problem, ...]:
    """Check whether the record's own `schema_version` and `$schema` can be read as `record_type`."""
    version, uri = obj.get("schema_version"), obj.get("$schema")
    breaches: tuple[Problem, ...] = ()
    if version != USUAL and type(version) is str:
        breaches = _of_version(record_type, version[:_LONGEST], "schema_version")
    return (*breaches, *_of_schema(record_type, uri[:_LONGEST])) if type(uri) is str else breaches


@Rule(
    UNSUPPORTED,
    "envelope",
    "other major version",
    "The record is of another major version of its schema, in which fields may mean something else.",
    "Write the record by the major version that is read, or update Proofspan.",
)
@Rule(
    "schema_version_newer",
    "envelope",
    "newer minor version",
    "The record is of a newer minor version of its schema; what that version added is kept and not read.",
    "Nothing is lost; update Proofspan to have the new fields read.",
    "warning",
)
@lru_cache(maxsize=1 << 8)
def _of_version(record_type: str, version: str, field: str) -> tuple[Problem, ...]:
    if not version.strip():
        return (problem(f"empty_{field}", field, f"{field} is {shown(version)}"),)
    match = _VERSION.fullmatch(version)
    if match is None:
        return (problem(f"bad_{field}", field, f"{field} is {shown(version)}, not like {USUAL}"),)
    known = schema_files()[record_type][0]
    major, minor = (int(part) for part in known.split("."))
    if int(match[1]) != major:
        message = f"{field} is {shown(version)}, and only {major}.x of {record_type} records is read"
        return (problem(UNSUPPORTED, field, message),)
    if int(match[2]) > minor:
        message = f"{field} is {shown(version)}, newer than {known}, which is known of {record_type} records"
        return (problem("schema_version_newer", field, message),)
    return ()


@Rule(
    "unknown_schema",
    "envelope",
    "unknown $schema",
    "The record's $schema names no type that is known here.",
    "Name one of the published schemas; data/schemas has them.",
    "warning",
)
@Rule(
    "schema_conflict",
    "envelope",
    "$schema says otherwise",
    "The record's $schema names another type than the one it is read as.",
    "Correct the $schema, or name the right type with --as.",
)
@lru_cache(maxsize=1 << 8)
def _of_schema(record_type: str, uri: str) -> tuple[Problem, ...]:
    """Check a `$schema`. Any record may be read as its envelope."""
    named = type_named(uri)
    if named is None:
        return (problem("unknown_schema", "$schema", f"{shown(uri)} names no record type that is known"),)
    name, version = named
    if record_type not in (name, "envelope"):
        message = f"{shown(uri)} names {name} records, and this is read as {record_type}"
        return (problem("schema_conflict", "$schema", message),)
    return _of_version(name, version, "$schema")
