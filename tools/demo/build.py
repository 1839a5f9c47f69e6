"""Makes the demo workspace, byte for byte the same each time: `python -m tools.demo.build [--to FOLDER]`."""

from __future__ import annotations

import argparse
import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from tools.demo.book import make_book
from tools.demo.corpus import Piece, pieces, record
from tools.demo.markup import parse
from tools.demo.runs import Corpus, Setting, lines, plant, run
from tools.demo.search import ANALYZER

HERE = Path(__file__).parent
DEFAULT = HERE.parents[1] / "data" / "demo"
DOC_ID = "meridian-2026"
TITLE = "Meridian owner's manual"
PDF = f"corpus/{DOC_ID}.pdf"

#: manifest facts of each run, beside the setting that makes it
RUNS = (
    (
        Setting("R001", "2026-02-24T09:00:00Z", titles=False, reranked=False, needed=0.55),
        {"title": "BM25 over chunk texts", "class": "baseline"},
    ),
    (
        Setting("R002", "2026-02-25T09:00:00Z", titles=True, reranked=True, needed=0.45),
        {"title": "BM25 with section titles, reranked by word pairs", "class": "rerank", "baseline": "R001"},
    ),
)


def build() -> dict[str, bytes]:
    """Every file of the workspace by its path."""
    source = yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8"))
    book = make_book(parse((HERE / "manual.txt").read_text(encoding="utf-8")), title=TITLE)
    chunks = pieces(book.placed, doc_id=DOC_ID)
    files = {
        PDF: book.pdf,
        "corpus/chunks.jsonl": _jsonl(record(piece, doc_id=DOC_ID) for piece in chunks),
        "gold/goldset.jsonl": _jsonl(_gold(question, chunks) for question in source["questions"]),
    }
    rev = chunks[0].chunk_id.split("|r=")[1][:8]
    corpus = Corpus(DOC_ID, PDF, rev, "bm25:" + _sha256(files["corpus/chunks.jsonl"])[:16], chunks)
    for setting, _ in RUNS:
        faults = [fault for fault in source["faults"] if fault["run"] == setting.run_id]
        traces = run(setting, corpus, source["questions"])
        plant(traces, faults, corpus)
        files[f"runs/{setting.run_id}/trace.jsonl"] = lines(traces, faults)
    files["FAULTS.md"] = _faults(source["faults"]).encode()
    files["pipeline_manifest.yaml"] = _manifest(files, corpus).encode()
    return files


def _gold(question: Mapping[str, Any], chunks: Iterable[Piece]) -> dict[str, Any]:
    """The gold record; the quote's place is looked up, so that it cannot be wrong."""
    gold = question.get("gold")
    kept = {
        key: question[key]
        for key in ("q_id", "q", "type", "answer", "decoy_sections", "paraphrases")
        if key in question
    }
    if gold is None:
        return kept | {"answerable": False}
    for piece in chunks:
        start = piece.text.find(gold["quote"]) if piece.section == gold["section"] else -1
        if start >= 0:
            begin = piece.start + start
            span = {"doc_id": DOC_ID, "page_idx": piece.page_idx, "quote": gold["quote"]}
            return kept | {
                "answerable": True,
                "sections": [gold["section"]],
                "chunks": [piece.chunk_id],
                "spans": [span | {"offsets": [begin, begin + len(gold["quote"])]}],
                "anchor": gold["quote"],
            }
    raise ValueError(f"{question['q_id']}: section {gold['section']} does not say {gold['quote']!r}")


def _manifest(files: Mapping[str, bytes], corpus: Corpus) -> str:
    def artifact(path: str) -> dict[str, str]:
        return {"path": path, "sha256": _sha256(files[path])}

    runs = [
        {"run_id": setting.run_id, "ts": setting.ts}
        | facts
        | {"traces": artifact(f"runs/{setting.run_id}/trace.jsonl")}
        | {"pinned": {"index_hash": corpus.index_hash, "analyzer": ANALYZER}}
        for setting, facts in RUNS
    ]
    manifest = {
        "manifest_version": "1.0",
        "name": TITLE,
        "documents": [{"doc_id": DOC_ID, "title": TITLE, "rev": corpus.rev} | artifact(PDF)],
        "chunks": artifact("corpus/chunks.jsonl"),
        "gold": artifact("gold/goldset.jsonl"),
        "triage": {"template": "seed", "refusal": ["not in context"]},
        "goals": {"section_match_at_1": ">= 0.70", "gt_in_top_20": ">= 0.90"},
        "runs": runs,
    }
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)


def _faults(faults: Iterable[Mapping[str, Any]]) -> str:
    rows = [f"| {fault['run']} | {fault['q_id']} | {fault['kind']} | {fault['sign']} |" for fault in faults]
    head = [
        "# Planted faults",
        "",
        "The runs come from a small, honest pipeline (`tools/demo`). These faults were put in afterwards, so",
        "that every kind of trouble can be seen. Everything else is what the pipeline really did.",
        "",
        "| run | question | fault | how it shows |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _jsonl(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(item) + b"\n" for item in records)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(folder: Path) -> None:
    """Replaces the workspace in the folder: what an older build left there goes."""
    if folder.exists():
        shutil.rmtree(folder)
    for path, data in build().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=DEFAULT, help="folder to write the workspace to")
    write(parser.parse_args().to)
