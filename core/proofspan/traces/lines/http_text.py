"""JSON in what an HTTP client saves: server-sent events, and bodies below headers or the output of curl.

The format of server-sent events is that of the HTML standard, section 9.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import orjson

from proofspan.traces.lines.reader import BOM

#: The most bytes of a body or a line.
MOST_BODY = 64 << 20
#: A line before a body: status or header, output of curl with its progress, a command, a comment, none.
_BEFORE = re.compile(rb"HTTP/[\d.]+ \d|[\w-]+: |[*<>{}]( |$)|\$ |curl |#|//|\s|[\d\r]|$")
_FIELD = re.compile(rb"(event|data|id|retry):[ ]?(.*)|:.*", re.DOTALL)
#: The first line of a body of JSON or of events. curl writes `{ [5 bytes data]` for what it receives.
_BODY = re.compile(rb"^(?![{}] \[\d+ bytes data\])(?:[{\[]|(?:event|data|id|retry)\s*:|:)", re.MULTILINE)
#: What curl writes below a body.
_AFTER = re.compile(rb"(?:\n[*<>{}] [^\n]*)+\s*\Z")
_DONE = b"[DONE]"


class Message(NamedTuple):
    """The data of an event, or a body, and the line where they begin, from 1.

    `event` is the name of an event, "" without one. `is_json` is False for data that are none.
    """

    line: int
    event: str
    data: bytes
    is_json: bool = True


def is_http_text(head: bytes) -> bool:
    """Return whether a file that begins so holds events, or a body with headers before it."""
    text = head.removeprefix(BOM).lstrip()
    body = _BODY.search(text)
    if body is None or text[:1] in (b"{", b"["):
        return False
    return all(_BEFORE.match(line) for line in text[: body.start()].split(b"\n"))


def http_messages(source: BinaryIO) -> Iterator[Message]:
    """Yield the events of a file, or its one body."""
    event, begin, data = "", 0, list[bytes]()
    is_in_body = False
    for number, raw in enumerate(iter(lambda: source.readline(MOST_BODY), b""), start=1):
        line = (raw.removeprefix(BOM) if number == 1 else raw).rstrip(b"\r\n")
        if not is_in_body and _BODY.match(line) is None:
            continue
        is_in_body = True
        if line[:1] in (b"{", b"[") and not data:
            yield Message(number, "", _AFTER.sub(b"", raw + source.read(MOST_BODY)))
            return
        field = _FIELD.match(line)
        if field is not None and field[1] == b"event":
            event = field[2].decode("utf-8", "replace").strip()
        elif field is not None and field[1] == b"data" and field[2].strip() != _DONE:
            begin = begin if data else number
            data.append(field[2])
        # Clients that keep lines alone leave out the empty one after an event.
        if data and (not line or (len(data) == 1 and _is_json(data[0]))):
            yield Message(begin, event, b"\n".join(data), _is_json(b"\n".join(data)))
            data.clear()
        if not line:
            event = ""
    if data:
        yield Message(begin, event, b"\n".join(data), _is_json(b"\n".join(data)))


def _is_json(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True
