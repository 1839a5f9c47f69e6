"""Locating a quote on one page: status, boxes, differences, and what must not be located."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.geometry import line_boxes
from proofspan.evidence.text.match import find_misquoted, find_on_page
from proofspan.evidence.types import Difference
from tests.pdf_files import CHARACTER, LINE, page_text, quote_text
from tests.unit.locating.match_page import BRAKES, only


@pytest.mark.parametrize(
    ("quote", "status"),
    [
        ("Top up with DOT 4 fluid only", "exact"),
        ("Top up\n   with DOT\t4 fluid\u00a0only", "exact"),
        ("once a year. Top up with DOT 4 fluid", "exact"),
        ("top up with dot 4 FLUID only", "normalized"),
        ("Top up with DOT 4 fluid, only", "normalized"),
        ("have the system inspected for leaks", "normalized"),
        ("havethesystem inspected for leaks", "normalized"),
        ("DOT 4", "exact"),
    ],
)
def test_a_quote_that_is_there(quote: str, status: str) -> None:
    match = only(quote)
    assert (match.status, match.agreement, match.differences) == (status, 1.0, ())


def test_a_misquoted_number_at_the_end_is_in_the_box() -> None:
    page = "Net sales of the division were 2.5 million"
    match = only("Net sales of the division were 2.3", page)
    assert match.differences == (Difference("2.3", "2.5", "number"),)
    assert match.rects[0][2] == pytest.approx(page.index(" million") * CHARACTER)


def test_numbers_come_first_among_the_differences() -> None:
    match = only("Chekc the level of the brake fluid every 10,500 km or once a year. Top up with DOT 4")
    assert match.differences == (
        Difference("10,500", "10,000", "number"),
        Difference("Chekc", "Check", "word"),
    )


def test_misread_letters_and_dropped_words_still_find_their_place() -> None:
    match = only("Tcp up with DOT 4 flu1d only; nevor mix with mineral oil.")
    assert match.status == "fuzzy"
    assert match.agreement > 0.9
    assert match.rects == ((0.0, LINE, 60 * CHARACTER, 2 * LINE - 2),)


def test_the_same_sentence_of_another_table_is_not_the_place() -> None:
    page = page_text("Net income for the years ended was 4,869 and 5,058 and 5,363 in all")
    assert (
        find_on_page(quote_text("Net income for the years ended was 1,111 and 2,222 and 5,363"), page) == []
    )


@pytest.mark.parametrize(
    "quote",
    [
        "an entirely different sentence about tyres and their pressure in cold weather",
        "of the a and or it with",
        "fluid level brake the check",
        "DOT 5",
        "reserve oil",
        "—",
    ],
)
def test_what_is_not_there_is_not_found(quote: str) -> None:
    assert find_on_page(quote_text(quote), page_text(*BRAKES)) == []


def test_a_quote_that_begins_inside_a_word_differs_in_that_word() -> None:
    match = only(
        "port of goods rose by a fifth within the year", "The export of goods rose by a fifth within the year"
    )
    assert match.status == "fuzzy"
    assert match.differences == (Difference("port", "export", "word"),)


def test_a_header_that_is_not_on_the_page_makes_a_part() -> None:
    match = only("Company: Meridian\nDocument: manual\n" + " ".join(BRAKES[:3]))
    assert match.status == "partial"
    assert match.differences[0].quote.startswith("Company: Meridian")
    assert len(match.rects) == 3


def test_a_quote_that_occurs_twice_gives_both_places() -> None:
    matches = find_on_page(
        quote_text("press the button"), page_text("press the button", "then press the button")
    )
    assert [match.rects[0][1] for match in matches] == [0.0, LINE]


def test_one_box_a_line_split_at_the_gaps_of_a_table() -> None:
    match = only("Net sales 5,363 4,869", "Net sales       5,363       4,869")
    assert len(match.rects) == 3


@given(st.data())
def test_any_stretch_of_a_page_is_found_where_it_is(data: st.DataObject) -> None:
    page = page_text(*BRAKES)
    first = data.draw(st.integers(0, len(page.words) - 4))
    last = data.draw(st.integers(first + 3, len(page.words) - 1))
    match = find_on_page(quote_text(" ".join(page.words[first : last + 1])), page)[0]
    assert match.status == "exact"
    assert match.rects == line_boxes(page.boxes[first : last + 1])


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    for match in find_on_page(quote_text(text), page_text(*BRAKES)):
        assert match.rects
        assert 0 < match.agreement <= 1


def test_a_first_word_that_the_line_before_holds_too_stays_with_its_quote() -> None:
    match = only(
        "The distance between the MIN and MAX marks is 1.4 litre, so half of it is missing.",
        "5. Read the level: it must lie between the MIN and MAX marks.",
        "The distance between the MIN and MAX marks is 1.0 litre, so half of it is missing.",
    )
    assert match.differences == (Difference("1.4", "1.0", "number"),)
    assert match.rects[0][0] == 0.0


def test_a_long_quote_on_a_long_page_is_answered_in_time() -> None:
    """Every place of the page times every token of the quote would be minutes."""
    quote = quote_text("a " * 5_000 + "1 2 " + "b " * 1_000)
    began = time.process_time()
    assert find_misquoted(quote, page_text("a " * 20_000)) == []
    assert time.process_time() - began < 3


def test_a_long_quote_may_be_cut_within_its_first_and_last_word() -> None:
    words = " ".join(f"{letter}word" for letter in "abcdefghijklmnopqrstuvwxyz")
    text = f"fiscal {words} {words} 52"
    assert only(text[1:-1], text).is_clean
    assert not only(text[1:-1], text + " more").is_clean  # 52 is no page number then
    short = f"fiscal {words}"
    assert only(short[1:], short).differences == (Difference("iscal", "fiscal", "word"),)


TABLE = (
    "Share-based plans expense 202 202 190",
    "Reserve 17% 16% 15% of litre",
    "Less than 1 year 1-3 years 3-5 years After 5 years",
    "Deferred taxes 341 (20) 321 Investments 1,260 1,260 Other",
)


@pytest.mark.parametrize(
    "text",
    [
        "Share-based plans expense202  202 190",
        "Reserve17 % 16% 15% of litre",
        "Reserve 17% 16% 15% of litre Less than 1year 1-3years 3-5years After 5years Deferred taxes 341 (20)",
        "Deferred taxes341 (20) 321Investments1,260  1,260Other",
    ],
)
def test_white_space_lost_beside_a_figure_is_no_difference(text: str) -> None:
    match = only(text, *TABLE)
    assert (match.status, match.differences, match.footnotes) == ("normalized", (), ())


@pytest.mark.parametrize(
    "text",
    [
        "Share-based plans expense202202 190",
        "Share-based plans expense20 2202 190",
        "Reserve17 16% 15% of litre",
        "Reserve 17% 16% 15% of litre Less than 1year 1-3years 3-6years After 5years Deferred taxes 341 (20)",
        "Deferred taxes341 20 321Investments1,260 1,260Other",
    ],
)
def test_glued_words_hide_no_other_figure(text: str) -> None:
    matches = find_on_page(quote_text(text), page_text(*TABLE))
    assert all(match.differences and not match.is_clean for match in matches)
