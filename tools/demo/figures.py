"""The manual's drawings: cover, signal signs, warning lamps and three figures, all plain vector shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pymupdf

Rgb = tuple[float, float, float]
INK: Rgb = (0.13, 0.14, 0.16)
WHITE: Rgb = (1.0, 1.0, 1.0)
RED: Rgb = (0.78, 0.09, 0.1)
AMBER: Rgb = (0.88, 0.55, 0.0)
ACCENT: Rgb = (0.05, 0.33, 0.42)
PALE: Rgb = (0.87, 0.9, 0.92)


class Label(Protocol):
    """Puts a short text centred on a point of the current page."""

    def __call__(self, x: float, y: float, text: str, colour: Rgb = INK, size: float = 7.6) -> None: ...


def cover(page: pymupdf.Page) -> None:
    """A field of colour, a road to the horizon and the outline of a car."""
    page.draw_rect(pymupdf.Rect(0, 0, 420, 500), color=None, fill=ACCENT)
    page.draw_rect(pymupdf.Rect(0, 390, 420, 500), color=None, fill=(0.04, 0.26, 0.33))
    for x in (20, 110, 200, 290, 380):
        page.draw_rect(pymupdf.Rect(x, 452, x + 48, 456), color=None, fill=(0.82, 0.86, 0.87))
    outline = [(70, 392), (78, 366), (128, 352), (170, 322), (262, 322), (306, 354), (344, 364), (352, 392)]
    page.draw_polyline([pymupdf.Point(p) for p in outline], color=WHITE, width=2.2, closePath=True)
    page.draw_polyline(
        [pymupdf.Point(p) for p in [(146, 352), (176, 330), (212, 330), (212, 352)]],
        color=WHITE,
        width=1.4,
        closePath=True,
    )
    page.draw_polyline(
        [pymupdf.Point(p) for p in [(220, 352), (220, 330), (257, 330), (286, 352)]],
        color=WHITE,
        width=1.4,
        closePath=True,
    )
    for x in (132, 294):
        page.draw_circle((x, 392), 24, color=WHITE, fill=(0.04, 0.26, 0.33), width=2.2)
        page.draw_circle((x, 392), 11, color=WHITE, width=1.4)
    page.draw_line((44, 196), (140, 196), color=WHITE, width=1.2)


def signal(page: pymupdf.Page, x: float, y: float, colour: Rgb, *, note: bool) -> None:
    """The sign in front of a signal word: a triangle with a bar, or a circle for a note."""
    if note:
        page.draw_circle((x, y), 5.2, color=colour, width=1.1)
    else:
        triangle = [pymupdf.Point(x - 6, y + 5), pymupdf.Point(x, y - 5.6), pymupdf.Point(x + 6, y + 5)]
        page.draw_polyline(triangle, color=colour, width=1.1, closePath=True)
    page.draw_line((x, y - 2.2), (x, y + 1.4), color=colour, width=1.2)
    page.draw_circle((x, y + 3.2), 0.7, color=colour, fill=colour)


def lamp(page: pymupdf.Page, name: str, x: float, y: float, *, amber: bool) -> None:
    """A warning lamp of about 16 points, centred on (x, y)."""
    colour = AMBER if amber else RED
    shape = page.new_shape()
    _LAMPS[name](shape, x, y)
    shape.finish(color=colour, width=1.3, closePath=False)
    shape.commit()


def _oil(shape: pymupdf.Shape, x: float, y: float) -> None:
    points = [
        (-9, -1),
        (-3, -1),
        (-3, -4),
        (1, -4),
        (1, -1),
        (4, -1),
        (8, -5),
        (9, -4),
        (4, 4),
        (-5, 4),
        (-5, 1),
        (-9, -1),
    ]
    shape.draw_polyline([pymupdf.Point(x + dx, y + dy) for dx, dy in points])
    shape.draw_circle(pymupdf.Point(x + 9, y + 1), 1.1)


def _battery(shape: pymupdf.Shape, x: float, y: float) -> None:
    shape.draw_rect(pymupdf.Rect(x - 9, y - 4, x + 9, y + 6))
    shape.draw_rect(pymupdf.Rect(x - 7, y - 6.5, x - 3, y - 4))
    shape.draw_rect(pymupdf.Rect(x + 3, y - 6.5, x + 7, y - 4))
    shape.draw_line(pymupdf.Point(x - 7, y + 1), pymupdf.Point(x - 3, y + 1))
    shape.draw_line(pymupdf.Point(x + 3, y + 1), pymupdf.Point(x + 7, y + 1))
    shape.draw_line(pymupdf.Point(x + 5, y - 1), pymupdf.Point(x + 5, y + 3))


def _brake(shape: pymupdf.Shape, x: float, y: float) -> None:
    shape.draw_circle(pymupdf.Point(x, y), 5.6)
    shape.draw_line(pymupdf.Point(x, y - 3), pymupdf.Point(x, y + 0.8))
    shape.draw_line(pymupdf.Point(x, y + 2.4), pymupdf.Point(x, y + 3))
    for side in (-1, 1):
        shape.draw_curve(
            pymupdf.Point(x + side * 5.5, y - 6),
            pymupdf.Point(x + side * 10.5, y),
            pymupdf.Point(x + side * 5.5, y + 6),
        )


def _temperature(shape: pymupdf.Shape, x: float, y: float) -> None:
    shape.draw_line(pymupdf.Point(x, y - 7), pymupdf.Point(x, y + 1))
    shape.draw_circle(pymupdf.Point(x, y + 2.5), 1.8)
    for dy in (-6, -3.6, -1.2):
        shape.draw_line(pymupdf.Point(x, y + dy), pymupdf.Point(x + 3.6, y + dy))
    wave = [(-8, 6), (-5.5, 4.6), (-3, 6), (0, 6.8), (3, 6), (5.5, 4.6), (8, 6)]
    shape.draw_polyline([pymupdf.Point(x + dx, y + dy) for dx, dy in wave])


def _tyre(shape: pymupdf.Shape, x: float, y: float) -> None:
    points = [(-5, -6), (-7, -1), (-7, 2), (-4, 5.5), (4, 5.5), (7, 2), (7, -1), (5, -6)]
    shape.draw_polyline([pymupdf.Point(x + dx, y + dy) for dx, dy in points])
    for dx in (-4, -1.4, 1.4, 4):
        shape.draw_line(pymupdf.Point(x + dx, y + 5.5), pymupdf.Point(x + dx, y + 7.4))
    shape.draw_line(pymupdf.Point(x, y - 4), pymupdf.Point(x, y + 0.8))
    shape.draw_line(pymupdf.Point(x, y + 2.6), pymupdf.Point(x, y + 3.2))


def _engine(shape: pymupdf.Shape, x: float, y: float) -> None:
    points = [
        (-6, -3),
        (-3, -3),
        (-3, -5),
        (-5, -5),
        (2, -5),
        (0, -5),
        (0, -3),
        (4, -3),
        (6, 0),
        (8, 0),
        (8, -2),
        (9.5, -2),
        (9.5, 5),
        (8, 5),
        (8, 3),
        (6, 3),
        (4, 5.5),
        (-3, 5.5),
        (-6, 3),
        (-6, 0),
        (-8.5, 0),
        (-8.5, 3),
        (-8.5, -3),
        (-8.5, 0),
        (-6, 0),
        (-6, -3),
    ]
    shape.draw_polyline([pymupdf.Point(x + dx, y + dy) for dx, dy in points])


_LAMPS: dict[str, Callable[[pymupdf.Shape, float, float], None]] = {
    "oil": _oil,
    "battery": _battery,
    "brake": _brake,
    "temperature": _temperature,
    "tyre": _tyre,
    "engine": _engine,
}


def _stalk(page: pymupdf.Page, label: Label, x: float, y: float, width: float, height: float) -> None:
    middle = y + height / 2
    page.draw_rect(
        pymupdf.Rect(x + 40, middle - 13, x + width - 60, middle + 13),
        color=INK,
        fill=PALE,
        width=1.1,
        radius=0.4,
    )
    page.draw_rect(
        pymupdf.Rect(x + width - 60, middle - 22, x + width - 24, middle + 22),
        color=INK,
        fill=(0.8, 0.84, 0.86),
        width=1.1,
        radius=0.2,
    )
    for position, text in enumerate(("ON", "SET", "RES", "+", "−")):
        centre = x + 72 + position * 42
        page.draw_circle((centre, middle), 10, color=INK, fill=WHITE, width=0.9)
        label(centre, middle + 2.7, text)


def _dipstick(page: pymupdf.Page, label: Label, x: float, y: float, width: float, height: float) -> None:
    middle = y + height / 2 + 4
    left, low, high, right = x + 36, x + 120, x + 210, x + width - 36
    page.draw_rect(
        pymupdf.Rect(left, middle - 4, right, middle + 4), color=INK, fill=WHITE, width=1.0, radius=0.4
    )
    page.draw_rect(
        pymupdf.Rect(low, middle - 4, high, middle + 4), color=INK, fill=(0.84, 0.68, 0.3), width=1.0
    )
    for mark, name in ((low, "MIN"), (high, "MAX")):
        page.draw_line((mark, middle - 12), (mark, middle + 8), color=INK, width=1.2)
        label(mark, middle - 15, name)
    for centre, name in (((left + low) / 2, "C"), ((low + high) / 2, "B"), ((high + right) / 2, "A")):
        label(centre, middle + 20, name, ACCENT, 9)


def _fusebox(page: pymupdf.Page, label: Label, x: float, y: float, width: float, height: float) -> None:
    columns, rows, gap = 8, 3, 5.0
    cell = ((width - 60) / columns, (height - 22) / rows)
    colours = {
        3: (0.45, 0.68, 0.9),
        7: (0.9, 0.4, 0.35),
        12: (0.95, 0.85, 0.35),
        18: (0.72, 0.5, 0.32),
        21: (0.93, 0.93, 0.93),
        24: (0.5, 0.76, 0.5),
    }
    for number in range(1, columns * rows + 1):
        row, column = divmod(number - 1, columns)
        x0, y0 = x + 30 + column * cell[0], y + 12 + row * cell[1]
        rect = pymupdf.Rect(x0, y0, x0 + cell[0] - gap, y0 + cell[1] - gap)
        page.draw_rect(rect, color=INK, fill=colours.get(number, WHITE), width=0.8, radius=0.15)
        label((rect.x0 + rect.x1) / 2, (rect.y0 + rect.y1) / 2 + 2.6, f"F{number}")


#: figure name → (what draws it, its height in points)
DRAWINGS: dict[str, tuple[Callable[[pymupdf.Page, Label, float, float, float, float], None], float]] = {
    "stalk": (_stalk, 66),
    "dipstick": (_dipstick, 66),
    "fusebox": (_fusebox, 92),
}
