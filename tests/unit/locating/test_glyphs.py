"""Glyphs put together into words: right to left, without spaces, and lines that run in any direction."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled
from proofspan.evidence.pdf.glyphs import are_needed, page_of, words_of
from proofspan.evidence.text.match import find_on_page
from proofspan.evidence.text.page_text import QuoteText, text_of
from proofspan.evidence.text.tokens import tokenize
from proofspan.evidence.types import Difference
from tests.pdf_files import page_text

WIDE = 6.0
SIZE = {"width": 400, "height": 300, "rotation": 0}


def block(*lines: str, direction: tuple[float, float] = (1.0, 0.0)) -> dict[str, Any]:
    """Lines as they look on the page, from left to right, one below the other; `\\0` takes no room."""
    return {"lines": [line(text, 20.0 * number, direction) for number, text in enumerate(lines)]}


def line(text: str, top: float, direction: tuple[float, float] = (1.0, 0.0)) -> dict[str, Any]:
    chars = [
        {"c": each, "bbox": turned((WIDE * place, top, WIDE * place + WIDE, top + 10), direction)}
        for place, each in enumerate(text)
    ]
    return {"dir": direction, "spans": [{"flags": 0, "chars": chars}]}


def turned(box: Box, direction: tuple[float, float]) -> Box:
    """The box of a line that runs in this direction, which `levelled` turns back."""
    return levelled(box, (direction[0], -direction[1]))


def read(*blocks: dict[str, Any]) -> list[str]:
    return [word.text for word in words_of({"blocks": list(blocks)})]


#: As displayed, and as read. א ב ג represent any Hebrew letters.
LINES = [
    ("גבא", "אבג"),
    ("רפס 2.3 גבא", "אבג 2.3 ספר"),
    ("abc גבא def", "abc אבג def"),
    ("abc רפס גבא def 12 g", "abc אבג ספר def 12 g"),
    ("גבאגבא Start Stop רפס", "ספר Start Stop אבגאבג"),
    ("%25 גבא", "אבג %25"),
    ("רפס -5 גבא", "אבג -5 ספר"),
    ("abc def", "abc def"),
]


@pytest.mark.parametrize(("shown", "as_read"), LINES)
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (-1.0, 0.0)])
def test_a_line_is_read_as_a_person_reads_it(
    shown: str, as_read: str, direction: tuple[float, float]
) -> None:
    assert " ".join(read(block(shown, direction=direction))) == as_read


def test_the_order_in_which_a_line_was_drawn_does_not_count() -> None:
    drawn = line("רפס 2.3 גבא", 0.0)
    chars = drawn["spans"][0]["chars"]
    drawn["spans"][0]["chars"] = chars[8:] + chars[:3] + chars[3:8]
    assert read({"lines": [drawn]}) == ["אבג", "2.3", "ספר"]


def test_pieces_of_one_line_are_joined_where_directions_change() -> None:
    left, right = line("רפס ", 0.0), line("גבא", 0.0)
    for each in right["spans"][0]["chars"]:
        x0, y0, x1, y1 = each["bbox"]
        each["bbox"] = (x0 + 4 * WIDE, y0, x1 + 4 * WIDE, y1)
    assert read({"lines": [right, left]}) == ["אבג", "ספר"]
    assert read(block("גבא", "רפס")) == ["אבג", "ספר"]


def test_a_ligature_of_two_letters_is_read_in_their_order() -> None:
    """Arabic lam-alef is one glyph; the second letter has no width and comes first where words are turned."""
    drawn = line("اإلا", 0.0)
    alef, hamza, lam, last = drawn["spans"][0]["chars"]
    for place, each in ((0, last), (1, lam), (2, alef)):
        each["bbox"] = (WIDE * place, 0.0, WIDE * (place + 1), 10.0)
    hamza["bbox"] = (2 * WIDE, 0.0, 2 * WIDE, 10.0)
    drawn["spans"][0]["chars"] = [alef, hamza, lam, last]
    assert read({"lines": [drawn]}) == ["الإا"]


def test_text_without_right_to_left_letters_keeps_the_order_it_came_in() -> None:
    drawn = line("abc def", 0.0)
    drawn["spans"][0]["chars"].reverse()
    assert read({"lines": [drawn]}) == ["fed", "cba"]


@given(st.text(alphabet="אבגabc12 .-(", max_size=25))
def test_no_glyph_is_lost_or_made(text: str) -> None:
    assert sorted("".join(read(block(text)))) == sorted(text.replace(" ", ""))


@pytest.mark.parametrize(
    ("words", "raised", "needed"),
    [
        (["plain", "words", "100", "2,500", "2018", "8,104", "10%", "m2", "A4", "Tips....68"], True, False),
        (["pressure1"], True, True),
        (["pressure1"], False, False),
        (["tyres.2"], True, True),
        (["Revenue(1)"], True, True),
        (["102"], True, True),
        (["20182"], True, True),
        (["2,5001"], True, True),
        (["2.5%1"], True, True),
        (["安全"], False, True),
        (["אבג"], False, True),
        (["naïve"], True, False),
    ],
)
def test_only_pages_that_need_it_are_read_glyph_by_glyph(
    words: list[str], raised: bool, needed: bool
) -> None:
    span = {"flags": 1 if raised else 0}
    assert are_needed(words, lambda: {"blocks": [{"lines": [{"spans": [span]}]}, {}]}) is needed


def test_each_character_of_a_script_without_spaces_has_its_box() -> None:
    page = page_of(words_of({"blocks": [block("安全な場所に112番 stop")]}), **SIZE)
    assert list(page.letters) == [0]
    assert page.boxes_of(2, 5) == ((12.0, 0.0, 30.0, 10.0),)
    assert page.boxes_of(6, 8) == ((36.0, 0.0, 60.0, 10.0),)
    assert page.boxes_of(7, 9) == ((54.0, 0.0, 90.0, 10.0),)


def test_a_character_that_means_two_letters_keeps_the_others_in_place() -> None:
    page = page_of(words_of({"blocks": [block("速度㎞安全")]}), **SIZE)
    assert page.tokens.keys == ("速", "度", "km", "安", "全")
    assert page.boxes_of(3, 4) == ((18.0, 0.0, 24.0, 10.0),)


def test_a_difference_in_a_script_without_spaces_names_its_own_characters() -> None:
    page = page_of(
        words_of({"blocks": [block("けが人がいるときは、すぐに112番に電話してください。")]}), **SIZE
    )
    (found,) = find_on_page(QuoteText.of("けが人がいるときは、すぐに119番に電話してください。"), page)
    assert found.differences == (Difference("119", "112", "number"),)
    assert found.status == "fuzzy"


@given(st.text(alphabet="安全な112ab㎞ﾊﾞ,-. ", max_size=20), st.integers(0, 30), st.integers(1, 30))
def test_any_range_of_tokens_has_boxes_on_the_page(text: str, start: int, count: int) -> None:
    page = page_of(words_of({"blocks": [block(text)]}), **SIZE)
    end = min(len(page.tokens), start + count)
    if start < end:
        boxes = page.boxes_of(start, end)
        assert boxes
        assert all(0 <= x0 < x1 <= WIDE * len(text) for x0, _, x1, _ in boxes)
        assert text_of(page, start, end).replace(" ", "") in text.replace(" ", "")


@pytest.mark.parametrize(
    ("quote", "page"),
    [
        ("\u200fהלחץ הנכון הוא 2.3 בר\u200e", "הלחץ הנכון הוא 2.3 בר"),
        ("הלחץ הנכון", "הַלַּחַץ הַנָּכוֹן"),
        ("محمد يقرأ", "مُحَمَّد يقرأ"),
        ("الضغط الصحيح", "الضـــغط الصحيح"),
        ("الإطارات باردة", "\ufe8d\ufef9\ufec3\ufe8e\ufead\ufe8d\ufe95 باردة"),
    ],
)
def test_vowel_points_marks_of_direction_and_shapes_of_letters_are_no_difference(
    quote: str, page: str
) -> None:
    (found,) = find_on_page(QuoteText.of(quote), page_text(page))
    assert (found.status, found.differences) == ("normalized", ())


def test_letters_that_differ_in_their_hamza_stay_apart() -> None:
    assert tokenize(["أن"]).keys != tokenize(["ان"]).keys


def test_half_a_surrogate_pair_is_no_character() -> None:
    assert read(block("אב\ud800ג")) == ["ג\ufffdבא"]
