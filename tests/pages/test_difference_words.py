"""`The answer says 2.3 bar, the page says 2.5 bar.`: who says what, and with which unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.types import Difference
from proofspan.ui.wording.citation import figures, says, sentence


def sentence_on(
    quoted: str, page: str, quote: str, *, answer: str = "", others: tuple[Difference, ...] = ()
) -> str:
    difference = Difference(quoted, page, "number")
    pieces = sentence(difference, quote, (difference, *others), quote_from="payload", answer=answer)
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("quoted", "page", "quote", "words"),
    [
        ("2.3", "2.5", "Inflate to 2.3 bar.", "says 2.3 bar, the page says 2.5 bar."),
        ("54", "45", "after 54 seconds.", "says 54 seconds, the page says 45 seconds."),
        ("7", "8", "costs 7 % more", "says 7 %, the page says 8 %."),
        ("60", "80", "at most 60\u00a0km/h here", "says 60 km/h, the page says 80 km/h."),
        ("90", "95", "above 90 °C the lamp", "says 90 °C, the page says 95 °C."),
        ("4.8", "4.3", "litres: 4.8, for the 1.2 T", "says 4.8, the page says 4.3."),
        ("10", "12", "from 10 to 20 minutes", "says 10, the page says 12."),
        ("3", "4", "first 3 which", "says 3, the page says 4."),
        ("5", "6", "5 bar in front, 5 litres behind", "says 5, the page says 6."),
        ("1.4", "1.0 or 1.1", "a level of 1.4", "says 1.4, the page says 1.0 or 1.1."),
    ],
)
def test_a_figure_is_shown_with_the_unit_that_both_sides_have(
    quoted: str, page: str, quote: str, words: str
) -> None:
    assert sentence_on(quoted, page, quote) == f"The quote {words}"


def test_a_unit_that_differs_too_or_words_of_the_page_alone_leave_it_out() -> None:
    quote = "Inflate to 2.3 bar."
    assert sentence_on("2.3", "2.5", quote, others=(Difference("bar", "psi", "word"),)) == (
        "The quote says 2.3, the page says 2.5."
    )
    assert sentence_on("2.3", "2.5", quote, others=(Difference("", "about", "word"),)) == (
        "The quote says 2.3, the page says 2.5."
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Inflate them to 2.3 bar.", "The answer says 2.3 bar, the page says 2.5 bar."),
        ("Inflate them to 2.3  bar", "The answer says 2.3 bar, the page says 2.5 bar."),
        ("The value is 2.3.", "The answer says 2.3, the page says 2.5."),
        ("The value is 12.3 bar.", "The quote says 2.3 bar, the page says 2.5 bar."),
        ("The value is -2.3 bar.", "The quote says 2.3 bar, the page says 2.5 bar."),
        ("The value is 2.35 bar.", "The quote says 2.3 bar, the page says 2.5 bar."),
        ("", "The quote says 2.3 bar, the page says 2.5 bar."),
    ],
)
def test_the_answer_is_named_only_where_it_says_that_very_figure(answer: str, words: str) -> None:
    assert sentence_on("2.3", "2.5", "Inflate to 2.3 bar.", answer=answer) == words


@pytest.mark.parametrize("answer", ["7 %", "7%", "7°", "1.7", "7.5", "7,000", "1/7", "7/8", "−7", "x7"])
def test_another_figure_with_the_same_digits_is_not_the_same(answer: str) -> None:
    assert not says(f"It is {answer} here", "7")


def test_a_side_that_is_missing_is_reported() -> None:
    assert sentence_on("", "2.5", "Inflate") == "The quote omits a word, the page says 2.5."
    assert sentence_on("2.3", "", "Inflate to 2.3 bar.") == "The quote has 2.3, which is not on the page."
    assert figures([Difference("", "2.5", "number"), Difference("a", "b", "word")]) == []


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=60), st.text(max_size=60))
def test_whatever_differs_is_quoted_unchanged(quoted: str, page: str, quote: str, answer: str) -> None:
    pieces = sentence(Difference(quoted, page, "number"), quote, quote_from="chunk", answer=answer)
    texts = [piece.text for piece in pieces]
    assert quoted in texts or not quoted
    assert page in texts or not page
