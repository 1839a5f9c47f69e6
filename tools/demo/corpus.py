"""Cut the two documents into chunks: one chunk for each block, with its place, lines and offsets.

The manual's canonical text is its chunks' texts joined by an empty line; the bulletin's is its file. Offsets
count characters of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.chunk_id import ChunkId, mint, section_path
from proofspan.contracts.records.names import revision
from tools.demo.galley import SIGNAL
from tools.demo.markup import Block, plain
from tools.demo.pages import Part, Placed
from tools.demo.tables import symbol

#: Blocks that head the text or list it; what they say is in the chunks' titles.
_HEADS = frozenset({"title", "contents", "index", "chapter", "heading", "page", "columns"})
#: Numbers and dashes before a step, an item or a figure's caption, which are not part of its sentence.
_LABEL = re.compile(r"(?:\d+\.|-|Figure [\w-]+\.)\s+")
_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"])")
_SIGNAL_WORDS = frozenset(word for word, *_ in SIGNAL.values())
_RULE_ROW = re.compile(r"[|\s:-]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk before it becomes a record.

    `start` is its offset in the canonical text, `titles` the headings above it from the chapter down, `parts`
    where it is set (two where it runs over a page break, none in a document without pages), `lines` the
    1-based first and last line of its file where the document is one of lines.
    """

    chunk_id: str
    doc_id: str
    rev: str
    text: str
    start: int
    section: str
    is_numbered: bool
    titles: tuple[str, ...]
    page_idx: int
    order: int
    kind: str
    parts: tuple[Part, ...] = ()
    lines: tuple[int, int] | None = None

    @property
    def end(self) -> int:
        """Where it ends in the canonical text."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, step or row. `start` counts in the chunk's text; `caption` is the caption above a row."""

    start: int
    text: str
    caption: str = ""


def manual_pieces(placed: Iterable[Placed], *, doc_id: str) -> list[tuple[Placed, Piece]]:
    """Every block of the manual that holds text of its own, in reading order, and the chunk it makes."""
    bodies = [item for item in placed if item.block.kind not in _HEADS]
    texts = [block_text(item.block) for item in bodies]
    rev = revision("\n\n".join(texts))
    blocks: Counter[str] = Counter()
    found: list[tuple[Placed, Piece]] = []
    start = 0
    for item, text in zip(bodies, texts, strict=True):
        page = item.page_idx + 1
        section = section_path(item.block.section, page)
        blocks[section] += 1
        piece = Piece(
            chunk_id=mint(ChunkId(doc_id, rev, section, page, blocks[section])),
            doc_id=doc_id,
            rev=rev,
            text=text,
            start=start,
            section=section,
            is_numbered=bool(item.block.section),
            titles=item.block.path,
            page_idx=item.page_idx,
            order=blocks[section],
            kind=item.block.kind,
            parts=item.parts,
        )
        found.append((item, piece))
        start = piece.end + 2
    return found


def block_text(block: Block) -> str:
    """Return a block's text on the page, one line for each row, step or item."""
    if block.kind in SIGNAL:
        return f"{SIGNAL[block.kind][0]}\n{plain(block.lines[0])}"
    if block.kind == "table":
        rows = (" ".join(cell for cell in row if not symbol(cell)) for row in block.cells)
        caption = [block.name] if block.name else []
        return plain("\n".join([*caption, *rows]))
    return plain("\n".join(block.lines))


def bulletin_pieces(source: str, *, doc_id: str) -> list[Piece]:
    """The chunks of a Markdown file: what empty lines part. A heading opens a section by its first word."""
    rev = revision(source)
    blocks: Counter[str] = Counter()
    found: list[Piece] = []
    section, titles = "", tuple[str, ...]()
    for match in re.finditer(r"\S[^\n]*(?:\n[^\n]*\S[^\n]*)*", source):
        text, first_line = match[0], source.count("\n", 0, match.start()) + 1
        if heading := re.fullmatch(r"(#+)\s+(.*)", text):
            number, _, words = heading[2].partition(" ")
            section = number if len(heading[1]) > 1 else ""
            titles = (titles[0], words) if section else (heading[2],)
            continue
        path = section_path(section, 0)
        blocks[path] += 1
        piece = Piece(
            chunk_id=mint(ChunkId(doc_id, rev, path, 0, blocks[path])),
            doc_id=doc_id,
            rev=rev,
            text=text,
            start=match.start(),
            section=path,
            is_numbered=bool(section),
            titles=titles,
            page_idx=0,
            order=blocks[path],
            kind=_markdown_kind(text),
            lines=(first_line, first_line + text.count("\n")),
        )
        found.append(piece)
    return found


def _markdown_kind(text: str) -> str:
    kinds = {"|": "table", "-": "list"}
    return kinds.get(text[0], "paragraph")


def sentences(piece: Piece) -> list[Sentence]:
    """Rows, steps, items and sentences of a chunk, without the numbers and dashes in front of them.

    A signal
    word alone on its line is not one, nor are a table's caption and head, which belong to each row.
    """
    if piece.kind == "table":
        return _rows(piece.text)
    found: list[Sentence] = []
    start = 0
    for line in piece.text.split("\n"):
        if line not in _SIGNAL_WORDS:
            found += _of_line(line, start)
        start += len(line) + 1
    return found


def _rows(text: str) -> list[Sentence]:
    head, *rows = text.split("\n")
    start = len(head) + 1
    if not head.startswith("|"):
        start += len(rows[0]) + 1
        head, rows = f"{head} {rows[0]}", rows[1:]
    found = []
    for row in rows:
        if not _RULE_ROW.fullmatch(row):
            found.append(Sentence(start, row, head))
        start += len(row) + 1
    return found


def _of_line(line: str, start: int) -> list[Sentence]:
    label = _LABEL.match(line)
    begin = label.end() if label else 0
    ends = [match.span() for match in _BREAK.finditer(line, begin)]
    edges = [begin, *(edge for span in ends for edge in span), len(line)]
    spans: Sequence[tuple[int, int]] = list(zip(edges[::2], edges[1::2], strict=True))
    return [Sentence(start + first, line[first:last]) for first, last in spans if line[first:last].strip()]
