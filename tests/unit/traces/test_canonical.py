"""The canonical record: what is needed, what may be missing, and every alias."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.records import LineIssue, SourceLine, Trace, TraceKey
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.trace_record import (
    doc_ids,
    measures,
    rank_one_place,
    stages,
    top_stage,
    trace_from,
)

SOURCE = SourceLine("runs/R1/trace.jsonl", 7, 120, 80)


def trace(obj: dict[str, Any], *, run_id: str | None = "R1") -> Trace:
    found = trace_from(obj, SOURCE, run_id=run_id)
    assert isinstance(found, Trace), found
    return found


def issue(obj: Any, *, run_id: str | None = "R1") -> LineIssue:
    found = trace_from(obj, SOURCE, run_id=run_id, data=b'{"the": "line"}')
    assert isinstance(found, LineIssue), found
    return found


def test_a_question_alone_is_enough_and_says_what_is_missing() -> None:
    found = trace({"q": "What is X?"})
    assert (found.answer, found.chunk_ids) == ("", ())
    assert found.suspicions == ("answer_missing", "chunks_missing")
    assert (found.q_id, found.paraphrase, found.seed, found.run_id) == (sha1_8("What is X?"), 0, 0, "R1")


def test_an_empty_answer_and_no_chunks_are_no_suspicion() -> None:
    assert trace({"q": "", "answer": "", "chunks": []}).suspicions == ()


@pytest.mark.parametrize(
    ("obj", "code"),
    [
        ([], "not_an_object"),
        (None, "not_an_object"),
        ("q", "not_an_object"),
        ({}, "q_missing"),
        ({"q": None}, "q_wrong_type"),
        ({"q": 3}, "q_wrong_type"),
        ({"q": None, "question": "taken only where q is absent"}, "q_wrong_type"),
        ({"q": "x", "answer": None}, "answer_wrong_type"),
        ({"q": "x", "answer": 42}, "answer_wrong_type"),
        ({"q": "x", "answer": ["y"]}, "answer_wrong_type"),
        ({"q": "x", "chunks": None}, "chunks_wrong_type"),
        ({"q": "x", "chunks": {}}, "chunks_wrong_type"),
        ({"q": "x", "chunks": "c1"}, "chunks_wrong_type"),
        ({"q": "x", "chunks": [None]}, "chunks_wrong_type"),
        ({"q": "x", "chunks": ["c1"]}, "chunks_wrong_type"),
        ({"q": "x", "chunks": [["id"]]}, "chunks_wrong_type"),
        ({"q": "x", "chunks": [{"id": None}]}, "chunks_wrong_type"),
        ({"q": "x", "chunks": [{"id": "a"}, {"id": ["b"]}]}, "chunks_wrong_type"),
        ({"q": "x", "chunks": [{"chunk_id": True}]}, "chunks_wrong_type"),
        ({"q": "x", "run_id": "R2"}, "other_run"),
        ({"q": "x", "run_id": 1}, "run_id_wrong_type"),
        ({"q": "x", "q_id": ["Q1"]}, "q_id_wrong_type"),
        ({"q": "x", "q_id": True}, "q_id_wrong_type"),
        ({"q": "x", "paraphrase": "one"}, "paraphrase_wrong_type"),
        ({"q": "x", "seed": -1}, "seed_wrong_type"),
        ({"q": "x", "seed": 2**40}, "seed_wrong_type"),
    ],
)
def test_what_cannot_be_read_is_a_line_issue(obj: Any, code: str) -> None:
    found = issue(obj)
    assert found.code == code
    assert found.source is SOURCE
    assert found.message
    assert found.fix
    assert found.excerpt == '{"the": "line"}'


def test_null_means_absent_wherever_it_is_not_needed() -> None:
    nulls = dict.fromkeys(
        [
            "run_id",
            "q_id",
            "qid",
            "paraphrase",
            "seed",
            "stages",
            "citations",
            "segments",
            "ok",
            "λ",
            "ΔS",
            "metrics",
        ]
    )
    found = trace({"q": "x", "answer": "", "chunks": [{"id": "c", "page_idx": None, "score": None}], **nulls})
    assert found.q_id == sha1_8("x")
    assert measures(found).ok is None
    assert stages(found)[0].candidates[0].page_idx is None


@pytest.mark.parametrize("name", ["q_id", "qid"])
@pytest.mark.parametrize(("value", "q_id"), [("Q80", "Q80"), (80, "80"), ("", sha1_8("x"))])
def test_the_question_id_goes_under_two_names(name: str, value: Any, q_id: str) -> None:
    assert trace({"q": "x", name: value}).q_id == q_id


def test_question_is_another_name_for_q() -> None:
    assert trace({"question": "Why?"}).q == "Why?"


@pytest.mark.parametrize("name", ["id", "chunk_id", "snippet_id"])
def test_a_chunk_id_goes_under_three_names(name: str) -> None:
    found = trace({"q": "x", "chunks": [{name: "a"}, {name: "b"}]})
    assert found.chunk_ids == ("a", "b")
    assert [each.chunk_id for each in stages(found)[0].candidates] == ["a", "b"]


def test_a_chunk_without_id_is_skipped_with_a_suspicion() -> None:
    found = trace({"q": "x", "answer": "", "chunks": [{"text": "…"}, {"id": "b"}]})
    assert found.chunk_ids == ("b",)
    assert found.suspicions == ("chunk_without_id",)
    assert stages(found)[0].candidates[0].rank == 2


def test_a_bare_file_takes_the_lines_own_run() -> None:
    assert trace({"q": "x", "run_id": "R9"}, run_id=None).run_id == "R9"
    assert trace({"q": "x"}, run_id=None).run_id == ""


@pytest.mark.parametrize("name", ["ΔS", "deltaS", "ΔS_q_ctx"])
def test_delta_s_goes_under_three_names_here_or_in_metrics(name: str) -> None:
    assert measures(trace({"q": "x", name: 0.37})).delta_s == 0.37
    assert measures(trace({"q": "x", "metrics": {name: 0.37}})).delta_s == 0.37


@pytest.mark.parametrize("name", ["λ", "lambda", "lambda_state", "λ_observe"])
@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("→", "convergent"),
        ("←", "divergent"),
        ("<>", "recursive"),
        ("×", "chaotic"),
        ("Convergent", "convergent"),
        ("its own word", "its own word"),
        (3, None),
    ],
)
def test_lambda_is_read_from_words_and_arrows(name: str, value: Any, state: str | None) -> None:
    assert measures(trace({"q": "x", name: value})).lambda_state == state


def test_measures_of_the_wrong_type_read_as_absent() -> None:
    found = measures(trace({"q": "x", "ok": "yes", "ΔS": "low", "latency_ms": True}))
    assert (found.ok, found.delta_s, found.latency_ms) == (None, None, None)


def staged(**named: list[str]) -> Trace:
    lists = {name: [{"id": each} for each in ids] for name, ids in named.items()}
    return trace({"q": "x", "chunks": lists.pop("chunks", []), "stages": lists})


@pytest.mark.parametrize(
    ("named", "first", "top"),
    [
        ({"chunks": ["c"]}, ("chunks", "c"), "chunks"),
        ({"retrieved": ["r"], "chunks": ["c"]}, ("retrieved", "r"), "retrieved"),
        ({"retrieved": ["r"], "fused": ["f"]}, ("fused", "f"), "fused"),
        ({"retrieved": ["r"], "fused": ["f"], "reranked": ["k"]}, ("reranked", "k"), "fused"),
        ({"retrieved": ["r"], "fused": [], "reranked": []}, ("retrieved", "r"), "retrieved"),
    ],
)
def test_rank_one_and_the_top_20_have_their_stage(named: Any, first: Any, top: Any) -> None:
    found = staged(**named)
    assert (one := rank_one_place(found)) is not None
    assert (one.stage, one.chunk_id) == first
    assert top_stage(found) == top


def test_a_trace_without_candidates_has_no_rank_one() -> None:
    found = trace({"q": "x", "stages": {"retrieved": [{"no": "id"}]}})
    assert rank_one_place(found) is None
    assert doc_ids(found) == ()


@pytest.mark.parametrize("odd", ["no entry", 7, None, ["x"], {}, {"doc_id": ["x"]}, {"id": "b", "doc_id": 3}])
def test_documents_are_those_that_the_entries_name_whatever_is_among_them(odd: Any) -> None:
    found = Trace("x", "", (), "R1", "Q1", 0, 0, SOURCE, (), {"chunks": [{"id": "a", "doc_id": "d"}, odd]})
    assert doc_ids(found) == (("d", "3") if odd == {"id": "b", "doc_id": 3} else ("d",))


def test_stages_carry_scores_and_features_of_the_separate_records() -> None:
    found = trace(
        {
            "q": "x",
            "stages": {
                "retrieved": {
                    "items": [{"chunk_id": "c_00123", "score": 0.812, "features": {"bm25": 8.3, "why": "x"}}]
                },
                "reranked": [
                    {
                        "chunk_id": "c_00123",
                        "pre_score": {"dense": 0.91, "by": "hand"},
                        "post_score": {"ce": 0.82},
                    }
                ],
            },
        }
    )
    retrieved, reranked = stages(found)
    assert retrieved.candidates[0].score == 0.812
    assert retrieved.candidates[0].features == {"bm25": 8.3, "why": "x"}
    assert reranked.candidates[0].pre_score == {"dense": 0.91}
    assert reranked.candidates[0].post_score == {"ce": 0.82}


def test_a_candidate_takes_its_place_from_its_id_when_nothing_else_gives_it() -> None:
    chunk_id = "manual|r=8c1e9a02|s=4.2|p=042|b=003"
    found = trace(
        {"q": "x", "chunks": [{"id": chunk_id}, {"id": chunk_id, "doc_id": "other", "page_idx": 7}]}
    )
    bare, stated = stages(found)[0].candidates
    assert (bare.doc_id, bare.section_id, bare.page_idx) == ("manual", "4.2", 41)
    assert (stated.doc_id, stated.section_id, stated.page_idx) == ("other", "4.2", 7)
    assert doc_ids(found) == ("manual", "other")


def test_page_zero_in_an_id_means_no_page() -> None:
    found = trace({"q": "x", "chunks": [{"id": "notes|r=8c1e9a02|s=1|p=000|b=003"}]})
    assert stages(found)[0].candidates[0].page_idx is None


def test_page_idx_zero_is_a_page() -> None:
    found = trace({"q": "x", "chunks": [{"id": "m|r=8c1e9a02|s=1|p=009|b=003", "page_idx": 0}]})
    assert stages(found)[0].candidates[0].page_idx == 0


def test_repeats_are_numbered_in_the_order_of_the_file() -> None:
    repeats = Repeats()
    found = [
        trace({"q": "x", "q_id": "Q80"}),
        trace({"q": "x", "q_id": "Q80", "seed": 1}),
        trace({"q": "y", "q_id": "Q80"}),
    ]
    keys = [repeats.key_of(each) for each in found]
    assert [key.repeat for key in keys] == [1, 1, 2]
    assert keys[2] == TraceKey("R1", "Q80", 0, 0, 2)
