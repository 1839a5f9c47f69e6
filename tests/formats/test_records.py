"""Records are read one after the other whatever file they are in, and what cannot be read is a problem."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.traces.formats.records import json_of, read_lists, read_records, sample_of
from proofspan.traces.formats.types import Reading
from proofspan.traces.lines.json_values import Entries, closed, json_values, later_keys, parsed_values

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\\"[]{},:é\n', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"[,', max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)
INDENT = st.sampled_from([None, 1])


def pieces(data: bytes, size: int) -> list[bytes]:
    """Return the data in pieces of a size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.lists(JSON, max_size=5), INDENT, st.integers(1, 40))
def test_entries_of_an_array_are_found_whatever_they_hold(values: list[Any], indent: int, size: int) -> None:
    data = json.dumps(values, indent=indent).encode()
    found = list(json_values(pieces(data, size)))
    assert [orjson.loads(each.data) for each in found] == values
    lines = data.split(b"\n")
    for each in found:
        assert each.data.split(b"\n")[0] in lines[each.line - 1]


@given(st.lists(JSON, max_size=5), st.booleans(), INDENT, st.integers(1, 60))
def test_entries_parsed_together_are_those_found_one_by_one(
    values: list[Any], has_nan: bool, indent: int, size: int
) -> None:
    whole = {"runs": [{"items": values}, {"items": [*values, *([float("nan")] * has_nan), 7]}], "z": 1}
    data = json.dumps(whole, indent=indent).encode()
    expected = list(json_values(pieces(data, size), [("runs", "items")]))
    for length in (size, 10_000):
        found: list[Any] = []
        for each in parsed_values(pieces(data, length), [("runs", "items")]):
            if isinstance(each, Entries):
                numbered = enumerate(each.values, start=each.number)
                found += [(each.path, number, json.dumps(value)) for number, value in numbered]
            else:
                found.append((each.path, each.number, json.dumps(json.loads(each.data))))
        assert found == [(each.path, each.number, json.dumps(json.loads(each.data))) for each in expected]


@given(st.lists(JSON, max_size=4), st.dictionaries(st.sampled_from("abc"), JSON), INDENT, st.integers(1, 40))
def test_lists_in_objects_are_found_and_the_object_is_left(
    values: list[Any], around: dict[str, Any], indent: int, size: int
) -> None:
    whole = {**around, "runs": [{"n": 1, "items": values, **around}, {"items": [5]}], "z": around}
    data = json.dumps(whole, indent=indent).encode()
    found = list(json_values(pieces(data, size), [("runs", "items")]))
    assert [orjson.loads(each.data) for each in found if each.path] == [*values, 5]
    left = orjson.loads(found[-1].data)
    assert left == {**whole, "runs": [{"n": 1, "items": [], **around}, {"items": []}]}
    assert found[0].state == "begun"
    assert orjson.loads(found[0].data) == {**around, "runs": [{"n": 1, "items": []}]}


@given(JSON, st.integers(0, 40))
def test_a_beginning_is_closed_after_what_is_whole(value: Any, more: int) -> None:
    data = orjson.dumps({"first": [value, value], "second": value})
    at_least = len(orjson.dumps({"first": [value, value]}))
    assert orjson.loads(closed(data[: at_least + more]))["first"] == [value, value]


def test_keys_after_a_beginning() -> None:
    data = orjson.dumps({"a": 1, "long": ["x,y"] * 300, "é": [1, {"no": 2}], "o": {"no": 3}, "n": 7})
    for size in (7, 100, 900):
        later = list(later_keys(pieces(data, size), beyond=1_000))
        assert later == [("é", b"[]"), ("o", b"{}"), ("n", b"null")]


def read(path: Path, data: bytes, *lists: str) -> tuple[list[Any], Reading, dict[str, Any]]:
    """Return the records of a file with this content, or the entries of its lists, and what was noted."""
    path.write_bytes(data)
    reading, rest = Reading(path.name), dict[str, Any]()
    if lists:
        return [each[-1] for each in read_lists(path, reading, *lists, rest=rest)], reading, rest
    return [record for _, record in read_records(path, reading)], reading, rest


@pytest.mark.parametrize(
    ("data", "records", "codes", "lost"),
    [
        (b'[{"a":1},\n {"a" 2},\n {"a":3}]', [1, 3], ["not_json"], 1),
        (b'[{"a":1}, 7, {"a":NaN}]', [1, None], ["not_an_object", "not_finite"], 1),
        (b'[{"a":1},{"a":2}', [1, 2], ["truncated"], 0),
        (b'[{"a":1},{"a":"b', [1], ["truncated"], 1),
        (b'[{"a":1}}', [1], ["broken"], 1),
        (b'[{"a":1},{"a":"\xff"}]', [1], ["bad_utf8"], 1),
        (b'{"a":1}\n{"a":-Infinity}\n{"a":', [1, None], ["not_finite", "not_json"], 1),
        (b'{\n"a":1}\n{\n"a":2}\n', [1, 2], [], 0),
        (b'{\n"a":1,\n"b":[1,2', [1], ["truncated"], 0),
        (b"[" + b'{"a":' * 90 + b"1" + b"}" * 90 + b',{"a":2}]', [2], ["nested_too_deeply"], 1),
        (b'{"a":1}\n' + b'{"a":' * 9_000, [1], ["nested_too_deeply"], 1),
        (gzip.compress(b'{"a":1}\n{"a":2}\n', mtime=0), [1, 2], [], 0),
        (pa.Codec("zstd").compress(b'[{"a":1},{"a":2}]', asbytes=True), [1, 2], [], 0),
        (b'\xef\xbb\xbf[{"a":1}]', [1], [], 0),
        (b"[]", [], [], 0),
    ],
)
def test_what_can_be_read_is_read(
    data: bytes, records: list[Any], codes: list[str], lost: int, tmp_path: Path
) -> None:
    found, reading, _ = read(tmp_path / "export", data)
    assert [each["a"] for each in found] == records
    assert [each.code for each in reading.problems] == codes and reading.lost == lost
    assert reading.records == len(records) + lost


def test_an_array_on_one_line_may_be_longer_than_the_beginning(tmp_path: Path) -> None:
    rows = [{"n": n, "text": "oil " * 200} for n in range(100)]
    found, reading, _ = read(tmp_path / "a.json", json.dumps(rows).encode())
    assert found == rows and reading.lost == 0


@pytest.mark.parametrize("after", [b"", b'"results": [{"q": "Why', b'"version": 2}\n', b"{\n"])
def test_an_object_whose_first_line_is_longer_than_the_beginning_may_break_off(
    after: bytes, tmp_path: Path
) -> None:
    path, tasks = tmp_path / "experiment.json", [{"task_id": f"t{number}"} for number in range(9_000)]
    path.write_bytes(orjson.dumps({"tasks": tasks})[:-1] + b",\n" + after)
    assert sample_of(path).shape == "object"
    assert [*sample_of(path).first["tasks"]] == tasks


@pytest.mark.parametrize("first", [b'{"q": 1}', b'{"q": '])
def test_lines_may_be_longer_than_the_beginning(first: bytes, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(first + b" " * (1 << 17) + b'\n{"q": 2}\n')
    assert sample_of(path).shape == "lines"
    assert sample_of(path).records[-1] == {"q": 2}


def test_a_table_that_is_written_by_columns_is_read_by_rows(tmp_path: Path) -> None:
    rows = [{"q": "How much?", "a": 4.5}, {"q": "Which?", "a": None}]
    found, reading, _ = read(tmp_path / "a.json", pd.DataFrame(rows).to_json().encode())
    assert found == rows and (reading.records, reading.lost) == (2, 0)
    mixed = {"q": {"0": "How much?"}, "a": 4.5}
    assert read(tmp_path / "b.json", json.dumps(mixed).encode())[0] == [mixed]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[{'content': 'It\\'s oil', 'page': None}]", [{"content": "It's oil", "page": None}]),
        ("['a', 'b']", ["a", "b"]),
        ('["a"]', ["a"]),
        ("['a' and more", "['a' and more"),
        ("['a'] + [open('/etc/passwd')]", "['a'] + [open('/etc/passwd')]"),
        ("[{'set': {1, 2}}]", "[{'set': {1, 2}}]"),
        ("['\\d+']", ["\\d+"]),
        ("['" + "[" * 100_000, "['" + "[" * 100_000),
        ("[1] says so", "[1] says so"),
    ],
    ids=range(9),
)
def test_a_cell_may_hold_a_list_as_json_or_as_python(text: str, value: Any) -> None:
    assert json_of(text) == value


def test_lists_are_read_from_one_object_or_many(tmp_path: Path) -> None:
    one = b'{"version": 1,\n"run": {"items": [{"a": 1}, 5,\n {"a": 2}]}, "after": [3]}'
    found, reading, rest = read(tmp_path / "one.json", one, "run.items")
    assert found == [{"a": 1}, {"a": 2}] and reading.lost == 1 and reading.records == 3
    assert rest == {"version": 1, "run": {"items": []}, "after": [3]}
    many = b'{"run":[{"items":[{"a":1}]},{"items":[{"a":2}]}]}\n{"run":{"items":[{"a":3}]}}\n{"run":null}\n'
    found, reading, rest = read(tmp_path / "many.jsonl", many, "run.items")
    assert found == [{"a": 1}, {"a": 2}, {"a": 3}] and reading.lost == 0
    found, reading, _ = read(tmp_path / "cut.json", one[: one.index(b" 2}")], "run.items")
    assert found == [{"a": 1}] and [each.code for each in reading.problems] == ["not_an_object", "truncated"]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path, entry = (
        tmp_path / "large.json",
        orjson.dumps({"q": "How much oil?", "contexts": ["4.5 litres" * 40]}),
    )
    with path.open("wb") as out:
        out.write(b'{"results": [')
        for _ in range(10):
            out.write(b",".join([entry] * 4_000) + b",")
        out.write(entry + b'], "evaluated": {"a": 1}}')
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_lists(path, Reading("large.json"), "results", rest={}))
        peak = tracemalloc.get_traced_memory()[1]
        sample = sample_of(path)
    finally:
        tracemalloc.stop()
    assert count == 40_001 and peak < path.stat().st_size / 2
    assert sample.shape == "object" and sample.first.keys() == {"results", "evaluated"}
    assert len(sample.first["results"]) > 100 and sample.first["results"][-1]["q"] == "How much oil?"


def test_an_array_without_line_breaks_is_one_however_long(tmp_path: Path) -> None:
    entries = [{"user_input": f"How much oil holds engine {number}?"} for number in range(3_000)]
    found, reading, _ = read(tmp_path / "one_line.json", orjson.dumps(entries))
    assert found == entries and reading.lost == 0
    assert sample_of(tmp_path / "one_line.json").shape == "array"


def test_memory_does_not_grow_with_a_table(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    rows = pa.table({"question": ["q"] * 1_000, "response": ["4.5 litres" * 100] * 1_000})
    with pq.ParquetWriter(path, rows.schema, compression="none", use_dictionary=False) as out:
        for _ in range(8):
            out.write_table(rows)
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() for _ in read_records(path, Reading(path.name)))
    assert most - before < path.stat().st_size / 3


@pytest.mark.parametrize("shape", [b"[%s]", b'{"a": [%s]}\n'])
def test_a_packed_file_that_unpacks_to_too_much_is_refused(shape: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(shape % (b" " * (257 << 20)))
    with pytest.raises(InputFault) as caught:
        list(read_records(path, Reading(path.name)))
    assert caught.value.problems[0].code == "unpacks_too_large"


def test_a_packed_file_that_breaks_off_is_read_up_to_there(tmp_path: Path) -> None:
    lines = b"".join(b'{"a":%d,"b":"%s"}\n' % (n, str(hash((n, 1))).encode()) for n in range(60_000))
    found, reading, _ = read(tmp_path / "export.jsonl.gz", gzip.compress(lines, 1, mtime=0)[:-9])
    assert len(found) > 10_000 and reading.lost == 1 and reading.problems[0].code == "damaged_archive"


def test_a_table_of_text(tmp_path: Path) -> None:
    first = b'\xef\xbb\xbf;q;a;a\n0;"x; ""y""";\xe9;2;4\n\n;;;\n'
    data = first + b"1;f;g;h\n" * 30 + b'2;last;"open\nto;end\n'
    found, reading, _ = read(tmp_path / "t.csv", data)
    assert found[0] == {"column 1": "0", "q": 'x; "y"', "a": "�", "a (4)": "2", "column 5": "4"}
    assert found[-1] == {"column 1": "2", "q": "last", "a": "open\nto;end\n", "a (4)": None, "column 5": None}
    codes = [each.code for each in reading.problems]
    assert codes == ["duplicate_column", "bad_utf8", "more_cells", "open_quote"]
    assert reading.lost == 0 and reading.records == 32


def test_a_parquet_table_holds_json(tmp_path: Path) -> None:
    rows = {
        "q": ["How much?", None],
        "lists": [[["a", "b"], ["c"]], []],
        "records": [[{"text": "x", "score": 0.5}], None],
        "at": [datetime(2026, 1, 2, tzinfo=UTC), None],
        "price": [Decimal("1.50"), None],
        "raw": [b"text", b"\xff"],
        "score": [float("nan"), 1.0],
    }
    table = pa.table(rows).append_column(
        "map", pa.array([[("k", 1)], None], type=pa.map_(pa.string(), pa.int64()))
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    first, second = (record for _, record in read_records(path, Reading(path.name)))
    assert first == {
        "q": "How much?",
        "lists": [["a", "b"], ["c"]],
        "records": [{"text": "x", "score": 0.5}],
        "at": "2026-01-02T00:00:00+00:00",
        "price": 1.5,
        "raw": "text",
        "score": None,
        "map": {"k": 1},
    }
    assert second["raw"] == "/w==" and second["score"] == 1.0 and second["map"] is None
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputFault) as caught:
        list(read_records(path, Reading(path.name)))
    assert caught.value.problems[0].code == "not_parquet"
