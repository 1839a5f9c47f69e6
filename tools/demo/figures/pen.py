"""The pen: draws paths that are written as short strings, so that a drawing is a table of strokes.

A path is a row of commands and numbers, in the units of its drawing, y downwards:

    M x y            begin at a point            L x y …            straight on, through every point
    C six numbers …  Bézier curves               Z                  back to where the subpath began
    O cx cy r …      circles                     E cx cy rx ry …    ellipses
    R x0 y0 x1 y1 r  a box with round corners    A cx cy r from to  an arc, degrees, clockwise from the right
    J cx cy r from to  such an arc, joined to the line before it

Where subpaths of one filled path lie inside each other, the inner one is a hole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

import pymupdf

Rgb = tuple[float, float, float]
Xy = tuple[float, float]

BLACK: Rgb = (0.13, 0.14, 0.16)
WHITE: Rgb = (1.0, 1.0, 1.0)
ACCENT: Rgb = (0.05, 0.33, 0.42)


@dataclass(frozen=True, slots=True)
class Ink:
    """How a path is drawn. Widths are points on the page, whatever the drawing's scale."""

    line: Rgb | None = BLACK
    fill: Rgb | None = None
    width: float = 0.9
    dashes: str | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A piece of a path: four Bézier points; a straight line is one with its handles on its ends."""

    points: tuple[Xy, Xy, Xy, Xy]
    straight: bool = False


class Pen:
    """Draws in units of its own: `matrix` takes them to points of the page."""

    def __init__(self, page: pymupdf.Page, x: float, y: float, *, scale: float = 1.0) -> None:
        self.shape = page.new_shape()
        self.matrix = pymupdf.Matrix(scale, 0, 0, scale, x, y)

    def moved(
        self, x: float, y: float, *, scale: float = 1.0, turn: float = 0.0, mirrored: bool = False
    ) -> Pen:
        """A pen for a part of the drawing: origin at (x, y), turned clockwise by `turn` degrees."""
        part = copy(self)
        across = -scale if mirrored else scale
        cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        part.matrix = (
            pymupdf.Matrix(across * cos, across * sin, -scale * sin, scale * cos, x, y) * self.matrix
        )
        return part

    def at(self, x: float, y: float) -> pymupdf.Point:
        """A point of the drawing, in points of the page."""
        return pymupdf.Point(x, y) * self.matrix

    def draw(self, ink: Ink, *paths: str) -> None:
        """Draws the paths with one ink, each filled and stroked for itself."""
        for path in paths:
            for curve in _curves(path):
                a, b, c, d = (self.at(*point) for point in curve.points)
                if curve.straight:
                    self.shape.draw_line(a, d)
                else:
                    self.shape.draw_bezier(a, b, c, d)
            self.shape.finish(
                color=ink.line,
                fill=ink.fill,
                width=ink.width if ink.line else 0,
                dashes=ink.dashes,
                lineCap=0 if ink.dashes else 1,
                lineJoin=1,
                closePath=False,
                even_odd=True,
            )

    def commit(self) -> None:
        """Puts all that was drawn on the page."""
        self.shape.commit()


def _curves(path: str) -> Iterator[Curve]:
    """The pieces of a path; pieces that touch are drawn as one line."""
    here = start = (0.0, 0.0)
    for command, numbers in _commands(path):
        if command == "M":
            here = start = (numbers[0], numbers[1])
        elif command == "Z":
            yield _line(here, start)
            here = start
        elif command == "L":
            for point in _pairs(numbers):
                yield _line(here, point)
                here = point
        elif command == "C":
            points = _pairs(numbers)
            for first in range(0, len(points), 3):
                a, b, c = points[first : first + 3]
                yield Curve((here, a, b, c))
                here = c
        else:
            pieces = list(_SHAPES[command](numbers))
            if command == "J":
                yield _line(here, pieces[0].points[0])
            else:
                start = pieces[0].points[0]
            yield from pieces
            here = pieces[-1].points[3]


def _commands(path: str) -> Iterator[tuple[str, list[float]]]:
    """The letters of a path, each with the numbers behind it."""
    command, numbers = "", []
    for word in path.split():
        if not word[0].isalpha():
            numbers.append(float(word))
            continue
        if command:
            yield command, numbers
        command, numbers = word, []
    yield command, numbers


def _pairs(numbers: list[float]) -> list[Xy]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _line(start: Xy, end: Xy) -> Curve:
    return Curve((start, start, end, end), straight=True)


def _arc(cx: float, cy: float, rx: float, ry: float, first: float, last: float) -> Iterator[Curve]:
    """An elliptic arc in pieces of a quarter at most; angles are degrees."""
    pieces = max(1, math.ceil(abs(last - first) / 90 - 1e-9))
    step = math.radians((last - first) / pieces)
    reach = 4 / 3 * math.tan(step / 4)
    angles = [math.radians(first) + step * number for number in range(pieces + 1)]
    for a, b in pairwise(angles):
        yield Curve(
            (
                (cx + rx * math.cos(a), cy + ry * math.sin(a)),
                (
                    cx + rx * (math.cos(a) - reach * math.sin(a)),
                    cy + ry * (math.sin(a) + reach * math.cos(a)),
                ),
                (
                    cx + rx * (math.cos(b) + reach * math.sin(b)),
                    cy + ry * (math.sin(b) - reach * math.cos(b)),
                ),
                (cx + rx * math.cos(b), cy + ry * math.sin(b)),
            )
        )


def _circles(numbers: list[float]) -> Iterator[Curve]:
    for first in range(0, len(numbers), 3):
        cx, cy, r = numbers[first : first + 3]
        yield from _arc(cx, cy, r, r, 0, 360)


def _ellipses(numbers: list[float]) -> Iterator[Curve]:
    for first in range(0, len(numbers), 4):
        cx, cy, rx, ry = numbers[first : first + 4]
        yield from _arc(cx, cy, rx, ry, 0, 360)


def _arcs(numbers: list[float]) -> Iterator[Curve]:
    cx, cy, r, first, last = numbers
    yield from _arc(cx, cy, r, r, first, last)


def _box(numbers: list[float]) -> Iterator[Curve]:
    x0, y0, x1, y1, r = numbers
    corners = ((x1 - r, y0 + r, -90), (x1 - r, y1 - r, 0), (x0 + r, y1 - r, 90), (x0 + r, y0 + r, 180))
    here = (x0 + r, y0)
    for cx, cy, angle in corners:
        arc = list(_arc(cx, cy, r, r, angle, angle + 90)) if r else []
        begin = arc[0].points[0] if arc else (cx, cy)
        yield _line(here, begin)
        yield from arc
        here = arc[-1].points[3] if arc else (cx, cy)
    yield _line(here, (x0 + r, y0))


_SHAPES = {"O": _circles, "E": _ellipses, "A": _arcs, "J": _arcs, "R": _box}
