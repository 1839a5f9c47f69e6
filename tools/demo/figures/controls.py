"""Figures of what the driver's hands work: key, stalks, light switch, air conditioning, airbag switch."""

from __future__ import annotations

from tools.demo.figures.lamps import COLOURS, TILE, symbol
from tools.demo.figures.pen import ACCENT, BLACK, WHITE, Ink, Rgb, Xy
from tools.demo.figures.sketch import (
    ACCENTED,
    BOLD,
    BOLD_SHADE,
    FINE,
    HIDDEN,
    PALE,
    PAPER,
    SCREEN,
    SEAM,
    SHADE,
    SOLID,
    Sketch,
)  # fmt: skip

_THICK = Ink(width=1.3)
_GLYPH = Ink(width=1.0)
_INK_FILL = Ink(line=None, fill=BLACK)


def icon(sketch: Sketch, name: str, x: float, y: float, scale: float, ground: Rgb) -> None:
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
    sketch.draw(BOLD, body + "C 170 86 120 88 84 84 C 64 82 58 72 58 55 C 58 38 64 28 84 26 Z")
    sketch.draw(SEAM, "M 88 31 C 120 28 166 29 192 34 C 196 46 196 64 192 76 C 166 81 120 82 88 79")
    sketch.draw(PAPER, "O 72 55 6.5")
    for x in (104, 136, 168):
        sketch.draw(PAPER, f"R {x - 13} 41 {x + 13} 69 7")
    _padlock(sketch, 104, 55, shut=True)
    _padlock(sketch, 136, 55, shut=False)
    sketch.draw(_INK_FILL, "M 157 61 L 157 57 L 162 55.4 L 166 50.6 L 173.6 50.6 L 178.4 57 L 178.4 61 Z")
    sketch.draw(_INK_FILL, "O 161.6 61.6 2.2 O 174 61.6 2.2")
    sketch.draw(_THICK, "M 173.6 49.6 L 180 45")
    sketch.draw(Ink(fill=COLOURS["Red"], width=0.7), "O 152 34.8 2.2")
    sketch.draw(SHADE, "R 200 42 208 68 3")
    sketch.draw(
        FINE, "M 202.5 47 L 205.5 47 M 202.5 51 L 205.5 51 M 202.5 59 L 205.5 59 M 202.5 63 L 205.5 63"
    )
    sketch.arrow((240, 78), (274, 78))
    sketch.callout("1", 36, 92, (98, 66), (130, 66), (162, 66))
    sketch.callout("2", 152, 13, (152, 33))
    sketch.callout("3", 228, 28, (205, 45))


def _padlock(sketch: Sketch, x: float, y: float, *, shut: bool) -> None:
    """A padlock of the size of a button."""
    sketch.draw(_INK_FILL, f"R {x - 5.5} {y - 1} {x + 5.5} {y + 7} 1.2")
    bow = f"M {x - 3.4} {y - 1} L {x - 3.4} {y - 4} J {x} {y - 4} 3.4 180 360"
    open_bow = f"M {x + 3.4} {y - 1} L {x + 3.4} {y - 4} J {x + 6.8} {y - 4} 3.4 180 360"
    sketch.draw(_THICK, f"{bow} L {x + 3.4} {y - 1}" if shut else f"{open_bow} L {x + 10.2} {y - 2.6}")


def stalk(sketch: Sketch) -> None:
    """The right stalk seen from the driver, with the five buttons of cruise control."""
    sketch.draw(SHADE, "M 10 20 C 26 22 34 30 34 42 C 34 54 26 62 10 64 Z")
    sketch.draw(SEAM, "M 18 24 C 26 30 26 54 18 60")
    sketch.draw(BOLD, "M 32 33 L 60 30 C 140 21 220 20 262 21 L 262 63 C 220 64 140 63 60 54 L 32 51 Z")
    sketch.draw(SEAM, "M 60 30 C 56 36 56 48 60 54")
    sketch.draw(BOLD_SHADE, "M 262 20 L 298 22 C 306 23 310 30 310 42 C 310 54 306 61 298 62 L 262 64 Z")
    sketch.draw(SEAM, *(f"M {x} 22.5 L {x} 61.5" for x in (270, 276, 282, 288, 294)))
    for x, text in ((86, "ON"), (124, "SET"), (162, "RES")):
        button(sketch, x, 42, text, wide=30, high=19)
    sketch.draw(PAPER, "R 188 26 210 58 8 M 188 42 L 210 42", "R 222 26 244 58 8")
    sketch.draw(PAPER, "R 186 26 246 58 9")
    sketch.draw(SEAM, "M 216 28 L 216 56")
    sketch.text(201, 42, "+", size=12)
    sketch.text(231, 42, "−", size=12)


def lightswitch(sketch: Sketch) -> None:
    """The rotary switch with its positions, the two buttons in its middle and the range wheel beside it."""
    sketch.draw(BOLD, "R 40 8 292 104 12")
    sketch.draw(Ink(fill=WHITE, width=0.9), "O 128 58 36")
    sketch.draw(BOLD_SHADE, "O 128 58 28")
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
    sketch.draw(BOLD_SHADE, "R 244 30 258 82 5")
    sketch.draw(FINE, *(f"M 245 {y} L 257 {y}" for y in range(36, 80, 4)))
    for number in range(4):
        sketch.text(268, 38 + 12.6 * number, str(number), size=7)
    sketch.draw(
        _GLYPH, "M 230 56 L 218 52 M 230 60 L 218 60 M 230 64 L 218 68 M 232 51 C 239 52 239 68 232 69 Z"
    )


def wiperstalk(sketch: Sketch) -> None:
    """The right stalk: five positions up and down, a pull towards the driver, a turn of its end."""
    positions = ((20, "3"), (35, "2"), (50, "1"), (65, "0"), (100, "1×"))
    sketch.draw(HIDDEN, *(f"M 46 65 L 256 {y}" for y, _ in positions))
    sketch.draw(SHADE, "M 18 40 C 38 42 48 53 48 65 C 48 77 38 88 18 90 Z")
    sketch.draw(BOLD, "M 46 57 L 76 55 L 170 51 L 170 79 L 76 75 L 46 73 Z")
    sketch.draw(BOLD_SHADE, "R 128 49 146 81 3")
    sketch.draw(FINE, *(f"M {x} 51 L {x} 79" for x in (132, 135.5, 139, 142.5)))
    sketch.draw(BOLD_SHADE, "M 170 50 L 198 52 C 206 54 208 59 208 65 C 208 71 206 76 198 78 L 170 80 Z")
    sketch.draw(SEAM, "M 178 51.6 L 178 78.4 M 185 52 L 185 78 M 192 52.4 L 192 77.6")
    sketch.draw(ACCENTED, "M 262 14 L 262 106")
    for y, text in positions:
        sketch.draw(ACCENTED, f"M 258 {y} L 266 {y}")
        sketch.text(276, y, text, size=8.4)
    sketch.text(300, 50, "AUTO", size=7.6)
    sketch.head(262, 8, -90)
    sketch.head(262, 112, 90)
    sketch.turn(201, 65, 18, -46, 46)
    sketch.draw(PAPER, "R 202 91 230 113 4", "R 30 97 58 119 4")
    sketch.draw(
        _GLYPH, "R 206 95 226 109 3 M 216 109 L 223 99.6 M 210.6 102 L 212.4 99.4 M 216 98.6 L 216 97"
    )
    sketch.arrow((92, 84), (66, 103))
    icon(sketch, "washer", 44, 108, 0.95, WHITE)


def climate(sketch: Sketch) -> None:
    """The panel of the air conditioning: two temperature knobs, the fan's, and the buttons."""
    sketch.draw(BOLD, "R 14 10 318 88 14")
    for x in (58, 274):
        _knob(sketch, x, 49, 27)
        sketch.draw(SCREEN, f"R {x - 14} 40 {x + 14} 58 4")
        sketch.text(x, 49, "22 °C", COLOURS["White"], 8.4)
    for number in range(6):
        button(sketch, 103.5 + 25 * number, 29, ("AUTO", "", "", "", "A/C", "SYNC")[number], wide=23)
    sketch.draw(
        _GLYPH, "M 120.5 26 C 125.5 22.6 131.5 22.6 136.5 26 L 134.5 34 C 130.5 32.4 126.5 32.4 122.5 34 Z"
    )
    sketch.draw(_GLYPH, "R 146.5 24 160.5 34 1")
    for x in (125.1, 128.5, 131.9, 150.1, 153.5, 156.9):
        sketch.draw(Ink(width=0.7), f"M {x} 32.4 C {x - 2} 30.6 {x + 2} 28.6 {x} 26.2")
    sketch.draw(
        _GLYPH,
        "M 171.5 33 L 171.5 30 C 171.5 25 175 24 178.5 24 "
        "C 182.5 24 185.5 26 185.5 29 C 185.5 33 181.5 34 177 33.4",
    )
    sketch.head(174.4, 32.8, 188, size=3.6, colour=BLACK)
    _knob(sketch, 118, 63, 17)
    for angle in (0, 120, 240):
        sketch.pen.moved(118, 63, turn=angle).draw(_INK_FILL, "M 0 0 C 2 -8 10 -6 8 -1 C 6 1 3 0 0 0 Z")
    for number, (start, end) in enumerate(_AIMS):
        _person(sketch, 160 + 30 * number, 63, start, end)


#: The arrows to windscreen, face and feet, from the middle of their buttons.
_AIMS: tuple[tuple[Xy, Xy], ...] = (((4, -1), (4, -11)), ((11, -4), (1, -4)), ((8, -3), (8, 9)))


def _knob(sketch: Sketch, x: float, y: float, r: float) -> None:
    """A turning knob with a knurled ring."""
    sketch.draw(BOLD_SHADE, f"O {x} {y} {r}")
    sketch.draw(PAPER, f"O {x} {y} {r - 4}")
    for angle in range(0, 360, 15):
        sketch.pen.moved(x, y, turn=angle).draw(FINE, f"M {r - 3} 0 L {r - 1} 0")


def _person(sketch: Sketch, x: float, y: float, start: Xy, end: Xy) -> None:
    """A button with a sitting person and an arrow for where the air goes."""
    sketch.draw(PAPER, f"R {x - 13} {y - 14} {x + 13} {y + 14} 3.5")
    sketch.draw(_INK_FILL, f"O {x - 4} {y - 6} 2.4")
    sketch.draw(Ink(width=2.2), f"M {x - 5} {y - 1} L {x - 5} {y + 5} L {x + 1} {y + 5} L {x + 3} {y + 10}")
    sketch.arrow((x + start[0], y + start[1]), (x + end[0], y + end[1]), width=1.2)


def airbagswitch(sketch: Sketch) -> None:
    """The key switch at the right end of the dashboard, and the lamp in the roof console."""
    sketch.draw(BOLD, "M 18 14 C 60 8 110 10 134 20 C 148 30 152 60 150 96 L 96 98 C 80 98 60 90 18 88 Z")
    sketch.draw(SHADE, "M 134 20 C 148 30 152 60 150 96 L 122 97 C 126 60 122 34 112 18 Z")
    sketch.draw(
        SEAM, "M 18 40 C 60 38 96 40 118 44 M 30 52 C 60 50 88 52 104 56 L 104 84 C 88 82 60 78 30 78 Z"
    )
    sketch.draw(ACCENTED, "O 137 60 7", "M 143 56 L 176 36 M 141 66 L 178 84")
    sketch.draw(Ink(line=ACCENT, fill=WHITE, width=1.1), "O 196 60 32")
    sketch.draw(BOLD_SHADE, "O 196 62 15")
    sketch.draw(SOLID, "R 194 50 198 74 1.6")
    sketch.text(173, 62, "ON", size=7)
    sketch.text(219.4, 62, "OFF", ACCENT, 7)
    sketch.turn(196, 62, 20.5, -140, -40)
    sketch.draw(Ink(fill=TILE, width=0.9), "R 244 34 318 86 8")
    sketch.text(281, 45, "PASSENGER", COLOURS["White"], 6.4)
    sketch.text(281, 53.4, "AIRBAG", COLOURS["White"], 6.4)
    symbol(sketch.pen.moved(266, 70), "airbag_off", COLOURS["Amber"], ground=TILE)
    sketch.text(295, 70, "OFF", COLOURS["Amber"], 9)
