"""Cited cells of tables: label, head and value are of one row and column, whatever the wording."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.evidence.tables.locate_cells import locate_cells
from proofspan.evidence.tables.reading import read_tables
from proofspan.evidence.text.locate import locate
from proofspan.evidence.text.page_index import WordIndex
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import FoundSpan, SpanQuery

ROW, COLUMN, WORD = 14.0, 90.0, 5.0
TYRES = (
    ("Tyre pressures (in bar)", "", "", ""),
    ("", "Empty", "", "Loaded"),
    ("Tyre size", "front", "rear", "all wheels"),
    ("195/65 R15", "2.3", "2.2", "2.6"),
    ("205/55 R16", "2.4", "2.3", "2.8"),
    ("Spare wheel of every", "", "", ""),
    ("size", "4.1", "4.2", "4.3"),
)
SALES = (
    ("Sales (in thousands)", "", ""),
    ("", "2025", "2024"),
    ("Repairs", "7,244", "7,687"),
    ("Total sales", "41,287", "(39,115)"),
)


class Paper:
    """A document of pages that are given as words."""

    def __init__(self, *pages: PageText) -> None:
        self.pages, self.page_count = pages, len(pages)

    def page_text(self, page_idx: int) -> PageText:
        return self.pages[page_idx]

    def word_index(self, pages: range) -> WordIndex:
        return WordIndex(self.pages)


def page(rows: tuple[tuple[str, ...], ...]) -> PageText:
    """Cells in columns, a word for each word, 9 points high."""
    words = []
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            left, top = 40 + COLUMN * (column + bool(column)), 40 + ROW * number
            for word in cell.split():
                words.append(((left, top, left + WORD * len(word), top + 9), word))
                left += WORD * (len(word) + 0.6)
    return PageText.of(words, width=600, height=800)


def find(quote: str, *pages: PageText, cited: int | None = 0) -> FoundSpan:
    query, paper = SpanQuery(quote, cited), Paper(*pages)
    return locate_cells(query, paper, locate(query, paper))


@pytest.mark.parametrize(
    ("quote", "row", "column"),
    [
        ("205/55 R16: 2.8", "205/55 R16", "Loaded all wheels"),
        ("205/55 R16, all wheels: 2.8", "205/55 R16", "all wheels"),
        ("Spare wheel of every size, rear: 4.2", "Spare wheel of every size", "rear"),
        ("For 205/55 R16, front was 2.4.", "205/55 R16", "front"),
        ("| 195/65 R15 | 2.3 | 2.2 | 2.6 |", "195/65 R15", ""),
    ],
)
def test_the_row_and_the_column_are_named(quote: str, row: str, column: str) -> None:
    found = find(quote, page(TYRES))
    assert (found.page_idx, found.row, found.differences) == (0, row, ())
    assert found.column == column or not column


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("Repairs, 2024: 7,244", "7,687"),
        ("Repairs: 7,245", "7,244"),
        ("In 2025, total sales were 41,827.", "41,287"),
        ("Total sales, 2024: 39,115", "(39,115)"),
    ],
)
def test_another_value_is_given_beside_the_cited_one(quote: str, there: str) -> None:
    found = find(quote, page(SALES))
    assert found.status == "fuzzy"
    assert [each.page for each in found.differences] == [there]
    assert found.numbers_differ


def test_a_value_of_another_row_is_not_clean() -> None:
    assert find("Repairs, 2025: 41,287", page(SALES)).differences
    assert find("Rent, 2025: 41,287", page(SALES)).status == "not_found"


@pytest.mark.parametrize("amount", ["$41.3 million", "41,287 thousand", "about 41 million"])
def test_a_value_in_another_scale_agrees(amount: str) -> None:
    found = find(f"Total sales were {amount} in 2025.", page(SALES))
    assert (found.row, found.column, found.differences) == ("Total sales", "2025", ())


def test_a_number_that_the_quote_misquotes_is_listed_though_cells_explain_its_other_words() -> None:
    votes = page(
        (("For", "101,102,370"), ("Against", "110,102,370"), ("Abstain", "8,796,897"), ("Broker votes", "77"))
    )
    found = find("Against 110,102,370 Abstain 8796897 Broker", votes)
    assert (found.status, [each.quote for each in found.differences]) == ("fuzzy", ["8796897"])


def test_a_sentence_may_have_a_value_for_each_head() -> None:
    found = find("Repairs fell from 7,687 in 2024 to 7,244 in 2025.", page(SALES))
    assert (found.status, found.row, found.differences) == ("fuzzy", "Repairs", ())


def test_another_value_is_no_finding_on_a_page_that_nobody_cited() -> None:
    preface = page((("Preface",),))
    assert find("Total sales, 2024: 41,287", preface, page(SALES)).row == ""
    assert find("Total sales, 2025: 41,287", preface, page(SALES)).page_idx == 1


def test_a_table_is_read_with_labels_heads_and_caption() -> None:
    (table,) = read_tables(page(SALES))
    assert table.caption == "Sales (in thousands)"
    assert [(row.label, [(c.head, c.value) for c in row.cells]) for row in table.rows] == [
        ("Repairs", [("2025", "7,244"), ("2024", "7,687")]),
        ("Total sales", [("2025", "41,287"), ("2024", "(39,115)")]),
    ]


def test_a_numbered_list_is_no_table() -> None:
    steps = (("1.", "Open the cap."), ("2.", "Check the oil."), ("3.", "Close it."))
    assert read_tables(page(steps)) == ()


def test_a_huge_table_of_equal_cells_ends() -> None:
    wide = page((("0",) * 120,) * 60)
    for quote in ("0 " * 60 + "1", "Total, 0, 0: 7", ("|" + "0|" * 120 + "\n") * 20):
        assert find(quote, wide).status in ("not_found", "fuzzy", "partial", "normalized", "exact")


@settings(max_examples=40, deadline=None)
@given(quote=st.text(alphabet="ab 01,.:|-()\n%$\t\u05d0", max_size=60), cited=st.sampled_from([0, None]))
def test_any_quote_has_a_result_within_the_page(quote: str, cited: int | None) -> None:
    found = find(quote, page(SALES), cited=cited)
    assert found.page_idx in (None, 0)
    assert all(0 <= x0 < x1 <= 600 and 0 <= y0 < y1 <= 800 for x0, y0, x1, y1 in found.rects)
