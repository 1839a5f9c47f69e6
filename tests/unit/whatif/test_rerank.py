"""Reranking a logged top 20: the order by score, ON against OFF, and the order saved as a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.cli.runs.rerank_cmd import command
from proofspan.contracts.records.records import TraceKey
from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.check import check_workspace
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.metrics.cohorts import conversions
from proofspan.services.pinning.findings import pin_findings
from proofspan.services.rerank.candidates import Asked, Texts, new_order
from proofspan.services.rerank.model import CrossEncoder
from proofspan.services.rerank.results import Outcome, rerank_records, save
from proofspan.services.rerank.scoring import Reranked, with_model
from proofspan.services.rerank.selection import chosen_cohort, read_sources, select
from proofspan.services.stop_rule import Lift
from proofspan.store.query.filters import Filter
from proofspan.traces.records.chunks import Place, read_chunks
from tests.rerank_room import QUESTIONS, candidates, model_in, trace_of, workspace
from tests.unit.store_workspace import built


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    return CrossEncoder(model_in(tmp_path_factory.mktemp("models") / "overlap"))


def reranked(manifest: Manifest, model: CrossEncoder, cache: Path, **more: Any) -> Reranked:
    cohort = chosen_cohort(manifest, "SCORE-POLICY")
    selection = select(manifest, manifest.runs[0], cohort, cache_dir=cache)
    return with_model(selection, read_sources(manifest, cache_dir=cache), model, **more)


def orders(records: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {record["q_id"]: [item["chunk_id"] for item in record["items"]] for record in records}


def test_the_new_order_is_by_the_score_of_each_section(tmp_path: Path, model: CrossEncoder) -> None:
    outcome = Outcome()
    records = list(rerank_records(reranked(workspace(tmp_path), model, tmp_path), outcome))
    assert orders(records) == {
        "Q1": ["c1a", "c1b", "c2a", "c3a"],
        "Q3": ["c3a", "c3b", "c1a", "c4a"],
        "Q4": ["c1b", "c2a", "c3a"],
    }
    assert [(move.q_id, move.off, move.on) for move in outcome.moves] == [
        ("Q1", 2, 1),
        ("Q3", 3, 1),
        ("Q4", None, None),
    ]
    assert [move.q_id for move in outcome.converted] == ["Q1", "Q3"]
    assert (outcome.regressed, outcome.p) == ([], None)
    assert outcome.lift("D", "R1") == Lift("D", "R1", 2, 0, 3)


def test_a_candidate_may_be_read_by_its_own_text(tmp_path: Path, model: CrossEncoder) -> None:
    records = list(rerank_records(reranked(workspace(tmp_path), model, tmp_path, text="chunk"), Outcome()))
    assert orders(records)["Q3"] == ["c3b", "c3a", "c1a", "c4a"]
    assert records[1]["items"][0]["post_score"] == {"rerank": 2.0}


def test_a_record_keeps_the_contract_and_says_where_the_gold_section_went(
    tmp_path: Path, model: CrossEncoder
) -> None:
    first = next(rerank_records(reranked(workspace(tmp_path), model, tmp_path), Outcome()))
    items = first.pop("items")
    assert items[0] == {
        "chunk_id": "c1a",
        "doc_id": "d",
        "section_id": "1",
        "rank_before": 2,
        "pre_score": {"fused": 0.5},
        "post_score": {"rerank": items[0]["post_score"]["rerank"]},
        "selected": True,
    }
    assert [item["selected"] for item in items] == [True, True, False, False]
    assert first["gold"] == {"unranked": None, "rank_off": 2, "rank_on": 1}
    assert first["reranks"] == {"run_id": "R1", "stage": "fused"}
    assert (first["k_in"], first["k_out"], first["event"], first["model"]) == (4, 2, "rerank.run", "overlap")


def test_the_saved_run_is_like_any_other(tmp_path: Path, model: CrossEncoder) -> None:
    folder, cache = tmp_path / "w", tmp_path / "cache"
    file = save(reranked(workspace(folder), model, cache, revision="c5ee24c", twice=True), run_id="D1")
    traces = {each["q_id"]: each for each in map(orjson.loads, file.read_bytes().splitlines())}
    assert list(traces) == list(QUESTIONS)
    assert "reranked" not in traces["Q2"]["stages"]
    assert traces["Q1"]["chunks"] == trace_of("Q1")["chunks"]
    assert traces["Q1"]["answer_from"] == {"run_id": "R1", "chunks": ["c2a", "c1a"]}
    first = traces["Q1"]["stages"]["reranked"][0]
    assert (first["id"], first["pre_score"], first["score"]) == (
        "c1a",
        {"fused": 0.5},
        first["post_score"]["rerank"],
    )
    manifest = load_manifest(folder)
    run = manifest.run("D1")
    assert run is not None
    assert (run.kind, run.baseline, run.pinned["reranker"]) == ("rerank", "R1", "overlap")
    assert run.title == "first, reranked by overlap (cohort SCORE-POLICY)"
    assert check_workspace(manifest).ok
    store = built(manifest, cache)
    flips = store.flips(Filter("D1", vs="R1", outcome="section_match_at_1"))
    assert (flips.fixed, flips.regressed, flips.judged) == (2, 0, 4)
    (before, after) = conversions(store, manifest, read_cohorts(manifest)["SCORE-POLICY"])
    assert (before.hits, after.hits) == (0, 2)
    record = json.loads((folder / "pinning/D1.json").read_text())
    assert record["derived"]["settings"]["cohort"] == {"name": "SCORE-POLICY", "q_ids": ["Q1", "Q3", "Q4"]}
    assert record["derived"]["settings"]["inputs"].keys() == {"chunks.jsonl"}
    assert record["determinism"]["sha256"][0] == record["determinism"]["sha256"][1]
    assert record["commands"] == [
        "proofspan rerank WORKSPACE --run R1 --cohort SCORE-POLICY --model overlap --text section "
        "--threads 1 --save-as D1"
    ]
    assert {each.field for each in pin_findings(manifest, run) if each.field.startswith("reranker")} == set()


def test_the_prompt_may_be_the_first_of_the_new_order(tmp_path: Path, model: CrossEncoder) -> None:
    file = save(reranked(workspace(tmp_path / "w"), model, tmp_path), run_id="D1", prompt=1)
    traces = {each["q_id"]: each for each in map(orjson.loads, file.read_bytes().splitlines())}
    assert [[chunk["id"] for chunk in traces[q_id]["chunks"]] for q_id in ("Q1", "Q2")] == [
        ["c1a"],
        ["c2a", "c3a"],
    ]


def test_twice_gives_the_same_bytes(tmp_path: Path, model: CrossEncoder) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        save(reranked(workspace(folder), model, tmp_path / "cache"), run_id="D1")
    for name in ("runs/D1/trace.jsonl", "pinning/D1.json", "pipeline_manifest.yaml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    before = (tmp_path / "a/pipeline_manifest.yaml").read_bytes()
    save(reranked(load_manifest(tmp_path / "a"), model, tmp_path / "cache"), run_id="D1")
    assert (tmp_path / "a/pipeline_manifest.yaml").read_bytes() == before


def test_the_logged_order_decides_nothing(tmp_path: Path, model: CrossEncoder) -> None:
    backwards = {q_id: candidates(" ".join(order.split()[::-1])) for q_id, (_, _, order) in QUESTIONS.items()}
    traces = [trace_of(q_id, stages={"fused": each}) for q_id, each in backwards.items()]
    there = list(rerank_records(reranked(workspace(tmp_path / "a"), model, tmp_path), Outcome()))
    here = list(rerank_records(reranked(workspace(tmp_path / "b", traces), model, tmp_path), Outcome()))
    assert orders(here) == orders(there)


IDS = st.text("abc", min_size=1, max_size=2)


@settings(max_examples=50)
@given(scores=st.dictionaries(IDS, st.sampled_from([0.0, 0.5, 1.0]), min_size=1), data=st.data())
def test_the_order_depends_on_scores_and_ids_alone(scores: dict[str, float], data: st.DataObject) -> None:
    places = {chunk_id: Place("d", chunk_id[::-1], 0) for chunk_id in scores}
    shuffled = data.draw(st.permutations(sorted(scores)))
    asked = Asked(TraceKey("R1", "Q1"), "q", "fused", tuple((each, {}) for each in shuffled))
    ordered = [chunk_id for chunk_id, _ in new_order(asked, scores, places)]
    keys = [(-scores[each], each[::-1], each) for each in ordered]
    assert keys == sorted(keys)
    assert sorted(ordered) == sorted(scores)


def test_the_text_of_a_section_is_that_of_its_chunks(tmp_path: Path) -> None:
    workspace(tmp_path)
    chunks, _ = read_chunks(tmp_path / "chunks.jsonl", file="chunks.jsonl")
    texts = Texts(chunks, "section")
    assert (
        texts.text("c1b", {})
        == texts.text("new", {"doc_id": "d", "section_id": "§ 1"})
        == "oil filter\nchange the oil"
    )
    assert texts.text("new", {"section_id": "9", "text": "logged"}) == "logged"
    assert texts.text("new", {"section_id": "9"}) is None
    assert Texts(chunks, "chunk").text("c1b", {"text": "logged"}) == "change the oil"


def test_only_the_first_twenty_and_each_chunk_once(tmp_path: Path, model: CrossEncoder) -> None:
    many = [{"id": f"x{number}", "text": "the"} for number in range(19)]
    listed = [*candidates("c2a"), *many, *candidates("c2a c1a")]
    records = list(
        rerank_records(
            reranked(workspace(tmp_path, [trace_of("Q1", stages={"retrieved": listed})]), model, tmp_path),
            Outcome(),
        )
    )
    assert records[0]["k_in"] == 20
    assert records[0]["gold"] == {"unranked": None, "rank_off": None, "rank_on": None}
    assert records[0]["items"][-1]["chunk_id"] != "c1a"
    assert records[0]["reranks"]["stage"] == "retrieved"


def test_a_run_that_reranks_already_is_compared_with_its_own_list_too(
    tmp_path: Path, model: CrossEncoder
) -> None:
    fused = trace_of("Q1")["stages"]["fused"]
    again = trace_of("Q1", stages={"fused": fused, "reranked": candidates("c1a c2a")})
    outcome = Outcome()
    list(rerank_records(reranked(workspace(tmp_path, [again]), model, tmp_path), outcome))
    (move,) = outcome.moves
    assert (move.off, move.on, move.logged) == (2, 1, 1)
    assert outcome.lift("D", "R1").net == 0


def call(*arguments: object, cache: Path) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments), "--cache-dir", str(cache)])


def test_the_command_says_on_against_off(tmp_path: Path, model: CrossEncoder) -> None:
    workspace(tmp_path / "w")
    done = call(
        tmp_path / "w",
        "--model",
        model._folder,
        "-o",
        tmp_path / "r.jsonl",
        "--save-as",
        "D1",
        cache=tmp_path,
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "R1, cohort SCORE-POLICY: 3 questions, the top 20 of fused reranked by overlap",
        "SectionMatch@1 OFF 0 of 3, 0 % (0–56 %)",
        "SectionMatch@1 ON  2 of 3, 67 % (21–94 %)",
        "2 converted, 0 regressed: chosen because they fail, they can only improve; "
        "--all tests whether that is more than chance",
        "  Q3: rank 3 → 1",
        "  Q1: rank 2 → 1",
        "1 question at the same rank",
        "Stop rule: the last run of class rerank has lift (D1 +2 on R1)",
        "Saved as D1: proofspan metrics WORKSPACE --run D1 --against R1",
    ]
    first = (tmp_path / "r.jsonl").read_bytes()
    again = call(tmp_path / "w", "--run", "R1", "--model", model._folder, "-o", "-", cache=tmp_path)
    assert (again.stdout_bytes, again.exit_code) == (first, 0)
    as_json = call(tmp_path / "w", "--run", "R1", "--all", "--model", model._folder, "--json", cache=tmp_path)
    value = json.loads(as_json.stdout)
    assert value["section_match_at_1"]["on"]["first"] == 3
    assert (value["converted"], value["regressed"], value["cohort"]) == (["Q1", "Q3"], [], None)
    assert [lift["run_id"] for lift in value["stop_rule"]["lifts"]] == ["D1", "this order"]


def test_scores_from_a_file_go_the_same_way_and_two_orders_without_lift_raise_the_rule(
    tmp_path: Path,
) -> None:
    workspace(tmp_path / "w")
    scores = tmp_path / "flat.jsonl"
    logged = {q_id: order.split() for q_id, (_, _, order) in QUESTIONS.items()}
    lines = [
        {"q_id": q_id, "chunk_id": each, "score": -at}
        for q_id, ids in logged.items()
        for at, each in enumerate(ids)
    ]
    scores.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    one = call(tmp_path / "w", "--scores", scores, "--save-as", "D1", "--title", "as it was", cache=tmp_path)
    assert "Zero lift: ON has the gold section first for as many questions as OFF." in one.stdout
    assert "3 questions at the same rank" in one.stdout
    two = call(tmp_path / "w", "--run", "R1", "--scores", scores, cache=tmp_path)
    assert two.stdout.splitlines()[-1] == (
        "Stop rule: the last 2 runs of class rerank lifted nothing (D1 ±0 on R1, this order ±0 on R1): "
        "stop, and propose another change"
    )
    run = load_manifest(tmp_path / "w").run("D1")
    assert run is not None
    assert (run.title, run.pinned["reranker"]) == ("as it was", "flat")


def test_without_gold_nothing_is_judged(tmp_path: Path, model: CrossEncoder) -> None:
    workspace(tmp_path / "w")
    (tmp_path / "w/gold.jsonl").write_bytes(b"")
    done = call(tmp_path / "w", "--model", model._folder, cache=tmp_path)
    assert done.exit_code == 0
    assert (
        done.stdout.splitlines()[-1] == "None of them can be judged: the gold set has no evidence for them."
    )
