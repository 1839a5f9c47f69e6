"""The picture on the cover."""

from __future__ import annotations

import pymupdf

from tools.demo.figures.pen import ACCENT, WHITE


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
