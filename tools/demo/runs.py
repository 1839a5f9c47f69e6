"""Answers the questions with one pipeline setting, writes trace lines, and plants the declared faults."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from tools.demo.corpus import Piece
from tools.demo.search import ANALYZER, Hit, Index, Quote, read, rerank

Json = Any
REFUSAL = "not in context"


@dataclass(frozen=True, slots=True)
class Setting:
    """One run of the pipeline. `needed` is the share of the question that a sentence must hold."""

    run_id: str
    ts: str
    titles: bool
    reranked: bool
    needed: float
    seen: int = 5
    depth: int = 20


@dataclass(frozen=True, slots=True)
class Corpus:
    """What every run reads: the document, its revision, the chunks and the hash of the file they lie in."""

    doc_id: str
    source: str
    rev: str
    index_hash: str
    pieces: Sequence[Piece]


def run(setting: Setting, corpus: Corpus, questions: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
    """One trace a question, in the questions' order."""
    index = Index(corpus.pieces, titles=setting.titles)
    return [_trace(setting, corpus, index, question) for question in questions]


def _trace(setting: Setting, corpus: Corpus, index: Index, question: Mapping[str, Json]) -> dict[str, Json]:
    q = question["q"]
    retrieved = index.search(q, limit=setting.depth)
    reranked = rerank(q, retrieved, limit=setting.seen) if setting.reranked else []
    seen = reranked or retrieved[: setting.seen]
    quotes = read(index, q, seen, needed=setting.needed)
    cited = [_payload(corpus, quote, retrieved, reranked) for quote in quotes]
    stages = {"retrieved": [_candidate(corpus, hit, "bm25") for hit in retrieved]}
    if setting.reranked:
        stages["reranked"] = [_candidate(corpus, hit, "score") for hit in reranked]
    return {
        "schema_version": "1.0.0",
        "event": "answer.decide",
        "ts": setting.ts,
        "run_id": setting.run_id,
        "q_id": question["q_id"],
        "q": q,
        "chunks": [_candidate(corpus, hit, "score" if setting.reranked else "bm25") for hit in seen],
        "stages": stages,
        "answer": _answer(quotes),
        "citations": cited,
        "ok": bool(quotes),
        "ΔS": index.stress(q, seen),
    }


def _candidate(corpus: Corpus, hit: Hit, by: str) -> dict[str, Json]:
    piece = hit.piece
    features = {"bm25": round(hit.bm25, 4)}
    if by == "score":
        features["pairs"] = round(hit.pairs, 4)
    return {
        "id": piece.chunk_id,
        "doc_id": corpus.doc_id,
        "section_id": piece.section,
        "page_idx": piece.page_idx,
        "score": round(getattr(hit, by), 4),
        "features": features,
    }


def _payload(
    corpus: Corpus, quote: Quote, retrieved: Sequence[Hit], reranked: Sequence[Hit]
) -> dict[str, Json]:
    """The citation payload: 1-based `page`, offsets of the sentence in the document's canonical text."""
    piece, start = quote.piece, quote.piece.start + quote.start
    before = next(rank for rank, hit in enumerate(retrieved, 1) if hit.piece is piece)
    payload = {
        "doc_id": corpus.doc_id,
        "section_id": piece.section,
        "snippet_id": piece.chunk_id,
        "source_url": corpus.source,
        "offsets": {"start": start, "end": start + len(quote.text), "unit": "char"},
        "tokens": len(quote.text.split()),
        "index_hash": corpus.index_hash,
        "embed_model": "none",
        "analyzer": ANALYZER,
        "rev": corpus.rev,
        "page": piece.page_idx + 1,
        "quote": quote.text,
        "score_raw": round(retrieved[before - 1].bm25, 4),
        "k_pos": before,
    }
    if reranked:
        after = next(rank for rank, hit in enumerate(reranked, 1) if hit.piece is piece)
        payload |= {"rerank_score": round(reranked[after - 1].score, 4), "k_final": after}
    return payload


def _answer(quotes: Sequence[Quote]) -> str:
    if not quotes:
        return REFUSAL
    ids = dict.fromkeys(quote.piece.chunk_id for quote in quotes)
    return f"{' '.join(quote.text for quote in quotes)} citations: [{', '.join(ids)}]"


def plant(traces: list[dict[str, Json]], faults: Sequence[Mapping[str, Json]], corpus: Corpus) -> None:
    """Changes the traces in place as declared. `cut_line` waits until the lines are written."""
    by_id = {trace["q_id"]: trace for trace in traces}
    for fault in faults:
        trace = by_id[fault["q_id"]]
        before = orjson.dumps(trace)
        match fault["kind"]:
            case "no_citations_line":
                trace["answer"] = trace["answer"].split(" citations: [")[0]
            case "stale_answer":
                stale = copy.deepcopy(by_id[fault["from"]])
                trace |= {key: stale[key] for key in ("chunks", "stages", "answer", "citations", "ok", "ΔS")}
            case "invented_answer":
                first = trace["chunks"][0]["id"]
                trace |= {"answer": f"{fault['text']} citations: [{first}]", "ok": True}
            case "misquote":
                _misquote(trace, fault["old"], fault["new"])
            case "cites_unretrieved":
                _cite_elsewhere(trace, corpus, fault["section"])
            case "cut_line":
                continue
            case unknown:
                raise ValueError(f"no such fault: {unknown}")
        if orjson.dumps(trace) == before:
            raise ValueError(f"{fault['run']} {fault['q_id']}: {fault['kind']} changes nothing")


def _misquote(trace: dict[str, Json], old: str, new: str) -> None:
    text, ids = trace["answer"].split(" citations: [")
    trace["answer"] = f"{text.replace(old, new)} citations: [{ids}"
    for payload in trace["citations"]:
        payload["quote"] = payload["quote"].replace(old, new)


def _cite_elsewhere(trace: dict[str, Json], corpus: Corpus, section: str) -> None:
    """Points the answer at a chunk that was never retrieved, as a model does that makes up an id."""
    seen = {candidate["id"] for candidate in trace["stages"]["retrieved"]}
    piece = next(piece for piece in corpus.pieces if piece.section == section and piece.chunk_id not in seen)
    old = trace["citations"][0]["snippet_id"]
    trace["answer"] = trace["answer"].replace(old, piece.chunk_id)
    trace["citations"][0] |= {
        "section_id": section,
        "snippet_id": piece.chunk_id,
        "page": piece.page_idx + 1,
        "offsets": {"start": piece.start, "end": piece.start + len(piece.text), "unit": "char"},
        "quote": piece.text,
    }


def lines(traces: Sequence[Mapping[str, Json]], faults: Sequence[Mapping[str, Json]]) -> bytes:
    """The trace file. A line whose writer "died" is cut after 300 bytes."""
    cut = {fault["q_id"] for fault in faults if fault["kind"] == "cut_line"}
    parts = [(trace["q_id"], orjson.dumps(trace)) for trace in traces]
    return b"".join((line[:300] if q_id in cut else line) + b"\n" for q_id, line in parts)
