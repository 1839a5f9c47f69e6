"""The cost of joining a run's separate records beyond parsing them, in time and memory.

    python bench/bench_join.py [--questions 20000] [--rounds 3]

A question has five records (query, 20 retrieved and 10 reranked items, prompt, answer), 3.8 KB in all. Prints
the median of joining over that of `orjson.loads` on the same lines in alternating rounds, and the peak memory
of the process, which reads one line at a time and keeps places.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path

import orjson

from proofspan.manifest.load import load_manifest
from proofspan.traces.lines.reader import read_lines
from proofspan.traces.separate.join_cache import trace_file

TYPES = ("query", "retrieved", "rerank", "prompt", "answer")


def records_of(number: int, chosen: random.Random) -> dict[str, dict[str, object]]:
    """The records of one question, by type."""
    ids = [f"manual|r=8c1e9a02|s=4.{chosen.randrange(60)}|p={each:03}|b=001" for each in range(20)]
    question = f"What holds oil filter {number}?"
    retrieved = [{"chunk_id": each, "score": 1 - place / 20} for place, each in enumerate(ids)]
    reranked = [
        {"chunk_id": each, "post_score": {"ce": chosen.random()}, "selected": place < 5}
        for place, each in enumerate(ids[:10])
    ]
    answer = {"answer_text": f"Four litres. citations: [{ids[0]}]", "cited_chunks": ids[:1], "λ_observe": "→"}
    return {
        "query": {"text": question, "lang": "en"},
        "retrieved": {"ranker": "dense", "k": 20, "items": retrieved},
        "rerank": {"k_in": 20, "k_out": 5, "items": reranked},
        "prompt": {"question": question, "citations": [{"id": each} for each in ids[:5]]},
        "answer": {**answer, "metrics": {"ΔS_q_ctx": 0.38, "latency_ms": 922}},
    }


def write_workspace(folder: Path, questions: int) -> None:
    """A workspace with one run of that many questions, as records."""
    chosen = random.Random(0)  # the same records every time
    files = {name: (folder / f"{name}.jsonl").open("wb") for name in TYPES}
    for number in range(questions):
        for name, record in records_of(number, chosen).items():
            files[name].write(orjson.dumps({"q_id": f"Q{number:06}", **record}) + b"\n")
    for file in files.values():
        file.close()
    named = {name: {"path": f"{name}.jsonl"} for name in TYPES}
    manifest = {"manifest_version": "1.0", "name": "join", "runs": [{"run_id": "R1", "records": named}]}
    (folder / "pipeline_manifest.yaml").write_bytes(orjson.dumps(manifest))


def seconds_to_parse(folder: Path) -> float:
    """Every line of every file parsed once, results dropped."""
    started = time.perf_counter()
    for name in TYPES:
        for raw in read_lines(folder / f"{name}.jsonl"):
            orjson.loads(raw.data)
    return time.perf_counter() - started


def seconds_to_join(folder: Path) -> float:
    """The run's traces from nothing, into an empty cache."""
    manifest = load_manifest(folder)
    with tempfile.TemporaryDirectory() as cache:
        started = time.perf_counter()
        found = trace_file(manifest, manifest.runs[0], cache_dir=Path(cache))
        taken = time.perf_counter() - started
    if found.path is None or found.problems:
        raise SystemExit(str(found.problems))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_workspace(folder, options.questions)
        size = sum((folder / f"{each}.jsonl").stat().st_size for each in TYPES)
        rounds = [(seconds_to_parse(folder), seconds_to_join(folder)) for _ in range(options.rounds)]
    parse, join = (statistics.median(times) for times in zip(*rounds, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{options.questions:,} questions, {size / 1e6:,.0f} MB in {len(TYPES)} files")
    print(f"parsing alone {parse:.2f} s, joining {join:.2f} s: {join / parse:.1f} times")
    print(f"peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main()
