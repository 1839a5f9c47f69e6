"""A document without pages as it lies on disk: read whole, bounded, and only where it is text."""

from __future__ import annotations

import codecs
import shlex
import stat
from pathlib import Path

from proofspan.errors import EvidenceFault
from proofspan.evidence.html_text import declared_charset, text_of_html
from proofspan.evidence.texts import TextDocument

#: The largest text that is placed in, in bytes: about 700 printed pages, and 150 MB of words in memory.
MAX_BYTES = 2 * 1024 * 1024
#: Web pages: their text is taken out of their tags.
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
#: Endings that name a document without pages where nothing else says what a file is.
TEXT_SUFFIXES = (".md", ".markdown", ".txt", *HTML_SUFFIXES)

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: How Python's names of the charsets begin that web pages are written in (Encoding Standard, 4.2).
_CHARSETS = ("big5", "cp125", "cp866", "cp874", "euc_", "gb", "iso2022_jp", "iso8859", "koi8", "shift_jis")


def read_text(path: Path) -> TextDocument:
    """The canonical text of a file: UTF-8 without its byte order mark, every line end a line feed.

    That is what Python's text mode reads, and so what most producers count offsets in. Of a web page it is
    the text that stands in it (see `text_of_html`), read in the charset that it names where it is not UTF-8.
    Raises `EvidenceFault` with one of the codes `missing`, `not_a_file`, `unreadable`, `too_large`,
    `text_is_pdf`, `not_text`, `not_utf8`, `no_text`.
    """
    is_page = path.suffix.lower() in HTML_SUFFIXES
    data = _read(path)
    text = _decoded(data, path, charset=declared_charset(data) if is_page else None)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text_of_html(text) if is_page else text
    if not text.replace("\ufeff", "").strip():
        raise _fault(path, "no_text", "the document holds no text", "write the file again")
    return TextDocument.of(text, is_extracted=is_page)


def _read(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _fault(path, "not_a_file", "the document is no regular file", "name a text file")
        if status.st_size > MAX_BYTES:
            raise _too_large(path, status.st_size)
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        remedy = f"correct its path, or put it there: cp FILE {shlex.quote(str(path))}"
        raise _fault(path, "missing", "the document does not exist", remedy) from error
    except OSError as error:
        said = f"the document cannot be read: {error.strerror or error}"
        raise _fault(path, "unreadable", said, f"chmod u+r {shlex.quote(str(path))}") from error
    if len(data) > MAX_BYTES:
        raise _too_large(path, len(data))
    return data


def _decoded(data: bytes, path: Path, *, charset: str | None) -> str:
    """The text of the bytes, in UTF-8 or else in `charset`; what is surely no text is told from such text."""
    if data.lstrip().startswith(b"%PDF-"):
        remedy = "delete `paged: false`, or name the file by a PDF's name"
        raise _fault(path, "text_is_pdf", "the document is a PDF, and it is declared as text", remedy)
    if data.startswith(_UTF16):
        raise _fault(path, "not_utf8", "the document is UTF-16 text", "save the file as UTF-8")
    if b"\0" in data:
        said = "the document is not text: it holds zero bytes"
        raise _fault(path, "not_text", said, "put a UTF-8 text or Markdown file there")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if (text := _in_charset(data, charset)) is not None:
            return text
        line = data.count(b"\n", 0, error.start) + 1
        said = f"the document is not text in UTF-8: byte {error.start + 1:,} (line {line:,}) is not valid"
        raise _fault(path, "not_utf8", said, "save the file as UTF-8") from error


def _in_charset(data: bytes, charset: str | None) -> str | None:
    """The text in a charset that a page names; None where pages have no such one, or it does not fit."""
    try:
        known = codecs.lookup(charset).name if charset else ""
        return data.decode(known) if known.startswith(_CHARSETS) else None
    except (LookupError, UnicodeError):
        return None


def _too_large(path: Path, size: int) -> EvidenceFault:
    said = f"the document has {-(-size >> 20):,} MiB; texts of up to {MAX_BYTES >> 20} MiB are placed in"
    return _fault(path, "too_large", said, "split it into several documents, each with its own doc_id")


def _fault(path: Path, code: str, message: str, remedy: str) -> EvidenceFault:
    return EvidenceFault.of(code, message, where=str(path), remedy=remedy)
