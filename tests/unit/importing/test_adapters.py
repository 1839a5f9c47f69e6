"""Records of the real LangChain and LlamaIndex, and Semantic Kernel's exports, as citation payloads."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.load import dumpd
from llama_index.core.schema import Document as IndexDocument
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore.utils import doc_to_json

from proofspan.adapters import (
    Payload,
    langchain_payload,
    llamaindex_payload,
    ranked,
    semantic_kernel_payload,
)
from proofspan.contracts.rules.citations import validate_citations

PINNED = {
    "index_hash": "faiss:2f7d",
    "embed_model": "bge-large-en-v1.5:mean",
    "analyzer": "lowercase+ascii_fold",
    "rev": "3b91f2a",
}
#: The payload of every complete record below, in the contract's order.
WHOLE = {
    "doc_id": "manual",
    "section_id": "4.2",
    "snippet_id": "c7",
    "source_url": "https://example.org/manual.pdf",
    "offsets": {"start": 2310, "end": 2320, "unit": "char"},
    "tokens": 5,
    **PINNED,
    "page": 42,
    "score_raw": 0.75,
    "k_pos": 1,
}
METADATA = {
    "doc_id": "manual",
    "section_id": "4.2",
    "source_url": "https://example.org/manual.pdf",
    "tokens": 5,
}
TEXT = "Use 5W-30."
Adapter = Callable[..., Payload]


def langchain_document(**more: Any) -> Document:
    """A document as a splitter with `add_start_index` leaves it behind PyPDFLoader."""
    return Document(
        id="c7", page_content=TEXT, metadata={**METADATA, "page": 41, "start_index": 2310, **more}
    )


def scored_node(**more: Any) -> NodeWithScore:
    """A node as a retriever returns it; its document is known by relation alone."""
    metadata = {**METADATA, "page": 41, **more}
    del metadata["doc_id"]
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="manual")}
    node = TextNode(
        id_="c7", text=TEXT, metadata=metadata, start_char_idx=2310, end_char_idx=2320, relationships=source
    )
    return NodeWithScore(node=node, score=0.75)


def kernel_record(**more: Any) -> dict[str, Any]:
    """A Citation as C#'s own serializer writes it: Pascal case, null where nothing was given."""
    return {
        "DocId": "manual",
        "SectionId": "4.2",
        "SnippetId": "c7",
        "SourceUrl": "https://example.org/manual.pdf",
        "Offsets": {"Start": 2310, "End": 2320, "Unit": "char"},
        "Tokens": 5,
        "IndexHash": "faiss:2f7d",
        "EmbedModel": "bge-large-en-v1.5:mean",
        "Analyzer": "lowercase+ascii_fold",
        "Rev": "3b91f2a",
        "Page": 41,
        "ScoreRaw": 0.75,
        "ScoreNorm": None,
        "KFinal": None,
        **more,
    }


COMPLETE = [
    pytest.param(langchain_payload, langchain_document(score=0.75), id="langchain"),
    pytest.param(llamaindex_payload, scored_node(), id="llamaindex"),
    pytest.param(semantic_kernel_payload, kernel_record(), id="semantic kernel"),
]
EMPTY = [
    pytest.param(langchain_payload, Document(page_content=""), id="langchain"),
    pytest.param(
        llamaindex_payload, {"node": TextNode().to_dict() | {"id_": None}, "score": None}, id="llamaindex"
    ),
    pytest.param(semantic_kernel_payload, dict.fromkeys(kernel_record()), id="semantic kernel"),
    pytest.param(langchain_payload, None, id="nothing"),
    pytest.param(llamaindex_payload, {"node": None, "metadata": "none"}, id="no node"),
]


@pytest.mark.parametrize(("adapter", "record"), COMPLETE)
def test_a_complete_record_is_a_payload_without_findings(adapter: Adapter, record: object) -> None:
    (payload,) = ranked([adapter(record, page_base=0, **PINNED)])
    assert list(payload.items()) == list(WHOLE.items())
    assert validate_citations([payload]) == "ok"


@pytest.mark.parametrize(("adapter", "record"), EMPTY)
def test_what_a_record_does_not_have_is_left_out_not_filled_in(adapter: Adapter, record: object) -> None:
    assert adapter(record, page_base=1) == {}
    assert adapter(record, page_base=1, **PINNED, score=0.0) == {**PINNED, "score_raw": 0.0}


@pytest.mark.parametrize("field", ["section_id", "source_url", "tokens"])
@pytest.mark.parametrize(
    ("adapter", "whole"),
    [(langchain_payload, langchain_document), (llamaindex_payload, scored_node)],
)
@pytest.mark.parametrize("nothing", [None, ["a", "list"], object()], ids=["none", "list", "object"])
def test_the_contract_names_the_field_that_metadata_lacks(
    adapter: Adapter, whole: Callable[..., object], field: str, nothing: object
) -> None:
    payload = adapter(whole(**{field: nothing}), page_base=0, **PINNED, score=0.75)
    assert field not in payload
    assert validate_citations([payload]) == f"missing_{field}"


@pytest.mark.parametrize("field", ["index_hash", "embed_model", "analyzer", "rev"])
@pytest.mark.parametrize(("adapter", "record"), COMPLETE[:2])
def test_what_only_the_caller_knows_is_missing_without_it(
    adapter: Adapter, record: object, field: str
) -> None:
    payload = adapter(record, page_base=0, **{**PINNED, field: None})
    assert validate_citations([payload]) == f"missing_{field}"


def test_an_empty_text_that_the_record_states_stays_for_the_contract_to_name() -> None:
    assert langchain_payload(langchain_document(section_id=""), page_base=0)["section_id"] == ""
    assert semantic_kernel_payload(kernel_record(Tokens=0, Rev=""), page_base=1)["tokens"] == 0


def test_the_callers_parameter_counts_before_metadata_and_metadata_before_the_class() -> None:
    stated = {"rev": "old", "score_raw": 0.5, "doc_id": "stable"}
    payload = llamaindex_payload(scored_node(**stated), page_base=0)
    assert payload.items() >= {"rev": "old", "score_raw": 0.5}.items()
    payload = llamaindex_payload(scored_node(**stated), page_base=0, rev="new", score=0.25)
    assert payload.items() >= {"rev": "new", "score_raw": 0.25}.items()
    node = TextNode(id_="c7", metadata={"doc_id": "stable"}, relationships=scored_node().node.relationships)
    assert llamaindex_payload(node, page_base=0)["doc_id"] == "stable"


def test_a_value_of_no_use_gives_way_to_the_next_place() -> None:
    assert llamaindex_payload(scored_node(score_raw="high"), page_base=0)["score_raw"] == 0.75


@pytest.mark.parametrize(
    "exported",
    [
        Document.model_dump,
        lambda document: json.loads(document.model_dump_json()),
        dumpd,
        lambda document: json.loads(json.dumps(document.to_json())),
    ],
    ids=["model_dump", "json", "dumpd", "to_json"],
)
def test_an_exported_langchain_document_gives_the_same_payload(exported: Callable[[Document], Any]) -> None:
    document = langchain_document(score_norm=0.5, window={"pre": 120, "post": 120}, page_label="41")
    expected = langchain_payload(document, page_base=0, **PINNED)
    assert langchain_payload(exported(document), page_base=0, **PINNED) == expected
    assert expected["window"] == {"pre": 120, "post": 120}
    assert list(expected)[-1] == "page_label"


@pytest.mark.parametrize(
    "exported",
    [
        NodeWithScore.to_dict,
        NodeWithScore.model_dump,
        lambda scored: json.loads(scored.to_json()),
        lambda scored: {"node": json.loads(json.dumps(doc_to_json(scored.node))), "score": scored.score},
    ],
    ids=["to_dict", "model_dump", "to_json", "docstore"],
)
def test_an_exported_node_gives_the_same_payload(exported: Callable[[NodeWithScore], Any]) -> None:
    scored = scored_node(page_label="iv")
    expected = llamaindex_payload(scored, page_base=0, **PINNED)
    assert llamaindex_payload(exported(scored), page_base=0, **PINNED) == expected
    assert expected["doc_id"] == "manual" and expected["page_label"] == "iv"


def test_a_node_alone_has_all_but_the_score() -> None:
    expected = llamaindex_payload(scored_node(), page_base=0, **PINNED)
    del expected["score_raw"]
    node = scored_node().node
    for form in (node, node.to_dict(), doc_to_json(node)):
        assert llamaindex_payload(form, page_base=0, **PINNED) == expected
    assert validate_citations([expected]) == "missing_score"


def test_a_node_without_character_indexes_or_source_lacks_offsets_and_document() -> None:
    node = TextNode(id_="c7", text=TEXT, start_char_idx=2310, metadata={"page_label": "41"})
    assert llamaindex_payload(node, page_base=1) == {"snippet_id": "c7", "page_label": "41"}
    assert llamaindex_payload(IndexDocument(id_="manual", text=TEXT), page_base=1) == {"snippet_id": "manual"}


def test_several_sources_are_no_document_and_no_error() -> None:
    several = {NodeRelationship.SOURCE: [RelatedNodeInfo(node_id="a"), RelatedNodeInfo(node_id="b")]}
    node = TextNode(id_="c7").model_copy(update={"relationships": several})
    with pytest.raises(ValueError, match="single"):
        _ = node.ref_doc_id
    assert llamaindex_payload(node, page_base=1) == {"snippet_id": "c7"}


@pytest.mark.parametrize("spelling", ["DocId", "docId", "doc_id"])
def test_semantic_kernel_fields_count_in_each_serializers_spelling(spelling: str) -> None:
    def respelled(record: dict[str, Any]) -> dict[str, Any]:
        return {_respelled(name, spelling): _inner(value) for name, value in record.items()}

    def _inner(value: Any) -> Any:
        return respelled(value) if isinstance(value, dict) else value

    record = respelled(kernel_record(Window={"Pre": 1, "Post": 2}))
    payload = semantic_kernel_payload(record, page_base=0)
    assert payload == {name: value for name, value in WHOLE.items() if name != "k_pos"} | {
        "window": {"pre": 1, "post": 2}
    }
    attributes = SimpleNamespace(**record | {_respelled("KFinal", spelling): 3})
    assert semantic_kernel_payload(attributes, page_base=0) == {**payload, "k_final": 3}


def _respelled(pascal: str, like: str) -> str:
    if like == "DocId":
        return pascal
    camel = pascal[0].lower() + pascal[1:]
    return camel if like == "docId" else "".join(f"_{c.lower()}" if c.isupper() else c for c in camel)


@pytest.mark.parametrize(
    ("page", "page_base", "expected"),
    [(0, 0, 1), (41, 0, 42), (1, 1, 1), (41.0, 0, 42), (0, 1, 0), ("41", 0, None)],
)
def test_a_page_is_counted_from_one_by_the_base_that_the_caller_states(
    page: object, page_base: Any, expected: int | None
) -> None:
    assert langchain_payload({"metadata": {"page": page}}, page_base=page_base).get("page") == expected
    assert (
        llamaindex_payload({"metadata": {"page_number": page}}, page_base=page_base).get("page") == expected
    )
    assert semantic_kernel_payload({"Page": page}, page_base=page_base).get("page") == expected


def test_no_base_is_taken_for_granted() -> None:
    for adapter in (langchain_payload, llamaindex_payload, semantic_kernel_payload):
        with pytest.raises(TypeError, match="page_base"):
            adapter({})  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="page_base"):
            adapter({}, page_base=2)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="index"):
            adapter({}, page_base=1, index="faiss")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("metadata", "offsets"),
    [
        ({"start": 3, "end": 9}, {"start": 3, "end": 9, "unit": "char"}),
        ({"start_index": 3}, {"start": 3, "end": 13, "unit": "char"}),
        ({"start_index": 0}, {"start": 0, "end": 10, "unit": "char"}),
        ({"offsets": [3, 9]}, {"start": 3, "end": 9, "unit": "char"}),
        ({"offsets": (3, 9), "start_index": 5}, {"start": 3, "end": 9, "unit": "char"}),
        ({"offsets": {"start": 3, "end": 9, "unit": "Token"}}, {"start": 3, "end": 9, "unit": "token"}),
        ({"offsets": {"start": 9, "end": 3}}, {"start": 9, "end": 3, "unit": "char"}),
        ({"offsets": {"start": 3, "end": 9, "unit": "word"}}, None),
        ({"offsets": [3]}, None),
        ({"start": 3}, None),
        ({"start_index": -1}, None),
        ({}, None),
    ],
)
def test_offsets_are_those_that_the_metadata_states(metadata: Any, offsets: object) -> None:
    document = Document(page_content=TEXT, metadata=metadata)
    assert langchain_payload(document, page_base=0).get("offsets") == offsets


def test_metadata_may_use_other_names() -> None:
    document = Document(
        page_content="", metadata={"source": "m.pdf", "doc_id": "not this", "relevance_score": 0.5}
    )
    names = {"doc_id": "source", "rerank_score": "relevance_score", "section_id": "heading"}
    payload = langchain_payload(document, page_base=0, names=names)
    assert payload == {"doc_id": "m.pdf", "rerank_score": 0.5}


def test_a_list_ranks_by_its_order_in_the_contracts_order_of_fields() -> None:
    payloads = [{"doc_id": "a", "k_pos": 18, "page_label": "iv"}, {"doc_id": "b"}]
    assert [list(each.items()) for each in ranked(payloads)] == [
        [("doc_id", "a"), ("k_pos", 1), ("page_label", "iv")],
        [("doc_id", "b"), ("k_pos", 2)],
    ]
    reranked = ranked(payloads, order="k_final")
    assert [(each.get("k_pos"), each["k_final"]) for each in reranked] == [(18, 1), (None, 2)]
    assert payloads[1] == {"doc_id": "b"}


def test_scores_of_numpy_are_plain_numbers_and_those_that_are_none_are_left_out() -> None:
    payload = langchain_payload(
        langchain_document(tokens=numpy.int64(5)), page_base=0, score=numpy.float32(0.75)
    )
    assert type(payload["score_raw"]) is float and type(payload["tokens"]) is int
    for score in (float("nan"), float("inf"), 10**400, True, "0.75"):
        assert "score_raw" not in langchain_payload({}, page_base=0, score=score)  # type: ignore[arg-type]


class Hostile:
    """Computed attributes that raise, and metadata that is no mapping."""

    metadata = ("not", "a", "mapping")
    page_content = "x" * 1_000_000

    @property
    def id(self) -> str:
        raise KeyError("id")

    @property
    def node(self) -> object:
        raise NotImplementedError

    @property
    def DocId(self) -> str:  # noqa: N802
        raise ValueError("not loaded")


def test_attributes_that_raise_read_as_absent() -> None:
    for adapter in (langchain_payload, llamaindex_payload, semantic_kernel_payload):
        assert adapter(Hostile(), page_base=0, **PINNED) == PINNED


def test_the_text_of_a_record_is_never_copied_and_half_a_character_can_be_written() -> None:
    document = Document(id="c\ud8007", page_content="x" * 1_000_000, metadata={"start_index": 0})
    written = json.dumps(langchain_payload(document, page_base=0), ensure_ascii=False).encode("utf-8")
    assert written == b'{"snippet_id": "c?7", "offsets": {"start": 0, "end": 1000000, "unit": "char"}}'


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    metadata=st.dictionaries(st.sampled_from([*WHOLE, "start_index", "start", "end"]) | st.integers(), values)
)
def test_any_metadata_gives_a_payload_that_can_be_written_and_judged(metadata: dict[Any, Any]) -> None:
    records = {"metadata": metadata, "page_content": TEXT, "id_": metadata.get("snippet_id"), **metadata}
    for adapter in (langchain_payload, llamaindex_payload, semantic_kernel_payload):
        payload = adapter(records, page_base=0)
        assert None not in payload.values()
        assert json.loads(json.dumps(payload, allow_nan=False)) == payload
        assert isinstance(validate_citations([payload]), str)
