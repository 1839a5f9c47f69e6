"""What only bytes tell: keys that stand twice, integers beyond 64 bits; and lines read many at a time."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.traces.lines import reader as blocks
from proofspan.traces.lines.json_document import (
    LARGEST,
    SMALLEST,
    QuickLook,
    exact_entries,
    exact_findings,
)
from proofspan.traces.lines.reader import read_blocks, read_lines

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3) | st.sampled_from(['"', ":", ' :"', "a"])
VALUES = st.recursive(
    KEYS | st.none() | st.integers(SMALLEST, LARGEST),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SPACED = st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\t: "), (",\r", " \r:")])


def found(line: str) -> list[tuple[str, str]]:
    return [(each.code, each.field) for each in exact_findings(line.encode())]


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
    (finding,) = exact_findings(b'{"' + b"k" * 9000 + b'": ' + b"1" * 9000 + b"}")
    assert len(finding.field) == 60
    assert len(finding.message) < 120


def test_entries_of_an_array_are_told_apart() -> None:
    first, second = exact_entries(b'[{"a": 1},\n {"a": 1, "a": 2}]')
    assert first == ()
    assert [each.field for each in second] == ["a"]


@given(VALUES, SPACED, st.booleans())
def test_a_line_without_either_is_ruled_out_or_found_clean(
    value: object, spaced: tuple[str, str], ascii_only: bool
) -> None:
    text = json.dumps(value, separators=spaced, ensure_ascii=ascii_only)
    assert exact_findings(text.encode()) == ()


@given(VALUES, VALUES, KEYS, SPACED, st.booleans())
def test_a_repeated_key_is_never_ruled_out(
    one: object, other: object, key: str, spaced: tuple[str, str], ascii_only: bool
) -> None:
    def dumped(value: object) -> str:
        return json.dumps(value, separators=spaced, ensure_ascii=ascii_only)

    comma, colon = spaced
    line = f"[{{{dumped(key)}{colon}{dumped(one)}{comma}{dumped(key)}{colon}{dumped(other)}}}]".encode()
    assert not QuickLook(line).is_sound(line, orjson.loads(line))
    assert "duplicate_key" in {each.code for each in exact_findings(line)}


BEYOND = st.integers(min_value=1).map(lambda more: LARGEST + more) | st.integers(max_value=SMALLEST - 1)


@given(BEYOND, st.booleans())
def test_an_integer_beyond_64_bits_is_never_ruled_out(number: int, chance: bool) -> None:
    line = b'{"a":%d}' % number
    assert not QuickLook(line, same_key=chance).is_sound(line, orjson.loads(line))
    assert [each.code for each in exact_findings(line)] == ["integer_too_large"]


def test_common_lines_are_ruled_out_at_once() -> None:
    line = (
        b'{"url": "https://example.org/a:b", "at": "10:22:59", "ts": 1732212345678, "x": 0.123456789012345}'
    )
    assert QuickLook(line).is_sound(line, orjson.loads(line))


PIECES = st.lists(
    st.sampled_from([b"", b"\r", b"{}", b"x" * 7, b"\xef\xbb\xbf", b" ", b"y" * 40, b"z" * 90]), max_size=12
)


@given(PIECES, st.booleans(), st.booleans())
def test_blocks_hold_the_lines_that_the_reader_gives(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], ends: bool, final: bool
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "lines.jsonl"
    path.write_bytes(b"\n".join(pieces) + b"\n" * ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MAX_LINE", 50)
        patch.setattr(blocks, "_SIZE", 16)
        given_lines = [(raw.line, raw.data[:50], raw.length) for raw in read_lines(path, final=final)]
        seen = []
        for block in read_blocks(path, final=final):
            for number, data in enumerate(block.lines, block.line):
                length = block.overlong.length if block.overlong else len(data.rstrip(b"\r"))
                if data.strip():
                    seen.append((number, data.rstrip(b"\r")[:50], length))
    assert seen == given_lines


def test_an_overlong_line_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MAX_LINE", 1 << 20)
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"{}\n" + b"x" * (5 << 20) + b"\n{}\n")
    first, long, last = read_blocks(path)
    assert (first.lines, last.lines, last.line) == ([b"{}"], [b"{}"], 3)
    assert long.overlong is not None
    assert (long.line, long.overlong.length, len(long.lines[0])) == (2, 5 << 20, 800)
