"""A PDF as it lies on disk: a regular file that begins like one. Nothing is parsed here."""

from __future__ import annotations

import os
import shlex
import stat

from proofspan.errors import EvidenceFault

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
        raise EvidenceFault.of("missing", said, where=path, remedy="name the PDF itself")
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
        remedy = "download the document again"
    else:
        said = "the document is not a PDF: the header `%PDF-` is missing"
        remedy = "put the PDF there, or name it as text with `paged: false`"
    return EvidenceFault.of("not_a_pdf", said, where=path, remedy=remedy)


def _missing(path: str, reason: str) -> EvidenceFault:
    remedy = f"correct its path, or put it there: cp FILE {shlex.quote(path)}"
    return EvidenceFault.of("missing", f"the document cannot be read: {reason}", where=path, remedy=remedy)
