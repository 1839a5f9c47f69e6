"""The protocol of client and worker: length-prefixed frames over a socket pair, a JSON header and raw bytes.

A frame is two big-endian 32-bit lengths, then the header (a JSON object) and the body (bytes, often none).
Nothing is ever unpickled: a worker that a hostile document took over could still only send data.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import orjson

T = TypeVar("T")

LENGTHS = struct.Struct("!II")
MAX_HEADER_BYTES = 64 * 1024 * 1024
MAX_BODY_BYTES = 256 * 1024 * 1024


class ConnectionEndedError(Exception):
    """The other side closed its end, or sent something that is not a frame."""


class DeadlineError(Exception):
    """No complete frame arrived before the deadline."""


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
        connection.sendall(b"".join((LENGTHS.pack(len(encoded), len(body)), encoded, body)))
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


def record_from(cls: Callable[..., T], obj: dict[str, Any]) -> T:
    """Return the dataclass that orjson wrote as `obj`: lists become tuples again, by the fields' types."""
    reader: Callable[[dict[str, Any]], T] = _reader(cls)
    return reader(obj)


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        fields = {name: _reader(each) for name, each in get_type_hints(hint).items()}
        return lambda obj: hint(**{name: read(obj[name]) for name, read in fields.items()})
    if origin is tuple and args[-1] is Ellipsis:
        read_item = _reader(args[0])
        return lambda items: tuple(map(read_item, items))
    if origin is tuple:
        return tuple
    if NoneType in args:
        read = _reader(next(each for each in args if each is not NoneType))
        return lambda value: None if value is None else read(value)
    return lambda value: value
