"""A page in other reading orders: columns and rows from boxes alone, and quotes that only these hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.text.locate import locate
from proofspan.evidence.text.page_text import PageText, other_orders
from proofspan.evidence.types import FoundSpan, SpanQuery
from tests.pdf_files import LINE, MadeDocument

LEFT = ("Change the engine oil", "every 15,000 km and", "note the date in the", "service book kept here.")
RIGHT = ("Check the pressure of", "all tyres, the spare", "wheel included, while", "they are cold again.")


def line(text: str, x: float, row: int) -> list[tuple[tuple[float, float, float, float], str]]:
    """The words of a line from `x` on, 5 points a character."""
    words = []
    for word in text.split():
        words.append(((x, row * LINE, x + 5.0 * len(word), row * LINE + 10.0), word))
        x += 5.0 * (len(word) + 1)
    return words


def two_columns(*, heading: str = "") -> PageText:
    """Two columns whose content stream alternates between them line by line."""
    words = line(heading, 0, 0) if heading else []
    for row, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True), start=2 if heading else 0):
        words += line(left, 0, row) + line(right, 200, row)
    return PageText.of(words, width=400.0, height=400.0)


def by_cells() -> PageText:
    """A table of three rows and three columns that the stream holds column by column."""
    cells = [("Revenue", "Costs", "Profit"), ("5,363", "4,869", "494"), ("5,058", "4,600", "458")]
    words = [
        word
        for column, texts in enumerate(cells)
        for row, text in enumerate(texts)
        for word in line(text, 100 * column, row)
    ]
    return PageText.of(words, width=400.0, height=400.0)


def find(quote: str, page: PageText) -> FoundSpan:
    return locate(SpanQuery(quote, 0), MadeDocument(page))


def test_a_column_is_found_whatever_is_between_its_lines_in_the_stream() -> None:
    for page in (two_columns(), two_columns(heading="Care of the vehicle in all seasons of the whole year")):
        for column, x in ((LEFT, 0.0), (RIGHT, 200.0)):
            found = find(" ".join(column), page)
            assert (found.status, found.differences) == ("exact", ())
            assert [rect[0] for rect in found.rects] == [x] * 4


def test_a_row_of_a_table_is_found_though_the_stream_holds_columns() -> None:
    assert find("Costs 4,869 4,600", by_cells()).status == "exact"
    found = find("Costs 4,869 4,600 Profit 494 458", by_cells())
    assert found.status == "exact"
    assert {rect[1] for rect in found.rects} == {LINE, 2 * LINE}


def test_an_altered_number_does_not_pass_in_another_order() -> None:
    found = find("Revenue 5,363 5,058 Costs 4,869 4,500 Profit 494 458", by_cells())
    assert found.status == "fuzzy"
    assert [(each.quote, each.page) for each in found.differences] == [("4,500", "4,600")]


def test_words_of_both_columns_mixed_are_no_quote() -> None:
    mixed = " ".join(word for pair in zip(LEFT[::-1], RIGHT, strict=True) for word in pair)
    assert find(mixed, two_columns()).status in ("not_found", "partial")


def test_a_page_in_order_has_no_other_order() -> None:
    page = PageText.of([*line(LEFT[0], 0, 0), *line(LEFT[1], 0, 1)], width=400.0, height=400.0)
    assert other_orders(page) == []


BOX = st.tuples(st.integers(0, 300), st.integers(0, 300), st.integers(1, 60), st.integers(1, 30)).map(
    lambda box: (float(box[0]), float(box[1]), float(box[0] + box[2]), float(box[1] + box[3]))
)


@given(st.lists(BOX, max_size=30))
def test_every_order_holds_every_word_once(boxes: list[tuple[float, float, float, float]]) -> None:
    page = PageText.of([(box, f"w{number}") for number, box in enumerate(boxes)], width=400.0, height=400.0)
    for other in other_orders(page):
        assert sorted(zip(other.words, other.boxes, strict=True)) == sorted(
            zip(page.words, page.boxes, strict=True)
        )
