"""Figures of battery and fuses."""

from __future__ import annotations

from dataclasses import replace

from tools.demo.figures import car
from tools.demo.figures.pen import WHITE, Ink, Rgb
from tools.demo.figures.sketch import (
    BOLD,
    BOLD_SHADE,
    DARK,
    FINE,
    GREY,
    MID,
    PAPER,
    SEAM,
    SHADE,
    SOLID,
    Sketch,
)  # fmt: skip

_RED: Rgb = (0.8, 0.13, 0.11)
_BLACK_LEAD: Rgb = (0.2, 0.21, 0.23)
#: ampere → the colour of the fuse, as in Table 9-4
_COLOURS: dict[float, Rgb] = {
    5: (0.87, 0.77, 0.62),
    7.5: (0.71, 0.53, 0.38),
    10: (0.92, 0.45, 0.4),
    15: (0.49, 0.69, 0.9),
    20: (0.97, 0.87, 0.4),
    25: (1.0, 1.0, 1.0),
    30: (0.53, 0.78, 0.52),
    40: (0.97, 0.66, 0.35),
}
#: amperes of F1, F2 … as in Table 9-2, and of E1, E2 … as in Table 9-3
_DASHBOARD = (10, 7.5, 15, 20, 5, 10, 10, 15, 7.5, 20, 15, 20, 5, 15, 15, 7.5, 15, 7.5, 5, 15, 25, 5, 7.5, 30)
_BAY = (15, 15, 10, 30, 40, 25, 40, 20, 15, 10, 15, 30, 10, 15, 5, 20)
_SCREWED = (5, 7, 12)


def _fuse(sketch: Sketch, x: float, y: float, name: str, ampere: float, *, screwed: bool = False) -> None:
    """A fuse of 23 by 25 with its middle at (x, y)."""
    sketch.draw(FINE, f"R {x - 12.5} {y - 14} {x + 12.5} {y + 14} 2")
    body = (
        f"M {x - 10.5} {y - 10} L {x + 10.5} {y - 10} L {x + 10.5} {y + 5} L {x + 8} {y + 10} "
        f"L {x - 8} {y + 10} "
    )
    sketch.draw(Ink(fill=_COLOURS[ampere], width=0.8), body + f"L {x - 10.5} {y + 5} Z")
    if screwed:
        for side in (-7.2, 7.2):
            sketch.draw(Ink(fill=MID, width=0.6), f"O {x + side} {y - 6.4} 2.2")
    else:
        sketch.draw(Ink(line=GREY, fill=WHITE, width=0.4), f"R {x - 5} {y - 8.4} {x + 5} {y - 5.2} 1")
    sketch.text(x, y + 2.2, name, size=7)


def fusebox(sketch: Sketch) -> None:
    """The box in the dashboard, and the cover's inner side with tweezers and three spare fuses."""
    sketch.draw(BOLD, "R 8 8 246 118 8")
    sketch.draw(SEAM, "R 13 13 241 113 5")
    for number, ampere in enumerate(_DASHBOARD):
        row, column = divmod(number, 8)
        _fuse(sketch, 30.5 + 27.6 * column, 31 + 32 * row, f"F{number + 1}", ampere)
    sketch.draw(
        BOLD,
        "M 262 14 C 280 8 308 8 322 14 C 326 46 326 82 322 112 C 306 118 280 118 262 112 "
        "C 258 82 258 46 262 14 Z",
    )
    sketch.draw(SEAM, "M 267 20 C 284 15 304 15 317 20")
    for number, ampere in enumerate((10, 15, 20)):
        _fuse(sketch, 277, 36 + 29 * number, str(ampere), ampere)
    sketch.draw(
        PAPER,
        "M 299 26 C 306 22 312 26 312 32 L 310 92 L 307 98 L 306 92 L 306 36 "
        "L 304 36 L 304 92 L 303 98 L 300 92 L 297 32 Z",
    )
    sketch.draw(
        FINE,
        "M 300 44 L 303 44 M 307 44 L 310 44 M 300 48 L 303 48 M 307 48 L 310 48 M 300 52 "
        "L 303 52 M 307 52 L 310 52",
    )


def fusebox_bay(sketch: Sketch) -> None:
    """The box in the engine bay without its lid; three of its fuses are screwed in."""
    sketch.draw(BOLD_SHADE, "R 40 6 292 120 10")
    sketch.draw(BOLD, "R 46 11 286 115 7")
    sketch.draw(Ink(fill=DARK, width=0.9), "R 34 52 42 74 2", "R 290 52 298 74 2")
    for number, ampere in enumerate(_BAY):
        row, column = divmod(number, 8)
        _fuse(
            sketch,
            65 + 28.8 * column,
            29 + 32 * row,
            f"E{number + 1}",
            ampere,
            screwed=number + 1 in _SCREWED,
        )
    for x in (54, 88, 122, 156):
        sketch.draw(SHADE, f"R {x} 81 {x + 30} 109 3")
        sketch.draw(
            FINE,
            f"R {x + 4} 85 {x + 26} 105 2",
            f"M {x + 9} 95 L {x + 14} 95 M {x + 14} 92 L {x + 20} 98 M {x + 20} 95 L {x + 22} 95",
        )
    sketch.draw(SOLID, "R 194 82 278 108 3")
    for x in (208, 236, 264):
        sketch.draw(Ink(fill=MID, width=0.7), f"O {x} 95 6")
        sketch.draw(Ink(width=1.2), f"M {x - 3} 95 L {x + 3} 95 M {x} 92 L {x} 98")


def jumpstart(sketch: Sketch) -> None:
    """Your own car on the left, the helper on the right, and the two leads with their four clamps."""
    paint = car.Paint((0.895, 0.915, 0.93), (0.68, 0.74, 0.78), DARK, WHITE, WHITE, line=0.7)
    car.side(sketch.pen.moved(142, 38, scale=0.245, mirrored=True), paint)
    car.side(sketch.pen.moved(190, 38, scale=0.245), replace(paint, body=WHITE))
    sketch.draw(SEAM, "M 20 38 L 312 38")
    _own_bay(sketch)
    _helper(sketch)
    for colour, path in (
        (_RED, "M 56 84 C 60 44 110 56 160 60 C 200 63 216 58 218 86"),
        (_BLACK_LEAD, "M 284 84 C 284 58 314 60 315 92 C 316 150 236 166 190 150 C 160 140 152 112 128 114"),
    ):
        sketch.draw(Ink(line=WHITE, width=4.4), path)
        sketch.draw(Ink(line=colour, width=2.6), path)
    for x, y, turn, colour in (
        (56, 88, 90, _RED),
        (218, 90, 90, _RED),
        (284, 90, 90, _BLACK_LEAD),
        (124, 114, 180, _BLACK_LEAD),
    ):
        _clamp(sketch, x, y, turn, colour)
    for text, x, y in (("1", 38, 78), ("2", 234, 78), ("3", 268, 78), ("4", 140, 96)):
        sketch.callout(text, x, y)


def _own_bay(sketch: Sketch) -> None:
    """The car's plus pole on the fuse box, and the engine with its bare lug."""
    sketch.draw(BOLD, "R 14 52 156 148 9")
    sketch.draw(BOLD_SHADE, "R 24 96 84 138 5")
    sketch.draw(SEAM, "M 34 104 L 74 104 M 34 110 L 74 110 M 34 116 L 74 116")
    sketch.draw(Ink(fill=_RED, width=0.9), "R 48 94 64 104 2.4")
    sketch.text(56, 126, "+", size=12)
    sketch.draw(BOLD_SHADE, "M 96 78 L 146 78 L 150 86 L 150 138 L 96 138 L 92 128 L 92 86 Z")
    sketch.draw(SEAM, "M 100 84 L 142 84 M 100 90 L 130 90 M 98 132 L 146 132 M 98 126 L 146 126")
    sketch.draw(PAPER, "O 112 114 5.4")
    sketch.draw(FINE, "O 112 114 2.6")


def _helper(sketch: Sketch) -> None:
    """The helping car's battery."""
    sketch.draw(BOLD, "R 182 52 322 148 9")
    sketch.draw(Ink(fill=DARK, width=1.0), "R 200 98 304 138 4")
    sketch.draw(Ink(line=GREY, fill=(0.36, 0.39, 0.43), width=0.7), "R 206 106 298 132 2")
    sketch.draw(Ink(fill=MID, width=0.9), "R 211 92 225 100 1.6", "R 277 92 291 100 1.6")
    sketch.text(218, 119, "+", WHITE, 14)
    sketch.text(284, 119, "−", WHITE, 14)
    sketch.text(251, 119, "12 V", WHITE, 9)


def _clamp(sketch: Sketch, x: float, y: float, turn: float, colour: Rgb) -> None:
    """A clamp that bites at (x, y), its grip on the side where the lead comes from."""
    part = sketch.pen.moved(x, y, turn=turn)
    part.draw(
        Ink(fill=colour, width=0.7),
        "M -14 -3.6 L -4 -4.4 L 4 -1.4 L 4 0 L -14 0 Z",
        "M -14 3.6 L -4 4.4 L 4 1.4 L 4 0 L -14 0 Z",
    )
