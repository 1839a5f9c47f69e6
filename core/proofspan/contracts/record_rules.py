"""Everything that is wrong with one record by itself, whatever its type: schema, versions, contract, rules.

What only its file or its run can tell (ids that come twice, memory that changes) is looked at elsewhere, and
so is what a trace's citations are held against (`proofspan.traces.contract`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from proofspan.contracts.answer_rules import stop_in
from proofspan.contracts.citation_rules import payload_findings
from proofspan.contracts.context import Context
from proofspan.contracts.envelope_rules import contract_findings
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.record_answer import answer_findings, auditable_findings
from proofspan.contracts.record_chunk import chunk_findings
from proofspan.contracts.record_gold import gold_findings, redirect_findings
from proofspan.contracts.record_lists import rerank_findings, retrieved_findings
from proofspan.contracts.record_log import log_findings, row_findings, with_lists
from proofspan.contracts.record_prompt import prompt_findings
from proofspan.contracts.record_trace import is_judged_elsewhere
from proofspan.contracts.records import Json
from proofspan.contracts.schema_findings import MOST, schema_findings
from proofspan.contracts.schemas import schema_files
from proofspan.contracts.values import first_of, id_of, text_of
from proofspan.contracts.versions import UNSUPPORTED, version_findings

__all__ = ["RECORD_TYPES", "merged", "record_findings", "record_id_of", "version_findings"]

Rules = Callable[[Mapping[str, Json], Context], Iterable[Finding]]

#: What `validate` can be told that a file holds.
RECORD_TYPES: Final = (
    *("envelope", "chunk", "query", "retrieved", "rerank", "prompt-frame", "answer", "metrics"),
    *(
        "citation",
        "auditable-answer",
        "log",
        "rag-traces",
        "trace",
        "report",
        "gold",
        "redirect",
        "catalogue",
    ),
)
#: The rules of single types beyond schema and contract.
_RULES: Final[Mapping[str, Rules]] = {
    "chunk": chunk_findings,
    "retrieved": retrieved_findings,
    "rerank": rerank_findings,
    "prompt-frame": prompt_findings,
    "answer": answer_findings,
    "citation": payload_findings,
    "auditable-answer": auditable_findings,
    "log": log_findings,
    "rag-traces": row_findings,
    "gold": gold_findings,
    "redirect": redirect_findings,
}
#: The names of a record's own id; others go by their question.
_IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "envelope": ("trace_id",),
    "prompt-frame": ("q_id", "trace_id"),
    "metrics": ("dataset",),
    "redirect": ("old_id",),
    "catalogue": ("attachment_id",),
    "auditable-answer": (),
}
_QUESTION: Final = ("q_id", "qid")
#: So much of an id is kept.
_LONGEST: Final = 200


def record_findings(record_type: str, obj: Json, context: Context) -> tuple[Finding, ...]:
    """Everything that is wrong with one record of one of `RECORD_TYPES`; never raises for a JSON value.

    Of a record of another major version nothing else is told. For a trace what its citations and candidates
    state of themselves is left to `proofspan.traces.contract`, so that each fault is told once.
    """
    if type(obj) is not dict:
        return (Finding("not_an_object", "", f"the record is {shown(obj)}, not an object"),)
    if record_type not in schema_files():
        return (Finding("unknown_schema", "$schema", "nothing says of which type the record is"),)
    if record_type == "rag-traces":
        obj = with_lists(obj)
    said = version_findings(record_type, obj)
    if said and any(finding.code == UNSUPPORTED for finding in said):
        return _named(record_type, obj, said)
    rules = _RULES.get(record_type)
    own = () if rules is None else _capped(rules(obj, context))
    if record_type == "auditable-answer" and stop_in(obj) is not None:
        return _named(record_type, obj, own)
    shape = schema_findings(record_type, obj)
    if record_type == "trace" and shape:
        shape = tuple([finding for finding in shape if not is_judged_elsewhere(obj, finding.field)])
    if record_type == "envelope":  # what it lacks is told below, as one finding where it lacks everything
        shape = tuple([finding for finding in shape if finding.code != f"missing_{finding.field}"])
    asked = contract_findings(record_type, obj)
    if not (said or own or shape or asked):
        return ()
    return _named(record_type, obj, merged((*said, *asked, *own), shape))


def merged(said: Sequence[Finding], more: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of `said`, and those of `more` at whose places nothing is said yet."""
    places = {finding.field for finding in said if finding.field}
    return (*said, *(finding for finding in more if places.isdisjoint(_around(finding.field))))


def record_id_of(record_type: str, obj: Json) -> str:
    """What a record calls itself: a chunk its id, most others their question's; "" where it has no name."""
    if type(obj) is not dict:
        return ""
    if record_type in ("chunk", "citation"):
        found = id_of(obj)
    else:
        found = text_of(first_of(obj, _IDS.get(record_type, _QUESTION)))
    return (found or "")[:_LONGEST]


def _capped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The first findings, and one that says so where there are more."""
    found = tuple(islice(findings, MOST + 1))
    if len(found) <= MOST:
        return found
    return (*found[:MOST], Finding("more_findings", "", f"only the first {MOST} findings are told"))


def _named(record_type: str, obj: Json, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    record_id = record_id_of(record_type, obj)
    return tuple([replace(finding, record_id=record_id) for finding in findings])


def _around(field: str) -> Iterator[str]:
    """A place and the places that it lies in: `a[2].b`, `a[2]`, `a`."""
    yield field
    for end in range(len(field) - 1, 0, -1):
        if field[end] in ".[":
            yield field[:end]
