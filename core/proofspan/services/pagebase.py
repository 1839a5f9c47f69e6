"""The page-base doctor at work: on spans located in bulk, and on the placed citations of a run.

The rule is in `proofspan.evidence.pagebase`, the words in `proofspan.services.pagebase_words`. Here they meet
the data, what the documents print on their pages, and who wrote the page numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.records import TraceKey
from proofspan.errors import EvidenceFault, ManifestFault
from proofspan.evidence.pagebase import (
    MIN_QUOTES,
    PageBaseFinding,
    PlacedQuote,
    diagnose,
    speaks_for_itself,
)
from proofspan.evidence.spanfile import Located
from proofspan.evidence.types import DocumentInfo
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.pagebase_words import PRODUCER, Writer, in_one_line, mapping_writer, worth_saying
from proofspan.store.files import DamagedError
from proofspan.store.index import index_folder
from proofspan.store.placed import read_placed, read_placed_file
from proofspan.traces.importers.folder import mapping_of

#: Columns of `proofspan.store.placed.PLACED_SCHEMA` as lists, None for what is missing.
Placed = Mapping[str, Sequence[Any]]


#: Those that the doctor needs.
_COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "chunk_id", "doc_id", "section_id"),
    *("cited_page_idx", "page_idx", "page_mismatch", "tells_page"),
)
HEADLINE = (0, 0, 1)


@dataclass(frozen=True, slots=True)
class CitedPages:
    """What a run's citations tell of its pages.

    `offsets` says of traces how many pages from the cited one their text stands, where that is one and the
    same for all their citations on other pages; the traces' `run_id` is "".
    """

    findings: tuple[PageBaseFinding, ...]
    offsets: Mapping[TraceKey, int]


def examine(
    quotes: Sequence[PlacedQuote], labels_of: Callable[[str], Sequence[str]]
) -> tuple[PageBaseFinding, ...]:
    """The findings on these quotes; a document is asked for its printed labels only where it needs them."""
    first = diagnose(quotes)
    off = [each.doc_id for each in first if each.doc_id is not None and each.off >= MIN_QUOTES]
    labels = {doc_id: found for doc_id in off if (found := labels_of(doc_id))}
    return diagnose(quotes, labels) if labels else first


def labels_in(document: Callable[[Path], DocumentInfo], path: Path | None) -> Sequence[str]:
    """The labels that a document prints; none where it cannot be opened, which others report."""
    try:
        return document(path).labels if path is not None else ()
    except EvidenceFault:
        return ()


def quotes_of_spans(located: Iterable[Located], *, root: Path) -> list[PlacedQuote]:
    """The spans that speak for themselves; a document goes by its path inside `root`."""
    top = root.resolve()
    return [
        PlacedQuote(str(source.path.relative_to(top)), source.query.cited_page_idx, found.page_idx)
        for source, found in ((each.source, each.found) for each in located)
        if found is not None and found.page_idx is not None
        if source.path is not None and source.query is not None and source.query.cited_page_idx is not None
        if speaks_for_itself(found, source.query.quote)
    ]


def examine_run(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> CitedPages:
    """What the placed citations of a run tell; nothing where there are none.

    `document` opens a document for its labels.
    """
    folder = index_folder(manifest, run_id, cache_dir)
    known = read_placed_file(folder)
    try:
        placed = read_placed(folder, known.parts, _COLUMNS).to_pydict() if known else {}
    except DamagedError:  # replaced while it was read
        placed = {}
    return pages_of_placed(placed, lambda doc_id: labels_in(document, _path_of(manifest, doc_id)))


def told_of_run(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> tuple[str, ...]:
    """What a person should hear of a run's cited pages, one line each, with what mends it."""
    cited = examine_run(manifest, run_id, cache_dir=cache_dir, document=document)
    return tuple(in_one_line(each, writer_of(manifest)) for each in worth_saying(cited.findings))


def pages_of_placed(placed: Placed, labels_of: Callable[[str], Sequence[str]]) -> CitedPages:
    """The findings on the headline citations, one trace a question; the offsets of all traces."""
    columns = [placed[name] for name in _COLUMNS] if placed else []
    alike: Counter[tuple[str, int, int, str | None, str | None]] = Counter()
    offsets: dict[TraceKey, set[int]] = defaultdict(set)
    for q_id, *variant, chunk_id, doc_id, section, cited, page_idx, is_off, tells in zip(
        *columns, strict=True
    ):
        if doc_id is None or cited is None or page_idx is None:
            continue
        if tells and tuple(variant) == HEADLINE:
            alike[doc_id, cited, page_idx, section, None if cited == page_idx else chunk_id] += 1
        if is_off:
            offsets[TraceKey("", q_id, *variant)].add(page_idx - cited)
    quotes = [
        PlacedQuote(doc_id, cited, page_idx, section, _page_by_id(chunk_id), times)
        for (doc_id, cited, page_idx, section, chunk_id), times in alike.items()
    ]
    same = {key: offset for key, (offset, *others) in offsets.items() if not others}
    return CitedPages(examine(quotes, labels_of), same)


def _page_by_id(chunk_id: str | None) -> int | None:
    """The page that a chunk's id names, where it does."""
    parts = parse(chunk_id) if chunk_id is not None else None
    return parts.page_idx if parts else None


def _path_of(manifest: Manifest, doc_id: str) -> Path | None:
    """The document's file; None where there is none, which `check` reports."""
    listed = manifest.document(doc_id)
    try:
        return artifact_path(manifest, listed.artifact) if listed else None
    except ManifestFault:
        return None


def writer_of(manifest: Manifest) -> Writer:
    """Who wrote the cited pages of a workspace: the mapping that it was imported by, else its producer."""
    mapping = mapping_of(manifest.folder)
    return PRODUCER if mapping is None else mapping_writer(mapping, ["traces.citations.page"])
