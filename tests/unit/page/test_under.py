"""The words under a highlight: those of the page, in its order and lines, not more than a copy may hold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Box
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.services.page.text_under import (
    CUT,
    MAX_TEXT,
    MAX_TEXTS,
    PageWord,
    texts_under,
)
from tests.pdf_files import write_pages

LINES = ["Change the oil every 15,000 km.", "Use grade 5W-30 and a", "new filter each time."]


def words_of(*lines: str) -> list[PageWord]:
    """Words as a typewriter sets them: 6 points a character, 12 a line."""
    words: list[PageWord] = []
    for row, line in enumerate(lines):
        column = 0
        for word in line.split(" "):
            left = 6.0 * column
            words.append(((left, 12.0 * row, left + 6 * len(word), 12.0 * row + 10), word))
            column += len(word) + 1
    return words


def text_under(rects: Sequence[Box], words: Sequence[PageWord], *, rotation: int = 0) -> str:
    return texts_under({"span": rects}, words, rotation=rotation).get("span", "")


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(timeout_s=120) as pool:
        yield pool


def test_words_whose_centre_lies_in_a_box_line_by_line() -> None:
    words = words_of(*LINES)
    assert text_under([(66, 0, 200, 10), (0, 12, 60, 22)], words) == "oil every 15,000 km.\nUse grade"
    assert text_under([(0, 12, 60, 22), (66, 0, 200, 10)], words) == "oil every 15,000 km.\nUse grade"
    assert text_under([(500, 0, 600, 10)], words) == ""
    assert text_under([], words) == text_under([(0, 0, 9, 9)], []) == ""


def test_the_cells_of_a_row_are_on_one_line() -> None:
    words: list[PageWord] = [
        ((0, 0, 50, 10), "Goodwill"),
        ((300, 1, 340, 11), "5,559"),
        ((0, 14, 50, 24), "Cash"),
    ]
    assert text_under([(0, 0, 400, 30)], words) == "Goodwill 5,559\nCash"


def test_a_word_under_two_boxes_is_there_once() -> None:
    assert text_under([(0, 0, 60, 10), (30, 0, 90, 10)], words_of("Change the oil")) == "Change the oil"


@given(st.lists(st.tuples(*[st.floats(0, 200)] * 4), max_size=30), st.lists(st.integers(0, 4), max_size=4))
def test_it_is_what_comparing_every_word_with_every_box_gives(
    boxes: list[tuple[float, float, float, float]], lines: list[int]
) -> None:
    words = words_of(*(LINES[line % 3] for line in lines))
    inside = [
        word
        for (x0, y0, x1, y1), word in words
        if any(b[0] <= (x0 + x1) / 2 <= b[2] and b[1] <= (y0 + y1) / 2 <= b[3] for b in boxes)
    ]
    assert text_under(boxes, words).split() == inside


def test_a_copy_is_bounded_and_says_where_it_was_cut() -> None:
    words = words_of(*["word " * 40] * 100)
    everything = (0.0, 0.0, 2_000.0, 2_000.0)
    text = text_under([everything], words)
    assert MAX_TEXT - 10 < len(text) <= MAX_TEXT + len(CUT)
    assert text.endswith("word" + CUT)
    texts = texts_under({str(number): [everything] for number in range(10)}, words)
    assert list(texts) == ["0", "1", "2", "3"][: len(texts)]
    assert sum(map(len, texts.values())) <= MAX_TEXTS + 4 * len(CUT)
    long = text_under([everything], [((0, 0, 10, 10), "x" * 10_000)])
    assert long == "x" * MAX_TEXT + CUT


def test_two_thousand_boxes_are_no_work() -> None:
    words = words_of(*["word " * 40] * 60)
    spans = {
        str(number): [(0.0, 7.0 * (number % 100), 100.0, 7.0 * (number % 100) + 3)] for number in range(2_000)
    }
    started = time.process_time()
    texts_under(spans, words)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (20.0, 30.0, 380.0, 290.0)])
def test_the_text_under_a_found_quote_is_the_quote(
    pool: PdfPool, tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    path = write_pages(tmp_path / "turned.pdf", [LINES], rotation=rotation, crop=crop)
    quote = "every 15,000 km. Use grade 5W-30 and a new filter"
    found = pool.locate(path, SpanQuery(quote, 0))
    image = pool.show(path, 0, with_words=True)
    text = text_under(found.rects, image.words, rotation=image.page.rotation)
    assert text.split() == quote.split()
    if not rotation:
        assert text == "every 15,000 km.\nUse grade 5W-30 and a\nnew filter"


def test_lines_that_run_to_the_right_of_a_turned_page_part_there(pool: PdfPool, tmp_path: Path) -> None:
    """Text set to be read on the turned page: its lines run up the unrotated one."""
    import pymupdf

    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    for number, line in enumerate(LINES):
        page.insert_text((60 + 20 * number, 280), line, fontsize=11, rotate=90)
    page.set_rotation(90)
    path = tmp_path / "landscape.pdf"
    document.save(path)
    found = pool.locate(path, SpanQuery(" ".join(LINES), 0))
    image = pool.show(path, 0, with_words=True)
    assert text_under(found.rects, image.words, rotation=90) == "\n".join(LINES)
