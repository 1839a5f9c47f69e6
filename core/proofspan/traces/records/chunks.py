"""Chunk files: the `{id, text}` array of the triage recipe, and full chunk records, as JSON or JSONL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import (
    ID_NAMES,
    box_of,
    index_of,
    page_of,
    span_of,
    text_of,
)
from proofspan.contracts.records.records import Chunk, Json, LineIssue
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id, read_table
from proofspan.traces.records.identity import record_from


class Place(NamedTuple):
    """A chunk's document, section and 0-based page; None where unknown."""

    doc_id: str | None
    section_id: str | None
    page_idx: int | None


#: chunk id → its place, for traces that have only ids.
Places = Mapping[str, Place]


def place_of(chunk: Chunk) -> Place:
    """Return the chunk's place, with its section number if it has no section id."""
    return Place(chunk.doc_id, chunk.section_id or chunk.section_number, chunk.page_idx)


def read_chunks(path: Path, *, file: str) -> tuple[dict[str, Chunk], list[LineIssue]]:
    """Return the chunks of a file by id, and the issues of single lines.

    Of several with one id the last counts, as in the reference. Raises InputFault if the file cannot be read
    at all.
    """
    return read_by_id(path, file=file, record_of=chunk_from, id_name="chunk_id")


def iter_chunks(path: Path, *, file: str) -> Iterator[Chunk | LineIssue]:
    """Yield every chunk of a file in its order, repeated ids too, and the issues of bad lines."""
    return read_table(path, file=file, record_of=lambda obj, _: chunk_from(obj))


def chunk_from(obj: Json) -> Chunk:
    """Return the chunk of a parsed line. Raises UnusableError if it has no id or no text."""
    obj = record_from("chunk", obj)
    name = next((name for name in ID_NAMES if name in obj), None)
    if name is None:
        fix = 'Give every chunk its "id" (or "chunk_id").'
        raise UnusableError("chunk_without_id", "the chunk has no id", fix)
    chunk_id, text = text_of(obj[name]), obj.get("text")
    if chunk_id is None:
        wrong = "is empty" if obj[name] == "" else "is neither text nor a number"
        raise UnusableError("chunk_without_id", f"the chunk's {name} {wrong}", f"Write {name} as text.")
    if not isinstance(text, str):
        message = "the chunk's text is missing or not a text"
        raise UnusableError("chunk_without_text", message, 'Give every chunk its "text".')
    parts = parse(chunk_id)
    page_idx, _ = page_of(obj)
    if page_idx is None and parts:
        page_idx = parts.page_idx
    box, box_space = box_of(obj)
    return Chunk(
        chunk_id=chunk_id,
        text=text,
        doc_id=text_of(obj.get("doc_id")) or (parts.doc_uid if parts else None),
        section_id=text_of(obj.get("section_id")) or (parts.sect_path if parts else None),
        section_number=text_of(obj.get("section_number")),
        page_idx=page_idx,
        order_in_section=index_of(obj.get("order_in_section")),
        offsets=span_of(obj),
        box=box,
        box_space=box_space,
        tokens=index_of(obj.get("tokens")),
        hash=text_of(obj.get("hash")),
        block_type=text_of(obj.get("block_type")),
        anchor=text_of(obj.get("anchor")),
        raw=obj,
        page_label=text_of(obj.get("page_label")),
    )
