"""What a quote earns on one page: status, boxes, the words that differ — and what it must not earn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evidence.match import Match, find_on_page
from core.evidence.types import Difference
from tests.pdf_files import CHARACTER, LINE, page_text, quote_text

BRAKES = (
    "Check the level of the brake fluid every 10,000 km or once a year.",
    "Top up with DOT 4 fluid only; never mix it with mineral oil.",
    "The reservoir holds 2.5 litres, of which -0.5 litres are reserve.",
    "If the level falls below MIN by 15% within a month, have the sys-",
    "tem inspected for leaks by an authorised workshop at once.",
)


def only(text: str, *lines: str) -> Match:
    """The one match of a quote on a page."""
    (match,) = find_on_page(quote_text(text), page_text(*(lines or BRAKES)))
    return match


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
def test_a_quote_that_stands_there(quote: str, status: str) -> None:
    match = only(quote)
    assert (match.status, match.agreement, match.differences) == (status, 1.0, ())


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("repayments of debt were $12 in the year", "repayments of debt were $1 2 in the year"),
        ("repayments of debt were 1 2 in the year", "repayments of debt were 12 in the year"),
        ("paid $4821,826 for shares of its stock", "paid $482 1,826 for shares of its stock"),
        ("ended in 2016Net income was very high", "ended in 2016 Net income was very high"),
        ("gain on sale, net92 is part of it", "gain on sale, net 92 is part of it"),
    ],
)
def test_white_space_in_or_beside_a_number_is_no_difference(quote: str, line: str) -> None:
    match = only(quote, line)
    assert (match.status, match.agreement, match.differences) == ("normalized", 1.0, ())


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("the valves need 12 34 turns in all", "the valves need 123 4 turns in all"),
        ("the valves need 1.2 turns in all here", "the valves need 1 2 turns in all here"),
        ("the valves need -12 turns in all here", "the valves need 1 2 turns in all here"),
        ("the valves need 12% of it in all here", "the valves need 1 2 of it in all here"),
    ],
)
def test_white_space_makes_no_other_number_equal(quote: str, line: str) -> None:
    for match in find_on_page(quote_text(quote), page_text(line)):
        assert match.status not in ("exact", "normalized")
        assert any(difference.kind == "number" for difference in match.differences)


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("The reservoir holds 2.3 litres, of which -0.5 litres", Difference("2.3", "2.5", "number")),
        ("The reservoir holds 25 litres, of which -0.5 litres", Difference("25", "2.5", "number")),
        ("The reservoir holds 2,5 litres, of which -0.5 litres", Difference("2,5", "2.5", "number")),
        ("holds 2.5 litres, of which 0.5 litres are reserve", Difference("0.5", "-0.5", "number")),
        ("the level falls below MIN by 15 within a month", Difference("15", "15%", "number")),
        ("level of the brake fluid every 10000 km or once", Difference("10000", "10,000", "number")),
        ("The reservoir of the car holds 9.9", None),
    ],
)
def test_a_misquoted_number_is_a_finding(quote: str, difference: Difference | None) -> None:
    found = find_on_page(quote_text(quote), page_text(*BRAKES))
    if difference is None:
        assert found == []
    else:
        assert found[0].status == "fuzzy"
        assert found[0].agreement < 1.0
        assert found[0].differences[0] == difference


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


def test_a_quote_that_stands_twice_gives_both_places() -> None:
    matches = find_on_page(
        quote_text("press the button"), page_text("press the button", "then press the button")
    )
    assert [match.rects[0][1] for match in matches] == [0.0, LINE]


def test_one_box_a_line_split_at_the_gaps_of_a_table() -> None:
    match = only("Net sales 5,363 4,869", "Net sales       5,363       4,869")
    assert len(match.rects) == 3


@given(st.data())
def test_any_stretch_of_a_page_is_found_where_it_stands(data: st.DataObject) -> None:
    page = page_text(*BRAKES)
    first = data.draw(st.integers(0, len(page.words) - 4))
    last = data.draw(st.integers(first + 3, len(page.words) - 1))
    match = find_on_page(quote_text(page.text(first, last)), page)[0]
    assert match.status == "exact"
    assert match.rects == page.lines(first, last)


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    for match in find_on_page(quote_text(text), page_text(*BRAKES)):
        assert match.rects
        assert 0 < match.agreement <= 1
