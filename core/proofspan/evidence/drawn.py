"""Pages and parts of pages as pictures, for the worker: which area, how finely, in which kind of bytes.

MuPDF itself is not named here. What rasterizes is handed in, and what a document is, is said by `Drawable`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from proofspan.contracts.records import Box, Json
from proofspan.evidence import raster
from proofspan.evidence.encoding import encode
from proofspan.evidence.geometry import scaled
from proofspan.evidence.pagetext import PageText
from proofspan.evidence.png import encode_rgb
from proofspan.evidence.raster import Raster, Sheet

Answer = tuple[dict[str, Json], bytes]

#: So many words of a page are sent along with its picture; no page that a person reads has as many.
MAX_WORDS_SENT = 20_000
#: How far below the bound a coarser picture aims: its bytes do not shrink quite as its pixels do.
AIM = 0.85


class Pixels(Protocol):
    """A rasterized area: RGB, 3 bytes a pixel, rows from the top without padding."""

    samples: bytes
    samples_mv: memoryview
    width: int
    height: int


class Drawable(Protocol):
    """An open document as drawing sees it. Raises `EvidenceFault` for what cannot be drawn."""

    path: str

    def drawing(self, page_idx: int) -> tuple[Any, Any]:
        """A page and its display list."""

    def page_text(self, page_idx: int) -> PageText:
        """The words of a page."""

    def pixels(self, page_idx: int, area: Raster) -> Pixels:
        """An area of a page."""


def render(document: Drawable, request: Mapping[str, Any]) -> Answer:
    """One page, its dpi lowered where the picture would be too large; its words where they are asked for."""
    sheet = _sheet(document, request)
    header, body, scale = _drawn(
        document,
        sheet,
        request,
        lambda pixels: raster.whole(sheet, dpi=request["dpi"], max_pixels=pixels),
    )
    header["to_pixels"] = scaled(sheet.turned, scale)
    if request["with_words"]:
        header["words"] = words_sent(document.page_text(sheet.page_idx))
    return header, body


def clip(document: Drawable, request: Mapping[str, Any]) -> Answer:
    """A region of a page, upright as the page shows."""
    sheet, box = _sheet(document, request), _box(request["box"])
    header, body, _ = _drawn(
        document,
        sheet,
        request,
        lambda pixels: raster.region(sheet, box, dpi=request["dpi"], max_pixels=pixels),
    )
    return header, body


def detail(document: Drawable, request: Mapping[str, Any]) -> Answer:
    """A part of a page for a viewer that has zoomed in: what is drawn covers it to the pixel."""
    sheet, part = _sheet(document, request), _box(request["region"])
    header, body, _ = _drawn(
        document,
        sheet,
        request,
        lambda pixels: raster.part(sheet, part, width=request["width"], max_pixels=pixels),
    )
    return header, body


def words_sent(text: PageText) -> list[list[float | str]]:
    """A page's words as they are sent: left, top, right, bottom in points of the unrotated page, the word.

    Half a character, which only a broken font names, is replaced: JSON has no place for it.
    """
    pairs = zip(text.boxes[:MAX_WORDS_SENT], text.words, strict=False)
    return [[*box, word if word.isascii() else _whole(word)] for box, word in pairs]


def _whole(word: str) -> str:
    return word.encode("utf-8", "replace").decode()


def _drawn(
    document: Drawable, sheet: Sheet, request: Mapping[str, Any], area: Callable[[int], Raster]
) -> tuple[dict[str, Json], bytes, float]:
    """The picture with its size and kind, and how many pixels a point has; coarser until it fits its bound.

    Without a bound in bytes it is a lossless RGB PNG.
    """
    max_pixels, max_bytes = request["max_pixels"], request["max_bytes"]
    while True:
        drawn = area(max_pixels)
        pixels = document.pixels(sheet.page_idx, drawn)
        header: dict[str, Json] = {"width": pixels.width, "height": pixels.height}
        if max_bytes is None:
            body = encode_rgb(pixels.samples_mv, pixels.width, pixels.height)
            return {**header, "mime": "image/png"}, body, drawn.to_pixels[0]
        encoded = encode(pixels.samples, pixels.width, pixels.height, max_bytes=max_bytes)
        count = pixels.width * pixels.height
        if len(encoded.data) <= max_bytes or count == 1:
            return {**header, "mime": encoded.mime}, encoded.data, drawn.to_pixels[0]
        max_pixels = max(1, int(min(count, max_pixels) * AIM * max_bytes / len(encoded.data)))


def _sheet(document: Drawable, request: Mapping[str, Any]) -> Sheet:
    """The page that a request names, as drawing has to know it."""
    page_idx = int(request["page_idx"])
    page, _ = document.drawing(page_idx)
    return Sheet(page.rect.width, page.rect.height, tuple(page.rotation_matrix), document.path, page_idx)


def _box(sides: list[float]) -> Box:
    left, top, right, bottom = sides
    return left, top, right, bottom
