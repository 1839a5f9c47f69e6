"""Another pipeline's files, the mapping that reads them, and the workspace that they become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from proofspan.contracts.records.records import Trace
from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.workspace import ImportReport, import_source
from proofspan.traces.records.traces import iter_traces

MAPPING = """
mapping_version: "1.0"
name: Some pipeline
run: {run_id: R001, ts: 2026-01-01T00:00:00Z, title: first}
triage: {template: none, refusal: ["no idea"]}
traces:
  q_id: meta.id
  q: question
  answer: out.text
  fields: {latency_ms: out.ms}
  stages:
    retrieved: &chunk
      each: ctx[]
      text: body
      doc_id: doc
      page: {path: pg, base: 1}
      score: s
    reranked:
      <<: *chunk
      each: top[]
  seen: reranked
  citations:
    each: out.cites[]
    doc_id: doc
    page: {path: pg, base: 1}
    quote: said
gold:
  source: truth.json
  q_id: id
  q: question
  spans:
    {each: "where[]", doc_id: doc, quote: text, page: {path: "$.pages[0]", regex: 'p\\. (\\d+)', base: 0}}
documents: {pattern: "pdf/{doc_id}.pdf"}
"""

RECORD: dict[str, Any] = {
    "meta": {"id": 17},
    "question": "How much oil?",
    "out": {"text": "4.3 litres", "ms": 12, "cites": [{"doc": "A", "pg": 2, "said": "4.3 litres"}]},
    "ctx": [
        {"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": None},
        {"body": "Fuel: 48 litres", "doc": "A", "pg": 2, "s": 0.5},
        {"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": 0.4},
        {"body": "Elsewhere", "doc": "B", "pg": 1, "s": 0.1},
    ],
    "top": [{"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": 0.9}],
}
TRUTH = [
    {
        "id": "17",
        "question": "How much oil?",
        "pages": ["p. 1"],
        "where": [{"doc": "A", "text": "4.3 litres"}],
    }
]


def write_source(folder: Path) -> Path:
    """The file of results; its mapping, gold and documents lie beside it."""
    (folder / "pdf").mkdir(parents=True)
    (folder / "pdf" / "A.pdf").write_bytes(b"%PDF-1.7 of A")
    (folder / "truth.json").write_text(json.dumps(TRUTH))
    (folder / "map.yaml").write_text(MAPPING)
    file = folder / "results.jsonl"
    file.write_text(json.dumps(RECORD) + "\n")
    return file


def imported(source: Path, to: Path, **options: Any) -> ImportReport:
    files = {"mapping": source.parent / "map.yaml"}
    return import_source(MAPPED, source, workspace=to, files=files, **options)


def arguments_of(source: Path) -> list[str]:
    return ["import", "mapped", str(source), "--mapping", str(source.parent / "map.yaml"), "--to"]


def traces_in(workspace: Path) -> list[Trace]:
    found = iter_traces(workspace / "runs/R001/trace.jsonl", file="trace.jsonl", run_id="R001")
    return [each for each in found if isinstance(each, Trace)]


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
