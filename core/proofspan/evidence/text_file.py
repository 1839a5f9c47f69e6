"""Read a document without pages: a text or web page of bounded size."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from pathlib import Path

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.files import read_bounded
from proofspan.evidence.text.text_document import TextDocument

#: The largest text in which quotes are located: about 700 printed pages, and 150 MB of words in memory.
MAX_BYTES = 2 * 1024 * 1024
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
#: Suffixes of documents without pages, where nothing else identifies them.
TEXT_SUFFIXES = (".md", ".markdown", ".txt", *HTML_SUFFIXES)

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
#: Prefixes of Python's names of the charsets of web pages (Encoding Standard, 4.2).
_CHARSETS = ("big5", "cp125", "cp866", "cp874", "euc_", "gb", "iso2022_jp", "iso8859", "koi8", "shift_jis")


def read_text(path: Path) -> TextDocument:
    """Read the canonical text of a file: UTF-8 without its byte order mark, every line end a line feed.

    That is what Python's text mode reads, and so what most producers count offsets in. Of a web page it is
    its text (see `text_of_html`), decoded with the charset that it names if it is not UTF-8. Raises
    `EvidenceFault` with one of the codes `missing`, `not_a_file`, `unreadable`, `too_large`, `text_is_pdf`,
    `not_text`, `not_utf8`, `no_text`.
    """
    is_page = path.suffix.lower() in HTML_SUFFIXES
    smaller = "split it into several documents, each with its own doc_id"
    data = read_bounded(path, "document", max_bytes=MAX_BYTES, smaller=smaller)
    text = _decoded(data, path, charset=declared_charset(data) if is_page else None)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text_of_html(text) if is_page else text
    if not text.replace("\ufeff", "").strip():
        raise _fault(path, "no_text", "the document holds no text", "write the file again")
    return TextDocument.of(text, is_extracted=is_page)


def _decoded(data: bytes, path: Path, *, charset: str | None) -> str:
    """The text of the bytes, in UTF-8 or else in `charset`; a fault names what is certainly not text."""
    if data.lstrip().startswith(b"%PDF-"):
        fix = "delete `paged: false`, or name the file by a PDF's name"
        raise _fault(path, "text_is_pdf", "the document is a PDF, and it is declared as text", fix)
    if data.startswith(_UTF16):
        raise _fault(path, "not_utf8", "the document is UTF-16 text", "save the file as UTF-8")
    if b"\0" in data:
        message = "the document is not text: it has zero bytes"
        raise _fault(path, "not_text", message, "put a UTF-8 text or Markdown file there")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if (text := _in_charset(data, charset)) is not None:
            return text
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the document is not text in UTF-8: byte {error.start + 1:,} (line {line:,}) is not valid"
        raise _fault(path, "not_utf8", message, "save the file as UTF-8") from error


def _in_charset(data: bytes, charset: str | None) -> str | None:
    """The text in the charset that a page names; None if it is not a charset of web pages, or not valid."""
    try:
        known = codecs.lookup(charset).name if charset else ""
        return data.decode(known) if known.startswith(_CHARSETS) else None
    except (LookupError, UnicodeError):
        return None


def _fault(path: Path, code: str, message: str, fix: str) -> EvidenceFault:
    return EvidenceFault.of(code, message, where=str(path), fix=fix)


# The canonical text of a web page: one pass from left to right, in linear time. `html.parser` takes quadratic
# time on tags that are never closed, and a page comes from anywhere: 80 kB of `<a ` took it 143 s in Python
# 3.11, and 2 MiB are read. lxml and selectolax would be a further dependency for 100 lines.

#: Tags that begin and end a line, and those with an empty line before and after them.
LINES = frozenset(
    ["address", "article", "aside", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
     "dl", "dt", "fieldset", "figcaption", "footer", "form", "header", "hgroup", "html", "legend", "li",
     "main", "menu", "nav", "optgroup", "option", "search", "section", "summary",
     "tbody", "tfoot", "thead", "tr"]
)  # fmt: skip
PARAGRAPHS = frozenset(
    ["blockquote", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ol", "p", "pre", "table", "ul"]
)
CELLS = frozenset(("td", "th"))
#: The content of these is not text of the page; none of them contains another of its kind.
SKIPPED = (
    "script", "style", "title", "template", "noscript", "iframe", "svg", "textarea", "noembed", "noframes",
    "audio", "video",
)  # fmt: skip

_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
#: To the end of a tag. A `>` in quotation marks is part of it only after an equals sign; no backtracking.
_TAG_END = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
_CLOSING = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in SKIPPED}
#: After `<!`: a comment may be as short as `<!-->`, and may end in `--!>`.
_COMMENT_END = re.compile(r"--!?>")
_WHITE = re.compile(r"[ \t\n\r\f]+")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-zA-Z0-9_.:-]{1,40})""", re.IGNORECASE)
#: The charset has to be in the first bytes of a page (HTML Standard, 4.2.5.4).
_CHARSET_WITHIN = 1024


def text_of_html(source: str) -> str:
    """Return the text of a page. Blocks are on lines of their own, cells of a row are separated by a tab,
    white space is one space except in `<pre>`, and scripts, styles, the title and comments are left out.
    """
    lines = _Lines()
    preformatted = 0
    for kind, value in _parts(source):
        if kind == "text":
            lines.add(html.unescape(value), verbatim=preformatted > 0)
            continue
        if value == "pre":
            preformatted = max(0, preformatted + (1 if kind == "open" else -1))
        if value in PARAGRAPHS:
            lines.end(2)
        elif value in LINES:
            lines.end(1)
        elif value == "br" and kind == "open":
            lines.add("\n", verbatim=True)
        elif value in CELLS and kind == "open":
            lines.cell()
    return lines.text()


def declared_charset(data: bytes) -> str | None:
    """Return the charset in a page's own `<meta>`, None without one."""
    found = _CHARSET.search(data[:_CHARSET_WITHIN])
    return found[1].decode("ascii") if found else None


def _parts(source: str) -> Iterator[tuple[str, str]]:
    """The texts and tags of a page: ("text", text), ("open", name) and ("close", name), in lower case."""
    position, length = 0, len(source)
    while position < length:
        start = source.find("<", position)
        start = length if start < 0 else start
        if start > position:
            yield "text", source[position:start]
        if start == length:
            return
        named = _NAME.match(source, start)
        if named is None:
            position = _after_other(source, start)
            if position == start + 1:
                yield "text", "<"
            continue
        name, closes = named[1].lower(), source[start + 1] == "/"
        ended = _TAG_END.match(source, named.end())
        position = ended.end() if ended else length
        if not ended:
            return
        if name in _CLOSING and not closes:
            closing = _CLOSING[name].search(source, position)
            position = closing.start() if closing else length
        else:
            yield ("close" if closes else "open"), name


def _after_other(source: str, start: int) -> int:
    """The end of a comment, a declaration or an instruction; just after a `<` that begins none of them."""
    if source.startswith("<!--", start):
        ended = _COMMENT_END.search(source, start + 2)
        return ended.end() if ended else len(source)
    if source.startswith(("<!", "<?", "</"), start):
        return source.find(">", start + 2) + 1 or len(source)
    return start + 1


class _Lines:
    """Text under construction: white space is added when a word follows it, line ends when a line does."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._breaks = 0
        self._gap = ""

    def add(self, text: str, *, verbatim: bool) -> None:
        """Add text to the current line; `verbatim` keeps its white space."""
        if verbatim:
            self._put(text)
            return
        words = [word for word in _WHITE.split(text) if word]
        if _WHITE.match(text):
            self._gap = self._gap or " "
        if words:
            self._put(" ".join(words))
            self._gap = " " if _WHITE.search(text[-1]) else ""

    def cell(self) -> None:
        """Begin another cell of the row."""
        self._gap = "\t"

    def end(self, breaks: int) -> None:
        """End the current line; the next text is `breaks` lines below."""
        self._breaks, self._gap = max(self._breaks, breaks), ""

    def _put(self, text: str) -> None:
        if not self._pieces:
            self._breaks, self._gap = 0, ""
        if self._breaks:
            self._pieces.append("\n" * self._breaks)
        elif self._gap and not self._pieces[-1].endswith(("\n", "\t", " ")):
            self._pieces.append(self._gap)
        self._pieces.append(text)
        self._breaks, self._gap = 0, ""

    def text(self) -> str:
        """Return all lines, with a line feed at the end."""
        joined = "".join(self._pieces).strip("\n")
        return joined + "\n" if joined else ""
