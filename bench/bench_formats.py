"""How fast records of large files are read, in MB/s beside orjson reading the same file at once.

    python bench/bench_formats.py [--size 64] [--rounds 3]

`--size` is in MB for each file. Times are those of the processor in one process; the median over rounds that
alternate. Peak memory is what Python allocates beyond the file's own bytes being read.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from proofspan.traces.formats.registry import recognized

from proofspan.traces.formats.records import read_lists, read_records, sample_of
from proofspan.traces.formats.types import Reading

TEXT = 'The engine holds 4.5 litres of oil; check it "monthly", when it is cold. ' * 6


def rows(count: int) -> list[dict[str, Any]]:
    """Return rows of about 2.6 KB with five contexts each."""
    return [
        {
            "question": f"How much oil does engine {number} hold?",
            "response": "4.5 litres.",
            "contexts": [f"{number} {place} {TEXT}" for place in range(5)],
            "faithfulness": 0.5,
        }
        for number in range(count)
    ]


def write(folder: Path, megabytes: int) -> dict[str, Path]:
    """Write the same rows in each form."""
    made = rows(megabytes * 1_000_000 // 2_600)
    lines = [orjson.dumps(each) for each in made]
    table = io.StringIO()
    cells = csv.DictWriter(table, made[0])
    cells.writeheader()
    cells.writerows({**each, "contexts": orjson.dumps(each["contexts"]).decode()} for each in made)
    runs = b"".join(
        b"%d Q0 manual-p%d %d %.4f bm25\n" % (n // 100, n % 100, n % 100, 9.5) for n in range(len(made) * 60)
    )
    contents = {
        "lines.jsonl": b"\n".join(lines),
        "lines.jsonl.gz": gzip.compress(b"\n".join(lines), 6),
        "array.json": b"[" + b",\n".join(lines) + b"]",
        "list.json": b'{"results": [' + b",\n".join(lines) + b'], "after": 1}',
        "table.csv": table.getvalue().encode(),
        "bm25.run": runs,
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    pq.write_table(
        pa.Table.from_pylist(made), folder / "table.parquet", compression="none", use_dictionary=False
    )
    return {path.name: path for path in sorted(folder.iterdir())}


def records(path: Path) -> int:
    """Count the records of a file, reading all of them."""
    reading = Reading(path.name)
    if path.name == "list.json":
        return sum(1 for _ in read_lists(path, reading, "results", rest={}))
    return sum(1 for _ in read_records(path, reading))


def questions(path: Path) -> int:
    """Count the questions of a file in the format that is recognized."""
    found = recognized(sample_of(path))
    assert found is not None
    return sum(1 for _ in found.format.read(path, Reading(path.name)))


def at_once(path: Path) -> int:
    """Read a file of JSON with orjson, lines one by one."""
    if ".jsonl" in path.name:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return sum(1 for _ in map(orjson.loads, data.splitlines()))
    return len(orjson.loads(path.read_bytes()))


def speed(step: Callable[[Path], int], path: Path, size: int) -> float:
    """Return MB/s of processor time."""
    started = time.process_time()
    step(path)
    return size / 1e6 / (time.process_time() - started)


def peak(step: Callable[[Path], int], path: Path) -> float:
    """Return the most memory in MB that a step allocates."""
    tracemalloc.start()
    step(path)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), arguments.size)
        plain = files["lines.jsonl"].stat().st_size
        print(f"{'file':<16}{'MB':>7}{'records':>10}{'questions':>11}{'orjson':>9}{'peak MB':>9}")
        for name, path in files.items():
            size = plain if name.endswith(".gz") else path.stat().st_size
            steps: dict[str, Callable[[Path], int]] = {}
            if name != "bm25.run":
                steps["records"] = records
            if name in ("bm25.run", "table.csv", "table.parquet"):
                steps["questions"] = questions
            if ".json" in name:
                steps["orjson"] = at_once
            found: dict[str, list[float]] = {each: [] for each in steps}
            for _ in range(arguments.rounds):
                for each, step in steps.items():
                    found[each].append(speed(step, path, size))
            shown = [
                f"{statistics.median(found[each]):.0f}" if each in found else "–"
                for each in ("records", "questions", "orjson")
            ]
            memory = peak(next(iter(steps.values())), path)
            print(
                f"{name:<16}{size / 1e6:>7.1f}{shown[0]:>10}{shown[1]:>11}{shown[2]:>9}{memory:>9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
