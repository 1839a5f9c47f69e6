"""The contract's rules for the envelope of a trace: what its line says of its own making."""

from __future__ import annotations

from collections.abc import Iterator

from proofspan.contracts.envelope_rules import ENVELOPE, NO_ENVELOPE, contract_findings, is_whole
from proofspan.contracts.schema_findings import schema_findings
from proofspan.contracts.schemas import URN
from proofspan.contracts.versions import USUAL, version_findings
from proofspan.traces.contract_reading import Located, Reading

_TYPE = f"{URN}trace-1.0"
_STATED = frozenset({"$schema", *ENVELOPE})
#: What a trace is joined from where none of its records has room for an envelope, but for its time.
_LINES = frozenset({"log", "rag_traces", "gold"})


def is_clean_envelope(reading: Reading) -> bool:
    """Whether the envelope is whole, in the version that is read."""
    raw = reading.raw
    return raw.get("schema_version") == USUAL and raw.get("$schema", _TYPE) == _TYPE and is_whole(raw)


def envelope_findings(reading: Reading) -> Iterator[Located]:
    """What is missing, empty, of the wrong type or of another version; one finding where there is nothing.

    A trace that is joined from log lines or rows of `rag_traces` owes none: their keys are given.
    """
    raw = reading.raw
    joined = raw.get("joined_from")
    if isinstance(joined, dict) and joined and _LINES.issuperset(joined):
        return
    if _STATED.isdisjoint(raw):
        yield "", NO_ENVELOPE
        return
    stated = {name: value for name, value in raw.items() if name in _STATED}
    for finding in (*version_findings("trace", stated), *contract_findings("trace", stated)):
        yield "", finding
    for finding in schema_findings("envelope", stated):
        if finding.code != f"missing_{finding.field}":  # that is told already
            yield "", finding
