"""Records of every type against the contract: its own examples, and each rule broken once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofspan.contracts.record_rules import RECORD_TYPES, record_problems
from proofspan.contracts.records.schemas import schema_alone
from proofspan.contracts.rules.catalogue import RULES, is_of_family, rule_of
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.contracts.rules.envelope import ENVELOPE

Record = dict[str, Any]
Change = Callable[[Record], Any]

#: The examples of the data contracts, unchanged: none has an envelope.
SEEDS: list[tuple[str, Record, set[str]]] = [
    (
        "chunk",
        {
            "$schema": "https://wfgy.dev/schemas/chunk-1.0.json",
            "chunk_id": "c_00123",
            "doc_id": "d_wfgy_paper",
            "section_id": "s_intro",
            "span": {"line_start": 120, "line_end": 154},
            "lang": "en",
            "text": "Delta-S measures semantic stress ...",
            "hash": "sha256:...",
            "embedding": {
                "model": "sentence-transformers/all-MiniLM-L6-v2",
                "dim": 384,
                "vector": [0.012, -0.044],
                "normalized": True,
                "metric": "cosine",
            },
            "anchors": ["ΔS", "semantic stress"],
        },
        {
            *("missing_source_url", "missing_tokens", "missing_block_type", "missing_anchor"),
            *("missing_text_normalized", "hash_unreadable", "vector_length"),
        },
    ),
    (
        "chunk",  # the chunk id schema's example, which names no text
        {
            "chunk_id": "docA|r=8c1e9a02|s=1.2.3|p=002|b=007",
            "section_id": "1.2.3",
            "source_url": "https://example.com/guide.pdf",
            "offsets": [12345, 12980],
            "tokens": 365,
            "hash": "sha1:cafebabe…",
            "block_type": "paragraph|table|code|formula",
            "anchor": "first salient assertion in this chunk",
        },
        {"missing_text", "missing_text_normalized"},
    ),
    (
        "query",
        {
            "$schema": "https://wfgy.dev/schemas/query-1.0.json",
            "q_id": "q_2025_08_13_0001",
            "text": "How does ΔS detect retrieval failure?",
            "lang": "en",
            "hyde": "Generate a canonical query about ... (optional)",
            "tokens": {"count": 12, "analyzer": "icu"},
            "hints": {"doc_id": ["d_wfgy_paper"], "section_id": []},
        },
        set(),
    ),
    (
        "retrieved",
        {
            "$schema": "https://wfgy.dev/schemas/retrieved-1.0.json",
            "q_id": "q_2025_08_13_0001",
            "ranker": "dense|bm25|hybrid",
            "k": 50,
            "items": [
                {
                    "chunk_id": "c_00123",
                    "doc_id": "d_wfgy_paper",
                    "score": 0.812,
                    "cosine": 0.91,
                    "ΔS_q_ctx": 0.36,
                    "source": "dense",
                    "features": {"bm25": 8.3, "dense": 0.91},
                }
            ],
        },
        set(),
    ),
    (
        "rerank",  # eight more are counted, and one is shown
        {
            "$schema": "https://wfgy.dev/schemas/rerank-1.0.json",
            "q_id": "q_2025_08_13_0001",
            "model": "BAAI/bge-reranker-base",
            "k_in": 60,
            "k_out": 8,
            "items": [
                {
                    "chunk_id": "c_00123",
                    "pre_score": {"dense": 0.91, "bm25": 8.3},
                    "post_score": {"ce": 0.82},
                    "reason": "mentions ΔS definition and failure threshold",
                    "selected": True,
                }
            ],
        },
        {"selected_not_k_out"},
    ),
    (
        "prompt-frame",
        {
            "$schema": "https://wfgy.dev/schemas/prompt-frame-1.0.json",
            "system": "You are a grounded assistant. Cite before you explain.",
            "task": "Answer the user's question using ONLY the cited snippets.",
            "constraints": ["No cross-source merging", "Cite line spans"],
            "citations": [
                {"id": "c_00123", "doc_id": "d_wfgy_paper", "section_id": "s_intro", "span": [120, 154]}
            ],
            "question": "How does ΔS detect retrieval failure?",
        },
        set(),
    ),
    (
        "answer",
        {
            "$schema": "https://wfgy.dev/schemas/answer-1.0.json",
            "q_id": "q_2025_08_13_0001",
            "answer_text": "ΔS measures the semantic gap ...",
            "cited_chunks": ["c_00123", "c_00987"],
            "λ_observe": "→",
            "metrics": {"ΔS_q_ctx": 0.38, "latency_ms": 922},
        },
        set(),
    ),
    (
        "metrics",
        {
            "$schema": "https://wfgy.dev/schemas/metrics-1.0.json",
            "dataset": "goldset_v1",
            "recall@50": 0.91,
            "nDCG@10": 0.62,
            "ΔS_mean": 0.41,
            "ΔS_p95": 0.58,
            "λ_convergent_rate": 0.82,
        },
        set(),
    ),
]


@pytest.mark.parametrize(("kind", "record", "lacking"), SEEDS, ids=[seed[0] for seed in SEEDS])
def test_the_seeds_examples_lack_the_envelope_and_what_they_really_lack(
    kind: str, record: Record, lacking: set[str]
) -> None:
    found = record_problems(kind, record, NO_CONTEXT)
    assert sorted(finding.code for finding in found) == sorted({"envelope_missing", *lacking})


@pytest.mark.parametrize("kind", RECORD_TYPES)
def test_the_schemas_examples_break_nothing(kind: str) -> None:
    assert record_problems(kind, good(kind), NO_CONTEXT) == ()


def good(kind: str) -> Record:
    """Return a new record that keeps the contract."""
    record: Record = schema_alone(kind)["examples"][0]
    return record


def _without(*names: str) -> Change:
    return lambda record: [record.pop(name) for name in names]


def _with(**fields: Any) -> Change:
    return lambda record: record.update(fields)


def _in(path: str, value: Any) -> Change:
    """Sets the value at a place such as `items.0.score`."""

    def change(record: Any) -> None:
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            record = record[step]
        record[last] = value

    return change


def _missing(*named: str) -> list[tuple[str, str]]:
    return [(f"missing_{code}", place) for code, place in zip(named[::2], named[1::2], strict=True)]


def _all_missing(*names: str) -> list[tuple[str, str]]:
    return [(f"missing_{name}", f"embedding.{name}") for name in names]


def _embedded(vector: list[Any], *, dim: int | None = None, normalized: bool = True) -> Change:
    size = len(vector) if dim is None else dim
    return _with(
        embedding={"model": "m", "dim": size, "metric": "cosine", "normalized": normalized, "vector": vector}
    )


def _swapped(record: Record) -> None:
    citations = record.pop("citations")
    record["citations"] = citations


def _stopped(record: Record) -> None:
    record.clear()
    record.update(error="offsets", fix="chunk boundaries")


#: type, what is done to a good record → the codes and places that it gives, all of them.
TABLE: list[tuple[str, Change, list[tuple[str, str]]]] = [
    # the envelope
    ("envelope", _without(*ENVELOPE), [("envelope_missing", "")]),
    ("answer", _without(*ENVELOPE), [("envelope_missing", "")]),
    ("chunk", _without("mem_rev"), [("missing_mem_rev", "mem_rev")]),
    ("query", _with(agent_id=None), [("missing_agent_id", "agent_id")]),
    ("rerank", _with(event=" "), [("empty_event", "event")]),
    ("trace", _with(ts="yesterday"), [("bad_ts", "ts")]),
    ("trace", _with(ts="2026-02-30T25:00:00Z"), [("bad_ts", "ts")]),
    ("metrics", _with(mem_hash=7), [("wrong_type_mem_hash", "mem_hash")]),
    ("trace", _with(event="answer.guess"), [("unknown_event", "event")]),
    ("query", _with(agent_id="Scout"), [("unknown_agent", "agent_id")]),
    ("answer", _with(agent_id="medic", event="rerank.run"), []),
    ("chunk", _with(trace_id="t1"), [("trace_id_not_uuid", "trace_id")]),
    ("chunk", _with(trace_id="4545FCE2-41E9-5781-A1C8-4565BD133A9E"), []),
    ("chunk", _with(trace_id="4545fce241e95781a1c84565bd133a9e"), []),
    ("chunk", _with(trace_id="4545fce2-41e95781a1c84565bd133a9e"), [("trace_id_not_uuid", "trace_id")]),
    ("trace", _with(mem_hash="sha256:7d9d6a4e"), [("mem_hash_not_sha256", "mem_hash")]),
    ("trace", _with(mem_hash="sha1:" + "7" * 64), [("mem_hash_not_sha256", "mem_hash")]),
    ("gold", _without(*ENVELOPE), [("envelope_missing", "")]),
    ("gold", _without("ts"), [("missing_ts", "ts")]),
    ("catalogue", _without(*ENVELOPE), [("envelope_missing", "")]),
    ("answer", _with(schema_version="2.0.0"), [("schema_version_unsupported", "schema_version")]),
    ("answer", _with(schema_version="1.2.0"), [("schema_version_newer", "schema_version")]),
    ("answer", _with(schema_version="one"), [("bad_schema_version", "schema_version")]),
    ("answer", _with(schema_version=""), [("empty_schema_version", "schema_version")]),
    ("chunk", _in("$schema", "urn:proofspan:schema:query-1.0"), [("schema_conflict", "$schema")]),
    ("chunk", _in("$schema", "https://example.org/chunk"), [("unknown_schema", "$schema")]),
    # chunks
    ("chunk", _without("text"), [("missing_text", "text")]),
    ("chunk", _with(text="", hash="sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"), [("empty_text", "text")]),
    ("chunk", _with(text=5), [("wrong_type_text", "text")]),
    ("chunk", _without("chunk_id"), [("missing_chunk_id", "chunk_id")]),
    ("chunk", _with(chunk_id="c7", doc_id=None), [("missing_doc_id", "doc_id")]),
    ("chunk", _without("doc_id"), []),
    ("chunk", _without("section_id"), [("missing_section_id", "section_id")]),
    ("chunk", _with(source_url=""), [("empty_source_url", "source_url")]),
    ("chunk", _with(tokens=0), [("empty_tokens", "tokens")]),
    ("chunk", _without("offsets"), [("missing_offsets", "offsets")]),
    ("chunk", _with(offsets=[9, 9]), [("bad_offsets", "offsets")]),
    ("chunk", _with(offsets=[9]), [("bad_offsets", "offsets")]),
    ("chunk", _with(offsets=None, span=[3, 2]), [("bad_span", "span")]),
    ("chunk", _with(page_idx=-1), [("bad_page_idx", "page_idx")]),
    ("chunk", _without("text_normalized"), [("missing_text_normalized", "text_normalized")]),
    ("chunk", _with(text="other", text_normalized="else"), [("hash_mismatch", "hash")]),
    ("chunk", _with(hash="sha1:cafebabe…"), [("hash_unreadable", "hash")]),
    ("chunk", _with(hash="md5:9e107d9d372bb6826bd81d3542a419d6"), [("hash_unreadable", "hash")]),
    ("chunk", _with(hash="sha1:" + "g" * 40), [("hash_unreadable", "hash")]),
    ("chunk", _in("embedding.metric", None), [("missing_metric", "embedding.metric")]),
    (
        "chunk",
        lambda record: record["embedding"].pop("normalized"),
        [("missing_normalized", "embedding.normalized")],
    ),
    ("chunk", _in("embedding.normalized", "yes"), [("wrong_type_normalized", "embedding.normalized")]),
    ("chunk", _without("embedding"), []),
    ("chunk", _in("embedding", {"vector": [1.0]}), _all_missing("model", "dim", "metric", "normalized")),
    ("chunk", _in("embedding.model", ""), [("empty_model", "embedding.model")]),
    ("chunk", _in("embedding.dim", 0), [("bad_dim", "embedding.dim")]),
    ("chunk", _embedded([0.6, 0.8]), []),
    ("chunk", _embedded([0.61, 0.795]), []),  # rounded
    ("chunk", _embedded([3, 4], normalized=False), []),
    (
        "chunk",
        _in("embedding", {"model": "m", "dim": 2, "metric": "cosine", "normalized": True}),
        [("missing_vector", "embedding.vector")],
    ),
    ("chunk", _embedded([0.6, 0.8, 0.0], dim=2), [("vector_length", "embedding.vector")]),
    ("chunk", _embedded([3, 4]), [("vector_not_normalized", "embedding.vector")]),
    ("chunk", _embedded([0.0, 0.0]), [("vector_not_normalized", "embedding.vector")]),
    ("chunk", _embedded([1.7e308, 1.7e308], normalized=False), [("vector_not_finite", "embedding.vector")]),
    ("chunk", _embedded([0.6, "0.8"]), [("wrong_type_vector", "embedding.vector[2]")]),
    # queries, ranked lists
    ("query", _with(text=""), [("empty_text", "text")]),
    ("query", _without("q_id"), [("missing_q_id", "q_id")]),
    ("query", _with(tokens={"count": -1}), [("bad_count", "tokens.count")]),
    ("query", _with(hints={"doc_id": 7, "anything": []}), []),
    ("retrieved", _without("ranker"), [("missing_ranker", "ranker")]),
    ("retrieved", _with(k=0), [("bad_k", "k")]),
    ("retrieved", _with(items={}), [("wrong_type_items", "items")]),
    ("retrieved", _in("items.0.score", None), [("missing_score", "items[1].score")]),
    ("retrieved", _in("items.0.score", "high"), [("wrong_type_score", "items[1].score")]),
    ("retrieved", _in("items.0.chunk_id", None), [("missing_chunk_id", "items[1].chunk_id")]),
    ("retrieved", _in("items.0.k_pos", 0), [("bad_k_pos", "items[1].k_pos")]),
    (
        "retrieved",
        _with(items=[{"chunk_id": "b", "score": 1}, {"chunk_id": "a", "score": 1}]),
        [("tie_order", "items[1]")],
    ),
    (
        "retrieved",
        _with(items=[{"chunk_id": "b", "score": 2}, {"chunk_id": "b", "score": 1}]),
        [("duplicate_candidate", "items[2]")],
    ),
    (
        "retrieved",
        _with(k=1, items=[{"chunk_id": "b", "score": 2}, {"chunk_id": "c", "score": 1}]),
        [("bad_k", "k")],
    ),
    ("rerank", _in("items.1.selected", True), [("selected_not_k_out", "items")]),
    ("rerank", _with(k_out=61), [("bad_k_out", "k_out"), ("selected_not_k_out", "items")]),
    ("rerank", _with(k_in=1), [("bad_k_in", "k_in")]),
    ("rerank", _with(items=[{"chunk_id": "a"}]), []),
    # prompts
    ("prompt-frame", _with(system="You are helpful."), [("prompt_not_locked", "")]),
    ("prompt-frame", _with(system=""), [("prompt_not_locked", ""), ("empty_system", "system")]),
    ("prompt-frame", _in("citations.0.span", None), [("missing_span", "citations[1].span")]),
    (
        "prompt-frame",
        lambda record: record["citations"][0].pop("section_id"),
        [("missing_section_id", "citations[1].section_id")],
    ),
    ("prompt-frame", _in("citations.0.span", [5, 4]), [("bad_span", "citations[1].span")]),
    # answers
    ("answer", _without("cited_chunks"), [("missing_cited_chunks", "cited_chunks")]),
    ("answer", _with(cited_chunks=[]), [("empty_citations", "cited_chunks")]),
    ("answer", _with(cited_chunks=[], answer_text="Not in context."), []),
    ("answer", _without("λ_observe"), [("missing_lambda_state", "λ_observe")]),
    ("answer", _with(λ_observe=None, lambda_state="chaotic"), []),
    ("answer", _with(λ_observe="calm"), [("unknown_lambda_state", "λ_observe")]),
    ("answer", _with(citations=[7]), [("wrong_type_citations", "citations[1]")]),
    ("auditable-answer", _without("ΔS"), [("missing_delta_s", "ΔS")]),
    ("auditable-answer", _without("λ"), [("missing_lambda_state", "λ")]),
    ("auditable-answer", _with(λ="calm"), [("unknown_lambda_state", "λ")]),
    ("auditable-answer", _with(answer=""), [("empty_answer", "answer")]),
    ("auditable-answer", _with(citations=[]), [("empty_citations", "citations")]),
    ("auditable-answer", _with(citations=[], answer="Not in context"), []),
    ("auditable-answer", _swapped, [("cite_after_answer", "citations")]),
    ("auditable-answer", _in("citations.0.tokens", None), [("missing_tokens", "citations[1].tokens")]),
    ("auditable-answer", _in("citations.0.offsets.start", 2688), [("bad_offsets", "citations[1].offsets")]),
    (
        "auditable-answer",
        _stopped,
        [("contract_stop", "error")],
    ),
    # payloads
    ("citation", _without("rev"), [("missing_rev", "rev")]),
    ("citation", _with(section_id=""), [("empty_section_id", "section_id")]),
    ("citation", _with(section_id=4), [("wrong_type_section_id", "section_id")]),
    ("citation", _with(offsets={"start": 5, "end": 4}), [("bad_offsets", "offsets")]),
    ("citation", _with(score_raw=None, score_norm=None), [("missing_score", "score_raw")]),
    ("citation", _with(page=0), [("page_below_one", "page")]),
    ("citation", _with(window=[120, 120]), [("wrong_type_window", "window")]),
    # logs
    ("log", _without("deltaS"), [("missing_delta_s", "deltaS")]),
    ("log", _with(seg=0), [("bad_seg", "seg")]),
    ("log", _with(kpos=[0, 7]), [("bad_kpos", "kpos[1]")]),
    ("log", _with(ts="28/08/2025"), [("bad_ts", "ts")]),
    ("rag-traces", _without("lambda_state"), [("missing_lambda_state", "lambda_state")]),
    ("rag-traces", _with(scores=[0.8]), [("lists_differ", "scores")]),
    ("rag-traces", _with(scores="[0.8]", kpos="[18, 7]"), [("lists_differ", "scores")]),
    ("rag-traces", _with(scores="0.8"), [("wrong_type_scores", "scores")]),
    ("rag-traces", _with(kpos="[0, 7]"), [("bad_kpos", "kpos[1]")]),
    # traces, reports, gold questions, redirects, attachments, packs
    ("trace", _with(q=None), [("missing_q", "q")]),
    ("trace", _with(answer=5), [("wrong_type_answer", "answer")]),
    ("trace", _in("chunks.0.features", "x"), [("wrong_type_features", "chunks[1].features")]),
    ("trace", _in("citations.0.tokens", "x"), []),  # reported by the rules of citations
    ("trace", _in("stages.retrieved.0.score", "x"), []),
    ("report", _without("label"), [("missing_label", "label")]),
    ("gold", _without("q"), [("missing_q", "q")]),
    ("gold", _without("sections", "chunks", "spans"), [("gold_without_evidence", "")]),
    ("gold", _with(answerable=False), [("gold_contradicts", "answerable")]),
    ("gold", _with(answerable="yes"), [("wrong_type_answerable", "answerable")]),
    ("gold", _in("spans.0.offsets", [7, 7]), [("bad_offsets", "spans[1].offsets")]),
    ("gold", _in("spans.0.quote", ""), [("empty_quote", "spans[1].quote")]),
    ("gold", lambda record: record["spans"][0].pop("doc_id"), [("missing_doc_id", "spans[1].doc_id")]),
    ("redirect", _with(kind="moved"), [("bad_kind", "kind")]),
    ("redirect", _with(confidence=1.5), [("bad_confidence", "confidence")]),
    ("redirect", _with(kind="gone"), [("bad_new_ids", "new_ids")]),
    ("redirect", _with(kind="split"), [("bad_new_ids", "new_ids")]),
    ("redirect", _with(kind="same"), [("bad_new_ids", "new_ids")]),
    ("catalogue", _with(kind="danger"), [("bad_kind", "kind")]),
    ("metrics", _without("dataset"), [("missing_dataset", "dataset")]),
    ("metrics", _without("ΔS_p95"), [("missing_delta_s_p95", "ΔS_p95")]),
    (
        "metrics",
        _without("recall@50", "nDCG@10"),
        _missing("recall_at_50", "recall@50", "ndcg_at_10", "nDCG@10"),
    ),
    ("metrics", _with(dataset=None, λ_convergent_rate=None), []),  # null: not measured
    ("metrics", _in("recall@50", 91), [("bad_recall_at_50", "recall@50")]),
    ("metrics", _in("nDCG@10", "0.62"), [("wrong_type_ndcg_at_10", "nDCG@10")]),
    ("metrics", _in("ΔS_mean", 1e9), [("bad_delta_s_mean", "ΔS_mean")]),
]


@pytest.mark.parametrize(
    ("kind", "change", "expected"), TABLE, ids=[f"{n}-{row[0]}" for n, row in enumerate(TABLE)]
)
def test_each_rule_broken_once_gives_its_finding(
    kind: str, change: Change, expected: list[tuple[str, str]]
) -> None:
    record = good(kind)
    change(record)
    found = record_problems(kind, record, NO_CONTEXT)
    assert [(finding.code, finding.where) for finding in found] == expected
    for finding in found:
        assert finding.message
        assert finding.fix
        assert finding.code in RULES or is_of_family(finding.code)


def test_problems_name_their_place_and_the_wrong_value() -> None:
    record = good("chunk") | {"hash": "sha1:" + "0" * 40, "tokens": "many"}
    mismatch, wrong_type = record_problems("chunk", record, NO_CONTEXT)
    assert (mismatch.code, mismatch.where, mismatch.severity) == ("hash_mismatch", "hash", "error")
    assert "sha1:e8153431ede6938cd2829b40164f6fe2c6d9319e" in mismatch.message
    assert (wrong_type.code, wrong_type.where) == ("wrong_type_tokens", "tokens")


def test_normalized_text_and_vectors_are_recommendations_among_what_is_missing() -> None:
    assert rule_of("missing_text_normalized").severity == "warning"
    assert rule_of("missing_vector").severity == "warning"
    assert rule_of("missing_text").severity == "error"
