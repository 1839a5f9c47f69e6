"""The cost of reading a trace beyond parsing its JSON, for lines of about 4 KB with 20 candidates.

    python bench/bench_traces.py [--traces 20000] [--rounds 5]

Prints the median over alternating rounds in µs a trace, and as a share of `orjson.loads` in the same round.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
from make_traces import write

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.traces.lines.reader import parse_line, read_lines
from proofspan.traces.records.trace_record import doc_ids, measures, rank_one_place, trace_from
from proofspan.traces.records.traces import iter_traces

SOURCE = SourceLine("traces.jsonl", 1, 0, 1)


def microseconds(step: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Time a call over all items, results dropped one by one."""
    started = time.perf_counter()
    for item in items:
        step(item)
    return (time.perf_counter() - started) / len(items) * 1e6


def measure(path: Path, rounds: int) -> dict[str, list[float]]:
    """Every step's time in every round, all steps once a round."""
    lines = list(read_lines(path))
    parsed = [orjson.loads(raw.data) for raw in lines]
    traces = [trace_from(each, SOURCE, run_id=None) for each in parsed]
    assert all(isinstance(trace, Trace) for trace in traces)
    steps: dict[str, tuple[Callable[[Any], object], Sequence[Any]]] = {
        "orjson.loads": (lambda raw: orjson.loads(raw.data), lines),
        "parse_line (with the bound on depth)": (parse_line, lines),
        "trace_from": (lambda each: trace_from(each, SOURCE, run_id=None), parsed),
        "rank_one_place": (rank_one_place, traces),
        "doc_ids": (doc_ids, traces),
        "measures": (measures, traces),
    }
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, (step, items) in steps.items():
            times.setdefault(name, []).append(microseconds(step, items))
        started = time.perf_counter()
        count = sum(1 for _ in iter_traces(path, file="traces.jsonl", run_id=None))
        times.setdefault("iter_traces (all of it, from disk)", []).append(
            (time.perf_counter() - started) / count * 1e6
        )
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), traces=arguments.traces, chunks=2000, seed=0)
        times = measure(Path(folder) / "traces.jsonl", arguments.rounds)
    base = times["orjson.loads"]
    for name, found in times.items():
        share = statistics.median(each / other for each, other in zip(found, base, strict=True))
        print(f"{name:<40}{statistics.median(found):8.2f} µs {share:8.2f} × orjson.loads")


if __name__ == "__main__":
    main()
