"""How fast the files of other tools are read, and in how much memory, beside orjson reading them at once.

    python bench/bench_formats.py [--size 10] [--rounds 3] [--memory 2,8] [FORMAT ...]

`--size` is in MB for each file: at 10, what recognizing a format costs once weighs little beside the stream.
The files are copies of each format's example as it is ("short") and with passages of 600 characters ("long").
MB/s are of processor time and of a file's bytes unpacked: the median of rounds in which reading and orjson
alternate, and ± half the distance from the slowest to the fastest. orjson parses the lines of the same file
one by one, or its one value at once, and keeps nothing. Memory is the growth of the process at its peak for
long files of the two sizes of `--memory`: where both are about the same, it does not grow with the file.
Where `PROOFSPAN_REAL_DATA` names a folder with real files of a format, a second table has the speed of copies
of these.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson
from format_files import REAL, forms, write, write_real

from proofspan.manifest.contents import content_of
from proofspan.traces.formats.records import beginning_of_large, sample_of
from proofspan.traces.formats.types import Format, Reading
from proofspan.traces.registry import FORMATS, recognized

T = TypeVar("T")

#: Linux's proc(5): 5 makes the peak memory of a process that of now.
_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class Speed(NamedTuple):
    """MB/s: the median of rounds, and half the distance between the slowest and the fastest."""

    median: float
    spread: float

    @classmethod
    def of(cls, seconds: list[float], size: int) -> Speed:
        speeds = [size / 1e6 / each for each in seconds]
        return cls(statistics.median(speeds), (max(speeds) - min(speeds)) / 2)


def questions(path: Path, each: Format, *, may_lose: bool = False) -> int:
    """Read a file in the format that is recognized, and return how many questions it has.

    It may lose spans of copies that are joined by their times, since all copies have the same.
    """
    for known in (content_of, beginning_of_large):  # each reading is the first of its file
        known.cache_clear()
    found = recognized(sample_of(path))
    assert found is not None and found.format is each, (path, found)
    reading = Reading(path.name)
    asked = sum(1 for _ in each.read(path, reading))
    assert asked and (may_lose or not reading.lost), (path, asked, reading.problems[:3])
    return asked


def at_once(path: Path) -> None:
    """Read a file of JSON with orjson, lines one by one."""
    if path.suffix == ".jsonl":
        with path.open("rb") as source:
            for line in source:
                orjson.loads(line)
    else:
        orjson.loads(path.read_bytes())


def seconds(step: Callable[[], object]) -> float:
    """Return the processor time of a step."""
    gc.collect()
    started = time.process_time()
    step()
    return time.process_time() - started


def size_of(path: Path) -> int:
    """Return the bytes of a file, unpacked."""
    if path.suffix in (".zip", ".eval") or zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return sum(each.file_size for each in archive.infolist())
    if path.suffix == ".gz":
        with gzip.open(path) as source:
            return sum(map(len, iter(lambda: source.read(1 << 20), b"")))
    return path.stat().st_size


def speeds(path: Path, each: Format, rounds: int, may_lose: bool) -> tuple[Speed, Speed | None]:
    """Return the speed of reading a file as a format, and of orjson where it is JSON."""
    size, is_json = size_of(path), path.suffix in (".json", ".jsonl")
    own: list[float] = []
    plain: list[float] = []
    for _ in range(rounds):
        own.append(seconds(lambda: questions(path, each, may_lose=may_lose)))
        if is_json:
            plain.append(seconds(lambda: at_once(path)))
    return Speed.of(own, size), Speed.of(plain, size) if plain else None


def resident(name: str) -> float:
    """Return a size of the process in MB: "VmRSS" now, "VmHWM" at its peak."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6


def growth(path: Path, each: Format) -> float:
    """Return by how many MB the process grows at its peak while it reads a file."""
    gc.collect()
    before = resident("VmRSS")
    _CLEAR.write_text("5")
    questions(path, each)
    return resident("VmHWM") - before


def in_a_process(step: Callable[..., T], *arguments: object) -> T:
    """Return what a step returns in a process of its own, so that nothing of other files is in its memory."""
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run(out: Connection) -> None:
        out.send(step(*arguments))

    process = context.Process(target=run, args=(theirs,))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()


def measured(path: Path, each: Format, rounds: int, *, may_lose: bool = False) -> list[str]:
    """Return the cells of a file's speed, and of its ratio to orjson's."""
    own, plain = in_a_process(speeds, path, each, rounds, may_lose)
    return [f"{own.median:.0f} ± {own.spread:.0f}", f"{own.median / plain.median:.2f}" if plain else "–"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--size", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="2,8")
    arguments = parser.parse_args()
    sizes = [float(each) for each in arguments.memory.split(",") if each]
    memory = " and ".join(f"{each:g}" for each in sizes)
    print(f"| format | form | short, MB/s | of orjson | long, MB/s | of orjson | memory at {memory} MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    wanted = [each for each in FORMATS if not arguments.formats or each.name in arguments.formats]
    size = int(arguments.size * 1e6)
    for each in wanted:
        for form in forms(each):
            cells = [each.title, form]
            with tempfile.TemporaryDirectory() as folder:
                for long in (False, True):
                    cells += measured(
                        write(each, form, Path(folder), size, long=long), each, arguments.rounds
                    )
                grown = []
                for megabytes in sizes:
                    path = write(each, form, Path(folder), int(megabytes * 1e6), long=True)
                    grown.append(f"{in_a_process(growth, path, each):.0f}")
                cells.append(", ".join(grown))
            print(f"| {' | '.join(cells)} |", flush=True)
    if not (data := os.environ.get("PROOFSPAN_REAL_DATA")):
        return
    print("\n| format | copies of | MB/s | of orjson |\n|---|---|---|---|")
    for each in wanted:
        with tempfile.TemporaryDirectory() as folder:
            real = write_real(each, Path(data), Path(folder), size)
            if real is not None:
                speed = measured(real, each, arguments.rounds, may_lose=each.name == "openinference")
                cells = [each.title, REAL[each.name][1], *speed]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
