"""Validating files: types and how they are named, rules across records, order, processes, workspaces."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts.clean_payload import is_clean_record
from core.contracts.context import NO_CONTEXT, Context
from core.contracts.record_rules import RECORD_TYPES, record_findings
from core.contracts.schemas import schema
from core.errors import InputFault
from core.services import validating_ranges
from core.services.validating import LocatedFinding, Tally, validate
from core.traces import reader
from tests.places import HANDBOOK

PAYLOAD: dict[str, Any] = {
    "doc_id": "handbook",
    "section_id": "keys",
    "snippet_id": "s1",
    "source_url": "https://example.org/h#keys",
    "offsets": {"start": 10, "end": 90, "unit": "char"},
    "tokens": 18,
    "index_hash": "faiss:2f7d",
    "embed_model": "bge:mean",
    "analyzer": "lowercase",
    "rev": "3b91f2a",
    "score_norm": 0.78,
    "k_pos": 18,
}
ENVELOPE = {
    "schema_version": "1.0.0",
    "event": "answer.decide",
    "ts": "2026-02-23T10:22:58Z",
    "trace_id": "t1",
    "agent_id": "system",
    "mem_rev": "r1",
    "mem_hash": "sha256:aa",
}


def written(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def found(
    path: Path | list[Path], record_type: str | None = None, tally: Tally | None = None, **options: Any
) -> list[LocatedFinding]:
    paths = path if isinstance(path, list) else [path]
    cache = options.pop("cache_dir", paths[0].parent / "cache")
    return list(validate(paths, record_type, cache_dir=cache, tally=tally, **options))


def told(findings: list[LocatedFinding]) -> list[tuple[int, str, str]]:
    return [(each.line, each.code, each.field) for each in findings]


def answer(q_id: str, **fields: object) -> dict[str, object]:
    uri = "https://wfgy.dev/schemas/answer-1.0.json"
    base = {"$schema": uri, "q_id": q_id, "answer_text": "Wide.", "cited_chunks": ["c1"], "λ_observe": "→"}
    return {**ENVELOPE, **base, **fields}


def test_a_record_is_of_the_type_that_its_schema_names(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", answer("Q1"), {**answer("Q2"), "cited_chunks": []})
    assert told(found(path)) == [(2, "empty_citations", "cited_chunks")]


def test_a_record_that_names_no_type_is_of_the_first_ones(tmp_path: Path) -> None:
    plain = {**answer("Q2"), "cited_chunks": []}
    del plain["$schema"]
    assert told(found(written(tmp_path / "r.jsonl", answer("Q1"), plain))) == [
        (2, "empty_citations", "cited_chunks")
    ]


def test_a_file_whose_type_nothing_names_says_how_to_name_it(tmp_path: Path) -> None:
    good = written(tmp_path / "good.jsonl", answer("Q1", cited_chunks=[]))
    tally = Tally()
    findings = found([written(tmp_path / "r.jsonl", {"a": 1}), good], None, tally)
    assert told(findings) == [(1, "empty_citations", "cited_chunks")]
    (problem,) = tally.problems
    assert problem.code == "type_not_named"
    assert "--as" in problem.remedy


def test_a_schema_that_contradicts_the_given_type_is_a_finding(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", answer("Q1"))
    assert "schema_conflict" in [each.code for each in found(path, "query")]


@pytest.mark.parametrize(
    "kind", sorted({*RECORD_TYPES} - {"envelope", "citation", "auditable-answer", "metrics"})
)
def test_a_record_that_comes_again_is_told_whatever_its_type(tmp_path: Path, kind: str) -> None:
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
    assert told(found(array, "citation")) == [
        (places[1], "empty_rev", "rev"),
        (places[2], "not_an_object", ""),
    ]
    single = tmp_path / "o.json"
    single.write_text(json.dumps(wrong, indent=1).replace('"rev": ""', '"rev": "", "tokens": 18'))
    assert told(found(single, "citation")) == [(1, "duplicate_key", "tokens"), (1, "empty_rev", "rev")]
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(orjson.dumps(PAYLOAD) + b"\n" + orjson.dumps(wrong)))
    assert told(found(packed, "citation")) == [(2, "empty_rev", "rev")]


@pytest.mark.parametrize("begin", [b"{}", b""])
def test_an_overlong_line_is_none_whatever_it_begins_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 2_000)
    path = tmp_path / "p.jsonl"
    path.write_bytes(begin + b" " * 5_000 + b"\n" + orjson.dumps({**PAYLOAD, "rev": ""}))
    assert told(found(path, "citation")) == [(1, "line_too_long", ""), (2, "empty_rev", "rev")]


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
    assert told(found([answers, lists])) == of_answers + of_lists
    assert told(found([lists, answers])) == of_lists + of_answers
    both = tmp_path / "both.jsonl"
    both.write_bytes(answers.read_bytes() + lists.read_bytes())
    assert told(found(both)) == [*of_answers, (5, "unjoined_record", "q_id")]
    assert told(found(answers)) == []
    broken = tmp_path / "broken.json"
    broken.write_text('[{"q_id": "Q1"},')
    tally = Tally()
    assert found([answers, broken], "answer", tally) == []
    assert (tally.read, [problem.code for problem in tally.problems]) == (2, ["not_json"])


def test_an_answer_that_declines_in_the_words_of_its_profile_owes_no_citations(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", answer("Q1", answer_text="No idea.", cited_chunks=[]))
    assert told(found(path)) == [(1, "empty_citations", "cited_chunks")]
    assert told(found(path, refusal=["no idea"])) == []


def test_variants_of_a_question_are_no_repeats(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", answer("Q1"), answer("Q1", seed=1), answer("Q1", paraphrase=0))
    assert told(found(path)) == [(3, "duplicate_question", "q_id")]
    again = [written(tmp_path / "b.jsonl", answer("Q1")), written(tmp_path / "c.jsonl", answer("Q1"))]
    assert told(found(again)) == []


def test_what_most_of_a_run_has_is_usual_wherever_it_stands(tmp_path: Path) -> None:
    other = {**ENVELOPE, "mem_rev": "r2"}
    first_differs = written(tmp_path / "a.jsonl", answer("Q1", **other), answer("Q2"), answer("Q3"))
    assert told(found(first_differs)) == [(1, "memory_desync", "mem_rev")]
    of_two_runs = written(tmp_path / "b.jsonl", answer("Q1", run_id="A", **other), answer("Q2", run_id="B"))
    assert told(found(of_two_runs)) == []
    even = written(tmp_path / "c.jsonl", answer("Q1"), answer("Q2", **other))
    (finding,) = found(even)
    assert (finding.line, finding.message) == (2, "mem_rev is 'r2', and mostly 'r1'")


def test_chunks_given_make_a_corpus(tmp_path: Path) -> None:
    chunks = written(tmp_path / "chunks.jsonl", {"id": "s1", "text": "x"})
    path = written(tmp_path / "p.jsonl", PAYLOAD, {**PAYLOAD, "snippet_id": "s2"})
    assert told(found(path, "citation", chunks=chunks)) == [(2, "not_in_corpus", "snippet_id")]
    with pytest.raises(InputFault):
        found(path, "citation", chunks=tmp_path / "none.jsonl")


def test_two_processes_find_the_same_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validating_ranges, "WORTH_IT", 0)
    monkeypatch.setattr(validating_ranges, "RANGE_BYTES", 4_000)
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


def test_a_workspace_is_validated_by_its_manifest(tmp_path: Path) -> None:
    tally = Tally()
    findings = found(HANDBOOK, None, tally, cache_dir=tmp_path)
    names = {str(Path(each.file).relative_to(HANDBOOK)) for each in findings}
    assert (tally.files, tally.problems) == (4, [])
    assert names == {"corpus/chunks.jsonl", "runs/R001/trace.jsonl", "runs/R002/trace.jsonl"}
    chunks = Tally()
    found(HANDBOOK, "chunk", chunks, cache_dir=tmp_path)
    assert (chunks.files, chunks.read < tally.read) == (1, True)


def workspace(folder: Path, contract: str, *lines: dict[str, object], end: bytes = b"\n") -> Path:
    folder.mkdir()
    (folder / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: small\nchunks: {path: chunks.jsonl}\n'
        f"documents: [{{doc_id: handbook, path: h.md, paged: false, rev: 3b91f2a}}]\n{contract}"
        "runs:\n  - run_id: R1\n    traces: {path: t.jsonl}\n    pinned: {index_hash: 'faiss:2f7d'}\n"
    )
    (folder / "h.md").write_text("# Keys\n")
    written(folder / "chunks.jsonl", {"id": "s1", "text": "x"})
    (folder / "t.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)) + end)
    return folder


def trace(q_id: str, *cited: dict[str, object], **fields: object) -> dict[str, object]:
    base = {"q_id": q_id, "q": "How?", "chunks": [{"id": "s1"}], "citations": list(cited), "answer": "So."}
    return {**ENVELOPE, **base, **fields}


def test_a_runs_traces_are_held_against_its_pins_revisions_chunks_and_whitelist(tmp_path: Path) -> None:
    lines = (
        trace("Q1", {**PAYLOAD, "index_hash": "faiss:77aa"}, {**PAYLOAD, "rev": "0000"}),
        trace("Q2", {**PAYLOAD, "snippet_id": "s9"}),
        trace("Q3", PAYLOAD, {**PAYLOAD, "section_id": "b"}),
        trace("Q4", PAYLOAD, run_id="R2"),
        trace("Q5", PAYLOAD),
    )
    path = workspace(tmp_path / "w", "", *lines, end=b"")
    tally = Tally()
    codes = {(each.record_id, each.code) for each in found(path, "trace", tally, cache_dir=tmp_path)}
    expected = {
        ("Q1", "mismatch_index_hash"),
        ("Q1", "rev_mismatch"),
        ("Q2", "not_in_corpus"),
        ("Q2", "cited_not_retrieved"),
        ("Q3", "cross_section_reuse"),
        ("Q4", "other_run"),
    }
    assert expected <= codes
    assert [problem.code for problem in tally.notes] == ["last_line_waits"]
    allowed = workspace(tmp_path / "v", "contract: {allow_cross_section: true}\n", *lines)
    assert "cross_section_reuse" not in {each.code for each in found(allowed, "trace", cache_dir=tmp_path)}
    given_pin = Context(index_hash="faiss:77aa")
    of_pin = [each.record_id for each in found(allowed, "trace", cache_dir=tmp_path, context=given_pin)]
    assert "Q2" in of_pin


def test_the_separate_records_of_a_run_are_held_against_each_other_and_those_of_another_are_not(
    tmp_path: Path,
) -> None:
    lists = {**ENVELOPE, "q_id": "Q1", "ranker": "dense", "k": 5}
    for run, chunk_id in (("A", "c1"), ("B", "c2")):
        written(tmp_path / f"{run}-answers.jsonl", answer("Q1"))
        items = [{"chunk_id": chunk_id, "score": 0.5}]
        written(tmp_path / f"{run}-retrieved.jsonl", {**lists, "items": items})
    runs = "".join(
        f"  - run_id: {run}\n    records:\n      retrieved: {{path: {run}-retrieved.jsonl}}\n"
        f"      answer: {{path: {run}-answers.jsonl}}\n"
        for run in "AB"
    )
    manifest = tmp_path / "pipeline_manifest.yaml"
    manifest.write_text(f'manifest_version: "1.0"\nname: separate\nruns:\n{runs}')
    (finding,) = found(manifest, cache_dir=tmp_path / "cache")
    assert (finding.file, finding.code) == (str(tmp_path / "B-answers.jsonl"), "cited_not_retrieved")


def test_log_lines_are_questions_that_other_records_may_join(tmp_path: Path) -> None:
    lists = {**ENVELOPE, "ranker": "dense", "k": 5, "items": []}
    retrieved = written(tmp_path / "r.jsonl", {**lists, "q_id": "Q1"}, {**lists, "q_id": "Q2"})
    log = tmp_path / "rag.log"
    log.write_text("ts=2025-08-28 qid=Q1 seg=1 deltaS=0.37 lambda=convergent\n")
    answers = written(tmp_path / "a.jsonl", answer("Q3"))
    (tmp_path / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: separate\nruns:\n  - run_id: R1\n    records:\n'
        f"      retrieved: {{path: {retrieved.name}}}\n      log: {{path: {log.name}}}\n"
        f"      answer: {{path: {answers.name}}}\n"
    )
    codes = [(each.record_id, each.code) for each in found(tmp_path, cache_dir=tmp_path / "cache")]
    assert [told for told in codes if told[1] == "unjoined_record"] == [("Q2", "unjoined_record")]


def test_a_run_of_a_workspace_that_lacks_a_file_says_so_and_the_rest_is_read(tmp_path: Path) -> None:
    path = workspace(tmp_path / "w", "", trace("Q1", PAYLOAD))
    (path / "t.jsonl").unlink()
    tally = Tally()
    assert {each.file for each in found(path, None, tally, cache_dir=tmp_path)} == {
        str(path / "chunks.jsonl")
    }
    assert [problem.code for problem in tally.problems] == ["missing"]


@pytest.mark.parametrize(("declared", "told"), [(2, 0), (1, 2), (3, 2)])
def test_lines_that_a_manifest_declares_to_hold_no_record_are_a_note(
    tmp_path: Path, declared: int, told: int
) -> None:
    path = workspace(tmp_path / "w", "", trace("Q1", PAYLOAD), {"no": "question"}, trace("Q2", PAYLOAD))
    with (path / "t.jsonl").open("ab") as file:
        file.write(b"{torn\n")
    manifest = path / "pipeline_manifest.yaml"
    said = manifest.read_text().replace("t.jsonl}", f"t.jsonl, unreadable_lines: {declared}}}")
    manifest.write_text(said)
    tally = Tally()
    lines = {each.line for each in found(path, "trace", tally, cache_dir=tmp_path)}
    assert (len(lines), tally.read) == (told, 4)
    notes = [(note.code, note.where, "2 lines" in note.message) for note in tally.notes]
    assert notes == ([] if told else [("lines_unreadable_declared", f"{path / 't.jsonl'}:2", True)])


def test_a_line_nested_beyond_what_the_parser_reads_is_not_called_bad_json(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_bytes(b'{"a":' * 2000 + b"1" + b"}" * 2000 + b"\n")
    (finding,) = found(path, "citation")
    assert (finding.code, finding.next_step) == ("nested_too_deeply", "Flatten the record.")


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


@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4), st.sets(st.sampled_from(FIELDS), max_size=1)
)
def test_a_payload_that_passes_the_quick_look_has_no_finding(
    changes: dict[str, Any], left_out: set[str]
) -> None:
    payload = {key: value for key, value in {**PAYLOAD, **changes}.items() if key not in left_out}
    if is_clean_record(payload, NO_CONTEXT):
        assert record_findings("citation", payload, NO_CONTEXT) == ()
