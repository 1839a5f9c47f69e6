"""The pipeline's records: chunks, traces, and how stable the answers of a run are."""

from __future__ import annotations

import hashlib
import math
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from proofspan.contracts.records.names import normalize_text
from tools.demo import dense, reader
from tools.demo.analyzer import PINNED
from tools.demo.corpus import Piece, sentences
from tools.demo.fuse import Hit
from tools.demo.galley import SIGNAL
from tools.demo.lexical import Scores
from tools.demo.places import Places
from tools.demo.reader import Quote
from tools.demo.runs import Outcome, Setting

Json = Any
#: The corpus was written once, before the first run.
INGESTED = "2026-02-23T08:00:00Z"
MEMORY_REVISION = "r1"
#: How many of its six siblings must agree, itself included.
CONVERGENT, RECURSIVE, DIVERGENT = 5, 3, 2
#: Key words that a chunk record names, and decimals of its vector: a last bit is no change.
ANCHORS, VECTOR_DECIMALS = 4, 4
_FRENCH = frozenset({"de", "des", "du", "est", "et", "la", "le", "les", "ne", "pas", "une"})
_ENGLISH = frozenset({"a", "and", "in", "is", "it", "of", "on", "the", "to", "with"})


@dataclass(frozen=True, slots=True)
class Facts:
    """The fields that every trace of a run repeats. `sources` are the documents' paths by id."""

    sources: Mapping[str, str]
    memory: str
    index_hash: str
    places: Places


def chunk_records(
    pieces: Sequence[Piece], sources: Mapping[str, str], memory: Mapping[str, str], vectors: Scores
) -> list[Json]:
    """The chunk records; `memory` is the sha256 of each document's bytes, `vectors` has a row a chunk."""
    bags = [Counter(word for word in PINNED(piece.text) if word.isalpha()) for piece in pieces]
    spread = Counter(word for bag in bags for word in bag)
    records = []
    for piece, bag, vector in zip(pieces, bags, vectors.round(VECTOR_DECIMALS) + 0.0, strict=True):
        weights = {word: count * math.log(len(bags) / spread[word]) for word, count in bag.items()}
        salient = sorted(weights, key=lambda word: (-round(weights[word], 6), word))[:ANCHORS]
        record = _chunk(piece, sources[piece.doc_id], anchors=salient)
        # A text without a known word is all zeros, which no length can make a unit vector.
        record["embedding"] |= {"vector": vector.tolist(), "normalized": bool(vector.any())}
        records.append(envelope("ingest.write", INGESTED, piece.chunk_id, memory[piece.doc_id]) | record)
    return records


def _chunk(piece: Piece, source: str, *, anchors: list[str]) -> dict[str, Json]:
    signal = piece.kind in SIGNAL
    first = sentences(piece)
    record: dict[str, Json] = {
        "$schema": "urn:proofspan:schema:chunk-1.0",
        "chunk_id": piece.chunk_id,
        "doc_id": piece.doc_id,
        "section_id": piece.section,
        "section_title": piece.titles[-1] if piece.titles else "",
        "title_path": list(piece.titles),
        "source_url": source_url(piece, source, piece.page_idx),
        "page_idx": piece.page_idx,
        "order_in_section": piece.order,
        "lang": language(piece.text),
        "text": piece.text,
        "text_normalized": normalize_text(piece.text),
        "offsets": [piece.start, piece.end],
        "tokens": len(piece.text.split()),
        "hash": "sha1:" + hashlib.sha1(piece.text.encode(), usedforsecurity=False).hexdigest(),
        "block_type": "paragraph" if signal else piece.kind,
        "anchor": first[0].text if first else piece.text,
        "anchors": anchors,
        "embedding": {
            "model": dense.MODEL,
            "dim": dense.DIMENSIONS,
            "metric": "cosine",
        },
    }
    if piece.is_numbered:
        record["section_number"] = piece.section
    if signal:
        record["signal"] = piece.kind
    if piece.parts:
        record |= {"bbox": list(piece.parts[0].bbox), "bbox_space": "points"}
    if len(piece.parts) > 1:
        record["parts"] = [{"page_idx": part.page_idx, "bbox": list(part.bbox)} for part in piece.parts]
    if piece.lines:
        record["span"] = {"line_start": piece.lines[0], "line_end": piece.lines[1]}
    return record


def language(text: str) -> str:
    """The language by its smallest words, Japanese by its letters; English where nothing decides."""
    if any("\u3040" <= letter <= "\u30ff" for letter in text):
        return "ja"
    words = text.lower().split()
    return "fr" if sum(w in _FRENCH for w in words) > sum(w in _ENGLISH for w in words) else "en"


def source_url(piece: Piece, source: str, page_idx: int) -> str:
    """The document's file with the page that a reader would turn to, or the line where it has no pages."""
    return f"{source}#L{piece.lines[0]}" if piece.lines else f"{source}#page={page_idx + 1}"


def trace_record(
    setting: Setting, facts: Facts, question: Mapping[str, Json], variant: tuple[int, int], outcome: Outcome
) -> dict[str, Json]:
    """One trace line, but for its time and λ, which depend on the traces beside it."""
    paraphrase, seed = variant
    name = f"{setting.run_id}/{question['q_id']}/{paraphrase}/{seed}"
    lists = {"retrieved": outcome.retrieved}
    lists |= {"fused": outcome.fused} if "fuse" in setting.stages else {}
    lists |= {"reranked": outcome.reranked} if "rerank" in setting.stages else {}
    return envelope("answer.decide", setting.ts, name, facts.memory) | {
        "run_id": setting.run_id,
        "q_id": question["q_id"],
        "q": outcome.q,
        "paraphrase": paraphrase,
        "seed": seed,
        "analyzer": setting.reads_with.name,
        "chunks": [candidate(hit) for hit in outcome.seen],
        "stages": {stage: [candidate(hit) for hit in hits] for stage, hits in lists.items()},
        "answer": answer_text(outcome.quotes),
        "citations": [_payload(setting, facts, quote, outcome) for quote in outcome.quotes],
        "ok": bool(outcome.quotes),
        "ΔS": outcome.stress,
    }


def candidate(hit: Hit) -> dict[str, Json]:
    """An entry of a ranked list."""
    return {
        "id": hit.chunk_id,
        "doc_id": hit.piece.doc_id,
        "section_id": hit.section_id,
        "page_idx": hit.piece.page_idx,
        "score": hit.score,
        "source": hit.source,
        "features": dict(hit.features),
    }


def answer_text(quotes: Sequence[Quote]) -> str:
    """The answer in the template: what was quoted, then the ids it comes from."""
    if not quotes:
        return reader.REFUSAL
    ids = dict.fromkeys(quote.piece.chunk_id for quote in quotes)
    return f"{' '.join(quote.text for quote in quotes)} citations: [{', '.join(ids)}]"


def _payload(setting: Setting, facts: Facts, quote: Quote, outcome: Outcome) -> dict[str, Json]:
    """The citation payload: 1-based `page`, offsets of the sentence in the document's canonical text.

    `score_raw` is the score of the list before the last step, `score_norm` its share of that list's best.
    """
    piece, end = quote.piece, quote.start + len(quote.text)
    start = quote.sentence.start
    page_idx = facts.places.page_of(piece, start, start + len(quote.text))
    k_pos, before = _ranked(outcome.before, piece)
    payload: dict[str, Json] = {
        "doc_id": piece.doc_id,
        "section_id": piece.section,
        "snippet_id": piece.chunk_id,
        "source_url": source_url(piece, facts.sources[piece.doc_id], page_idx),
        "offsets": {"start": quote.start, "end": end, "unit": "char"},
        "tokens": len(quote.text.split()),
        "index_hash": facts.index_hash,
        "embed_model": f"{dense.MODEL}:mean" if "dense" in setting.stages else "none",
        "analyzer": setting.reads_with.name,
        "rev": piece.rev,
        "window": {"pre": start, "post": piece.end - end},
        "quote": quote.text,
        "score_raw": before.score,
        "score_norm": round(before.score / outcome.before[0].score, 6),
        "k_pos": k_pos,
    }
    if piece.parts:
        payload["page"] = page_idx + 1
    if outcome.reranked:
        k_final, after = _ranked(outcome.reranked, piece)
        payload |= {"rerank_score": after.score, "k_final": k_final}
    return payload


def _ranked(hits: Sequence[Hit], piece: Piece) -> tuple[int, Hit]:
    return next((rank, hit) for rank, hit in enumerate(hits, 1) if hit.chunk_id == piece.chunk_id)


def lambda_states(outcomes: Mapping[tuple[int, int], Outcome]) -> dict[tuple[int, int], str]:
    """λ of each of the siblings of one question: how many of the six, itself included, end where it does.

    Two end alike when they cite the same section of the same document, or both refuse. At least 5 of 6:
    convergent; 3 or 4: recursive, the end comes back but not every time; 2: divergent; alone: chaotic.
    """
    ends = {variant: _end(outcome) for variant, outcome in outcomes.items()}
    alike = Counter(ends.values())
    return {variant: _state(alike[end]) for variant, end in ends.items()}


def _end(outcome: Outcome) -> tuple[str, str] | None:
    """Document and section that the answer cites, None where it refuses."""
    return (outcome.quotes[0].piece.doc_id, outcome.quotes[0].piece.section) if outcome.quotes else None


def _state(alike: int) -> str:
    if alike >= CONVERGENT:
        return "convergent"
    if alike >= RECURSIVE:
        return "recursive"
    return "divergent" if alike >= DIVERGENT else "chaotic"


def timed(record: dict[str, Json], latency: Mapping[str, float], elapsed_ms: float) -> dict[str, Json]:
    """The record with its time and latency out of the recording; `elapsed_ms` since the run began."""
    begun = datetime.fromisoformat(record["ts"])
    ts = (begun + timedelta(milliseconds=elapsed_ms)).isoformat(timespec="milliseconds")
    return record | {
        "ts": ts.replace("+00:00", "Z"),
        "latency_ms": round(sum(latency.values()), 3),
        "latency_by_stage_ms": dict(latency),
        "latency_source": "recording",
    }


def envelope(event: str, ts: str, name: str, memory: str) -> dict[str, Json]:
    """Return the first fields of every record. The trace id is derived from the record's name."""
    return {
        "schema_version": "1.0.0",
        "event": event,
        "ts": ts,
        "trace_id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:proofspan:demo:{name}")),
        "agent_id": "system",
        "mem_rev": MEMORY_REVISION,
        "mem_hash": f"sha256:{memory}",
    }
