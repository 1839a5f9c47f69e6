"""A page's words as a flat record: what a worker sends of a page, and a row of a file of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from proofspan.contracts.records.records import Box, Json
from proofspan.evidence.text.page_text import PageText


def record_of(page: PageText) -> dict[str, Json]:
    """Return a page as lists of texts and numbers; boxes are four numbers each, in points.

    `lettered` are the numbers of the words whose characters have boxes, `characters` how many each has.
    Half a character, which only a broken font has, is replaced: neither JSON nor Parquet can encode it.
    """
    return {
        "words": [word.encode("utf-8", "replace").decode() for word in page.words],
        "boxes": list(chain.from_iterable(page.boxes)),
        "touching": list(page.touching),
        "width": page.width,
        "height": page.height,
        "rotation": page.rotation,
        "lettered": list(page.letters),
        "characters": [len(boxes) for boxes in page.letters.values()],
        "letters": [side for boxes in page.letters.values() for box in boxes for side in box],
    }


def page_of(record: Mapping[str, Any]) -> PageText:
    """Return the page of a record. ValueError, TypeError or LookupError for anything else."""
    words, boxes = tuple(map(str, record["words"])), _boxes(record["boxes"])
    touching = list(map(bool, record["touching"]))
    if not len(words) == len(boxes) == len(touching):
        raise ValueError(f"{len(words)} words have {len(boxes)} boxes")
    sides, letters, start = _boxes(record["letters"]), {}, 0
    for number, count in zip(record["lettered"], record["characters"], strict=True):
        letters[int(number)] = sides[start : start + count]
        start += count
    width, height = float(record["width"]), float(record["height"])
    return PageText(words, boxes, touching, width, height, int(record["rotation"]), letters)


def _boxes(sides: Sequence[float]) -> tuple[Box, ...]:
    numbers = iter(map(float, sides))
    return tuple(zip(numbers, numbers, numbers, numbers, strict=True))
