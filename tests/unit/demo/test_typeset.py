"""The manual is set as a printed one is, and the places of its blocks are right."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations, pairwise

import pymupdf
import pytest

from tools.demo.book import Book, make_book
from tools.demo.faces import faces, wrap
from tools.demo.keywords import Keyword, read_keywords
from tools.demo.markup import SOFT_HYPHEN, Block, parse, plain, read_manual
from tools.demo.pages import Part, Placed
from tools.demo.sources import HERE, MANUAL, TITLES, manual_of
from tools.demo.typeset import SIGNAL

pytestmark = pytest.mark.slow

TITLE = TITLES[MANUAL]

SMALL = """= MERIDIAN
= Owner's manual
= Model year 2026

# About
## i.1 How to read
Read it from the front to the back.

% Contents

# 1 Driving
## 1.1 Starting
### 1.1.1 In frost
A para\\-graph with a ﬁgure that is set in type.

1. First this.
2. Then that.

- one thing
- another

@ Table 1-1. Symbols
Lamp | Colour | Meaning
*oil | Red | Oil pressure too low
*fuel | Amber | Reserve

! CAUTION
Mind
the paint.

% Index
"""

KEYWORDS = [(Keyword("Oil", ("1.1",)), Keyword("in frost", ("1.1.1",), sub=True))]


@pytest.fixture(scope="module")
def book() -> Book:
    return manual_of()


@pytest.fixture(scope="module")
def document(book: Book) -> pymupdf.Document:
    return pymupdf.open(stream=book.pdf)


def _same(text: str) -> str:
    """Text without what setting it changes: spaces, hyphens at line ends, ligatures."""
    return re.sub(r"[\s\-]", "", plain(text))


def _row(row: tuple[str, ...]) -> str:
    return "".join(cell for cell in row if not re.fullmatch(r"\*[a-z_]+", plain(cell)))


def _expected(placed: Placed) -> str:
    block = placed.block
    if block.kind == "table":
        return block.name + "".join(map(_row, block.cells))
    if block.kind in SIGNAL:
        return SIGNAL[block.kind][0] + block.lines[0]
    return "".join(block.lines)


def _words(document: pymupdf.Document, part: Part) -> str:
    """Return the text in the part's box, in the order of the content stream: all of it wholly inside."""
    x0, y0, x1, y1 = part.bbox
    box, around = pymupdf.Rect(part.bbox), pymupdf.Rect(x0 - 0.3, y0 - 0.3, x1 + 0.3, y1 + 0.3)
    words = document[part.page_idx].get_text("words", sort=False)
    inside = [word for word in words if _middle(word) in box]
    assert all(pymupdf.Rect(word[:4]) in around for word in inside), part
    return "".join(word[4] for word in inside)


def _middle(word: tuple[float, float, float, float, str]) -> pymupdf.Point:
    x0, y0, x1, y1 = word[:4]
    return pymupdf.Point((x0 + x1) / 2, (y0 + y1) / 2)


def _found(document: pymupdf.Document, placed: Placed) -> str:
    """The words of all parts; what a table repeats on its next page is left out once it has been checked."""
    parts = [_same(_words(document, part)) for part in placed.parts]
    if placed.block.kind == "table":
        again = _same(placed.block.name + " (continued)" + _row(placed.block.cells[0]))
        assert all(part.startswith(again) for part in parts[1:])
        parts[1:] = [part.removeprefix(again) for part in parts[1:]]
    return "".join(parts)


def test_setting_it_again_gives_the_same_bytes() -> None:
    one, other = (make_book(parse(SMALL), title=TITLE, keywords=KEYWORDS) for _ in range(2))
    assert one.pdf == other.pdf


def test_the_index_refuses_a_section_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=r"'Horn'.*9\.9"):
        make_book(parse(SMALL), title=TITLE, keywords=[(Keyword("Horn", ("9.9",)),)])


def test_the_index_names_the_pages_of_its_keywords_sections(book: Book, document: pymupdf.Document) -> None:
    text = _between(document, "Index")
    page_of = {words.split(" ")[0]: page - 1 for _, words, page in document.get_toc()}
    keywords = [keyword for entry in read_keywords() for keyword in entry]
    assert len(keywords) >= 120
    for keyword in keywords:
        pages = sorted({page_of[section] for section in keyword.sections})
        assert _same(keyword.words + ", ".join(book.labels[page] for page in pages)) in text, keyword


def test_every_part_holds_exactly_its_blocks_words(book: Book, document: pymupdf.Document) -> None:
    wrong = [
        (placed.block.section, _same(_expected(placed)), found)
        for placed in book.placed
        if (found := _found(document, placed)) != _same(_expected(placed))
    ]
    assert wrong == []


def test_every_block_of_text_is_placed_once(book: Book) -> None:
    silent = {"title", "contents", "index", "chapter", "heading", "page", "columns"}
    texts = [block for block in parse(read_manual(HERE / "manual")) if block.kind not in silent]
    assert sorted(map(repr, texts)) == sorted(repr(placed.block) for placed in book.placed)


def test_blocks_are_in_reading_order_and_do_not_overlap(book: Book) -> None:
    pages = [placed.page_idx for placed in book.placed]
    assert pages == sorted(pages)
    boxes: dict[int, list[pymupdf.Rect]] = defaultdict(list)
    for placed in book.placed:
        for part in [*placed.parts, *([placed.art] if placed.art else [])]:
            boxes[part.page_idx].append(pymupdf.Rect(part.bbox))
    for page_idx, found in boxes.items():
        for one, other in combinations(found, 2):
            assert (one & other).is_empty or (one & other).get_area() < 0.1, (page_idx, one, other)


def test_no_text_is_outside_the_visible_page(document: pymupdf.Document) -> None:
    for page in document:
        visible = page.rect * page.derotation_matrix
        assert all(pymupdf.Rect(word[:4]) in visible for word in page.get_text("words")), page.number


def test_the_form_of_the_pages(document: pymupdf.Document) -> None:
    """One page has a crop box, one is turned, one has a picture and no text; all look like A5."""
    cropped = [page for page in document if page.cropbox != page.mediabox]
    turned = [page for page in document if page.rotation == 90]
    pictures = [page for page in document if not page.get_text("words")]
    assert [len(cropped), len(turned), len(pictures)] == [1, 1, 1]
    assert {tuple(sorted(page.rect.br)) for page in document} == {(420.0, 595.0)}
    assert pictures[0].get_images()
    assert turned[0].get_text("words")[0][3] - turned[0].get_text("words")[0][1] > 0


def test_the_turned_table_is_upright_when_viewed(document: pymupdf.Document) -> None:
    page = next(page for page in document if page.rotation == 90)
    lines = [line for block in page.get_text("dict")["blocks"] for line in block["lines"]]
    assert {tuple(round(value) for value in line["dir"]) for line in lines} == {(0, -1)}


def test_labels_are_those_of_the_pdf_and_begin_again_with_chapter_1(
    book: Book, document: pymupdf.Document
) -> None:
    assert tuple(page.get_label() for page in document) == book.labels
    front = book.labels.index("1")
    first = next(placed for placed in book.placed if placed.block.section.startswith("1"))
    assert book.labels[:3] == ("i", "ii", "iii")
    assert first.page_idx == front and front % 2 == 0, "chapter 1 begins on a right-hand page"
    assert book.labels[-1] == str(document.page_count - front)


def test_the_outline_is_three_deep_and_leads_to_the_headings(document: pymupdf.Document) -> None:
    outline = document.get_toc()
    assert {level for level, _, _ in outline} == {1, 2, 3}
    for _, words, page in outline:
        assert _same(words) in _same(document[page - 1].get_text()), words


def test_contents_name_the_printed_labels(book: Book, document: pymupdf.Document) -> None:
    text = _between(document, "Contents")
    for _, words, page in document.get_toc():
        if words not in ("Contents", "Index"):
            assert _same(words + book.labels[page - 1]) in text, words


def _between(document: pymupdf.Document, name: str) -> str:
    """The text of the pages between an entry of the outline and the next one."""
    chapters = [(words, page) for level, words, page in document.get_toc() if level == 1]
    chapters.append(("", document.page_count + 1))
    first, last = next((page, end) for (words, page), (_, end) in pairwise(chapters) if words == name)
    return _same("".join(document[page - 1].get_text() for page in range(first, last)))


def test_a_sentence_runs_over_a_page_break(book: Book, document: pymupdf.Document) -> None:
    over = [
        placed
        for placed in book.placed
        if placed.block.kind == "paragraph" and len({part.page_idx for part in placed.parts}) == 2
    ]
    ends = [_words(document, placed.parts[0])[-1] for placed in over]
    assert any(end not in ".:!?" for end in ends)
    for placed in over:
        assert all(part.bbox[3] - part.bbox[1] > 20 for part in placed.parts), "two lines on either side"


def test_long_tables_run_over_pages_and_columns_are_read_one_after_the_other(book: Book) -> None:
    tables = [placed for placed in book.placed if placed.block.kind == "table" and len(placed.parts) > 1]
    assert len(tables) >= 2
    columns = [part for placed in book.placed for part in placed.parts if part.bbox[2] < 215]
    assert len({part.page_idx for part in columns}) >= 3


def test_marks_are_in_their_tables(book: Book) -> None:
    marks = [(mark, placed) for placed in book.placed for mark in placed.marks]
    assert len({mark.name for mark, _ in marks}) >= 24
    for mark, placed in marks:
        assert f"*{mark.name}" in map(plain, placed.block.cells[mark.row])
        part = next(part for part in placed.parts if part.page_idx == mark.page_idx)
        assert pymupdf.Rect(mark.bbox) in pymupdf.Rect(part.bbox)


def test_pages_are_full_and_no_heading_comes_last(book: Book, document: pymupdf.Document) -> None:
    """Within a chapter no page ends more than a quarter above its foot."""
    begins = {page - 1 for level, _, page in document.get_toc() if level == 1}
    headings = [(_same(words), page - 1) for _, words, page in document.get_toc()]
    for page, following in pairwise(document):
        words = [word for word in page.get_text("words") if 50 < word[3] < 556]
        if page.rotation or not words or not following.get_text("words"):
            continue
        last = "".join(word[4] for word in words if word[3] > max(word[3] for word in words) - 4)
        assert (_same(last), page.number) not in headings
        if following.number not in begins and not _in_columns(book, page.number):
            assert max(word[3] for word in words) > 440, page.get_label()


def _in_columns(book: Book, page_idx: int) -> bool:
    parts = [part for placed in book.placed for part in placed.parts if part.page_idx == page_idx]
    return any(part.bbox[2] < 215 for part in parts)


def test_parse_knows_every_mark() -> None:
    blocks = parse(SMALL)
    assert [block.kind for block in blocks] == [
        "title", "chapter", "heading", "paragraph", "contents", "chapter", "heading", "heading", "paragraph",
        "steps", "list", "table", "caution", "index",
    ]  # fmt: skip
    table, caution = blocks[-3], blocks[-2]
    assert table.name == "Table 1-1. Symbols" and table.cells[1] == ("*oil", "Red", "Oil pressure too low")
    assert (caution.lines, caution.section, caution.title) == (("Mind the paint.",), "1.1.1", "In frost")
    assert caution.path == ("Driving", "Starting", "In frost")
    assert [block.level for block in blocks if block.kind == "heading"] == [1, 1, 2]


@pytest.mark.parametrize(
    "source",
    ["! DANGER\nMind it.", "! NOTE", "@ Table\nOne | Two\nOne", "% pages", "## 1.1 Alone", "~~ odd", "* odd"],
)
def test_mistyped_markup_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"not a|without one"):
        parse(source)


def test_a_figure_that_is_not_drawn_is_named() -> None:
    blocks = [*parse(SMALL), Block("figure", ("Caption",), name="nothing")]
    with pytest.raises(ValueError, match="nothing"):
        make_book(blocks, title=TITLE, keywords=KEYWORDS)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("the oil level is low", ["the oil level is", "low"]),
        (f"an unbreak{SOFT_HYPHEN}able part", ["an unbreak-", "able part"]),
        (f"over{SOFT_HYPHEN}whelm{SOFT_HYPHEN}ing", ["overwhelm-", "ing"]),
        ("安全な場所に車を止めて。", ["安全な場所に", "車を止めて。"]),
        ("ok 安全な場所に車を。", ["ok 安全な場", "所に車を。"]),
        ("安全な場所に。", ["安全な場所", "に。"]),
    ],
)
def test_lines_break_between_words_at_soft_hyphens_and_between_japanese_characters(
    text: str, lines: list[str]
) -> None:
    assert [" ".join(words) for words in wrap(text, 53.0, faces()["regular"])] == lines


def test_a_figure_stays_with_its_unit() -> None:
    found = wrap("At a speed of more than thirty it is 10 km/h", 160.0, faces()["regular"])
    assert [words[-1] for words in found] == ["is", "10 km/h"]
