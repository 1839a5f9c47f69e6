"""Triage against the reference script, side by side in one run.

    PROOFSPAN_REFERENCE=…/reflect_reference.py python bench/bench_triage.py [DATA]

DATA is a folder made by make_traces.py; without one, 100,000 traces over 20,000 chunks are made in a
temporary folder. Timed is the labelling alone, labels and signals; reading, parsing and writing are not. Ours
includes preparing the corpus. The reference, whose time does not depend on what it has seen, runs on one
batch in ten, in turns with ours, and its outcomes are compared on the way. Two processes run at once, each on
every other batch with a corpus of its own; their rate is that of the slower one.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from types import ModuleType

import orjson

sys.path.insert(0, str(Path(__file__).parent))

from make_traces import write

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.trace_record import trace_from

BATCH = 1000
SOURCE = SourceLine("traces.jsonl", 1, 0, 0)
OUTCOME = ("q", "label", "why", "chunks", "citations_in_answer")
Records = list[dict[str, object]]


def reference_module() -> ModuleType:
    path = os.environ.get("PROOFSPAN_REFERENCE")
    if not path:
        sys.exit("PROOFSPAN_REFERENCE is not set: it names the reference script to compare with")
    spec = importlib.util.spec_from_file_location("reflect_reference", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_chunks(data: Path) -> dict[str, str]:
    with (data / "chunks.jsonl").open("rb") as stream:
        return {chunk["chunk_id"]: chunk["text"] for chunk in map(orjson.loads, stream)}


def batches(data: Path, *, part: int = 0, parts: int = 1) -> Iterator[Records]:
    """Parsed traces, a thousand at a time; `part` of `parts` takes every parts-th batch."""
    with (data / "traces.jsonl").open("rb") as stream:
        for number in itertools.count():
            lines = list(itertools.islice(stream, BATCH))
            if not lines:
                return
            if number % parts == part:
                yield [orjson.loads(line) for line in lines]


def run(
    data: Path, *, part: int = 0, parts: int = 1, reference: ModuleType | None = None
) -> dict[str, float]:
    """Seconds and counts of one process; with a reference, also its seconds and the outcomes that differ."""
    chunks = read_chunks(data)
    started = perf_counter()
    corpus = Corpus(chunks)
    _ = corpus.survey
    times = {"prepare": perf_counter() - started, "canonical": 0.0, "ours": 0.0, "reference": 0.0}
    counts = {"traces": 0, "compared": 0, "different": 0}
    profile = Profile()
    for number, records in enumerate(batches(data, part=part, parts=parts)):
        started = perf_counter()
        traces = [
            trace for each in records if isinstance(trace := trace_from(each, SOURCE, run_id=""), Trace)
        ]
        made = perf_counter()
        rows = [reflect(trace, corpus, profile) for trace in traces]
        done = perf_counter()
        times["canonical"] += made - started
        times["ours"] += done - made
        counts["traces"] += len(rows)
        if reference and number % 10 == 0:
            started = perf_counter()
            expected = [reference.reflect_one(record, chunks) for record in records]
            times["reference"] += perf_counter() - started
            counts["compared"] += len(expected)
            for row, outcome in zip(rows, expected, strict=True):
                got = [list(v) if isinstance(v := getattr(row, name), tuple) else v for name in OUTCOME]
                counts["different"] += got != [outcome[name] for name in OUTCOME]
        del records, traces, rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**times, **counts, "peak_mb": peak}


def run_in_processes(data: Path, parts: int) -> list[dict[str, float]]:
    """The same in several processes at once, each on its share of the batches."""
    command = [sys.executable, __file__, str(data), "--parts", str(parts), "--part"]
    started = [subprocess.Popen([*command, str(part)], stdout=subprocess.PIPE) for part in range(parts)]
    return [orjson.loads(process.communicate()[0]) for process in started]


def report(data: Path) -> None:
    one = run(data, reference=reference_module())
    gc.collect()
    many = run_in_processes(data, 2)
    reference = one["compared"] / one["reference"]
    rates = {
        "one process": one["traces"] / (one["prepare"] + one["ours"]),
        "one process, canonical record included": one["traces"]
        / (one["prepare"] + one["canonical"] + one["ours"]),
        "two processes": sum(each["traces"] for each in many)
        / max(each["prepare"] + each["ours"] for each in many),
    }
    print(f"{one['traces']:,.0f} traces, {one['compared']:,.0f} compared, {one['different']:.0f} different")
    print(f"{'reference':<42}{reference:>10,.0f} records/s")
    for name, rate in rates.items():
        print(f"{name:<42}{rate:>10,.0f} records/s {rate / reference:>6.1f} times the reference")
    print(f"preparing the corpus took {one['prepare']:.2f} s")
    peaks = ", ".join(f"{each['peak_mb']:,.0f}" for each in [one, *many])
    print(f"peak memory a process: {peaks} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--part", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--parts", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.parts > 1:
        print(orjson.dumps(run(options.data, part=options.part, parts=options.parts)).decode())
    elif options.data:
        report(options.data)
    else:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), traces=100_000, chunks=20_000, seed=0)
            report(Path(folder))


if __name__ == "__main__":
    main()
