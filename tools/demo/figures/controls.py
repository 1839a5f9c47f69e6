"""Figures of what the driver's hands work: key, stalks, light switch, air conditioning, airbag switch."""

from __future__ import annotations

from tools.demo.figures.lamps import COLOURS, symbol
from tools.demo.figures.pen import ACCENT, BLACK, WHITE, Ink
from tools.demo.figures.sketch import (
    ACCENTED,
    FINE,
    HIDDEN,
    MID,
    PALE,
    PAPER,
    SCREEN,
    SEAM,
    SHADE,
    SOLID,
    TILE,
    Sketch,
)  # fmt: skip

_THICK = Ink(width=1.3)
_GLYPH = Ink(width=1.0)
_INK_FILL = Ink(line=None, fill=BLACK)


def icon(
    sketch: Sketch, name: str, x: float, y: float, scale: float, ground: tuple[float, float, float]
) -> None:
    """An indicator symbol in dark ink, as it is printed on a switch or a cap."""
    symbol(sketch.pen.moved(x, y, scale=scale), name, BLACK, ground=ground, weight=0.9)


def button(sketch: Sketch, x: float, y: float, text: str, *, wide: float = 24, high: float = 16) -> None:
    """A push button with its middle at (x, y)."""
    box = f"{x - wide / 2} {y - high / 2} {x + wide / 2} {y + high / 2}"
    sketch.draw(PAPER, f"R {box} 3.5")
    if text:
        sketch.text(x, y, text, size=6.4)


def key(sketch: Sketch) -> None:
    """The radio key with its blade half drawn out."""
    sketch.draw(SHADE, "M 214 49 L 282 49 L 290 55 L 282 61 L 274 58 L 268 61 L 260 58 L 254 61 L 214 61 Z")
    sketch.draw(FINE, "M 216 54 L 284 54")
    body = "M 84 26 C 120 22 170 24 200 30 C 210 32 214 38 214 55 C 214 72 210 78 200 80 "
    sketch.draw(EDGE_FILLED, body + "C 170 86 120 88 84 84 C 64 82 58 72 58 55 C 58 38 64 28 84 26 Z")
    sketch.draw(SEAM, "M 88 31 C 120 28 166 29 192 34 C 196 46 196 64 192 76 C 166 81 120 82 88 79")
    sketch.draw(PAPER, "O 72 55 6.5")
    for x in (104, 136, 168):
        sketch.draw(PAPER, f"R {x - 13} 41 {x + 13} 69 7")
    _padlock(sketch, 104, 55, shut=True)
    _padlock(sketch, 136, 55, shut=False)
    sketch.draw(
        _GLYPH, "M 158 60 L 158 54 L 164 48 L 172 48 L 178 54 L 178 60 Z M 172 48 C 176 43 180 45 181 48"
    )
    sketch.draw(Ink(fill=COLOURS["Red"], width=0.7), "O 152 34.8 2.2")
    sketch.draw(SHADE, "R 200 42 208 68 3")
    sketch.draw(
        FINE, "M 202.5 47 L 205.5 47 M 202.5 51 L 205.5 51 M 202.5 59 L 205.5 59 M 202.5 63 L 205.5 63"
    )
    sketch.arrow((240, 78), (274, 78))
    sketch.callout("1", 36, 92, (98, 66), (130, 66), (162, 66))
    sketch.callout("2", 152, 13, (152, 33))
    sketch.callout("3", 228, 28, (205, 45))


EDGE_FILLED = Ink(fill=PALE, width=1.1)


def _padlock(sketch: Sketch, x: float, y: float, *, shut: bool) -> None:
    sketch.draw(_INK_FILL, f"R {x - 5.5} {y - 1} {x + 5.5} {y + 7} 1.2")
    bow = f"M {x - 3.4} {y - 1} L {x - 3.4} {y - 4} J {x} {y - 4} 3.4 180 360"
    open_bow = f"M {x + 3.4} {y - 1} L {x + 3.4} {y - 4} J {x + 6.8} {y - 4} 3.4 180 360"
    sketch.draw(_THICK, f"{bow} L {x + 3.4} {y - 1}" if shut else f"{open_bow} L {x + 10.2} {y - 2.6}")


def stalk(sketch: Sketch) -> None:
    """The right stalk seen from the driver, with the five buttons of cruise control."""
    sketch.draw(SHADE, "M 10 20 C 26 22 34 30 34 42 C 34 54 26 62 10 64 Z")
    sketch.draw(SEAM, "M 18 24 C 26 30 26 54 18 60")
    sketch.draw(
        EDGE_FILLED, "M 32 33 L 60 30 C 140 21 220 20 262 21 L 262 63 C 220 64 140 63 60 54 L 32 51 Z"
    )
    sketch.draw(SEAM, "M 60 30 C 56 36 56 48 60 54")
    sketch.draw(EDGE_SHADED, "M 262 20 L 298 22 C 306 23 310 30 310 42 C 310 54 306 61 298 62 L 262 64 Z")
    sketch.draw(SEAM, *(f"M {x} 22.5 L {x} 61.5" for x in (270, 276, 282, 288, 294)))
    for x, text in ((86, "ON"), (124, "SET"), (162, "RES")):
        button(sketch, x, 42, text, wide=30, high=19)
    sketch.draw(PAPER, "R 188 26 210 58 8 M 188 42 L 210 42", "R 222 26 244 58 8")
    sketch.draw(PAPER, "R 186 26 246 58 9")
    sketch.draw(SEAM, "M 216 28 L 216 56")
    sketch.text(201, 42, "+", size=12)
    sketch.text(231, 42, "−", size=12)


EDGE_SHADED = Ink(fill=MID, width=1.1)


def lightswitch(sketch: Sketch) -> None:
    """The rotary switch with its positions, the two buttons in its middle and the range wheel beside it."""
    sketch.draw(EDGE_FILLED, "R 40 8 292 104 12")
    sketch.draw(Ink(fill=WHITE, width=0.9), "O 128 58 36")
    sketch.draw(EDGE_SHADED, "O 128 58 28")
    sketch.draw(FINE, *(f"M {128 + 28} 58 L {128 + 25} 58" for _ in (0,)))
    for angle in range(0, 360, 15):
        sketch.pen.moved(128, 58, turn=angle).draw(FINE, "M 25.6 0 L 27.4 0")
    sketch.draw(PAPER, "R 114 39 142 57 4", "R 114 59 142 77 4")
    icon(sketch, "front_fog", 128, 48, 0.88, WHITE)
    icon(sketch, "rear_fog", 128, 68, 0.88, WHITE)
    sketch.draw(Ink(line=None, fill=ACCENT), "M 128 20.5 L 131 27 L 125 27 Z")
    for angle in (-140, -90, -40, 10):
        sketch.pen.moved(128, 58, turn=angle).draw(_GLYPH, "M 31 0 L 34.6 0")
    sketch.text(84, 27, "AUTO", size=7.2)
    sketch.text(128, 15, "0", size=8)
    icon(sketch, "position", 168, 27, 0.9, PALE)
    icon(sketch, "low_beam", 182, 66, 0.95, PALE)
    sketch.draw(EDGE_SHADED, "R 244 30 258 82 5")
    sketch.draw(FINE, *(f"M 245 {y} L 257 {y}" for y in range(36, 80, 4)))
    for number in range(4):
        sketch.text(268, 38 + 12.6 * number, str(number), size=7)
    sketch.draw(
        _GLYPH, "M 230 56 L 218 52 M 230 60 L 218 60 M 230 64 L 218 68 M 232 51 C 239 52 239 68 232 69 Z"
    )


def wiperstalk(sketch: Sketch) -> None:
    """The right stalk: five positions up and down, a pull towards the driver, a turn of its end."""
    sketch.draw(SHADE, "M 20 42 C 40 44 48 54 48 66 C 48 78 40 88 20 90 Z")
    ghost = "M 46 60 L 196 18 M 46 72 L 206 34"
    sketch.draw(HIDDEN, ghost, "M 46 60 L 190 96 M 46 74 L 196 112")
    sketch.draw(EDGE_FILLED, "M 46 58 L 76 56 L 170 52 L 170 80 L 76 76 L 46 74 Z")
    sketch.draw(EDGE_SHADED, "R 128 50 146 82 3")
    sketch.draw(FINE, *(f"M {x} 52 L {x} 80" for x in (132, 135.5, 139, 142.5)))
    sketch.draw(EDGE_SHADED, "M 170 51 L 198 53 C 206 55 208 60 208 66 C 208 72 206 77 198 79 L 170 81 Z")
    sketch.draw(SEAM, "M 178 52.6 L 178 79.4 M 185 53 L 185 79 M 192 53.4 L 192 78.6")
    sketch.draw(ACCENTED, "M 236 14 L 236 108")
    for y, text in ((18, "3"), (34, "2"), (50, "1  AUTO"), (66, "0"), (100, "1×")):
        sketch.draw(ACCENTED, f"M 232 {y} L 240 {y}")
        sketch.text(254 + 3.2 * (len(text) - 1), y, text, size=8)
    sketch.head(236, 8, -90)
    sketch.head(236, 114, 90)
    sketch.turn(203, 66, 17, -48, 48)
    sketch.arrow((98, 84), (72, 108))
    icon(sketch, "washer", 54, 108, 0.95, WHITE)
    sketch.draw(_GLYPH, "R 287 58 309 74 3 M 298 74 L 306 64 M 292 66 L 294 63 M 298 62 L 298 60")


def climate(sketch: Sketch) -> None:
    """The panel of the air conditioning: two temperature knobs, the fan's, and the buttons."""
    sketch.draw(EDGE_FILLED, "R 14 10 318 88 14")
    for x in (58, 274):
        _knob(sketch, x, 49, 27)
        sketch.draw(SCREEN, f"R {x - 14} 40 {x + 14} 58 4")
        sketch.text(x, 49, "22 °C", COLOURS["White"], 8.4)
    for number in range(6):
        button(sketch, 106 + 24 * number, 29, ("AUTO", "", "", "", "A/C", "SYNC")[number], wide=22.4)
    sketch.draw(_GLYPH, "M 122 26 C 127 22.6 133 22.6 138 26 L 136 34 C 132 32.4 128 32.4 124 34 Z")
    sketch.draw(_GLYPH, "R 147 24 161 34 1")
    for x in (126.6, 150.6):
        wave = "".join(
            f"M {x + 3.4 * n} 33 C {x - 2 + 3.4 * n} 31 {x + 2 + 3.4 * n} 29 {x + 3.4 * n} 26.4 "
            for n in (0, 1, 2)
        )
        sketch.draw(Ink(width=0.7), wave)
    sketch.draw(
        _GLYPH, "M 171 33 L 171 30 C 171 25 174 24 178 24 C 182 24 185 26 185 29 C 185 33 181 34 177 33"
    )
    sketch.head(175, 32.4, 190, size=3.4, colour=BLACK)
    _knob(sketch, 118, 63, 17)
    for angle in (0, 120, 240):
        sketch.pen.moved(118, 63, turn=angle).draw(_INK_FILL, "M 0 0 C 2 -8 10 -6 8 -1 C 6 1 3 0 0 0 Z")
    for number, aim in enumerate(((-7, -8), (8, -1), (5, 9))):
        _person(sketch, 160 + 30 * number, 63, aim)


def _knob(sketch: Sketch, x: float, y: float, r: float) -> None:
    sketch.draw(EDGE_SHADED, f"O {x} {y} {r}")
    sketch.draw(PAPER, f"O {x} {y} {r - 4}")
    for angle in range(0, 360, 15):
        sketch.pen.moved(x, y, turn=angle).draw(FINE, f"M {r - 3} 0 L {r - 1} 0")


def _person(sketch: Sketch, x: float, y: float, aim: tuple[float, float]) -> None:
    """A button with a sitting person and an arrow for where the air goes."""
    sketch.draw(PAPER, f"R {x - 13} {y - 14} {x + 13} {y + 14} 3.5")
    sketch.draw(_INK_FILL, f"O {x - 4} {y - 6} 2.4")
    sketch.draw(Ink(width=2.2), f"M {x - 5} {y - 1} L {x - 5} {y + 5} L {x + 1} {y + 5} L {x + 3} {y + 10}")
    starts = {(-7, -8): ((x + 3, y - 2), (x + 3, y - 12)), (8, -1): ((x + 11, y - 4), (x + 1, y - 4))}
    start, end = starts.get(aim, ((x + 8, y - 4), (x + 8, y + 8)))
    sketch.arrow(start, end, width=1.2)


def airbagswitch(sketch: Sketch) -> None:
    """The key switch at the right end of the dashboard, and the lamp in the roof console."""
    sketch.draw(
        EDGE_FILLED, "M 18 14 C 60 8 110 10 134 20 C 148 30 152 60 150 96 L 96 98 C 80 98 60 90 18 88 Z"
    )
    sketch.draw(SHADE, "M 134 20 C 148 30 152 60 150 96 L 122 97 C 126 60 122 34 112 18 Z")
    sketch.draw(
        SEAM, "M 18 40 C 60 38 96 40 118 44 M 30 52 C 60 50 88 52 104 56 L 104 84 C 88 82 60 78 30 78 Z"
    )
    sketch.draw(ACCENTED, "O 137 60 7", "M 143 56 L 176 36 M 141 66 L 178 84")
    sketch.draw(Ink(line=ACCENT, fill=WHITE, width=1.1), "O 196 60 32")
    sketch.draw(EDGE_SHADED, "O 196 62 15")
    sketch.draw(SOLID, "R 194 50 198 74 1.6")
    sketch.text(178, 42, "ON", size=7)
    sketch.text(213, 42, "OFF", ACCENT, 7)
    sketch.turn(196, 62, 20, -118, -52)
    sketch.draw(Ink(fill=TILE, width=0.9), "R 244 34 318 86 8")
    sketch.text(281, 45, "PASSENGER", COLOURS["White"], 6.4)
    sketch.text(281, 53.4, "AIRBAG", COLOURS["White"], 6.4)
    symbol(sketch.pen.moved(266, 70), "airbag_off", COLOURS["Amber"], ground=TILE)
    sketch.text(295, 70, "OFF", COLOURS["Amber"], 9)
