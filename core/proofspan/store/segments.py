"""Cutting a source into the ranges whose lines become a segment each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20
_SMALLEST, _LARGEST = 4 << 20, 128 << 20
#: A file is cut into about this many segments, so that two processes finish together.
_PIECES = 32


@dataclass(frozen=True, slots=True)
class Range:
    """The bytes `[start, end)` of a source, both at a line's beginning; the first line is number `line`."""

    start: int
    end: int
    line: int
    lines: int


def segment_bytes(size: int) -> int:
    """How many bytes of a source of `size` bytes one segment covers: a power of two, 4 to 128 MiB."""
    wanted = _SMALLEST
    while wanted < _LARGEST and wanted * _PIECES < size:
        wanted *= 2
    return wanted


def cut(path: Path, *, start: int, line: int, end: int, target: int, final: bool = False) -> Iterator[Range]:
    """Cuts `[start, end)` of a file into ranges of whole lines, each of `target` bytes and its last line.

    What follows the last line end is left out, unless the file is `final`. Where the cuts fall depends on
    the file alone, never on how many processes read it.
    """
    with path.open("rb") as file:
        file.seek(start)
        while start < end:
            passed, whole, lines = _pass_lines(file, target, end - start)
            if final and whole < passed:
                whole, lines = passed, lines + 1
            if whole:
                yield Range(start, start + whole, line, lines)
            if whole < passed or not passed:
                return
            start, line = start + whole, line + lines


def _pass_lines(file: BinaryIO, target: int, room: int) -> tuple[int, int, int]:
    """Reads on for `target` bytes and to the end of that line: bytes passed, bytes in whole lines, lines."""
    passed = whole = lines = 0
    while passed < min(target, room):
        block = file.read(min(_BLOCK, target - passed, room - passed))
        if not block:
            break
        last = block.rfind(b"\n")
        whole = whole if last < 0 else passed + last + 1
        lines += block.count(b"\n")
        passed += len(block)
    while whole < passed < room:
        block = file.readline(min(_BLOCK, room - passed))
        if not block:
            break
        passed += len(block)
        if block.endswith(b"\n"):
            whole, lines = passed, lines + 1
    return passed, whole, lines
