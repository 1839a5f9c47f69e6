"""The runs' records: what ran, with the hashes to reproduce it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import orjson

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


def record(setting: Setting, index: Index, hashes: Mapping[str, str], chunks: bytes) -> bytes:
    """The pinning record. `hashes` are those of the files that the run read, by path."""
    parts: dict[str, Json] = {
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
        "reader": {"model": reader.MODEL, "needed": setting.needed, "also": reader.ALSO}
        | {"rank_cost": reader.RANK_COST, "sees": reader.SEEN, "refusal": reader.REFUSAL},
        "seeds": list(SEEDS) if setting.is_stability else [0],
        "delta_s": f"1 - cosine of the question and the mean of the chunks seen, {dense.MODEL}",
        "software": {name: version(name) for name in LIBRARIES},
        "runtime": {"threads": 1, "float": "float64", "scores_rounded_to_decimals": lexical.DECIMALS},
        "ties": "score desc, section_id, chunk_id",
    }
    if "bm25" in setting.stages:
        parts["bm25"] = lexical.PARAMETERS | {"top": DEPTH}
    # The space is also what ΔS and the reader's word rarities come from, so every run has it.
    parts["lsa"] = {"model": dense.MODEL, **dense.PARAMETERS, **index.dense.hashes(), "top": DEPTH}
    if setting.everyday:
        words = {"list": EVERYDAY, "sha256": sha256(EVERYDAY_FILE.read_bytes())}
        parts["question_words"] = words
    if "fuse" in setting.stages:
        parts["fusion"] = {"method": "rrf", "k": K, "top": FUSED}
    if "rerank" in setting.stages:
        parts["reranker"] = {"model": rerank.MODEL, "weights": rerank.WEIGHTS, "word_vectors": dense.MODEL}
    return orjson.dumps(parts, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _analyzer() -> dict[str, str]:
    return {"name": PINNED.name, "stopwords": "sha256:" + sha256("\n".join(sorted(STOPWORDS)).encode())}


def _canonical(value: Json) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
