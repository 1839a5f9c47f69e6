"""A drawing of one sheet: panels, words and pictures at their places, in points from the top left.

It is data. `PdfPool.draw` makes a PDF page or a PNG of it, in a worker process. Words are text, never markup.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Box
from proofspan.evidence.types import Picture

#: A colour as CSS writes it: `#1f2328`.
INK, MUTED = "#1f2328", "#5d6570"


@dataclass(frozen=True, slots=True)
class Panel:
    """A rectangle: `fill` and `line` are colours, "" for none; `opacity` (0–1) is that of the fill."""

    box: Box
    fill: str = ""
    line: str = ""
    line_width: float = 0.7
    radius: float = 0.0
    opacity: float = 1.0
    kind: Literal["panel"] = "panel"


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one look; `size` in points, 0 for that of the words around it."""

    text: str
    bold: bool = False
    colour: str = INK
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Words:
    """Paragraphs in a box. They wrap, and become smaller where they would not fit.

    `leading` is the height of a line and `gap` the room after a paragraph, all in points.
    """

    box: Box
    paragraphs: tuple[tuple[Run, ...], ...]
    size: float = 9.0
    leading: float = 12.0
    gap: float = 0.0
    align: Literal["left", "right", "center"] = "left"
    kind: Literal["words"] = "words"


@dataclass(frozen=True, slots=True)
class Inset:
    """A picture that fills a box; `data` are its bytes in base64."""

    box: Box
    data: str
    kind: Literal["inset"] = "inset"

    @classmethod
    def of(cls, box: Box, picture: Picture) -> Inset:
        """Return a picture at its place."""
        return cls(box, b64encode(picture.data).decode("ascii"))


Item = Panel | Words | Inset


@dataclass(frozen=True, slots=True)
class Drawing:
    """A sheet of `width` × `height` points; later items lie on earlier ones. `title` is the PDF's."""

    width: float
    height: float
    items: tuple[Item, ...]
    title: str = ""
