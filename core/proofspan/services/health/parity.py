"""Written against read: what a run pins of index, model and analyzer, and what its traces log of them.

The rules of single traces give codes (`proofspan.contracts`); here stand the values themselves, so that a
person sees at once who is out of step with whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.parity import (
    index_name,
    same_analyzer,
    same_embed_model,
    same_index,
    same_rev,
)
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.lines.reader import read_lines
from proofspan.traces.separate.join_cache import trace_file

#: So many traces are read, which takes a second or two.
MOST_TRACES = 100_000
#: Of one field so many values are told apart; a run that has more has no one value anyway.
MOST_VALUES = 50
#: Field → how it is called, its code, and what tells whether two of its values are one.
_FIELDS: Mapping[str, tuple[str, str, Callable[[str, str], bool]]] = {
    "index_hash": ("index", "mismatch_index_hash", same_index),
    "embed_model": ("embedding model", "embed_model_mismatch", same_embed_model),
    "analyzer": ("analyzer", "analyzer_mismatch", same_analyzer),
}
_REV, _REV_CODE = "revision", "rev_mismatch"

#: What is logged: a field, and for revisions the document.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Logged:
    """What the traces of a run log, by field (and document): each value with how many traces have it.

    `traces` is how many were read, `is_all` whether those are all of the run.
    """

    traces: int
    values: Mapping[Key, Mapping[str, int]]
    is_all: bool = True


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value that traces log, how many do, and whether it is the written one; None: nothing is written."""

    value: str
    traces: int
    is_same: bool | None


@dataclass(frozen=True, slots=True)
class ParityRow:
    """One thing that has to be the same when the index is written and when it is read.

    `written` is what the manifest says, "" where it says nothing; `code` is that of the traces that differ.
    """

    name: str
    code: str
    written: str
    read: tuple[ReadValue, ...]

    @property
    def is_same(self) -> bool | None:
        """Whether all that is logged is what is written; None where there is nothing to compare."""
        known = [value.is_same for value in self.read]
        return None if not self.written or not known else all(known)


def logged_of_run(manifest: Manifest, run: Run, *, cache_dir: Path, most: int = MOST_TRACES) -> Logged:
    """What the traces of a run log, read from their file once; nothing where there is none to read."""
    found = trace_file(manifest, run, cache_dir=cache_dir)
    if found.path is None:
        return Logged(0, {})
    lines = (raw.data for raw in read_lines(found.path, final=found.is_final))
    return logged_values(lines, most=most)


def logged_values(lines: Iterable[bytes], *, most: int) -> Logged:
    """What the first `most` traces log. A line that holds no object is passed over: others report it."""
    found: dict[Key, Counter[str]] = {}
    traces, is_all = 0, True
    for line in lines:
        if traces == most:
            is_all = False
            break
        try:
            trace = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(trace, dict):
            traces += 1
            for key, value in dict.fromkeys(_values(trace)):
                counted = found.setdefault(key, Counter())
                if value in counted or len(counted) < MOST_VALUES:
                    counted[value] += 1
    return Logged(traces, found, is_all)


def parity_rows(manifest: Manifest, run: Run, logged: Logged) -> tuple[ParityRow, ...]:
    """Index, model, analyzer, then the revision of each document; what nobody names is left out."""
    rows = [_pinned_row(field, run, logged) for field in _FIELDS]
    revs = {document.doc_id: document.rev for document in manifest.documents if document.rev}
    named = [*revs, *sorted(doc for field, doc in logged.values if field == "rev" and doc not in revs)]
    rows += [_rev_row(doc_id, revs.get(doc_id) or "", logged) for doc_id in named]
    return tuple(row for row in rows if row.written or row.read)


def _pinned_row(field: str, run: Run, logged: Logged) -> ParityRow:
    name, code, same = _FIELDS[field]
    written = run.pinned.get(field)
    told = str(written) if isinstance(written, str | int) else ""
    return ParityRow(name, code, told, _read(logged, (field, ""), told, same))


def _rev_row(doc_id: str, written: str, logged: Logged) -> ParityRow:
    return ParityRow(
        f"{_REV} of {doc_id}", _REV_CODE, written, _read(logged, ("rev", doc_id), written, same_rev)
    )


def _read(logged: Logged, key: Key, written: str, same: Callable[[str, str], bool]) -> tuple[ReadValue, ...]:
    """The logged values, the most frequent first."""
    counted = sorted(logged.values.get(key, {}).items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        ReadValue(value, count, same(value, written) if written else None) for value, count in counted
    )


def _values(trace: Mapping[str, Json]) -> Iterator[tuple[Key, str]]:
    """What a trace logs itself, and what its citations and candidates state."""
    yield from _of_record(trace, "")
    for name in ("citations", "chunks"):
        yield from _of_list(trace.get(name))
    segments = trace.get("segments")
    for segment in segments if isinstance(segments, list) else ():
        if isinstance(segment, dict):
            yield from _of_list(segment.get("citations"))


def _of_list(items: Json) -> Iterator[tuple[Key, str]]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            doc_id = item.get("doc_id")
            yield from _of_record(item, doc_id if isinstance(doc_id, str) else "")


def _of_record(record: Mapping[str, Json], doc_id: str) -> Iterator[tuple[Key, str]]:
    store = record.get("store")
    for name, value in (
        ("index_hash", record.get("index_hash")),
        ("embed_model", record.get("embed_model", record.get("embed"))),
        ("analyzer", record.get("analyzer")),
    ):
        if isinstance(value, str) and value.strip():
            is_index = name == "index_hash" and isinstance(store, str)
            yield (name, ""), index_name(value, str(store)) if is_index else value
    rev = record.get("rev")
    if doc_id and isinstance(rev, str) and rev.strip():
        yield ("rev", doc_id), rev
