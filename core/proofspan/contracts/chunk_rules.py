"""What one chunk's id says of its place, held against what its record says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proofspan.contracts.chunk_ids import ChunkId, clean_part, is_citable, parse
from proofspan.contracts.findings import Finding
from proofspan.contracts.records import Chunk
from proofspan.contracts.sections import section_key

_SHOWN = 80
_SYNTHESIZED = re.compile(r"p[0-9]{3,}")


def id_findings(chunk: Chunk) -> tuple[Finding, ...]:
    """What is wrong, or odd, about the id of one chunk by itself."""
    parts = parse(chunk.chunk_id)
    cannot: tuple[Finding, ...] = ()
    if not is_citable(chunk.chunk_id):
        said = f"{_shown(chunk.chunk_id)} holds white space, a comma or ]"
        cannot = (Finding("uncitable_id", "chunk_id", said, chunk.chunk_id),)
    if parts is None:
        said = f"{_shown(chunk.chunk_id)} is not DOC|r=REV|s=SECTION|p=PAGE|b=BLOCK"
        return (*cannot, Finding("id_not_canonical", "chunk_id", said, chunk.chunk_id))
    return (*_beyond(chunk, parts), *place_findings(chunk, parts))


def place_findings(chunk: Chunk, parts: ChunkId) -> Iterator[Finding]:
    """Document, section and page of the id that are not the record's own; what is left open cannot differ."""
    if chunk.doc_id and clean_part(chunk.doc_id) != parts.doc_uid:
        yield _differs(chunk, "doc_id", _shown(chunk.doc_id), _shown(parts.doc_uid))
    named = [section for section in (chunk.section_id, chunk.section_number) if section]
    if named and not _SYNTHESIZED.fullmatch(parts.sect_path) and not _is_among(parts.sect_path, named):
        yield _differs(chunk, "section_id", _shown(named[0]), _shown(parts.sect_path))
    if chunk.page_idx is not None and parts.page_idx not in (None, chunk.page_idx):
        own = f"PDF page {chunk.page_idx + 1:,} (page_idx {chunk.page_idx:,})"
        yield _differs(chunk, "page_idx", own, f"PDF page {parts.page:,}")


def _is_among(path: str, named: list[str]) -> bool:
    return any(clean_part(each) == path or section_key(each) == section_key(path) for each in named)


def _beyond(chunk: Chunk, parts: ChunkId) -> Iterator[Finding]:
    if parts.is_beyond_padding:
        name, number = ("page", parts.page) if parts.page > parts.block else ("block", parts.block)
        said = f"{name} {number:,} in {_shown(chunk.chunk_id)}"
        yield Finding("number_beyond_999", "chunk_id", said, chunk.chunk_id)


def _differs(chunk: Chunk, field: str, own: str, named: str) -> Finding:
    said = f"the record says {own}, its id {named}"
    return Finding("id_place_differs", field, said, chunk.chunk_id)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
