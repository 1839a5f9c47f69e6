"""The Health page of a run of 100,000 traces against its figure, as the server runs its script.

    python bench/bench_health.py [--folder DIR] [--traces 100000] [--rounds 5]

A workspace of one run with gold, pins and rules that some of its traces break is made in DIR and indexed by
`proofspan index` (a minute or two). A process of its own then runs the whole script of the page (frame,
sidebar and page) as a visit does: the first run after a restart, when everything beside the index is still
read in the background; the first that shows all of that; and the median of those after, each with a Trends
run of the same process beside it for a ratio. Times are by the clock, in the thread that runs the script.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from make_runs import chunks, gold, traces

ROOT = Path(__file__).resolve().parents[1]
#: What has to hold, in milliseconds.
FIGURE = 300
PINNED = {"index_hash": "faiss:2f7d", "embed_model": "bge-large:mean", "analyzer": "lowercase+ascii_fold"}
#: What a citation states; every tenth trace leaves parts of it out.
PAYLOAD = {
    "source_url": "https://example.org/manual",
    "offsets": {"start": 10, "end": 60, "unit": "char"},
    "tokens": 12,
    **PINNED,
    "rev": "3b91f2a",
    "score_raw": 0.8,
    "k_pos": 1,
}


def broken_traces(count: int) -> Iterator[dict[str, object]]:
    """The traces of make_runs.py with a citation payload; one in ten breaks rules."""
    for number, trace in enumerate(traces(1, count, variants=1)):
        listed = trace["chunks"]
        assert isinstance(listed, list)
        cited = {"snippet_id": listed[0]["id"], "doc_id": "doc-0", "section_id": "1.1", **PAYLOAD}
        if number % 10 == 0:
            cited = {name: cited[name] for name in ("snippet_id", "section_id", "tokens")}
            trace["analyzer"] = "lowercase"
        yield {"citations": [cited], **trace}


def write(folder: Path, count: int) -> None:
    """The workspace; nothing where it is there."""
    manifest = folder / "pipeline_manifest.yaml"
    if manifest.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in (("chunks", chunks()), ("gold", gold(count)), ("R001", broken_traces(count))):
        with (folder / f"{name}.jsonl").open("wb") as stream:
            stream.writelines(orjson.dumps(record) + b"\n" for record in records)
    run = {"run_id": "R001", "traces": {"path": "R001.jsonl"}, "pinned": PINNED}
    body = {
        "manifest_version": "1.0",
        "name": "bench",
        "chunks": {"path": "chunks.jsonl"},
        "gold": {"path": "gold.jsonl"},
        "runs": [run],
    }
    manifest.write_bytes(orjson.dumps(body))  # JSON is YAML


def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of the script's runs in this process, which does nothing else."""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.testing.v1 import AppTest

    from proofspan.ui.app import shell

    found = manifest_scanner.scan_component_manifests()  # a server does this once, an AppTest every time
    vars(manifest_scanner)["scan_component_manifests"] = lambda: found
    make = PagesManager.__init__

    def with_navigation(self: PagesManager, *arguments: Any, **more: Any) -> None:
        PagesManager.uses_pages_directory = False  # else the page's script runs without its frame
        make(self, *arguments, **more)

    setattr(PagesManager, "__init__", with_navigation)  # noqa: B010 - a method, to mypy
    times: list[float] = []
    run = shell.run

    def timed() -> None:
        begin = time.perf_counter()
        run()
        times.append(1000 * (time.perf_counter() - begin))

    shell.run = timed
    pages = {
        name: AppTest.from_file(str(ROOT / "app.py"), default_timeout=120) for name in ("health", "trends")
    }
    reported: dict[str, list[float]] = {}
    for name, app in pages.items():
        app.switch_page(f"pages/{name}.py")
        times.clear()
        app.run()
        reported[f"{name}, first"] = times[:1]
        time.sleep(15)  # what is read in the background is there by then
        times.clear()
        app.run()
        reported[f"{name}, first with all"] = times[:1]
    for name, app in pages.items():
        times.clear()
        for _ in range(rounds):
            app.run()
        reported[f"{name}, warm"] = times[:]
    return reported


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.rounds)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)) / "health"
        write(folder, options.traces)
        cache = folder.parent / "cache"
        begin = time.perf_counter()
        index = [sys.executable, "-m", "proofspan.cli", "index", str(folder), "--cache-dir", str(cache)]
        subprocess.run(index, check=False, cwd=ROOT, capture_output=True)
        print(f"indexed in {time.perf_counter() - begin:.0f} s")
        command = [sys.executable, __file__, "--measure", "--rounds", str(options.rounds)]
        here = {"PROOFSPAN_WORKSPACE": str(folder), "PROOFSPAN_CACHE_DIR": str(cache)}
        done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, **here})
    output: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    medians = {name: statistics.median(times) for name, times in output.items()}
    print(f"\n{options.traces:,} traces, milliseconds of the whole script")
    for name, median in medians.items():
        print(f"  {name:<26}{median:>8,.0f}" + (f"   figure: {FIGURE}" if name == "health, warm" else ""))
    print(f"  {'trends / health, warm':<26}{medians['trends, warm'] / medians['health, warm']:>8.1f}")


if __name__ == "__main__":
    main()
