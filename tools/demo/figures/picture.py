"""The page that is only a picture."""

from __future__ import annotations

import pymupdf

from tools.demo.figures.pen import BLACK


def picture(name: str) -> bytes:
    """A full page, A5 at 150 dpi, as a grey PNG without text."""
    if name != "exterior":
        raise ValueError(f"there is no picture named {name!r}")
    document = pymupdf.open()
    page = document.new_page(width=420, height=595)
    page.draw_rect((40, 60, 380, 540), color=BLACK)
    return bytes(page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY).tobytes("png"))
