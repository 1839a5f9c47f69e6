"""The page check after an import: locate a sample of its chunks and gold quotes on their pages.

A mapping states the page base, and a wrong one goes unnoticed until a highlight is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from proofspan.errors import Fault
from proofspan.evidence.locate_bulk import Ask, Locator, locate_bulk
from proofspan.evidence.page_base import PageBaseFinding, PlacedQuote, is_telling
from proofspan.evidence.types import DocumentInfo, FoundSpan, SpanQuery
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.page_base import Writer, examine, in_one_line, labels_in, mapping_writer, worth_saying
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold

#: How many passages of a document are looked for, evenly spread.
PER_DOCUMENT = 20


@dataclass(frozen=True, slots=True)
class ImportedPages:
    """The findings on the pages of one kind of imported record, and who wrote the page numbers."""

    kind: str
    findings: tuple[PageBaseFinding, ...]
    writer: Writer

    @property
    def is_systematic(self) -> bool:
        """Return whether the mapping states a wrong base."""
        return any(finding.is_systematic for finding in self.findings)

    def lines(self) -> Iterator[str]:
        """Yield the findings worth reporting, one line each, with their fix."""
        for finding in worth_saying(self.findings):
            yield f"pages of {self.kind}: {in_one_line(finding, self.writer)}"


@dataclass(frozen=True, slots=True)
class _Passage:
    doc_id: str
    page_idx: int
    text: str


class Opener(Locator, Protocol):
    """A locator that also opens documents; `proofspan.evidence.pdf.pool.PdfPool` is one."""

    def document(self, path: Path) -> DocumentInfo: ...


def imported_pages(
    workspace: Path, mapping: str, page_keys: Iterable[str], *, pool: Opener, workers: int
) -> tuple[ImportedPages, ...]:
    """Return the findings on a sample of the workspace's chunks and gold quotes; no kind without a sample.

    `mapping` is the mapping's file name and `page_keys` are its keys that give pages. Documents that are
    missing or cannot be opened are left out: the import and `check` report them.
    """
    manifest = load_manifest(workspace)
    keys = list(page_keys)
    of_gold = [key for key in keys if key.startswith("gold.")]
    of_chunks = [key for key in keys if key.startswith(("traces.stages.", "chunks."))]
    kinds = [("chunks", _chunks, of_chunks), ("gold quotes", _gold, of_gold)]
    return tuple(
        ImportedPages(kind, _findings(passages, manifest, pool, workers), mapping_writer(mapping, written_at))
        for kind, passages_of, written_at in kinds
        if written_at and (passages := passages_of(manifest))
    )


def _findings(
    passages: Sequence[_Passage], manifest: Manifest, pool: Opener, workers: int
) -> tuple[PageBaseFinding, ...]:
    paths = {doc_id: _document(manifest, doc_id) for doc_id in {each.doc_id for each in passages}}
    asked = [
        (each, Ask(path, SpanQuery(each.text, each.page_idx)))
        for each in passages
        if (path := paths[each.doc_id]) is not None
    ]
    answers = locate_bulk([ask for _, ask in asked], pool, workers=workers)
    quotes = [
        PlacedQuote(each.doc_id, each.page_idx, answer.page_idx)
        for (each, _), answer in zip(asked, answers, strict=True)
        if isinstance(answer, FoundSpan) and answer.page_idx is not None
        if is_telling(answer, each.text)
    ]
    return examine(quotes, lambda doc_id: labels_in(pool.document, paths[doc_id]))


def _chunks(manifest: Manifest) -> list[_Passage]:
    path = _file(manifest, manifest.chunks)
    chunks = read_chunks(path, file=path.name)[0].values() if path else ()
    return _sample(
        _Passage(chunk.doc_id, chunk.page_idx, chunk.text)
        for chunk in chunks
        if chunk.doc_id is not None and chunk.page_idx is not None
    )


def _gold(manifest: Manifest) -> list[_Passage]:
    path = _file(manifest, manifest.gold)
    questions = read_gold(path, file=path.name)[0].values() if path else ()
    return _sample(
        _Passage(span.doc_id, span.page_idx, span.quote)
        for question in questions
        for span in question.spans
        if span.page_idx is not None
    )


def _sample(passages: Iterable[_Passage]) -> list[_Passage]:
    """Return at most `PER_DOCUMENT` passages of each document, evenly spread over its pages, reproducibly."""
    by_document: dict[str, list[_Passage]] = defaultdict(list)
    for passage in sorted(set(passages), key=lambda each: (each.doc_id, each.page_idx, each.text)):
        by_document[passage.doc_id].append(passage)
    return [
        each[number * len(each) // count]
        for each in by_document.values()
        for count in [min(PER_DOCUMENT, len(each))]
        for number in range(count)
    ]


def _document(manifest: Manifest, doc_id: str) -> Path | None:
    document = manifest.document(doc_id)
    return _file(manifest, document.artifact) if document and document.paged else None


def _file(manifest: Manifest, artifact: Artifact | None) -> Path | None:
    try:
        return artifact_path(manifest, artifact) if artifact else None
    except Fault:
        return None
