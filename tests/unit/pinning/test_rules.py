"""A complete pinning record, and one that contradicts the manifest or the logs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.pinning.agreement import Fused, Logged, contradictions, pinned_uses
from proofspan.contracts.pinning.requirements import (
    ALWAYS,
    OF_USE,
    USES,
    at,
    gaps,
    is_placeholder,
    needed_fields,
    stated_uses,
)
from proofspan.contracts.records.schemas import schema

EXAMPLE: dict[str, Any] = schema("pinning")["examples"][0]


def test_every_needed_field_is_in_the_schema() -> None:
    properties = schema("pinning")["properties"]
    model = schema("pinning")["$defs"]["model"]["properties"]
    for field in (*ALWAYS, *(field for fields in OF_USE.values() for field in fields)):
        known = properties
        for name in field.split("."):
            known = model if name in model and known is not properties and name not in known else known
            assert name in known or name in model, field
            known = known.get(name, model.get(name, {})).get("properties", {})


def test_the_example_of_the_schema_is_complete_for_what_it_uses() -> None:
    assert stated_uses(EXAMPLE) == {"reranker"}
    found = gaps(EXAMPLE, stated_uses(EXAMPLE))
    assert (found.missing, found.placeholders, found.malformed) == ((), (), ())


def test_what_is_required_depends_on_what_is_used() -> None:
    assert needed_fields({}, ()) == ALWAYS
    assert len(needed_fields({}, USES)) == len(ALWAYS) + sum(map(len, OF_USE.values()))
    assert "faiss.exact" in needed_fields({}, ("faiss",))
    assert "reader.revision" in needed_fields({"reader": {"model": "llama"}}, ())
    with_own = {"fusion": {"tie_break": "score desc"}}
    assert "tie_break" not in needed_fields(with_own, ("fusion",))


@pytest.mark.parametrize(
    ("record", "uses"),
    [
        ({}, set()),
        ({"embedding": {"model": "bge"}, "reranker": "none"}, {"embedding"}),
        ({"libraries": {"faiss-cpu": "1.12"}}, {"faiss"}),
        ({"index": {"index_hash": "faiss:2f7d"}}, {"faiss"}),
        ({"fusion": {"k": 60}}, {"fusion"}),
        ({"fusion": None}, set()),
    ],
)
def test_a_record_says_what_its_run_uses(record: dict[str, Any], uses: set[str]) -> None:
    assert stated_uses(record) == uses


@pytest.mark.parametrize(
    ("pins", "kind", "uses"),
    [
        ({"embed_model": "bge:mean", "index_hash": "FAISS:2f"}, None, {"embedding", "faiss"}),
        ({"embed_model": "none"}, "recall", set()),
        ({}, "Rerank", {"reranker"}),
        ({"reranker": "maxsim-1", "fusion": {"k": "60"}}, None, {"reranker", "fusion"}),
    ],
)
def test_the_manifest_says_what_a_run_uses(pins: dict[str, Any], kind: str | None, uses: set[str]) -> None:
    assert pinned_uses(pins, kind) == uses


def test_gaps_are_missing_waiting_or_malformed() -> None:
    record = {
        "faiss": {"build": "<version>", "index_type": "", "exact": "yes"},
        "libraries": {"torch": "TODO"},
        "commands": ["TBD: the command"],
        "fusion": {"k": "<number>"},
        "runtime": {"cpu": "x", "os": " ", "threads": 1, "environment": {}},
        "tie_break": "none",
        "determinism": "none",
    }
    found = gaps(record, ("faiss",))
    assert found.placeholders == ("faiss.build", "libraries.torch", "commands[1]", "fusion.k")
    assert found.missing == ("faiss.index_type", "runtime.os", "runtime.environment")
    assert [each.where for each in found.malformed] == ["determinism", "faiss.exact", "faiss.index_type"]


def test_none_is_an_answer_for_a_part_and_all_that_is_in_it() -> None:
    assert at({"reranker": {"weights": "none"}}, "reranker.weights.sha256") == "none"
    assert at({"reranker": {"weights": []}}, "reranker.weights.sha256") is None


@pytest.mark.parametrize(
    "text", ["<name>", " <a b> ", "TODO", "todo: ask", "TBD", "?", "…", "...", "--", "xxx"]
)
def test_placeholders(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["", "none", "a < b > c", "todoist 1.0", "1.0", "v?", None, 5])
def test_values_are_no_placeholders(text: object) -> None:
    assert not is_placeholder(text)


def _found(
    record: dict[str, Any], pins: dict[str, Any] | None = None, logged: Logged | None = None
) -> list[str]:
    return [each.where for each in contradictions(record, pins or {}, logged or Logged(), run_id="R1")]


@pytest.mark.parametrize(
    ("record", "pins", "fields"),
    [
        ({"run_id": "R2"}, {}, ["run_id"]),
        ({"run_id": "<run>"}, {}, []),
        ({"index": {"index_hash": "faiss:2f7d...9a"}}, {"index_hash": "2f7d…9a"}, []),
        ({"index": {"index_hash": "faiss:2f7d41c09a"}}, {"index_hash": "faiss:2f7d41c"}, []),
        (
            {"index": {"index_hash": "faiss:2f7d41c09a"}},
            {"index_hash": "faiss:2f7d41d"},
            ["index.index_hash"],
        ),
        ({"index": {"index_hash": "faiss:2f7d41c09a"}}, {"index_hash": "bm25:2f7d41c"}, ["index.index_hash"]),
        ({"index_hash": "2f7d41d"}, {"index_hash": "2f7d41c"}, ["index.index_hash"]),
        ({"embedding": {"model": "BAAI/bge-m3", "pooling": "cls"}}, {"embed_model": "bge-m3:cls"}, []),
        (
            {"embedding": {"model": "bge-m3", "pooling": "cls"}},
            {"embed_model": "bge-m3:mean"},
            ["embedding.model"],
        ),
        ({"index": {"analyzer": {"name": "lower+fold"}}}, {"analyzer": "lower+stem"}, ["index.analyzer"]),
        ({"reranker": {"model": "ms-marco"}}, {"reranker": "cross-encoder/ms-marco"}, []),
        ({"reranker": {"model": "ms-marco"}}, {"reranker": "bge-reranker"}, ["reranker.model"]),
        ({"fusion": {"k": 60}}, {"fusion": {"k": "60"}}, []),
        ({"fusion": {"k": 60}}, {"fusion": {"k": "10"}}, ["fusion.k"]),
        ({"seed": True}, {"seed": "true"}, []),
        ({"corpus": "7d9d6a4e8b1f"}, {"corpus": "7d9d6a4"}, []),
        ({"record": "a"}, {"record": "b"}, []),
    ],
)
def test_a_record_is_compared_with_the_manifests_pins(
    record: dict[str, Any], pins: dict[str, Any], fields: list[str]
) -> None:
    assert _found(record, pins) == fields


def test_most_traces_decide_what_is_logged() -> None:
    record = {"index": {"index_hash": "a:1111111"}, "reranker": {"model": "ms"}}
    few = Logged({"index_hash": {"a:1111111": 3, "a:2222222": 2}})
    assert _found(record, logged=few) == []
    most = Logged({"index_hash": {"a:1111111": 2, "a:2222222": 3}, "reranker": {"bge": 1}})
    found = list(contradictions(record, {}, most, run_id="R1"))
    assert [each.where for each in found] == ["index.index_hash", "reranker.model"]
    assert "3 of 5 records log 'a:2222222'" in found[0].message and found[0].severity == "error"


def test_the_analyzer_of_questions_is_the_one_that_traces_log() -> None:
    record = {"index": {"analyzer": "lower+stem", "read_path_analyzer": "lower"}}
    assert _found(record, {"analyzer": "lower+stem"}, Logged({"analyzer": {"lower": 9}})) == []
    assert _found(record, {}, Logged({"analyzer": {"lower+stem": 9}})) == ["index.analyzer"]


def _scores(k: float, weights: dict[str, float]) -> Logged:
    ranks = [{"bm25": rank, "dense": 2 * rank} for rank in range(1, 30)]
    found = [
        Fused(round(sum(w / (k + each[name]) for name, w in weights.items()), 6), each) for each in ranks
    ]
    return Logged(fused=tuple(found), longest=20)


def test_the_constant_of_a_fusion_has_to_fit_the_logged_scores() -> None:
    plain = {"bm25": 1.0, "dense": 1.0}
    assert _found({"fusion": {"k": 60, "top": 20}}, logged=_scores(60, plain)) == []
    found = list(contradictions({"fusion": {"k": 61, "top": 19}}, {}, _scores(60, plain), run_id="R1"))
    assert [each.where for each in found] == ["fusion.top", "fusion.k"]
    assert "the logged scores fit k = 60" in found[1].message
    weighted = {"bm25": 0.7, "dense": 1.3}
    assert _found({"fusion": {"k": 10, "weights": weighted}}, logged=_scores(10, weighted)) == []
    assert _found({"fusion": {"k": 10, "weights": plain}}, logged=_scores(10, weighted)) == []  # no k fits
    assert _found({"fusion": {"k": 10}}, logged=Logged({"fusion_k": {"10": 2, "60": 3}})) == ["fusion.k"]
    assert _found({"fusion": {"k": 60}}, logged=Logged({"fusion_k": {"10": 2, "60": 3}})) == []
    assert _found({"fusion": {"k": -1}}, logged=_scores(10, plain)) == []


@given(k=st.integers(0, 100), stated=st.integers(0, 100))
def test_another_constant_is_found(k: int, stated: int) -> None:
    record = {"fusion": {"k": stated}}
    assert (_found(record, logged=_scores(k, {"bm25": 1, "dense": 1})) == []) is (k == stated)


@settings(max_examples=40)
@given(
    record=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*schema("pinning")["properties"], "k", "model", "weights", "sha256"]), inner
            )
        ),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict))
)
def test_no_json_is_too_odd(record: dict[str, Any]) -> None:
    gaps(record, USES)
    logged = Logged(
        {"index_hash": {"a": 1}, "embed_model": {"b": 1}, "analyzer": {"c": 1}, "reranker": {"d": 1}}
    )
    list(contradictions(record, {"index_hash": "a", "fusion": {"k": "60"}}, logged, run_id="R1"))
