"""Chunks against their documents as they are read today."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
import yaml

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.contracts.records.chunk_id import ChunkId, mint
from proofspan.contracts.records.names import revision
from proofspan.contracts.records.records import Chunk, Offsets
from proofspan.errors import ManifestFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text_file import document_text, extractor
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services import chunk_ids
from proofspan.services.chunk_ids import Sources, at_place, audit_workspace, own_text, recomputed
from tests.pdf_files import write_pages

PAGES = [["Never reach under the car."], ["Tighten the wheel nuts to 120 Nm."]]
TEXT = "# Bulletin\n\nThe oil filter holds 0.4 litres.\n"
TEXT_REV = revision(TEXT)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    folder = tmp_path_factory.mktemp("sources")
    write_pages(folder / "manual.pdf", PAGES)
    (folder / "notes.md").write_text(TEXT, encoding="utf-8")
    named = [
        {"doc_id": "manual", "path": "manual.pdf"},
        {"doc_id": "notes", "path": "notes.md", "paged": False, "rev": TEXT_REV},
        {"doc_id": "lost", "path": "lost.pdf"},
    ]
    written = {
        "manifest_version": "1.0",
        "name": "Sources",
        "documents": named,
        "chunks": {"path": "c.jsonl"},
    }
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    return load_manifest(folder)


def on_page(page: int, *, rev: str = "00000000", text: str = "", doc: str = "manual") -> Chunk:
    words = text or PAGES[page - 1][0]
    return Chunk(mint(ChunkId(doc, rev, "1", page, 1)), words, doc, "1", page_idx=page - 1)


def in_text(start: int, *, rev: str = TEXT_REV, text: str = "The oil filter holds 0.4 litres.") -> Chunk:
    offsets = Offsets(start, start + len(text))
    return Chunk(mint(ChunkId("notes", rev, "1", 0, 1)), text, "notes", "1", offsets=offsets)


def test_the_canonical_text_of_a_pdf_is_its_text_layer_page_by_page(
    manifest: Manifest, pool: PdfPool
) -> None:
    text = document_text(manifest.folder / "manual.pdf", pool, paged=True)
    assert [page.strip() for page in text.split("\f")] == ["Never reach under the car.", PAGES[1][0]]
    assert document_text(manifest.folder / "notes.md", pool, paged=False) == TEXT
    assert "PyMuPDF 1." in extractor(paged=True)


def test_a_revision_is_computed_from_the_document(manifest: Manifest, pool: PdfPool) -> None:
    text = document_text(manifest.folder / "manual.pdf", pool, paged=True)
    audit = recomputed([on_page(1, rev=revision(text)), in_text(12)], Sources(manifest, pool))
    assert (audit.status, audit.numbers["document"]) == ("pass", 2)


def test_or_from_the_chunks_where_they_are_the_canonical_text(manifest: Manifest, pool: PdfPool) -> None:
    first, second = "WARNING\n" + PAGES[0][0], PAGES[1][0]  # as a producer's own blocks say it
    rev = revision(f"{first}\n\n{second}")
    start = len(first) + 2
    chunks = [
        replace(on_page(2, rev=rev, text=second), offsets=Offsets(start, start + len(second))),
        replace(on_page(1, rev=rev, text=first), offsets=Offsets(0, len(first))),
    ]
    assert recomputed(chunks, Sources(manifest, pool)).numbers["chunks"] == 1
    assert (
        own_text([chunks[0], replace(chunks[1], offsets=Offsets(start - 5, start - 5 + len(first)))]) is None
    )


@pytest.mark.parametrize(
    ("chunk", "status"),
    [
        (in_text(12, rev="8c1e9a02"), "fail"),
        (on_page(1, rev="8c1e9a02"), "unknown"),  # who knows what its producer extracted
        (replace(on_page(1, rev="8c1e9a02"), raw={"extractor": extractor(paged=True)}), "fail"),
        (on_page(1, rev="8c1e9a02", doc="lost"), "unknown"),
        (on_page(1, rev="8c1e9a02", doc="nobody"), "unknown"),
        (on_page(1), "unknown"),
    ],
)
def test_another_revision_is_a_finding_only_where_the_text_is_surely_the_same_layer(
    chunk: Chunk, status: str, manifest: Manifest, pool: PdfPool
) -> None:
    audit = recomputed([chunk], Sources(manifest, pool))
    assert audit.status == status
    assert [each.code for each in audit.findings] == ["id_not_recomputable"] * (status == "fail")
    assert bool(audit.fix) == (status == "fail")


@pytest.mark.parametrize(
    ("chunk", "status", "expected"),
    [
        (on_page(1), "pass", ""),
        (replace(on_page(1), page_idx=None), "pass", ""),
        (replace(on_page(2), page_idx=0), "fail", "its text is on PDF page 2"),
        (on_page(1, text="Nothing of this was ever printed anywhere."), "fail", "its text was not found"),
        (in_text(12), "pass", ""),
        (in_text(11), "fail", "at 11–43 is 'The oil filter holds 0.4 litres"),
        (replace(in_text(0), offsets=None), "pass", ""),
        (replace(in_text(3), offsets=Offsets(3, 4, "line")), "pass", ""),
        (on_page(1, doc="lost"), "unknown", ""),
        (on_page(1, doc="nobody"), "unknown", ""),
    ],
)
def test_a_text_is_at_its_place_or_is_reported(
    chunk: Chunk, status: str, expected: str, manifest: Manifest, pool: PdfPool
) -> None:
    audit = at_place([chunk], Sources(manifest, pool), seed=7)
    assert audit.status == status
    assert [each.message[: len(expected)] for each in audit.findings] == [expected] * (status == "fail")


def test_of_a_large_file_a_sample_is_looked_for_and_this_is_reported(
    manifest: Manifest, pool: PdfPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_ids, "MOST_PLACED", 2)
    chunks = [on_page(1), on_page(2), in_text(12)]
    audit = at_place(chunks, Sources(manifest, pool), seed=7)
    assert "2 of 2 chunks (drawn from 3, seed 7)" in audit.message
    assert audit == at_place(chunks[::-1], Sources(manifest, pool), seed=7)


def named(audits: tuple[Audit, ...]) -> dict[str, str]:
    return {audit.name: audit.status for audit in audits}


def test_a_workspace_is_audited_with_and_without_its_documents(manifest: Manifest, pool: PdfPool) -> None:
    with pytest.raises(ManifestFault, match="does not exist"):
        audit_workspace(manifest, None, cache_dir=manifest.folder / "cache")
    record = {
        "chunk_id": in_text(12).chunk_id,
        "text": "The oil filter holds 0.4 litres.",
        "offsets": [12, 44],
    }
    lines = [orjson.dumps(record), b"{", orjson.dumps(record)]
    (manifest.folder / "c.jsonl").write_bytes(b"\n".join(lines))
    bare = audit_workspace(manifest, None, cache_dir=manifest.folder / "cache")
    assert named(bare) == {
        "unique": "fail",
        "format": "pass",
        "place": "pass",
        "order": "unknown",
        "revision": "pass",
        "citation_match_sample": "unknown",
        "citation_match": "unknown",
    }
    (manifest.folder / "r.jsonl").write_bytes(
        b'{"old_id": "a", "kind": "shift", "new_ids": ["b"], "confidence": 0.9}\n'
        b'{"old_id": "c", "kind": "gone", "new_ids": [], "confidence": 1.0}\n'
    )
    led = replace(manifest, redirects=Artifact("redirects", "r.jsonl"))
    (*_, redirected) = audit_workspace(led, None, cache_dir=manifest.folder / "cache")
    assert (redirected.name, redirected.status) == ("one_to_one", "fail")
    assert redirected.message.startswith("1 of 2 old ids, 50 % (9–91 %), lead to one chunk each")
    opened = audit_workspace(manifest, pool, cache_dir=manifest.folder / "cache")
    assert named(opened) == {**named(bare), "recomputed": "pass", "at_place": "pass"}
