"""The catalogue of what can be attached to an answer: signal boxes, figures, tables and symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tools.demo.corpus import Piece
from tools.demo.galley import SIGNAL
from tools.demo.markup import plain
from tools.demo.pages import Mark, Part, Placed
from tools.demo.records import INGESTED, envelope
from tools.demo.tables import symbol

Json = Any
_KINDS = {"figure": "image", "table": "table"} | {kind: kind for kind in SIGNAL}


def catalogue(placed: Iterable[tuple[Placed, Piece]], *, memory: str) -> Iterator[dict[str, Json]]:
    """One record an attachment in reading order, numbered by kind: w-001, c-001, n-001, i-001 and so on.

    `memory` is the sha256 of the chunk file.
    """
    numbers: Counter[str] = Counter()
    for item, piece in placed:
        for kind, part, words in _attachments(item, piece):
            numbers[kind] += 1
            name = f"{kind[0]}-{numbers[kind]:03d}"
            yield envelope("ingest.write", INGESTED, f"catalogue/{name}", memory) | {
                "$schema": "urn:proofspan:schema:catalogue-1.0",
                "attachment_id": name,
                "doc_id": piece.doc_id,
                "kind": kind,
                "section_id": piece.section,
                **_place(piece.doc_id, part),
                **words,
                **({"parts": _further(piece)} if kind == "table" and len(piece.parts) > 1 else {}),
                "chunk_id": piece.chunk_id,
            }


def _attachments(item: Placed, piece: Piece) -> Iterator[tuple[str, Part, dict[str, str]]]:
    kind = _KINDS.get(item.block.kind)
    if kind == "image" and item.art is not None:
        yield kind, item.art, {"text": piece.text, "caption": piece.text}
    elif kind is not None:
        head, _, body = piece.text.partition("\n")
        yield kind, item.parts[0], {"text": body or head, "caption": head}
    for mark in item.marks:
        yield "symbol", Part(mark.page_idx, mark.bbox), _meaning(item, mark)


def _meaning(item: Placed, mark: Mark) -> dict[str, str]:
    """A symbol's row in words: its text all cells, its caption what the row calls it."""
    cells = [plain(cell) for cell in item.block.cells[mark.row] if not symbol(cell)]
    head = [plain(cell) for cell in item.block.cells[0]]
    named = dict(zip(head, (plain(cell) for cell in item.block.cells[mark.row]), strict=True))
    return {"text": " ".join(cells), "caption": named.get("Name", cells[0]), "symbol": mark.name}


def _place(doc_id: str, part: Part) -> dict[str, Json]:
    box = [round(float(side), 2) for side in part.bbox]
    return {
        "page_idx": part.page_idx,
        "bbox": box,
        "bbox_space": "points",
        "render_ref": f"pdf:{doc_id}#page_idx={part.page_idx}&bbox={','.join(f'{side:g}' for side in box)}",
    }


def _further(piece: Piece) -> list[dict[str, Json]]:
    """Every part of a table that goes on on the next page, the first included."""
    return [_place(piece.doc_id, part) for part in piece.parts]
