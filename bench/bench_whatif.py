"""Time what-ifs on 10,000 traces with two logged lists, each kind of change beside reading the traces once.

    python bench/bench_whatif.py [--folder DIR] [--traces 10000]

Traces have 75 candidates from two lists of 50, a fused list of 20, a reranked one and a prompt of 5. The
anchor, reading every line of the trace file with orjson, is measured in turns with the changes, so that its
ratio holds on a busy machine; a change is limited to a second. Medians are printed, and the first time of
each change, when labels and losses are not cached yet.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from bench_index import gold_question
from make_traces import candidate, iter_traces, make_world

from proofspan.diagnosis.types import Profile
from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import check_runs
from proofspan.services.whatif.engine import what_if
from proofspan.services.whatif.lists import Lists, load_lists
from proofspan.services.whatif.sweep import sweep
from proofspan.services.whatif.types import Settings
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store

RUN, LISTS, LISTED, CANDIDATES, FUSED, PROMPT = "R1", ("bm25", "dense"), 50, 75, 20, 5
MANIFEST = """manifest_version: '1.0'
name: what-if
documents: []
chunks: {path: chunks.jsonl}
gold: {path: gold.jsonl}
runs:
- {run_id: R1, traces: {path: traces.jsonl}}
"""


def ranked(rng: random.Random, trace: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The stages of a trace: two lists that share candidates, fused, reranked, and the prompt."""
    entries = trace["chunks"]
    assert isinstance(entries, list)
    ranks: list[dict[str, int]] = []
    for _ in LISTS:  # the first candidates are more often at the top of either list
        drawn = sorted(entries, key=lambda entry: rng.random() + 0.01 * entries.index(entry))[:LISTED]
        ranks.append({entry["id"]: rank for rank, entry in enumerate(drawn, start=1)})
    known = []
    for entry in entries:
        found = {
            f"{name}_rank": of[entry["id"]]
            for name, of in zip(LISTS, ranks, strict=True)
            if entry["id"] in of
        }
        if found:
            known.append(entry | {"features": entry["features"] | found})
    retrieved = sorted(known, key=lambda entry: (min(_ranks(entry)), entry["section_id"], entry["id"]))
    fused = [entry | {"score": round(sum(1 / (60 + rank) for rank in _ranks(entry)), 6)} for entry in known]
    fused.sort(key=lambda entry: (-entry["score"], entry["section_id"], entry["id"]))
    reranked = [entry | {"score": round(rng.random(), 6)} for entry in fused[:FUSED]]
    reranked.sort(key=lambda entry: (-entry["score"], entry["section_id"], entry["id"]))
    yield "stages", {"retrieved": retrieved, "fused": fused[:FUSED], "reranked": reranked}
    yield "chunks", reranked[:PROMPT]


def _ranks(entry: dict[str, dict[str, int]]) -> list[int]:
    return [entry["features"][f"{name}_rank"] for name in LISTS if f"{name}_rank" in entry["features"]]


def make_workspace(folder: Path, traces: int) -> None:
    """A workspace of `traces` questions with gold over 20,000 chunks, made once."""
    if (folder / "pipeline_manifest.yaml").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng, world = random.Random(3), make_world(20_000)
    chunks = {}
    with (folder / "chunks.jsonl").open("wb") as out:
        for place, (chunk_id, text) in enumerate(world.texts.items()):
            chunks[chunk_id] = {"chunk_id": chunk_id, **candidate(rng, chunk_id, 0), "text": text}
            del chunks[chunk_id]["features"], chunks[chunk_id]["score"], chunks[chunk_id]["id"]
            out.write(orjson.dumps(chunks[chunk_id] | {"order_in_section": place % 200}) + b"\n")
    with (folder / "traces.jsonl").open("wb") as out, (folder / "gold.jsonl").open("w") as gold:
        for trace in iter_traces(world, traces, candidates=CANDIDATES):
            found = trace | dict(ranked(rng, trace))
            out.write(orjson.dumps(found) + b"\n")
            stages = found["stages"]
            assert isinstance(stages, dict)
            listed = [entry["id"] for entry in stages["retrieved"]]
            chunk = chunks[rng.choice(listed[:30] if rng.random() < 0.9 else list(chunks)[:1_000])]
            gold.write(json.dumps(gold_question(rng, trace, chunk)) + "\n")
    (folder / "pipeline_manifest.yaml").write_text(MANIFEST, encoding="utf-8")


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def changes(lists: Lists) -> dict[str, list[Callable[[], object]]]:
    """Calls by kind of change, each of other values, so that nothing but the first is cached."""

    def of(*settings: Settings) -> list[Callable[[], object]]:
        return [lambda each=each: what_if(lists, each) for each in settings]  # type: ignore[misc]

    ks = [float(k) for k in range(1, 21)]
    return {
        "fusion: k": of(*(Settings(k=k) for k in (5.0, 10.0, 20.0, 30.0, 100.0))),
        "fusion: weights, top": of(
            *(Settings(weights=(("bm25", w),), top=10) for w in (0.5, 1.5, 2.0, 3.0, 4.0))
        ),
        "rerank": of(*(Settings(rerank=(("ce", 1.0), ("dense", w))) for w in (0.0, 0.5, 1.0, 2.0, 4.0))),
        "reranker off": of(*[Settings(is_unranked=True)] * 5),
        "prompt": of(*(Settings(prompt=n) for n in (1, 2, 3, 8, 10))),
        "profile": of(*(Settings(profile=Profile("none", (f"phrase {n}",))) for n in range(5))),
        "support": of(*(Settings(support=s) for s in (0.2, 0.3, 0.4, 0.6, 0.7))),
        "sweep of 20 (k)": [lambda: sweep(lists, Settings(), "k", "", ks, "section_match_at_1")] * 3,
        "sweep of 20 (k), of labels": [lambda: sweep(lists, Settings(), "k", "", ks, "ok")] * 3,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--traces", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        make_workspace(folder, options.traces)
        manifest, cache = load_manifest(folder), folder / "cache"
        build_index(manifest, cache_dir=cache)
        list(check_runs(manifest, [RUN], cache_dir=cache))
        store = Store(manifest, cache)
        kept: list[Lists] = []
        loading = seconds(lambda: kept.append(load_lists(manifest, RUN, store)))
        (lists,) = kept

        def anchor() -> float:
            return seconds(lambda: [orjson.loads(line) for line in (folder / "traces.jsonl").open("rb")])

        first_logged = seconds(lambda: what_if(lists, Settings()))
        print(f"{lists.questions:,} questions, {lists.shape[1]} candidates at most")
        print(f"lists read once: {loading:.2f} s; the run's own settings and numbers: {first_logged:.2f} s")
        for kind, calls in changes(lists).items():
            times, anchors = [], []
            for call in calls:
                anchors.append(anchor())
                times.append(seconds(call))
            median, beside = statistics.median(times), statistics.median(anchors)
            print(
                f"{kind:28s} first {times[0]:6.3f} s  median {median:6.3f} s  "
                f"{median / beside:5.2f} times reading the traces ({beside:.2f} s)"
            )


if __name__ == "__main__":
    main()
