"""The picture on the cover: hills in the morning, a road that winds into them, and the car."""

from __future__ import annotations

import pymupdf

from tools.demo.figures import car
from tools.demo.figures.pen import ACCENT, WHITE, Ink, Pen, Rgb

#: The picture is 420 wide and ends here; below it the paper stays white for the year.
_BOTTOM = 500.0
_HORIZON = 372.0
_DAWN: Rgb = (0.8, 0.89, 0.86)
_BANDS = 93

#: from the farthest to the nearest
_HILLS: tuple[tuple[Rgb, str], ...] = (
    ((0.47, 0.66, 0.68), "M 0 316 C 40 296 76 288 112 300 C 152 312 176 282 214 272 "
     "C 262 260 300 296 340 292 C 372 288 396 274 420 270 L 420 400 L 0 400 Z"),
    ((0.31, 0.54, 0.58), "M 0 340 C 60 352 108 318 160 322 C 214 326 236 348 286 336 "
     "C 336 324 372 318 420 330 L 420 430 L 0 430 Z"),
    ((0.18, 0.43, 0.49), "M 0 376 C 70 352 130 360 190 374 C 260 390 340 376 420 352 L 420 460 L 0 460 Z"),
    ((0.09, 0.34, 0.41), "M 0 400 C 90 396 150 414 240 412 C 310 410 370 398 420 402 L 420 480 L 0 480 Z"),
)  # fmt: skip
#: the road over the hills: down one of its edges and up the other
_ROAD = (
    "M 341.6 325.6 C 338 342 298 344 298 357 C 298 370 390 370 390 381 C 390 391 334 392 335 402 "
    "C 336 412 386 414 420 421 L 420 435 C 384 420 349 410 349 402 C 349 396 401 394 401 382 "
    "C 401 369 306 367 306 357 C 306 347 343 343 344.4 325.2 Z"
)
_TARMAC: Rgb = (0.8, 0.87, 0.86)


def cover(page: pymupdf.Page) -> None:
    """Draws the picture; title and year are set by the typesetter."""
    pen = Pen(page, 0, 0)
    _sky(pen)
    for colour, hill in _HILLS:
        pen.draw(Ink(line=None, fill=colour), hill)
    pen.draw(Ink(line=None, fill=_TARMAC), _ROAD)
    _street(pen)
    paint = car.Paint(
        body=(0.95, 0.96, 0.96), glass=(0.2, 0.36, 0.42), tyre=(0.1, 0.13, 0.15), rim=(0.86, 0.89, 0.9),
        lamp=(0.8, 0.88, 0.9), ink=(0.05, 0.16, 0.2), line=1.2,
    )  # fmt: skip
    car.side(pen.moved(374, 470, scale=0.76, mirrored=True), paint)
    pen.draw(Ink(line=WHITE, width=1.2), "M 44 206 L 140 206")
    pen.commit()


def _sky(pen: Pen) -> None:
    """From the book's own colour above to a pale dawn at the horizon, in narrow bands, with the sun."""
    step = _HORIZON / _BANDS
    for band in range(_BANDS):
        share = max(0.0, (band / _BANDS - 0.3) / 0.7) ** 1.5
        colour = tuple(round(a + (b - a) * share, 4) for a, b in zip(ACCENT, _DAWN, strict=True))
        y = band * step
        pen.draw(Ink(line=None, fill=colour), f"R 0 {y:.2f} 420 {y + step + 0.4:.2f} 0")
    pen.draw(Ink(line=None, fill=(0.97, 0.94, 0.84)), "O 322 274 23")


def _street(pen: Pen) -> None:
    """The road in front, with the car's shadow and the broken line along its middle."""
    pen.draw(Ink(line=None, fill=(0.04, 0.25, 0.31)), f"R 0 438 420 {_BOTTOM} 0")
    pen.draw(Ink(line=None, fill=(0.13, 0.19, 0.22)), f"R 0 446 420 {_BOTTOM} 0")
    pen.draw(Ink(line=None, fill=(0.55, 0.62, 0.64)), "R 0 448 420 449.4 0")
    pen.draw(Ink(line=None, fill=(0.08, 0.12, 0.14)), "E 212 471 168 5")
    for x in (-24, 66, 156, 246, 336):
        pen.draw(
            Ink(line=None, fill=(0.86, 0.89, 0.88)),
            f"M {x + 6} 486 L {x + 58} 486 L {x + 54} 490 L {x} 490 Z",
        )
