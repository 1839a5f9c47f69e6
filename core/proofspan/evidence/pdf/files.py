"""Check that a file is a PDF or a picture by its size and first bytes. Nothing is parsed here."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Literal

from proofspan.errors import EvidenceFault, Problem

#: The header may be anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13).
MAGIC, MAGIC_WITHIN = b"%PDF-", 1024

FileKey = tuple[str, int, int]


def file_key(path: str) -> FileKey:
    """Return path, size and modification time; raise a fault unless it is a regular file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - the path is a plain string here
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _missing(path, reason) from error
    if not stat.S_ISREG(status.st_mode):
        message = "the document is not a regular file"
        raise EvidenceFault.of("missing", message, where=path, fix="name the PDF itself")
    return path, status.st_size, status.st_mtime_ns


def head_of(path: str) -> bytes:
    """Return the first bytes of a PDF; raise a fault for a file without its header."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - the path is a plain string here
            head = file.read(MAGIC_WITHIN)
    except OSError as error:
        raise _missing(path, error.strerror or str(error)) from error
    if MAGIC not in head:
        raise not_a_pdf(head, path)
    return head


def not_a_pdf(head: bytes, path: str) -> EvidenceFault:
    """Return the fault of a file that is not a PDF, with what it is instead if its first bytes show it."""
    if b"<html" in head.lower() or b"<!doctype" in head.lower():
        message = "the document is a web page, not a PDF: the download probably met an error or a login page"
        fix = "download the document again"
    else:
        message = "the document is not a PDF: the header `%PDF-` is missing"
        fix = "put the PDF there, or name it as text with `paged: false`"
    return EvidenceFault.of("not_a_pdf", message, where=path, fix=fix)


def _missing(path: str, reason: str) -> EvidenceFault:
    fix = f"correct its path, or put it there: cp FILE {shlex.quote(path)}"
    return EvidenceFault.of("missing", f"the document cannot be read: {reason}", where=path, fix=fix)


def read_bounded(
    path: Path, subject: str, *, max_bytes: int, smaller: str, count: int | None = None
) -> bytes:
    """Read a file of at most `max_bytes`, or its first `count` bytes; `subject` names it in messages.

    Raises `EvidenceFault` with the codes `missing`, `unreadable`, `not_a_file` and `too_large`, for which
    `smaller` is the fix.
    """
    where = shlex.quote(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            message, fix = f"the {subject} is not a regular file", f"name the {subject} itself"
            raise EvidenceFault.of("not_a_file", message, where=str(path), fix=fix)
        data = b""
        if status.st_size <= max_bytes:
            with path.open("rb") as file:
                data = file.read(max_bytes + 1 if count is None else count)
    except FileNotFoundError as error:
        message, fix = f"the {subject} does not exist", f"correct its path, or put it there: cp FILE {where}"
        raise EvidenceFault.of("missing", message, where=str(path), fix=fix) from error
    except OSError as error:
        message = f"the {subject} cannot be read: {error.strerror or error}"
        raise EvidenceFault.of("unreadable", message, where=str(path), fix=f"chmod u+r {where}") from error
    size = max(status.st_size, len(data))
    if size > max_bytes:
        message = f"the {subject} has {-(-size >> 20):,} MiB; at most {max_bytes >> 20} MiB are read"
        raise EvidenceFault.of("too_large", message, where=str(path), fix=smaller)
    return data


# SVG is not a picture file here: it is a document with scripts and links of its own.
PictureKind = Literal["PNG", "JPEG", "WEBP", "GIF"]

#: The largest file that is decoded, in bytes.
MAX_BYTES = 20 * 1024 * 1024
#: Bytes read to identify a file; an SVG may begin with a long comment.
HEAD = 4_096


def kind_of(head: bytes) -> PictureKind | None:
    """Return the kind of picture whose signature a file begins with, None for any other file."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WEBP"
    return "GIF" if head.startswith((b"GIF87a", b"GIF89a")) else None


def picture_problem(path: Path) -> Problem | None:
    """Return why a file cannot be shown, by its size and first bytes; None where it may be decoded."""
    try:
        read_picture(path, HEAD)
    except EvidenceFault as fault:
        return fault.problems[0]
    return None


def read_picture(path: Path, count: int | None = None) -> bytes:
    """Read a picture file, or its first `count` bytes.

    Raises `EvidenceFault` with the codes of `read_bounded`, `svg_not_drawn` and `not_a_picture`.
    """
    data = read_bounded(path, "picture", max_bytes=MAX_BYTES, smaller="save a smaller one", count=count)
    if kind_of(data) is not None:
        return data
    start = data[:HEAD].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    code = "not_a_picture"
    if b"<svg" in start:
        code = "svg_not_drawn"
        message = "the picture is an SVG, which may have scripts and links, so it is not drawn"
    elif not data:
        message = "the file of the picture is empty"
    elif start.startswith((b"<!doctype html", b"<html", b"<head", b"<script")):
        message = "the file is a web page, not a picture: the download probably met an error or a login page"
    else:
        message = "the file is not a PNG, JPEG, WEBP or GIF picture"
    fix = "save it as PNG, JPEG, WEBP or GIF, and name that file"
    raise EvidenceFault.of(code, message, where=str(path), fix=fix)
