"""The identity of a trace, `(run_id, q_id, paraphrase, seed)`, and the number of its repeat."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Json, Trace, TraceKey
from proofspan.contracts.rules.envelope import USUAL, refusal
from proofspan.traces.lines.reader import ABSENT, UnusableError, kind_of, wrong


class Repeats:
    """Numbers the traces of a run that share an identity: the first is 1, the second 2, in file order."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int, int], int] = {}

    def key_of(self, trace: Trace) -> TraceKey:
        """Return the trace's key; a repeat above 1 is the suspicion `duplicate_question`."""
        identity = (trace.run_id, trace.q_id, trace.paraphrase, trace.seed)
        repeat = self._seen.get(identity, 0) + 1
        self._seen[identity] = repeat
        return TraceKey(*identity, repeat=repeat)


def run_id_of(own: Json, run_id: str | None) -> str:
    """Return a record's `run_id`, else the manifest's. Raises UnusableError if they differ."""
    if own is None:
        return run_id or ""
    if type(own) is not str:
        raise wrong("run_id", own)
    if run_id is not None and own != run_id:
        message = f"the line belongs to run {own!r}, the file to run {run_id!r}"
        fix = "Name the file under its own run in the manifest, or take the line out."
        raise UnusableError("other_run", message, fix)
    return own


def q_id_of(obj: Mapping[str, Json], q: str | None) -> str:
    """Return a record's `q_id`, else `qid`, else the hash of its question `q`. Raises UnusableError."""
    value = obj.get("q_id")
    if type(value) is str and value:
        return value
    if value is None or value == "":
        value = obj.get("qid")
    if value is None or value == "":
        if q is None:
            raise wrong("q_id", ABSENT)
        return sha1_8(q)
    if type(value) is str or type(value) is int:
        return str(value)
    raise wrong("q_id", value)


def count_of(obj: Mapping[str, Json], name: str) -> int:
    """Return `paraphrase` or `seed`, 0 if absent. Raises UnusableError: it is part of the identity."""
    value = obj.get(name)
    if value is None:
        return 0
    number = index_of(value)
    if number is None or not 0 <= number < 1 << 31:
        raise wrong(name, value, wanted="a whole number from 0")
    return number


def record_from(record_type: str, obj: Json) -> dict[str, Json]:
    """Return a parsed line that may be read as a record of the type. Raises UnusableError.

    Records of another major version are not read: their fields may have another meaning.
    """
    if not isinstance(obj, dict):
        raise UnusableError(
            "not_an_object", f"the line holds {kind_of(obj)}", "Write one JSON object a line."
        )
    if obj.get("schema_version", USUAL) != USUAL or "$schema" in obj:  # rarely: it costs an index build time
        other = refusal(record_type, obj)
        if other is not None:
            raise UnusableError(other.code, other.message, other.fix)
    return obj
