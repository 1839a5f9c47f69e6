"""The identity of a trace: `(run_id, q_id, paraphrase, seed)`, and a number for what comes again."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Json, Trace, TraceKey
from proofspan.contracts.rules.envelope import USUAL, refusal
from proofspan.traces.lines.reader import ABSENT, UnusableError, wrong


class Repeats:
    """Numbers the traces of a run that share an identity: the first is 1, the second 2, in file order."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int, int], int] = {}

    def key_of(self, trace: Trace) -> TraceKey:
        """The trace's key; a repeat above 1 calls for the suspicion `duplicate_question`."""
        identity = (trace.run_id, trace.q_id, trace.paraphrase, trace.seed)
        repeat = self._seen.get(identity, 0) + 1
        self._seen[identity] = repeat
        return TraceKey(*identity, repeat=repeat)


def run_id_of(own: Json, run_id: str | None) -> str:
    """The run of a record by its own `run_id` and the manifest's. UnusableError where they differ."""
    if own is None:
        return run_id or ""
    if type(own) is not str:
        raise wrong("run_id", own)
    if run_id is not None and own != run_id:
        raise UnusableError(
            "other_run",
            f"the line belongs to run {own!r}, the file to run {run_id!r}",
            "Name the file under its own run in the manifest, or take the line out.",
        )
    return own


def q_id_of(obj: Mapping[str, Json], q: str | None) -> str:
    """A record's `q_id`, else `qid`, else what its question gives. UnusableError for none, or no id."""
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
    """`paraphrase` or `seed`: part of the identity, so a value that is no count cannot be passed over."""
    value = obj.get(name)
    if value is None:
        return 0
    number = index_of(value)
    if number is None or not 0 <= number < 1 << 31:
        raise wrong(name, value, wanted="a whole number from 0")
    return number


# Records of another major version are not read: in them a field may mean something else.


def refuse_other_major(record_type: str, obj: Mapping[str, Json]) -> None:
    """UnusableError for a record whose `schema_version`, or that of its `$schema`, is another major one."""
    if obj.get("schema_version", USUAL) == USUAL and "$schema" not in obj:
        return  # nearly every trace: no call more than this in an index build
    why = refusal(record_type, obj)
    if why is not None:
        raise UnusableError(why.code, why.message, why.fix)
