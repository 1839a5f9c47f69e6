"""A small workspace for the tests of bundles: a manual, a text, broken documents, and pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pymupdf

from proofspan.contracts.records.records import LineIssue, SourceLine, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import verdict
from proofspan.diagnosis.types import Profile
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.bundles import Bundle, BundleCitation
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Sources, bundles_of
from proofspan.services.documents.document_set import Shelf
from proofspan.store.query.indexed_run import IndexedTrace
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.records.catalogue import attachment_from
from proofspan.traces.records.chunks import chunk_from
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.trace_record import trace_from
from tests.pdf_files import write_pages
from tests.pictures import saved, two_colours

PAGES = [
    ["Contents of this manual", "Jacking up the car"],
    ["Set the jack under the marked point of the sill.", "Never reach under the car while it is up."],
    ["Tighten the wheel nuts to 120 Nm.", "Lower the car before that."],
]
TEXT = "# Bulletin\n\nThe oil filter of the diesel\nholds 0.4 litres.\n"

QUOTE = "Set the jack under the marked point of the sill."
JACK = "manual|r=8c1e9a02|s=4.2|p=002|b=001"
NUTS = "manual|r=8c1e9a02|s=4.3|p=003|b=001"
OIL = "notes|r=00000000|s=1|p=000|b=001"

CHUNKS: list[dict[str, Any]] = [
    {"chunk_id": JACK, "doc_id": "manual", "section_id": "4.2", "page_idx": 1, "text": " ".join(PAGES[1])},
    {
        "chunk_id": NUTS,
        "doc_id": "manual",
        "section_id": "4.3",
        "section_number": "4.3",
        "page_idx": 2,
        "text": "Tighten the wheel nuts to 120 Nm.",
        "bbox": [40, 40, 300, 70],
        "bbox_space": "points",
    },
    {"chunk_id": OIL, "doc_id": "notes", "section_id": "1", "text": "holds 0.4 litres", "offsets": [41, 57]},
    {"chunk_id": "lost", "doc_id": "gone", "section_id": "9", "page_idx": 0, "text": "Nowhere to be read."},
]
CATALOGUE: list[dict[str, Any]] = [
    {
        "attachment_id": "w-1",
        "kind": "warning",
        "doc_id": "manual",
        "section_id": "4.2",
        "page_idx": 1,
        "bbox": [40, 65, 300, 90],
        "text": "Never reach under the car while it is up.",
        "caption": "WARNING",
        "render_ref": "pdf:manual#page_idx=1&bbox=40,65,300,90",
    },
    {
        "attachment_id": "i-1",
        "kind": "image",
        "doc_id": "manual",
        "section_id": "4.2",
        "page_idx": 1,
        "text": "The jack",
        "caption": "Figure 4-1. The jack",
        "render_ref": "file:jack.png",
    },
]


def write_workspace(folder: Path, **more: Any) -> Manifest:
    """The workspace's files and its manifest, with one run that has no traces yet; gives the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pages(folder / "manual.pdf", PAGES)
    write_pages(folder / "scan.pdf", [[]])
    _label(folder / "manual.pdf", folder / "labelled.pdf")
    (folder / "notes.md").write_text(TEXT, encoding="utf-8")
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7\n")
    (folder / "media").mkdir(exist_ok=True)
    (folder / "media/jack.png").write_bytes(saved(two_colours(), "PNG"))
    (folder / "media/plan.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "media/torn.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "chunks.jsonl").write_bytes(jsonl(CHUNKS))
    (folder / "catalogue.jsonl").write_bytes(jsonl(CATALOGUE))
    (folder / "traces.jsonl").touch()
    documents = [
        {
            "doc_id": "manual",
            "path": "manual.pdf",
            "rev": "8c1e9a02",
            "sha256": sha256(folder / "manual.pdf"),
        },
        {"doc_id": "notes", "path": "notes.md", "paged": False},
        {"doc_id": "scan", "path": "scan.pdf"},
        {"doc_id": "labelled", "path": "labelled.pdf"},
        {"doc_id": "cut", "path": "cut.pdf"},
        {"doc_id": "gone", "path": "gone.pdf"},
        {"doc_id": "replaced", "path": "manual.pdf", "rev": "ffffffff", "sha256": "0" * 64},
    ]
    run = {"run_id": "R1", "traces": {"path": "traces.jsonl"}, "bundles": {"path": "bundles.jsonl"}}
    manifest = {
        "manifest_version": "1.0",
        "name": "test",
        "documents": documents,
        "chunks": {"path": "chunks.jsonl"},
        "catalogue": {"path": "catalogue.jsonl"},
        "attachments_root": "media",
        "runs": [run],
    } | more
    (folder / "pipeline_manifest.yaml").write_bytes(orjson.dumps(manifest))
    return load_manifest(folder)


def _label(pages: Path, labelled: Path) -> None:
    """The same document with roman numbers as its printed labels."""
    with pymupdf.open(pages) as document:
        document.set_page_labels([{"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1}])
        document.save(labelled)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def jsonl(records: Sequence[Any]) -> bytes:
    """Records as JSONL; bytes go in as they are."""
    return b"".join((each if isinstance(each, bytes) else orjson.dumps(each)) + b"\n" for each in records)


def trace(q_id: str = "Q1", **more: Any) -> dict[str, Any]:
    """A trace that cites the jack's sentence word for word, unless `more` says otherwise."""
    return {
        "q_id": q_id,
        "q": "How do I jack up the car?",
        "answer": f"{QUOTE} citations: [{JACK}]",
        "chunks": [{"id": JACK}, {"id": NUTS}],
        "citations": [{"chunk_id": JACK, "doc_id": "manual", "page": 2, "quote": QUOTE}],
    } | more


def cites(**citation: Any) -> dict[str, Any]:
    """A trace with this one citation and nothing retrieved."""
    return trace(citations=[citation], chunks=[], answer="So it says.")


def sources_of(
    manifest: Manifest,
    pool: PdfPool,
    *,
    chunks: Sequence[Any] = tuple(CHUNKS),
    catalogue: Sequence[Any] = tuple(CATALOGUE),
) -> Sources:
    """Return the sources of bundles; unusable records are left out, as their readers do."""
    known = [chunk for each in chunks if (chunk := _read(chunk_from, each)) is not None]
    attachments = [item for each in catalogue if (item := _read(attachment_from, each)) is not None]
    texts = {chunk.chunk_id: chunk for chunk in known}
    index = CatalogueIndex.of({item.attachment_id: item for item in attachments}.values())
    return Sources(Shelf(manifest, pool), texts, index)


def _read(read: Any, record: Any) -> Any:
    try:
        return read(record)
    except UnusableError:
        return None


def bundles_from(records: Sequence[Mapping[str, Any]], sources: Sources, **options: Any) -> list[Bundle]:
    """The bundles of trace records, those that are no trace left out; `options` are those of `bundles_of`."""
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in sources.chunks.items()})
    repeats, traces, indexed = Repeats(), {}, []
    for number, record in enumerate(records, start=1):
        found = trace_from(record, SourceLine("traces.jsonl", number, 0, 0), run_id="R1")
        if isinstance(found, Trace):
            key = repeats.key_of(found)
            traces[key] = found
            indexed.append(IndexedTrace.of(key, found, verdict(found, corpus, Profile())))
        else:
            assert isinstance(found, LineIssue)
    return bundles_of(indexed, sources, lambda each: traces[each.key], **options)


def one(record: dict[str, Any], manifest: Manifest, pool: PdfPool, **records: Any) -> Bundle:
    """The bundle of a lone trace; `records` as `sources_of` takes them."""
    (made,) = bundles_from([record], sources_of(manifest, pool, **records))
    return made


def cited(made: Bundle) -> BundleCitation:
    """The citation that it shows."""
    assert made.citation is not None
    return made.citation
