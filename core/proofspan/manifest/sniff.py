"""Recognize a file's content by its first bytes, before a reader fails on it."""

from __future__ import annotations

from pathlib import Path

from proofspan.errors import Problem
from proofspan.manifest.contents import HEAD, Code, content_of, wide_encoding
from proofspan.manifest.types import Kind

#: The PDF header may be anywhere in this many bytes.
PDF_HEADER_WITHIN = 1024

_COMPRESSED = ((b"\x1f\x8b", ".gz"), (b"\x28\xb5\x2f\xfd", ".zst"))
#: The codes of contents under another name here.
_CODES: dict[Code, str] = {"is_csv": "jsonl_is_csv", "not_jsonl": "not_json", "json_array": "not_json"}


def content_problem(file: Path, kind: Kind, *, is_fixed: bool = False) -> Problem | None:
    """Return the problem of a file whose content is not of its kind; the caller adds `where`.

    `is_fixed`: its encoding is repaired on reading. Raises OSError if the file cannot be read.
    """
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    if is_fixed and wide_encoding(head) is not None:
        return None  # the readers decode it
    if kind in ("jsonl", "table") and not head.strip():
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
    if _is_html(head):
        return Problem("json_is_html", "is a web page, not JSON", fix="download the file again")
    content = content_of(head)
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    line = lines[0].decode("utf-8", "replace").strip() if lines else ""
    may_be_whole = kind == "json" or (kind in ("chunks", "table") and content.code == "json_array")
    if content.code == "lines" or (may_be_whole and content.code.startswith("json_")):
        if line.startswith("{") or (line.startswith("[") and may_be_whole):
            return None
        message = f"does not begin with a JSON object: its first line is {line[:80]!r}"
        return Problem("not_json", message, fix="write one JSON object a line")
    message = f"is {content.what}"
    if content.code != "not_utf8":
        message += f": its first line is {line[:80]!r}"
    return Problem(_CODES.get(content.code, content.code), message, fix=content.fix)
