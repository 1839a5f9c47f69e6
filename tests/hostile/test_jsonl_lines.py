"""Hostile trace files: nothing stops the run, every bad line is reported, a foreign file once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LineIssue, SourceLine, Trace
from proofspan.traces.lines import reader
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import (
    doc_ids,
    measures,
    rank_one_place,
    stages,
    trace_from,
)
from proofspan.traces.records.traces import iter_traces

GOOD = b'{"q": "still read"}\n'

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = [
    "q",
    "question",
    "answer",
    "chunks",
    "stages",
    "citations",
    "segments",
    "q_id",
    "run_id",
    "seed",
    "metrics",
    "λ",
]
ENTRY = ["id", "chunk_id", "doc_id", "page", "page_idx", "score", "features", "offsets", "bbox", "bbox_space"]
entries = st.lists(st.dictionaries(st.sampled_from(ENTRY), json_values, max_size=5) | json_values, max_size=4)


def found_in(path: Path, data: bytes) -> list[Trace | LineIssue]:
    path.write_bytes(data)
    return list(iter_traces(path, file="t.jsonl", run_id="R1"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"q": "x", "v": NaN}', "not_json"),
        (b'{"q": "x", "v": Infinity}', "not_json"),
        (b'{"q": "x", "v": 1e400}', "not_json"),
        (b'{"q": "x",}', "not_json"),
        (b"{'q': 'x'}", "not_json"),
        (b'{"q": "x"} {"q": "y"}', "not_json"),
        (b'{"q": "\xff"}', "bad_utf8"),
        (b'{"q": "\xed\xa0\x80"}', "bad_utf8"),
        (b'{"q": "\\ud800"}', "not_json"),
        (b'{"q": "x", "v": "a\x00b"}', "not_json"),
        (b"\x00\x00\x00", "not_json"),
        (b"[1, 2]", "not_an_object"),
        (b'"q"', "not_an_object"),
        (b'{"q": "x", "v": ' + b"[" * 64 + b"]" * 64 + b"}", "nested_too_deeply"),
        (b'{"q": "x", "v": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}", "nested_too_deeply"),
        (b'{"q": "x", "v": ' + b"[" * 100_000, "nested_too_deeply"),
        (b'{"q": "x", "v": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested_too_deeply"),
    ],
)
def test_a_bad_line_is_reported_and_the_rest_is_read(tmp_path: Path, line: bytes, code: str) -> None:
    before, bad, after = found_in(tmp_path / "t.jsonl", GOOD + line + b"\r\n" + GOOD)
    assert isinstance(before, Trace)
    assert isinstance(after, Trace)
    assert isinstance(bad, LineIssue)
    assert (bad.code, bad.source) == (code, SourceLine("t.jsonl", 2, len(GOOD), len(line)))
    assert bad.message
    assert bad.fix
    assert bad.excerpt == line.decode("utf-8", "replace")[:200]


@pytest.mark.parametrize(
    "value",
    [
        b"[" * 63 + b"]" * 63,
        b"[" + b",".join([b"{}"] * 500) + b"]",
        b'"' + b"[{" * 500 + b'"',
        b"123456789012345678901234567890",
        b'"\\u0000"',
    ],
)
def test_what_is_only_odd_is_read(tmp_path: Path, value: bytes) -> None:
    (found,) = found_in(tmp_path / "t.jsonl", b'{"q": "x", "v": ' + value + b"}\n")
    assert isinstance(found, Trace), found


def test_an_overlong_line_is_reported_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 1000)
    long = b'{"q": "' + "ü".encode() * 2000 + b'"}\n'
    first, bad, last = found_in(tmp_path / "t.jsonl", GOOD + long + GOOD)
    assert isinstance(first, Trace)
    assert isinstance(last, Trace)
    assert isinstance(bad, LineIssue)
    assert (bad.code, bad.source.length, len(bad.excerpt)) == ("line_too_long", len(long) - 1, 200)


CSV = b"".join(b'"What, of row %d?",DOC_%d,"A | B"\n' % (row, row) for row in range(3000))


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        (
            b"question,expected,retrieved\n" + CSV,
            "is_csv",
            "CSV with 3 columns (question, expected, retrieved)",
        ),
        (b"\xef\xbb\xbfq;answer\r\nx;y\r\n", "is_csv", "CSV with 2 columns"),
        (b"q\tanswer\nx\ty\n", "is_csv", "TSV with 2 columns"),
        (b'[{"q": "x"},\n{"q": "y"}]\n', "json_array", "JSON array"),
        (b'{\n  "q": "x"\n}\n', "json_over_lines", "several lines"),
        (b"<!doctype html>\n<p>\n" * 50, "not_jsonl", "HTML"),
        ('{"q": "x"}\n'.encode("utf-16"), "not_utf8", "UTF-16"),
        (gzip.compress(GOOD, mtime=0), "not_jsonl", "gzip"),
        (b"PK\x03\x04" + b"\n" * 50, "not_jsonl", "ZIP"),
    ],
)
def test_a_file_that_is_no_jsonl_is_reported_once(tmp_path: Path, data: bytes, code: str, says: str) -> None:
    (found,) = found_in(tmp_path / "t.jsonl", data)
    assert isinstance(found, LineIssue)
    assert (found.code, found.source.line) == (code, 1)
    assert says in found.message
    assert found.fix


@pytest.mark.parametrize(
    "data",
    [b"", b"\n\n", b"\xef\xbb\xbf", b"a,b\n" + GOOD, b"# a comment, of sorts\n" + GOOD, b"<p>\n" + GOOD],
)
def test_a_file_with_a_good_line_is_read_line_by_line(tmp_path: Path, data: bytes) -> None:
    found = found_in(tmp_path / "t.jsonl", data)
    assert all(isinstance(item, Trace) or item.code == "not_json" for item in found)
    assert len(found) == data.count(b"\n") - 2 * (data == b"\n\n")


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {"q": st.text(max_size=5)},
        optional={name: json_values for name in FIELDS if name != "q"}
        | {"chunks": entries, "citations": entries},
    )
    | json_values
)
def test_no_json_value_breaks_the_record_or_its_parts(obj: object) -> None:
    found = trace_from(obj, SourceLine("t", 1, 0, 1), run_id=None)
    if isinstance(found, LineIssue):
        assert found.message
        return
    assert all(isinstance(each, str) for each in found.chunk_ids)
    listed = [
        candidate.chunk_id
        for stage in stages(found)
        if stage.name == "chunks"
        for candidate in stage.candidates
    ]
    assert tuple(listed) == found.chunk_ids
    assert all(citation.number >= 1 for citation in citations(found))
    assert all(doc_ids(found))
    first = rank_one_place(found)
    assert (first is None) == (not stages(found))
    assert measures(found).lambda_state != ""
