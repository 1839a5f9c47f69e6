"""The page that is nothing but a raster picture: the car from all four sides, its parts numbered."""

from __future__ import annotations

import pymupdf

from tools.demo.figures import car
from tools.demo.figures.letters import write
from tools.demo.figures.pen import Ink, Pen, Rgb, Xy

_INK: Rgb = (0.12, 0.12, 0.12)
_GROUND: Rgb = (0.93, 0.93, 0.93)
_WHITE: Rgb = (1.0, 1.0, 1.0)
_PAINT = car.Paint(
    body=(0.8, 0.8, 0.8), glass=(0.45, 0.45, 0.45), tyre=(0.2, 0.2, 0.2), rim=(0.95, 0.95, 0.95),
    lamp=(1.0, 1.0, 1.0), ink=_INK, line=1.2,
)  # fmt: skip
#: the panels on the page, in points of an A5 page
_PANELS = ("R 26 40 394 204 10", "R 26 214 394 378 10", "R 26 388 394 552 10")
_SCALE = 0.76
_FRONT, _REAR = (118.0, 184.0), (302.0, 184.0)
_RIGHT, _LEFT = (372.0, 352.0), (48.0, 526.0)
#: number of the part in the order of the list in section 1.2, where the number is, and the parts
_PARTS: tuple[tuple[str, Xy, tuple[Xy, ...]], ...] = (
    ("1", (50, 66), ((112, 112),)),
    ("2", (39, 190), ((76.6, 145),)),
    ("3", (210, 366), ((277, 336), (137, 336))),
    ("4", (56, 240), ((91, 286),)),
    ("5", (372, 66), ((306, 117),)),
    ("6", (262, 405), ((229, 470),)),
    ("3", (210, 540), ((143, 510), (283, 510))),
)
#: Shades of grey in the file; fewer make it smaller.
_SHADES = 16


def picture(name: str) -> bytes:
    """A full page, A5 at 150 dpi, as a grey PNG without any text; the same bytes every time."""
    if name != "exterior":
        raise ValueError(f"there is no picture named {name!r}")
    with pymupdf.open() as document:
        page = document.new_page(width=420, height=595)
        _exterior(page)
        pixels = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
    steps = 255 / (_SHADES - 1)
    shades = bytes(round(round(value / steps) * steps) for value in range(256))
    plain = pymupdf.Pixmap(
        pymupdf.csGRAY, pixels.width, pixels.height, pixels.samples.translate(shades), False
    )
    plain.set_dpi(150, 150)
    return bytes(plain.tobytes("png"))


def _exterior(page: pymupdf.Page) -> None:
    """Front and rear above, the right side in the middle, the left side below."""
    pen = Pen(page, 0, 0)
    pen.draw(Ink(line=None, fill=_GROUND), *_PANELS)
    for x, y, half in ((*_FRONT, 76), (*_REAR, 76), (210, _RIGHT[1], 166), (210, _LEFT[1], 166)):
        pen.draw(Ink(line=None, fill=(0.72, 0.72, 0.72)), f"E {x} {y} {half} 4")
    car.front(pen.moved(*_FRONT, scale=_SCALE), _PAINT)
    car.rear(pen.moved(*_REAR, scale=_SCALE), _PAINT)
    right = pen.moved(*_RIGHT, scale=_SCALE, mirrored=True)
    car.side(right, _PAINT)
    right.draw(_PAINT.fine(), "R 360 -92 382 -72 5")
    car.side(pen.moved(*_LEFT, scale=_SCALE), _PAINT)
    for number, at, targets in _PARTS:
        _callout(pen, number, at, targets)
    pen.commit()


def _callout(pen: Pen, number: str, at: Xy, targets: tuple[Xy, ...]) -> None:
    """A number drawn with strokes in a circle, with a line and a dot for each target."""
    for x, y in targets:
        line = f"M {at[0]} {at[1]} L {x} {y}"
        pen.draw(Ink(line=_WHITE, width=3.4), line)
        pen.draw(Ink(line=_INK, width=1.1), line)
        pen.draw(Ink(line=_WHITE, fill=_INK, width=0.8), f"O {x} {y} 2.6")
    pen.draw(Ink(line=_INK, fill=_WHITE, width=1.3), f"O {at[0]} {at[1]} 10")
    write(pen, Ink(line=_INK, width=1.6), number, *at, 9)
