"""Draw a sheet of our own in a worker process: one PDF page, or a PNG of it.

The fonts are MuPDF's own; nothing is loaded from anywhere.
"""

from __future__ import annotations

import html
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import pymupdf

from proofspan.contracts.records.records import Json
from proofspan.evidence.pdf.png import encode_png

MUPDF: Any = pymupdf  # its Python half carries no types


def drawn(step: Mapping[str, Any]) -> tuple[dict[str, Json], bytes]:
    """Return the header and the bytes of a drawing as `step["to"]`, "pdf" or "png" at `step["dpi"]`."""
    drawing = step["drawing"]
    with MUPDF.open() as pdf:
        page = pdf.new_page(width=drawing["width"], height=drawing["height"])
        for item in drawing["items"]:
            _DRAW[item["kind"]](page, item)
        if step["to"] == "png":
            pixels = page.get_pixmap(dpi=round(step["dpi"]), colorspace=MUPDF.csRGB, alpha=False)
            body = encode_png(pixels.samples_mv, pixels.width, pixels.height)
            return {"width": pixels.width, "height": pixels.height, "mime": "image/png"}, body
        pdf.set_metadata({"title": drawing["title"]})
        pdf.subset_fonts()
        body = pdf.tobytes(garbage=4, deflate=True, no_new_id=True)
    return {"width": round(drawing["width"]), "height": round(drawing["height"]), "mime": "image/png"}, body


def _panel(page: Any, item: Mapping[str, Any]) -> None:
    rect = MUPDF.Rect(item["box"])
    radius = min(0.5, item["radius"] / max(1.0, min(rect.width, rect.height))) if item["radius"] else None
    page.draw_rect(
        rect,
        color=_colour(item["line"]),
        fill=_colour(item["fill"]),
        width=item["line_width"] if item["line"] else 0,
        radius=radius,
        fill_opacity=item["opacity"],
    )


def _colour(text: str) -> tuple[float, ...] | None:
    return tuple(int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)) if text else None


def _words(page: Any, item: Mapping[str, Any]) -> None:
    body = "".join(f"<p>{''.join(map(_run, runs))}</p>" for runs in item["paragraphs"])
    css = (
        f"* {{font-family: sans-serif; font-size: {item['size']}px; line-height: {item['leading']}px}}"
        f"p {{margin: 0 0 {item['gap']}px 0; text-align: {item['align']}}}"
    )
    page.insert_htmlbox(MUPDF.Rect(item["box"]), body, css=css, scale_low=0)


def _run(run: Mapping[str, Any]) -> str:
    size = f";font-size: {run['size']}px" if run["size"] else ""
    weight = "bold" if run["bold"] else "normal"
    style = f"color: {run['colour']};font-weight: {weight}{size}"
    return f'<span style="{html.escape(style)}">{html.escape(run["text"])}</span>'


def _inset(page: Any, item: Mapping[str, Any]) -> None:
    page.insert_image(MUPDF.Rect(item["box"]), stream=b64decode(item["data"]), keep_proportion=True)


_DRAW = {"panel": _panel, "words": _words, "inset": _inset}
