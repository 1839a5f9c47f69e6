"""Chunk ids of a large file: audits and redirects, against reading the file.

    python bench/bench_chunk_ids.py [--chunks 100000] [--rounds 3]

Reading is the program's own: a line parsed, its fields checked. The older file of the redirects is the newer
one before one change for every twenty chunks: paragraphs put in, left out, split, merged, edited, and whole
sections put in, which renumbers all that follow. "All edited" changes a word of every chunk besides, so that
no text is equal. Medians and their ratios are printed, and how many redirects are the true ones.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proofspan.contracts.chunk_ids.audit import audit_chunks
from proofspan.contracts.chunk_ids.redirects import redirects_between
from proofspan.contracts.records.records import Chunk
from proofspan.traces.records.chunks import read_chunks
from tests.rechunked import rechunked, right

BLOCKS = 50


def timed(work: Callable[[], object]) -> float:
    """CPU seconds of one call: they hold on a machine that is busy with something else."""
    start = time.process_time()
    work()
    return time.process_time() - start


def write(path: Path, chunks: dict[str, Chunk]) -> Path:
    """The chunks as a file that could be a pipeline's."""
    with path.open("wb") as file:
        for order, chunk in enumerate(chunks.values(), start=1):
            fields = {"doc_id": chunk.doc_id, "section_id": chunk.section_id, "order_in_section": order}
            record = {"chunk_id": chunk.chunk_id, **fields, "text": chunk.text}
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    return path


def edited(chunks: dict[str, Chunk]) -> dict[str, Chunk]:
    """The chunks with a word of each changed."""
    source = random.Random(7)

    def edit(chunk: Chunk) -> Chunk:
        words = chunk.text.split()
        words[source.randrange(len(words))] = f"edited{source.randrange(10**6)}"
        return replace(chunk, text=" ".join(words))

    return {name: edit(chunk) for name, chunk in chunks.items()}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    sections = max(1, asked.chunks // BLOCKS)
    change = rechunked(1, sections=sections, blocks=BLOCKS, changes=asked.chunks // 20)
    rewritten = edited(change.new)
    with tempfile.TemporaryDirectory() as folder:
        file = write(Path(folder) / "chunks.jsonl", change.new)
        chunks = tuple(read_chunks(file, file="chunks.jsonl")[0].values())
        work: dict[str, Callable[[], object]] = {
            "reading": lambda: read_chunks(file, file="chunks.jsonl"),
            "audits without documents": lambda: audit_chunks(chunks, revs={"book": "8c1e9a02"}),
            "redirects": lambda: redirects_between(change.old, change.new),
            "redirects, all edited": lambda: redirects_between(change.old, rewritten),
        }
        took: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(asked.rounds):
            for name, call in work.items():
                took[name].append(timed(call))
    medians = {name: statistics.median(times) for name, times in took.items()}
    for name, seconds in medians.items():
        each, ratio = 1e6 * seconds / len(change.new), seconds / medians["reading"]
        print(f"{name:28} {seconds:7.2f} CPU s  {each:7.1f} µs a chunk  {ratio:6.2f} times")
    found = redirects_between(change.old, change.new).redirects
    true = sum(right(each, change.truth[each.old_id]) for each in found)
    print(f"{true:,} of {len(found):,} redirects are the true ones")


if __name__ == "__main__":
    main()
