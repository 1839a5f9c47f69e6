"""Recognize a file's content by its first bytes, before a reader fails on it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from proofspan.errors import Problem
from proofspan.manifest.types import Kind

#: Bytes read from the start of a file. The PDF header may be anywhere in the first 1,024.
HEAD = 64 * 1024
PDF_HEADER_WITHIN = 1024

_COMPRESSED = ((b"\x1f\x8b", ".gz"), (b"\x28\xb5\x2f\xfd", ".zst"))
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def content_problem(file: Path, kind: Kind, *, is_fixed: bool = False) -> Problem | None:
    """Return the problem of a file whose content is not of its kind; the caller adds `where`.

    `is_fixed`: its encoding is repaired on reading. Raises OSError if the file cannot be read.
    """
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    if is_fixed and (head.startswith(_UTF16) or b"\0" in head[:4]):
        return None  # the readers decode it
    if kind == "jsonl" and not head.strip():
        fix = "let the pipeline write the first line, or take the file out of the manifest"
        return Problem("no_line_yet", "has no line yet", fix=fix, severity="warning")
    if not head:
        return None if kind == "journal" else Problem("empty_file", "is empty", fix="write the file again")
    if kind == "text" and head.lstrip().startswith(b"%PDF-"):
        return Problem("text_is_pdf", "is a PDF, but declared `paged: false`", fix="delete `paged: false`")
    if kind == "text" and b"\0" in head:
        fix = "put a UTF-8 text, Markdown or HTML file there"
        return Problem("not_text", "is not text: it has zero bytes", fix=fix)
    if kind == "text" or (kind == "pdf" and b"%PDF-" in head[:PDF_HEADER_WITHIN]):
        return None
    if kind != "pdf":
        return _json_problem(file, head, kind)
    if _is_html(head):
        message = "is a web page, not a PDF: the download probably met an error or a login page"
        fix = "download the document again, or declare the page as it is with `paged: false`"
        return Problem("pdf_is_html", message, fix=fix)
    fix = "put the PDF there, or set `paged: false` if it is text"
    return Problem("not_a_pdf", "is not a PDF: the header `%PDF-` is missing", fix=fix)


def _is_html(head: bytes) -> bool:
    start = head[:PDF_HEADER_WITHIN].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<script"))


def _json_problem(file: Path, head: bytes, kind: Kind) -> Problem | None:
    suffix = next((suffix for magic, suffix in _COMPRESSED if head.startswith(magic)), None)
    if suffix is not None:
        message = f"is compressed, but its name does not end in {suffix}"
        fix = f"rename it to {file.name}{suffix}, here and in the manifest"
        return None if file.suffix == suffix else Problem("compressed", message, fix=fix)
    if head.startswith(_UTF16):
        fix = "save the file as UTF-8, or let it be read repaired: fix_encoding: true"
        return Problem("not_utf8", "is UTF-16 text", fix=fix)
    if _is_html(head):
        return Problem("json_is_html", "is a web page, not JSON", fix="download the file again")
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    line = lines[0].decode("utf-8", "replace").strip() if lines else ""
    if line.startswith("{") or (line.startswith("[") and kind in ("chunks", "json")):
        return None
    fix = "write one JSON object a line"
    if lines and not line.startswith(("{", "[")) and csv_columns(lines):
        message = f"is CSV, not JSON: its first line is {line[:80]!r}"
        fix += "; with pandas: read_csv(FILE).to_json(OUT, orient='records', lines=True)"
        return Problem("jsonl_is_csv", message, fix=fix)
    return Problem("not_json", f"does not begin with a JSON object: its first line is {line[:80]!r}", fix=fix)


def csv_columns(lines: Sequence[bytes]) -> list[str]:
    """Return the header of a table with separated values, [] if its first two lines do not look like one."""
    first = lines[0].decode("utf-8", "replace")
    for delimiter in ",;\t|":
        header = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])]
        if len(header) > 1 and all(header) and all(delimiter.encode() in line for line in lines[1:2]):
            return header
    return []
