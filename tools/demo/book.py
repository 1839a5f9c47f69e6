"""Makes the finished PDF: running heads, index tabs, page labels, outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.demo.faces import ACCENT, GREY, RULE, WHITE, faces
from tools.demo.galley import heading_words
from tools.demo.keywords import Keyword, read_keywords
from tools.demo.listings import contents_pages, set_contents, set_index
from tools.demo.markup import Block, plain
from tools.demo.pages import HEIGHT, LEFT, RIGHT, WIDTH, Placed, Sheet
from tools.demo.typeset import Typesetter

_ROMAN = (
    "i",
    "ii",
    "iii",
    "iv",
    "v",
    "vi",
    "vii",
    "viii",
    "ix",
    "x",
    "xi",
    "xii",
    "xiii",
    "xiv",
    "xv",
    "xvi",
)
#: Where the index tabs begin and end on the page's outer edge.
TABS = (60.0, 546.0)


@dataclass(frozen=True, slots=True)
class Book:
    """The PDF's bytes, the place of each block, and the printed page labels by page_idx."""

    pdf: bytes
    placed: tuple[Placed, ...]
    labels: tuple[str, ...]


def make_book(
    blocks: list[Block], *, title: str, keywords: Sequence[tuple[Keyword, ...]] | None = None
) -> Book:
    """Sets the blocks. Front matter is numbered in roman figures, the body from 1: as printed manuals are.

    The index is made of the keywords; without any, of those that are written for the manual.
    """
    setter = Typesetter(contents_pages=contents_pages(blocks))
    setter.set(blocks)
    front = next(page for block, page in setter.headings if block.lines[0].startswith("1 "))
    index = read_keywords() if keywords is None else keywords
    set_index(setter, lambda page_idx: _label(page_idx, front), index)
    labels = tuple(_label(page, front) for page in range(len(setter.sheets)))
    set_contents(setter, labels)
    tabs = [block.lines[0] for block in blocks if block.kind == "chapter"]
    tabs = tabs[next(place for place, words in enumerate(tabs) if words.startswith("1 ")) :]
    for sheet, label in zip(setter.sheets, labels, strict=True):
        if not sheet.bare:
            _furniture(sheet, label, title=title, tabs=tabs)
        sheet.finish()
    return Book(_bytes(setter, front, title), setter.placed, labels)


def _bytes(setter: Typesetter, front: int, title: str) -> bytes:
    document = setter.document
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": front, "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    document.set_toc([[block.level + 1, heading_words(block), page + 1] for block, page in setter.headings])
    document.set_metadata({"title": title, "author": "Proofspan", "creationDate": None, "modDate": None})
    document.subset_fonts()
    pdf: bytes = document.tobytes(
        garbage=4, deflate=True, deflate_fonts=True, deflate_images=True, no_new_id=True, use_objstms=1
    )
    return pdf


def _label(page_idx: int, front: int) -> str:
    return _ROMAN[page_idx] if page_idx < front else str(page_idx - front + 1)


def _furniture(sheet: Sheet, label: str, *, title: str, tabs: list[str]) -> None:
    """Running head and page number, upright as the page is read, and the tab at the outer edge."""
    regular, bold = faces()["regular"], faces()["bold"]
    width, height = sheet.size
    left, right = LEFT, width - (WIDTH - RIGHT)
    sheet.page.draw_line((left, 44), (right, 44), color=RULE, width=0.6)
    number, _, words = sheet.chapter.partition(" ")
    head = title if not sheet.recto else plain(words if number.isdigit() else sheet.chapter)
    sheet.write(left if not sheet.recto else right - regular.length(head, 8), 38, head, regular, 8, GREY)
    edge = right - bold.length(label, 9) if sheet.recto else left
    sheet.write(edge, height - 29, label, bold, 9)
    chapter = "Glossary" if sheet.chapter == "Index" else sheet.chapter
    if chapter in tabs:
        _tab(sheet, tabs.index(chapter), len(tabs), number if number.isdigit() else "A–Z")


def _tab(sheet: Sheet, place: int, count: int, words: str) -> None:
    """A tab at the edge that is cut, also where the page is set sideways."""
    pitch = (TABS[1] - TABS[0]) / count
    top = TABS[0] + place * pitch
    bottom = top + pitch - 5
    x0, x1 = (WIDTH - 22, WIDTH) if sheet.recto else (0.0, 22.0)
    box = (HEIGHT - bottom, x0, HEIGHT - top, x1) if sheet.form == "rotated" else (x0, top, x1, bottom)
    sheet.page.draw_rect(box, color=None, fill=ACCENT)
    face, size = faces()["bold"], 12 if len(words) < 3 else 8.5
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    sheet.write(middle[0] - face.length(words, size) / 2, middle[1] + size * 0.36, words, face, size, WHITE)
