"""The signs in front of the signal words."""

from __future__ import annotations

import pymupdf

from tools.demo.figures.pen import Rgb


def signal(page: pymupdf.Page, x: float, y: float, colour: Rgb, *, note: bool) -> None:
    """The sign in front of a signal word: a triangle with a bar, or a circle for a note."""
    if note:
        page.draw_circle((x, y), 5.2, color=colour, width=1.1)
    else:
        triangle = [pymupdf.Point(x - 6, y + 5), pymupdf.Point(x, y - 5.6), pymupdf.Point(x + 6, y + 5)]
        page.draw_polyline(triangle, color=colour, width=1.1, closePath=True)
    page.draw_line((x, y - 2.2), (x, y + 1.4), color=colour, width=1.2)
    page.draw_circle((x, y + 3.2), 0.7, color=colour, fill=colour)
