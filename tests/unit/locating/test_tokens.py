"""Normalization of words: it drops typography, and keeps all that distinguishes a number."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.text.tokens import fold, tokenize


def keys(text: str) -> list[str]:
    return list(tokenize(text.split()).keys)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Brake FLUID", ["brake", "fluid"]),
        ("“quoted” ‘so’", ["quoted", "so"]),
        ("e\ufb03cient \ufb02ow", ["efficient", "flow"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
        ("year-on-year year–on–year", ["year", "on", "year"] * 2),
        ("résumé", ["resume"]),
        ("Straße", ["strasse"]),
        ("snake_case", ["snake", "case"]),
        ("— • *** …", []),
    ],
)
def test_setting_falls_away(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.3 2.5 23", ["2.3", "2.5", "23"]),
        ("1,234.5", ["1,234.5"]),
        ("-5 −5 5", ["-5", "-5", "5"]),
        ("(305) ( 305 ) 305", ["-305", "-305", "305"]),
        ("$(305) $ (305) -$305", ["-305"] * 3),
        ("37.7% 37.7 % 37.7", ["37.7%", "37.7%", "37.7"]),
        ("(5.2)% (5.2%)", ["-5.2%", "-5.2%"]),
        ("2017–2018 mid-2028 10-K", ["2017", "2018", "mid", "2028", "10", "k"]),
        ("(see 5) (a) (10-K)", ["see", "5", "a", "10", "k"]),
        ("net12,645 Goodwill5,559Acquired", ["net", "12,645", "goodwill", "5,559", "acquired"]),
        ("31,2018", ["31", "2018"]),
        ("C9mpany 5mm 10th", ["c9mpany", "5mm", "10th"]),
        ("10² 25m² 3½ 3 ½", ["10", "2", "25m2", "3", "1", "2", "3", "1", "2"]),
        ("ends 5. Then 6, and", ["ends", "5", "then", "6", "and"]),
        (".5 0.5 -.5 $.05 ...133 . .7", [".5", "0.5", "-.5", ".05", "133", "7"]),
        ("(-5) ($-5) ((5)) -(5)", ["--5", "--5", "--5", "--5"]),
        ("±5 <5 > 5 5", ["±5", "<5", ">5", "5"]),
        ("+/-5 +/- 5 ~5 ≈ 5 √5", ["±5", "±5", "~5", "≈5", "√5"]),
        ("≠5 ≮5 ⩽5 ≧5 =5", ["≠5", "≮5", "≤5", "≥5", "5"]),
        ("5٪ ٣٫٥ ٣٬٥٠٠", ["5%", "٣.٥", "٣,٥٠٠"]),
        ("(\"-4 '-4 x'-4 2\"-4", ["-4", "-4", "x", "4", "2", "4"]),
        ("P21%/5W 5.\u2026-34 ....-9 5.-9", ["p21%", "5w", "5", "-34", "-9", "5", "9"]),
        ("-5mm 10-5mm (5mm)", ["-5mm", "10", "5mm", "5mm"]),
        ("1,125,q48,378 172,9w9,325 net,125", ["1,125,q48,378", "172,9w9,325", "net", "125"]),
    ],
)
def test_a_number_keeps_sign_point_separator_and_percent(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


def test_a_number_knows_the_currencies_beside_it() -> None:
    tokens = tokenize(["$5", "to", "6", "€", "or", "(£", "7)", "-$8m", "for", "9"])
    assert tokens.keys == ("5", "to", "6", "or", "-7", "8m", "for", "9")
    assert tokens.currencies == ("$", "", "€", "", "£", "$", "", "")


@pytest.mark.parametrize(
    ("text", "joint"),
    [
        ("3/4", "/"), ("3 / 4", "/"), ("3⁄4", "/"), ("3-4", "-"), ("3–4", "-"), ("3- 4", "-"), ("3:4", ":"),
        ("3 - 4", ""), ("3 4", ""), ("3, 4", ""), ("(3) 4", ""), ("5%-6%", "-"), ("10² 2", ""),
    ],
)  # fmt: skip
def test_two_numbers_keep_the_mark_between_them(text: str, joint: str) -> None:
    assert tokenize(text.split()).joints[-1] == joint


@pytest.mark.parametrize("word", ["1,234" * 20_000, "1," * 50_000, "1a," * 30_000, "[1, " * 30_000])
def test_the_longest_word_is_read_in_one_go(word: str) -> None:
    """Quadratic time would be minutes."""
    began = time.process_time()
    tokenize([word])
    assert time.process_time() - began < 3


def test_chinese_is_compared_character_by_character() -> None:
    assert keys("制动液 5 升") == ["制", "动", "液", "5", "升"]


def test_marks_of_other_scripts_stay() -> None:
    assert fold("कि") != fold("क")


def test_a_token_knows_its_words() -> None:
    tokens = tokenize(["$", "(305", ")", "net", "37.7", "%"])
    assert tokens.keys == ("-305", "net", "37.7%")
    assert list(zip(tokens.first, tokens.last, strict=True)) == [(1, 2), (3, 3), (4, 5)]


@given(st.lists(st.text(min_size=1, max_size=12).filter(lambda word: not any(c.isspace() for c in word))))
def test_tokens_hold_together_for_any_text(words: list[str]) -> None:
    tokens = tokenize(words)
    count = len(tokens)
    assert count == len(tokens.first) == len(tokens.last) == len(tokens.is_number) == len(tokens.offsets) - 1
    assert "".join(tokens.part(i, i + 1) for i in range(count)) == tokens.squeezed
    assert all(0 <= first <= last < len(words) for first, last in zip(tokens.first, tokens.last, strict=True))
    assert all(tokens.token_at(tokens.offsets[i]) == i for i in range(count))
    assert list(tokens.first) == sorted(tokens.first)
