"""Trace, chunk, gold and report files from disk to records, and one record again by its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Chunk, GoldSpan, LineIssue, Offsets, SourceLine, Trace
from proofspan.diagnosis.answers import payload_ids
from proofspan.errors import InputFault
from proofspan.traces.lines.tables import entry_lines
from proofspan.traces.records.chunks import iter_chunks, read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.stored_reports import StoredReport, read_report
from proofspan.traces.records.trace_record import rank_one_place, stages
from proofspan.traces.records.traces import iter_traces, read_trace_at


def jsonl(path: Path, *records: Any) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    lines = ['{"q": "one", "q_id": "Q1"}', "not json", "", '{"q": null}', '{"q": "zwölf", "q_id": "Q12"}']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_every_line_is_a_record_or_an_issue_with_its_place(traces: Path) -> None:
    found = list(iter_traces(traces, file="runs/R1/trace.jsonl", run_id="R1"))
    assert [(type(item), item.source.line) for item in found] == [
        (Trace, 1),
        (LineIssue, 2),
        (LineIssue, 4),
        (Trace, 5),
    ]
    assert [item.code for item in found if isinstance(item, LineIssue)] == ["not_json", "q_wrong_type"]
    assert found[1].source == SourceLine("runs/R1/trace.jsonl", 2, 27, 8)


def test_a_record_is_read_again_by_its_place(traces: Path) -> None:
    for item in iter_traces(traces, file="t", run_id="R1"):
        if isinstance(item, Trace):
            assert read_trace_at(traces, item.source, run_id="R1", q_id=item.q_id) == item


@pytest.mark.parametrize("end", [b"\r\n", b"\r\r\n", b"\r\r\r\n", b"\r", b""])
def test_a_record_is_read_again_whatever_ends_its_line(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"q": "x"}\r\r\n{"q": "y"}' + end)
    for found in iter_traces(path, file="t", run_id="R1", final=True):
        assert read_trace_at(path, found.source, run_id="R1") == found


def test_the_first_record_behind_a_byte_order_mark_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"q": "x"}\r\n')
    (found,) = iter_traces(path, file="t", run_id="R1")
    assert read_trace_at(path, found.source, run_id="R1") == found


@pytest.mark.parametrize(
    "changed",
    [
        b"",
        b'{"q": "one", "q_id": "Q1"',
        b'{"q": "one", "q_id": "Q1" }\n',
        b'{"q": "two", "q_id": "Q2"}\n',
        b'{"q": null, "q_id": "Q1" }\n',
        b'\n{"q": "one", "q_id": "Q1"}',
    ],
)
def test_a_line_that_changed_is_a_fault(traces: Path, changed: bytes) -> None:
    traces.write_bytes(changed)
    with pytest.raises(InputFault) as caught:
        read_trace_at(traces, SourceLine("t", 1, 0, 26), run_id="R1", q_id="Q1")
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("line_changed", "t:1")
    assert "proofspan index" in problem.fix


def test_a_chunk_file_is_an_array_or_jsonl(tmp_path: Path) -> None:
    records = [{"id": "p1#1", "text": "X is Y."}, {"id": "p1#2", "text": ""}]
    array = tmp_path / "chunks.json"
    array.write_bytes(b"\xef\xbb\xbf\n " + orjson.dumps(records, option=orjson.OPT_INDENT_2))
    from_array, no_issues = read_chunks(array, file="chunks.json")
    from_lines, none_either = read_chunks(jsonl(tmp_path / "chunks.jsonl", *records), file="chunks.jsonl")
    assert {key: chunk.text for key, chunk in from_array.items()} == {"p1#1": "X is Y.", "p1#2": ""}
    assert from_array == from_lines
    assert no_issues == none_either == []


def test_an_empty_array_and_an_empty_file_hold_no_chunks(tmp_path: Path) -> None:
    path = tmp_path / "chunks"
    for data in (b"[]", b"", b"\n"):
        path.write_bytes(data)
        assert read_chunks(path, file="chunks") == ({}, [])


def test_a_full_chunk_record(tmp_path: Path) -> None:
    record = {
        "chunk_id": "meridian-2026|r=8c1e9a02|s=4.2|p=042|b=003",
        "doc_id": "meridian-2026",
        "section_id": 4.2,
        "section_number": "4.2",
        "page_idx": 41,
        "order_in_section": 3,
        "text": "Press SET.",
        "offsets": [12345, 12980],
        "bbox": [72, 140, 320, 260],
        "bbox_space": "points",
        "tokens": 365,
        "hash": "sha1:cafe",
        "block_type": "paragraph",
        "anchor": "SET",
        "extra": {"kept": True},
    }
    chunks, issues = read_chunks(jsonl(tmp_path / "c.jsonl", record), file="c.jsonl")
    (chunk,) = chunks.values()
    assert issues == []
    assert (chunk.section_id, chunk.page_idx, chunk.offsets) == ("4.2", 41, Offsets(12345, 12980))
    assert (chunk.box, chunk.box_space) == ((72.0, 140.0, 320.0, 260.0), "points")
    assert (chunk.tokens, chunk.order_in_section, chunk.anchor) == (365, 3, "SET")
    assert chunk.raw["extra"] == {"kept": True}


def test_a_number_as_a_chunk_id_is_its_text_on_both_sides(tmp_path: Path) -> None:
    chunks, issues = read_chunks(jsonl(tmp_path / "c", {"id": 7, "text": "hello"}), file="c")
    line = {"q": "?", "chunks": [{"id": 7}], "citations": [{"chunk_id": 7}], "answer": "hello"}
    (trace,) = iter_traces(jsonl(tmp_path / "t", line), file="t", run_id=None)
    assert isinstance(trace, Trace)
    (stage,) = stages(trace)
    assert issues == [] and list(chunks) == ["7"] == list(trace.chunk_ids)
    assert [each.chunk_id for each in stage.candidates] == ["7"]
    assert [each.chunk_id for each in citations(trace)] == ["7"] == list(payload_ids(trace))
    assert (place := rank_one_place(trace)) and place.chunk_id == "7"


@pytest.mark.parametrize("shape", ["lines", "array", "indented"])
def test_bad_chunks_are_issues_and_the_rest_is_read(tmp_path: Path, shape: str) -> None:
    records = [
        {"text": "no id"},
        {"id": "a", "text": "first"},
        {"id": "", "text": "empty"},
        {"id": "b"},
        "text",
        {"id": "a", "text": "second"},
    ]
    path = jsonl(tmp_path / "c", *(records if shape == "lines" else [records]))
    if shape == "indented":
        path.write_bytes(orjson.dumps(records, option=orjson.OPT_INDENT_2))
    chunks, issues = read_chunks(path, file="c")
    assert {key: chunk.text for key, chunk in chunks.items()} == {"a": "second"}
    assert [(issue.source.line, issue.code) for issue in issues] == list(
        zip(
            {"lines": (1, 3, 4, 5, 6), "array": (1,) * 5, "indented": (2, 9, 13, 16, 17)}[shape],
            (
                "chunk_without_id",
                "chunk_without_id",
                "chunk_without_text",
                "not_an_object",
                "duplicate_chunk_id",
            ),
            strict=True,
        )
    )
    assert shape == "lines" or issues[1].message == "entry 3: the chunk's id is empty"
    assert "different content" in issues[-1].message
    assert issues[0].excerpt == '{"text":"no id"}'


json_values = st.recursive(
    st.none() | st.integers() | st.text(alphabet=st.sampled_from('[]{},:"\\\n a'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.tuples(json_values, st.sampled_from([None, 0, 2]), st.integers(0, 2)), max_size=5))
def test_an_entry_of_an_array_has_the_line_that_it_begins_on(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[Any, int | None, int]]
) -> None:
    text, lines = " [", []
    for number, (value, indent, breaks) in enumerate(entries):
        text += ("," if number else "") + "\n" * breaks
        lines.append(text.count("\n") + 1)
        text += json.dumps(value, indent=indent)
    path = tmp_path_factory.mktemp("array") / "a.json"
    path.write_text(text + "\n]", encoding="utf-8")
    assert entry_lines(path)[: len(lines)] == lines


def test_a_last_chunk_without_line_end_counts(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"id":"a","text":"x"}\n{"id":"b","text":"y"}')
    assert list(read_chunks(path, file="c")[0]) == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (None, "missing_file"),
        (b'[{"id": "a", "text": "x"},', "not_json"),
        (b"id,text\na,x\nb,y\n", "is_csv"),
        (b"<html>", "not_jsonl"),
    ],
)
def test_a_file_that_is_no_chunk_file_is_a_fault(tmp_path: Path, data: bytes | None, code: str) -> None:
    path = tmp_path / "c.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputFault) as caught:
        read_chunks(path, file="c.json")
    assert caught.value.problems[0].code == code
    assert caught.value.problems[0].fix


def test_gold_questions(tmp_path: Path) -> None:
    spans = [
        {"doc_id": "d", "page_idx": 0, "quote": "SET", "offsets": [320, 480]},
        {"doc_id": "d", "page": 42, "quote": "RES"},
    ]
    path = jsonl(
        tmp_path / "gold.jsonl",
        {"q_id": "Q80", "q": "How?", "type": "procedure", "sections": ["4.2", 5], "spans": spans, "extra": 1},
        {"q": "What?", "answerable": False, "sections": "4.3", "spans": None},
    )
    gold, issues = read_gold(path, file="gold.jsonl")
    how, what = gold.values()
    assert issues == []
    assert (how.q_id, how.answerable, how.sections) == ("Q80", True, ("4.2", "5"))
    assert how.spans == (GoldSpan("d", 0, "SET", Offsets(320, 480)), GoldSpan("d", 41, "RES"))
    assert (what.answerable, what.sections, what.spans) == (False, ("4.3",), ())
    assert len(what.q_id) == 8


def test_bad_gold_lines_are_issues(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "gold.jsonl",
        {"q_id": "Q1"},
        {"q": "x", "answerable": "no"},
        {"q": "x", "spans": {}},
        {"q": "x", "grades": {"c1": 0}},
        {"q": "x", "grades": {"c1": True}},
        {"q": "x", "grades": ["c1"]},
        {"q": "x", "spans": [{"doc_id": "d"}]},
        {"q": "x", "spans": [{"doc_id": "d", "quote": "…", "page": 0}]},
        {"q": "x", "q_id": "Q2"},
        {"q": "y", "q_id": "Q2"},
        7,
    )
    gold, issues = read_gold(path, file="gold.jsonl")
    assert {key: question.q for key, question in gold.items()} == {"Q2": "y"}
    assert [issue.code for issue in issues] == [
        "q_missing",
        "answerable_wrong_type",
        "spans_wrong_type",
        *["grades_wrong_type"] * 3,
        "span_without_place",
        "page_below_one",
        "duplicate_q_id",
        "not_an_object",
    ]


def test_a_stored_report_joins_by_identity_else_by_place(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "report.jsonl",
        {"q": "one", "label": "ok", "why": "first"},
        {"q": "one", "label": "refusal_ok", "why": "second"},
        {"q": "one", "q_id": "Q1", "label": "retrieval_drift", "llm_summary": "a guess"},
        {"q": "two", "q_id": "Q2", "seed": 1, "label": "ok"},
        {"q": "three"},
    )
    rows, issues = read_report(path, file="report.jsonl")
    assert [issue.source.line for issue in issues] == [5]
    report = StoredReport(rows)
    taken = [
        report.take(q="one", q_id="Q1"),
        report.take(q="one", q_id="other"),
        report.take(q="one", q_id="Q1"),
    ]
    assert [row and (row.label, row.why) for row in taken] == [
        ("retrieval_drift", ""),
        ("ok", "first"),
        ("refusal_ok", "second"),
    ]
    assert taken[0] is not None
    assert taken[0].llm_summary == "a guess"
    assert report.take(q="two", q_id="Q2") is None
    assert [row.source.line for row in report.unmatched()] == [4]


def test_an_array_gives_the_issue_of_a_chunk_its_line_and_its_entry(tmp_path: Path) -> None:
    path = tmp_path / "chunks.json"
    path.write_text('[\n  {"id": "a", "text": "One."},\n\n  {"id": "b"}\n]', encoding="utf-8")
    chunk, issue = iter_chunks(path, file="chunks.json")
    assert isinstance(chunk, Chunk)
    assert isinstance(issue, LineIssue)
    assert (chunk.chunk_id, issue.code, issue.source.line) == ("a", "chunk_without_text", 4)
    assert issue.message.startswith("entry 2: ")
