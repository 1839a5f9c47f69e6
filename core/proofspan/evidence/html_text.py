"""The canonical text of a web page: what it says, without its tags, in lines that its blocks make.

One pass from left to right, which never looks twice at what it passed: a page comes from anywhere, and the
standard library's parser takes quadratic time on tags that are never closed (200 kB of `<a ` take minutes).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

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
#: What stands in these is no text of the page; none of them holds another of its kind.
SKIPPED = (
    "script", "style", "title", "template", "noscript", "iframe", "svg", "textarea", "noembed", "noframes",
    "audio", "video",
)  # fmt: skip

_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
#: To the end of a tag. Quotation marks hold a `>` only after an equals sign; nothing is given back.
_TAG_END = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>""")
_CLOSING = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in SKIPPED}
#: Behind `<!`: a comment may be as short as `<!-->`, and ends in `--!>` as well.
_COMMENT_END = re.compile(r"--!?>")
_WHITE = re.compile(r"[ \t\n\r\f]+")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-zA-Z0-9_.:-]{1,40})""", re.IGNORECASE)
#: The charset has to stand in the first bytes of a page (HTML Standard, 4.2.5.4).
_CHARSET_WITHIN = 1024


def text_of_html(source: str) -> str:
    """The text of a page. Blocks stand on lines of their own, cells of a row are parted by a tab, white space
    is one space but in `<pre>`, and what is no text (scripts, styles, the title, comments) is left out.
    """
    lines = _Lines()
    preformatted = 0
    for kind, value in _parts(source):
        if kind == "text":
            lines.add(html.unescape(value), as_it_stands=preformatted > 0)
            continue
        if value == "pre":
            preformatted = max(0, preformatted + (1 if kind == "open" else -1))
        if value in PARAGRAPHS:
            lines.end(2)
        elif value in LINES:
            lines.end(1)
        elif value == "br" and kind == "open":
            lines.add("\n", as_it_stands=True)
        elif value in CELLS and kind == "open":
            lines.cell()
    return lines.text()


def declared_charset(data: bytes) -> str | None:
    """The charset that a page's own `<meta>` names, None where it names none."""
    found = _CHARSET.search(data[:_CHARSET_WITHIN])
    return found[1].decode("ascii") if found else None


def _parts(source: str) -> Iterator[tuple[str, str]]:
    """The page as texts and tags: ("text", text), ("open", name) and ("close", name), names in lower case."""
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
    """Where a comment, a declaration or an instruction ends; just behind a `<` that begins none of them."""
    if source.startswith("<!--", start):
        ended = _COMMENT_END.search(source, start + 2)
        return ended.end() if ended else len(source)
    if source.startswith(("<!", "<?", "</"), start):
        return source.find(">", start + 2) + 1 or len(source)
    return start + 1


class _Lines:
    """Text as it gathers: white space waits until a word follows it, line ends until a line does."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._breaks = 0
        self._gap = ""

    def add(self, text: str, *, as_it_stands: bool) -> None:
        """Text of the current line; `as_it_stands` keeps its white space."""
        if as_it_stands:
            self._put(text)
            return
        words = [word for word in _WHITE.split(text) if word]
        if _WHITE.match(text):
            self._gap = self._gap or " "
        if words:
            self._put(" ".join(words))
            self._gap = " " if _WHITE.search(text[-1]) else ""

    def cell(self) -> None:
        """The next text stands in another cell of the row."""
        self._gap = "\t"

    def end(self, breaks: int) -> None:
        """The current line ends; the next text stands `breaks` lines below."""
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
        """All lines, the last one ended."""
        joined = "".join(self._pieces).strip("\n")
        return joined + "\n" if joined else ""
