"""A PDF as it lies on disk: a regular file that begins like one. Nothing is parsed here."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Literal

from proofspan.errors import EvidenceFault, Problem

#: The header may stand anywhere in the first 1,024 bytes (ISO 32000-1, Annex H, note 13).
MAGIC, MAGIC_WITHIN = b"%PDF-", 1024

FileKey = tuple[str, int, int]


def file_key(path: str) -> FileKey:
    """What tells one state of a file from the next; a fault for what is no regular file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - the path is a plain string here
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _missing(path, reason) from error
    if not stat.S_ISREG(status.st_mode):
        said = "the document is not a regular file"
        raise EvidenceFault.of("missing", said, where=path, fix="name the PDF itself")
    return path, status.st_size, status.st_mtime_ns


def head_of(path: str) -> bytes:
    """The first bytes of a file that has the header of a PDF; a fault for every other one."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - the path is a plain string here
            head = file.read(MAGIC_WITHIN)
    except OSError as error:
        raise _missing(path, error.strerror or str(error)) from error
    if MAGIC not in head:
        raise not_a_pdf(head, path)
    return head


def not_a_pdf(head: bytes, path: str) -> EvidenceFault:
    """Says what the file is instead, where its first bytes tell."""
    if b"<html" in head.lower() or b"<!doctype" in head.lower():
        said = "the document is a web page, not a PDF: the download probably met an error or a login page"
        fix = "download the document again"
    else:
        said = "the document is not a PDF: the header `%PDF-` is missing"
        fix = "put the PDF there, or name it as text with `paged: false`"
    return EvidenceFault.of("not_a_pdf", said, where=path, fix=fix)


def _missing(path: str, reason: str) -> EvidenceFault:
    fix = f"correct its path, or put it there: cp FILE {shlex.quote(path)}"
    return EvidenceFault.of("missing", f"the document cannot be read: {reason}", where=path, fix=fix)


# A picture file as it lies on disk: bounded, and by its first bytes one of the four kinds that are drawn.
#
# SVG is none of them: it is a document with scripts and links of its own. Nothing is decoded here.

PictureKind = Literal["PNG", "JPEG", "WEBP", "GIF"]

#: The largest file that is decoded, in bytes.
MAX_BYTES = 20 * 1024 * 1024
#: Bytes read to tell what a file is; an SVG may begin with a long comment.
HEAD = 4_096
#: What helps where a file is of another kind.
SAVE_AS = "save it as PNG, JPEG, WEBP or GIF, and name that file"


def kind_of(head: bytes) -> PictureKind | None:
    """The kind of picture whose signature a file begins with, None for every other file."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WEBP"
    return "GIF" if head.startswith((b"GIF87a", b"GIF89a")) else None


def picture_problem(path: Path) -> Problem | None:
    """Why a file is not drawn, as far as its size and first bytes tell; None where it may be decoded.

    Codes: `missing`, `unreadable`, `not_a_file`, `too_large`, `svg_not_drawn`, `not_a_picture`.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return Problem(
                "not_a_file", "the picture is no regular file", str(path), "name the picture itself"
            )
        if status.st_size > MAX_BYTES:
            return _too_large(path, status.st_size)
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        fix = f"correct its path, or put it there: cp FILE {shlex.quote(str(path))}"
        return Problem("missing", "the picture does not exist", str(path), fix)
    except OSError as error:
        said = f"the picture cannot be read: {error.strerror or error}"
        return Problem("unreadable", said, str(path), f"chmod u+r {shlex.quote(str(path))}")
    return None if kind_of(head) else _other_kind(head, path)


def read_picture(path: Path) -> bytes:
    """The bytes of a picture file. Raises `EvidenceFault` with the codes of `picture_problem`."""
    if (problem := picture_problem(path)) is not None:
        raise EvidenceFault(problem)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise EvidenceFault(_too_large(path, len(data)))
    return data


def _too_large(path: Path, size: int) -> Problem:
    said = f"the picture has {size / 1024**2:.1f} MiB; at most {MAX_BYTES // 1024**2} are decoded"
    return Problem("too_large", said, str(path), "save it anew, smaller")


def _other_kind(head: bytes, path: Path) -> Problem:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if b"<svg" in start:
        said = "the picture is an SVG, which may hold scripts and links, so it is not drawn"
        return Problem("svg_not_drawn", said, str(path), SAVE_AS)
    if not head:
        said = "the file of the picture is empty"
    elif start.startswith((b"<!doctype html", b"<html", b"<head", b"<script")):
        said = "the file is a web page, not a picture: the download probably met an error or a login page"
    else:
        said = "the file is no picture of a kind that is drawn (PNG, JPEG, WEBP, GIF)"
    return Problem("not_a_picture", said, str(path), SAVE_AS)
