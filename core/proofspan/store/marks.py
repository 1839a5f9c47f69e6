"""What a row keeps of its trace for the rules that compare it with the rest of its run.

A few bytes each: the state of memory, the unit of the offsets, and a print that two answers share only if one
is the other's copy. The rules themselves are in `proofspan.store.late`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b

from proofspan.contracts.chunk_ids import sha1_8
from proofspan.contracts.records import Json, Trace
from proofspan.diagnosis.answers import payload_ids
from proofspan.diagnosis.reflect import REFUSAL_LABELS
from proofspan.diagnosis.types import ReportRow
from proofspan.traces.citations import payload_of
from proofspan.traces.fields import offsets_of, text_of

#: Stands for the unit of a trace whose own citations are in several.
SEVERAL = "several"
_OTHER_REFUSAL = "refusal_other_wording"


def marks_of(trace: Trace, verdict: ReportRow | None) -> tuple[str | None, str | None, int | None]:
    """The columns `memory`, `offset_unit` and `answer_print`; None for what the trace does not have."""
    return memory_state(trace.raw), offset_unit(trace.raw), answer_print(trace, verdict)


def memory_state(raw: Mapping[str, Json]) -> str | None:
    """Names the state of memory that the record was made in: a word for `mem_rev`, `:`, one for `mem_hash`.

    The two are compared each by itself, and a record that lacks one of them has no word there.
    """
    rev, digest = text_of(raw.get("mem_rev")), text_of(raw.get("mem_hash"))
    if rev is None and digest is None:
        return None
    return f"{'' if rev is None else sha1_8(rev)}:{'' if digest is None else sha1_8(digest)}"


def offset_unit(raw: Mapping[str, Json]) -> str | None:
    """The unit in which the citations' offsets are, `SEVERAL` where they differ."""
    units = dict.fromkeys(_units(payload_of(raw)))
    return SEVERAL if len(units) > 1 else next(iter(units), None)


def _units(payload: list[Json]) -> Iterator[str]:
    for item in payload:
        if isinstance(item, dict) and (offsets := offsets_of(item.get("offsets"))) is not None:
            yield offsets.unit


def answer_print(trace: Trace, verdict: ReportRow | None) -> int | None:
    """64 bits of candidates, answer and payload together, as a signed number.

    None where equal traces are to be expected: for a refusal, in whatever words, and where there is no
    answer or no candidate; and without a verdict, as nobody then knows what is a refusal.
    """
    if verdict is None or verdict.label in REFUSAL_LABELS or _OTHER_REFUSAL in verdict.suspicions:
        return None
    if not trace.chunk_ids or not trace.answer.strip():
        return None
    parts = (trace.answer, *trace.chunk_ids, "", *payload_ids(trace.raw))
    told = "\x1f".join(parts).encode("utf-8", "replace")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)
