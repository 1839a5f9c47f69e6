"""Records as JSON objects and back, for the frames between client and worker.

orjson writes dataclasses as they are; only reading needs care, because tuples come back as lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.contracts.records import Box, Json, Offsets
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.types import (
    Difference,
    DocumentInfo,
    FoundSpan,
    PageImage,
    PageInfo,
    Place,
    SpanQuery,
)


def query_from(obj: Mapping[str, Json]) -> SpanQuery:
    """A `SpanQuery` that orjson wrote."""
    offsets, box = obj["offsets"], obj["box"]
    return SpanQuery(
        quote=obj["quote"],
        cited_page_idx=obj["cited_page_idx"],
        offsets=None if offsets is None else Offsets(**offsets),
        box=None if box is None else _box(box),
        box_space=obj["box_space"],
        before=obj["before"],
        after=obj["after"],
        cited_label=obj["cited_label"],
    )


def found_from(obj: Mapping[str, Json]) -> FoundSpan:
    """A `FoundSpan` that orjson wrote."""
    return FoundSpan(
        status=obj["status"],
        page_idx=obj["page_idx"],
        page_mismatch=obj["page_mismatch"],
        agreement=obj["agreement"],
        rects=_boxes(obj["rects"]),
        differences=tuple(Difference(**difference) for difference in obj["differences"]),
        alternatives=tuple(map(_place, obj["alternatives"])),
        continues=tuple(map(_place, obj["continues"])),
        note=obj["note"],
        box_agrees=obj["box_agrees"],
        unverified=_boxes(obj["unverified"]),
    )


def page_from(obj: Mapping[str, Json]) -> PageInfo:
    """A `PageInfo` that orjson wrote."""
    return PageInfo(**obj)


def page_image_from(header: Mapping[str, Json], data: bytes) -> PageImage:
    """A `PageImage` from the frame that a worker sent."""
    a, b, c, d, e, f = header["to_pixels"]
    words = ((_box(word[:4]), word[4]) for word in header.get("words", ()))
    return PageImage(
        data,
        header["width"],
        header["height"],
        page_from(header["page"]),
        (a, b, c, d, e, f),
        header["mime"],
        tuple(words),
    )


def document_from(obj: Mapping[str, Json]) -> DocumentInfo:
    """A `DocumentInfo` that orjson wrote."""
    return DocumentInfo(obj["page_count"], tuple(obj["labels"]))


def fault_from(obj: Mapping[str, str]) -> EvidenceFault:
    """An `EvidenceFault` from the `Problem` that a worker sent."""
    return EvidenceFault(Problem(**obj))


def _place(obj: Mapping[str, Json]) -> Place:
    return Place(obj["page_idx"], _boxes(obj["rects"]))


def _boxes(boxes: Sequence[Sequence[float]]) -> tuple[Box, ...]:
    return tuple(map(_box, boxes))


def _box(box: Sequence[float]) -> Box:
    x0, y0, x1, y1 = box
    return float(x0), float(y0), float(x1), float(y1)
