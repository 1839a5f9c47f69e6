"""The runs' records: what ran, with the hashes to reproduce it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from proofspan.services.rerank.section_text import MAX_CHARS, MIN_FRAGMENT
from tools.demo import dense, lexical, reader, rerank
from tools.demo.analyzer import EVERYDAY, EVERYDAY_FILE, PINNED, STOPWORDS
from tools.demo.fuse import DEPTH, FUSED, K
from tools.demo.runs import SEEDS, Index, Setting

Json = Any
LIBRARIES = ("bm25s", "numpy", "pyarrow", "pymupdf", "scikit-learn", "scipy")


def index_hash(setting: Setting, chunks: bytes) -> str:
    """The identity of the index that a run reads: its rankers, and a hash of all that decides its content."""
    rankers = "+".join(
        {"bm25": "bm25", "dense": "lsa"}[stage] for stage in setting.stages if stage in _RANKERS
    )
    parts = {"chunks": sha256(chunks), "titles": setting.titles, "analyzer": _analyzer()}
    parts |= {stage: _RANKERS[stage] for stage in setting.stages if stage in _RANKERS}
    return f"{rankers}:{sha256(_canonical(parts))[:16]}"


_RANKERS: Mapping[str, Json] = {"bm25": lexical.PARAMETERS, "dense": dense.PARAMETERS}


def pinned(setting: Setting, chunks: bytes) -> dict[str, str]:
    """The manifest's short form; its analyzer is the index's."""
    facts = {"index_hash": index_hash(setting, chunks), "analyzer": PINNED.name}
    if "dense" in setting.stages:
        facts["embed_model"] = f"{dense.MODEL}:mean"
    if "rerank" in setting.stages:
        facts["reranker"] = rerank.MODEL
    return facts | {"record": f"pinning/{setting.run_id}.json"}


def record(
    setting: Setting,
    index: Index,
    hashes: Mapping[str, str],
    chunks: bytes,
    *,
    traces: str,
    outputs: Sequence[bytes],
) -> bytes:
    """The pinning record. `hashes` are those of the files that the run read, by path.

    `outputs` are the trace files of the runs that were made of it, `traces` the path of the first one.
    """
    parts: dict[str, Json] = {
        "$schema": "urn:proofspan:schema:pinning-1.0",
        "run_id": setting.run_id,
        "ts": setting.ts,
        "inputs": dict(hashes),
        "index": {
            "index_hash": index_hash(setting, chunks),
            "chunks": len(index.pieces),
            "section_titles_indexed": setting.titles,
            "analyzer": _analyzer(),
            "read_path_analyzer": setting.reads_with.name,
        },
        # The space is also what ΔS and the reader's word rarities come from, so every run has it.
        "embedding" if "dense" in setting.stages else "lsa": _embedding(index),
        "reader": {"model": reader.MODEL, "revision": "1", "needed": setting.needed, "also": reader.ALSO}
        | {"rank_cost": reader.RANK_COST, "sees": reader.SEEN, "refusal": reader.REFUSAL},
        "seeds": list(SEEDS) if setting.is_stability else [0],
        "delta_s": f"1 - cosine of the question and the mean of the chunks seen, {dense.MODEL}",
        "libraries": {name: version(name) for name in LIBRARIES},
        "commands": ["python -m tools.demo.build"],
        "runtime": _runtime(),
        "tie_break": TIE_BREAK,
        "determinism": {"file": traces, "of": "bytes", "sha256": [sha256(each) for each in outputs]},
    }
    if "bm25" in setting.stages:
        parts["bm25"] = lexical.PARAMETERS | {"top": DEPTH}
    if setting.everyday:
        words = {"list": EVERYDAY, "sha256": sha256(EVERYDAY_FILE.read_bytes())}
        parts["question_words"] = words
    if "fuse" in setting.stages:
        parts["fusion"] = {"method": "rrf", "k": K, "weights": {"bm25": 1, "dense": 1}, "depth": DEPTH}
        parts["fusion"] |= {"top": FUSED, "tie_break": TIE_BREAK}
    if "rerank" in setting.stages:
        parts["reranker"] = _reranker(index)
    return orjson.dumps(parts, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


TIE_BREAK = "score desc, section_id, chunk_id"
#: The machine that the demo was made on: another one gives the same bytes, and its own name would not.
_MACHINE = Path(__file__).parent / "machine.json"


def _runtime() -> dict[str, Json]:
    recorded: dict[str, Json] = orjson.loads(_MACHINE.read_bytes())
    ours = {"threads": 1, "threads_limited_by": "threadpoolctl", "float": "float64"}
    return recorded | ours | {"scores_rounded_to_decimals": lexical.DECIMALS}


def _embedding(index: Index) -> dict[str, Json]:
    """The latent space: every run computes it of the chunks, so nobody publishes its weights."""
    hashes = index.dense.hashes()
    return {
        "model": dense.MODEL,
        "revision": "none",
        "weights": {"source": "computed by the run, of corpus/chunks.jsonl", "sha256": hashes["components"]},
        "tokenizer": _tokenizer(),
        "truncation": "none",
        "pooling": "mean",
        "vocabulary": hashes["vocabulary"],
        "top": DEPTH,
        **dense.PARAMETERS,
    }


def _reranker(index: Index) -> dict[str, Json]:
    source = f"the word vectors of {dense.MODEL}"
    return {
        "model": rerank.MODEL,
        "revision": "1",
        "weights": {"source": source, "sha256": index.dense.hashes()["components"]},
        "tokenizer": _tokenizer(),
        "truncation": {"max_chars": MAX_CHARS, "at": "word", "min_fragment": MIN_FRAGMENT},
        "parts": rerank.WEIGHTS,
    }


def _tokenizer() -> dict[str, str]:
    analyzer = _analyzer()
    return {"name": analyzer["name"], "sha256": analyzer["stopwords"]}


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _analyzer() -> dict[str, str]:
    return {"name": PINNED.name, "stopwords": "sha256:" + sha256("\n".join(sorted(STOPWORDS)).encode())}


def _canonical(value: Json) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
