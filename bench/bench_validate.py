"""The cost of validating citation payloads relative to parsing them, and its memory.

    python bench/bench_validate.py --folder SCRATCH [--payloads 1000000] [--rounds 1] [--spaced]

Writes payloads of about 470 bytes to SCRATCH (the same each time) and reads them, in one run and in turns:
with orjson alone, line by line on one process, which is the baseline, and as `proofspan validate` does on
one process and on two. Each is a process of its own, whose CPU time (its workers' included) and peak memory
(its own + that of its largest worker) are printed too. A tenth of the payloads is validated as well, to show
that memory does not grow.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson

SECTIONS = ("policies/security/keys", "policies/security/tokens", "procedures/onboarding", "reference/limits")


def payload(number: int, rng: random.Random) -> dict[str, object]:
    """A payload in which nothing is wrong, with every field that the traceability contract names."""
    start = rng.randrange(200_000)
    score = round(rng.random(), 4)
    return {
        "doc_id": f"handbook_{2000 + rng.randrange(24)}",
        "section_id": rng.choice(SECTIONS),
        "snippet_id": f"hb24-sec-keys-{number % 50_000:05d}",
        "source_url": f"https://example.org/handbook#security-keys-{rng.randrange(500)}",
        "offsets": {"start": start, "end": start + rng.randrange(40, 900), "unit": "char"},
        "tokens": rng.randrange(20, 400),
        "index_hash": "faiss:2f7d1c9a",
        "embed_model": "bge-large-en-v1.5:mean",
        "analyzer": "lowercase+ascii_fold",
        "rev": "3b91f2a",
        "window": {"pre": 120, "post": 120},
        "page": rng.randrange(1, 300),
        "score_raw": score,
        "score_norm": round(score * 0.9, 4),
        "rerank_score": round(rng.random(), 4),
        "k_pos": rng.randrange(1, 51),
        "k_final": rng.randrange(1, 9),
    }


def write(path: Path, payloads: int, *, spaced: bool = False) -> None:
    """The payloads, one a line; `spaced` with blanks between values, as Python's own json writes them."""
    rng = random.Random(0)
    with path.open("wb") as file:
        for number in range(payloads):
            made = payload(number, rng)
            file.write((json.dumps(made).encode() if spaced else orjson.dumps(made)) + b"\n")


def parse(path: Path) -> int:
    """The baseline: every line parsed and dropped."""
    lines = 0
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
            lines += 1
    return lines


def validated(workers: int) -> Callable[[Path], int]:
    """Validating as the command does."""

    def step(path: Path) -> int:
        from proofspan.services.validation import Tally, validate
        from proofspan.traces.lines.worker_process import collector_paused

        tally = Tally()
        with tempfile.TemporaryDirectory() as folder, collector_paused():
            found = validate([path], "citation", cache_dir=Path(folder), workers=workers, tally=tally)
            assert not list(found)
        return tally.read

    return step


BASE = "orjson alone"
STEPS: dict[str, Callable[[Path], int]] = {
    BASE: parse,
    "validate, one process": validated(1),
    "validate, two processes": validated(2),
}


def run_step(name: str, path: Path) -> None:
    """One step in this process: seconds, lines and peak memory in MiB as JSON on stdout."""
    STEPS[name](path.with_name("warm.jsonl"))
    started, cpu = time.perf_counter(), sum(os.times()[:4])
    lines = STEPS[name](path)
    seconds = time.perf_counter() - started
    for worker in multiprocessing.active_children():
        worker.join()  # else their CPU time is not counted
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    cpu = sum(os.times()[:4]) - cpu
    print(json.dumps({"seconds": seconds, "cpu": cpu, "lines": lines, "own": own, "workers": workers}))


def measured(name: str, path: Path) -> dict[str, float]:
    """The step in a process of its own."""
    command = [sys.executable, __file__, "--folder", str(path.parent), "--step", name, "--file", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--payloads", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument(
        "--spaced", action="store_true", help="Blanks between values, as json.dumps has them."
    )
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        run_step(arguments.step, arguments.file)
        return
    kind = "spaced" if arguments.spaced else "payloads"
    files = {count: arguments.folder / f"{kind}-{count}.jsonl" for count in _sizes(arguments.payloads)}
    write(arguments.folder / "warm.jsonl", 100)
    for count, path in files.items():
        if not path.exists():
            write(path, count, spaced=arguments.spaced)
    small, large = files.values()
    rounds = [{name: measured(name, large) for name in STEPS} for _ in range(arguments.rounds)]
    few = {name: measured(name, small) for name in STEPS}
    print(f"{arguments.payloads:,} payloads, {large.stat().st_size / 1e6:,.0f} MB")
    for name in STEPS:
        print(_line(name, [each[name] for each in rounds], [each[BASE] for each in rounds], few[name]))


def _line(
    name: str,
    found: Sequence[Mapping[str, float]],
    base: Sequence[Mapping[str, float]],
    few: Mapping[str, float],
) -> str:
    """Time and CPU time with their ratios to the baseline's in the same round, and memory."""
    cells = [f"{name:<38}"]
    for kind in ("seconds", "cpu"):
        times = [each[kind] for each in found]
        ratios = [time / each[kind] for time, each in zip(times, base, strict=True)]
        cells.append(f"{statistics.median(times):7.2f} s {kind[:3]}{statistics.median(ratios):6.2f} ×")
    peak, before = (f"{each['own']:.0f} + {each['workers']:.0f}" for each in (found[0], few))
    return "  ".join((*cells, f"{peak} MiB ({before} at a tenth)"))


def _sizes(payloads: int) -> tuple[int, int]:
    return payloads // 10, payloads


if __name__ == "__main__":
    main()
