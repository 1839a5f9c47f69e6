"""A question with its chunks and gold, and a fake document of three pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan, SourceLine
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, PageInfo, SpanQuery
from proofspan.services.question.view import QuestionView, load_question
from tests.made_traces import made_trace

CHUNKS = {
    "c1": Chunk("c1", "Use only rosin flux for copper wires.", doc_id="d", section_id="2.26", page_idx=0),
    "c2": Chunk("c2", "Strip the wire 1/32 inch longer.", doc_id="d", section_id="2.25", page_idx=1),
    "c3": Chunk("c3", "Elsewhere altogether.", doc_id="other", page_idx=4),
}
GOLD = {"Q1": GoldQuestion("Q1", "Which flux?", chunks=("c1",), spans=(GoldSpan("d", 1, "1/32 inch"),))}
LINE = {
    "q_id": "Q1",
    "q": "Which flux for copper wires?",
    "answer": "Use only rosin flux. Strip 1/16 inch. citations: [c1, c2, c9]",
    "chunks": [{"id": "c1", "score": 0.9}, {"id": "c3"}],
    "stages": {"retrieved": [{"id": "c3"}, {"id": "c1"}, {"id": "c2"}]},
    "citations": [
        {"chunk_id": "c1"},
        {"chunk_id": "c2", "quote": "Strip 1/16 inch", "page": 2},
        {"chunk_id": "c9"},
    ],
}


def question(**changes: object) -> QuestionView:
    trace = made_trace({**LINE, **changes}, source=SourceLine("t.jsonl", 3, 120, 400))
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in CHUNKS.items()})
    return load_question(trace, chunks=CHUNKS, gold=GOLD, corpus=corpus, profile=Profile())


class Source:
    """A document of three pages that holds every quote on the cited page, two lines of it."""

    def __init__(self) -> None:
        self.asked: list[SpanQuery] = []
        self.rendered: list[int] = []

    def document(self, path: Path) -> DocumentInfo:
        return DocumentInfo(3, ("i", "ii", "1"))

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        self.asked += queries
        rects = ((10.0, 10.0, 90.0, 20.0), (10.0, 20.0, 50.0, 30.0))
        return [FoundSpan("exact", query.cited_page_idx or 0, False, 1.0, rects) for query in queries]

    def look(
        self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool
    ) -> tuple[list[FoundSpan], PageImage | None]:
        image = self.show(path, page_idx, with_words=with_words) if page_idx < 3 else None
        return self.locate_many(path, queries), image

    def show(self, path: Path, page_idx: int, *, with_words: bool) -> PageImage:
        self.rendered.append(page_idx)
        page = PageInfo(page_idx, 100.0, 200.0, 0, None)
        return PageImage(b"png", 200, 400, page, (2.0, 0.0, 0.0, 2.0, 0.0, 0.0))
