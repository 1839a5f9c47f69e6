"""Metrics, Trends and Compare against their figures, beside plain Python over the same files.

    python bench/bench_metrics.py [--folder DIR] [--part run|trends|compare …] [--rounds 3]

Three workspaces with gold are made by make_runs.py in DIR and indexed (all three take some minutes and 2 GB):
one run of 1,000,000 traces, 30 runs of 1,000 questions, two runs of 100,000. Each measurement runs in a
process of its own; printed are medians by the clock and of the processor (both cores added up; they hold on a
machine that is busy with something else), the ratio to the baseline, and the largest peak memory. A store has
read nothing yet when it is asked, as after a restart; "fresh" is a process that never asked anything, "warm"
one that asked the same of a small workspace. The baseline reads the same trace files line by line with orjson
and works out six of the numbers (SectionMatch@1, GT-in-top-20, MRR, share of refusals, ΔS mean and p95) or,
for Compare, the flips.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from make_runs import write

from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

SIZES = {"run": (1, 1_000_000), "trends": (30, 1_000), "compare": (2, 100_000)}
#: What has to hold, in seconds; and in MB for a process.
FIGURES = {"run": 5.0, "trends": 0.3, "compare": 0.7}
MOST_MB = 1_000


def all_metrics(store: Store) -> None:
    """Every metric of a run."""
    store.measure(Filter("R001"))


def trends(store: Store) -> None:
    """Run the queries of the Trends page: metrics, buckets, states, refusals and ranks of all runs."""
    runs = store.runs()
    for run in store.run_sums(runs):
        shown = Filter(run)
        store.measure(shown)
        store.bucket_counts(shown)
        store.state_counts(shown)
        store.refusal_table(shown)
    store.ranks(runs)


def compare(store: Store) -> None:
    """Run the queries of the Compare page: transitions, flips, paired numbers, first flipped questions."""
    shown = Filter("R002", vs="R001")
    store.transitions(shown, "label")
    store.transitions(shown, "bucket")
    store.flips(shown)
    store.paired(shown, ("ndcg_at_10", "delta_s_mean"))
    store.flip_rows(shown, "fixed", 50, 0)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as stream:
        yield from map(orjson.loads, stream)


def plain_numbers(folder: Path, run: str) -> dict[str, bool]:
    """Six numbers of a run in plain Python; gives which questions had their section at rank 1."""
    chunks, gold = folder / "chunks.jsonl", folder / "gold.jsonl"
    sections = {each["chunk_id"]: (each["doc_id"], each["section_id"]) for each in read_lines(chunks)}
    wanted = {each["q_id"]: {sections[c] for c in each.get("chunks", ())} for each in read_lines(gold)}
    first: dict[str, bool] = {}
    found, reciprocal, refused, distances = 0, 0.0, 0, []
    for trace in read_lines(folder / f"{run}.jsonl"):
        right = wanted[trace["q_id"]]
        ranks = [place for place, each in enumerate(trace["chunks"], 1) if sections[each["id"]] in right]
        first[trace["q_id"]] = ranks[:1] == [1]
        found += bool(ranks) and ranks[0] <= 20
        reciprocal += 1 / ranks[0] if ranks else 0.0
        refused += "not in context" in trace["answer"]
        distances.append(trace["ΔS"])
    distances.sort()
    _ = sum(distances) / len(distances), distances[round(0.95 * len(distances))]
    return first


def plain_run(folder: Path) -> None:
    """The baseline of a run."""
    plain_numbers(folder, "R001")


def plain_trends(folder: Path) -> None:
    """The baseline of Trends."""
    for run in range(1, 31):
        plain_numbers(folder, f"R{run:03d}")


def plain_compare(folder: Path) -> None:
    """The baseline of Compare."""
    was, is_now = plain_numbers(folder, "R001"), plain_numbers(folder, "R002")
    _ = sum(is_now[q_id] and not was[q_id] for q_id in is_now)


ASKED: dict[str, Callable[[Store], None]] = {
    "run": all_metrics,
    "trends": trends,
    "compare": compare,
}
PLAIN: dict[str, Callable[[Path], None]] = {
    "run": plain_run,
    "trends": plain_trends,
    "compare": plain_compare,
}


def warm_up(cache: Path) -> None:
    """Import everything and query another workspace, as a server has done before a visit."""
    folder = cache.parent / "warm"
    write(folder, runs=2, questions=20)
    manifest = load_manifest(folder)
    build_index(manifest, cache_dir=cache)
    store = Store(manifest, cache)
    trends(store)
    compare(store)


def measured(name: str, kind: str, folder: Path, cache: Path) -> dict[str, float]:
    """Seconds and peak memory of this process, which does nothing else."""
    if kind == "warm":
        warm_up(cache)
    store = Store(load_manifest(folder), cache)
    begin, cpu = time.perf_counter(), time.process_time()
    if kind == "plain":
        PLAIN[name](folder)
    else:
        ASKED[name](store)
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_process(name: str, kind: str, folder: Path, cache: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", name, kind, str(folder), str(cache)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def report(part: str, folder: Path, cache: Path, rounds: int) -> None:
    """One workspace: ours and the baseline in turns."""
    kind = "fresh" if part == "run" else "warm"
    asked = [(part, kind), (part, "plain")]
    times: dict[tuple[str, str], list[dict[str, float]]] = {each: [] for each in asked}
    for _ in range(rounds):
        for name, how in asked:
            times[name, how].append(in_process(name, how, folder, cache))
    plain = median_of(times[part, "plain"], "seconds")
    print(f"\n{part}: {SIZES[part][0]} run(s) of {SIZES[part][1]:,} questions")
    print(f"  {'':<18}{'clock':>10}{'processor':>12}{'baseline / this':>17}{'peak':>10}")
    for (name, how), found in times.items():
        seconds, cpu = median_of(found, "seconds"), median_of(found, "cpu")
        text = f"  {name + ', ' + how:<18}{1000 * seconds:>7,.0f} ms{1000 * cpu:>9,.0f} ms"
        text += f"{plain / seconds:>17.1f}{max(each['mb'] for each in found):>7,.0f} MB"
        is_figure = name == part and how != "plain"
        print(text + (f"   figure: {1000 * FIGURES[part]:,.0f} ms, {MOST_MB:,} MB" if is_figure else ""))


def median_of(found: list[dict[str, float]], name: str) -> float:
    return statistics.median(each[name] for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--part", choices=SIZES, action="append")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, kind, folder, cache = options.measure
        print(json.dumps(measured(name, kind, Path(folder), Path(cache))))
        return
    with tempfile.TemporaryDirectory() as temporary:
        base = options.folder or Path(temporary)
        for part in options.part or SIZES:
            runs, questions = SIZES[part]
            write(base / part, runs=runs, questions=questions)
            begin = time.perf_counter()
            build_index(load_manifest(base / part), cache_dir=base / "cache")
            print(f"{part}: indexed in {time.perf_counter() - begin:.0f} s")
            report(part, base / part, base / "cache", options.rounds)


if __name__ == "__main__":
    main()
