"""The rules of one chunk: its hash is that of its text, its offsets span, its id names its place."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from proofspan.contracts.records.chunk_id import LARGEST_PADDED, ChunkId, clean_part, is_citable, parse
from proofspan.contracts.records.field_values import id_of
from proofspan.contracts.records.names import section_key
from proofspan.contracts.records.records import Chunk, Json
from proofspan.contracts.rules.catalogue import Rule, checks, inside, problem
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.parity import rev_problems
from proofspan.contracts.rules.payload import offset_problems
from proofspan.errors import Problem

_HEX = re.compile(r"[0-9a-f]+")
#: Kind of a hash → how many hexadecimal digits it has.
_DIGITS: Final = {"sha1": 40, "sha256": 64}
#: How vectors were made and are compared; it cannot be guessed from the vectors.
_EMBEDDING: Final = ("model", "dim", "metric", "normalized")
#: How far the length of a normalized vector may be from 1: numbers may be rounded to three digits.
_NEAR_ONE: Final = 0.01
_PAGE_AS_SECTION = re.compile(r"p[0-9]{3,}")


@checks("chunk")
def chunk_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check a chunk record beyond its schema and its id."""
    if obj.get("text") == "":
        yield problem("empty_text", "text", "text is ''")
    if obj.get("text_normalized") is None:
        yield problem("missing_text_normalized", "text_normalized", "text_normalized is missing")
    if obj.get("doc_id") is None and parse(id_of(obj) or "") is None:
        yield problem("missing_doc_id", "doc_id", "doc_id is missing, and the id names no document")
    if (offsets := obj.get("offsets")) is not None:
        yield from offset_problems(offsets)
    if (span := obj.get("span")) is not None:
        yield from line_problems(span)
    if isinstance(embedding := obj.get("embedding"), dict):
        for breach in embedding_problems(embedding):
            yield inside("embedding", breach)
    yield from rev_problems(obj, context)
    yield from hash_problems(obj)


@Rule(
    "vector_length",
    "chunk",
    "vector of another length",
    "The embedding's vector does not have as many numbers as its dim states.",
    "Write the whole vector, and the number of its dimensions as dim.",
)
@Rule(
    "vector_not_finite",
    "chunk",
    "vector not finite",
    "The embedding's vector holds a number that is too large, so no distance to it can be computed.",
    "Embed the chunk again, and look at what the model was given.",
)
@Rule(
    "vector_not_normalized",
    "chunk",
    "vector not normalized",
    "The embedding states normalized: true, and the vector's length is not 1.",
    "Divide vectors by their length, or write normalized: false.",
)
def embedding_problems(embedding: Mapping[str, Json]) -> Iterator[Problem]:
    """Check that an embedding says how it was made, and that its vector is as it says."""
    for name in _EMBEDDING:
        value = embedding.get(name)
        if value is None:
            yield problem(f"missing_{name}", name, f"{name} is missing")
        elif value == "":
            yield problem(f"empty_{name}", name, f"{name} is ''")
    vector, dim = embedding.get("vector"), embedding.get("dim")
    if vector is None:
        yield problem("missing_vector", "vector", "vector is missing")
    if not isinstance(vector, list) or not all(type(each) in (int, float) for each in vector):
        return  # its schema reports another type
    if type(dim) is int and 0 < dim != len(vector):
        yield problem("vector_length", "vector", f"vector has {len(vector):,} numbers, dim is {dim:,}")
    elif not math.isfinite(length := math.hypot(*vector)):
        yield problem("vector_not_finite", "vector", "the vector's length is not finite")
    elif embedding.get("normalized") is True and abs(length - 1) > _NEAR_ONE:
        message = f"normalized is true, and the vector's length is {length:.4g}"
        yield problem("vector_not_normalized", "vector", message)


def line_problems(span: Json) -> Iterator[Problem]:
    """Check that a span of lines does not end before it begins."""
    if isinstance(span, dict):
        first, last = span.get("line_start"), span.get("line_end")
    else:
        first, last = span if isinstance(span, list) and len(span) == 2 else (None, None)
    if type(first) is int and type(last) is int and first > last:
        yield problem("bad_span", "span", f"the first line is {first}, the last {last}")


@Rule(
    "hash_unreadable",
    "chunk",
    "hash cannot be checked",
    "The chunk's hash is of no known kind, or is cut short.",
    "Write sha1: or sha256: and all hexadecimal digits.",
    "warning",
)
@Rule(
    "hash_mismatch",
    "chunk",
    "hash is not the text's",
    "The chunk's hash is not the hash of its text.",
    "Compute the hash after the last change of the text.",
)
def hash_problems(obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Check that a hash is that of the text or of the normalized text."""
    stated, text = obj.get("hash"), obj.get("text")
    if not isinstance(stated, str) or not stated.strip() or not isinstance(text, str):
        return
    kind, _, digits = stated.strip().lower().partition(":")
    if len(digits) != _DIGITS.get(kind) or not _HEX.fullmatch(digits):
        yield problem("hash_unreadable", "hash", f"hash is {shown(stated)}")
        return
    hashed = [
        hashlib.new(kind, each.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        for each in (text, obj.get("text_normalized"))
        if isinstance(each, str)
    ]
    if digits not in hashed:
        yield problem("hash_mismatch", "hash", f"hash is {shown(stated)}, the text's is {kind}:{hashed[0]}")


@Rule(
    "number_beyond_999",
    "chunk",
    "page or block beyond 999",
    "A page or block in the id has four digits or more: as text such ids do not sort in reading order.",
    "Sort ids by their numbers; nothing else is wrong.",
    "warning",
)
@Rule(
    "id_not_canonical",
    "chunk",
    "id not canonical",
    "The chunk's id does not follow the format, so it does not name the chunk's place.",
    "Mint ids with `proofspan chunk-ids`.",
    "warning",
)
@Rule(
    "uncitable_id",
    "chunk",
    "id cannot be cited",
    "The chunk's id holds white space, a comma or a bracket and cannot be cited inside citations: […].",
    "Mint ids with `proofspan chunk-ids`.",
)
def id_problems(chunk: Chunk) -> Iterator[Problem]:
    """Check the id of one chunk by itself."""
    parts = parse(chunk.chunk_id)
    if not is_citable(chunk.chunk_id):
        message = f"{shown(chunk.chunk_id)} holds white space, a comma or ]"
        yield problem("uncitable_id", "chunk_id", message)
    if parts is None:
        message = f"{shown(chunk.chunk_id)} is not DOC|r=REV|s=SECTION|p=PAGE|b=BLOCK"
        yield problem("id_not_canonical", "chunk_id", message)
        return
    name, number = ("page", parts.page) if parts.page > parts.block else ("block", parts.block)
    if number > LARGEST_PADDED:
        yield problem("number_beyond_999", "chunk_id", f"{name} {number:,} in {shown(chunk.chunk_id)}")
    yield from place_problems(chunk, parts)


@Rule(
    "id_place_differs",
    "chunk",
    "id names another place",
    "The document, section or page in the chunk's id is not the record's own.",
    "Mint the id from the record's place, or correct the place.",
)
def place_problems(chunk: Chunk, parts: ChunkId) -> Iterator[Problem]:
    """Compare document, section and page of an id with the record's own, if it has them."""
    places: list[tuple[str, str, str]] = []
    if chunk.doc_id and clean_part(chunk.doc_id) != parts.doc_uid:
        places.append(("doc_id", shown(chunk.doc_id), shown(parts.doc_uid)))
    named = [section for section in (chunk.section_id, chunk.section_number) if section]
    path = parts.sect_path
    is_among = any(clean_part(each) == path or section_key(each) == section_key(path) for each in named)
    if named and not is_among and not _PAGE_AS_SECTION.fullmatch(path):
        places.append(("section_id", shown(named[0]), shown(path)))
    if chunk.page_idx is not None and parts.page_idx not in (None, chunk.page_idx):
        own = f"PDF page {chunk.page_idx + 1:,} (page_idx {chunk.page_idx:,})"
        places.append(("page_idx", own, f"PDF page {parts.page:,}"))
    for field, own, in_id in places:
        yield problem("id_place_differs", field, f"the record says {own}, its id {in_id}")
