"""A small manual, and a trace that cites it, for tests of the Question page."""

from __future__ import annotations

from pathlib import Path

import orjson
import pymupdf
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import CHUNKS, TRACES, trace, write_small

PAGE = "pages/question.py"
PAGED = [{**chunk, "page_idx": place} for place, chunk in enumerate(CHUNKS)]
DOCUMENTS = [{"doc_id": "manual", "path": "manual.pdf"}]
CITED = trace(
    "Q1",
    "How often is the oil changed?",
    "Change the oil every 15,000 km. citations: [c1]",
    citations=[{"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."}],
)


def manual(folder: Path, *, password: str | None = None) -> None:
    """A two-page manual.pdf that holds both chunks, one a page."""
    with pymupdf.open() as document:
        for chunk in CHUNKS:
            document.new_page(width=400, height=300).insert_text((40, 60), chunk["text"], fontsize=10)
        if password:
            document.save(
                folder / "manual.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="o"
            )
        else:
            document.save(folder / "manual.pdf")


def labels(app: AppTest) -> list[str]:
    return [each.label for each in app.button]


def reviewable(folder: Path) -> Path:
    """Write a workspace of that manual and three questions, which keeps gold and people's reviews."""
    files = {name: {"path": f"{name}.jsonl"} for name in ("gold", "annotations")}
    write_small(folder, [CITED, *TRACES[1:]], documents=DOCUMENTS, **files)
    manual(folder)
    (folder / "chunks.jsonl").write_bytes(b"\n".join(map(orjson.dumps, PAGED)))
    gold = {"q_id": CITED["q_id"], "q": CITED["q"], "answer": "Never."}
    (folder / "gold.jsonl").write_bytes(orjson.dumps(gold) + b"\n")
    return folder
