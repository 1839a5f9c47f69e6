"""Figures of the driver's place: the dashboard as a whole and the instrument cluster."""

from __future__ import annotations

import math

from tools.demo.figures.lamps import COLOURS, TILE, symbol
from tools.demo.figures.pen import ACCENT, WHITE, Ink, Rgb
from tools.demo.figures.sketch import (
    BOLD,
    DARK,
    FINE,
    GREY,
    MID,
    PANEL,
    PAPER,
    SCREEN,
    SEAM,
    SHADE,
    SOLID,
    Sketch,
)  # fmt: skip

#: number of Table 1-1, where it is, and what it points at
_CONTROLS = (
    ("1", 14, 70, (16, 112)),
    ("2", 30, 18, (35, 92)),
    ("3", 62, 18, (62, 84)),
    ("4", 166, 18, (150, 84)),
    ("5", 106, 14, (106, 52)),
    ("6", 252, 22, (216, 93.4)),
    ("7", 256, 112, (226, 110)),
    ("8", 150, 166, (179, 137)),
    ("9", 256, 150, (228, 147)),
    ("10", 62, 166, (43, 139)),
)
_LIT = (
    ("battery", "Red"), ("oil", "Red"), ("brake", "Red"), ("belt", "Red"), ("airbag", "Red"),
    ("engine", "Amber"), ("abs", "Amber"), ("esc", "Amber"), ("tyre", "Amber"), ("steering", "Red"),
)  # fmt: skip


def dashboard(sketch: Sketch) -> None:
    """The dashboard from the driver's seat, its controls numbered in the order of Table 1-1."""
    _panel(sketch)
    _middle(sketch)
    _console(sketch)
    _wheel(sketch, 106, 96)
    for text, x, y, target in _CONTROLS:
        sketch.callout(text, x, y, target)


def _panel(sketch: Sketch) -> None:
    """The dashboard's body with the door beside it, and what sits in it left and right."""
    top = "M 24 62 C 40 52 52 50 62 48 C 74 32 138 32 150 48 C 164 46 240 40 300 50 C 312 52 320 58 324 64 "
    sketch.draw(BOLD, top + "L 322 118 C 290 130 260 132 240 130 L 168 130 C 120 134 60 132 26 122 Z")
    sketch.draw(SEAM, "M 25 78 C 60 74 150 72 168 76 M 240 76 C 270 74 300 76 323 80")
    sketch.draw(SHADE, "M 4 60 L 24 62 L 26 122 L 30 174 L 4 176 Z")
    sketch.draw(PANEL, "M 4 104 C 14 102 22 104 24 108 L 26 122 C 20 124 10 124 4 124 Z")
    sketch.draw(PAPER, "R 9 109 15 114 1.2", "R 17 109.6 22 114.4 1.2")
    for x in (30, 296):
        _vent(sketch, x, 60, 20, 14)
    sketch.draw(PAPER, "O 36 92 6.5")
    sketch.draw(Ink(width=1.2), "M 36 88 L 36 92")
    sketch.draw(SCREEN, "M 68 66 C 72 42 140 42 144 66 C 140 74 72 74 68 66 Z")
    for x in (90, 122):
        sketch.draw(Ink(line=WHITE, width=0.8), f"O {x} 59 9.5", f"M {x} 59 L {x - 5} 55")
    sketch.draw(PANEL, "M 250 92 C 270 90 300 91 316 94 L 314 118 C 296 122 270 124 250 123 Z")
    sketch.draw(PAPER, "R 276 98 290 102 2")
    sketch.draw(SHADE, "M 38 134 L 50 134 L 47 146 L 41 146 Z")
    sketch.draw(SEAM, "M 41 138 L 47 138")
    for x in (92, 114):
        sketch.draw(SHADE, f"R {x} 150 {x + 12} 172 2.5")
    sketch.draw(SHADE, "R 132 146 142 174 2.5")


def _vent(sketch: Sketch, x: float, y: float, wide: float, high: float) -> None:
    """An air vent with its fins."""
    sketch.draw(SOLID, f"R {x} {y} {x + wide} {y + high} 3.5")
    sketch.draw(
        Ink(line=MID, width=0.7), *(f"M {x + 2.5} {y + d} L {x + wide - 2.5} {y + d}" for d in (4, 7, 10))
    )


def _middle(sketch: Sketch) -> None:
    """Display, vents, buttons and the panel of the air conditioning."""
    sketch.draw(SCREEN, "R 170 36 240 74 4")
    sketch.draw(
        Ink(line=COLOURS["Blue"], width=0.9), "M 182 68 C 192 56 204 66 210 52 C 214 44 224 46 230 41"
    )
    sketch.draw(Ink(line=None, fill=COLOURS["White"]), "M 206 60 L 210 50 L 214 60 L 210 57.6 Z")
    for x in (170, 207):
        _vent(sketch, x, 77, 33, 12)
    sketch.draw(PAPER, "R 197 91 213 97 1.4", "R 215 91 227 97 1.4", "R 183 91 195 97 1.4")
    sketch.draw(Ink(line=(0.8, 0.12, 0.1), width=0.9), "M 205 92 L 207.6 96 L 202.4 96 Z")
    sketch.draw(PANEL, "R 170 100 240 120 5")
    for x in (181, 229):
        sketch.draw(PAPER, f"O {x} 110 7.4")
        sketch.draw(FINE, f"O {x} 110 5")
    sketch.draw(PAPER, *(f"R {x} {y} {x + 9} {y + 6} 1" for x in (191.5, 200.5, 209.5) for y in (103, 111)))


def _console(sketch: Sketch) -> None:
    """START button, lever, parking brake and AUTO HOLD."""
    sketch.draw(BOLD, "M 170 124 L 240 124 L 248 176 L 162 176 Z")
    sketch.draw(SHADE, "M 194 132 L 216 132 L 219 168 L 191 168 Z")
    sketch.draw(SOLID, "M 202.6 148 L 207.4 148 L 208.4 162 L 201.6 162 Z", "R 198 134 212 150 5")
    sketch.draw(PAPER, "O 183 133 6", "R 222 142 234 152 2.4", "R 223 156 235 163 2")
    sketch.draw(Ink(line=ACCENT, width=1.0), "A 183 133 3 -60 240 M 183 129.4 L 183 132.6")


def _wheel(sketch: Sketch, x: float, y: float) -> None:
    """The steering wheel around (x, y), in front of its two stalks."""
    sketch.draw(
        BOLD,
        "M 80 86 L 58 80 C 52 79 50 86 56 88 L 82 94 Z",
        "M 132 86 L 152 79 C 158 78 160 86 154 88 L 130 94 Z",
    )
    rim = f"O {x} {y} 45 O {x} {y} 38"
    sketch.draw(Ink(fill=DARK, width=0.9), rim)
    hub = (
        f"M {x - 17} {y - 10} C {x - 10} {y - 14} {x + 10} {y - 14} {x + 17} {y - 10} "
        f"L {x + 37} {y - 8} L {x + 38} {y + 4} "
    )
    hub += f"L {x + 16} {y + 10} L {x + 7} {y + 18} L {x + 5} {y + 37} L {x - 5} {y + 37} L {x - 7} {y + 18} "
    sketch.draw(
        Ink(fill=MID, width=0.9), hub + f"L {x - 16} {y + 10} L {x - 38} {y + 4} L {x - 37} {y - 8} Z"
    )
    sketch.draw(PANEL, f"O {x} {y} 11")
    sketch.draw(SEAM, f"M {x - 4} {y + 3} L {x} {y - 5} L {x + 4} {y + 3}")
    for side in (-27, 27):
        sketch.draw(PAPER, f"R {x + side - 6} {y - 5} {x + side + 6} {y + 1} 2")


def cluster(sketch: Sketch) -> None:
    """The instrument cluster with its lamps lit, as it is just after the ignition was switched on."""
    sketch.draw(
        Ink(fill=TILE, width=1.0),
        "M 30 14 C 90 4 242 4 302 14 C 318 24 322 60 316 104 C 312 124 20 124 16 104 C 10 60 14 24 30 14 Z",
    )
    _dial(sketch, 84, [str(speed) for speed in range(0, 241, 40)], "km/h", pointer=0.0)
    _dial(sketch, 248, [str(thousand) for thousand in range(8)], "×1000", pointer=0.0)
    sketch.draw(Ink(line=COLOURS["Red"], width=2.2), f"A 248 55 40 {150 + 240 * 6 / 7:.1f} 390")
    for x, name in ((84, "temperature"), (248, "fuel")):
        sketch.draw(Ink(line=GREY, width=1.6), f"A {x} 55 33 122 58")
        symbol(sketch.pen.moved(x, 78, scale=0.55), name, COLOURS["White"], ground=TILE, weight=0.7)
        _needle(sketch, x, 55, 108 if name == "temperature" else 78, 27, 35)
    sketch.draw(Ink(line=None, fill=COLOURS["White"]), "M 255.4 75.6 L 258.6 78 L 255.4 80.4 Z")
    sketch.draw(Ink(line=GREY, fill=(0.16, 0.19, 0.22), width=0.8), "R 134 20 198 88 5")
    for y, text, size in ((30, "14:05", 7), (52, "P", 17), (73, "6 °C", 7), (82, "00418 km", 6)):
        sketch.text(166, y, text, COLOURS["White"], size)
    sketch.draw(Ink(line=GREY, width=0.5), "M 140 37 L 192 37 M 140 66 L 192 66")
    for number, (name, colour) in enumerate(_LIT):
        symbol(
            sketch.pen.moved(53 + 25.1 * number, 106.5, scale=0.72),
            name,
            COLOURS[colour],
            ground=TILE,
            weight=0.9,
        )


def _dial(sketch: Sketch, x: float, numbers: list[str], unit: str, *, pointer: float) -> None:
    """A round dial from 150 to 390 degrees with its numbers inside the scale."""
    ring: Rgb = (0.36, 0.4, 0.44)
    sketch.draw(Ink(line=ring, width=1.6), f"O {x} 55 44")
    parts = (len(numbers) - 1) * 4
    for part in range(parts + 1):
        tick = sketch.pen.moved(x, 55, turn=150 + 240 * part / parts)
        long = part % 4 == 0
        tick.draw(Ink(line=COLOURS["White"], width=1.0 if long else 0.5), f"M {37 if long else 39} 0 L 42 0")
    for place, number in enumerate(numbers):
        angle = math.radians(150 + 240 * place / (len(numbers) - 1))
        sketch.text(x + 30.4 * math.cos(angle), 55 + 30.4 * math.sin(angle), number, COLOURS["White"], 6.2)
    sketch.text(x, 39, unit, (0.72, 0.75, 0.78), 5.2)
    _needle(sketch, x, 55, 150 + 240 * pointer, 4, 36)
    sketch.draw(Ink(line=ring, fill=TILE, width=1.0), f"O {x} 55 5")


def _needle(sketch: Sketch, x: float, y: float, angle: float, first: float, last: float) -> None:
    """A hand of a gauge, from one distance from its axis to another; the angle in degrees."""
    sketch.pen.moved(x, y, turn=angle).draw(Ink(line=(1.0, 0.45, 0.2), width=1.5), f"M {first} 0 L {last} 0")
