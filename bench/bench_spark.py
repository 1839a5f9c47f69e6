"""The index by Apache Spark beside the native one on the same traces: throughput, CPU and memory of workers.

    python bench/bench_spark.py [--folder DIR] [--traces 100000] [--chunks 20000] [--rounds 1]

Native is `build_index` with two processes, Spark is `local[2]`; both read the same JSONL, without claims and
citations.
Each run is a process of its own, A B A B …, with medians and their ratio. CPU seconds count all processes of
a run, the JVM's too; those of Spark's Python workers are read twice a second. Spark runs a second time on a
tenth of the traces: the peak memory of its Python workers (VmHWM) should be that of all. Needs
proofspan[spark] and Java.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

MANIFEST = """manifest_version: "1.0"
name: bench
documents: []
chunks: {path: chunks.jsonl}
runs:
  - run_id: R1
    traces: {path: traces.jsonl}
"""
NATIVE = """
import sys
from pathlib import Path
from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index
if __name__ == "__main__":
    (run,) = build_index(load_manifest(Path(sys.argv[1])), cache_dir=Path(sys.argv[2]), workers=2).runs
    print(run.rows)
"""
SPARK = """
import os, sys
from pathlib import Path
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from proofspan import spark
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
session.sparkContext.setLogLevel("OFF")
folder = Path(sys.argv[1])
report = spark.index(
    folder / "traces.jsonl", out=sys.argv[2], workspace=folder, run_id="R1", spark=session,
    claims=False, locate=False
)
print(sum(report.traces.values()))
process = session.sparkContext._gateway.proc
session.stop()
process.stdin.close()
process.wait()
"""


class Spent(NamedTuple):
    """Wall and CPU seconds of a run, its traces, and the peak of its Python workers in MiB."""

    wall: float
    cpu: float
    traces: int
    peak: int


def main() -> None:
    """Make the traces, run both, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp(prefix="bench-spark-"))
    sizes = (args.traces // 10, args.traces)
    for count in sizes:
        made = folder / str(count)
        if not (made / "pipeline_manifest.yaml").exists():
            script = Path(__file__).with_name("make_traces.py")
            given = ["--traces", str(count), "--chunks", str(args.chunks)]
            subprocess.run([sys.executable, str(script), str(made), *given], check=True)
            (made / "pipeline_manifest.yaml").write_text(MANIFEST)
    runs: dict[str, list[Spent]] = {"native": [], "spark": []}
    for _ in range(args.rounds):
        for name, code in (("native", NATIVE), ("spark", SPARK)):
            runs[name].append(spent(code, folder / str(args.traces), folder / "out"))
            _print(name, runs[name][-1])
    small = spent(SPARK, folder / str(sizes[0]), folder / "out")
    _print("spark, a tenth", small)
    native, by_spark = (statistics.median(each.wall for each in runs[name]) for name in ("native", "spark"))
    cpu = [statistics.median(each.cpu for each in runs[name]) for name in ("native", "spark")]
    print(
        f"throughput of Spark: {native / by_spark:.2f} of native by the clock, {cpu[0] / cpu[1]:.2f} by CPU"
    )
    # The start of Spark, of the JVM and of reading chunks is in both sizes: what is left is work.
    large = runs["spark"][-1]
    rate = (large.traces - small.traces) / max(large.cpu - small.cpu, 1e-9)
    native_rate = runs["native"][-1].traces / runs["native"][-1].cpu
    print(f"traces a CPU second: native {native_rate:,.0f}, Spark beyond its start {rate:,.0f}")
    peaks = " and ".join(f"{each.peak:,} MiB at {each.traces:,} traces" for each in (small, large))
    print(f"peak memory of a Python worker: {peaks}")


def _print(name: str, run: Spent) -> None:
    rate = run.traces / run.wall
    print(
        f"{name}: {run.traces:,} traces, {run.wall:.1f} s, {run.cpu:.1f} CPU s, {rate:,.0f} a second",
        flush=True,
    )


def spent(code: str, folder: Path, out: Path) -> Spent:
    """Run a script on a folder of traces and measure it."""
    shutil.rmtree(out, ignore_errors=True)
    script = out.with_suffix(".py")
    script.write_text(code)
    done, peaks, workers = Event(), [0], dict[int, float]()
    watcher = Thread(target=_watch, args=(done, peaks, workers), daemon=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    watcher.start()
    result = subprocess.run(
        [sys.executable, str(script), str(folder), str(out)], check=True, capture_output=True, text=True
    )
    wall = time.perf_counter() - began
    done.set()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + sum(workers.values())
    return Spent(wall, cpu, int(result.stdout.split()[-1]), max(peaks))


def _watch(done: Event, peaks: list[int], workers: dict[int, float]) -> None:
    while not done.wait(0.5):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
                if b"pyspark" not in command or b"java" in command:
                    continue
                found = re.search(r"VmHWM:\s+(\d+)", (process / "status").read_text())
                times = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
            except OSError:
                continue
            if found:
                peaks.append(int(found[1]) >> 10)
            workers[int(process.name)] = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
