"""Read the text of a document: of one without pages, a text or web page of bounded size, or of a PDF.

A document's revision is computed from its canonical text.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.files import read_bounded
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text.text_document import TextDocument

#: The largest text in which quotes are located: about 700 printed pages, and 150 MB of words in memory.
MAX_BYTES = 2 * 1024 * 1024
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
#: Suffixes of documents without pages, where nothing else identifies them.
TEXT_SUFFIXES = (".md", ".markdown", ".txt", *HTML_SUFFIXES)

#: Pages read in one request, which has the whole time limit.
PAGES_A_REQUEST = 32
#: Separates the pages of a canonical text.
PAGE_BREAK = "\f"

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
    declared = _CHARSET.search(data[:_CHARSET_WITHIN]) if is_page else None
    text = _decoded(data, path, charset=declared[1].decode("ascii") if declared else None)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text_of_html(text) if is_page else text
    if not text.replace("\ufeff", "").strip():
        raise _fault(path, "no_text", "the document holds no text", "write the file again")
    return TextDocument.of(text, is_extracted=is_page)


def document_text(path: Path, pool: PdfPool, *, paged: bool) -> str:
    """Return the canonical text: of a PDF its pages' text layer, separated by form feeds, else the text.

    Raises `EvidenceFault` where the document cannot be read.
    """
    if not paged:
        return read_text(path).text
    count = pool.document(path).page_count
    steps = (range(first, first + PAGES_A_REQUEST) for first in range(0, count, PAGES_A_REQUEST))
    return PAGE_BREAK.join(text for pages in steps for text in pool.page_texts(path, pages))


@cache
def extractor(*, paged: bool) -> str:
    """Return the programs that read a document's text with their versions; others may read another text."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and rarely needed

    names = ("PyMuPDF", "Proofspan") if paged else ("Proofspan",)
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name.lower())}")
        except PackageNotFoundError:
            found.append(name)
    return ", ".join(found)


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
        with suppress(LookupError, UnicodeError):  # no charset of web pages, or not valid
            known = codecs.lookup(charset).name if charset else ""
            if known.startswith(_CHARSETS):
                return data.decode(known)
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the document is not text in UTF-8: byte {error.start + 1:,} (line {line:,}) is not valid"
        raise _fault(path, "not_utf8", message, "save the file as UTF-8") from error


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
    pieces: list[str] = []
    # White space is added when a word follows it, line ends when a line does.
    breaks, gap, preformatted = 0, "", 0
    for kind, value in _parts(source):
        text, end = None, ""
        if kind == "text":
            value = html.unescape(value)
            if preformatted > 0:
                text = value
            else:
                gap = gap or (" " if _WHITE.match(value) else "")
                if words := [word for word in _WHITE.split(value) if word]:
                    text, end = " ".join(words), " " if _WHITE.search(value[-1]) else ""
        elif value == "br" and kind == "open":
            text = "\n"
        elif value in CELLS and kind == "open":
            gap = "\t"
        elif value in PARAGRAPHS or value in LINES:
            breaks, gap = max(breaks, 2 if value in PARAGRAPHS else 1), ""
            if value == "pre":
                preformatted = max(0, preformatted + (1 if kind == "open" else -1))
        if text is None:
            continue
        if pieces and breaks:
            pieces.append("\n" * breaks)
        elif pieces and gap and not pieces[-1].endswith(("\n", "\t", " ")):
            pieces.append(gap)
        pieces.append(text)
        breaks, gap = 0, end
    joined = "".join(pieces).strip("\n")
    return joined + "\n" if joined else ""


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
            if source.startswith("<!--", start):
                ended = _COMMENT_END.search(source, start + 2)
                position = ended.end() if ended else length
            elif source.startswith(("<!", "<?", "</"), start):
                position = source.find(">", start + 2) + 1 or length
            else:
                yield "text", "<"
                position = start + 1
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
