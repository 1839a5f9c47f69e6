"""Mint canonical ids for the chunks of a file from their document, section, page and order.

The block number is the record's own `order_in_section` if those of the section are valid and different; else
chunks are counted from 1 in reading order. Without a document's id, its address is used.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from proofspan.contracts.records.chunk_id import (
    LARGEST,
    UNKNOWN_REVISION,
    ChunkId,
    clean_part,
    doc_uid_of_url,
    mint,
    parse,
    section_path,
)
from proofspan.contracts.records.names import normalize_text
from proofspan.contracts.records.records import Chunk
from proofspan.contracts.rules.catalogue import Finding, finding_of

#: A section of a document.
Group = tuple[str, str]


def mint_chunks(chunks: Sequence[Chunk], revs: Mapping[str, str]) -> list[str | None]:
    """Return the id of each chunk, None for a chunk whose document is unknown.

    `revs` are revisions by `doc_id`; for other documents that of the chunk's own id is kept.
    """
    groups: dict[Group, list[int]] = defaultdict(list)
    for number, chunk in enumerate(chunks):
        if (doc_uid := doc_uid_of(chunk)) is not None:
            groups[doc_uid, section_path(chunk.section_id or chunk.section_number, _page(chunk))].append(
                number
            )
    minted: list[str | None] = [None] * len(chunks)
    for (doc_uid, path), numbers in groups.items():
        for number, block in _blocks(chunks, numbers):
            chunk = chunks[number]
            minted[number] = mint(ChunkId(doc_uid, _rev(chunk, revs), path, _page(chunk), block))
    return minted


def doc_uid_of(chunk: Chunk) -> str | None:
    """Return the document's part of a chunk's id: its own id, else the short hash of its address."""
    if chunk.doc_id:
        return clean_part(chunk.doc_id)
    url = chunk.raw.get("source_url")
    try:
        return doc_uid_of_url(url) if isinstance(url, str) and url.strip() else None
    except ValueError:
        return None


def _blocks(chunks: Sequence[Chunk], numbers: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Return each chunk of a section, by its index in the file, with its block number."""
    ordered = sorted(numbers, key=lambda number: _reading_order(chunks[number], number))
    own = [chunks[number].order_in_section for number in ordered]
    known = [block for block in own if block is not None and 0 <= block <= LARGEST]
    if len(known) == len(ordered) == len(set(known)):
        return zip(ordered, known, strict=True)
    return zip(ordered, range(1, len(ordered) + 1), strict=True)


def _reading_order(chunk: Chunk, number: int) -> tuple[float, float, float, float, int]:
    """Sort by page, order in the section, offsets, top of the box, index in the file; unknowns are last."""
    start = chunk.offsets.start if chunk.offsets is not None else None
    top = chunk.box[1] if chunk.box is not None else None
    known = (chunk.page_idx, chunk.order_in_section, start, top)
    page, order, begins, above = (math.inf if each is None else float(each) for each in known)
    return page, order, begins, above, number


def _page(chunk: Chunk) -> int:
    """Return the page as ids count it, 0 without a page that an id can hold."""
    parts = parse(chunk.chunk_id)
    if parts is not None and parts.page == 0:
        return 0
    return 0 if chunk.page_idx is None or chunk.page_idx >= LARGEST else chunk.page_idx + 1


def _rev(chunk: Chunk, revs: Mapping[str, str]) -> str:
    named = revs.get(chunk.doc_id or "", "")
    if is_of_text(named):
        return named
    parts = parse(chunk.chunk_id)
    return parts.rev if parts is not None else UNKNOWN_REVISION


SHORT, LONG = 8, 12
_OF_TEXT = re.compile(rf"[0-9a-f]{{{SHORT}}}(?:[0-9a-f]{{{LONG - SHORT}}})?")


class DocumentText(NamedTuple):
    """A document's canonical text, its pages separated by form feeds. One `doc_uid` may have editions."""

    doc_uid: str
    text: str


def is_of_text(rev: str) -> bool:
    """Return whether a revision has the form of those in ids: the hash of a document's text."""
    return _OF_TEXT.fullmatch(rev) is not None


def begins_alike(rev: str, digest: str) -> bool:
    """Return whether two revisions agree up to the length of the shorter one."""
    length = min(len(rev), len(digest))
    return rev[:length] == digest[:length]


def digest_of(text: str) -> str:
    """Return the hexadecimal sha1 of a text's normal form, of which `rev` is the beginning."""
    normal = normalize_text(text).encode("utf-8", "replace")
    return hashlib.sha1(normal, usedforsecurity=False).hexdigest()


def revisions_of(documents: Iterable[DocumentText]) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the revision of each document, and a warning for each `doc_uid|rev` of two texts.

    Revisions have eight digits; both of two equal ones get twelve, so that the order of ingest never matters.
    """
    return extended((document.doc_uid, digest_of(document.text)) for document in documents)


def extended(digests: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return revisions and warnings from the documents' uids and full digests."""
    known = list(digests)
    sharing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for doc_uid, digest in known:
        sharing[doc_uid, digest[:SHORT]].add(digest)
    collided = {place for place, found in sharing.items() if len(found) > 1}
    revs = tuple(
        digest[: LONG if (doc_uid, digest[:SHORT]) in collided else SHORT] for doc_uid, digest in known
    )
    return revs, tuple(_collision(doc_uid, rev) for doc_uid, rev in sorted(collided))


def _collision(doc_uid: str, rev: str) -> Finding:
    message = f"two texts of {doc_uid} share the revision {rev}, so their ids carry twelve digits"
    return finding_of("rev_extended", "rev", message, doc_uid)
