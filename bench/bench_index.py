"""The index against its figures: cost beside triage, growth, queries after reopening, and appended lines.

    python bench/bench_index.py [--folder DIR] [--traces 100000] [--large] [--rounds 3]
        [--notices | --gold | --appends | --once]

Each measurement runs in a process of its own, A B A B …; medians and their ratios are printed. `--large`
takes 1,000,000 traces (about 4 GB in DIR, some minutes) for growth and queries; `--once` only indexes as many
as `--traces` names (5,000,000 are 18 GB). "Triage alone" is the time spent in `reflect` and in preparing the
corpus, reading and writing excluded; "reading + triage" parses the lines too. CPU seconds are
printed beside: they hold on a machine that is busy with something else.
`--notices` measures the index without and with a catalogue instead: two warnings in every third section, none
of which any answer mentions, so that a quarter of all traces have to be searched.
`--gold` measures it without and with gold: a question of its own for every trace, with a chunk, a span and an
anchor, one in twenty without an answer. That is the most that gold can cost.
`--appends` measures only lines that are appended to the file of an index, each round in a process of its own.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from make_traces import sentence, vocabulary

from proofspan.contracts.records.records import Trace, TraceKey
from proofspan.diagnosis.types import Profile
from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.index.labelling import Inputs, SideFile, labeller_for
from proofspan.store.index.plan import Range, cut, segment_bytes
from proofspan.store.index.scan import spare_pandas
from proofspan.store.query.filters import Filter, Sort
from proofspan.traces.records.traces import iter_traces

RUN = "R1"
BATCH = 2_000
APPENDED = 1_000
#: The fewest rounds of appending, each after the last one.
APPENDS = 5
MANIFEST = f"""manifest_version: "1.0"
name: bench
documents: []
chunks: {{path: chunks.jsonl}}
runs:
  - run_id: {RUN}
    traces: {{path: traces.jsonl}}
"""

WITH_NOTICES = "with_notices.yaml"
CATALOGUE = "catalogue: {path: catalogue.jsonl}\n"
WITH_GOLD = "with_gold.yaml"
GOLD = "gold: {path: gold.jsonl}\n"

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")


def make_workspace(folder: Path, traces: int) -> Path:
    """A workspace of `traces` traces over 20,000 chunks, made once."""
    if not (folder / "traces.jsonl").exists():
        maker = Path(__file__).with_name("make_traces.py")
        subprocess.run([sys.executable, str(maker), str(folder), "--traces", str(traces)], check=True)
    (folder / "pipeline_manifest.yaml").write_text(MANIFEST, encoding="utf-8")
    (folder / WITH_NOTICES).write_text(MANIFEST + CATALOGUE, encoding="utf-8")
    (folder / "catalogue.jsonl").write_text("".join(notices()), encoding="utf-8")
    (folder / WITH_GOLD).write_text(MANIFEST + GOLD, encoding="utf-8")
    return folder


def notices() -> Iterator[str]:
    """Two warnings in every third section of `make_traces`, of words of its own."""
    rng = random.Random(7)
    words, weights = vocabulary(rng)
    for doc, section in itertools.product(range(100), range(0, 20, 3)):
        place = {"doc_id": f"doc-{doc:04d}", "section_id": f"{section // 4 + 1}.{section % 4 + 1}"}
        for number in (1, 2):
            text = " ".join(sentence(rng, words, weights, words[:60]) for _ in range(2))
            record = {"attachment_id": f"w-{doc}-{section}-{number}", "kind": "warning", "text": text}
            yield json.dumps(record | place) + "\n"


def make_gold(folder: Path) -> None:
    """A gold question for every trace of the workspace, most of them about a chunk that it lists."""
    rng = random.Random(11)
    with (folder / "chunks.jsonl").open("rb") as stream:
        chunks = {chunk["chunk_id"]: chunk for chunk in map(json.loads, stream)}
    with (folder / "traces.jsonl").open("rb") as traces, (folder / "gold.jsonl").open("w") as out:
        for trace in map(json.loads, traces):
            listed = [candidate["id"] for candidate in trace["chunks"]]
            chunk = chunks[rng.choice(listed if rng.random() < 0.9 else list(chunks)[:1_000])]
            out.write(json.dumps(gold_question(rng, trace, chunk)) + "\n")


def gold_question(rng: random.Random, trace: dict[str, Any], chunk: dict[str, Any]) -> dict[str, object]:
    """The question of a trace, answered by twenty words of a chunk."""
    asked: dict[str, object] = {"q_id": trace["q_id"], "q": trace["q"]}
    if rng.random() < 0.05:
        return asked | {"answerable": False}
    words = chunk["text"].split()
    start = rng.randrange(len(words) - 20)
    span = {"doc_id": chunk["doc_id"], "page_idx": chunk["page_idx"]}
    span["quote"] = " ".join(words[start : start + 20])
    anchor = " ".join(words[start + 3 : start + 12])
    return asked | {"chunks": [chunk["chunk_id"]], "spans": [span], "anchor": anchor}


def batches(path: Path, part: Range) -> Iterator[list[Trace]]:
    """The traces of a range, parsed some thousands at a time."""
    found = iter_traces(
        path, file="traces.jsonl", run_id=RUN, offset=part.start, line=part.line, end=part.end
    )
    traces = (item for item in found if isinstance(item, Trace))
    while batch := list(itertools.islice(traces, BATCH)):
        yield batch


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


@contextmanager
def measured(into: list[Cost]) -> Iterator[None]:
    """Adds what a block of this process costs."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into.append(Cost(time.perf_counter() - wall, time.process_time() - cpu))


def triage_share(folder: str, share: list[Range]) -> tuple[float, float, float]:
    """Of some ranges of the file: seconds of triage alone by the clock and of the processor, and of all."""
    costs: list[Cost] = []
    gc.disable()  # as the index does
    begin = time.perf_counter()
    with measured(costs):
        labeller = labeller_for(Inputs(Profile(), SideFile(Path(folder) / "chunks.jsonl", "chunks.jsonl")))[0]
    for part in share:
        for batch in batches(Path(folder) / "traces.jsonl", part):
            with measured(costs):
                for trace in batch:
                    labeller.verdict(trace)
    return sum(c.wall for c in costs), sum(c.cpu for c in costs), time.perf_counter() - begin


def shares(folder: Path, workers: int) -> list[list[Range]]:
    """The ranges of the file, dealt out to the processes."""
    path = folder / "traces.jsonl"
    size = path.stat().st_size
    parts = list(cut(path, start=0, line=1, end=size, target=segment_bytes(size)))
    return [parts[number::workers] for number in range(workers)]


def part_triage(folder: Path, workers: int) -> dict[str, float]:
    """Seconds of labels and signals alone: the slowest process by the clock, all by processor time."""
    dealt = shares(folder, workers)
    if workers == 1:
        found = [triage_share(str(folder), dealt[0])]
    else:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(triage_share, [str(folder)] * workers, dealt))
    walls, cpus, with_reading = zip(*found, strict=True)
    return {"wall": max(walls), "cpu": sum(cpus), "with_reading": max(with_reading)}


def part_noticed(folder: Path, workers: int) -> dict[str, float]:
    """The same with a catalogue of warnings."""
    return part_index(folder / WITH_NOTICES, workers)


def part_held(folder: Path, workers: int) -> dict[str, float]:
    """The same with gold."""
    return part_index(folder / WITH_GOLD, workers)


def part_index(workspace: Path, workers: int) -> dict[str, float]:
    """Seconds of building the whole index in an empty folder, as the command does."""
    spare_pandas()
    with tempfile.TemporaryDirectory(dir=workspace.parent) as cache:
        before, started = cpu_of_all(), time.perf_counter()
        report = build_index(load_manifest(workspace), cache_dir=Path(cache), workers=workers)
        wall = time.perf_counter() - started
        for process in active_children():  # what they used counts once they have ended
            process.join()
        cpu = cpu_of_all() - before
    return {"wall": wall, "cpu": cpu, "rows": report.runs[0].rows}


def cpu_of_all() -> float:
    """Processor seconds of this process and of those it started that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def part_query(folder: Path, workers: int) -> dict[str, float]:
    """Seconds of what a person does after opening an index that is there already."""
    from proofspan.store.query.store import Store  # not at the top: worker processes import this file again

    manifest = load_manifest(folder)
    failures = Filter(RUN, label=("generation_drift", "retrieval_drift"))
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = work()
        seconds[name] = time.perf_counter() - started
        return result

    def page(shown: Filter, offset: int = 0, by: str = "worst") -> DataFrame:
        return store.page(shown, Sort(by), limit=100, offset=offset)

    started = time.perf_counter()
    store = Store(manifest, folder / "cache")
    first = page(failures)
    seconds["first page of failures"] = time.perf_counter() - started
    timed("page 2", lambda: page(failures, 100))
    timed("page 100, by coverage", lambda: page(failures, 10_000, "answer_coverage"))
    timed("first search in questions", lambda: page(Filter(RUN, text="valve", questions_only=True)))
    timed("search in questions", lambda: page(Filter(RUN, text="torque", questions_only=True)))
    timed("first search in answers too", lambda: page(Filter(RUN, text="valve")))
    timed("search in answers too", lambda: page(Filter(RUN, text="torque")))
    timed("counts by label", lambda: store.counts(failures))
    timed("first filter by document", lambda: page(Filter(RUN, doc=("doc-0003",))))
    timed("choices of the filters", lambda: store.options(RUN))
    key = TraceKey(RUN, str(first["q_id"][50]))
    timed("first step to a neighbour", lambda: store.neighbours(failures, Sort(), key))
    timed("step to a neighbour", lambda: store.neighbours(failures, Sort(), key))
    timed("find a trace", lambda: store.find(key))
    return seconds


def part_append(folder: Path, workers: int) -> dict[str, float]:
    """Appends lines under ids of their own to the file and refreshes the index."""
    spare_pandas()
    manifest, path = load_manifest(folder), folder / "traces.jsonl"
    own_id = f'"q_id":"N{path.stat().st_size}-'.encode()
    with path.open("rb") as stream:
        lines = [next(stream).replace(b'"q_id":"Q', own_id) for _ in range(APPENDED)]
    with path.open("ab") as stream:
        stream.writelines(lines)
    before, started = cpu_of_all(), time.perf_counter()
    (run,) = build_index(manifest, cache_dir=folder / "cache").runs
    wall = time.perf_counter() - started
    return {"wall": wall, "cpu": cpu_of_all() - before, "lines_read": run.lines_read}


PARTS = {
    "triage": part_triage,
    "index": part_index,
    "noticed": part_noticed,
    "held": part_held,
    "query": part_query,
    "append": part_append,
}


def measure(part: str, folder: Path, workers: int = 1) -> dict[str, float]:
    """Runs one part in a process of its own; adds the peak memory of its largest process in MB."""
    command = [sys.executable, __file__, "--part", part, "--folder", str(folder), "--workers", str(workers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compare(folder: Path, workers: int, rounds: int) -> None:
    """Index against triage alone, side by side."""
    runs = [(measure("triage", folder, workers), measure("index", folder, workers)) for _ in range(rounds)]

    def median(which: int, name: str) -> float:
        return statistics.median(pair[which][name] for pair in runs)

    wall, cpu, reading = median(0, "wall"), median(0, "cpu"), median(0, "with_reading")
    index_wall, index_cpu = median(1, "wall"), median(1, "cpu")
    print(f"{workers} process(es), {rounds} rounds")
    print(f"  triage alone        {wall:6.2f} s  {cpu:6.2f} CPU s  (with reading {reading:.2f} s)")
    peak = median(1, "peak_mb")
    print(f"  index with triage   {index_wall:6.2f} s  {index_cpu:6.2f} CPU s  peak {peak:.0f} MB")
    print(f"  ratio               {index_wall / wall:6.2f}    {index_cpu / cpu:6.2f}")


def compare_with(folder: Path, rounds: int, part: str, name: str) -> None:
    """The index without and with something more than traces and chunks, side by side."""
    runs = [(measure("index", folder), measure(part, folder)) for _ in range(rounds)]
    without, more = (
        {name: statistics.median(pair[which][name] for pair in runs) for name in ("wall", "cpu")}
        for which in (0, 1)
    )
    print(f"1 process, {rounds} rounds")
    print(f"  without {name:<12}{without['wall']:6.2f} s  {without['cpu']:6.2f} CPU s")
    print(f"  with {name:<15}{more['wall']:6.2f} s  {more['cpu']:6.2f} CPU s")
    print(
        f"  ratio               {more['wall'] / without['wall']:6.2f}    {more['cpu'] / without['cpu']:6.2f}"
    )


def report_queries(folder: Path, rounds: int) -> None:
    """Builds the index where it is to stay, then asks it in fresh processes."""
    manifest, cache = load_manifest(folder), folder / "cache"
    (run,) = build_index(manifest, cache_dir=cache).runs
    files = index_folder(manifest, run.run_id, cache).rglob("*")  # not those of other versions of the program
    size = sum(path.stat().st_size for path in files if path.is_file())
    print(f"index of {run.rows:,} traces: {size / 1e6:.0f} MB")
    found = [measure("query", folder) for _ in range(rounds)]
    for name in found[0]:
        unit, scale = ("MB", 1) if name == "peak_mb" else ("ms", 1000)
        median = statistics.median(seconds[name] for seconds in found)
        print(f"  {name:<28}{median * scale:6.0f} {unit}")


def report_appends(folder: Path, rounds: int) -> None:
    """Appends to the file of an index several times, then restores both."""
    path, cache, kept = folder / "traces.jsonl", folder / "cache", folder / "cache-before"
    before = path.stat()
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(cache, kept, copy_function=os.link)  # its files are replaced, never changed
    try:
        found = [measure("append", folder) for _ in range(rounds)]
    finally:
        os.truncate(path, before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        shutil.rmtree(cache)
        kept.rename(cache)
    assert all(each["lines_read"] == APPENDED for each in found)
    walls = [each["wall"] * 1000 for each in found]
    cpu = statistics.median(each["cpu"] for each in found) * 1000
    print(
        f"append {APPENDED:,} lines, {rounds} rounds: {statistics.median(walls):.0f} ms "
        f"({min(walls):.0f} to {max(walls):.0f}), {cpu:.0f} ms of the processor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "proofspan-bench")
    parser.add_argument("--traces", type=int, help="100,000, with --large and --once 1,000,000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="1,000,000 traces: growth and queries only")
    parser.add_argument("--once", action="store_true", help="1,000,000 traces or more, indexed once")
    parser.add_argument("--notices", action="store_true", help="the index without and with a catalogue only")
    parser.add_argument("--gold", action="store_true", help="the index without and with gold only")
    parser.add_argument("--appends", action="store_true", help="lines appended to an index only")
    parser.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        result = PARTS[options.part](options.folder, options.workers)
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps(result | {"peak_mb": max(own, children) / 1024}))
        return
    is_large = options.large or options.once
    traces = options.traces or (1_000_000 if is_large else 100_000)
    folder = make_workspace(options.folder / str(traces), traces)
    if options.notices:
        compare_with(folder, options.rounds, "noticed", "a catalogue")
        return
    if options.gold:
        make_gold(folder)
        compare_with(folder, options.rounds, "held", "gold")
        return
    if options.appends:
        build_index(load_manifest(folder), cache_dir=folder / "cache")
        report_appends(folder, max(APPENDS, options.rounds))
        return
    if is_large:
        index = measure("index", folder, 2)
        print(f"{traces:,} traces, 2 processes: {index['wall']:.1f} s, peak {index['peak_mb']:.0f} MB")
        if options.once:
            print(f"{traces / index['cpu']:,.0f} traces a CPU second")
            return
    else:
        for workers in (1, 2):
            compare(folder, workers, options.rounds)
    report_queries(folder, options.rounds)
    report_appends(folder, max(APPENDS, options.rounds))


if __name__ == "__main__":
    main()
