"""Lines and their places: offsets hold, parts join to the whole, an unfinished line waits."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.traces.lines import reader
from proofspan.traces.lines.reader import RawLine, read_lines

BOM = b"\xef\xbb\xbf"
contents = st.lists(
    st.sampled_from(
        [b"", b" ", b"\t ", b"{}", b'{"q":1}', b"\xff\x00", b"a\rb", b"\xef\xbb\xbf", b"x" * 300]
    ),
    max_size=12,
).flatmap(
    lambda lines: st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=len(lines), max_size=len(lines)).map(
        lambda ends: b"".join(line + end for line, end in zip(lines, ends, strict=True))
    )
)


def written(data: bytes, folder: str) -> Path:
    path = Path(folder) / "lines.jsonl"
    path.write_bytes(data)
    return path


@given(contents, st.sampled_from([b"", BOM]), st.sampled_from([b"", b"{}", b" "]))
def test_offsets_slice_back_to_the_same_bytes(data: bytes, head: bytes, tail: bytes) -> None:
    whole = head + data + tail
    with tempfile.TemporaryDirectory() as folder:
        lines = list(read_lines(written(whole, folder), final=True))
    for raw in lines:
        assert whole[raw.offset : raw.offset + raw.length] == raw.data
        assert whole[: raw.offset].count(b"\n") == raw.line - 1
    expected = [line.rstrip(b"\r") for line in whole.removeprefix(BOM).split(b"\n")]
    assert [raw.data for raw in lines] == [line for line in expected if line.strip()]


@given(contents, st.data())
def test_reading_in_two_parts_at_any_line_boundary_is_reading_at_once(
    data: bytes, draw: st.DataObject
) -> None:
    boundaries = [0, *(place + 1 for place, byte in enumerate(data) if byte == 10)]
    cut = draw.draw(st.sampled_from(boundaries))
    with tempfile.TemporaryDirectory() as folder:
        path = written(data, folder)
        at_once = list(read_lines(path))
        first = list(read_lines(path, end=cut))
        second = list(read_lines(path, offset=cut, line=1 + data[:cut].count(b"\n")))
    assert first + second == at_once


@given(contents, st.data())
def test_reading_goes_on_after_any_line(data: bytes, draw: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(data, folder)
        lines = list(read_lines(path))
        assume(lines)
        last = draw.draw(st.integers(0, len(lines) - 1))
        raw = lines[last]
        rest = read_lines(path, offset=raw.offset + raw.length, line=raw.line)
        assert list(rest) == lines[last + 1 :]


def test_a_last_line_without_its_end_waits(tmp_path: Path) -> None:
    path = written(b'{"q":1}\n{"q":', str(tmp_path))
    assert [raw.line for raw in read_lines(path)] == [1]
    assert [raw.line for raw in read_lines(path, final=True)] == [1, 2]
    path.write_bytes(b'{"q":1}\n{"q":2}\n')
    assert [raw.line for raw in read_lines(path)] == [1, 2]


def test_an_end_within_a_line_counts_as_the_end_of_the_file(tmp_path: Path) -> None:
    path = written(b"{}\n{}\n", str(tmp_path))
    assert [raw.line for raw in read_lines(path, end=5)] == [1]


def test_an_overlong_line_is_passed_over_without_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    data = b"{}\n" + b" " * 4999 + b"x" + b"\n[]\n" + b"y" * 1000 + b"\n" + b"z" * 1001 + b"\r\n"
    lines = list(read_lines(written(data, str(tmp_path))))
    assert [(raw.line, raw.offset, raw.length) for raw in lines] == [
        (1, 0, 2),
        (2, 3, 5000),
        (3, 5004, 2),
        (4, 5007, 1000),
        (5, 6008, 1001),
    ]
    assert [len(raw.data) == raw.length for raw in lines] == [True, False, True, True, False]


@pytest.mark.parametrize("final", [False, True])
def test_an_overlong_unfinished_line_waits_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, final: bool
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    path = written(b"x" * 4000, str(tmp_path))
    assert [raw.length for raw in read_lines(path, final=final)] == ([4000] if final else [])


@pytest.mark.parametrize(("name", "code"), [("none.jsonl", "missing_file"), (".", "not_a_file")])
def test_a_file_that_cannot_be_opened_is_a_fault(tmp_path: Path, name: str, code: str) -> None:
    with pytest.raises(InputFault) as caught:
        list(read_lines(tmp_path / name))
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.fix


def test_a_byte_order_mark_counts_only_at_the_beginning(tmp_path: Path) -> None:
    lines = list(read_lines(written(BOM + b"{}\n" + BOM + b"{}\n", str(tmp_path))))
    assert lines == [RawLine(1, 3, 2, b"{}"), RawLine(2, 6, 5, BOM + b"{}")]
