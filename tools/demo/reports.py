"""The product's own report of traces that are still records, not lines of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile, ReportRow, row_to_json
from proofspan.traces.records.trace_record import trace_from
from tools.demo.corpus import Piece

Json = Any


def report(records: Sequence[Mapping[str, Json]], pieces: Sequence[Piece]) -> bytes:
    """The report file, one row a trace, with the default profile."""
    return b"".join(row_to_json(row) + b"\n" for row in rows(records, pieces))


def rows(records: Sequence[Mapping[str, Json]], pieces: Sequence[Piece]) -> list[ReportRow]:
    """The rows; with paraphrase and seed where they are not 0."""
    corpus = Corpus({piece.chunk_id: piece.text for piece in pieces})
    found = []
    for trace in map(as_trace, records):
        variant = {"paraphrase": trace.paraphrase, "seed": trace.seed}
        extra = {name: number for name, number in variant.items() if number}
        found.append(replace(reflect(trace, corpus, Profile()), extra=extra))
    return found


def as_trace(record: Mapping[str, Json]) -> Trace:
    """The canonical trace. ValueError where the product could not read it."""
    trace = trace_from(dict(record), SourceLine("", 1, 0, 0), run_id=record["run_id"])
    if not isinstance(trace, Trace):
        raise ValueError(f"{record['q_id']}: {trace.message}")
    return trace
