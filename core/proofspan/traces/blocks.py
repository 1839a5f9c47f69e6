"""JSONL bytes → whole lines, many at a time: for a pass that looks at every line and keeps none.

`proofspan.traces.reader` gives each line its place in the file; where only the line's number is asked for,
and a million lines pass, this takes half the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from proofspan.traces import reader
from proofspan.traces.reader import RawLine, open_source

BOM = b"\xef\xbb\xbf"
_SIZE = 1 << 20


class Block(NamedTuple):
    """Consecutive lines without their LF, blank ones included; the first is number `line`.

    `data` are their bytes, LF between them; `end` is the place in the file behind them. `overlong` tells of a
    single line longer than is read, of which `lines` has the beginning.
    """

    line: int
    lines: list[bytes]
    data: bytes
    end: int
    overlong: RawLine | None = None


def read_blocks(
    path: Path, *, offset: int = 0, line: int = 1, end: int | None = None, final: bool = False
) -> Iterator[Block]:
    """Every line of `path`, in order; the arguments are those of `proofspan.traces.reader.read_lines`.

    A CR before the LF stays, a byte order mark is left out. A last line without its line end is given only
    when `final`. InputFault where the file cannot be opened.
    """
    with open_source(path) as file:
        file.seek(offset)
        limit = (1 << 62) if end is None else end
        position = offset  # of `rest`, which holds a line's beginning
        rest = b""
        while data := file.read(min(_SIZE, limit - position - len(rest))):
            rest += data
            if len(rest) > reader.MAX_LINE and rest.find(b"\n", 0, reader.MAX_LINE + 2) < 0:
                overlong, passed, rest = _pass_line(file, rest, position, line, limit, final=final)
                if overlong is None:
                    return
                position += passed
                yield Block(line, [overlong.data], overlong.data, position, overlong)
                line += 1
            if (cut := rest.rfind(b"\n")) >= 0:
                whole, rest = _unmarked(rest[:cut], position), rest[cut + 1 :]
                lines, position = whole.split(b"\n"), position + cut + 1
                yield Block(line, lines, whole, position)
                line += len(lines)
        if rest and final:
            last = _unmarked(rest, position)
            yield Block(line, [last], last, position + len(rest))


def _unmarked(data: bytes, position: int) -> bytes:
    return data.removeprefix(BOM) if position == 0 else data


def _pass_line(
    file: BinaryIO, rest: bytes, start: int, line: int, limit: int, *, final: bool
) -> tuple[RawLine | None, int, bytes]:
    """Reads on to the end of an overlong line without keeping it.

    Its beginning, how many bytes it has with its line end, and what was read beyond it; None for a last line
    that its writer has not finished.
    """
    head, found, beyond = rest[: 4 * reader.EXCERPT], rest.find(b"\n"), b""
    if found >= 0:
        rest, beyond = rest[: found + 1], rest[found + 1 :]
    passed, tail = len(rest), rest[-2:]
    while not tail.endswith(b"\n"):
        data = file.readline(min(_SIZE, limit - start - passed))
        if not data:
            break
        passed, tail = passed + len(data), (tail + data)[-2:]
    if not (final or tail.endswith(b"\n")):
        return None, passed, beyond
    length = passed - len(tail) + len(tail.rstrip(b"\r\n"))
    return RawLine(line, start, length, head), passed, beyond
