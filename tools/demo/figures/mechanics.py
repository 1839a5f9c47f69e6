"""Figures of bonnet, boot and wheels: what an owner checks, fills in, unscrews and lifts."""

from __future__ import annotations

from tools.demo.figures import car
from tools.demo.figures.controls import icon
from tools.demo.figures.pen import ACCENT, BLACK, WHITE, Ink, Rgb
from tools.demo.figures.sketch import (
    ACCENTED,
    BOLD,
    BOLD_SHADE,
    DARK,
    FINE,
    GREY,
    HIDDEN,
    MID,
    PALE,
    PANEL,
    PAPER,
    SEAM,
    SHADE,
    SOLID,
    TINT,
    Sketch,
)  # fmt: skip

_YELLOW: Rgb = (0.97, 0.8, 0.22)
_AMBER: Rgb = (0.93, 0.76, 0.42)
_RED: Rgb = (0.8, 0.13, 0.11)
_BLUE: Rgb = (0.3, 0.52, 0.78)


def dipstick(sketch: Sketch) -> None:
    """The end of the dipstick with its two marks and the three areas; the ring is yellow."""
    sketch.draw(Ink(fill=WHITE, width=1.0), "M 34 40 L 44 36 L 262 36 L 262 48 L 44 48 Z")
    sketch.draw(Ink(fill=_AMBER, width=1.0), "R 110 36 200 48 0")
    sketch.draw(
        Ink(line=(0.66, 0.49, 0.17), width=0.6), *(f"M {x} 47.4 L {x + 10} 36.6" for x in range(112, 190, 6))
    )
    sketch.draw(BOLD_SHADE, "R 258 34 272 50 2")
    sketch.draw(Ink(fill=_YELLOW, width=1.0), "O 290 42 17 O 290 42 9.5")
    for x, text in ((110, "MIN"), (200, "MAX")):
        sketch.draw(Ink(width=1.3), f"M {x} 28 L {x} 52")
        sketch.text(x, 20, text, size=8)
    for first, last, text in ((38, 108, "C"), (112, 198, "B"), (202, 256, "A")):
        sketch.draw(ACCENTED, f"M {first} 56 L {first} 60 L {last} 60 L {last} 56")
        sketch.text((first + last) / 2, 71, text, ACCENT, 10)


#: symbol on the cap, where the cap is, and where the symbol is
_FILLERS = (
    ("oil", (152, 92), (28, 118)),
    ("temperature", (256, 90), (304, 118)),
    ("brake", (248, 42), (304, 44)),
    ("washer", (92, 132), (28, 156)),
)


def enginebay(sketch: Sketch) -> None:
    """The engine bay seen from in front of the car, which is at the lower edge; caps bear symbols."""
    sketch.draw(
        BOLD,
        "M 70 16 C 120 8 212 8 262 16 L 284 30 L 288 156 C 280 176 240 184 166 184 "
        "C 92 184 52 176 44 156 L 48 30 Z",
    )
    sketch.draw(
        Ink(line=BLACK, fill=WHITE, width=0.9),
        "M 78 26 C 122 19 210 19 254 26 L 272 36 L 274 148 C 250 162 82 162 58 148 L 60 36 Z",
    )
    sketch.draw(
        SHADE,
        "M 50 152 C 62 160 82 164 96 164 L 92 174 C 72 172 54 168 46 158 Z",
        "M 282 152 C 270 160 250 164 236 164 L 240 174 C 260 172 278 168 286 158 Z",
    )
    sketch.draw(SOLID, "R 112 164 220 174 3")
    sketch.draw(PAPER, "O 166 169 4")
    sketch.draw(SEAM, "M 62 32 C 120 24 212 24 270 32")
    sketch.draw(PANEL, "R 104 142 228 154 3")
    sketch.draw(FINE, *(f"M {x} 142 L {x} 154" for x in range(110, 228, 6)))
    _engine(sketch)
    _around_the_engine(sketch)
    for name, cap, place in _FILLERS:
        sketch.callout("", *place, cap, r=12)
        icon(sketch, name, *place, 0.9, WHITE)
    sketch.callout("", 28, 44, (84, 60), r=12)
    sketch.draw(Ink(width=1.6), "M 22.5 44 L 33.5 44 M 28 38.5 L 28 49.5")


def _engine(sketch: Sketch) -> None:
    """The engine under its cover, with filler cap and dipstick."""
    sketch.draw(BOLD_SHADE, "M 124 54 L 212 54 L 220 64 L 220 124 L 210 132 L 126 132 L 116 124 L 116 64 Z")
    sketch.draw(BOLD, "R 128 62 208 112 6")
    sketch.draw(
        SEAM, "M 134 70 L 202 70 M 134 76 L 202 76 M 180 82 L 180 108 M 188 82 L 188 108 M 196 82 L 196 108"
    )
    sketch.draw(SEAM, "M 122 118 L 214 118 M 124 124 L 212 124")
    sketch.draw(Ink(fill=DARK, width=0.8), "O 152 92 9")
    sketch.draw(Ink(line=WHITE, width=0.9), "M 146 92 L 158 92", "O 152 92 6.4")
    sketch.draw(Ink(line=BLACK, fill=_YELLOW, width=0.8), "O 172 122 5 O 172 122 2.6")
    sketch.draw(Ink(line=BLACK, width=0.8), "M 172 117 L 172 112")


def _around_the_engine(sketch: Sketch) -> None:
    """Fuse box, air filter, washer cap, brake fluid and expansion tank."""
    sketch.draw(BOLD_SHADE, "R 66 42 100 82 5")
    sketch.draw(SEAM, "R 70 68 96 78 2")
    sketch.draw(Ink(fill=_RED, width=0.8), "R 77 56 91 65 2")
    sketch.draw(BOLD_SHADE, "R 64 88 108 122 5")
    sketch.draw(SEAM, "M 70 94 L 102 94 M 70 100 L 102 100 M 70 106 L 102 106 M 70 112 L 102 112")
    sketch.draw(BOLD_SHADE, "M 108 98 C 114 98 114 88 118 86 L 118 98 C 116 108 112 108 108 108 Z")
    sketch.draw(Ink(fill=_BLUE, width=0.9), "O 92 132 7")
    sketch.draw(Ink(line=WHITE, width=0.9), "M 87 132 L 97 132")
    sketch.draw(BOLD, "R 234 34 264 56 5")
    sketch.draw(Ink(fill=_YELLOW, width=0.9), "O 248 42 6")
    sketch.draw(BOLD, "M 238 76 L 266 76 L 270 120 L 242 124 L 236 112 Z")
    sketch.draw(SEAM, "M 238 104 L 250 104 M 238 111 L 250 111")
    sketch.draw(Ink(fill=DARK, width=0.9), "O 256 90 8")
    sketch.draw(Ink(line=WHITE, width=0.9), "M 251 90 L 261 90")
    sketch.draw(Ink(line=BLACK, width=3.4), "M 238 118 C 226 124 226 136 222 142")
    sketch.draw(Ink(line=MID, width=2.0), "M 238 118 C 226 124 226 136 222 142")


def bootfloor(sketch: Sketch) -> None:
    """The boot from behind and above with its floor lifted."""
    sketch.draw(BOLD, "M 66 10 L 266 10 L 306 134 L 26 134 Z")
    sketch.draw(Ink(line=BLACK, fill=WHITE, width=0.9), "M 76 20 L 256 20 L 290 124 L 42 124 Z")
    sketch.draw(SHADE, "M 76 20 L 256 20 L 252 12 L 80 12 Z")
    sketch.draw(SEAM, "M 160 15 L 172 15")
    spare = sketch.pen.moved(134, 74)
    spare.draw(Ink(fill=MID, width=1.0), "E 0 0 62 45")
    spare.draw(Ink(fill=DARK, width=1.0), "E 0 0 57 41")
    spare.draw(Ink(fill=WHITE, width=0.8), "E 0 0 40 28.5")
    spare.draw(Ink(fill=PALE, width=0.8), "E 0 1 34 23.5")
    spare.draw(
        Ink(fill=DARK, width=0.7),
        *(f"E {x} {y} 4.4 3.2" for x, y in ((0, -14), (20, -4), (12, 13), (-12, 13), (-20, -4))),
    )
    spare.draw(Ink(fill=_YELLOW, width=0.9), "E 0 1 8 6")
    sketch.draw(Ink(fill=DARK, width=1.0), "M 206 34 L 248 34 L 256 66 L 210 66 Z")
    sketch.draw(Ink(line=GREY, fill=(0.36, 0.39, 0.43), width=0.7), "M 210 38 L 245 38 L 251 62 L 213.6 62 Z")
    sketch.draw(Ink(fill=_RED, width=0.7), "E 217 42 4 2.8")
    sketch.draw(Ink(fill=MID, width=0.7), "E 239 42 4 2.8")
    sketch.text(230, 53, "12 V", WHITE, 7.6)
    sketch.draw(Ink(fill=PALE, width=1.0), "M 206 76 L 260 76 L 270 116 L 210 116 Z")
    sketch.draw(SOLID, "M 214 82 L 232 82 L 232 86 L 214 86 Z")
    sketch.draw(
        Ink(line=DARK, width=2.2),
        "M 240 84 L 256 84 L 261 106",
        "M 216 110 L 232 92 M 216 92 L 232 110 M 214 101 L 234 101",
    )
    sketch.draw(Ink(line=DARK, width=1.6), "O 246 100 5 M 246 105 L 247 112")
    sketch.callout("1", 298, 28, (246, 50))
    sketch.callout("2", 314, 88, (256, 98))
    sketch.callout("3", 24, 60, (92, 70))


def jack(sketch: Sketch) -> None:
    """Where the four points are, and the jack's head at the fold of the sill."""
    car.side(sketch.pen.moved(12, 72, scale=0.36), car.PRINT)
    sketch.draw(SEAM, "M 8 72 L 170 72")
    for x in (126.0, 310.0):
        sketch.arrow((12 + 0.36 * x, 86), (12 + 0.36 * x, 67))
    sketch.draw(Ink(line=ACCENT, width=0.9), "O 57.4 64 8", "M 64 69 L 176 112", "M 62 57.4 L 176 14")
    inset = "R 176 8 322 124 8"
    sketch.draw(Ink(line=None, fill=WHITE), inset)
    sketch.draw(
        Ink(line=None, fill=PALE),
        "M 177 14 C 177.6 10.6 180 9 184 9 L 314 9 C 318.6 9 321 11.4 321 16 "
        "L 321 40 L 224 40 C 220 30 214 20 206 14 Z",
    )
    sketch.draw(Ink(line=None, fill=MID), "M 228 40 L 321 40 L 321 48 L 232 48 Z")
    sketch.draw(
        Ink(width=1.0), "M 177 14 L 206 14 C 214 20 220 30 224 40 L 321.4 40 M 228 40 L 232 48 L 321.4 48"
    )
    sketch.draw(SEAM, "M 218 24 L 321 24")
    sketch.draw(Ink(line=None, fill=ACCENT), "M 262 29 L 268 37 L 256 37 Z")
    sketch.draw(HIDDEN, "M 262 40 L 262 118")
    sketch.draw(SEAM, "M 184 117 L 314 117")
    sketch.draw(Ink(line=ACCENT, width=1.1), inset)
    _scissors(sketch, 262.0, 50.0, 115.0)


def _scissors(sketch: Sketch, x: float, top: float, foot: float) -> None:
    """The jack between its head at `top` and the ground at `foot`."""
    middle = (top + foot) / 2 + 2
    sketch.draw(
        Ink(fill=DARK, width=0.8),
        f"M {x - 12} {top - 5} L {x - 4} {top - 5} L {x - 4} {top} L {x + 4} {top} "
        f"L {x + 4} {top - 5} L {x + 12} {top - 5} L {x + 9} {top + 6} L {x - 9} {top + 6} "
        "Z",
    )
    for side in (-1, 1):
        arm = f"M {x + side * 5} {top + 5} L {x + side * 36} {middle} L {x + side * 7} {foot - 6}"
        sketch.draw(Ink(width=6.4), arm)
        sketch.draw(Ink(line=MID, width=4.6), arm)
        sketch.draw(PAPER, f"O {x + side * 36} {middle} 4.6")
    sketch.draw(Ink(width=2.6), f"M {x - 44} {middle} L {x + 36} {middle}")
    sketch.draw(Ink(line=WHITE, width=1.2, dashes="[1.2 1.4] 0"), f"M {x - 32} {middle} L {x + 31} {middle}")
    sketch.draw(
        Ink(width=2.2),
        f"M {x - 44} {middle} L {x - 62} {middle} L {x - 62} {middle + 16} L {x - 74} {middle + 16}",
    )
    sketch.draw(
        BOLD_SHADE,
        f"M {x - 20} {foot + 2} L {x + 20} {foot + 2} L {x + 16} {foot - 5} L {x - 16} {foot - 5} Z",
    )


def towing_eye(sketch: Sketch) -> None:
    """Where the cover is, and the eye being screwed in anticlockwise with the wheel wrench through it."""
    sketch.draw(SEAM, "M 10 116 L 146 116")
    car.front(sketch.pen.moved(78, 116, scale=0.66), car.PRINT)
    sketch.draw(Ink(line=ACCENT, width=1.1), "O 42 82 9", "M 47.4 74.8 L 182 12", "M 47.6 89 L 182 120")
    sketch.draw(Ink(line=ACCENT, fill=WHITE, width=1.1), "R 180 8 322 122 8")
    sketch.draw(
        Ink(line=None, fill=PALE),
        "M 181 16 C 181 12 184 9 188 9 L 262 9 C 242 40 240 90 256 121 L 188 121 C 184 121 181 118 181 114 Z",
    )
    sketch.draw(Ink(width=1.0), "M 262 9 C 242 40 240 90 256 121")
    sketch.draw(SEAM, "M 252 34 C 230 36 206 36 181 34")
    sketch.draw(Ink(fill=DARK, width=0.9), "E 216 66 14 17")
    sketch.draw(Ink(line=GREY, width=0.8), "E 216 66 9 11.6")
    sketch.draw(SEAM, "M 208 81 C 204 88 206 94 204 98")
    sketch.draw(BOLD_SHADE, "E 202 105 9 11")
    sketch.draw(SEAM, "E 202 105 6 8")
    sketch.draw(Ink(fill=MID, width=1.0), "M 216 61 L 266 61 L 266 71 L 216 71 Z")
    sketch.draw(Ink(width=0.7), *(f"M {x + 3} 61 L {x} 71" for x in range(219, 246, 4)))
    sketch.draw(Ink(fill=WHITE, width=1.3), "O 280 66 19 O 280 66 10")
    sketch.draw(Ink(width=5.2), "M 280 22 L 280 112")
    sketch.draw(Ink(line=MID, width=3.6), "M 280 22 L 280 112")
    sketch.draw(Ink(fill=MID, width=1.0), "R 275 106 285 117 2")
    sketch.draw(Ink(width=1.3), "A 280 66 19 62 118 A 280 66 10 52 128")
    sketch.turn(280, 66, 29, 60, -46)


def tread(sketch: Sketch) -> None:
    """A gauge in a groove of the tread, and the depth that is left above the wear bar."""
    _tread_from_above(sketch)
    ground, deep, bar = 42, 76, 63
    grooves = (150, 206, 262)
    path = f"M 118 {ground} "
    for x in grooves:
        path += f"L {x} {ground} L {x + 3} {deep} L {x + 15} {deep} L {x + 18} {ground} "
    sketch.draw(BOLD_SHADE, path + f"L 306 {ground} L 314 98 L 110 98 Z")
    sketch.draw(SEAM, "M 112 88 L 312 88")
    sketch.draw(FINE, *(f"M {x} 92 L {x + 3} 95" for x in range(116, 310, 7)))
    sketch.draw(
        Ink(line=ACCENT, fill=TINT, width=1.0), f"M 263.6 {bar} L 278.8 {bar} L 277 {deep} L 265 {deep} Z"
    )
    sketch.draw(
        Ink(fill=WHITE, width=1.0),
        f"R 212.6 14 217.4 {deep} 1",
        f"R 196 32 234 {ground} 2",
        "R 205 6 225 34 3",
    )
    sketch.draw(FINE, *(f"M 207 {y} L {212 if y % 4 else 214} {y}" for y in range(10, 32, 2)))
    sketch.draw(ACCENTED, f"M 278 {ground} L 296 {ground} M 279 {bar} L 296 {bar}")
    sketch.arrow((290, 28), (290, ground), width=0.8)
    sketch.arrow((290, 80), (290, bar), width=0.8)
    sketch.callout("1", 176, 18, (206, 18))
    sketch.callout("2", 252, 18, (270, 65))


def _tread_from_above(sketch: Sketch) -> None:
    """The tread from above; the small triangles mark where the wear bars run across."""
    sketch.draw(Ink(fill=DARK, width=1.0), "R 22 8 92 98 9")
    for x in (36.0, 54.0, 72.0):
        sketch.draw(Ink(line=None, fill=WHITE), f"R {x} 9 {x + 5} 97 0")
        sketch.draw(Ink(line=ACCENT, fill=TINT, width=0.6), f"R {x} 50 {x + 5} 56 0")
    for y in range(14, 98, 9):
        sketch.draw(
            Ink(line=WHITE, width=0.9),
            f"M 23 {y + 3} L 34 {y} M 80 {y} L 91 {y + 3} M 43 {y} L 52 {y + 3} M 61 {y + 3} L 70 {y}",
        )
    sketch.draw(Ink(line=None, fill=ACCENT), "M 14 53 L 20 50 L 20 56 Z", "M 100 53 L 94 50 L 94 56 Z")
