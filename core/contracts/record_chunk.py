"""The rules of a chunk record: its hash is its text's, its offsets span, its embedding says how it compares.

What its id says of its place is held against the record in `core.contracts.chunk_audit`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from core.contracts.chunk_ids import parse
from core.contracts.context import Context
from core.contracts.findings import Finding, shown
from core.contracts.offset_rules import offset_findings
from core.contracts.payload_rules import rev_findings
from core.contracts.records import Json
from core.contracts.values import id_of

_HASH = re.compile(r"(sha1|sha256):([0-9a-f]+)", re.IGNORECASE)
_MAKE: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False),
    "sha256": hashlib.sha256,
}
_DIGITS: Final = {"sha1": 40, "sha256": 64}
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
    if obj.get("offsets") is not None:
        yield from offset_findings(obj["offsets"])
    yield from line_findings(obj.get("span"))
    yield from _embedding(obj.get("embedding"))
    yield from _hash(obj)
    yield from rev_findings(obj, context)


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


def _embedding(embedding: Json) -> Iterator[Finding]:
    if not isinstance(embedding, dict):
        return
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
    match = _HASH.fullmatch(stated.strip())
    kind = match[1].lower() if match else ""
    if match is None or len(match[2]) != _DIGITS[kind]:
        yield Finding("hash_unreadable", "hash", f"hash is {shown(stated)}")
        return
    digest = _digest(kind, text)
    if match[2].lower() == digest:
        return
    normalized = obj.get("text_normalized")
    if not isinstance(normalized, str) or match[2].lower() != _digest(kind, normalized):
        yield Finding("hash_mismatch", "hash", f"hash is {shown(stated)}, the text's is {kind}:{digest}")


def _digest(kind: str, text: str) -> str:
    digest: str = _MAKE[kind](text.encode("utf-8", "replace")).hexdigest()
    return digest
