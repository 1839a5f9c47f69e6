"""Validating files: types and how they are named, rules across records, order, processes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import orjson
import pytest
from hypothesis import strategies as st

from proofspan.contracts.record_rules import RECORD_TYPES
from proofspan.contracts.records.schemas import schema
from proofspan.errors import InputFault
from proofspan.services import validation
from proofspan.services.validation import Tally
from proofspan.traces.lines import reader
from tests.unit.store_workspace import ENVELOPE
from tests.unit.validation.validating_room import PAYLOAD, answer, codes_of, found, written


def test_a_record_is_of_the_type_that_its_schema_names(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", answer("Q1"), {**answer("Q2"), "cited_chunks": []})
    assert codes_of(found(path)) == [(2, "empty_citations", "cited_chunks")]


def test_a_record_that_names_no_type_is_of_the_first_ones(tmp_path: Path) -> None:
    plain = {**answer("Q2"), "cited_chunks": []}
    del plain["$schema"]
    assert codes_of(found(written(tmp_path / "r.jsonl", answer("Q1"), plain))) == [
        (2, "empty_citations", "cited_chunks")
    ]


def test_a_file_whose_type_nothing_names_says_how_to_name_it(tmp_path: Path) -> None:
    good = written(tmp_path / "good.jsonl", answer("Q1", cited_chunks=[]))
    tally = Tally()
    findings = found([written(tmp_path / "r.jsonl", {"a": 1}), good], None, tally)
    assert codes_of(findings) == [(1, "empty_citations", "cited_chunks")]
    (problem,) = tally.problems
    assert problem.code == "type_not_named"
    assert "--as" in problem.fix


def test_a_schema_that_contradicts_the_given_type_is_a_finding(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", answer("Q1"))
    assert "schema_conflict" in [each.code for each in found(path, "query")]


@pytest.mark.parametrize(
    "kind", sorted({*RECORD_TYPES} - {"envelope", "citation", "auditable-answer", "metrics", "annotation"})
)
def test_a_record_that_comes_again_is_reported_whatever_its_type(tmp_path: Path, kind: str) -> None:
    example = schema(kind)["examples"][0]
    twice = found(written(tmp_path / "r.jsonl", example, example), kind)
    code = "duplicate_question" if kind in ("answer", "trace") else "duplicate_id"
    assert [each.line for each in twice if each.code == code] == [2]


def test_arrays_objects_over_lines_and_packed_files_are_read(tmp_path: Path) -> None:
    wrong = {**PAYLOAD, "rev": ""}
    array = tmp_path / "a.json"
    array.write_text(json.dumps([PAYLOAD, wrong, 3], indent=1))
    lines = array.read_text().splitlines()
    places = [number for number, line in enumerate(lines, start=1) if line in (" {", " 3")]
    assert codes_of(found(array, "citation")) == [
        (places[1], "empty_rev", "rev"),
        (places[2], "not_an_object", ""),
    ]
    single = tmp_path / "o.json"
    single.write_text(json.dumps(wrong, indent=1).replace('"rev": ""', '"rev": "", "tokens": 18'))
    assert codes_of(found(single, "citation")) == [(1, "duplicate_key", "tokens"), (1, "empty_rev", "rev")]
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(orjson.dumps(PAYLOAD) + b"\n" + orjson.dumps(wrong)))
    assert codes_of(found(packed, "citation")) == [(2, "empty_rev", "rev")]


@pytest.mark.parametrize("begin", [b"{}", b""])
def test_an_overlong_line_is_no_record_whatever_it_begins_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 2_000)
    path = tmp_path / "p.jsonl"
    path.write_bytes(begin + b" " * 5_000 + b"\n" + orjson.dumps({**PAYLOAD, "rev": ""}))
    assert codes_of(found(path, "citation")) == [(1, "line_too_long", ""), (2, "empty_rev", "rev")]


def test_what_is_no_file_of_records_is_a_problem_and_the_next_is_read(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    tally = Tally()
    findings = found([tmp_path / "none.jsonl", table, written(tmp_path / "p.jsonl", {})], "citation", tally)
    assert [problem.code for problem in tally.problems] == ["missing_file", "is_csv"]
    assert {each.file for each in findings} == {str(tmp_path / "p.jsonl")}


def test_separate_records_are_held_against_each_other_in_any_order(tmp_path: Path) -> None:
    uri = "https://wfgy.dev/schemas/retrieved-1.0.json"
    retrieved = {**ENVELOPE, "$schema": uri, "ranker": "dense", "k": 5}
    answers = written(tmp_path / "a.jsonl", answer("Q1", cited_chunks=["c1", "c9"]), answer("Q2"))
    lists = written(
        tmp_path / "r.jsonl",
        {**retrieved, "q_id": "Q1", "items": [{"chunk_id": "c1", "score": 0.5}]},
        {**retrieved, "q_id": "Q1", "ranker": "bm25", "items": [{"chunk_id": "c2", "score": 0.5}]},
        {**retrieved, "q_id": "Q7", "items": []},
    )
    of_answers = [
        (1, "cited_not_retrieved", "cited_chunks[2]"),
        (2, "cited_not_retrieved", "cited_chunks[1]"),
    ]
    of_lists = [(3, "unjoined_record", "q_id")]
    assert codes_of(found([answers, lists])) == of_answers + of_lists
    assert codes_of(found([lists, answers])) == of_lists + of_answers
    both = tmp_path / "both.jsonl"
    both.write_bytes(answers.read_bytes() + lists.read_bytes())
    assert codes_of(found(both)) == [*of_answers, (5, "unjoined_record", "q_id")]
    assert codes_of(found(answers)) == []
    broken = tmp_path / "broken.json"
    broken.write_text('[{"q_id": "Q1"},')
    tally = Tally()
    assert found([answers, broken], "answer", tally) == []
    assert (tally.read, [problem.code for problem in tally.problems]) == (2, ["not_json"])


def test_an_answer_that_declines_in_the_words_of_its_profile_owes_no_citations(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", answer("Q1", answer_text="No idea.", cited_chunks=[]))
    assert codes_of(found(path)) == [(1, "empty_citations", "cited_chunks")]
    assert codes_of(found(path, refusal=["no idea"])) == []


def test_variants_of_a_question_are_no_repeats(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", answer("Q1"), answer("Q1", seed=1), answer("Q1", paraphrase=0))
    assert codes_of(found(path)) == [(3, "duplicate_question", "q_id")]
    again = [written(tmp_path / "b.jsonl", answer("Q1")), written(tmp_path / "c.jsonl", answer("Q1"))]
    assert codes_of(found(again)) == []


def test_what_most_of_a_run_has_is_usual_wherever_it_is(tmp_path: Path) -> None:
    other = {**ENVELOPE, "mem_rev": "r2"}
    first_differs = written(tmp_path / "a.jsonl", answer("Q1", **other), answer("Q2"), answer("Q3"))
    assert codes_of(found(first_differs)) == [(1, "memory_desync", "mem_rev")]
    of_two_runs = written(tmp_path / "b.jsonl", answer("Q1", run_id="A", **other), answer("Q2", run_id="B"))
    assert codes_of(found(of_two_runs)) == []
    even = written(tmp_path / "c.jsonl", answer("Q1"), answer("Q2", **other))
    (finding,) = found(even)
    assert (finding.line, finding.message) == (2, "mem_rev is 'r2', and mostly 'r7'")


def test_chunks_given_make_a_corpus(tmp_path: Path) -> None:
    chunks = written(tmp_path / "chunks.jsonl", {"id": "s1", "text": "x"})
    path = written(tmp_path / "p.jsonl", PAYLOAD, {**PAYLOAD, "snippet_id": "s2"})
    assert codes_of(found(path, "citation", chunks=chunks)) == [(2, "not_in_corpus", "snippet_id")]
    with pytest.raises(InputFault):
        found(path, "citation", chunks=tmp_path / "none.jsonl")


def test_two_processes_find_the_same_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "WORTH_IT", 0)
    monkeypatch.setattr(validation, "RANGE_BYTES", 4_000)
    chance = random.Random(4)
    flaws: list[dict[str, object]] = [{}, {}, {"rev": ""}, {"k_pos": 0, "tokens": "x"}, {"offsets": [1, 0]}]
    lines = [orjson.dumps({**PAYLOAD, "snippet_id": f"s{n}", **chance.choice(flaws)}) for n in range(80)]
    lines[3:3] = [b"", b"{", b"[1]", lines[0][:-1] + b', "rev": "x"}\r']
    lines[60] = orjson.dumps({**PAYLOAD, "offsets": {"start": 1, "end": 2, "unit": "token"}})
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    alone, shared = Tally(), Tally()
    on_one = found(path, "citation", alone)
    assert found(path, "citation", shared, workers=2) == on_one
    assert (alone.read, alone.by_code()) == (shared.read, shared.by_code())
    own = [each.line for each in on_one if each.code not in ("crlf", "mixed_offset_units")]
    assert own == sorted(own)
    assert {"byte_order_mark", "crlf", "duplicate_key", "mixed_offset_units"} <= set(alone.findings)


def test_a_summary_counts_findings_and_records(tmp_path: Path) -> None:
    tally = Tally()
    twice = {"citations": [{"snippet_id": "s1"}, {"snippet_id": "s2"}], "answer": "x", "ΔS": 0.1, "λ": "→"}
    found(written(tmp_path / "a.jsonl", twice, twice), "auditable-answer", tally)
    assert (tally.files, tally.read) == (1, 2)
    assert ("missing_tokens", 4, 2) in tally.by_code()
    assert tally.errors == tally.findings.total()


def test_a_line_nested_beyond_what_the_parser_reads_is_not_called_bad_json(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b'{"a":' * 2000 + b"1" + b"}" * 2000 + b"\n")
    (finding,) = found(path, "citation")
    assert (finding.code, finding.fix) == ("nested_too_deeply", "Flatten the record.")


FIELDS = [
    *PAYLOAD,
    *(
        "page",
        "page_idx",
        "score_raw",
        "rerank_score",
        "k_final",
        "window",
        "id",
        "chunk_id",
        "quote",
        "span",
    ),
    *("bbox", "bbox_space", "page_label", "$schema", "schema_version", "score", "run_id", "mem_rev"),
]
VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        -1,
        2.5,
        "",
        " ",
        "\u00a0",
        "x",
        [],
        {},
        [1],
        {"pre": 1},
        {"start": 1, "end": 2},
        1 << 60,
    ]
)
