"""Numbers of a quote on one page: another number is a difference, another way to write it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.text.match import find_misquoted, find_on_page
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import Difference
from tests.pdf_files import page_text, quote_text
from tests.unit.locating.match_page import BRAKES, only


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        ("repayments of debt were $12 in the year", "repayments of debt were $1\u20092 in the year"),
        ("repayments of debt were 1 2 in the year", "repayments of debt were 12 in the year"),
        ("paid $4821,826 for shares of its stock", "paid $482\u20091,826 for shares of its stock"),
        ("paid $4 8 2 for all shares of it", "paid $482 for all shares of it"),
        ("fill the tank with 5mm of it now", "fill the tank with 5 mm of it now"),
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
        ("the valves need 1.2 turns in all here", "the valves need 1\u20092 turns in all here"),
        ("the valves need -12 turns in all here", "the valves need 1\u20092 turns in all here"),
        ("the valves need 12% of it in all here", "the valves need 1\u20092 of it in all here"),
    ],
)
def test_white_space_makes_no_other_number_equal(quote: str, line: str) -> None:
    for match in find_on_page(quote_text(quote), page_text(line)):
        assert match.status not in ("exact", "normalized")
        assert any(difference.kind == "number" for difference in match.differences)


SHEET = (
    "A ratio of 1:10 applies to the mixture in use.",
    "The pressure in the line has a range of 10-20 bar at most.",
    "Pour in a value of 1/2 cup of water and wait.",
    "The service interval is 3-4 days for any part 12-345 and 5W-30 oil in its engine.",
    "Each row of seats has 4 8 12 places in the coach.",
)


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("A ratio of 110 applies to the mixture", Difference("110", "1:10", "number")),
        ("in the line has a range of 1020 bar at most", Difference("1020", "10-20", "number")),
        ("Pour in a value of 12 cup of water", Difference("12", "1/2", "number")),
        ("The service interval is 34 days for any part", Difference("34", "3-4", "number")),
        ("3-4 days for any part 12345 and 5W-30 oil", Difference("12345", "12-345", "number")),
        ("any part 12-345 and 5W30 oil in its engine", Difference("5W30", "5W-30", "number")),
        ("interval is 34 days", Difference("34", "3-4", "number")),
        ("Each row of seats has 4 812 places in the coach", Difference("812", "8 12", "number")),
        ("Each row of seats has 48 12 places in the coach", Difference("48", "4 8", "number")),
    ],
)
def test_numbers_are_not_run_together(quote: str, difference: Difference) -> None:
    match = only(quote, *SHEET)
    assert (match.status, match.differences) == ("fuzzy", (difference,))
    assert match.agreement < 1.0


@pytest.mark.parametrize(
    "quote",
    [
        "Ratio 110", "ratio of 110", "1020 bar", "12 cup", "34 days", "4 812", "4812", "48", "812",
        "seats has 48",
    ],
)  # fmt: skip
def test_a_few_words_with_numbers_run_together_are_not_found(quote: str) -> None:
    assert find_on_page(quote_text(quote), page_text(*SHEET)) == []


@pytest.mark.parametrize(
    ("quote", "line"),
    [
        (
            "the total count was 102 within every single test",
            "the total count was 10² within every single test",
        ),
        (
            "the total count was 10² within every single test",
            "the total count was 102 within every single test",
        ),
        (
            "the total count was 31/2 within every single test",
            "the total count was 3½ within every single test",
        ),
    ],
)
def test_an_exponent_or_a_fraction_is_no_further_digit(quote: str, line: str) -> None:
    for match in find_on_page(quote_text(quote), page_text(line)):
        assert not match.is_clean
        assert match.differences[0].kind == "number"


@pytest.mark.parametrize(("quote", "line"), [("48", "4\u20098"), ("4 8", "48"), ("1 2 34", "12 34")])
def test_a_quote_of_numbers_alone_repairs_nothing(quote: str, line: str) -> None:
    assert find_on_page(quote_text(quote), page_text("one cell of", line)) == []


def test_a_raised_digit_is_no_part_of_the_number_beside_it() -> None:
    words = [
        ((0.0, 0.0, 24.0, 10.0), "area"),
        ((30.0, 0.0, 42.0, 10.0), "25"),
        ((42.0, -3.0, 45.0, 3.0), "2"),
    ]
    assert find_on_page(quote_text("area 252"), PageText.of(words)) == []


def test_numbers_of_two_lines_never_touch() -> None:
    words = [
        ((0.0, 0.0, 24.0, 10.0), "area"),
        ((30.0, 0.0, 42.0, 10.0), "25"),
        ((43.0, 0.0, 49.0, 10.0), "2"),
    ]
    assert find_on_page(quote_text("area 252"), PageText.of(words))
    assert find_on_page(quote_text("area 252"), PageText.of(words, line_ids=[(0, 0), (0, 0), (0, 1)])) == []


WORDS = st.sampled_from(["oil", "pressure", "days", "of", "seats", "Nm", "the", "gearbox"])
FIGURES = st.from_regex(r"\A[1-9][0-9]{0,3}([.,][0-9]{1,3})?\Z")


@given(st.lists(WORDS, min_size=0, max_size=12), FIGURES, st.lists(WORDS, max_size=6), st.data())
def test_other_digits_never_pass(
    before: list[str], figure: str, after: list[str], data: st.DataObject
) -> None:
    page = page_text(" ".join([*before, figure, *after]))
    place = data.draw(st.sampled_from([i for i, c in enumerate(figure) if c.isdigit()]))
    digit = data.draw(st.sampled_from([c for c in "0123456789" if c != figure[place]]))
    quoted = figure[:place] + digit + figure[place + 1 :]
    for match in find_on_page(quote_text(" ".join([*before, quoted, *after])), page):
        assert not match.is_clean
        assert any(difference.kind == "number" for difference in match.differences)


@given(
    st.lists(WORDS, max_size=12),
    st.lists(st.integers(0, 9_999).map(str), min_size=2, max_size=4),
    st.sampled_from([" ", "   ", ":", "-", "/", " / ", " - ", ", ", ". ", " x"]),
    st.lists(WORDS, max_size=6),
)
def test_numbers_of_the_page_never_pass_as_one(
    before: list[str], numbers: list[str], mark: str, after: list[str]
) -> None:
    page = page_text(" ".join([*before, mark.join(numbers), *after]))
    for match in find_on_page(quote_text(" ".join([*before, "".join(numbers), *after])), page):
        assert not match.is_clean
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


@pytest.mark.parametrize(
    ("quote", "page", "difference"),
    [
        ("costs of $5 for each", "costs of €5 for each", Difference("$5", "€5", "number")),
        ("costs of $ 5 for each", "costs of £ 5 for each", Difference("$ 5", "£ 5", "number")),
        ("costs of 5¥ for each", "costs of $5 for each", Difference("5¥", "$5", "number")),
        ("costs of 5 for each", "costs of $ 5 for each", None),
        ("costs of $5 for each", "costs of 5 for each", None),
        ("costs of $ 5 6", "costs of $ 5 $ 6", None),
    ],
)
def test_another_currency_is_a_difference_and_a_missing_one_is_not(
    quote: str, page: str, difference: Difference | None
) -> None:
    (match,) = find_misquoted(quote_text(quote), page_text(page)) or find_on_page(
        quote_text(quote), page_text(page)
    )
    assert match.status == ("fuzzy" if difference else "normalized")
    assert match.differences == ((difference,) if difference else ())


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("Tighten all of the wheel bolts to 100Nm after", Difference("100Nm", "110Nm", "number")),
        ("Tighten all of the wheel bolts to Nm after", Difference("Nm", "110Nm", "number")),
        ("every change of wheels at 3M in the shop", Difference("3M", "5M", "number")),
        ("Tighten all of the wheel boits to 110Nm after", Difference("boits", "bolts", "word")),
    ],
)
def test_a_misquoted_figure_glued_to_its_unit_is_a_number(quote: str, difference: Difference) -> None:
    line = "Tighten all of the wheel bolts to 110Nm after every change of wheels at 5M in the shop"
    match = only(quote, line)
    assert (match.status, match.differences) == ("fuzzy", (difference,))


CUPS = "Stir 3/4 cup of water into it on 12/31/2018, then wait 2018–2019 and read page 5-6 again."


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("Stir 3-4 cup of water into it", Difference("3-4", "3/4", "number")),
        ("of water into it on 12-31-2018, then", Difference("12-31-2018,", "12/31/2018,", "number")),
        ("then wait 2018/2019 and read page", Difference("2018/2019", "2018–2019", "number")),
    ],
)
def test_another_mark_between_two_numbers_is_another_number(quote: str, difference: Difference) -> None:
    match = only(quote, CUPS)
    assert (match.status, match.differences) == ("fuzzy", (difference,))


@pytest.mark.parametrize(
    "quote", ["Stir 3/4 cup of water", "then wait 2018-2019 and read", "page 5\u20116 again"]
)
def test_the_same_mark_set_otherwise_is_no_difference(quote: str) -> None:
    assert only(quote, CUPS).is_clean


TABLE = ("Net sales 5,363 4,869 5,058 (305) 37.7%", "Costs 4,100 3,900 3,950 (210) 31.2%")


@pytest.mark.parametrize(
    ("quote", "difference"),
    [
        ("5,363 4,868 5,058", Difference("4,868", "4,869", "number")),
        ("5,363 4869 5,058", Difference("4869", "4,869", "number")),
        ("5,363 48,69 5,058", Difference("48,69", "4,869", "number")),
        ("5,058 305 37.7%", Difference("305", "(305)", "number")),
        ("5,058 (305) 37.7", Difference("37.7", "37.7%", "number")),
        ("5,058 (305) 3.77%", Difference("3.77%", "37.7%", "number")),
        ("5,058 (-305) 37.7%", Difference("(-305)", "(305)", "number")),
        ("Net sales 5,369", Difference("5,369", "5,363", "number")),
    ],
)
def test_an_altered_figure_of_a_row_is_found_on_the_page_that_is_cited(
    quote: str, difference: Difference
) -> None:
    (match,) = find_misquoted(quote_text(quote), page_text(*TABLE))
    assert (match.status, match.differences) == ("fuzzy", (difference,))


@pytest.mark.parametrize("quote", ["5,369", "1 5,369", "(305)", "Costs 5,363", "5,363 4,100 31.2%"])
def test_too_little_is_no_misquoted_figure(quote: str) -> None:
    assert find_misquoted(quote_text(quote), page_text(*TABLE)) == []


def test_figures_with_misread_digits_still_find_their_row() -> None:
    match = only(
        "For 1,005,178,935 agajnst 12,q34,137 abstain 2,634,8l7 broker 172,969,3z5",
        "For 1,005,178,935 against 12,334,137 abstain 2,634,817 broker 172,969,325 in all",
    )
    assert match.status == "fuzzy"
    assert match.differences[0] == Difference("12,q34,137", "12,334,137", "number")
