"""The Meridian's outlines from the side, from the front and from behind, in centimetres of the real car.

The ground is y = 0, up is negative. From the side the front is on the left at x = 0, the rear at 426.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.demo.figures.pen import BLACK, WHITE, Ink, Pen, Rgb

FRONT_AXLE, REAR_AXLE, LENGTH = 85.8, 349.4, 426.8
HEIGHT, CLEARANCE, WHEEL = 146.2, 13.8, 31.6

_BODY = (
    "M 9 -23 C 3 -30 0.8 -40 0.8 -54 C 0.8 -66 4 -74 13 -79 C 44 -90 84 -97 116 -100 "
    "C 142 -121 168 -136 200 -141.5 C 232 -147.6 300 -148 352 -139.5 L 391 -133.4 L 389 -129.6 "
    "C 397 -122 404 -112 409 -101 C 417 -97 422 -90 423 -80 C 425.6 -70 427 -58 426.4 -46 "
    "C 426 -34 421 -26 412 -23 L 384 -20 J 349.4 -31.6 36.5 18.5 -198.5 L 120.4 -18 "
    "J 85.8 -31.6 36.5 18.5 -198.5 Z"
)
_ARCHES = "A 85.8 -31.6 37 -199 19 Z M 120 -20 L 130 -13.8 L 306 -13.8 L 316 -20 Z"
_ARCH_REAR = "A 349.4 -31.6 37 -199 19"
_GLASS = (
    "M 133 -101.6 C 156 -119 176 -130 202 -135.6 C 216 -138 226 -139 233 -139.4 L 235 -102.8 Z "
    "M 239 -139.6 C 274 -140.6 308 -139 338 -133.6 C 346 -128 352 -120 357 -111.6 "
    "C 350 -108.6 344 -107 334 -106 "
    "L 241 -103 Z"
)
_SEAMS = (
    "M 122 -99.6 C 119 -80 122 -46 131 -24 L 236 -24 M 236 -139 L 238 -103 "
    "C 241 -80 241 -50 236 -24 L 306 -24 "
    "M 334 -134 C 352 -124 360 -112 360 -108 C 352 -90 344 -78 330 -68 C 318 -58 311 -46 306 -24 "
    "M 389 -129.6 L 370 -131 C 376 -120 384 -110 392 -99 M 412 -56 "
    "C 406 -58 400 -64 398 -74 M 352 -139.5 L 370 -131 "
    "M 122 -99.6 C 100 -97 80 -93 62 -88"
)
_CREASE = (
    "M 62 -82 C 142 -88 304 -93 378 -91 M 132 -36 C 186 -41 256 -41 306 -36 M 2.6 -44 L 30 -41 L 44 -50 "
    "M 424 -50 L 394 -47"
)
_LAMPS = (
    "M 8.4 -73.6 C 24 -82 44 -86.4 62 -88.4 C 57 -80 40 -74 9 -68 Z "
    "M 410 -100.4 C 402 -100 392 -98 384 -93 C 394 -86 410 -83 423.4 -82 C 422 -91 418 -97 410 -100.4 Z"
)
_TRIM = (
    "R 209 -91 230 -86.4 2 R 318 -93 339 -88.4 2 "
    "M 141 -103 C 137 -112 143 -117 153 -116 L 161 -114 C 163 -108 159 -103 155 -102 Z"
)

_FACE = (
    "M 0 -145 C 26 -145 44 -143 51 -139 C 61 -128 69 -113 74 -101 "
    "C 84 -97 88.6 -88 89 -76 C 90 -60 90 -36 85 -19 L 60 -15 L 0 -15"
)
_SCREEN = "M 0 -139 C 24 -139 40 -138 47 -135 C 55 -126 62 -114 66 -104 C 44 -101 20 -100 0 -100"
_TAIL_GLASS = "M 0 -137 C 24 -137 40 -136 46 -133 C 52 -124 57 -114 60 -106 C 40 -103 20 -102 0 -102"
_MIRROR = "M 74 -105 L 80 -108 C 84 -115 96 -115 98 -110 C 99 -105 96 -100 88 -99 L 78 -101 Z"
_TYRE = "M 62 -30 L 62 -4 C 62 -1 64 0 66 0 L 80 0 C 83 0 84 -2 84 -5 L 84 -30 Z"


@dataclass(frozen=True, slots=True)
class Paint:
    """The inks of one picture of the car; `line` is the outline's width in points."""

    body: Rgb | None
    glass: Rgb | None
    tyre: Rgb
    rim: Rgb
    lamp: Rgb
    ink: Rgb = BLACK
    line: float = 1.1

    def strong(self, fill: Rgb | None = None) -> Ink:
        """The outlines."""
        return Ink(line=self.ink, fill=fill, width=self.line)

    def fine(self, fill: Rgb | None = None) -> Ink:
        """Seams and small parts."""
        return Ink(line=self.ink, fill=fill, width=self.line * 0.5)


PRINT = Paint((0.895, 0.915, 0.93), (0.68, 0.74, 0.78), (0.27, 0.3, 0.34), WHITE, WHITE)


def side(pen: Pen, paint: Paint) -> None:
    """Draw the car from its left side, with its wheels on the pen's y = 0."""
    pen.draw(Ink(line=None, fill=paint.tyre), _ARCHES, _ARCH_REAR)
    pen.draw(paint.strong(paint.body), _BODY)
    pen.draw(paint.fine(paint.glass), _GLASS)
    pen.draw(paint.fine(), _SEAMS, _CREASE)
    pen.draw(paint.fine(paint.lamp), _LAMPS)
    pen.draw(paint.fine(paint.body), _TRIM)
    for axle in (FRONT_AXLE, REAR_AXLE):
        wheel(pen.moved(axle, -WHEEL), paint)


def wheel(pen: Pen, paint: Paint) -> None:
    """A wheel with five twin spokes around the pen's origin."""
    pen.draw(paint.strong(paint.tyre), f"O 0 0 {WHEEL}")
    pen.draw(paint.fine(paint.rim), "O 0 0 23.4")
    for spoke in range(5):
        part = pen.moved(0, 0, turn=72 * spoke)
        part.draw(Ink(line=None, fill=paint.tyre), "M 5.8 -4.6 L 13.4 -16 C 16.8 -13.4 19.4 -9.4 20.4 -5 Z")
        part.draw(Ink(line=None, fill=paint.tyre), "M 8 0.2 L 20.9 -1.2 C 21 2 20.5 4.6 19.6 7 Z")
    pen.draw(paint.fine(paint.rim), "O 0 0 5.4")


def front(pen: Pen, paint: Paint) -> None:
    """The car from the front, its middle at x = 0."""
    halves = (pen, pen.moved(0, 0, mirrored=True))
    for half in halves:
        half.draw(paint.strong(paint.tyre), _TYRE)
        half.draw(paint.strong(paint.body), _MIRROR)
    _both(halves, paint, _FACE, _SCREEN)
    for half in halves:
        half.draw(
            paint.fine(paint.lamp),
            "M 84 -82 C 72 -80 56 -76 44 -70 C 52 -66 70 -64 86 -66 C 86.6 -72 86 -78 84 -82 Z",
        )
        half.draw(paint.fine(paint.tyre), "M 84 -46 L 62 -44 C 60 -40 62 -34 64 -32 L 82 -36 Z")
        half.draw(paint.fine(paint.lamp), "O 72 -40 3.6")
        half.draw(
            paint.fine(), "M 66 -101 C 60 -92 50 -84 44 -74 M 0 -84 C 20 -84 36 -80 44 -72 M 14 -60 L 40 -62"
        )
    pen.draw(paint.fine(paint.tyre), "M -42 -68 C -20 -64 20 -64 42 -68 L 38 -58 C 20 -55 -20 -55 -38 -58 Z")
    pen.draw(paint.fine(paint.tyre), "M -52 -46 L 52 -46 L 46 -31 L -46 -31 Z")
    pen.draw(paint.fine(paint.lamp), "R -26 -50 26 -39 1.6")
    pen.draw(paint.fine(paint.rim), "O 0 -74 4.6 M -3.4 -73 L 0 -77 L 3.4 -73")
    pen.draw(paint.fine(paint.body), "R -60 -56 -49 -46 2")
    pen.draw(paint.strong(), "M -46 -103 L -6 -107 M 4 -103 L 44 -108")


def rear(pen: Pen, paint: Paint) -> None:
    """The car from behind, its middle at x = 0."""
    halves = (pen, pen.moved(0, 0, mirrored=True))
    for half in halves:
        half.draw(paint.strong(paint.tyre), _TYRE)
        half.draw(paint.strong(paint.body), _MIRROR)
    _both(halves, paint, _FACE, _TAIL_GLASS)
    for half in halves:
        half.draw(
            paint.fine(paint.lamp),
            "M 76 -99 C 66 -98 52 -92 46 -86 C 56 -80 74 -78 88 -80 C 87 -88 83 -96 76 -99 Z",
        )
        half.draw(paint.fine(), "M 58 -86 L 57 -79")
        half.draw(paint.fine(), "M 46 -133 C 56 -122 62 -110 64 -100 M 62 -79 C 62 -68 60 -60 56 -54 L 0 -53")
        half.draw(paint.fine(paint.tyre), "M 86 -40 L 66 -40 L 66 -35 L 84 -35 Z")
    pen.draw(paint.fine(paint.lamp), "R -26 -84 26 -73 1.6")
    pen.draw(paint.fine(paint.tyre), "M -56 -32 L 56 -32 L 52 -22 L -52 -22 Z R -10 -89 10 -86 1")
    pen.draw(paint.strong(), "M 0 -102 L -30 -112")
    pen.draw(paint.fine(paint.rim), "O 0 -96 4 M -3 -95 L 0 -98.4 L 3 -95")


def _both(halves: tuple[Pen, Pen], paint: Paint, outline: str, glass: str) -> None:
    """Fill both halves before their outlines are drawn, so that there is no seam in the middle."""
    for path, fill, ink in ((outline, paint.body, paint.strong()), (glass, paint.glass, paint.fine())):
        for half in halves:
            if fill:
                half.draw(Ink(line=fill, fill=fill, width=0.6), path + " Z")
        for half in halves:
            half.draw(ink, path)
