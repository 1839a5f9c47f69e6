"""The figures of the manual, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import pymupdf

from tools.demo.figures.pen import ACCENT, WHITE, Rgb
from tools.demo.figures.pen import BLACK as INK

PALE: Rgb = (0.87, 0.9, 0.92)


class Label(Protocol):
    """Puts a short text centred on a point of the current page."""

    def __call__(self, x: float, y: float, text: str, colour: Rgb = INK, size: float = 7.6) -> None: ...


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


def _outline(page: pymupdf.Page, label: Label, x: float, y: float, width: float, height: float) -> None:
    page.draw_rect(
        pymupdf.Rect(x + 40, y + 20, x + width - 40, y + height - 20), color=INK, fill=PALE, radius=0.2
    )


Drawer = Callable[[pymupdf.Page, Label, float, float, float, float], None]
HEIGHTS = {
    "dashboard": 178.0, "cluster": 122.0, "key": 104.0, "lightswitch": 112.0, "wiperstalk": 112.0,
    "climate": 96.0, "enginebay": 186.0, "tyrelabel": 132.0, "jack": 132.0, "jumpstart": 146.0,
    "fusebox_bay": 118.0, "towing_eye": 122.0, "isofix": 132.0, "belt": 150.0, "airbagswitch": 96.0,
    "dimensions": 172.0, "plate": 112.0, "bootfloor": 142.0, "tread": 96.0,
}  # fmt: skip
#: figure name → (what draws it, its height in points)
DRAWINGS: dict[str, tuple[Drawer, float]] = {
    "stalk": (_stalk, 84.0), "dipstick": (_dipstick, 76.0), "fusebox": (_fusebox, 112.0),
    **{name: (_outline, height) for name, height in HEIGHTS.items()},
}  # fmt: skip
