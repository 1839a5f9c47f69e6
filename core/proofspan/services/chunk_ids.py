"""Chunk files as commands and pages audit them: by themselves, against gold, against their documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proofspan.contracts.chunk_audit import Audit, audit_chunks
from proofspan.contracts.records import Chunk, GoldQuestion, LineIssue
from proofspan.contracts.redirects import RedirectMap
from proofspan.errors import InputFault
from proofspan.evidence.fulltext import extractor
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.metrics.gold_cover import DEFAULT_SEED, SAMPLE, match_audit, match_gold
from proofspan.metrics.one_to_one import one_to_one_audit
from proofspan.services.chunk_sources import OnPlaced, Reader, Sources, source_audits
from proofspan.traces.chunks import iter_chunks
from proofspan.traces.gold import read_gold
from proofspan.traces.redirects import read_redirects
from proofspan.traces.unpack import plain_source


@dataclass(frozen=True, slots=True)
class ChunkAudit:
    """What the audits of a chunk file found. `extractor` has read the documents, None where nothing did."""

    audits: tuple[Audit, ...]
    extractor: str | None = None

    @property
    def failed(self) -> tuple[Audit, ...]:
        """The audits that did not pass."""
        return tuple(audit for audit in self.audits if audit.status == "fail")


@dataclass(frozen=True, slots=True)
class LoadedChunks:
    """Every chunk of a file in its order, repeats of an id too, and the lines that hold none."""

    chunks: tuple[Chunk, ...]
    issues: tuple[LineIssue, ...] = ()


def load_chunks(path: Path, *, file: str, cache_dir: Path) -> LoadedChunks:
    """Reads a chunk file, a packed one too. InputFault where it is missing or no chunk file at all."""
    found = list(iter_chunks(plain_source(path, cache_dir=cache_dir), file=file))
    return LoadedChunks(
        tuple(each for each in found if isinstance(each, Chunk)),
        tuple(each for each in found if isinstance(each, LineIssue)),
    )


def audit_workspace(
    manifest: Manifest, reader: Reader | None, *, cache_dir: Path, seed: int = DEFAULT_SEED
) -> ChunkAudit:
    """The audits of a workspace's chunk file; those that open documents only where a `reader` is given.

    Without one it takes about as long as reading the file. A Fault where chunks, gold or redirects cannot be
    used.
    """
    loaded = workspace_chunks(manifest, cache_dir=cache_dir)
    sources = Sources(manifest, reader) if reader is not None else None
    gold = gold_questions(manifest, cache_dir=cache_dir)
    found = audit(loaded.chunks, revs=revs_of(manifest), gold=gold.values(), sources=sources, seed=seed)
    return replace(found, audits=(*found.audits, *_stored_redirects(manifest, cache_dir=cache_dir)))


def audit(
    chunks: tuple[Chunk, ...],
    *,
    revs: Mapping[str, str],
    gold: Iterable[GoldQuestion],
    sources: Sources | None,
    seed: int,
    on_placed: OnPlaced | None = None,
) -> ChunkAudit:
    """All audits that can be made with what is at hand."""
    matched = match_gold(gold, {chunk.chunk_id: chunk for chunk in chunks})
    sample = matched.sample(seed)
    drawn = f" on a sample of {min(SAMPLE, len(matched.spans))} (seed {seed})"
    audits = (
        *audit_chunks(chunks, revs=revs),
        match_audit(sample, "citation_match_sample", drawn=drawn),
        match_audit(matched, "citation_match"),
    )
    if sources is None:
        return ChunkAudit(audits)
    opened = source_audits(chunks, sources, seed=seed, on_placed=on_placed)
    return ChunkAudit((*audits, *opened), extractor(paged=True))


def _stored_redirects(manifest: Manifest, *, cache_dir: Path) -> tuple[Audit, ...]:
    """How many ids of the earlier build go on one to one by the workspace's redirects, if it has some."""
    if manifest.redirects is None:
        return ()
    path = plain_source(artifact_path(manifest, manifest.redirects), cache_dir=cache_dir)
    redirects, _ = read_redirects(path, file=manifest.redirects.path)
    return (one_to_one_audit(RedirectMap(tuple(redirects.values()), new=(), reused=())),)


def workspace_chunks(manifest: Manifest, *, cache_dir: Path) -> LoadedChunks:
    """The chunks that the manifest names. A Fault where it names none, or they cannot be read."""
    if manifest.chunks is None:
        raise InputFault.of(
            "no_chunks",
            "the manifest names no chunks",
            where=str(manifest.file or manifest.folder),
            remedy="name the chunk file: chunks: {path: corpus/chunks.jsonl}",
        )
    path = artifact_path(manifest, manifest.chunks)
    return load_chunks(path, file=manifest.chunks.path, cache_dir=cache_dir)


def gold_questions(manifest: Manifest, *, cache_dir: Path) -> dict[str, GoldQuestion]:
    """The workspace's gold questions; none where the manifest names none. A Fault where they are lost."""
    if manifest.gold is None:
        return {}
    path = plain_source(artifact_path(manifest, manifest.gold), cache_dir=cache_dir)
    return read_gold(path, file=manifest.gold.path)[0]


def revs_of(manifest: Manifest) -> dict[str, str]:
    """The revisions that the manifest names, by `doc_id`."""
    return {document.doc_id: document.rev for document in manifest.documents if document.rev}
