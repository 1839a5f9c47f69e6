"""Traces of this project without a workspace: their chunks are in another file, found by their ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proofspan.contracts.records.field_values import ID_NAMES
from proofspan.contracts.records.records import Candidate, Citation, Json, LineIssue, SourceLine, StageName
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import STAGES, stages, trace_from

_LISTS = ("chunks", "stages", "citations")
_READ = frozenset({"run_id", "q_id", "q", "question", "answer", "scores", *_LISTS})
#: What these keys claim does not hold for a record that is written again.
_CLAIMS = frozenset({"$schema", "schema_version", "segments"})
#: What a passage has a place of its own for.
_PLACED = frozenset({*ID_NAMES, "doc_id", "section_id", "page_idx", "page", "text", "score", "rank", "quote"})


def detect(sample: Sample) -> str | None:
    """Return why a source has traces: each record has a question, and most name chunks by their ids."""
    if not sample.records or not all(isinstance(each.get("q"), str) for each in sample.records):
        return None
    naming = sum(map(_names_chunks, sample.records))
    return "the records have q and chunks with ids" if 2 * naming > len(sample.records) else None


def _names_chunks(record: Mapping[str, Json]) -> bool:
    lists: list[Json] = [record.get("chunks")]
    if isinstance(staged := record.get("stages"), dict):
        lists += [staged.get(name) for name in STAGES]
    first = next((each[0] for each in lists if isinstance(each, list) and each), None)
    return isinstance(first, dict) and any(name in first for name in ID_NAMES)


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    for number, (place, record) in enumerate(read_records(path, reading), start=1):
        trace = trace_from(record, SourceLine(path.name, number, 0, 0), run_id=None)
        if isinstance(trace, LineIssue):
            reading.problem(trace.code, trace.message, place, trace.fix)
            continue
        used = {*_READ, *(name for name in record if name not in _CLAIMS)}
        reading.fields(record, used)
        lists: dict[StageName, list[Passage]] = {
            each.name: [_candidate(one) for one in each.candidates] for each in stages(trace)
        }
        scores = record.get("scores")
        yield Asked(
            place=place,
            q=trace.q,
            q_id=trace.q_id if "q_id" in record else None,
            answer=trace.answer if "answer" in record else None,
            lists=lists,
            cited=_cited(citations(trace)),
            scores=scores if isinstance(scores, dict) else {},
            fields={name: value for name, value in record.items() if name not in (_READ | _CLAIMS)},
            run=trace.run_id,
        )


def _candidate(each: Candidate) -> Passage:
    return Passage(
        id=each.chunk_id,
        text=each.text,
        document=each.doc_id,
        section=each.section_id,
        page=each.page_idx,
        page_base=0,
        score=each.score,
        more={name: value for name, value in each.raw.items() if name not in _PLACED},
    )


def _cited(found: Sequence[Citation]) -> list[Cited]:
    return [
        Cited(
            passage=Passage(
                text=each.quote,
                document=each.doc_id,
                section=each.section_id,
                page=each.page_idx,
                page_base=0,
                label=each.page_label,
                box=each.box,
                box_space=each.box_space,
                more={name: value for name, value in each.raw.items() if name not in _PLACED},
            ),
            chunk=each.chunk_id,
        )
        for each in found
    ]


OWN = Format(
    name="proofspan",
    title="Proofspan traces",
    versions="traces of schema 1.0, and bare lines of q, answer and chunks",
    suffix=".jsonl",
    example=b'{"run_id":"R001","q_id":"Q1","q":"How much oil?","answer":"4.5 litres.",'
    b'"chunks":[{"id":"c1","doc_id":"manual","page_idx":1}]}\n',
    documentation="A trace is a question. Name its chunk file too, or put it beside the trace: passages get "
    "their texts and places from the chunks with the same ids.",
    detect=detect,
    read=read,
)
