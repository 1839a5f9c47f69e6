"""Files to be validated, and what is found in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from proofspan.contracts.rules.catalogue import Finding
from proofspan.services.validation import Tally, validate
from tests.unit.store_workspace import ENVELOPE

PAYLOAD: dict[str, Any] = {
    "doc_id": "handbook",
    "section_id": "keys",
    "snippet_id": "s1",
    "source_url": "https://example.org/h#keys",
    "offsets": {"start": 10, "end": 90, "unit": "char"},
    "tokens": 18,
    "index_hash": "faiss:2f7d",
    "embed_model": "bge:mean",
    "analyzer": "lowercase",
    "rev": "3b91f2a",
    "score_norm": 0.78,
    "k_pos": 18,
}


def written(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def found(
    path: Path | list[Path], record_type: str | None = None, tally: Tally | None = None, **options: Any
) -> list[Finding]:
    paths = path if isinstance(path, list) else [path]
    cache = options.pop("cache_dir", paths[0].parent / "cache")
    return list(validate(paths, record_type, cache_dir=cache, tally=tally, **options))


def codes_of(findings: list[Finding]) -> list[tuple[int, str, str]]:
    return [(each.line, each.code, each.where) for each in findings]


def answer(q_id: str, **fields: object) -> dict[str, object]:
    uri = "https://wfgy.dev/schemas/answer-1.0.json"
    base = {"$schema": uri, "q_id": q_id, "answer_text": "Wide.", "cited_chunks": ["c1"], "λ_observe": "→"}
    return {**ENVELOPE, **base, **fields}
