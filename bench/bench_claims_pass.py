"""The pass that checks claims beside the index that it follows: time, processor time and memory, in one run.

    python bench/bench_claims_pass.py [--folder DIR] [--traces 100000] [--rounds 3] [--workers 2]

Index and pass run in turns, each in a process of its own that starts the workers: first the index is built in
an empty cache, then the claims of its answers are checked there. Medians and their ratios are printed, then
what a page pays for columns of claims, and what a grown file costs. CPU seconds hold on a machine that is
busy with something else; the peak is that of the largest process.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench_index import APPENDED, RUN, cpu_of_all, make_workspace

from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import CheckedReport, check_runs
from proofspan.store.files.checked import CLAIMS_FOLDER
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.index.scan import spare_pandas
from proofspan.store.query.filters import Filter, Sort

CACHE = "claims-cache"
Numbers = dict[str, float]


def part_index(folder: Path, workers: int) -> Numbers:
    """Seconds of building the index in an empty cache."""
    shutil.rmtree(folder / CACHE, ignore_errors=True)
    manifest = load_manifest(folder)
    return timed(lambda: build_index(manifest, cache_dir=folder / CACHE, workers=workers))


def part_claims(folder: Path, workers: int) -> Numbers:
    """Seconds of checking all claims of that index."""
    manifest = load_manifest(folder)
    shutil.rmtree(index_folder(manifest, RUN, folder / CACHE) / CLAIMS_FOLDER, ignore_errors=True)
    found: list[CheckedReport] = []
    costs = timed(
        lambda: found.extend(check_runs(manifest, [RUN], cache_dir=folder / CACHE, workers=workers))
    )
    return costs | {"answers": found[0].checked, "claims": sum(found[0].claims.values())}


def timed(work: Callable[[], object]) -> Numbers:
    """Seconds of some work by the clock and of the processor, its processes included."""
    spare_pandas()
    before, started = cpu_of_all(), time.perf_counter()
    work()
    wall = time.perf_counter() - started
    for process in active_children():  # what they used counts once they have ended
        process.join()
    return {"wall": wall, "cpu": cpu_of_all() - before}


def part_pages(folder: Path, workers: int) -> Numbers:
    """Milliseconds of a list's page by support, first and again."""
    from proofspan.store.query.store import Store  # not at the top: worker processes import this file again

    store, seconds = Store(load_manifest(folder), folder / CACHE), {}
    store.page(Filter(RUN), Sort(), limit=50, offset=0)
    for name, shown, sort in (
        ("first page by support", Filter(RUN), Sort("support")),
        ("page by support", Filter(RUN, label=("ok",)), Sort("support")),
        ("page of contradictions", Filter(RUN, contradictions=True), Sort("support")),
    ):
        started = time.perf_counter()
        store.page(shown, sort, limit=50, offset=0)
        seconds[name] = 1000 * (time.perf_counter() - started)
    return seconds


def part_append(folder: Path, workers: int) -> Numbers:
    """Append lines, refresh the index, and check what is new; then take the lines away again."""
    manifest, path = load_manifest(folder), folder / "traces.jsonl"
    size = path.stat().st_size
    with path.open("rb") as stream:
        lines = [next(stream).replace(b'"q_id":"Q', b'"q_id":"N') for _ in range(APPENDED)]
    with path.open("ab") as stream:
        stream.writelines(lines)
    try:
        build_index(manifest, cache_dir=folder / CACHE)
        started = time.perf_counter()
        (report,) = check_runs(manifest, [RUN], cache_dir=folder / CACHE)
        return {"seconds": time.perf_counter() - started, "answers": report.checked}
    finally:
        with path.open("ab") as stream:
            stream.truncate(size)


PARTS = {"index": part_index, "claims": part_claims, "pages": part_pages, "append": part_append}


def measure(part: str, folder: Path, workers: int) -> Numbers:
    """Run one part in a process of its own; add the peak memory of its largest process in MB."""
    command = [sys.executable, __file__, "--part", part, "--folder", str(folder), "--workers", str(workers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    measured: Numbers = json.loads(done.stdout)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "proofspan-bench")
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        result = PARTS[options.part](options.folder, options.workers)
        largest = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(json.dumps(result | {"peak_mb": largest / 1024}))
        return
    folder = make_workspace(options.folder / str(options.traces), options.traces)
    names = ("index", "claims")
    rounds = [[measure(name, folder, options.workers) for name in names] for _ in range(options.rounds)]
    medians = [
        {key: statistics.median(each[place][key] for each in rounds) for key in rounds[0][place]}
        for place in range(2)
    ]
    claims = medians[1]
    print(f"{claims['answers']:,.0f} answers, {claims['claims']:,.0f} claims, ", end="")
    print(f"{options.workers} process(es), {options.rounds} rounds")
    for name, costs in zip(("index", "claims"), medians, strict=True):
        print(f"  {name:<8}{costs['wall']:7.2f} s {costs['cpu']:7.2f} CPU s  peak {costs['peak_mb']:.0f} MB")
    ratio = {key: medians[1][key] / medians[0][key] for key in ("wall", "cpu")}
    print(f"  ratio   {ratio['wall']:7.2f}   {ratio['cpu']:7.2f}")
    for name, number in measure("pages", folder, 1).items():
        print(f"  {name:<24}{number:6.0f} {'MB' if name == 'peak_mb' else 'ms'}")
    grown = measure("append", folder, 1)
    print(f"append {APPENDED:,} lines: {grown['answers']:,.0f} answers checked in {grown['seconds']:.2f} s")


if __name__ == "__main__":
    main()
