"""A run's separate records as its traces: the cached file, its issues, and what a change of a source does."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.store.index.build import build_index, index_state
from proofspan.store.query.store import Store
from proofspan.traces.contract import trace_codes
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate import join_cache as joined_module
from proofspan.traces.separate.join_cache import trace_file
from proofspan.traces.separate.record_files import RecordFile
from tests.record_files import HANDBOOK, handbook_of_records, write_lines
from tests.unit.store_workspace import CHUNKS, ENVELOPE, manifest_of, table_of

ITEMS = [{"chunk_id": "c2", "score": 2.0, "doc_id": "manual"}, {"chunk_id": "c1", "score": 1.0}]
QUERY = {"q_id": "Q1", "text": "What holds the oil filter?"}
ANSWER = {"q_id": "Q1", "answer_text": "Oil.\ncitations: [c1]", "cited_chunks": ["c1"], "λ_observe": "→"}


def workspace(folder: Path, files: Mapping[str, Sequence[object]], **entries: object) -> Manifest:
    """A workspace with the run R1 of these records."""
    (folder / "chunks.jsonl").write_bytes(b"".join(orjson.dumps(chunk) + b"\n" for chunk in CHUNKS))
    for name, records in files.items():
        write_lines(folder / f"{name}.jsonl", records)
    run = {"run_id": "R1", "records": {name: {"path": f"{name}.jsonl"} for name in files}}
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=[run], **entries)


def joined(manifest: Manifest, cache: Path) -> RecordFile:
    (run,) = manifest.runs
    return trace_file(manifest, run, cache_dir=cache)


def traces(manifest: Manifest, cache: Path) -> list[Trace]:
    found = joined(manifest, cache)
    assert found.path is not None, found.problems
    lines = list(iter_traces(found.path, file=found.file, run_id="R1", final=True))
    assert not [line for line in lines if isinstance(line, LineIssue)]
    return [line for line in lines if isinstance(line, Trace)]


def test_what_was_taken_apart_reads_as_before(tmp_path: Path) -> None:
    cache, before = tmp_path / "cache", load_manifest(HANDBOOK)
    after = load_manifest(handbook_of_records(tmp_path / "handbook"))
    for manifest in (before, after):
        build_index(manifest, runs=["R002"], cache_dir=cache)
    was, now = table_of(before, "R002", cache), table_of(after, "R002", cache)
    place = {"file", "line", "offset", "length"}
    assert len(was) == 14
    for one, other in zip(was, now, strict=True):
        assert {name for name in one if one[name] != other[name]} <= place
    assert Store(after, cache).line_issues("R002").empty


def test_all_records_of_a_question_become_one_trace(tmp_path: Path) -> None:
    rerank = {
        "q_id": "Q1",
        "model": "bge",
        "items": [
            {"chunk_id": "c2", "post_score": {"ce": 0.1}, "selected": False},
            {"chunk_id": "c1", "post_score": {"ce": 0.9}, "selected": True, "reason": "oil"},
        ],
    }
    answer = {**ANSWER, "ts": "2026-01-01", "metrics": {"ΔS_q_ctx": 0.38, "latency_ms": 922}, "extra": 1}
    manifest = workspace(
        tmp_path,
        {
            "query": [{**QUERY, "hyde": "Oil is …"}],
            "retrieved": [{"q_id": "Q1", "ranker": "dense", "items": ITEMS}],
            "rerank": [rerank],
            "answer": [answer],
        },
    )
    (trace,) = traces(manifest, tmp_path / "cache")
    assert (trace.q, trace.answer, trace.chunk_ids) == (QUERY["text"], ANSWER["answer_text"], ("c1",))
    assert trace.suspicions == ()
    raw = trace.raw
    assert raw["stages"]["retrieved"] == ITEMS
    assert [item["chunk_id"] for item in raw["stages"]["reranked"]] == ["c1", "c2"]
    assert raw["stages"]["reranked"][1]["doc_id"] == "manual"
    assert (raw["citations"], raw["λ"], raw["ΔS"], raw["latency_ms"]) == (["c1"], "convergent", 0.38, 922)
    assert (raw["ts"], raw["extra"], raw["query"], raw["rerank"]) == (
        *("2026-01-01", 1),
        *({"hyde": "Oil is …"}, {"model": "bge"}),
    )
    assert list(raw).index("answer") < list(raw).index("citations")
    assert raw["joined_from"] == {
        name: f"{name}.jsonl:1" for name in ("answer", "query", "retrieved", "rerank")
    }


def seen(tmp_path: Path, **more: Any) -> tuple[str, ...]:
    files: dict[str, Sequence[object]] = {
        "answer": [ANSWER],
        "query": [QUERY],
        "retrieved": [{"q_id": "Q1", "items": ITEMS}],
    }
    files |= {name: [{"q_id": "Q1", **record}] for name, record in more.items()}
    (trace,) = traces(workspace(tmp_path, files), tmp_path / "cache")
    return trace.chunk_ids


def test_the_prompt_is_the_best_record_of_what_the_answerer_saw(tmp_path: Path) -> None:
    rerank = {"items": [{"chunk_id": "c3"}, {"chunk_id": "c1"}]}
    assert seen(tmp_path) == ("c2", "c1")
    assert seen(tmp_path, rerank=rerank) == ("c3", "c1")
    assert seen(tmp_path, rerank={**rerank, "k_out": 1}) == ("c3",)
    assert seen(tmp_path, rerank=rerank, prompt={"citations": [{"id": "c1"}]}) == ("c1",)
    assert seen(tmp_path, rerank=rerank, prompt={"citations": []}) == ()
    assert seen(tmp_path, rerank=rerank, prompt={"question": "?"}) == ("c3", "c1")


def test_a_hybrid_list_beside_another_is_the_fused_one(tmp_path: Path) -> None:
    lists = [
        {"q_id": "Q1", "ranker": "hybrid", "items": ITEMS[1:]},
        {"q_id": "Q1", "ranker": "bm25", "items": ITEMS},
    ]
    manifest = workspace(tmp_path, {"query": [QUERY], "retrieved": lists})
    (trace,) = traces(manifest, tmp_path / "cache")
    assert trace.raw["stages"] == {"retrieved": ITEMS, "fused": ITEMS[1:]}
    assert trace.chunk_ids == ("c1",)
    assert trace.suspicions == ("answer_missing",)
    alone = workspace(tmp_path, {"query": [QUERY], "retrieved": lists[:1]})
    assert traces(alone, tmp_path / "cache")[0].raw["stages"] == {"retrieved": ITEMS[1:]}


def test_a_prompt_without_an_id_goes_by_its_question(tmp_path: Path) -> None:
    prompts = [{"question": QUERY["text"], "citations": ["c3"]}, {"question": "Another?"}]
    twice = [{"q_id": "Q2", "text": "Same?"}, {"q_id": "Q3", "text": "Same?"}]
    files: dict[str, Sequence[object]] = {
        "query": [QUERY, *twice],
        "prompt": [*prompts, {"question": "Same?"}, {"task": "none"}],
    }
    manifest = workspace(tmp_path, files)
    assert [trace.chunk_ids for trace in traces(manifest, tmp_path / "cache")] == [("c3",), (), ()]
    issues = joined(manifest, tmp_path / "cache").issues
    assert [(issue.code, issue.source.line) for issue in issues] == [
        ("unjoined_record", line) for line in (2, 3, 4)
    ]


LOG = (
    b"ts=2025-08-28 qid=Q1 seg=1 deltaS=0.37 lambda=convergent k=10 store=faiss index_hash=2f7d embed=bge "
    b"citations=[c1,c2] scores=[0.9,0.8] kpos=[18,7] kfinal=[3,1] section_id=4.2 rev=7"
)


def test_log_lines_ask_the_gold_set(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b'{"q_id": "Q1", "q": "What holds the oil filter?"}\n')
    files: dict[str, list[object]] = {"log": [LOG, b"qid=Q9 seg=1 citations=[c1]"]}
    manifest = workspace(tmp_path, files, gold={"path": "gold.jsonl"})
    known, unknown = traces(manifest, tmp_path / "cache")
    assert (known.q, known.suspicions) == (QUERY["text"], ("answer_missing", "chunks_missing"))
    assert known.raw["citations"][0] == {
        "snippet_id": "c1",
        "section_id": "4.2",
        "index_hash": "faiss:2f7d",
        "embed_model": "bge",
        "rev": "7",
        "score_raw": 0.9,
        "k_pos": 18,
        "k_final": 3,
    }
    assert (known.raw["ts"], known.raw["ΔS"], known.raw["λ"]) == ("2025-08-28", 0.37, "convergent")
    assert known.raw["joined_from"] == {"log": ["log.jsonl:1"], "gold": "Q1"}
    assert (unknown.q, "question_unknown" in unknown.suspicions) == ("", True)


def test_without_a_question_there_is_no_label(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {"log": [LOG]})
    build_index(manifest, cache_dir=tmp_path / "cache")
    (row,) = table_of(manifest, "R1", tmp_path / "cache")
    assert (row["label"], row["q_id"]) == (None, "Q1")
    assert "question_unknown" in row["suspicions"]  # type: ignore[operator]


def test_segments_of_a_log_become_segments_and_rows_fill_in(tmp_path: Path) -> None:
    rows = [
        {"qid": "Q1", "seg": 3, "citations": '["c3"]', "scores": "[0.5]", "kpos": [1], "lambda_state": "×"},
        {"qid": "Q1", "seg": 2, "citations": ["other"]},
    ]
    log = [b"qid=Q1 seg=2 citations=[c2]", b"qid=Q1 seg=1 citations=[c1] deltaS=0.2"]
    (trace,) = traces(workspace(tmp_path, {"log": log, "rag_traces": rows}), tmp_path / "cache")
    segments = trace.raw["segments"]
    assert [part["seg"] for part in segments] == [1, 2, 3]
    assert [part["citations"][0]["snippet_id"] for part in segments] == ["c1", "c2", "c3"]
    assert (segments[2]["citations"][0]["score_raw"], segments[2]["λ"]) == (0.5, "chaotic")
    assert trace.raw["joined_from"] == {
        "log": ["log.jsonl:2", "log.jsonl:1"],
        "rag_traces": ["rag_traces.jsonl:1"],
    }


def test_ids_that_an_answer_cites_are_given_what_the_log_says(tmp_path: Path) -> None:
    answer = {**ANSWER, "cited_chunks": ["c1", "c3"]}
    (trace,) = traces(workspace(tmp_path, {"answer": [answer], "log": [LOG]}), tmp_path / "cache")
    assert trace.raw["citations"][0]["k_final"] == 3
    assert trace.raw["citations"][1] == "c3"


def test_ids_and_log_lines_owe_no_payload(tmp_path: Path) -> None:
    alone = b"qid=Q2 seg=1 citations=[c1]"
    answers = [{"q_id": "Q1", "cited_chunks": ["c1"], "answer_text": "Oil.", **ENVELOPE}]
    files: dict[str, Sequence[object]] = {"answer": answers, "log": [alone], "query": [QUERY]}
    first, second = traces(workspace(tmp_path, files), tmp_path / "cache")
    assert trace_codes(first, NO_CONTEXT, declines=False) == ()
    assert trace_codes(second, NO_CONTEXT, declines=False) == (
        "missing_score",
        "missing_k_pos",
        "question_unknown",
    )


def test_a_blank_question_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b'{"q_id": "Q1", "q": "What holds the oil filter?"}\n')
    files: dict[str, list[object]] = {"query": [{"q_id": "Q1", "text": " "}], "answer": [ANSWER]}
    (found,) = traces(workspace(tmp_path, files, gold={"path": "gold.jsonl"}), tmp_path / "cache")
    assert found.q == "What holds the oil filter?"
    files = {"query": [{"q_id": "Q2", "text": ""}], "answer": []}
    (unknown,) = traces(workspace(tmp_path, files), tmp_path / "cache")
    assert (unknown.q, "question_unknown" in unknown.suspicions) == ("", True)


def test_paraphrases_and_seeds_are_questions_of_their_own(tmp_path: Path) -> None:
    other = {"paraphrase": 1, "seed": 2}
    (tmp_path / "gold.jsonl").write_bytes(b'{"q_id": "Q1", "q": "Base?", "paraphrases": ["Other?"]}\n')
    files: dict[str, list[object]] = {"answer": [ANSWER, {**ANSWER, **other}]}
    found = traces(workspace(tmp_path, files, gold={"path": "gold.jsonl"}), tmp_path / "cache")
    assert [(trace.q, trace.paraphrase, trace.seed) for trace in found] == [("Base?", 0, 0), ("Other?", 1, 2)]


@pytest.mark.parametrize(
    ("name", "line", "code"),
    [
        ("answer", b"{", "not_json"),
        ("answer", b"[]", "not_an_object"),
        ("answer", b'{"answer_text": "x"}', "q_id_missing"),
        ("answer", b'{"q_id": "Q1", "answer_text": null}', "answer_text_wrong_type"),
        ("answer", b'{"q_id": "Q1", "run_id": "R2"}', "other_run"),
        ("answer", b'{"q_id": "Q1", "seed": -1}', "seed_wrong_type"),
        ("answer", b'{"q_id": "Q1", "schema_version": "2.0.0"}', "schema_version_unsupported"),
        ("answer", orjson.dumps(ANSWER), "duplicate_id"),
        ("query", b'{"q_id": "Q1"}', "text_missing"),
        ("retrieved", b'{"q_id": "Q1"}', "items_missing"),
        ("retrieved", b'{"q_id": "Q1", "items": ["c1"]}', "items_wrong_type"),
        ("retrieved", b'{"q_id": "Q1", "items": [{"id": []}]}', "items_wrong_type"),
        ("retrieved", b'{"q_id": "Q7", "items": []}', "unjoined_record"),
        ("rerank", b'{"q_id": "Q7", "items": []}', "unjoined_record"),
        ("prompt", b'{"q_id": "Q1", "citations": {}}', "citations_wrong_type"),
        ("log", b"seg=1", "qid_missing"),
        ("log", b"qid=Q1 citations=[c1] kpos=[1,2]", "lists_differ"),
        ("rag_traces", b'{"qid": "Q1", "citations": "c1"}', "citations_wrong_type"),
    ],
)
def test_a_line_that_joins_nothing_is_an_issue_of_its_own_file(
    tmp_path: Path, name: str, line: bytes, code: str
) -> None:
    files: dict[str, list[object]] = {"answer": [ANSWER], "query": [QUERY]}
    files[name] = [*files.get(name, []), line]
    manifest = workspace(tmp_path, files)
    (issue,) = joined(manifest, tmp_path / "cache").issues
    assert (issue.code, issue.source.file, issue.source.line) == (code, f"{name}.jsonl", len(files[name]))
    assert [trace.q_id for trace in traces(manifest, tmp_path / "cache")] == ["Q1"]


def test_lines_that_join_nothing_are_among_the_runs_line_issues(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {"query": [QUERY, b"{"], "log": [b"seg=1"]})
    build_index(manifest, cache_dir=tmp_path / "cache")
    issues = Store(manifest, tmp_path / "cache").line_issues("R1")
    assert set(zip(issues["file"], issues["line"], issues["code"], strict=True)) == {
        ("query.jsonl", 2, "not_json"),
        ("log.jsonl", 1, "qid_missing"),
    }


def test_of_several_records_the_last_counts(tmp_path: Path) -> None:
    files: dict[str, list[object]] = {"query": [QUERY, {**QUERY, "text": "Later?"}]}
    assert traces(workspace(tmp_path, files), tmp_path / "cache")[0].q == "Later?"


def test_a_change_of_any_source_is_noticed_and_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    cache, other = tmp_path / "cache", tmp_path / "other"
    files: dict[str, list[object]] = {"answer": [ANSWER], "query": [QUERY]}
    manifest = workspace(tmp_path, files)
    first, second = joined(manifest, cache).path, joined(manifest, other).path
    assert first is not None and second is not None
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())
    assert first.stat().st_mtime_ns == second.stat().st_mtime_ns
    build_index(manifest, cache_dir=cache)
    assert index_state(manifest, "R1", cache) == "fresh"
    time = (tmp_path / "query.jsonl").stat().st_mtime_ns - 10**12
    write_lines(tmp_path / "query.jsonl", [{**QUERY, "text": "What holds the oil filler?"}])
    os.utime(tmp_path / "query.jsonl", ns=(time, time))
    assert index_state(manifest, "R1", cache) == "stale"
    assert joined(manifest, cache).path != first and not first.exists()
    assert len(list((cache / "joined").iterdir())) == 2
    build_index(manifest, cache_dir=cache)
    assert table_of(manifest, "R1", cache)[0]["q"] == "What holds the oil filler?"


def test_a_last_line_without_its_end_waits(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {"query": [QUERY]})
    with (tmp_path / "query.jsonl").open("ab") as file:
        file.write(orjson.dumps({"q_id": "Q2", "text": "Second?"}))
    assert len(traces(manifest, tmp_path / "cache")) == 1
    with (tmp_path / "query.jsonl").open("ab") as file:
        file.write(b"\n")
    assert len(traces(manifest, tmp_path / "cache")) == 2


def test_asking_for_the_state_of_an_index_joins_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    manifest = workspace(tmp_path, {"query": [QUERY], "answer": [ANSWER]})
    (tmp_path / "answer.jsonl").rename(tmp_path / "elsewhere")
    build_index(manifest, cache_dir=cache)
    assert index_state(manifest, "R1", cache) == "fresh"
    (tmp_path / "elsewhere").rename(tmp_path / "answer.jsonl")
    assert index_state(manifest, "R1", cache) == "stale"
    assert not (cache / "joined").exists()


def test_every_missing_file_is_named_at_once(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {"query": [QUERY], "answer": [ANSWER], "log": [LOG]})
    for name in ("query", "answer"):
        (tmp_path / f"{name}.jsonl").unlink()
    found = joined(manifest, tmp_path / "cache")
    assert (found.path, [problem.code for problem in found.problems]) == (None, ["missing", "missing"])


def test_a_run_without_a_record_of_an_answer_or_a_query_has_no_trace(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {"retrieved": [{"q_id": "Q1", "items": ITEMS}]})
    assert traces(manifest, tmp_path / "cache") == []
    assert [issue.code for issue in joined(manifest, tmp_path / "cache").issues] == ["unjoined_record"]


def test_records_that_grow_while_they_are_joined_are_joined_again_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path, {"query": [QUERY]})
    plain_join = joined_module._join

    def join_beside_a_writer(*arguments: Any) -> Path:
        path = plain_join(*arguments)
        with (tmp_path / "query.jsonl").open("ab") as file:
            file.write(orjson.dumps({"q_id": "Q2", "text": "Second?"}) + b"\n")
        monkeypatch.undo()
        return path

    monkeypatch.setattr(joined_module, "_join", join_beside_a_writer)
    assert [trace.q_id for trace in traces(manifest, tmp_path / "cache")] == ["Q1"]
    assert [trace.q_id for trace in traces(manifest, tmp_path / "cache")] == ["Q1", "Q2"]


def test_records_that_are_replaced_again_and_again_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path, {"query": [QUERY]})
    plain_join = joined_module._join

    def join_while_replaced(*arguments: Any) -> Path:
        write_lines(tmp_path / "query.jsonl", [{**QUERY, "text": secrets.token_hex(8)}])
        return plain_join(*arguments)

    monkeypatch.setattr(joined_module, "_join", join_while_replaced)
    found = joined(manifest, tmp_path / "cache")
    assert (found.path, [problem.code for problem in found.problems]) == (None, ["file_changing"])


def test_a_log_line_is_compared_with_what_the_run_pins(tmp_path: Path) -> None:
    (trace,) = traces(workspace(tmp_path, {"log": [LOG], "query": [QUERY]}), tmp_path / "cache")
    assert (trace.raw["store"], trace.raw["index_hash"], trace.raw["embed_model"]) == ("faiss", "2f7d", "bge")
    same, other = Context(index_hash="faiss:2f7d", embed_model="bge:mean"), Context(index_hash="faiss:0000")
    assert "mismatch_index_hash" not in trace_codes(trace, same, declines=False)
    assert "mismatch_index_hash" in trace_codes(trace, other, declines=False)
