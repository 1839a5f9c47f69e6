"""The indicator lamps: a symbol on a dark tile, as it lights up in the instrument cluster."""

from __future__ import annotations

import pymupdf

from tools.demo.figures.letters import write
from tools.demo.figures.pen import Ink, Pen, Rgb
from tools.demo.figures.symbols import SYMBOLS

LAMPS: tuple[str, ...] = tuple(SYMBOLS)
COLOURS: dict[str, Rgb] = {
    "Red": (1.0, 0.3, 0.26),
    "Amber": (1.0, 0.71, 0.16),
    "Green": (0.36, 0.87, 0.46),
    "Blue": (0.42, 0.69, 1.0),
    "White": (0.97, 0.98, 0.99),
}
TILE: Rgb = (0.1, 0.115, 0.135)
#: Half of a tile's width and height, in points.
ACROSS, DOWN = 12.0, 9.4
_TILE = f"R {-ACROSS} {-DOWN} {ACROSS} {DOWN} 2.6"


def lamp(page: pymupdf.Page, name: str, x: float, y: float, *, colour: str) -> None:
    """Draws the lamp with its tile of 24 by 18.8 points centred on (x, y)."""
    pen = Pen(page, x, y)
    pen.draw(Ink(line=None, fill=TILE), _TILE)
    symbol(pen, name, COLOURS[colour], ground=TILE)
    pen.commit()


def symbol(pen: Pen, name: str, colour: Rgb, *, ground: Rgb, weight: float = 1.2) -> None:
    """Draws the bare symbol around the pen's origin; `weight` is the strokes' width in points."""
    line = Ink(line=colour, width=weight)
    inks = {
        "line": line,
        "fine": Ink(line=colour, width=weight * 0.75),
        "strong": Ink(line=colour, width=weight * 1.35),
        "solid": Ink(line=None, fill=colour),
        "cut": Ink(line=ground, width=weight * 1.35),
        "gap": Ink(line=None, fill=ground),
    }
    for style, path in SYMBOLS[name]:
        if style in inks:
            pen.draw(inks[style], path)
        else:
            text, *place = path.split()
            write(pen, line if style == "boldtext" else inks["fine"], text, *map(float, place))
