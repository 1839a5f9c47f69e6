"""FinanceBench: questions about filings with their answers and the pages that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import index_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

_READ = frozenset({"financebench_id", "question", "answer", "evidence"})
_EVIDENCE = frozenset({"evidence_text", "doc_name", "evidence_doc_name", "evidence_page_num"})
_COPIED = (
    *("company", "doc_name", "question_type", "question_reasoning", "domain_question_num"),
    *("justification", "dataset_subset_label", "gics_sector", "doc_type", "doc_period", "doc_link"),
)


def detect(sample: Sample) -> str | None:
    """Return why a source is FinanceBench: every record has its id and a list of evidence."""
    if sample.records and all(
        each.get("financebench_id") and isinstance(each.get("evidence"), list) for each in sample.records
    ):
        return "the records have financebench_id and evidence"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield each question with its expected answer and the evidence for it."""
    for place, record in read_records(path, reading):
        reading.fields(record, {*_READ, *_COPIED})
        entries = record.get("evidence")
        gold = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
        for each in gold:
            reading.fields(each, _EVIDENCE, "evidence.")
        yield Asked(
            place=place,
            q=text_of(record.get("question")) or "",
            q_id=text_of(record.get("financebench_id")),
            expected=text_of(record.get("answer")),
            gold=[_passage(each, record) for each in gold],
            fields={name: record[name] for name in _COPIED if record.get(name) not in (None, "")},
        )


def _passage(each: Mapping[str, Json], record: Mapping[str, Json]) -> Passage:
    names = (each.get("doc_name"), each.get("evidence_doc_name"), record.get("doc_name"))
    return Passage(
        text=text_of(each.get("evidence_text")),
        document=next(filter(None, map(text_of, names)), None),
        page=index_of(each.get("evidence_page_num")),
        page_base=0,
    )


FINANCEBENCH = Format(
    name="financebench",
    title="FinanceBench",
    versions="the open-source sample of 150 questions (2023)",
    suffix=".jsonl",
    example=b'{"financebench_id":"financebench_id_1","question":"How much revenue?","answer":"$5.00",'
    b'"doc_name":"ACME_2018_10K","evidence":[{"evidence_text":"Revenue was 5.","doc_name":"ACME_2018_10K",'
    b'"evidence_page_num":3}]}\n',
    documentation="A record is a question with its expected answer and the evidence for it, without an "
    "answer of a model. Pages count from 0, and a document is named like its PDF.",
    detect=detect,
    read=read,
)
