"""The result for each hard span, as a record and as a picture.

`python -m tests.span_goldens [NAME…]` rewrites the goldens (all of them, or those named). Look at every
picture that has changed before it is committed: each box must lie on the words that the quote names.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import asdict
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from proofspan.contracts.records.records import Json
from proofspan.evidence.geometry import box_to_pixels
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import with_highlights
from proofspan.evidence.types import FoundSpan, Place
from tests.span_cases import CASES, GOLDENS, Case

DPI = 96
NUMBERS = re.compile(r"\[\s+(?:-?[\d.]+,?\s+)+(?=\])")
GREY = (110, 110, 110)


def locate(case: Case, pool: PdfPool, folder: Path) -> tuple[Path, FoundSpan]:
    """The case's document, made in `folder` or standing where it is, and what is found in it."""
    path = case.make(folder / f"{case.name}.pdf")
    return path, pool.locate(path, case.query)


def record(case: Case, found: FoundSpan) -> dict[str, Json]:
    """Return query and result as in the golden, without empty values."""
    asked = {name: value for name, value in asdict(case.query).items() if value not in (None, "")}
    kept = {name: value for name, value in asdict(found).items() if value not in (None, "", (), [])}
    return {"asked": asked, "found": _rounded(kept)}


def _rounded(value: Json) -> Json:
    """Coordinates to a tenth of a point, tuples as lists."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        if len(value) == 4 and all(isinstance(each, float) for each in value):
            return [round(each, 1) for each in value]
        return [_rounded(each) for each in value]
    return value


def text_of(value: dict[str, Json]) -> str:
    """A record as its file has it, boxes on one line."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return NUMBERS.sub(lambda found: " ".join(found.group().split()).replace("[ ", "["), text) + "\n"


def places(case: Case, found: FoundSpan) -> list[Place]:
    """Render the quote's pages; the cited page without a box if it was not found."""
    if found.page_idx is None:
        return [Place(case.query.cited_page_idx or 0, ())]
    own = Place(found.page_idx, found.rects)
    return sorted((own, *found.continues), key=lambda place: place.page_idx)


def picture(pool: PdfPool, path: Path, case: Case, found: FoundSpan) -> Image.Image:
    """The pages, one below the other, found boxes highlighted, and a grey frame around an unverified one."""
    drawn = []
    for place in places(case, found):
        image = pool.render(path, place.page_idx, dpi=DPI)
        page = Image.open(BytesIO(with_highlights(image, place.rects))).convert("RGB")
        for box in found.unverified:
            ImageDraw.Draw(page).rectangle(box_to_pixels(image.to_pixels, box), outline=GREY)
        drawn.append(page)
    whole = Image.new("RGB", (max(page.width for page in drawn), sum(page.height for page in drawn)))
    for number, page in enumerate(drawn):
        whole.paste(page, (0, sum(above.height for above in drawn[:number])))
    return whole


def difference(one: Image.Image, other: Image.Image) -> float:
    """How much two pictures of the same size differ, 0–255 a channel on average."""
    first, second = (np.asarray(each, dtype=np.int16) for each in (one, other))
    return float(np.abs(first - second).mean())


def main(names: list[str]) -> None:
    """Rewrite goldens."""
    with PdfPool(timeout_s=120) as pool, tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if not names or case.name in names:
                path, found = locate(case, pool, Path(folder))
                (GOLDENS / f"{case.name}.json").write_text(text_of(record(case, found)), encoding="utf-8")
                drawn = picture(pool, path, case, found)
                drawn.quantize(64).save(GOLDENS / f"{case.name}.png", optimize=True)
                print(f"{case.name}: {found.status}")


if __name__ == "__main__":
    main(sys.argv[1:])
