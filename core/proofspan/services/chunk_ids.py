"""Audit a chunk file with its documents and gold questions, and give its chunks canonical ids."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from proofspan.contracts.chunk_ids.audit import STEADY, Audit, audit_chunks, audit_of
from proofspan.contracts.chunk_ids.minting import (
    LONG,
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
from proofspan.contracts.rules.catalogue import Finding, finding_of
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.locate_bulk import Ask, locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text_file import document_text, extractor
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.metrics.gold_cover import (
    DEFAULT_SEED,
    SAMPLE,
    drawn_at,
    match_audit,
    match_gold,
    one_to_one_audit,
)
from proofspan.services.documents.revisions import file_problem
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.chunks import iter_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import read_redirects
from proofspan.wording import counted


def load_chunks(plain: Path, *, file: str) -> tuple[list[Chunk], list[LineIssue]]:
    """Return the chunks of a file, repeated ids included, and the lines without one.

    `file` is its name in messages. Raises InputFault if it is missing or not a chunk file.
    """
    items = list(iter_chunks(plain, file=file))
    issues = [each for each in items if isinstance(each, LineIssue)]
    return [each for each in items if isinstance(each, Chunk)], issues


def workspace_chunks(manifest: Manifest, *, cache_dir: Path) -> tuple[list[Chunk], list[LineIssue]]:
    """Read the chunks that the manifest names. Raises Fault if there are none or they cannot be read."""
    if manifest.chunks is None:
        raise InputFault.of(
            "no_chunks",
            "the manifest names no chunks",
            where=str(manifest.file or manifest.folder),
            fix="name the chunk file: chunks: {path: corpus/chunks.jsonl}",
        )
    plain = artifact_source(manifest, manifest.chunks, cache_dir=cache_dir)
    return load_chunks(plain, file=manifest.chunks.path)


def gold_questions(manifest: Manifest, *, cache_dir: Path) -> dict[str, GoldQuestion]:
    """Read the workspace's gold questions, none if it has no gold. Raises Fault if they cannot be read."""
    if manifest.gold is None:
        return {}
    path = artifact_source(manifest, manifest.gold, cache_dir=cache_dir)
    return read_gold(path, file=manifest.gold.path)[0]


def audit_workspace(manifest: Manifest, reader: PdfPool | None, *, cache_dir: Path) -> tuple[Audit, ...]:
    """Audit a workspace's chunk file; audits that open documents need a `reader`.

    Raises Fault if chunks, gold or redirects cannot be used.
    """
    chunks, _ = workspace_chunks(manifest, cache_dir=cache_dir)
    audits = audit(chunks, manifest, reader, cache_dir=cache_dir)
    if manifest.redirects is None:
        return audits
    path = artifact_source(manifest, manifest.redirects, cache_dir=cache_dir)
    redirects, _ = read_redirects(path, file=manifest.redirects.path)
    return *audits, one_to_one_audit(RedirectMap(tuple(redirects.values()), new=(), reused=()))


def audit(
    chunks: Sequence[Chunk],
    manifest: Manifest | None,
    reader: PdfPool | None,
    *,
    cache_dir: Path,
    seed: int = DEFAULT_SEED,
) -> tuple[Audit, ...]:
    """Make all audits that the manifest and, to open documents, the reader allow. `seed` draws samples."""
    gold = gold_questions(manifest, cache_dir=cache_dir) if manifest else {}
    matched = match_gold(gold.values(), {chunk.chunk_id: chunk for chunk in chunks})
    drawn = f" on a sample of {min(SAMPLE, len(matched.spans))} (seed {seed})"
    audits = (
        *audit_chunks(chunks, revs=_revs_of(manifest) if manifest else {}),
        match_audit(matched.sample(seed), "citation_match_sample", drawn=drawn),
        match_audit(matched, "citation_match"),
    )
    if manifest is None or reader is None:
        return audits
    sources = Sources(manifest, reader)
    return *audits, recomputed(chunks, sources), at_place(chunks, sources, seed=seed)


def _revs_of(manifest: Manifest) -> dict[str, str]:
    return {document.doc_id: document.rev for document in manifest.documents if document.rev}


@dataclass(frozen=True, slots=True)
class Minted:
    """The records of a chunk file with canonical ids.

    `changed` counts new ids, `kept` chunks whose document is unknown, `computed` revisions that were computed
    from texts.
    """

    records: Sequence[dict[str, Json]]
    changed: int
    kept: int
    computed: int
    findings: Sequence[Finding]


def minted(chunks: Sequence[Chunk], sources: Sources | None) -> Minted:
    """Give chunks canonical ids; a changed id is kept as `old_id`.

    Revisions are the manifest's or else computed from the documents' texts, if there are `sources`.
    """
    revs: dict[str, str] = {}
    readers: dict[str, str] = {}
    findings: Sequence[Finding] = ()
    if sources is not None:
        revs = _revs_of(sources.manifest)
        uids = {each.doc_id: doc_uid_of(each) for each in chunks if each.doc_id and each.doc_id not in revs}
        texts = {doc_id: (uid, sources.text(doc_id)) for doc_id, uid in uids.items()}
        read = {doc_id: (uid, text) for doc_id, (uid, text) in texts.items() if uid and text is not None}
        computed, findings = revisions_of(read.values())
        revs |= zip(read, computed, strict=True)
        readers = {doc_id: extractor(paged=doc_id not in sources.manifest.unpaged) for doc_id in read}
    ids = mint_chunks(chunks, revs)
    records: list[dict[str, Json]] = []
    changed = 0
    for chunk, new_id in zip(chunks, ids, strict=True):
        record = dict(chunk.raw)
        if new_id not in (None, chunk.chunk_id):
            record |= {next(name for name in ID_NAMES if name in record): new_id, "old_id": chunk.chunk_id}
            changed += 1
        if new_id is not None and chunk.doc_id in readers:
            record["extractor"] = readers[chunk.doc_id]
        records.append(record)
    return Minted(records, changed, ids.count(None), len(readers), findings)


#: The most chunks that are located, a sample of larger files.
MOST_PLACED = 2_000
WORKERS = 2

#: The text from which a document's revision was computed again.
Computed = Literal["document", "chunks"]
_TEXTS: Mapping[Computed, str] = {
    "document": "the document as it is read today",
    "chunks": "the chunks' own texts at their offsets",
}


@dataclass(slots=True)
class Sources:
    """The documents of a workspace; texts without pages are read once."""

    manifest: Manifest
    reader: PdfPool
    _texts: dict[str, str | None] = field(default_factory=dict)

    def opened(self, doc_id: str) -> tuple[Document, Path] | None:
        """Return a document and its file, None without a file to read."""
        document = self.manifest.document(doc_id)
        if document is None:
            return None
        try:
            return document, artifact_path(self.manifest, document.artifact)
        except Fault:
            return None

    def text(self, doc_id: str) -> str | None:
        """Return a document's canonical text, None if it cannot be read."""
        if doc_id in self._texts:
            return self._texts[doc_id]
        text, source = None, self.opened(doc_id)
        if source is not None:
            with suppress(Fault):
                text = document_text(source[1], self.reader, paged=source[0].paged)
        if source is None or not source[0].paged:
            self._texts[doc_id] = text
        return text


def recomputed(chunks: Iterable[Chunk], sources: Sources) -> Audit:
    """Audit whether each document's revision, as its ids have it, is that of its text as it is read today.

    A revision is unknown, not wrong, if its document cannot be opened or another program extracted its text.
    """
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        parts = parse(chunk.chunk_id)
        if parts is not None and parts.rev != UNKNOWN_REVISION:
            by_document[chunk.doc_id or parts.doc_uid].append(chunk)
    results = [_recomputed(doc_id, its_chunks, sources) for doc_id, its_chunks in by_document.items()]
    same = Counter(result for result in results if isinstance(result, str))
    findings = [result for result in results if isinstance(result, Finding)]
    known = same.total() + len(findings)
    unknown = len(results) - known
    texts = ", ".join(f"{same[name]:,} from {words}" for name, words in _TEXTS.items() if same[name])
    documents = counted(len(results), "document")
    rest = f"; {unknown:,} unknown: not readable, or extracted by another program" if unknown else ""
    return audit_of(
        "recomputed",
        of=known,
        wrong=len(findings),
        findings=findings,
        good=f"the revisions of {known:,} of {documents} can be computed again: {texts}{rest}",
        bad=f"the revisions of {len(findings):,} of {documents} come out different{rest}",
        unknown="no id has a revision that can be computed again"
        if not results
        else f"none of the revisions of {documents} can be computed again: their texts cannot be read, or "
        "another program extracted them",
        numbers={"documents": len(results), **{name: same[name] for name in _TEXTS}},
        fix=STEADY,
    )


def _recomputed(doc_id: str, chunks: Sequence[Chunk], sources: Sources) -> Computed | Finding | None:
    """Return the text that gives the same revision, a finding if none does, None if that is unknown."""
    named = {parts.rev for chunk in chunks if (parts := parse(chunk.chunk_id))}
    text = sources.text(doc_id)
    digest = digest_of(text) if text is not None else None
    if digest is not None and all(begins_alike(rev, digest) for rev in named):
        return "document"
    own = own_text(chunks)
    if own is not None and all(begins_alike(rev, digest_of(own)) for rev in named):
        return "chunks"
    if digest is None or (source := sources.opened(doc_id)) is None:
        return None
    # Another revision means another text only of a text file, or of a PDF that this program has read.
    document, path = source
    readers = {text_of(chunk.raw.get("extractor")) for chunk in chunks}
    if document.paged and file_problem(document, path) is None and readers != {extractor(paged=True)}:
        return None
    rev = min(named)
    computed = digest[: LONG if len(rev) == LONG else 8]
    message = f"ids of {doc_id[:80]} have r={rev}, but its text gives {computed}"
    return finding_of("id_not_recomputable", "rev", message, doc_id)


def own_text(chunks: Iterable[Chunk]) -> str | None:
    """Join chunks at their offsets, gaps as white space; None if they overlap or have no offsets.

    Only offsets count that are of the characters of the chunk's own text.
    """
    placed = sorted(
        (chunk.offsets.start, chunk.text)
        for chunk in chunks
        if chunk.offsets is not None
        and chunk.offsets.unit == "char"
        and chunk.offsets.end - chunk.offsets.start == len(chunk.text)
    )
    pieces, end = [], 0
    for start, text in placed:
        if start < end:
            return None
        pieces.append(("\n" if start > end else "") + text)
        end = start + len(text)
    return "".join(pieces) or None


def at_place(chunks: Sequence[Chunk], sources: Sources, *, seed: int) -> Audit:
    """Audit whether texts are at their offsets, or on their pages; of a large file in a sample."""
    sample = chunks
    if len(chunks) > MOST_PLACED:
        sample = sorted(chunks, key=lambda chunk: drawn_at(seed, chunk.chunk_id))[:MOST_PLACED]
    asked: list[tuple[Chunk, Ask]] = []
    for chunk in sample:
        source = sources.opened(chunk.doc_id) if chunk.doc_id is not None else None
        if source is not None and chunk.text.strip():
            document, path = source
            query = SpanQuery(chunk.text, None, chunk.offsets)
            if document.paged:
                space = chunk.box_space if chunk.box else None
                query = SpanQuery(chunk.text, chunk.page_idx, None, chunk.box, space)
            asked.append((chunk, Ask(path, query, is_text=not document.paged)))
    answers = locate_bulk([ask for _, ask in asked], sources.reader, workers=WORKERS)
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    for (chunk, ask), answer in zip(asked, answers, strict=True):
        if isinstance(answer, Problem):
            counts["unreadable"] += 1
            continue
        text = sources.text(chunk.doc_id or "") if ask.is_text else None
        if message := _misplaced(chunk, answer, text):
            field_name = "page_idx" if text is None else "offsets"
            findings.append(finding_of("text_not_at_place", field_name, message, chunk.chunk_id))
        else:
            counts["there" if answer.status in ("exact", "normalized") else "nearly"] += 1
    known = counts["there"] + counts["nearly"] + len(findings)
    total = len(sample)
    drawn = f" (drawn from {len(chunks):,}, seed {seed})" if total < len(chunks) else ""
    nearly = f", {counts['nearly']:,} of them in part or nearly" if counts["nearly"] else ""
    rest = f"; {total - known:,} unknown: no document to search" if known < total else ""
    return audit_of(
        "at_place",
        of=known,
        wrong=len(findings),
        findings=findings,
        good=f"{known:,} of {total:,} chunks{drawn} are at the place of their records{nearly}{rest}",
        bad=f"{len(findings):,} of {known:,} chunks{drawn} are not at the place of their records{rest}",
        unknown=f"none of the {len(chunks):,} chunks could be located: their documents cannot be read",
        numbers={**counts, "not_known": total - known},
    )


def _misplaced(chunk: Chunk, span: FoundSpan, text: str | None) -> str:
    """Describe where a chunk is instead, "" if it is at its place; `text` is that of an unpaged document."""
    if span.status == "not_found":
        return "its text was not found in the document"
    if text is None:
        is_elsewhere = span.page_mismatch and span.page_idx is not None
        return f"its text is on PDF page {(span.page_idx or 0) + 1}" if is_elsewhere else ""
    offsets = chunk.offsets
    if offsets is None or offsets.unit != "char":  # offsets in other units helped to locate it
        return ""
    there = text[max(0, offsets.start) : max(0, offsets.end)].split()
    if there == chunk.text.split():
        return ""
    return f"at {offsets.start:,}–{offsets.end:,} is {' '.join(there)[:60]!r}"
