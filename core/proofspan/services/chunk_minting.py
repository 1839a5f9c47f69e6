"""A chunk file with canonical ids in place of its own, and redirects from an older file to a newer one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from proofspan.contracts.findings import Finding
from proofspan.contracts.minting import doc_uid_of, mint_chunks
from proofspan.contracts.records import Chunk, Json
from proofspan.contracts.redirects import RedirectMap
from proofspan.contracts.revisions import DocumentText, revisions_of
from proofspan.contracts.values import ID_NAMES
from proofspan.evidence.fulltext import extractor
from proofspan.services.chunk_ids import revs_of
from proofspan.services.chunk_sources import Sources

REDIRECT_SCHEMA = "urn:proofspan:schema:redirect-1.0"


@dataclass(frozen=True, slots=True)
class Revisions:
    """Revisions by `doc_id`; for those worked out here `extractors` say what has read the text."""

    by_document: Mapping[str, str]
    extractors: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Minted:
    """A chunk file's records with their new ids. `kept` have theirs still: nothing says their document."""

    records: tuple[dict[str, Json], ...]
    changed: int
    kept: int
    revisions: Revisions


def revisions_for(chunks: Sequence[Chunk], sources: Sources | None) -> Revisions:
    """The revisions of the chunks' documents: as the manifest names them, else from their texts."""
    if sources is None:
        return Revisions({}, {})
    named = revs_of(sources.manifest)
    uids = {chunk.doc_id: doc_uid_of(chunk) for chunk in chunks if chunk.doc_id and chunk.doc_id not in named}
    texts = [(doc_id, uid, sources.text(doc_id)) for doc_id, uid in uids.items()]
    held = [(doc_id, DocumentText(uid, text)) for doc_id, uid, text in texts if uid and text is not None]
    revs, findings = revisions_of(text for _, text in held)
    computed = {doc_id: rev for (doc_id, _), rev in zip(held, revs, strict=True)}
    unpaged = sources.manifest.unpaged
    extractors = {doc_id: extractor(paged=doc_id not in unpaged) for doc_id in computed}
    return Revisions(named | computed, extractors, findings)


def minted(chunks: Sequence[Chunk], sources: Sources | None) -> Minted:
    """The records with canonical ids; an id that changed is kept as `old_id`, so that it can be looked up."""
    revisions = revisions_for(chunks, sources)
    ids = mint_chunks(chunks, revisions.by_document)
    return Minted(
        tuple(_record(chunk, new_id, revisions) for chunk, new_id in zip(chunks, ids, strict=True)),
        sum(new_id not in (None, chunk.chunk_id) for chunk, new_id in zip(chunks, ids, strict=True)),
        ids.count(None),
        revisions,
    )


def _record(chunk: Chunk, new_id: str | None, revisions: Revisions) -> dict[str, Json]:
    record = dict(chunk.raw)
    if new_id is None:
        return record
    if new_id != chunk.chunk_id:
        record |= {next(name for name in ID_NAMES if name in record): new_id, "old_id": chunk.chunk_id}
    if (reader := revisions.extractors.get(chunk.doc_id or "")) is not None:
        record["extractor"] = reader
    return record


def redirect_records(found: RedirectMap) -> Iterator[dict[str, Json]]:
    """The redirects as lines of the file that a manifest's `redirects` names."""
    for redirect in found.redirects:
        yield {"$schema": REDIRECT_SCHEMA, **asdict(redirect)}
