"""Cuts the set manual into chunks: one block, one chunk, with its page, its box and its offsets."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass

from core.contracts.chunk_ids import ChunkId, mint
from core.contracts.normalize import normalize_text, revision
from tools.demo.markup import plain
from tools.demo.typeset import SIGNAL, Placed


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it becomes a record. `start` is its offset in the document's canonical text."""

    chunk_id: str
    text: str
    start: int
    section: str
    title: str
    page_idx: int
    order: int
    bbox: tuple[float, float, float, float]
    block_type: str


def text_of(placed: Placed) -> str:
    """What stands on the page for this block, one line a row or step."""
    block = placed.block
    if block.kind in SIGNAL:
        return f"{SIGNAL[block.kind][0]}\n{plain(block.lines[0])}"
    if block.kind == "table":
        rows = (" ".join(cell for cell in row if not cell.startswith("*")) for row in block.cells)
        return plain("\n".join(rows))
    return plain("\n".join(block.lines))


def pieces(placed: tuple[Placed, ...], *, doc_id: str) -> list[Piece]:
    """The chunks in reading order. Canonical text: the chunks' texts joined by an empty line."""
    texts = [text_of(item) for item in placed]
    rev = revision("\n\n".join(texts))
    counts: Counter[str] = Counter()
    found: list[Piece] = []
    start = 0
    for item, text in zip(placed, texts, strict=True):
        section = item.block.section
        counts[section] += 1
        chunk_id = mint(ChunkId(doc_id, rev, section, item.page_idx + 1, counts[section]))
        kind = item.block.kind
        found.append(
            Piece(
                chunk_id,
                text,
                start,
                section,
                item.block.title,
                item.page_idx,
                counts[section],
                item.bbox,
                kind,
            )
        )
        start += len(text) + 2
    return found


def record(piece: Piece, *, doc_id: str) -> dict[str, object]:
    """The chunk as the corpus file holds it."""
    return {
        "chunk_id": piece.chunk_id,
        "doc_id": doc_id,
        "section_id": piece.section,
        "section_number": piece.section,
        "section_title": piece.title,
        "page_idx": piece.page_idx,
        "order_in_section": piece.order,
        "text": piece.text,
        "text_normalized": normalize_text(piece.text),
        "offsets": [piece.start, piece.start + len(piece.text)],
        "bbox": list(piece.bbox),
        "bbox_space": "points",
        "tokens": len(piece.text.split()),
        "hash": "sha1:" + hashlib.sha1(piece.text.encode(), usedforsecurity=False).hexdigest(),
        "block_type": "paragraph" if piece.block_type in SIGNAL else piece.block_type,
        "anchor": sentences(piece.text)[0],
    }


def sentences(text: str) -> list[str]:
    """Rows, steps and sentences. A signal word alone on its line is not one."""
    lines = [line for line in text.split("\n") if line not in {word for word, _, _ in SIGNAL.values()}]
    return [part for line in lines for part in re.split(r"(?<=[.!?;])\s+(?=[A-Z])", line) if part]
