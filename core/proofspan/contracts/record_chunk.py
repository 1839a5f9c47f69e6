"""The rules of a chunk record: its hash is its text's, its offsets span, its embedding says how it compares.

What its id says of its place is held against the record in `proofspan.contracts.chunk_audit`.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.offset_rules import offset_findings
from proofspan.contracts.payload_rules import rev_findings
from proofspan.contracts.records import Json
from proofspan.contracts.values import id_of

_HEX = re.compile(r"[0-9a-f]+")
_SHA: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "sha1": functools.partial(hashlib.sha1, usedforsecurity=False),
    "sha256": hashlib.sha256,
}
#: How vectors are compared cannot be guessed from the vectors.
_EMBEDDING: Final = ("metric", "normalized")


def chunk_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a chunk beyond its schema and its id."""
    if obj.get("text") == "":
        yield Finding("empty_text", "text", "text is ''")
    if obj.get("text_normalized") is None:
        yield Finding("missing_text_normalized", "text_normalized", "text_normalized is missing")
    if obj.get("doc_id") is None and not _names_document(obj):
        yield Finding("missing_doc_id", "doc_id", "doc_id is missing, and the id names no document")
    if (offsets := obj.get("offsets")) is not None:
        yield from offset_findings(offsets)
    if (span := obj.get("span")) is not None:
        yield from line_findings(span)
    if isinstance(embedding := obj.get("embedding"), dict):
        yield from _embedding(embedding)
    if context.revs:
        yield from rev_findings(obj, context)
    yield from _hash(obj)


def line_findings(span: Json) -> Iterator[Finding]:
    """A span of lines that ends before it begins."""
    first, last = _lines(span)
    if type(first) is int and type(last) is int and first > last:
        yield Finding("bad_span", "span", f"the first line is {first}, the last {last}")


def _lines(span: Json) -> tuple[Json, Json]:
    if isinstance(span, dict):
        return span.get("line_start"), span.get("line_end")
    return (span[0], span[1]) if isinstance(span, list) and len(span) == 2 else (None, None)


def _names_document(obj: Mapping[str, Json]) -> bool:
    chunk_id = id_of(obj)
    return chunk_id is not None and parse(chunk_id) is not None


def _embedding(embedding: Mapping[str, Json]) -> Iterator[Finding]:
    for name in _EMBEDDING:
        value = embedding.get(name)
        if value is None:
            yield Finding(f"missing_{name}", f"embedding.{name}", f"{name} is missing")
        elif value == "":
            yield Finding(f"empty_{name}", f"embedding.{name}", f"{name} is ''")


def _hash(obj: Mapping[str, Json]) -> Iterator[Finding]:
    """A hash that is not that of the text or of the normalized text; one that is cut short tells nothing."""
    stated, text = obj.get("hash"), obj.get("text")
    if not isinstance(stated, str) or not stated.strip() or not isinstance(text, str):
        return
    kind, _, digits = stated.strip().lower().partition(":")
    sha = _SHA.get(kind)
    if sha is None:
        yield Finding("hash_unreadable", "hash", f"hash is {shown(stated)}")
        return
    digest = _digest(sha, text)
    if digits == digest:
        return
    normalized = obj.get("text_normalized")
    if len(digits) != len(digest) or not _HEX.fullmatch(digits):
        yield Finding("hash_unreadable", "hash", f"hash is {shown(stated)}")
    elif not isinstance(normalized, str) or digits != _digest(sha, normalized):
        yield Finding("hash_mismatch", "hash", f"hash is {shown(stated)}, the text's is {kind}:{digest}")


def _digest(sha: Callable[[bytes], Any], text: str) -> str:
    digest: str = sha(text.encode("utf-8", "replace")).hexdigest()
    return digest
