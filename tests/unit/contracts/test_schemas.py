"""The published schemas and the readers agree on what a record is."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.contracts.records.schemas import schema, schema_alone, schema_files, schema_names
from proofspan.evidence.bundles import sha256_of
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.records.catalogue import attachment_from
from proofspan.traces.records.chunks import chunk_from
from proofspan.traces.records.gold import gold_from
from proofspan.traces.records.trace_record import trace_from

TRACES: list[Any] = [
    {"q": "x"},
    {"question": "x", "qid": 80, "answer": "", "chunks": [], "λ": "→", "deltaS": 0.3, "extra": {"kept": 1}},
    {
        "q": "x",
        "q_id": None,
        "run_id": None,
        "paraphrase": None,
        "stages": None,
        "citations": None,
        "ok": None,
    },
    {
        "q": "x",
        "chunks": [{"id": "a", "page_idx": 0, "features": {"bm25": 8.3, "note": "x"}}, {"text": "no id"}],
    },
    {"q": "x", "stages": {"retrieved": {"items": [{"chunk_id": "c"}]}, "fused": [], "reranked": None}},
    {
        "q": "x",
        "citations": [
            "c",
            {"snippet_id": "c", "page": 14, "offsets": {"start": 1, "end": 2, "unit": "char"}},
        ],
    },
    {"q": "x", "segments": [{"seg": 1, "text": "…", "citations": [{"id": "c", "offsets": [1, 2]}]}]},
    {},
    [],
    {"q": None},
    {"q": "x", "answer": None},
    {"q": "x", "answer": 4},
    {"q": "x", "chunks": None},
    {"q": "x", "chunks": ["c"]},
    {"q": "x", "chunks": [{"id": None}]},
    {"q": "x", "chunks": [{"chunk_id": 7}]},
    {"q": "x", "chunks": [{"id": True}]},
    {"q": "x", "q_id": []},
    {"q": "x", "paraphrase": "1"},
    {"q": "x", "seed": -1},
]


@pytest.mark.parametrize("obj", TRACES, ids=repr)
def test_the_trace_schema_and_the_reader_agree(obj: Any) -> None:
    is_read = isinstance(trace_from(obj, SourceLine("t", 1, 0, 1), run_id=None), Trace)
    assert jsonschema_rs.validator_for(schema("trace")).is_valid(obj) is is_read


@pytest.mark.parametrize(
    "obj",
    [
        {"id": "a", "text": ""},
        {"chunk_id": "a", "text": "x", "section_id": 4.2, "bbox": None, "offsets": None, "extra": 1},
        {"text": "x"},
        {"id": "", "text": "x"},
        {"id": 1, "text": "x"},
        {"id": True, "text": "x"},
        {"id": "a"},
        {"id": "a", "text": None},
        [],
    ],
    ids=repr,
)
def test_the_chunk_schema_and_the_reader_agree(obj: Any) -> None:
    assert jsonschema_rs.validator_for(schema("chunk")).is_valid(obj) is _is_read(chunk_from, obj)


@pytest.mark.parametrize(
    "obj",
    [
        {"q": "x"},
        {
            "question": "x",
            "answerable": None,
            "sections": "4.2",
            "spans": [{"doc_id": "d", "quote": "x", "page": 1}],
        },
        {"q_id": "Q1"},
        {"q": "x", "answerable": "yes"},
        {"q": "x", "spans": {}},
        {"q": "x", "spans": [{"doc_id": "d"}]},
        {"q": "x", "spans": [{"doc_id": "d", "quote": "x", "page": 0}]},
    ],
    ids=repr,
)
def test_the_gold_schema_and_the_reader_agree(obj: Any) -> None:
    assert jsonschema_rs.validator_for(schema("gold")).is_valid(obj) is _is_read(gold_from, obj)


@pytest.mark.parametrize(
    "obj",
    [
        {"attachment_id": "w-1", "kind": "warning"},
        {"attachment_id": 7, "kind": "symbol", "doc_id": 4, "page_idx": 0, "bbox": [0, 0, 1, 1.5]},
        {"attachment_id": "t", "kind": "table", "page": 1, "text": None, "caption": None, "extra": [1]},
        {"attachment_id": "t", "kind": "image", "bbox_space": "0-1", "render_ref": "anything"},
        {"attachment_id": "", "kind": "note"},
        {"kind": "note"},
        {"attachment_id": "a"},
        {"attachment_id": "a", "kind": "danger"},
        {"attachment_id": "a", "kind": ["note"]},
        {"attachment_id": "a", "kind": "note", "page_idx": -1},
        {"attachment_id": "a", "kind": "note", "page_idx": "3"},
        {"attachment_id": "a", "kind": "note", "page_idx": 3.5},
        {"attachment_id": "a", "kind": "note", "page_idx": 1 << 60},
        {"attachment_id": "a", "kind": "note", "page": 0},
        {"attachment_id": "a", "kind": "note", "bbox": [0, 0, 1]},
        {"attachment_id": "a", "kind": "note", "bbox": "0,0,1,1"},
        {"attachment_id": "a", "kind": "note", "bbox_space": "inches"},
        {"attachment_id": "a", "kind": "note", "text": 5},
        {"attachment_id": "a", "kind": "note", "render_ref": {"file": "a"}},
        "a",
    ],
    ids=repr,
)
def test_the_catalogue_schema_and_the_reader_agree(obj: Any) -> None:
    assert jsonschema_rs.validator_for(schema("catalogue")).is_valid(obj) is _is_read(attachment_from, obj)


def _is_read(read: Any, obj: Any) -> bool:
    try:
        read(obj)
    except UnusableError:
        return False
    return True


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_a_valid_one_that_fetches_nothing(name: str) -> None:
    found = schema(name)
    jsonschema_rs.meta.validate(found)
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["$id"] == f"urn:proofspan:schema:{name}-{schema_files()[name][0]}"
    known = {schema_alone(each)["$id"] for each in schema_names()}
    references = [value for key, value in _walk(found) if key == "$ref"]
    assert all(str(value).startswith("#") or value.partition("#")[0] in known for value in references)


def test_the_bundle_schemas_example_is_a_bundle() -> None:
    found = schema("bundle")
    validator = jsonschema_rs.validator_for(found)
    for example in found["examples"]:
        validator.validate(example)
        assert example["sha256"] == sha256_of(example)


def test_the_record_types_of_the_contract_are_there() -> None:
    assert {"trace", "chunk", "gold", "report", "catalogue", "bundle", "manifest"} <= set(schema_names())


def test_an_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        schema("../../secret")


def _walk(node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, dict):
        return [pair for key, value in node.items() for pair in ((key, value), *_walk(value))]
    return [pair for value in node for pair in _walk(value)] if isinstance(node, list) else []
