"""Paths and patterns of a mapping: what they find, and what they refuse."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.traces.importers.field_getters import MAX_VALUE, group_finder
from proofspan.traces.importers.paths import Place, parse_path

SPANS = [
    "no object",
    {"key": "input.value", "value": "first"},
    {"key": "input.value", "value": "second"},
    {"key": "n", "value": {"int": 4}},
    {"id": 7, "value": "seven"},
]
RECORD = {"spans": SPANS, "a": {"b": [{"c": 1}, {"c": None}, {"x": 3}]}, "odd.key": [7], "n": 0, "empty": []}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b[0].c", [1]),
        ("a.b[-1].x", [3]),
        ("a.b[].c", [1, None]),
        ('["odd.key"][0]', [7]),
        ("n", [0]),
        ("empty[]", []),
        ("a.b[9].c", []),
        ("a.b.c", []),
        ("n[]", []),
        ("n.deeper", []),
        (".", [RECORD]),
        ("spans[key=input.value].value", ["first"]),
        ("spans[key=n].value.int", [4]),
        ("spans[id=7].value", ["seven"]),
        ("spans[key=absent].value", []),
        ("n[key=x]", []),
    ],
)
def test_a_path_leads_to_its_values(path: str, found: list[object]) -> None:
    assert list(parse_path(path).all(Place(RECORD, RECORD, 1))) == found


def test_a_dollar_starts_at_the_record_and_not_at_the_item() -> None:
    assert list(parse_path("$.n").all(Place({"n": "item"}, RECORD, 1))) == [0]
    assert list(parse_path("n").all(Place({"n": "item"}, RECORD, 1))) == ["item"]
    assert list(parse_path("$").all(Place({}, RECORD, 1))) == [RECORD]


@pytest.mark.parametrize(
    "text", ["", "a..b", "a.", ".a", "a[", "a[x]", "a b", "a[]]", "[0]b", "$ a", 'a["x]', "a[=x]", "a[k=]"]
)
def test_what_is_no_path_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(text)


@given(st.lists(st.text(st.characters(categories=["L", "Nd"]), min_size=1), min_size=1, max_size=5))
def test_plain_keys_are_followed_whatever_letters_they_have(keys: list[str]) -> None:
    record: object = "end"
    for key in reversed(keys):
        record = {key: record}
    assert list(parse_path(".".join(keys)).all(Place(record, record, 1))) == ["end"]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"Page (\d+)", "Page 127 - Lubricants", "127"),
        (r"Page (\d+)", "page 127", None),
        (r"(?:p|pp)\. (?P<n>\d+)", "pp. 12", "12"),
        (r"[(](\d+)\)", "see (9)", "9"),
        (r"\((\d+)\)", "see (9)", "9"),
        (r"[^)(](\w)", "-x", "x"),
        (r"(é+)", "café", "é"),
        (r"a(b?)", "ac", ""),
    ],
)
def test_the_group_holds_what_is_wanted(pattern: str, text: str, found: str | None) -> None:
    assert group_finder(pattern)(text) == found


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("abc", "0 groups"),
        ("(a)(b)", "2 groups"),
        ("(a", "RE2"),
        (r"(a)\1", "RE2"),
        ("(a" + "a" * 500 + ")", "longer"),
    ],
)
def test_a_pattern_that_cannot_serve_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        group_finder(pattern)


def test_a_pattern_that_would_hang_a_backtracking_engine_does_not() -> None:
    """`(a+)+$` over these letters takes Python's own engine longer than anyone waits."""
    find = group_finder(r"^((?:a+)+)$")
    started = time.process_time()
    assert find("a" * (MAX_VALUE - 1) + "!") is None
    assert time.process_time() - started < 2


def test_a_value_beyond_the_cap_is_not_searched() -> None:
    find = group_finder(r"(\d+)")
    assert find("1" + "a" * (MAX_VALUE - 1)) == "1"
    assert find("1" + "a" * MAX_VALUE) is None
