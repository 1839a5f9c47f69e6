"""Measure the CPU of the server per click and at rest, and the waits of many people at once.

    python bench/bench_clicks.py [--traces 100000] [--chunks 20000] [--rounds 12] [--keep FOLDER]
    python bench/bench_clicks.py --people 20 [--seconds 600] [--think 5] [--traces 100000] [--keep FOLDER]

The first prints the median CPU of the server per act: the next question, another passage of a question, a
filter of Triage and, for comparison, the button of a bare Streamlit page in the same run; on the demo and,
with `--traces`, on a run of that size. It counts the whole process from the click until nothing runs any
more, with what is prepared for the next click, and prints the CPU of open pages at rest. The second has
people step through Question at the same time, each thinking `--think` seconds between two steps, and prints
percentiles of the seconds until a step's run has ended, the errors, and the memory of the server.

Visitors are sessions that speak Streamlit's protocol (visits.py), all in this process. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from sites import DEMO, arguments_of, bare_page, dashboard, folder_of, make_workspace
from visits import Visit, cpu_seconds, visit

from proofspan.manifest.load import load_manifest
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

BARE = """
import streamlit as st

if st.button("Press", key="press"):
    st.write("pressed")
"""
#: The most that an act may take, in milliseconds of CPU on the demo, and a page at rest in percent of a core.
FIGURES = {"next question": 120, "another passage": 120, "filter": 60, "at rest": 0.5}
#: Seconds that a step may take in nineteen of twenty cases.
STEP = 1.5
PAGES = ("question", "", "trends", "health", "walkthrough")
FILTERS = ("&label=ok", "", "&sort=coverage", "&label=generation_drift", "&label=ok&sort=coverage")


def main() -> None:
    arguments = parse()
    with folder_of(arguments) as folder:
        if arguments.people:
            workspace = make_workspace(folder, arguments.traces or 100_000, arguments.chunks)
            asyncio.run(serve_people(workspace, folder, arguments))
        else:
            asyncio.run(count_clicks(folder, arguments))


def parse() -> argparse.Namespace:
    parser = arguments_of(__doc__, traces=0)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--rest", type=float, default=20, help="seconds that each page is watched at rest")
    parser.add_argument("--people", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--think", type=float, default=5)
    return parser.parse_args()


async def count_clicks(folder: Path, arguments: argparse.Namespace) -> None:
    """Print the CPU of each act, on each workspace and on a bare page, and of pages at rest."""
    async with a_server(bare_page(folder, BARE)) as (pid, url), visit(url) as visitor:
        await visitor.go("")
        pressed = [await cost(pid, lambda: visitor.press("press")) for _ in range(arguments.rounds)]
    bare = statistics.median(pressed)
    print(f"{'a bare page, its button':>34}: {bare:6.1f} ms")
    workspaces = {"demo": DEMO}
    if arguments.traces:
        name = f"{arguments.traces:,} traces"
        workspaces[name] = make_workspace(folder, arguments.traces, arguments.chunks)
    for name, workspace in workspaces.items():
        async with a_server(dashboard(workspace, folder)) as (pid, url):
            acts = await measure(pid, url, workspace, folder, arguments.rounds)
            for act, costs in acts.items():
                median = statistics.median(costs)
                spread = f"({min(costs):.0f}-{max(costs):.0f})"
                ratios = f"{median / bare:.1f} times the bare page; {median / FIGURES[act]:.2f} of the figure"
                print(f"{f'{name}, {act}':>34}: {median:6.1f} ms {spread}, {ratios}")
            for page in PAGES:
                share = await at_rest(pid, url, page, arguments.rest)
                what = f"{name}, {page or 'triage'} at rest"
                print(f"{what:>34}: {share:6.2f} % of a core; {share / FIGURES['at rest']:.2f} of the figure")


async def measure(pid: int, url: str, workspace: Path, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of CPU of each act, in a server that has been asked for a while."""
    run_id, questions = questions_of(workspace, folder)
    costs: dict[str, list[float]] = {"next question": [], "another passage": [], "filter": []}
    async with visit(url) as visitor:
        for place, q_id in enumerate(questions[: rounds + 3]):
            query = f"?run={run_id}&q={q_id}"
            seen = await cost(pid, partial(visitor.go, "question", query))
            other = await cost(pid, partial(visitor.go, "question", f"{query}&cite=1"))
            if place >= 3:
                costs["next question"].append(seen)
                costs["another passage"].append(other)
        for place in range(rounds + 3):
            query = f"?run={run_id}{FILTERS[place % len(FILTERS)]}"
            seen = await cost(pid, partial(visitor.go, "", query))
            if place >= 3:
                costs["filter"].append(seen)
        if visitor.errors:
            raise SystemExit(f"a page failed: {visitor.errors[0]}")
    return costs


async def cost(pid: int, act: Callable[[], Awaitable[float]]) -> float:
    """Return the milliseconds of CPU of an act, until the server has come to rest."""
    before = cpu_seconds(pid)
    await act()
    while True:
        now = cpu_seconds(pid)
        await asyncio.sleep(0.5)
        if cpu_seconds(pid) - now < 0.005:
            return 1000 * (cpu_seconds(pid) - before)


async def at_rest(pid: int, url: str, page: str, seconds: float) -> float:
    """Return the percent of a core that the server takes for one open page that is complete."""
    async with visit(url) as visitor:
        await cost(pid, lambda: visitor.go(page))
        before, began = cpu_seconds(pid), time.monotonic()
        await asyncio.sleep(seconds)
        return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - began)


async def serve_people(workspace: Path, folder: Path, arguments: argparse.Namespace) -> None:
    """Print how long steps take while these people step through Question.

    One more presses the button of a bare page on a server of its own: what the machine alone costs.
    """
    run_id, questions = questions_of(workspace, folder)
    async with AsyncExitStack() as stack:
        pid, url = await stack.enter_async_context(a_server(dashboard(workspace, folder)))
        _, bare_url = await stack.enter_async_context(a_server(bare_page(folder, BARE)))
        bare = await stack.enter_async_context(visit(bare_url))
        await bare.go("")
        visitors = [await stack.enter_async_context(visit(url)) for _ in range(arguments.people)]
        for visitor in visitors:  # as people come: not all in one moment
            await visitor.go("question", f"?run={run_id}&q={random.choice(questions)}")
        taken: list[float] = []
        pressed: list[float] = []
        memory = [resident_mb(pid)]
        ends, before = time.monotonic() + arguments.seconds, cpu_seconds(pid)

        async def step(visitor: Visit, number: int) -> None:
            chance = random.Random(number)
            place = chance.randrange(len(questions))
            await asyncio.sleep(chance.uniform(0, arguments.think))
            while time.monotonic() < ends:
                place = (place + 1) % len(questions)
                taken.append(await visitor.go("question", f"?run={run_id}&q={questions[place]}"))
                await asyncio.sleep(chance.uniform(0.5, 1.5) * arguments.think)

        async def press() -> None:
            while time.monotonic() < ends:
                pressed.append(await bare.press("press"))
                await asyncio.sleep(1)

        async def weigh() -> None:
            while time.monotonic() < ends:
                await asyncio.sleep(max(1.0, arguments.seconds / 20))
                memory.append(resident_mb(pid))

        await asyncio.gather(
            weigh(), press(), *(step(visitor, number) for number, visitor in enumerate(visitors))
        )
        used = (cpu_seconds(pid) - before) / arguments.seconds
        errors = [error for visitor in visitors for error in visitor.errors]
    p50, p95, p99 = percentiles(taken)
    print(f"{arguments.people} people, {len(taken):,} steps in {arguments.seconds:.0f} s: ", end="")
    print(f"p50 {p50:.2f} s, p95 {p95:.2f} s, p99 {p99:.2f} s; {p95 / STEP:.2f} of the figure")
    print("a bare page meanwhile: p50 {:.2f} s, p95 {:.2f} s, p99 {:.2f} s".format(*percentiles(pressed)))
    a_step = 1000 * used * arguments.seconds / len(taken)
    print(f"the server takes {100 * used:.0f} % of a core, {a_step:.0f} ms a step")
    half = memory[len(memory) // 2]
    print(f"memory {memory[0]:.0f} MB at first, {half:.0f} half way, {memory[-1]:.0f} at the end")
    print(f"errors: {len(errors)} {errors[:1]}")


def percentiles(seconds: list[float]) -> tuple[float, ...]:
    """Return the 50th, 95th and 99th percentile."""
    ordered = sorted(seconds)
    return tuple(ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95, 0.99))


def questions_of(workspace: Path, folder: Path) -> tuple[str, list[str]]:
    """Return the run that is opened first, and its questions as Triage lists them; at most 5,000."""
    manifest = load_manifest(workspace)
    run_id = manifest.runs[-1].run_id
    listed = Store(manifest, folder / "cache").places(Filter(run_id), Sort(), limit=5_000)
    return run_id, [str(q_id) for q_id in listed["q_id"]]


@asynccontextmanager
async def a_server(starting: AbstractContextManager[str]) -> AsyncIterator[tuple[int, str]]:
    """Start a server; gives its process id and address."""
    with starting as url:
        yield listening_on(int(url.rpartition(":")[2])), url


def listening_on(port: int) -> int:
    """Return the id of the process that serves a port of this machine."""
    wanted = f"--server.port={port}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                return int(entry.name)
        except OSError:
            continue
    raise SystemExit(f"no server on port {port}")


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in megabytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
