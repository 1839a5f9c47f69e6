"""A workspace to rerank: four questions with gold sections, a cohort, and a model that knows their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proofspan.manifest.types import Manifest
from tests.rerank_models import write_model
from tests.unit.store_workspace import ENVELOPE, lines, manifest_of

#: Section → its chunks' texts. Chunk ids are `c` and the section, then a letter: c1a, c1b.
SECTIONS: Mapping[str, Sequence[str]] = {
    "1": ("oil filter", "change the oil"),
    "2": ("tyre pressure",),
    "3": ("brake fluid level", "bleed the brake"),
    "4": ("wiper blade",),
}
#: Question → its text, gold section, and logged order.
QUESTIONS: Mapping[str, tuple[str, str, str]] = {
    "Q1": ("How do I change the oil filter?", "1", "c2a c1a c1b c3a"),
    "Q2": ("What is the tyre pressure?", "2", "c2a c3a c1a"),
    "Q3": ("How do I bleed the brake?", "3", "c4a c1a c3b c3a"),
    "Q4": ("How do I change a wiper blade?", "4", "c1b c2a c3a"),
}
COHORT = ("Q1", "Q3", "Q4")


def chunks() -> list[dict[str, Any]]:
    return [
        {"chunk_id": f"c{section}{letter}", "doc_id": "d", "section_id": section, "page_idx": 0, "text": text}
        for section, texts in SECTIONS.items()
        for letter, text in zip("ab", texts, strict=False)
    ]


def candidates(order: str) -> list[dict[str, Any]]:
    return [
        {"id": chunk_id, "doc_id": "d", "section_id": chunk_id[1], "score": 1 / rank}
        for rank, chunk_id in enumerate(order.split(), start=1)
    ]


def trace_of(q_id: str, **more: Any) -> dict[str, Any]:
    q, _, order = QUESTIONS[q_id]
    fused = candidates(order)
    answer = {"answer": "So it is. citations: [c1a]", "chunks": fused[:2], "stages": {"fused": fused}}
    return {**ENVELOPE, "q_id": q_id, "q": q, **answer, **more}


def workspace(folder: Path, traces: Sequence[object] | None = None, **more: Any) -> Manifest:
    """The workspace with one run, R1, of these traces, or one trace of each question."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chunks.jsonl").write_bytes(lines(chunks()))
    gold = [{"q_id": q_id, "q": q, "sections": [gold]} for q_id, (q, gold, _) in QUESTIONS.items()]
    (folder / "gold.jsonl").write_bytes(lines(gold))
    (folder / "R1.jsonl").write_bytes(lines(traces if traces is not None else map(trace_of, QUESTIONS)))
    (folder / "cohorts.jsonl").write_bytes(
        lines([{"name": "SCORE-POLICY", "q_ids": COHORT}, {"name": "STRANGERS", "q_ids": ["Q9"]}])
    )
    named = {name: {"path": f"{name}.jsonl"} for name in ("chunks", "gold", "cohorts")}
    listed = [{"run_id": "R1", "title": "first", "traces": {"path": "R1.jsonl"}}]
    return manifest_of(folder, **{**named, "runs": listed, **more})


def model_in(folder: Path) -> Path:
    """A model that counts shared words, of which those in every question count nothing."""
    words = " ".join([text for texts in SECTIONS.values() for text in texts]).split()
    return write_model(folder, words, weights={"the": 0.0})
