"""Trace lines for the rules of the contract: one with nothing wrong, and what is found in it."""

from __future__ import annotations

from typing import Any

import orjson

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import Context
from proofspan.contracts.rules.payload import AUDITABLE_FIELDS
from proofspan.traces.contract import trace_codes, trace_problems
from proofspan.traces.records.trace_record import trace_from
from tests.unit.contracts.citation_payloads import PINS, payload
from tests.unit.store_workspace import ENVELOPE


def candidate(chunk_id: str, score: Any = 0.5, **more: Any) -> dict[str, Any]:
    return {"id": chunk_id, "section_id": "policies/keys", "score": score, **more}


def line(**changes: Any) -> dict[str, Any]:
    """A trace with nothing wrong; a value of `...` takes the key away, order of keys as given."""
    whole = {
        **ENVELOPE,
        "q_id": "Q1",
        "q": "Who needs a key?",
        "chunks": [candidate("hb-0007", 0.9), candidate("hb-0008", 0.5)],
        "answer": "Admins do. citations: [hb-0007]",
        "citations": [payload()],
        "λ": "convergent",
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not ...}


def trace(obj: dict[str, Any]) -> Trace:
    found = trace_from(obj, SourceLine("t.jsonl", 1, 0, 0), run_id=None)
    assert isinstance(found, Trace), found
    return found


def found(obj: dict[str, Any], context: Context = PINS, *, declines: bool = False) -> list[tuple[str, str]]:
    findings = trace_problems(trace(obj), context, declines=declines)
    assert all(finding.message for finding in findings)
    codes = trace_codes(trace(obj), context, declines=declines)
    assert list(codes) == in_order(finding.code for finding in findings)
    return [(finding.code, finding.where) for finding in findings]


def block(*, ends_with_citations: bool = False, **changes: Any) -> str:
    """An answer's text with an auditable answer in it; `changes` are those of its one citation."""
    five = {name: payload()[name] for name in AUDITABLE_FIELDS}
    cited = [{name: value for name, value in {**five, **changes}.items() if value is not ...}]
    whole = {"citations": cited, "answer": "Admins do.", "λ": "convergent"}
    if ends_with_citations:
        whole = {"answer": "Admins do.", "citations": cited}
    return f"So: {orjson.dumps(whole).decode()} That is all."
