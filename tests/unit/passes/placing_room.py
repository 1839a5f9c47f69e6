"""A workspace whose documents only a fake pool reads, and what lists say of its citations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proofspan.errors import Problem
from proofspan.evidence.locate_bulk import Answer
from proofspan.evidence.types import Difference, FoundSpan, SpanQuery
from proofspan.manifest.types import Manifest
from proofspan.services.passes.locating import PlacedReport, place_runs
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import RUN, lines, manifest_of, trace

DOCUMENTS: list[dict[str, object]] = [
    {"doc_id": "manual", "path": "manual.pdf"},
    {"doc_id": "bulletin", "path": "bulletin.md", "paged": False},
    {"doc_id": "lost", "path": "lost.pdf"},
]
#: Quote → what the fake pool finds.
FOUND = {
    "exact": FoundSpan("exact", 4, False, 1.0),
    "other page": FoundSpan("normalized", 3, True, 0.99),
    "figures": FoundSpan("fuzzy", 4, False, 0.9, differences=(Difference("2.3", "2.5", "number"),)),
    "words": FoundSpan("fuzzy", 4, False, 0.95, differences=(Difference("may", "must", "word"),)),
    "absent": FoundSpan("not_found", None, False, 0.0),
}


class FakePool:
    """A pool of documents that records its requests."""

    def __init__(self, found: Mapping[str, FoundSpan | Problem] = FOUND) -> None:
        self._found = found
        self.asked: list[tuple[str, str]] = []

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
        for query in queries:
            self.asked.append((path.name, query.quote))
            answer = self._found.get(query.quote, FOUND["exact"])
            yield answer
            if isinstance(answer, Problem):
                return


def cite(*quotes: str, doc_id: str | None = "manual", page: int = 5) -> dict[str, Any]:
    """A trace's payload with one citation a quote, cited on the 1-based `page`."""
    cited = [{"quote": quote, "page": page, "section_id": "4.2"} for quote in quotes]
    return {"citations": [{**each, **({"doc_id": doc_id} if doc_id else {})} for each in cited]}


TRACES = [
    trace("Q1", **cite("exact")),
    trace("Q2", **cite("exact", "other page")),
    trace("Q3", **cite("figures")),
    trace("Q4", **cite("words", "absent")),
    trace("Q5", **cite("unlisted", doc_id="elsewhere")),
    trace("Q6", **cite("lost", doc_id="lost")),
    trace("Q7", answer="Nothing is cited here.", citations=[]),
    trace("Q8", **cite("Torque the bolts to 30 Nm.", doc_id="bulletin", page=1)),
    trace("Q9", **cite("no document", doc_id=None)),
]


def workspace(folder: Path, records: Sequence[object] = TRACES, runs: Sequence[str] = (RUN,)) -> Manifest:
    """A workspace with a PDF that only the fake pool reads, a text, and a document that is not there."""
    (folder / "runs").mkdir(parents=True)
    (folder / "manual.pdf").write_bytes(b"%PDF-1.7 manual")
    (folder / "bulletin.md").write_text("# Wheels\n\nTorque the bolts to 30 Nm.\n")
    (folder / "chunks.jsonl").write_bytes(lines([{"chunk_id": "c1", "doc_id": "manual", "text": "exact"}]))
    for run_id in runs:
        (folder / "runs" / f"{run_id}.jsonl").write_bytes(lines(records))
    listed = [{"run_id": run_id, "traces": {"path": f"runs/{run_id}.jsonl"}} for run_id in runs]
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=listed, documents=DOCUMENTS)


def place_run(manifest: Manifest, run_id: str, **options: Any) -> PlacedReport:
    """Locate the citations of one run."""
    (report,) = place_runs(manifest, [run_id], **options)
    return report


def place(manifest: Manifest, cache: Path, pool: FakePool | None = None, run_id: str = RUN) -> PlacedReport:
    build_index(manifest, cache_dir=cache)
    return place_run(manifest, run_id, cache_dir=cache, pool=pool or FakePool())


def shown(manifest: Manifest, cache: Path, *states: str, by: str = "q_id") -> list[str]:
    """The questions of a list that is filtered by `states`."""
    filtered = Filter(RUN, evidence=states, all_variants=True)  # type: ignore[arg-type]
    return [str(q_id) for q_id in Store(manifest, cache).page(filtered, Sort(by), limit=99, offset=0)["q_id"]]
