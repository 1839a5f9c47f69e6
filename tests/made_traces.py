"""Traces made from records, for tests that are about what comes after reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.traces.records.trace_record import trace_from


def made_trace(
    record: Mapping[str, Any],
    *,
    run_id: str | None = "R1",
    source: SourceLine = SourceLine("t.jsonl", 1, 0, 0),  # noqa: B008 - frozen
) -> Trace:
    """Return the trace of a record. Raises AssertionError if it is not one."""
    found = trace_from(dict(record), source, run_id=run_id)
    assert isinstance(found, Trace), found
    return found
