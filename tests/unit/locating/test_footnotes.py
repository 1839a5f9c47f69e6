"""Footnote marks and references that a quote leaves out; exponents that it must not."""

from __future__ import annotations

import unicodedata

import pytest

from proofspan.evidence.pdf.glyphs import page_of, words_of
from proofspan.evidence.text.locate import locate
from proofspan.evidence.text.match import Match, find_on_page
from proofspan.evidence.types import SpanQuery
from tests.pdf_files import MadeDocument, page_text, quote_text


def find(quote: str, page: str) -> Match | None:
    return next(iter(find_on_page(quote_text(quote), page_text(page))), None)


@pytest.mark.parametrize(
    ("quote", "page", "left_out"),
    [
        ("The pressure must be checked", "The pressure¹ must be checked", ("1",)),
        ("the pressure must", "the pressure¹² must", ("12",)),
        ("with cold tyres. Repeat it", "with cold tyres.² Repeat it", ("2",)),
        ("so he said. And then nothing", "so he said.”³ And then nothing", ("3",)),
        ("The gauge reads bar. Older ones", "The gauge reads bar.[3] Older ones", ("3",)),
        ("The gauge reads bar. Older ones", "The gauge reads bar. [3, 4] Older ones", ("3", "4")),
        ("Revenue in the quarter 2,500 and", "Revenue in the quarter 2,500¹ and", ("1",)),
        ("Revenue rose by 2.5% and", "Revenue rose by 2.5%¹ and", ("1",)),
        ("Revenue in the quarter 2,500 and", "Revenue⁽¹⁾ in the quarter 2,500⁽²⁾ and", ("-1", "-2")),
    ],
)
def test_a_mark_that_the_quote_leaves_out_is_no_difference(
    quote: str, page: str, left_out: tuple[str, ...]
) -> None:
    found = find(quote, page)
    assert found is not None
    assert (found.status, found.differences, found.footnotes) == ("normalized", (), left_out)


@pytest.mark.parametrize(
    "quote",
    ["The pressure1 must be checked", "The pressure¹ must be checked", "The pressure 1 must be checked"],
)
def test_a_mark_that_the_quote_holds_is_the_same_mark(quote: str) -> None:
    found = find(quote, "The pressure¹ must be checked")
    assert found is not None
    assert found.is_clean
    assert found.footnotes == ()


@pytest.mark.parametrize(
    ("quote", "page"),
    [
        ("The pressure2 must be checked daily", "The pressure¹ must be checked daily"),
        ("The gauge reads bar.[4] Older ones read", "The gauge reads bar.[3] Older ones read"),
        ("The filter stops 102 particles a litre", "The filter stops 10² particles a litre"),
        ("The filter stops 10 particles a litre", "The filter stops 10² particles a litre"),
        ("the area of 1.2 m and a load", "the area of 1.2 m² and a load"),
        ("the sales of 2,501 were restated", "the sales of 2,500¹ were restated"),
        ("the sales of 25,001 were restated", "the sales of 2,500¹ were restated"),
        ("the sales of 2,5001 were restated", "the sales of 2,500¹ were restated"),
        ("the sales of 2018 were restated", "the sales of 2018² were restated"),
    ],
)
def test_another_number_is_a_number_that_differs(quote: str, page: str) -> None:
    found = find(quote, page)
    assert found is not None
    assert not found.is_clean
    assert found.differences[0].kind == "number"


FULL = "Revenue¹ of the plant rose by 2,500⁽⁴⁾ units on 10² m² a day.[3] See tables.² In 2018 and 7.5 % more"
FLAT = unicodedata.normalize("NFKC", FULL)


@pytest.mark.parametrize("quote", [FULL, FLAT])
def test_a_changed_digit_is_never_taken_for_a_mark(quote: str) -> None:
    places = [
        place for place, character in enumerate(quote) if unicodedata.normalize("NFKC", character).isdigit()
    ]
    assert len(places) == 18
    for place in places:
        for digit in "13579":
            if digit != FLAT[place]:
                found = find(f"{quote[:place]}{digit}{quote[place + 1 :]}", FULL)
                assert found is not None
                assert not found.is_clean, (place, digit)
                assert any(difference.kind == "number" for difference in found.differences)


def test_a_plain_number_is_never_a_mark() -> None:
    found = find("Check the pressure of the tyres", "Check the pressure 3 of the tyres")
    assert found is not None
    assert (found.status, found.differences[0].page) == ("fuzzy", "3")


def test_what_was_left_out_is_reported() -> None:
    page = page_text("The pressure¹ must be checked.[3] Repeat it.")
    found = locate(SpanQuery("The pressure must be checked. Repeat it.", 0), MadeDocument(page))
    assert found.note == "the page has footnote marks here that the quote leaves out: 1, 3"


RAISED, PLAIN = 1, 0


def word(*runs: tuple[str, int]) -> str:
    """A word of runs of text, each raised or not, as a page has it."""
    place, spans = 0.0, []
    for text, flags in runs:
        chars = [
            {"c": c, "bbox": (place + 6.0 * n, 0.0, place + 6.0 * n + 6, 10.0)} for n, c in enumerate(text)
        ]
        spans.append({"flags": flags, "chars": chars})
        place += 6.0 * len(text)
    words = words_of({"blocks": [{"lines": [{"dir": (1.0, 0.0), "spans": spans}]}]})
    page = page_of(words, width=400, height=300, rotation=0)
    return " ".join(page.words)


def test_raised_digits_look_raised_where_something_is_before_them() -> None:
    assert word(("pressure", PLAIN), ("12", RAISED)) == "pressure¹²"
    assert word(("Revenue", PLAIN), ("(1)", RAISED)) == "Revenue⁽¹⁾"
    assert word(("10", PLAIN), ("2", RAISED)) == "10²"
    assert word(("1", RAISED), ("Without", PLAIN)) == "1Without"
    assert word(("12", RAISED)) == "12"
    assert word(("21", PLAIN), ("st", RAISED)) == "21st"
