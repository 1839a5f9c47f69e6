"""Rules of records that span fields: hashes, prompts, corpus and pins; and whatever JSON comes along."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofspan.contracts.record_rules import RECORD_TYPES, merged, record_id_of, record_problems
from proofspan.contracts.records.schemas import schema_alone, validator
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.contracts.rules.envelope import ENVELOPE
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import Problem
from tests.unit.contracts.test_records import good


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
@pytest.mark.parametrize("field", ["text", "text_normalized"])
def test_a_hash_may_be_that_of_either_text(kind: str, field: str) -> None:
    record = good("chunk")
    record["hash"] = f"{kind.upper()}:{hashlib.new(kind, record[field].encode()).hexdigest().upper()}"
    assert record_problems("chunk", record, NO_CONTEXT) == ()


@pytest.mark.parametrize(
    ("system", "is_locked"),
    [
        ("Cite before you explain.", True),
        ("You must cite sources first, and explain afterwards.", True),
        ("First cite, then answer.", True),
        ("Put the citations first", True),
        ("Cite → explain", True),
        ("Do not answer until you have cited a snippet.", True),
        ("Never explain before you cite!", True),
        ("Before you answer, list the citations.", True),
        ("Cite line spans.", False),
        ("Explain before you cite.", False),
        ("Do not cite first.", False),
        ("Answer first. Then cite.", False),
        ("Explain first, then add citations.", False),
        ("You are excited to answer before lunch.", False),
        ("", False),
    ],
)
def test_a_prompt_is_locked_where_its_words_put_citing_first(system: str, is_locked: bool) -> None:
    record = good("prompt-frame") | {"system": system or "x", "task": "Answer.", "constraints": []}
    codes = [finding.code for finding in record_problems("prompt-frame", record, NO_CONTEXT)]
    assert codes == ([] if is_locked else ["prompt_not_locked"])


def test_chunks_that_the_corpus_does_not_have_are_named_wherever_they_are() -> None:
    context = Context(corpus=frozenset({"c_00123"}))
    expected = {"retrieved": [], "rerank": ["items[2]"], "answer": ["cited_chunks[2]"], "prompt-frame": []}
    for kind, places in expected.items():
        found = record_problems(kind, good(kind), context)
        assert [(finding.code, finding.where) for finding in found] == [
            ("not_in_corpus", at) for at in places
        ]


def test_a_log_is_compared_with_the_runs_index_and_models() -> None:
    pinned = Context(index_hash="faiss:2f7d41c09a", embed_model="bge-large-en-v1.5:mean")
    assert record_problems("log", good("log"), pinned) == ()
    other = Context(index_hash="faiss:0000", embed_model="minilm", analyzer="icu")
    found = record_problems("rag-traces", good("rag-traces"), other)
    assert [(finding.code, finding.where) for finding in found] == [
        ("mismatch_index_hash", "index_hash"),
        ("embed_model_mismatch", "embed_model"),
        ("analyzer_mismatch", "analyzer"),
    ]
    assert record_problems("log", good("log"), other)[1].where == "embed"


@pytest.mark.parametrize(
    ("kind", "record", "name"),
    [
        ("chunk", {"id": 7}, "7"),
        ("citation", {"snippet_id": "s"}, "s"),
        ("log", {"qid": "Q1"}, "Q1"),
        ("redirect", {"old_id": "o"}, "o"),
        ("metrics", {"dataset": "g"}, "g"),
        ("trace", {"q": "x"}, ""),
        ("trace", [], ""),
        ("answer", {"q_id": "q" * 1000}, "q" * 200),
    ],
)
def test_a_record_is_named_by_its_own_id(kind: str, record: Any, name: str) -> None:
    assert record_id_of(kind, record) == name


def test_of_two_findings_at_one_place_the_first_counts() -> None:
    reported = (Problem("bad_offsets", "…", "citations[1].offsets"),)
    more = [Problem("missing_start", "…", "citations[1].offsets.start"), Problem("missing_q", "…", "q")]
    assert [finding.code for finding in merged(reported, more)] == ["bad_offsets", "missing_q"]


def test_a_type_that_nobody_names_is_reported() -> None:
    assert [finding.code for finding in record_problems("", {}, NO_CONTEXT)] == ["unknown_schema"]


def _names() -> list[str]:
    kinds = [schema_alone(kind).get("properties", {}) for kind in RECORD_TYPES]
    return sorted({name for properties in kinds for name in properties} | {*ENVELOPE, "$schema", "error"})


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_LEAVES |= st.sampled_from(["1.0.0", "2.0.0", "sha1:00", "urn:proofspan:schema:chunk-1.0", "cite first"])
_KEYS = st.sampled_from(_names()) | st.text(max_size=4)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_names()) | st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)
_CONTEXT = Context("faiss:1", "m", "a", {"d": "r"}, frozenset({"c"}))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(RECORD_TYPES), value=_VALUES, name=st.sampled_from(_names()))
def test_no_json_value_makes_the_rules_stumble(kind: str, value: Any, name: str) -> None:
    for record in (value, {name: value}, good(kind) | {name: value}):
        found = record_problems(kind, record, _CONTEXT)
        assert found == record_problems(kind, record, _CONTEXT)
        assert all(len(finding.message) < 1_000 for finding in found)
        assert all(finding.code.isascii() and finding.code == finding.code.lower() for finding in found)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), kind=st.sampled_from(RECORD_TYPES))
def test_a_place_is_reported_once_by_its_schema(data: st.DataObject, kind: str) -> None:
    record = good(kind)
    for name in data.draw(st.lists(st.sampled_from(sorted(record)), max_size=3, unique=True)):
        record[name] = data.draw(_VALUES)
    shape = schema_problems(kind, record)
    assert len({finding.where for finding in shape}) == len(shape)
    assert bool(shape) is not validator(kind).is_valid(record)
