"""Files whose text is not what was meant: found, named, and read as UTF-8 on request.

Three kinds are read: UTF-16 and UTF-32, with or without a byte order mark; lines with bytes that are not
UTF-8, taken for Windows-1252; and text that was UTF-8 and was decoded with a code page, raw or in JSON
escapes (see `proofspan.mojibake`). Lines keep their numbers.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

import orjson

from proofspan.errors import InputFault, Problem
from proofspan.manifest.contents import wide_encoding
from proofspan.mojibake import Change, first_change, repaired
from proofspan.traces.lines.reader import BOM, MAX_LINE, open_source
from proofspan.wording import counted

#: The remedy in messages.
READ_FIXED: Final = (
    "Write the file as UTF-8, or let it be read repaired: --fix-encoding, in a manifest `fix_encoding: true`."
)
#: Bytes read at once.
_BLOCK = 1 << 20
#: How many bytes the encoding of a file is recognized by.
_HEAD = 4

#: Windows-1252, its five undefined bytes passed through.
_WINDOWS: Final = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
#: Damaged text has two characters outside ASCII side by side, as bytes or as escapes.
_SIDE_BY_SIDE = re.compile(rb"[\x80-\xbf](?:[\xc2-\xf4]|\\u)")
_ESCAPED = re.compile(rb"\\u[0-9A-Fa-f]{4}(?:[\xc2-\xf4]|\\u)")
_ESCAPES = re.compile(r"(?<!\\)(?P<before>(?:\\\\)*)(?P<run>(?:\\u[0-9A-Fa-f]{4})+)")


def fixed(pieces: Iterable[bytes], *, where: str) -> Iterator[bytes]:
    """Yield a file's content, given in pieces of any size, as UTF-8 lines with damaged text repaired.

    Raises InputFault for UTF-16 or UTF-32 that is damaged.
    """
    rest = iter(pieces)
    head = b""
    for piece in rest:
        head += piece
        if len(head) >= _HEAD:
            break
    whole = chain((head,), rest)
    encoding = wide_encoding(head)
    try:
        for line in _lines(whole if encoding is None else _narrow(whole, encoding)):
            yield fixed_line(line)
    except UnicodeDecodeError as error:
        message = f"the file begins as {encoding} and is not: {error.reason}"
        fix = "Write the file as UTF-8."
        raise InputFault.of("not_utf8", message, where=where, fix=fix) from error


def fixed_line(data: bytes) -> bytes:
    """Return a line as UTF-8 with damaged text repaired; the line itself if there is nothing to repair."""
    try:
        text = data.decode("utf-8")
        if change_in(data) is None:
            return data
    except UnicodeDecodeError:
        text = codecs.charmap_decode(data, "strict", _WINDOWS)[0]
    meant, encoding = repaired(_unescaped(text))
    return (text if encoding is None else meant).encode("utf-8")


def change_in(data: bytes) -> Change | None:
    """Return the first damaged word of a line; None without one, and for a line that is not UTF-8."""
    if _is_clean(data):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\\u" in text:
        try:  # as `_unescaped`, many times as fast
            text = orjson.dumps(orjson.loads(data)).decode("utf-8")
        except ValueError:
            text = _unescaped(text)
    return first_change(text)


def damage_of(path: Path, *, file: str) -> Problem | None:
    """Return the warning for a file with damaged text: how many lines, and the first; None without one.

    The file is read through, nearly as fast as it can be copied if it is ASCII. InputFault if it cannot be
    opened.
    """
    lines, first, count, found = 1, 0, 0, None
    with open_source(path) as source:
        for block in _whole_lines(iter(lambda: source.read(_BLOCK), b"")):
            if not _is_clean(block):
                for number, line in enumerate(block.split(b"\n"), start=lines):
                    if (change := change_in(line)) is not None:
                        count += 1
                        if found is None:
                            first, found = number, change
            lines += block.count(b"\n")
    if found is None:
        return None
    message = f"{counted(count, 'line')} with text that was decoded wrongly; first: {found}"
    return Problem("mojibake", message, f"{file}:{first}", READ_FIXED, severity="warning")


def _is_clean(data: bytes) -> bool:
    """Return whether bytes cannot hold damaged text."""
    is_plain = data.isascii() or _SIDE_BY_SIDE.search(data) is None
    return is_plain and (b"\\u" not in data or _ESCAPED.search(data) is None)


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces cut after line ends; the last one ends where the file does."""
    rest = b""
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut or len(rest) > MAX_LINE:  # no record has so long a line
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
    if rest:
        yield rest


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends; without a byte order mark."""
    is_first = True
    for block in _whole_lines(pieces):
        yield from io.BytesIO(block.removeprefix(BOM) if is_first else block)
        is_first = False


def _narrow(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    is_first = True
    for text in codecs.iterdecode(pieces, encoding):
        yield (text.removeprefix("\ufeff") if is_first else text).encode("utf-8")
        is_first = False


def _unescaped(text: str) -> str:
    """Return a line of JSON with its escapes of characters outside ASCII written out."""
    if "\\u" not in text:
        return text
    return _ESCAPES.sub(lambda found: found["before"] + _written_out(found["run"]), text)


def _written_out(run: str) -> str:
    chars: str = json.loads(f'"{run}"')
    return "".join(
        json.dumps(char)[1:-1] if char < "\x80" or "\ud800" <= char <= "\udfff" else char for char in chars
    )
