"""When a cited row, column or cell of a table is placed right, and how often it is, by wording."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from proofspan.contracts.records.records import Box
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery

#: The share of the found boxes' points that must lie in the named cells, and of a cell that boxes must hold.
HELD, TOUCHED = 0.8, 0.3


def shares(folder: Path, truth: str, pool: PdfPool) -> dict[str, tuple[int, int]]:
    """Locate the citations of a truth file; return how many of each wording are right, and of how many."""
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    lines = (folder / truth).read_text(encoding="utf-8").splitlines()
    for row in sorted(map(json.loads, lines), key=lambda row: str(row["pdf"])):
        found = pool.locate(folder / row["pdf"], SpanQuery(row["quote"], row["cited_page_idx"]))
        total[row["kind"]] += 1
        hits[row["kind"]] += is_right(row["kind"], found, row["page_idx"], row["rects"])
    return {kind: (hits[kind], total[kind]) for kind in sorted(total)}


def is_right(kind: str, found: FoundSpan, page_idx: int | None, cells: list[Box]) -> bool:
    """Whether boxes lie in the named cells and touch each; another value is never clean, and is listed."""
    if kind == "shuffled":
        return found.status in ("partial", "not_found") or bool(found.differences)
    if kind == "altered":
        is_clean = found.status in ("exact", "normalized", "not_found")
        return not is_clean and found.numbers_differ and touches(cells[0], found.rects)
    points = [point for rect in found.rects for point in line(rect)]
    held = sum(any(is_in(point, cell, 3, 4) for cell in cells) for point in points)
    return (
        found.page_idx == page_idx
        and bool(points)
        and held >= HELD * len(points)
        and all(touches(cell, found.rects) for cell in cells)
    )


def line(rect: Box) -> list[tuple[float, float]]:
    """Points along the middle of a box."""
    return [(rect[0] + (rect[2] - rect[0]) * (n + 0.5) / 24, (rect[1] + rect[3]) / 2) for n in range(24)]


def is_in(point: tuple[float, float], box: Box, across: float, down: float) -> bool:
    return box[0] - across <= point[0] <= box[2] + across and box[1] - down <= point[1] <= box[3] + down


def touches(cell: Box, rects: tuple[Box, ...]) -> bool:
    """Whether a box's middle is in the cell, or boxes hold enough of it."""
    if any(is_in(((r[0] + r[2]) / 2, (r[1] + r[3]) / 2), cell, 2, 3) for r in rects):
        return True
    x, y = (cell[2] - cell[0]) / 12, (cell[3] - cell[1]) / 5
    points = [(cell[0] + x * (i + 0.5), cell[1] + y * (j + 0.5)) for i in range(12) for j in range(5)]
    return sum(any(is_in(point, rect, 1, 1) for rect in rects) for point in points) >= TOUCHED * len(points)
