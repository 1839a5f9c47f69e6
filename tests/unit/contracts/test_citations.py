"""The rules of citations: each breach has its code, its field and the values that are wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.contracts.rules.citations import citation_problems
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.contracts.rules.payload import (
    AUDITABLE,
    BARE_CANDIDATE,
    CANDIDATE,
    CITATION,
    LOGGED,
    PAYLOAD_FIELDS,
    Demand,
    are_clean,
    field_problems,
    item_problems,
    page_problems,
)
from proofspan.contracts.rules.ranking import rank_problems, score_problems
from proofspan.errors import Problem
from tests.unit.contracts.citation_payloads import JSON, PINS, odd_payloads, payload


def found(findings: Iterable[Problem]) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in findings]


def test_a_clean_payload_has_no_finding() -> None:
    assert found(item_problems(payload(), PINS, CITATION)) == []


@pytest.mark.parametrize("name", PAYLOAD_FIELDS)
def test_each_of_the_ten_fields_is_required_and_null_is_absent(name: str) -> None:
    assert found(item_problems(payload(**{name: ...}), PINS, CITATION)) == [(f"missing_{name}", name)]
    assert found(item_problems(payload(**{name: None}), PINS, CITATION)) == [(f"missing_{name}", name)]


@pytest.mark.parametrize("name", [name for name in PAYLOAD_FIELDS if name not in ("offsets", "tokens")])
def test_a_text_may_neither_be_empty_nor_of_another_type(name: str) -> None:
    for empty in ("", "  "):
        item = payload(**{name: empty})
        assert found(item_problems(item, NO_CONTEXT, CITATION)) == [(f"empty_{name}", name)]
    for wrong in (4.2, 7, True, [], {"a": 1}):
        item = payload(**{name: wrong})
        assert found(item_problems(item, PINS, CITATION)) == [(f"wrong_type_{name}", name)]


def test_a_chunk_id_under_another_name_is_one() -> None:
    assert found(item_problems(payload(snippet_id=..., chunk_id="hb-0007"), PINS, CITATION)) == []
    assert found(item_problems(payload(snippet_id=..., id="hb-0007"), PINS, CITATION)) == []


@pytest.mark.parametrize(
    ("changes", "code", "field", "says"),
    [
        ({"tokens": 0}, "empty_tokens", "tokens", "0"),
        ({"tokens": -3}, "bad_tokens", "tokens", "-3"),
        ({"tokens": "188"}, "wrong_type_tokens", "tokens", "'188'"),
        ({"tokens": 1.5}, "wrong_type_tokens", "tokens", "1.5"),
        ({"offsets": {}}, "bad_offsets", "offsets", "start is missing"),
        ({"offsets": {"start": 3}}, "bad_offsets", "offsets", "end is missing"),
        ({"offsets": {"start": 3, "end": 3}}, "bad_offsets", "offsets", "3"),
        ({"offsets": {"start": 9, "end": 3}}, "bad_offsets", "offsets", "9"),
        ({"offsets": {"start": -1, "end": 3}}, "bad_offsets", "offsets", "-1"),
        ({"offsets": {"start": 0.5, "end": 3}}, "bad_offsets", "offsets", "0.5"),
        ({"offsets": {"start": 0, "end": "3"}}, "bad_offsets", "offsets", "'3'"),
        ({"offsets": {"start": 0, "end": 3, "unit": "ells"}}, "bad_offsets", "offsets", "'ells'"),
        ({"offsets": {"start": 0, "end": 3, "unit": 7}}, "bad_offsets", "offsets", "7"),
        ({"offsets": [3, 1]}, "bad_offsets", "offsets", "3"),
        ({"offsets": [3]}, "bad_offsets", "offsets", "a list of 1"),
        ({"offsets": "0-3"}, "wrong_type_offsets", "offsets", "'0-3'"),
        ({"page": 0}, "page_below_one", "page", "0"),
        ({"page": "14"}, "wrong_type_page", "page", "'14'"),
        ({"page": 14, "page_idx": 14}, "pages_disagree", "page", "15"),
        ({"page": ..., "page_idx": -1}, "bad_page_idx", "page_idx", "-1"),
        ({"page": ..., "page_idx": "13"}, "wrong_type_page_idx", "page_idx", "'13'"),
        ({"score_norm": 1.2}, "bad_score_norm", "score_norm", "1.2"),
        ({"score_norm": -0.1}, "bad_score_norm", "score_norm", "-0.1"),
        ({"score_norm": "0.7"}, "wrong_type_score_norm", "score_norm", "'0.7'"),
        ({"score_raw": True}, "wrong_type_score_raw", "score_raw", "true"),
        ({"rerank_score": "0.7"}, "wrong_type_rerank_score", "rerank_score", "'0.7'"),
        ({"score_raw": ..., "score_norm": None}, "missing_score", "score_raw", "score_norm"),
        ({"score_raw": ..., "score_norm": ..., "score": 3.1}, "missing_score", "score_raw", "score_norm"),
        ({"k_pos": ...}, "missing_k_pos", "k_pos", "k_pos"),
        ({"k_pos": 0}, "bad_k_pos", "k_pos", "0"),
        ({"k_pos": 1.5}, "bad_k_pos", "k_pos", "1.5"),
        ({"k_final": "1"}, "bad_k_final", "k_final", "'1'"),
        ({"index_hash": "faiss:beef"}, "mismatch_index_hash", "index_hash", "'faiss:beef'"),
        ({"embed_model": "other:mean"}, "embed_model_mismatch", "embed_model", "'other:mean'"),
        ({"analyzer": "lowercase"}, "analyzer_mismatch", "analyzer", "'lowercase'"),
        ({"rev": "9999999"}, "rev_mismatch", "rev", "'9999999'"),
    ],
)
def test_each_breach_is_one_finding_that_names_field_and_value(
    changes: dict[str, Any], code: str, field: str, says: str
) -> None:
    item = payload(**changes)
    (finding,) = item_problems(item, PINS, CITATION)
    assert (finding.code, finding.where) == (code, field)
    assert says in finding.message
    assert rule_of(code).fix


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": [2310, 2688]},
        {"offsets": {"start": 0, "end": 1.0}},
        {"offsets": {"start": 0, "end": 1, "unit": "token"}},
        {"tokens": 188.0},
        {"page": ...},
        {"page": 14, "page_idx": 13},
        {"score_raw": ...},
        {"score_norm": 1.0000001192092896},
        {"k_final": 1, "rerank_score": -3.2},
        {"index_hash": "2F7D"},
        {"embed_model": "bge-large-en-v1.5:cls"},
        {"doc_id": "another", "rev": "9999999"},
        {"rev": "3b91f2a94c0d"},
    ],
)
def test_what_the_contract_allows_is_no_finding(changes: dict[str, Any]) -> None:
    assert found(item_problems(payload(**changes), PINS, CITATION)) == []


def test_what_cannot_be_compared_is_no_finding() -> None:
    other = payload(index_hash="x", embed_model="y", analyzer="z", rev="w")
    assert found(item_problems(other, NO_CONTEXT, CITATION)) == []


def test_citations_of_one_segment_together() -> None:
    one = payload(snippet_id="a", k_pos=1)
    assert found(citation_problems([], PINS)) == [("empty_citations", "")]
    assert found(citation_problems([one, payload(snippet_id="b", k_pos=2, score_norm=0.5)], PINS)) == []
    tokens = {"start": 0, "end": 4, "unit": "token"}
    other = payload(snippet_id="b", k_pos=2, score_norm=0.5, section_id="c", offsets=tokens)
    assert found(citation_problems([one, one, other, other], PINS)) == [
        ("mixed_offset_units", "[3].offsets"),
        ("cross_section_reuse", "[3].section_id"),
    ]
    assert found(citation_problems(["hb-0007", one, 7], PINS)) == [
        ("bare_citation", "[1]"),
        ("wrong_type_citations", "[3]"),
    ]


@pytest.mark.parametrize(
    ("sections", "context", "place"),
    [
        (["a", "b"], NO_CONTEXT, 2),
        (["a", "a", "b"], NO_CONTEXT, 3),
        (["a", "b"], Context(allow_cross=True), None),
        (["a", "b"], Context(cross_sections=frozenset({"b"})), None),
        (["b", "a", "b"], Context(cross_sections=frozenset({"b"})), None),
        (["b", "a", "c"], Context(cross_sections=frozenset({"b"})), 3),
        (["a", None, "a"], NO_CONTEXT, None),
        (["a", " ", "a"], NO_CONTEXT, None),
    ],
)
def test_the_fence_around_sections_and_its_whitelist(
    sections: list[Any], context: Context, place: int | None
) -> None:
    items = [payload(section_id=section) for section in sections]
    fenced = [each for each in citation_problems(items, context) if each.code == "cross_section_reuse"]
    assert [finding.where for finding in fenced] == ([f"[{place}].section_id"] if place else [])


def test_many_sections_are_counted_not_listed() -> None:
    items = [payload(section_id=f"s{number}") for number in range(9)]
    (finding,) = citation_problems(items, NO_CONTEXT)
    assert finding.message == "one segment cites the sections 's0', 's1', 's2', 's3' and 5 more"


@given(st.sampled_from([*payload(), "page_idx", "k_final", "id"]), JSON)
def test_no_value_raises_and_every_code_is_known(name: str, value: Any) -> None:
    items = [payload(), payload(**{name: value}), value]
    for finding in citation_problems(items, PINS):
        family = finding.code.split("_")[0]
        assert finding.code in RULES or family in ("missing", "empty", "wrong", "bad")
        assert finding.message and len(finding.message) < 500


def test_what_nearly_all_records_look_like_is_proven_clean_without_the_checks() -> None:
    whole = payload(k_final=3, rerank_score=0.67, window={"pre": 120, "post": 120})
    assert are_clean([whole], CITATION)
    assert are_clean([{"id": "a", "score": 0.5, "page_idx": 3}, {"id": "b", "score": None}], BARE_CANDIDATE)


@given(odd_payloads(), st.sampled_from([CITATION, AUDITABLE, LOGGED, CANDIDATE, BARE_CANDIDATE]))
def test_the_checks_find_nothing_in_a_payload_that_the_schema_proves_clean(
    item: dict[str, Any], demand: Demand
) -> None:
    if are_clean([item], demand):
        assert not list(field_problems(item, demand.fields))
        assert not list(page_problems(item))
        assert not list(score_problems(item, needed=demand.scores))
        assert not list(rank_problems(item, needs_k_pos=demand.needs_k_pos))
