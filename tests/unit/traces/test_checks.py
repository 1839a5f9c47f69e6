"""Problems that only the text of JSON shows: duplicate keys, integers beyond 64 bits."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.traces.lines.json_document import (
    LARGEST,
    SMALLEST,
    exact_problems,
    is_exact,
    read_entries,
)

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3) | st.sampled_from(['"', ":", ' :"', "a"])
VALUES = st.recursive(
    KEYS | st.none() | st.integers(SMALLEST, LARGEST),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SPACED = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\t: "), (",\r", " \r:")])


def found(line: str) -> list[tuple[str, str]]:
    return [(each.code, each.where) for each in exact_problems(line.encode())]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"a": 1, "a": 2}', [("duplicate_key", "a")]),
        ('{"a": 1, "\\u0061": 2}', [("duplicate_key", "a")]),
        ('{"a": [{"b": 1}, {"b": 1, "b": 1, "b": 1}]}', [("duplicate_key", "a[2].b")] * 2),
        ('{"a": {"b": 1}, "b": 2}', []),
        ('{"a": 18446744073709551615, "b": -9223372036854775808}', []),
        ('{"a": 18446744073709551616}', [("integer_too_large", "a")]),
        ('{"a": [-9223372036854775809]}', [("integer_too_large", "a[1]")]),
        ('{"a": 1e400, "b": 123456789012345678901.5, "c": "99999999999999999999"}', []),
        ('{"a": ' + "9" * 5000 + "}", [("integer_too_large", "a")]),
        ('{"a": 99999999999999999999, "a": 1}', [("integer_too_large", "a"), ("duplicate_key", "a")]),
    ],
)
def test_what_a_parser_would_lose_is_found_with_its_place(line: str, expected: list[tuple[str, str]]) -> None:
    assert found(line) == expected


def test_a_long_key_or_number_is_cut() -> None:
    (finding,) = exact_problems(b'{"' + b"k" * 9000 + b'": ' + b"1" * 9000 + b"}")
    assert len(finding.where) == 60
    assert len(finding.message) < 120


def test_each_entry_of_an_array_has_its_own_problems(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_bytes(b'[{"a": 1},\n {"a": 1, "a": 2}]')
    first, second = read_entries(path, file="records.json")
    assert first.problems == ()
    assert [each.where for each in second.problems] == ["a"]


@given(VALUES, SPACED, st.booleans())
def test_a_line_without_either_is_ruled_out_or_found_clean(
    value: object, spaced: tuple[str, str], ascii_only: bool
) -> None:
    text = json.dumps(value, separators=spaced, ensure_ascii=ascii_only)
    assert exact_problems(text.encode()) == ()


@given(VALUES, VALUES, KEYS, SPACED, st.booleans())
def test_a_repeated_key_is_never_ruled_out(
    one: object, other: object, key: str, spaced: tuple[str, str], ascii_only: bool
) -> None:
    def dumped(value: object) -> str:
        return json.dumps(value, separators=spaced, ensure_ascii=ascii_only)

    comma, colon = spaced
    line = f"[{{{dumped(key)}{colon}{dumped(one)}{comma}{dumped(key)}{colon}{dumped(other)}}}]".encode()
    assert not is_exact(line, orjson.loads(line))
    assert "duplicate_key" in {each.code for each in exact_problems(line)}


BEYOND = st.integers(min_value=1).map(lambda more: LARGEST + more) | st.integers(max_value=SMALLEST - 1)


@given(BEYOND)
def test_an_integer_beyond_64_bits_is_never_ruled_out(number: int) -> None:
    line = b'{"a":%d}' % number
    assert not is_exact(line, orjson.loads(line))
    assert [each.code for each in exact_problems(line)] == ["integer_too_large"]


def test_common_lines_are_ruled_out_at_once() -> None:
    line = (
        b'{"url": "https://example.org/a:b", "at": "10:22:59", "ts": 1732212345678, "x": 0.123456789012345}'
    )
    assert is_exact(line, orjson.loads(line))
