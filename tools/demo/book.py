"""Makes the finished PDF: running heads, index tabs, contents, page labels."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.demo.markup import Block
from tools.demo.typeset import ACCENT, GREY, INK, LEFT, RIGHT, RULE, TOP, WIDTH, Placed, Sheet, Typesetter

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")


@dataclass(frozen=True, slots=True)
class Book:
    """The PDF's bytes, where each block stands, and the printed page labels by page_idx."""

    pdf: bytes
    placed: tuple[Placed, ...]
    labels: tuple[str, ...]


def make_book(blocks: list[Block], *, title: str) -> Book:
    """Sets the blocks. Front matter is numbered in roman figures, the body from 1: as printed manuals are."""
    setter = Typesetter()
    setter.set(blocks)
    front = next(page for block, page in setter.headings if block.lines[0].startswith("1 "))
    labels = tuple(_label(page, front) for page in range(len(setter.sheets)))
    _contents(setter, labels)
    for page_idx, sheet in enumerate(setter.sheets):
        if page_idx:
            _furniture(setter, sheet, labels[page_idx], recto=page_idx % 2 == 0)
        sheet.finish()
    document = setter.document
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": front, "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    document.set_toc([_outline_entry(block, page) for block, page in setter.headings])
    document.set_metadata({"title": title, "author": "Proofspan", "creationDate": None, "modDate": None})
    document.subset_fonts()
    pdf = document.tobytes(garbage=4, deflate=True, deflate_fonts=True, no_new_id=True, use_objstms=1)
    return Book(pdf, tuple(setter.placed), labels)


def _label(page_idx: int, front: int) -> str:
    return _ROMAN[page_idx] if page_idx < front else str(page_idx - front + 1)


def _outline_entry(block: Block, page_idx: int) -> list[object]:
    level = 2 if block.kind == "heading" else 1
    words = f"{block.section} {block.lines[0]}" if block.kind == "heading" else block.lines[0]
    return [level, words, page_idx + 1]


def _contents(setter: Typesetter, labels: tuple[str, ...]) -> None:
    """Fills the contents page that was left open, with dotted leaders up to the printed page labels."""
    at = next(page for block, page in setter.headings if block.kind == "contents")
    sheet, y = setter.sheets[at], TOP + 38
    for block, page_idx in setter.headings:
        if block.kind == "contents":
            continue
        chapter = block.kind == "chapter"
        face = setter.fonts["bold" if chapter else "regular"]
        y += 14.8 if chapter else 11.3
        words = block.lines[0] if chapter else f"{block.section}  {block.lines[0]}"
        end = sheet.write(LEFT if chapter else LEFT + 14, y, words, face, 9.2, ACCENT if chapter else INK)
        width = face.text_length(labels[page_idx], 9.2)
        sheet.write(RIGHT - width, y, labels[page_idx], face, 9.2)
        sheet.page.draw_line((end + 6, y), (RIGHT - width - 6, y), color=GREY, width=0.6, dashes="[0.6 3] 0")


def _furniture(setter: Typesetter, sheet: Sheet, label: str, *, recto: bool) -> None:
    """Running head, page number and the index tab at the outer edge."""
    regular, bold = setter.fonts["regular"], setter.fonts["bold"]
    number, _, words = (
        sheet.chapter.partition(" ") if sheet.chapter[:1].isdigit() else ("", "", sheet.chapter)
    )
    sheet.page.draw_line((LEFT, 44), (RIGHT, 44), color=RULE, width=0.6)
    head = "Meridian owner's manual" if not recto else words
    x = LEFT if not recto else RIGHT - regular.text_length(head, 8)
    sheet.write(x, 38, head, regular, 8, GREY)
    edge = RIGHT - bold.text_length(label, 9) if recto else LEFT
    sheet.write(edge, 566, label, bold, 9)
    if re.fullmatch(r"\d+", number):
        top = 70.0 + (int(number) - 1) * 50
        tab = (WIDTH - 22, top, WIDTH, top + 44) if recto else (0, top, 22, top + 44)
        sheet.page.draw_rect(tab, color=None, fill=ACCENT)
        middle = (tab[0] + tab[2]) / 2 - bold.text_length(number, 12) / 2
        sheet.write(middle, top + 26, number, bold, 12, (1.0, 1.0, 1.0))
