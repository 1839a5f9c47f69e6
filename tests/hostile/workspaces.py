"""Small workspaces of a manual, its chunks and its runs, to be spoiled one file at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pymupdf
import yaml

MANIFEST = "pipeline_manifest.yaml"
PAGES = (
    "Chapter 5. Lubrication. Change the oil every 15,000 km. Use grade 5W-30.",
    "Chapter 6. Electrics. The fuse F12 protects the interior lamps.",
)
CHUNKS: tuple[dict[str, Any], ...] = (
    {
        "chunk_id": "c1",
        "doc_id": "manual",
        "section_id": "5",
        "page_idx": 0,
        "text": "Change the oil every 15,000 km. Use grade 5W-30.",
    },
    {
        "chunk_id": "c2",
        "doc_id": "manual",
        "section_id": "6",
        "page_idx": 1,
        "text": "The fuse F12 protects the interior lamps.",
    },
)

#: A record to be written as JSON, or the very bytes of a line.
Line = Mapping[str, Any] | bytes


def trace(q_id: str, q: str, answer: Any, chunks: Sequence[str] = ("c1",), **more: Any) -> dict[str, Any]:
    """One trace; `more` adds or replaces keys."""
    found = [{"id": chunk, "doc_id": "manual"} for chunk in chunks]
    return {"q_id": q_id, "q": q, "answer": answer, "chunks": found, **more}


#: Three questions that read `ok`, `generation_drift` and `refusal_suspect`.
TRACES: tuple[dict[str, Any], ...] = (
    trace("Q1", "How often is the oil changed?", "Change the oil every 15,000 km. citations: [c1]"),
    trace("Q2", "Which oil grade is used?", "Use grade 5W-40, 12 litres."),
    trace("Q3", "Which fuse protects the lamps?", "not in context", ("c2",)),
)


def lines(records: Sequence[Line]) -> bytes:
    """Records as JSONL; bytes stay as they are."""
    return b"".join(
        (record if isinstance(record, bytes) else orjson.dumps(record)) + b"\n" for record in records
    )


def write_pdf(path: Path, pages: Sequence[str] = PAGES, *, password: str | None = None) -> None:
    """A PDF with one line of text a page; with a `password` it opens to nobody who lacks it."""
    with pymupdf.open() as document:
        for text in pages:
            document.new_page(width=420, height=300).insert_text((30, 60), text, fontsize=10)
        lock = {} if password is None else {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": password}
        document.save(path, **lock)


def write_workspace(
    folder: Path, traces: Sequence[Line] = TRACES, chunks: Sequence[Line] = CHUNKS, **manifest: Any
) -> Path:
    """A workspace in which all is well: one document of two pages, two chunks, one run R1 of `traces`.

    `manifest` adds or replaces keys of the manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_pdf(folder / "manual.pdf")
    (folder / "chunks.jsonl").write_bytes(lines(chunks))
    (folder / "trace.jsonl").write_bytes(lines(traces))
    named = {
        "manifest_version": "1.0",
        "name": "Small car",
        "documents": [{"doc_id": "manual", "path": "manual.pdf"}],
        "chunks": {"path": "chunks.jsonl"},
        "runs": [{"run_id": "R1", "traces": {"path": "trace.jsonl"}}],
        **manifest,
    }
    (folder / MANIFEST).write_text(yaml.safe_dump(named), encoding="utf-8")
    return folder
