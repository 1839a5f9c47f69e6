"""How a client and its worker talk: length-prefixed frames over a socket pair, a JSON header and raw bytes.

A frame is two big-endian 32-bit lengths, then the header (a JSON object) and the body (bytes, often none).
Nothing is ever unpickled: a worker that a hostile document took over could still only send data.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from proofspan.contracts.records.records import Box, Json, Offsets
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

LENGTHS = struct.Struct("!II")
MAX_HEADER_BYTES = 64 * 1024 * 1024
MAX_BODY_BYTES = 256 * 1024 * 1024


class ConnectionEndedError(Exception):
    """The other side closed its end, or sent what is no frame."""


class DeadlineError(Exception):
    """No complete frame came before the deadline."""


class NotSendableError(Exception):
    """The header holds what JSON cannot: half a character (a lone surrogate), a number beyond 64 bits."""


def send_frame(
    connection: socket.socket, header: object, body: bytes = b"", *, deadline: float | None = None
) -> None:
    """Send one frame; `deadline` is a `time.monotonic()` value.

    Raises as `receive_frame` does, and `NotSendableError` before anything is sent.
    """
    try:
        encoded = orjson.dumps(header)
    except orjson.JSONEncodeError as error:
        raise NotSendableError(str(error)) from error
    try:
        connection.settimeout(_remaining(deadline))
        connection.sendall(LENGTHS.pack(len(encoded), len(body)) + encoded)
        if body:
            connection.settimeout(_remaining(deadline))
            connection.sendall(body)
    except TimeoutError as error:
        raise DeadlineError from error
    except OSError as error:
        raise ConnectionEndedError(str(error)) from error


def receive_frame(
    connection: socket.socket, *, deadline: float | None = None
) -> tuple[dict[str, Any], bytes]:
    """Receive one frame. Raises `ConnectionEndedError` or, past the deadline, `DeadlineError`."""
    header_length, body_length = LENGTHS.unpack(_receive(connection, LENGTHS.size, deadline))
    if header_length > MAX_HEADER_BYTES or body_length > MAX_BODY_BYTES:
        raise ConnectionEndedError(f"a frame of {header_length} + {body_length} bytes is refused")
    try:
        header = orjson.loads(_receive(connection, header_length, deadline))
    except orjson.JSONDecodeError as error:
        raise ConnectionEndedError("the header is not JSON") from error
    if not isinstance(header, dict):
        raise ConnectionEndedError("the header is not an object")
    return header, bytes(_receive(connection, body_length, deadline))


def _receive(connection: socket.socket, length: int, deadline: float | None) -> bytearray:
    """Exactly `length` bytes."""
    data = bytearray(length)
    view, received = memoryview(data), 0
    try:
        while received < length:
            connection.settimeout(_remaining(deadline))
            count = connection.recv_into(view[received:])
            if count == 0:
                raise ConnectionEndedError("the other side is gone")
            received += count
    except TimeoutError as error:
        raise DeadlineError from error
    except OSError as error:
        raise ConnectionEndedError(str(error)) from error
    return data


def _remaining(deadline: float | None) -> float | None:
    """Seconds until the deadline, None for no limit; raises `DeadlineError` once it has passed."""
    if deadline is None:
        return None
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise DeadlineError
    return seconds


# Records as JSON objects and back, for the frames between client and worker.
#
# orjson writes dataclasses as they are; only reading needs care, because tuples come back as lists.


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
