"""Chunk files as commands and pages audit them: by themselves, against gold, against their documents."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from proofspan.contracts.chunk_ids.audit import STEADY, Audit, audit_chunks, audit_of
from proofspan.contracts.chunk_ids.minting import (
    LONG,
    DocumentText,
    begins_alike,
    digest_of,
    doc_uid_of,
    mint_chunks,
    revisions_of,
)
from proofspan.contracts.chunk_ids.redirects import RedirectMap
from proofspan.contracts.records.chunk_id import UNKNOWN_REVISION, parse
from proofspan.contracts.records.field_values import ID_NAMES, text_of
from proofspan.contracts.records.records import Chunk, GoldQuestion, Json, LineIssue
from proofspan.contracts.rules.finding import Finding
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.full_text import PageTexts, document_text, extractor
from proofspan.evidence.locate_bulk import Ask, Locator, locate_bulk
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.metrics.gold_cover import DEFAULT_SEED, SAMPLE, match_audit, match_gold, one_to_one_audit
from proofspan.services.documents.revisions import file_problem
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.chunks import iter_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import read_redirects


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
            fix="name the chunk file: chunks: {path: corpus/chunks.jsonl}",
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


# A chunk file with canonical ids in place of its own, and redirects from an older file to a newer one.

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


# Chunks against their documents as they are read today: are revisions the same, do texts stand there?
#
# What cannot be compared is not known and no finding: a document that cannot be opened, and the text of a PDF
# that another program than this one has extracted.

#: So many chunks are looked for; of a larger file so many are drawn.
MOST_PLACED = 2_000
WORKERS = 2

#: From what a document's revision was computed again.
Computed = Literal["document", "chunks"]
_WAYS: Mapping[Computed, str] = {
    "document": "the document as it is read today",
    "chunks": "the chunks' own texts at their offsets",
}
#: Hears how many chunks have been looked for, of how many.
OnPlaced = Callable[[int, int], None]


class Reader(PageTexts, Locator, Protocol):
    """What reads and searches PDFs; `proofspan.evidence.pdf.pool.PdfPool` does."""


@dataclass(slots=True)
class Sources:
    """The documents of a workspace that chunks are held against; texts without pages are read once."""

    manifest: Manifest
    reader: Reader
    _texts: dict[str, str | None] = field(default_factory=dict)

    def opened(self, doc_id: str) -> tuple[Document, Path] | None:
        """A document and its file, None where there is none to read."""
        document = self.manifest.document(doc_id)
        if document is None:
            return None
        try:
            return document, artifact_path(self.manifest, document.artifact)
        except Fault:
            return None

    def text(self, doc_id: str) -> str | None:
        """A document's canonical text, None where it cannot be read."""
        if doc_id not in self._texts:
            found = self.opened(doc_id)
            text = None
            with suppress(Fault):
                text = document_text(found[1], self.reader, paged=found[0].paged) if found else None
            if found is not None and found[0].paged:
                return text
            self._texts[doc_id] = text
        return self._texts[doc_id]


def source_audits(
    chunks: Sequence[Chunk], sources: Sources, *, seed: int, on_placed: OnPlaced | None = None
) -> tuple[Audit, Audit]:
    """Whether revisions are computed again, and whether texts stand at their places."""
    return recomputed(chunks, sources), at_place(chunks, sources, seed=seed, on_placed=on_placed)


def recomputed(chunks: Iterable[Chunk], sources: Sources) -> Audit:
    """Whether each document's revision, as ids carry it, is that of its text as it is read today."""
    held: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        parts = parse(chunk.chunk_id)
        if parts is not None and parts.rev != UNKNOWN_REVISION:
            held[chunk.doc_id or parts.doc_uid].append(chunk)
    outcomes = {doc_id: _recomputed(doc_id, found, sources) for doc_id, found in held.items()}
    ways = Counter(outcome for outcome in outcomes.values() if isinstance(outcome, str))
    findings = [outcome for outcome in outcomes.values() if isinstance(outcome, Finding)]
    known = sum(ways.values()) + len(findings)
    unknown = len(held) - known
    said = ", ".join(f"{ways[way]:,} from {words}" for way, words in _WAYS.items() if ways[way])
    named = f"{len(held):,} document{'s' * (len(held) != 1)}"
    rest = f"; {unknown:,} not known: not readable, or extracted by another program" if unknown else ""
    audit = audit_of(
        "recomputed",
        of=known,
        wrong=len(findings),
        findings=findings,
        good=f"the revisions of {known:,} of {named} come out the same: {said}{rest}",
        bad=f"the revisions of {len(findings):,} of {named} come out different{rest}",
        unknown="no id carries a revision that can be computed again"
        if not held
        else f"none of the revisions of {named} can be computed again: their texts cannot be "
        "read, or another program extracted them",
        numbers={"documents": len(held), **{way: ways[way] for way in _WAYS}},
    )
    return replace(audit, fix=STEADY) if audit.status == "fail" else audit


def _recomputed(doc_id: str, chunks: Sequence[Chunk], sources: Sources) -> Computed | Finding | None:
    """From what the revision came out the same, the finding where it did not, None where nobody can tell."""
    named = {parts.rev for chunk in chunks if (parts := parse(chunk.chunk_id))}
    text = sources.text(doc_id)
    digest = digest_of(text) if text is not None else None
    if digest is not None and all(begins_alike(rev, digest) for rev in named):
        return "document"
    own = own_text(chunks)
    if own is not None and all(begins_alike(rev, digest_of(own)) for rev in named):
        return "chunks"
    if digest is None or not _is_binding(doc_id, chunks, sources):
        return None
    rev = sorted(named)[0]
    said = f"ids of {doc_id[:80]} say r={rev}, and its text gives {digest[: LONG if len(rev) == LONG else 8]}"
    return Finding("id_not_recomputable", "rev", said, doc_id)


def _is_binding(doc_id: str, chunks: Sequence[Chunk], sources: Sources) -> bool:
    """Whether another revision means another text: of a text file, and where this program read the PDF."""
    found = sources.opened(doc_id)
    if found is None:
        return False
    document, path = found
    if not document.paged or file_problem(document, path) is not None:
        return True
    return all(text_of(chunk.raw.get("extractor")) == extractor(paged=True) for chunk in chunks)


def own_text(chunks: Iterable[Chunk]) -> str | None:
    """The text that chunks make when each is put at its offsets; None where they do not fit together.

    What lies between two of them counts as white space, as in a text made of its blocks.
    """
    placed = sorted((start, chunk.text) for chunk in chunks if (start := _own_start(chunk)) is not None)
    pieces, reached = [], 0
    for start, text in placed:
        if start < reached:
            return None
        pieces.append(("\n" if start > reached else "") + text)
        reached = start + len(text)
    return "".join(pieces) or None


def _own_start(chunk: Chunk) -> int | None:
    """Where a chunk begins whose offsets count the characters of its own text."""
    offsets = chunk.offsets
    if offsets is None or offsets.unit != "char" or offsets.end - offsets.start != len(chunk.text):
        return None
    return offsets.start


@dataclass(slots=True)
class _Tally:
    """What became of the chunks that were looked for."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


def at_place(
    chunks: Sequence[Chunk], sources: Sources, *, seed: int, on_placed: OnPlaced | None = None
) -> Audit:
    """Whether texts stand at their offsets, or on their pages; of a large file in a sample."""
    asked = [(chunk, ask) for chunk in _drawn(chunks, seed) if (ask := _ask(chunk, sources)) is not None]
    answers = locate_bulk([ask for _, ask in asked], sources.reader, workers=WORKERS, on_done=on_placed)
    tally = _Tally()
    for (chunk, ask), answer in zip(asked, answers, strict=True):
        _count(tally, chunk, answer, sources.text(chunk.doc_id or "") if ask.is_text else None)
    known = tally.counts["there"] + tally.counts["nearly"] + len(tally.findings)
    total = min(len(chunks), MOST_PLACED)
    drawn = f" (drawn from {len(chunks):,}, seed {seed})" if total < len(chunks) else ""
    nearly = f", {tally.counts['nearly']:,} of them in part or nearly" if tally.counts["nearly"] else ""
    rest = f"; {total - known:,} not known: no document to look in" if known < total else ""
    return audit_of(
        "at_place",
        of=known,
        wrong=len(tally.findings),
        findings=tally.findings,
        good=f"{known:,} of {total:,} chunks{drawn} stand where their records say{nearly}{rest}",
        bad=f"{len(tally.findings):,} of {known:,} chunks{drawn} not found where their records say{rest}",
        unknown=f"none of the {len(chunks):,} chunks could be looked for: their documents cannot be read",
        numbers={**tally.counts, "not_known": total - known},
    )


def _drawn(chunks: Sequence[Chunk], seed: int) -> Sequence[Chunk]:
    if len(chunks) <= MOST_PLACED:
        return chunks

    def draw(chunk: Chunk) -> bytes:
        key = f"{seed}\n{chunk.chunk_id}".encode("utf-8", "replace")
        return hashlib.sha1(key, usedforsecurity=False).digest()

    return sorted(chunks, key=draw)[:MOST_PLACED]


def _ask(chunk: Chunk, sources: Sources) -> Ask | None:
    found = sources.opened(chunk.doc_id) if chunk.doc_id is not None else None
    if found is None or not chunk.text.strip():
        return None
    document, path = found
    if not document.paged:
        return Ask(path, SpanQuery(chunk.text, None, chunk.offsets), is_text=True)
    space = chunk.box_space if chunk.box else None
    return Ask(path, SpanQuery(chunk.text, chunk.page_idx, None, chunk.box, space))


def _count(tally: _Tally, chunk: Chunk, answer: FoundSpan | Problem, text: str | None) -> None:
    """Adds what became of one chunk; `text` is that of its document where it has no pages."""
    if isinstance(answer, Problem):
        tally.counts["unreadable"] += 1
        return
    if answer.status == "not_found":
        wrong = "its text was not found in the document"
    else:
        wrong = _on_other_page(answer) if text is None else _at_other_offsets(chunk, text)
    if wrong:
        place = "page_idx" if text is None else "offsets"
        tally.findings.append(Finding("text_not_at_place", place, wrong, chunk.chunk_id))
    else:
        tally.counts["there" if answer.status in ("exact", "normalized") else "nearly"] += 1


def _on_other_page(found: FoundSpan) -> str:
    if not found.page_mismatch or found.page_idx is None:
        return ""
    return f"its text stands on PDF page {found.page_idx + 1}"


def _at_other_offsets(chunk: Chunk, text: str) -> str:
    """What stands at the offsets of a chunk, where it is not the chunk; offsets in other units were used."""
    offsets = chunk.offsets
    if offsets is None or offsets.unit != "char":
        return ""
    there = text[max(0, offsets.start) : max(0, offsets.end)].split()
    if there == chunk.text.split():
        return ""
    return f"at {offsets.start:,}–{offsets.end:,} stands {' '.join(there)[:60]!r}"
