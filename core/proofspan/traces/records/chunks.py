"""Chunk files: the `{id, text}` array of the triage recipe and the full chunk record, as JSON or JSONL."""

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
from proofspan.contracts.records.records import Chunk, Json, LineIssue, SourceLine
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id, read_table
from proofspan.traces.records.identity import refuse_other_major


class Place(NamedTuple):
    """Where a chunk lies, as the chunk file has it."""

    doc_id: str | None
    section_id: str | None
    page_idx: int | None


#: chunk id → its place, for traces that name only ids.
Places = Mapping[str, Place]


def place_of(chunk: Chunk) -> Place:
    """The chunk's place; its section number where it has no section id."""
    return Place(chunk.doc_id, chunk.section_id or chunk.section_number, chunk.page_idx)


def read_chunks(path: Path, *, file: str) -> tuple[dict[str, Chunk], list[LineIssue]]:
    """The chunks of a file by id, and what is wrong with single lines of it.

    Of several chunks with one id the last counts, as in the reference, and each repeat is an issue.
    InputFault where the file is missing or is no chunk file at all.
    """
    return read_by_id(
        path, file=file, record_of=chunk_from, id_of=lambda chunk: chunk.chunk_id, duplicate=_duplicate
    )


def iter_chunks(path: Path, *, file: str) -> Iterator[Chunk | LineIssue]:
    """Every chunk of a file in its order, those with an id that came before too, and the bad lines."""
    return read_table(path, file=file, record_of=lambda obj, _: chunk_from(obj))


def chunk_from(obj: Json) -> Chunk:
    """The chunk record of a parsed line. `UnusableError` where id or text are missing or no text."""
    if not isinstance(obj, dict):
        raise UnusableError("not_an_object", "the chunk is no JSON object", "Write a chunk as {id, text}.")
    refuse_other_major("chunk", obj)
    chunk_id, text = _needed(obj)
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


def _needed(obj: Mapping[str, Json]) -> tuple[str, str]:
    name = next((name for name in ID_NAMES if name in obj), None)
    if name is None:
        raise UnusableError(
            "chunk_without_id", "the chunk has no id", 'Give every chunk its "id" (or "chunk_id").'
        )
    chunk_id, text = text_of(obj[name]), obj.get("text")
    if chunk_id is None:
        wrong = "is empty" if obj[name] == "" else "is neither text nor a number"
        raise UnusableError("chunk_without_id", f"the chunk's {name} {wrong}", f"Write {name} as text.")
    if not isinstance(text, str):
        reason = "the chunk's text is missing or not a text"
        raise UnusableError("chunk_without_text", reason, 'Give every chunk its "text".')
    return chunk_id, text


def _duplicate(chunk: Chunk, earlier: Chunk, source: SourceLine) -> LineIssue:
    same = chunk.text == earlier.text
    reason = f"the chunk id {chunk.chunk_id!r} came before, with {'the same' if same else 'another'} text"
    return LineIssue.at(
        source=source,
        code="duplicate_chunk_id",
        message=f"{reason}; the last one counts",
        fix="Give every chunk an id of its own.",
        excerpt=chunk.text[:200],
    )
