"""The means of drawing figures: the manual's inks, callouts, measuring lines and arrows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pymupdf

from tools.demo.figures.lamps import TILE
from tools.demo.figures.pen import ACCENT, BLACK, WHITE, Ink, Pen, Rgb, Xy

#: The width that figures are drawn for, in points: the manual's column.
WIDTH = 332.0

GREY: Rgb = (0.42, 0.45, 0.49)
PALE: Rgb = (0.895, 0.915, 0.93)
MID: Rgb = (0.79, 0.83, 0.86)
DARK: Rgb = (0.27, 0.3, 0.34)
TINT: Rgb = (0.79, 0.885, 0.91)

#: A part of the car, its light and its darker side.
BOLD = Ink(fill=PALE, width=1.1)
BOLD_SHADE = Ink(fill=MID, width=1.1)
#: Smaller parts.
PANEL = Ink(fill=PALE)
PAPER = Ink(fill=WHITE)
SHADE = Ink(fill=MID)
SOLID = Ink(fill=DARK)
FINE = Ink(line=GREY, width=0.5)
SEAM = Ink(line=GREY, width=0.7)
HIDDEN = Ink(line=GREY, width=0.7, dashes="[2.4 1.8] 0")
ACCENTED = Ink(line=ACCENT, width=1.1)
SCREEN = Ink(fill=TILE)


class Label(Protocol):
    """Puts a short text centred on x, its baseline at y, on the current page."""

    def __call__(self, x: float, y: float, text: str, colour: Rgb = BLACK, size: float = 7.6) -> None: ...


@dataclass(frozen=True, slots=True)
class Sketch:
    """A figure while it is being drawn, in units of which the column is 332 wide."""

    pen: Pen
    label: Label
    scale: float

    def draw(self, ink: Ink, *paths: str) -> None:
        """Strokes in the figure's own units."""
        self.pen.draw(ink, *paths)

    def text(self, x: float, y: float, text: str, colour: Rgb = BLACK, size: float = 7.6) -> None:
        """A short text with its middle at (x, y)."""
        at = self.pen.at(x, y + 0.36 * size)
        self.label(at.x, at.y, text, colour, size * self.scale)

    def leader(self, x: float, y: float, target: Xy) -> None:
        """A thin line with a dot at its end, from (x, y) to what is meant."""
        line = f"M {x} {y} L {target[0]} {target[1]}"
        self.draw(Ink(line=WHITE, width=2.2), line)
        self.draw(Ink(line=ACCENT, width=0.7), line)
        self.draw(Ink(line=WHITE, fill=ACCENT, width=0.5), f"O {target[0]} {target[1]} 1.5")

    def callout(self, text: str, x: float, y: float, *targets: Xy, r: float = 6.4) -> None:
        """A number in a circle, or an empty circle for a symbol, with a leader to each place it names."""
        for target in targets:
            self.leader(x, y, target)
        self.draw(Ink(line=ACCENT, fill=WHITE, width=0.9), f"O {x} {y} {r}")
        if text:
            self.text(x, y, text, ACCENT, 7.4)

    def head(self, x: float, y: float, angle: float, *, size: float = 5.0, colour: Rgb = ACCENT) -> None:
        """An arrow's head with its tip at (x, y), pointing to `angle` degrees, clockwise from the right."""
        part = self.pen.moved(x, y, scale=size, turn=angle)
        part.draw(Ink(line=None, fill=colour), "M 0 0 L -1.3 -0.62 L -1.3 0.62 Z")

    def arrow(self, start: Xy, end: Xy, *, width: float = 1.6, colour: Rgb = ACCENT) -> None:
        """A straight arrow that shows a movement."""
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        neck = (end[0] - 5 * math.cos(angle), end[1] - 5 * math.sin(angle))
        self.draw(Ink(line=colour, width=width), f"M {start[0]} {start[1]} L {neck[0]:.2f} {neck[1]:.2f}")
        self.head(*end, math.degrees(angle), colour=colour)

    def turn(self, x: float, y: float, r: float, first: float, last: float) -> None:
        """An arrow along an arc, angles in degrees, clockwise from the right."""
        way = math.copysign(1.0, last - first)
        stop = last - way * math.degrees(5 / r)
        self.draw(Ink(line=ACCENT, width=1.6), f"A {x} {y} {r} {first} {stop:.2f}")
        tip = (x + r * math.cos(math.radians(last)), y + r * math.sin(math.radians(last)))
        self.head(*tip, last + way * (90 - math.degrees(2.5 / r)))

    def measure(self, start: Xy, end: Xy, text: str) -> None:
        """A measuring line with a head at each end and its text on a white gap in the middle."""
        self.draw(Ink(line=ACCENT, width=0.7), f"M {start[0]} {start[1]} L {end[0]} {end[1]}")
        angle = math.degrees(math.atan2(end[1] - start[1], end[0] - start[0]))
        self.head(*end, angle, size=4.4)
        self.head(*start, angle + 180, size=4.4)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        half = len(text) * 2.15 + 3
        self.draw(Ink(line=None, fill=WHITE), f"R {x - half} {y - 5} {x + half} {y + 5} 2")
        self.text(x, y, text, ACCENT, 7.6)


Drawer = Callable[[pymupdf.Page, Label, float, float, float, float], None]


def figure(strokes: Callable[[Sketch], None], tall: float) -> tuple[Drawer, float]:
    """Return the function that draws a figure, `tall` points high in the full column.

    In a narrower box the figure becomes smaller as a whole, in its middle.
    """

    def draw(page: pymupdf.Page, label: Label, x: float, y: float, width: float, height: float) -> None:
        scale = min(width / WIDTH, height / tall)
        left, top = x + (width - WIDTH * scale) / 2, y + (height - tall * scale) / 2
        pen = Pen(page, left, top, scale=scale)
        strokes(Sketch(pen, label, scale))
        pen.commit()

    return draw, tall
