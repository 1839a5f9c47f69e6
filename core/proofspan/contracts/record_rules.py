"""Check one record by itself, whatever its type: versions, contract, schema and the rules of its type.

What needs the rest of its file or run (repeated ids, changing memory) is checked in
`proofspan.services.validation`; a trace's citations and candidates in `proofspan.traces.contract`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from proofspan.contracts.records.field_values import first_of, id_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import schema_files
from proofspan.contracts.rules.answers import stop_in
from proofspan.contracts.rules.catalogue import CHECKS, problem
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.envelope import UNSUPPORTED, contract_problems, version_problems
from proofspan.contracts.rules.payload import (
    CITATION_RECORD,
    PAYLOAD_FIELDS,
    PAYLOAD_MARKS,
    are_clean,
    item_problems,
)
from proofspan.contracts.rules.ranking import RANKS, SCORES
from proofspan.contracts.rules.records import named_chunks, with_lists
from proofspan.contracts.rules.run import corpus_problems
from proofspan.contracts.rules.schema_findings import MOST, schema_problems
from proofspan.errors import Problem

#: The types that `proofspan validate --as` accepts.
RECORD_TYPES: Final = (
    *("envelope", "chunk", "query", "retrieved", "rerank", "prompt-frame", "answer", "metrics"),
    *("citation", "auditable-answer", "log", "rag-traces", "trace", "report", "gold", "redirect"),
    *("catalogue", "sprint", "annotation"),
)
#: The names of a record's own id; other types go by their question.
_IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "envelope": ("trace_id",),
    "prompt-frame": ("q_id", "trace_id"),
    "metrics": ("dataset",),
    "redirect": ("old_id",),
    "catalogue": ("attachment_id",),
    "sprint": ("entry_id", "key"),
    "annotation": (),  # a line that comes again counts once
    "auditable-answer": (),
}
_QUESTION: Final = ("q_id", "qid")
#: How many characters of an id are kept.
_LONGEST: Final = 200


def record_problems(record_type: str, obj: Json, context: Context) -> tuple[Problem, ...]:
    """Check one record of one of `RECORD_TYPES`; never raises for a JSON value.

    A record of another major version is not checked further. For a trace what its citations and candidates
    state is left to `proofspan.traces.contract`, so that each breach is reported once.
    """
    if type(obj) is not dict:
        return (problem("not_an_object", "", f"the record is {shown(obj)}, not an object"),)
    if record_type not in schema_files():
        return (problem("unknown_schema", "$schema", "nothing says of which type the record is"),)
    if record_type == "rag-traces":
        obj = with_lists(obj)
    versions = version_problems(record_type, obj)
    if versions and any(breach.code == UNSUPPORTED for breach in versions):
        return versions
    is_clean = record_type == "citation" and are_clean([obj], CITATION_RECORD)
    own = () if record_type == "trace" else _own(record_type, obj, context, is_clean)
    if record_type == "auditable-answer" and stop_in(obj) is not None:
        return own
    shape = () if is_clean else schema_problems(record_type, obj)
    if record_type == "trace":
        shape = tuple([breach for breach in shape if not _is_checked_elsewhere(obj, breach.where)])
    if record_type == "envelope":  # a missing field is reported below, all of them as one problem
        shape = tuple([breach for breach in shape if breach.code != f"missing_{breach.where}"])
    first = (*versions, *contract_problems(record_type, obj), *own)
    return merged(first, shape) if shape else first


def _own(record_type: str, obj: Mapping[str, Json], context: Context, is_clean: bool) -> tuple[Problem, ...]:
    breaches: tuple[Problem, ...] = ()
    if record_type == "citation":
        breaches = tuple(item_problems(obj, context, CITATION_RECORD, is_clean=is_clean))
    for check in CHECKS.get(record_type, ()):
        breaches += tuple(islice(check(obj, context), MOST + 1))
    if context.corpus is not None:
        breaches += tuple(islice(corpus_problems(named_chunks(record_type, obj), context.corpus), MOST + 1))
    if len(breaches) <= MOST:
        return breaches
    return (*breaches[:MOST], problem("more_findings", "", f"only the first {MOST} findings are listed"))


def merged(first: Sequence[Problem], more: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems of `first`, and those of `more` at places that `first` does not mention."""
    places = {breach.where for breach in first if breach.where}
    return (*first, *(breach for breach in more if places.isdisjoint(_around(breach.where))))


def _around(where: str) -> Iterator[str]:
    """Yield a place and the places that it is in: `a[2].b`, `a[2]`, `a`."""
    yield where
    for end in range(len(where) - 1, 0, -1):
        if where[end] in ".[":
            yield where[:end]


def record_id_of(record_type: str, obj: Json) -> str:
    """Return a record's own id, its question's for most types; "" if it has none."""
    if type(obj) is not dict:
        return ""
    if record_type in ("chunk", "citation"):
        name = id_of(obj)
    else:
        name = text_of(first_of(obj, _IDS.get(record_type, _QUESTION)))
    return (name or "")[:_LONGEST]


_CITATION = re.compile(r"(?:segments\[\d+\]\.)?citations\[\d+\](?:\.(\w+).*)?")
_CANDIDATE = re.compile(r"((?:chunks|stages\.\w+(?:\.items)?)\[\d+\])\.(\w+).*")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
#: Checked in citations and candidates alike.
_RANKED: Final = frozenset({"page", "page_idx", *SCORES, *RANKS})
_PAYLOAD: Final = _RANKED | frozenset(PAYLOAD_FIELDS)


def _is_checked_elsewhere(trace: Mapping[str, Json], where: str) -> bool:
    """True if the rules of citations check this place of a trace, whatever its schema requires."""
    if (citation := _CITATION.fullmatch(where)) is not None:
        return citation[1] is None or citation[1] in _PAYLOAD
    candidate = _CANDIDATE.fullmatch(where)
    if candidate is None:
        return False
    name, entry = candidate[2], _at(trace, candidate[1])
    is_payload = isinstance(entry, dict) and not PAYLOAD_MARKS.isdisjoint(entry)
    if is_payload or name != "page_idx":
        return name in (_PAYLOAD if is_payload else _RANKED)
    return isinstance(entry, dict) and "page" in entry  # only the schema checks a page_idx alone


def _at(record: Json, where: str) -> Json:
    for position, name in _STEP.findall(where):
        record = record[int(position) - 1] if position else record[name]
    return record
