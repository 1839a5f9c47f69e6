"""Small PDF pages on which a quote is hard to place: our own words in fonts that PyMuPDF brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pymupdf

from proofspan.contracts.records.records import Box

Draw = Callable[[pymupdf.Page], None]
WIDTH, HEIGHT = 420, 220
LEFT, TOP, LEADING = 30, 40, 18
SIZE, RAISED_SIZE, RAISE = 11, 6.5, 4


def write(
    path: Path,
    *pages: Draw,
    rotation: int = 0,
    crop: Box | None = None,
    labels: list[dict[str, object]] | None = None,
) -> Path:
    """A PDF with one page for each drawing."""
    document = pymupdf.open()
    for draw in pages:
        page = document.new_page(width=WIDTH, height=HEIGHT)
        draw(page)
        if crop is not None:
            page.set_cropbox(pymupdf.Rect(crop))
        page.set_rotation(rotation)
    if labels:
        document.set_page_labels(labels)
    document.save(path, garbage=4, deflate=True)
    document.close()
    return path


def lines(*texts: str, left: float = LEFT, top: float = TOP) -> Draw:
    """Lines of text one below the other; text between two `^` is raised and small."""

    def draw(page: pymupdf.Page) -> None:
        writer, font = pymupdf.TextWriter(page.rect), pymupdf.Font("helv")
        for number, text in enumerate(texts):
            x, y = left, top + LEADING * number
            for part, piece in enumerate(text.split("^")):
                if piece:
                    size, baseline = (RAISED_SIZE, y - RAISE) if part % 2 else (SIZE, y)
                    _, end = writer.append((x, baseline), piece, font=font, fontsize=size)
                    x = end.x
        writer.write_text(page)

    return draw


def cells(*placed: tuple[float, float, str]) -> Draw:
    """Texts at their places, written in this order: `(x, y, text)`."""
    return together(lines(text, left=x, top=y) for x, y, text in placed)


def together(draws: Iterable[Draw]) -> Draw:
    """Several drawings on one page."""
    kept = tuple(draws)

    def draw(page: pymupdf.Page) -> None:
        for each in kept:
            each(page)

    return draw


def upright(*texts: str) -> Draw:
    """Lines that run up the page, the first one leftmost."""

    def draw(page: pymupdf.Page) -> None:
        for number, text in enumerate(texts):
            page.insert_text((LEFT + 30 + LEADING * number, HEIGHT - 20), text, fontsize=SIZE, rotate=90)

    return draw
