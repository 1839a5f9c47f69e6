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


def mint_chunks(chunks: Sequence[Chunk], revs: Mapping[str, str]) -> list[str | None]:
    """Return the id of each chunk, None for a chunk whose document is unknown.

    `revs` are revisions by `doc_id`; for other documents that of the chunk's own id is kept.
    """
    sections: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, chunk in enumerate(chunks):
        if (doc_uid := doc_uid_of(chunk)) is not None:
            path = section_path(chunk.section_id or chunk.section_number, _page(chunk))
            sections[doc_uid, path].append(number)
    minted: list[str | None] = [None] * len(chunks)
    for (doc_uid, path), numbers in sections.items():
        for number, block in _blocks(chunks, numbers):
            chunk = chunks[number]
            rev = revs.get(chunk.doc_id or "", "")
            if not is_of_text(rev):
                own = parse(chunk.chunk_id)
                rev = own.rev if own is not None else UNKNOWN_REVISION
            minted[number] = mint(ChunkId(doc_uid, rev, path, _page(chunk), block))
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
    """Return each chunk of a section, by its index in the file, with its block number.

    Reading order is by page, order in the section, offsets, top of the box, index; unknowns are last.
    """

    def reading_order(number: int) -> list[float]:
        chunk = chunks[number]
        start = None if chunk.offsets is None else chunk.offsets.start
        top = None if chunk.box is None else chunk.box[1]
        known = chunk.page_idx, chunk.order_in_section, start, top, number
        return [math.inf if each is None else each for each in known]

    ordered = sorted(numbers, key=reading_order)
    own = [chunks[number].order_in_section for number in ordered]
    known = [block for block in own if block is not None and 0 <= block <= LARGEST]
    is_usable = len(known) == len(ordered) == len(set(known))
    return zip(ordered, known if is_usable else range(1, len(ordered) + 1), strict=True)


def _page(chunk: Chunk) -> int:
    """Return the page as ids count it, 0 without a page that an id can hold."""
    parts = parse(chunk.chunk_id)
    if parts is not None and parts.page == 0:
        return 0
    return 0 if chunk.page_idx is None or chunk.page_idx >= LARGEST else chunk.page_idx + 1


SHORT, LONG = 8, 12
_OF_TEXT = re.compile(rf"[0-9a-f]{{{SHORT}}}(?:[0-9a-f]{{{LONG - SHORT}}})?")


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


def revisions_of(documents: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """Return the revision of each document, and a warning for each `doc_uid|rev` of two texts.

    `documents` are doc_uids, of which one may have editions, with canonical texts. Revisions have eight
    digits; both of two equal ones get twelve, so that the order of ingest never matters.
    """
    known = [(doc_uid, digest_of(text)) for doc_uid, text in documents]
    sharing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for doc_uid, digest in known:
        sharing[doc_uid, digest[:SHORT]].add(digest)
    collided = sorted(place for place, digests in sharing.items() if len(digests) > 1)
    revs = tuple(
        digest[: LONG if (doc_uid, digest[:SHORT]) in collided else SHORT] for doc_uid, digest in known
    )
    message = "two texts of {} share the revision {}, so their ids carry twelve digits"
    return revs, tuple(
        finding_of("rev_extended", "rev", message.format(*place), place[0]) for place in collided
    )
