"""Scores, cohorts and runs that cannot be reranked: each named with its line and its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.errors import Fault, InputFault
from proofspan.services.rerank.model import CrossEncoder
from proofspan.services.rerank.results import Outcome, problems_of, rerank_records
from proofspan.services.rerank.scoring import with_model, with_scores
from proofspan.services.rerank.selection import chosen_cohort, read_sources, select
from tests.rerank_room import QUESTIONS, candidates, model_in, trace_of, workspace
from tests.unit.store_workspace import lines

#: A score for each candidate of the cohort's questions, on lines 1 to 11.
GOOD: list[Any] = [
    {"q_id": q_id, "chunk_id": chunk_id, "score": 1.0}
    for q_id in ("Q1", "Q3", "Q4")
    for chunk_id in QUESTIONS[q_id][2].split()
]


def scored(folder: Path, scores: list[Any], traces: list[Any] | None = None) -> Any:
    manifest = workspace(folder / "w", traces)
    (folder / "scores.jsonl").write_bytes(lines(scores))
    cohort = chosen_cohort(manifest, "SCORE-POLICY")
    selection = select(manifest, manifest.runs[0], cohort, cache_dir=folder)
    return with_scores(selection, read_sources(manifest, cache_dir=folder), folder / "scores.jsonl")


@pytest.mark.parametrize(
    ("added", "code", "words"),
    [
        (b"{", "not_json", "the line is not valid JSON"),
        (b"[]", "not_an_object", "not a JSON object"),
        (b'{"q_id": "Q1", "chunk_id": "c1a", "score": NaN}', "not_json", "not valid JSON"),
        (b'{"q_id": "Q1", "chunk_id": "c1a", "score": 1e999}', "not_json", "number is infinity"),
        (
            {"q_id": "Q1", "chunk_id": "c1a", "score": "1"},
            "score_missing",
            "score is missing or not a number",
        ),
        (
            {"q_id": "Q1", "chunk_id": "c1a", "score": None},
            "score_missing",
            "score is missing or not a number",
        ),
        ({"q_id": "Q1", "score": 1}, "chunk_id_missing", "chunk_id is missing"),
        ({"chunk_id": "c1a", "score": 1}, "q_id_missing", "q_id is missing"),
        ({"q_id": "Q1", "chunk_id": "c1a", "score": 2}, "duplicate_score", "has a score on line 2"),
        ({"q_id": "Q1", "chunk_id": "c4a", "score": 2}, "unknown_chunk", "among the 4 candidates of Q1"),
        ({"q_id": "Q77", "chunk_id": "c4a", "score": 2}, "unknown_question", "no question 'Q77'"),
        ({"q_id": "Q1", "seed": -1, "chunk_id": "c1a", "score": 2}, "seed_wrong_type", "seed is"),
    ],
)
def test_a_line_that_is_no_score_is_named(tmp_path: Path, added: object, code: str, words: str) -> None:
    with pytest.raises(InputFault) as refused:
        scored(tmp_path, [*GOOD, added])
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == (code, "scores.jsonl:12")
    assert words in problem.message
    assert problem.fix


def test_a_candidate_without_a_score_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFault) as refused:
        scored(tmp_path, GOOD[1:-3])
    assert [problem.message for problem in refused.value.problems] == [
        "Q1: no score for 1 of 4 candidates",
        "Q4: no score for 3 of 3 candidates",
    ]
    assert "'c2a'" in refused.value.problems[0].fix


def test_of_many_problems_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(InputFault) as refused:
        scored(tmp_path, [*GOOD, *[b"{"] * 100])
    assert len(refused.value.problems) == 21
    assert refused.value.problems[-1].message == "80 problems more like these"


def test_questions_outside_the_cohort_may_have_scores(tmp_path: Path) -> None:
    found = scored(tmp_path, [*GOOD, {"q_id": "Q2", "chunk_id": "anything", "score": 1}])
    assert {key.q_id for key in found.scores} == {"Q1", "Q3", "Q4"}


def test_variants_without_scores_keep_their_order_and_are_counted(tmp_path: Path) -> None:
    traces = [*map(trace_of, QUESTIONS), trace_of("Q1", seed=1), trace_of("Q1", paraphrase=1), trace_of("Q1")]
    own = [{"q_id": "Q1", "seed": 1, "chunk_id": each, "score": 1} for each in QUESTIONS["Q1"][2].split()]
    found = scored(tmp_path, [*GOOD, *own], traces)
    outcome = Outcome()
    records = list(rerank_records(found, outcome))
    assert [(each["q_id"], each.get("seed"), each.get("paraphrase")) for each in records] == [
        ("Q1", None, None),
        ("Q3", None, None),
        ("Q4", None, None),
        ("Q1", 1, None),
        ("Q1", None, None),  # a repeat has the candidates of its question
    ]
    assert [move.q_id for move in outcome.moves] == ["Q1", "Q3", "Q4"]
    (problem,) = problems_of(found)
    assert problem.message == "no scores for 1 paraphrase, seed or repeat: in the logged order"


def run(*arguments: object) -> Result:
    done = CliRunner().invoke(group, ["rerank", *map(str, arguments)], standalone_mode=False)
    assert isinstance(done.exception, Fault), done.output
    return done


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_in(tmp_path_factory.mktemp("models") / "overlap")


@pytest.mark.parametrize(
    ("traces", "arguments", "code"),
    [
        (None, ["--cohort", "NONE"], "unknown_cohort"),
        (None, ["--cohort", "STRANGERS"], "nothing_to_rerank"),
        (None, ["--run", "R9"], "unknown_run"),
        ([trace_of("Q1", stages={}, chunks=[])], ["--all"], "nothing_to_rerank"),
        ([b"{"], ["--all"], "nothing_to_rerank"),
        ([trace_of("Q1", stages={"fused": [{"id": "new"}]})], ["--all"], "candidate_without_text"),
        (None, ["--model", "/nowhere"], "no_model"),
    ],
)
def test_what_cannot_be_reranked_is_refused(
    tmp_path: Path, model: Path, traces: list[Any] | None, arguments: list[str], code: str
) -> None:
    workspace(tmp_path / "w", traces)
    before = {file: file.read_bytes() for file in (tmp_path / "w").rglob("*")}
    named = ["--model", model, *arguments, "--save-as", "D1", "-o", tmp_path / "r.jsonl"]
    done = run(tmp_path / "w", *named, "--cache-dir", tmp_path / "cache")
    assert isinstance(done.exception, Fault)
    (problem,) = done.exception.problems
    assert (problem.code, bool(problem.fix)) == (code, True)
    assert {file: file.read_bytes() for file in (tmp_path / "w").rglob("*")} == before
    assert not (tmp_path / "r.jsonl").exists()


def test_a_chunk_file_that_is_not_the_manifests_is_refused(tmp_path: Path, model: Path) -> None:
    workspace(tmp_path / "w", chunks={"path": "chunks.jsonl", "sha256": "0" * 64})
    done = run(tmp_path / "w", "--model", model, "--cache-dir", tmp_path / "cache")
    assert isinstance(done.exception, Fault)
    assert [problem.code for problem in done.exception.problems] == ["chunks_differ"]


@pytest.mark.parametrize(
    "arguments", [[], ["--model", "a", "--scores", "b"], ["--scores", "b", "--all", "--cohort", "c"]]
)
def test_options_that_exclude_each_other(tmp_path: Path, arguments: list[str]) -> None:
    workspace(tmp_path)
    assert CliRunner().invoke(group, ["rerank", str(tmp_path), *arguments]).exit_code == 2


def test_a_model_that_answers_otherwise_the_second_time_is_refused(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w")
    encoder = CrossEncoder(model)
    selection = select(manifest, manifest.runs[0], None, cache_dir=tmp_path)
    real, times = encoder._answer, 0

    def drifting(*batch: Any) -> Any:
        nonlocal times
        times += 1
        return real(*batch) + times / 1000

    monkeypatch.setattr(encoder, "_answer", drifting)
    with pytest.raises(InputFault, match="other scores when it is asked again"):
        with_model(selection, read_sources(manifest, cache_dir=tmp_path), encoder, twice=True)


@pytest.mark.parametrize("stages", [None, [], "fused", {"fused": {"items": []}}, {"fused": "c1a"}])
def test_stages_of_another_form_leave_the_chunks(tmp_path: Path, model: Path, stages: Any) -> None:
    manifest = workspace(
        tmp_path / "w", [trace_of("Q1", stages=stages, chunks=[{"id": "c1a"}, {"id": "c2a"}])]
    )
    selection = select(manifest, manifest.runs[0], None, cache_dir=tmp_path)
    sources = read_sources(manifest, cache_dir=tmp_path)
    (record,) = rerank_records(with_model(selection, sources, CrossEncoder(model)), Outcome())
    assert [item["chunk_id"] for item in record["items"]] == ["c1a", "c2a"]
    assert record["reranks"]["stage"] == "chunks"


def test_candidates_and_texts_of_strangers_are_only_text(tmp_path: Path, model: Path) -> None:
    strange = "=cmd|'/c calc'!A1 <script>\u202e\x00"
    entry = {"id": strange, "section_id": "9", "text": "oil " * 3_000}
    manifest = workspace(
        tmp_path / "w", [trace_of("Q1", q=strange, stages={"fused": [*candidates("c1a"), entry]})]
    )
    selection = select(manifest, manifest.runs[0], None, cache_dir=tmp_path)
    found = with_model(selection, read_sources(manifest, cache_dir=tmp_path), CrossEncoder(model))
    (record,) = rerank_records(found, Outcome())
    assert strange in {item["chunk_id"] for item in orjson.loads(orjson.dumps(record))["items"]}
    assert found.cut == 1
