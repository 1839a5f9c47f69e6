"""Logs are found by their content; a record may go on over several lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import Trace
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.traces.lines.reader import RawLine
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import trace_file
from proofspan.traces.separate.log_lines import is_folded, parse_log_line, read_log
from tests.unit.validation.test_fix_encoding import run

FOLDED = """ts=2025-08-28 qid=Q001 seg=1
deltaS=0.37 lambda=convergent
k=10 store=faiss index_hash=2f7d...9a embed=bge-large-en-v1.5
citations=[hb24-sec-keys-0007,hb24-sec-keys-0008]
scores=[0.8421,0.8034] kpos=[18,7] kfinal=[3,1]
section_id=policies/security/keys rev=3b91f2a
"""


def one_line(text: str) -> str:
    return " ".join(text.splitlines()) + "\n"


def records_of(path: Path, text: str) -> list[RawLine]:
    path.write_bytes(text.encode())
    return list(read_log(path, final=True))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_record_over_several_lines_is_one(tmp_path: Path, end: str, gap: str) -> None:
    second = FOLDED.replace("Q001", "Q002")
    text = (FOLDED + gap + second + gap + one_line(FOLDED)).replace("\n", end)
    records = records_of(tmp_path / "a.log", text)
    assert [each.line for each in records] == [1, 7 + len(gap), 13 + 2 * len(gap)]
    data = (tmp_path / "a.log").read_bytes()
    assert all(data[each.offset :][: each.length] == each.data for each in records)
    read = [parse_log_line(each.data.decode()) for each in records]
    assert [record.qid for record, _ in read] == ["Q001", "Q002", "Q001"]
    assert read[0] == read[2] == parse_log_line(one_line(FOLDED).strip())
    assert read[0][1] == ()


def test_logs_of_one_line_a_record_are_read_line_by_line(tmp_path: Path) -> None:
    text = one_line(FOLDED) + "qid=Q002 k=3\nrev=7\n"  # a broken line stays one
    assert len(records_of(tmp_path / "a.log", text)) == 3
    assert not is_folded(tmp_path / "a.log")
    assert records_of(tmp_path / "empty.log", "") == []


@pytest.mark.parametrize("form", [str, one_line])
@pytest.mark.parametrize("name", ["log_one.log", "notes", "trace.jsonl"])
def test_validate_finds_the_form_of_a_log_by_its_content(
    tmp_path: Path, form: Callable[[str], str], name: str
) -> None:
    path = tmp_path / name
    path.write_text(form(FOLDED) + form(FOLDED.replace("Q001", "Q002")))
    named, found = (
        [orjson.loads(line) for line in run("validate", path, *options, "--json").stdout.splitlines()]
        for options in (("--as", "log"), ())
    )
    assert found == named
    assert found[-1]["summary"]["records"] == 2
    codes = {each["code"] for each in found[:-1]}
    assert codes <= {"missing_analyzer", "missing_schema_version", "envelope_missing"}, codes


def test_a_run_of_a_folded_log_has_its_traces(tmp_path: Path) -> None:
    (tmp_path / "rag.log").write_text(FOLDED + FOLDED.replace("Q001", "Q002").replace("0.37", "0.52"))
    (tmp_path / "gold.jsonl").write_text('{"q_id": "Q001", "q": "a?"}\n{"q_id": "Q002", "q": "b?"}\n')
    (tmp_path / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: n\ngold: {path: gold.jsonl}\n'
        "runs: [{run_id: R1, records: {log: {path: rag.log}}}]\n"
    )
    manifest = load_manifest(tmp_path)
    source = trace_file(manifest, manifest.runs[0], cache_dir=tmp_path / "cache")
    assert source.issues == ()
    traces = list(iter_traces(source.needed_path, file=source.file, run_id="R1", final=True))
    assert all(isinstance(each, Trace) for each in traces)
    assert [each.q_id for each in traces if isinstance(each, Trace)] == ["Q001", "Q002"]


def test_triage_says_what_to_do_with_a_log(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(FOLDED)
    (tmp_path / "c.jsonl").write_text('{"id": "c", "text": "t"}\n')
    result = run("triage", tmp_path / "t.jsonl", tmp_path / "c.jsonl", "-o", "-")
    assert isinstance(result.exception, InputFault)
    assert [each.code for each in result.exception.problems] == ["is_log"]
    assert "records: {log: {path: …}}" in result.exception.problems[0].fix
