"""The page check after an import: locate a sample of its chunks and gold quotes on their pages.

A mapping states the page base, and a wrong one goes unnoticed until a highlight is missing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from proofspan.contracts.records.records import Trace
from proofspan.errors import Fault
from proofspan.evidence.locate_bulk import Ask, Locator, locate_bulk
from proofspan.evidence.page_base import PlacedQuote, is_telling
from proofspan.evidence.types import DocumentInfo, FoundSpan, SpanQuery
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.page_base import examine, in_one_line, labels_in, mapping_writer, worth_saying
from proofspan.traces.formats.types import PageBase
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.traces import iter_traces

#: How many passages of a document are looked for, evenly spread.
PER_DOCUMENT = 20


class _Passage(NamedTuple):
    doc_id: str
    page_idx: int
    text: str


class Opener(Locator, Protocol):
    """A locator that also opens documents; `proofspan.evidence.pdf.pool.PdfPool` is one."""

    def document(self, path: Path) -> DocumentInfo: ...


def imported_pages(
    workspace: Path, mapping: str, page_keys: Sequence[str], *, pool: Opener, workers: int
) -> tuple[list[str], bool]:
    """Return what a sample of chunks and gold quotes shows of the pages, and whether the base is wrong.

    The findings worth reporting are a line each, with their fix. `mapping` is the mapping's file name and
    `page_keys` are its keys that give pages. Documents that are missing or cannot be opened are left out: the
    import and `check` report them.
    """
    manifest = load_manifest(workspace)
    paths = _paths(manifest)
    lines: list[str] = []
    is_off = False
    for kind, keys_of_kind, passages_of in (
        ("chunks", ("traces.stages.", "chunks."), _chunks),
        ("gold quotes", ("gold.",), _gold),
    ):
        keys = [key for key in page_keys if key.startswith(keys_of_kind)]
        passages = _sample(passages_of(manifest)) if keys else []
        quotes = _placed(passages, paths, pool=pool, workers=workers)
        if passages:
            findings = examine(quotes, lambda doc_id: labels_in(pool.document, paths[doc_id]))
            is_off = is_off or any(finding.is_systematic for finding in findings)
            writer = mapping_writer(mapping, keys)
            lines += [f"pages of {kind}: {in_one_line(each, writer)}" for each in worth_saying(findings)]
    return lines, is_off


def measured_base(
    workspace: Path, guess: PageBase, *, pool: Locator, workers: int
) -> tuple[PageBase | None, int, int]:
    """Return the page base that a sample of chunks, gold quotes and cited quotes shows, if `guess` was taken.

    With it come how many quotes are on the page that it means, and how many show a page at all. There are two
    bases only, so the more frequent one is right, however few quotes there are; None where neither is.
    """
    manifest = load_manifest(workspace)
    paths, counts = _paths(manifest), Counter[int]()
    for passages_of in (_chunks, _gold, _cited):
        quotes = _placed(_sample(passages_of(manifest)), paths, pool=pool, workers=workers)
        counts.update(each.offset for each in quotes)
    other: PageBase = 0 if guess else 1
    at = {guess: counts[0], other: counts[guess - other]}
    if at[0] == at[1]:
        return None, 0, counts.total()
    base: PageBase = 1 if at[1] > at[0] else 0
    return base, at[base], counts.total()


def _placed(
    passages: Sequence[_Passage], paths: Mapping[str, Path], *, pool: Locator, workers: int
) -> list[PlacedQuote]:
    """Return where passages of documents that are there are found, as far as they show a page."""
    asked = [each for each in passages if each.doc_id in paths]
    asks = [Ask(paths[each.doc_id], SpanQuery(each.text, each.page_idx)) for each in asked]
    answers = locate_bulk(asks, pool, workers=workers) if asks else []
    return [
        PlacedQuote(each.doc_id, each.page_idx, answer.page_idx)
        for each, answer in zip(asked, answers, strict=True)
        if isinstance(answer, FoundSpan) and answer.page_idx is not None
        if is_telling(answer, each.text)
    ]


def _paths(manifest: Manifest) -> dict[str, Path]:
    files = {each.doc_id: _file(manifest, each.artifact) for each in manifest.documents if each.paged}
    return {doc_id: path for doc_id, path in files.items() if path is not None}


def _chunks(manifest: Manifest) -> Iterator[_Passage]:
    if (path := _file(manifest, manifest.chunks)) is not None:
        for chunk in read_chunks(path, file=path.name)[0].values():
            if chunk.doc_id is not None and chunk.page_idx is not None:
                yield _Passage(chunk.doc_id, chunk.page_idx, chunk.text)


def _gold(manifest: Manifest) -> Iterator[_Passage]:
    if (path := _file(manifest, manifest.gold)) is not None:
        for question in read_gold(path, file=path.name)[0].values():
            for span in question.spans:
                if span.page_idx is not None:
                    yield _Passage(span.doc_id, span.page_idx, span.quote)


def _cited(manifest: Manifest) -> Iterator[_Passage]:
    """Yield the quotes with pages that the answers of an import cite."""
    for run in manifest.runs:
        if (path := _file(manifest, run.traces)) is None:
            continue
        for item in iter_traces(path, file=path.name, run_id=run.run_id, final=True):
            cited = item.raw.get("citations") if isinstance(item, Trace) else None
            for each in cited if isinstance(cited, list) else ():
                match each:
                    case {"doc_id": str(doc_id), "page_idx": int(page_idx), "quote": str(quote)}:
                        yield _Passage(doc_id, page_idx, quote)


def _sample(passages: Iterable[_Passage]) -> list[_Passage]:
    """Return at most `PER_DOCUMENT` passages of each document, evenly spread over its pages, reproducibly."""
    by_document: dict[str, list[_Passage]] = defaultdict(list)
    for passage in sorted(set(passages)):
        by_document[passage.doc_id].append(passage)
    return [
        each[number * len(each) // count]
        for each in by_document.values()
        for count in [min(PER_DOCUMENT, len(each))]
        for number in range(count)
    ]


def _file(manifest: Manifest, artifact: Artifact | None) -> Path | None:
    try:
        return artifact_path(manifest, artifact) if artifact else None
    except Fault:
        return None
