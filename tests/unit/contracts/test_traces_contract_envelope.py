"""The envelope of a trace: one finding a field, nothing reported twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import LineIssue, SourceLine, Trace
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.contracts.rules.envelope import contract_problems
from proofspan.services.validation import validate
from proofspan.traces.contract import trace_codes, trace_problems
from proofspan.traces.records.trace_record import trace_from
from tests.unit.contracts.citation_payloads import JSON
from tests.unit.store_workspace import ENVELOPE

TRACE = {"q_id": "Q1", "q": "Who needs a key?", "chunks": [], "answer": "not in context"}


def line(**changes: Any) -> dict[str, Any]:
    """A trace that declines, with its envelope; a value of `...` takes a key away."""
    return {name: value for name, value in {**ENVELOPE, **TRACE, **changes}.items() if value is not ...}


def read(obj: dict[str, Any]) -> Trace | LineIssue:
    return trace_from(obj, SourceLine("t.jsonl", 1, 0, 0), run_id=None)


CASES: tuple[tuple[dict[str, Any], list[tuple[str, str]]], ...] = (
    ({}, []),
    ({"$schema": "urn:proofspan:schema:trace-1.0"}, []),
    (dict.fromkeys(ENVELOPE, ...), [("envelope_missing", "")]),
    (dict.fromkeys(ENVELOPE, None), [("envelope_missing", "")]),
    (
        {**dict.fromkeys(ENVELOPE, ...), "$schema": "urn:proofspan:schema:answer-1.0"},
        [("schema_conflict", "$schema"), ("envelope_missing", "")],
    ),
    ({"ts": ...}, [("missing_ts", "ts")]),
    ({"ts": None, "mem_rev": ...}, [("missing_ts", "ts"), ("missing_mem_rev", "mem_rev")]),
    ({"ts": "yesterday"}, [("bad_ts", "ts")]),
    ({"ts": 1771842179}, [("wrong_type_ts", "ts")]),
    ({"agent_id": " "}, [("empty_agent_id", "agent_id")]),
    ({"schema_version": "1.7.0"}, [("schema_version_newer", "schema_version")]),
    ({"schema_version": ""}, [("empty_schema_version", "schema_version")]),
    ({"$schema": "urn:example:other"}, [("unknown_schema", "$schema")]),
)


@pytest.mark.parametrize(("changes", "expected"), CASES)
def test_what_an_envelope_lacks_is_reported_for_a_trace(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    trace = read(line(**changes))
    assert isinstance(trace, Trace)
    found = trace_problems(trace, NO_CONTEXT, declines=True)
    assert [(finding.code, finding.where) for finding in found] == expected
    assert all(finding.message for finding in found)
    assert trace_codes(trace, NO_CONTEXT, declines=True) == tuple(in_order(code for code, _ in expected))


@pytest.mark.parametrize(
    ("joined", "owes"), [({"log": ["r.log:1"], "gold": "Q1"}, False), ({"answer": "a.jsonl:1"}, True)]
)
def test_a_trace_joined_from_log_lines_owes_no_envelope(joined: dict[str, Any], owes: bool) -> None:
    absent = [name for name in ENVELOPE if name != "ts"]
    trace = read(line(**dict.fromkeys(absent, ...), joined_from=joined))
    assert isinstance(trace, Trace)
    expected = {f"missing_{name}" for name in absent} if owes else set()
    assert {finding.code for finding in trace_problems(trace, NO_CONTEXT, declines=True)} == expected
    assert set(trace_codes(trace, NO_CONTEXT, declines=True)) == expected


@pytest.mark.parametrize(("changes", "expected"), CASES)
def test_validating_a_trace_reports_its_envelope_once(
    tmp_path: Path, changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_bytes(orjson.dumps(line(**changes)) + b"\n")
    found = validate([file], "trace", cache_dir=tmp_path, refusal=["not in context"])
    assert Counter((each.code, each.where) for each in found) == Counter(expected)


def test_a_trace_of_another_major_version_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_bytes(orjson.dumps(line(schema_version="2.0.0")) + b"\n")
    found = validate([file], "trace", cache_dir=tmp_path)
    assert [(each.code, each.line) for each in found] == [("schema_version_unsupported", 1)]


_TIMES = st.from_regex(
    r"\A2\d{3}-[01]\d-[0-3]\d"
    r"([T ][0-2]\d:?[0-6]\d(:?[0-6]\d([.,]\d{1,7})?)?(Z|z|[+-]\d\d(:?\d\d){0,2})?Z?)?\Z"
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "$schema": st.sampled_from(["urn:proofspan:schema:trace-1.0", "urn:x"]) | JSON,
            **{name: st.sampled_from([value, "", "1.7"]) | JSON for name, value in ENVELOPE.items()},
        },
    )
)
@settings(max_examples=200)
def test_the_quick_codes_of_an_envelope_are_those_of_the_findings(changes: dict[str, Any]) -> None:
    trace = read(TRACE | changes)
    if isinstance(trace, LineIssue):
        return
    found = trace_problems(trace, NO_CONTEXT, declines=True)
    codes = in_order(finding.code for finding in found)
    assert list(trace_codes(trace, NO_CONTEXT, declines=True)) == codes
    assert {finding.code for finding in contract_problems("trace", trace.raw)} <= set(codes)
