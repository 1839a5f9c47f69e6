"""The revisions of a whole set of documents: eight digits each, twelve where eight do not tell two apart."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from proofspan.contracts.findings import Finding
from proofspan.contracts.normalize import normalize_text

SHORT, LONG = 8, 12
_OF_TEXT = re.compile(rf"[0-9a-f]{{{SHORT}}}(?:[0-9a-f]{{{LONG - SHORT}}})?")


class DocumentText(NamedTuple):
    """A document's canonical text, its pages parted by form feeds. One `doc_uid` may have editions."""

    doc_uid: str
    text: str


def is_of_text(rev: str) -> bool:
    """Whether a revision has the form of one that ids carry: the hash of a document's text."""
    return _OF_TEXT.fullmatch(rev) is not None


def begins_alike(rev: str, digest: str) -> bool:
    """Whether two of different length agree as far as the shorter one goes."""
    length = min(len(rev), len(digest))
    return rev[:length] == digest[:length]


def digest_of(text: str) -> str:
    """All hexadecimal digits of the sha1 of a text's normal form, which `rev` is the beginning of."""
    normal = normalize_text(text).encode("utf-8", "replace")
    return hashlib.sha1(normal, usedforsecurity=False).hexdigest()


def revisions_of(documents: Iterable[DocumentText]) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The revision of each document, in order, and a warning for each `doc_uid|rev` that two texts share.

    Both of these get twelve digits, whichever comes first, so that the order of ingest never matters.
    """
    return extended((document.doc_uid, digest_of(document.text)) for document in documents)


def extended(digests: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The same from the documents' uids and full digests."""
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
    said = f"two texts of {doc_uid} share the revision {rev}, so their ids carry twelve digits"
    return Finding("rev_extended", "rev", said, doc_uid)
