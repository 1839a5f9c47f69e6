"""A record's schema errors as findings: plain, in order, each place once, bounded whatever the record."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.contracts.rules.schema_findings import (
    FARTHEST,
    LARGE,
    MOST,
    WINDOW,
    code_name,
    field_at,
    schema_problems,
)

BAD = {"page": 0, "doc_id": [], "section_id": {}}


def _codes(kind: str, record: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in schema_problems(kind, record)]


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("ΔS", "delta_s"),
        ("ΔS_q_ctx", "delta_s"),
        ("λ_observe", "lambda_state"),
        ("lambda", "lambda_state"),
        ("ΔS_mean", "delta_s_mean"),
        ("λ_convergent_rate", "lambda_convergent_rate"),
        ("recall@50", "recall_at_50"),
        ("nDCG@10", "ndcg_at_10"),
        ("$schema", "schema"),
        ("é!", "field"),
    ],
)
def test_codes_are_ascii(field: str, name: str) -> None:
    assert code_name(field) == name


def test_places_count_from_one() -> None:
    assert field_at(("citations", 1, "offsets", "start")) == "citations[2].offsets.start"
    assert field_at(()) == ""


def test_findings_are_reported_in_the_order_of_their_places() -> None:
    record = {"text": 5, "offsets": [1, 2, 3], "embedding": {"dim": 0, "vector": [1, "a"]}, "page": 0}
    assert [(finding.code, finding.message) for finding in schema_problems("chunk", record)] == [
        ("missing_chunk_id", "chunk_id or id or snippet_id is missing"),
        ("bad_dim", "dim is 0, below 1"),
        ("wrong_type_vector", "vector[2] is 'a', not a number"),
        ("bad_offsets", "offsets is a list of 3 entries, with more than 2"),
        ("bad_page", "page is 0, below 1"),
        ("wrong_type_text", "text is 5, not text"),
    ]


def test_the_order_of_keys_changes_nothing() -> None:
    record: dict[str, Any] = {"lang": 1, "text": None, "id": [], "page": 0, "tokens": "x"}
    assert _codes("chunk", record) == _codes("chunk", dict(reversed(record.items())))


@pytest.mark.parametrize("value", [None, 7, "x", [], [{}], True])
def test_what_is_no_object_is_reported(value: Any) -> None:
    assert _codes("trace", value) == [("not_an_object", "")]


def test_of_many_wrong_entries_a_bounded_number_is_reported() -> None:
    found = schema_problems("trace", {"q": "x", "chunks": [BAD] * 1_000})
    assert len(found) == MOST + 1
    assert found[-1].code == "more_findings"
    assert f"{3_000 - MOST:,} more places" in found[-1].message


def test_of_hundreds_of_thousands_of_errors_only_the_first_are_listed_at_all() -> None:
    found = schema_problems("trace", {"q": "x", "chunks": [BAD] * 200_000})
    assert len(found) == MOST + 1
    assert f"{3 * WINDOW - MOST:,} more places" in found[-1].message


def test_a_wrong_entry_far_down_a_long_list_is_named() -> None:
    found = _codes("trace", {"q": "x", "chunks": [{"id": "c"}] * 20_000 + [BAD] + [{"id": "c"}] * 90})
    assert found[:3] == [
        ("wrong_type_doc_id", "chunks[20001].doc_id"),
        ("bad_page", "chunks[20001].page"),
        ("wrong_type_section_id", "chunks[20001].section_id"),
    ]
    assert found[3:] == [("more_findings", "")]


def test_what_is_too_far_down_is_reported_without_its_place() -> None:
    assert _codes("trace", {"q": "x", "chunks": [{}] * (FARTHEST * 2) + [BAD]}) == [("more_findings", "")]


def test_a_long_vector_is_no_reason_to_look_at_less() -> None:
    record = {"id": "c", "text": None, "embedding": {"vector": [0.1] * 4_096}}
    assert len(record["embedding"]["vector"]) < LARGE  # type: ignore[index]  # it is an object
    assert _codes("chunk", record) == [("missing_text", "text")]


def test_deep_nesting_is_no_trouble() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [{"a": deep}]
    assert _codes("chunk", {"id": "c", "text": deep}) == [("wrong_type_text", "text")]
    assert _codes("trace", {"q": "x", "metrics": deep}) == [("wrong_type_metrics", "metrics")]


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf"), 1 << 80, -(1 << 70), "x" * 100_000])
def test_values_that_no_file_holds_are_judged_too(value: Any) -> None:
    found = schema_problems("chunk", {"id": "c", "text": "x", "page": value, "lang": value})
    assert all(len(finding.message) < 300 for finding in found)
