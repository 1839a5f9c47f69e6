"""Run the benches, print each figure beside its anchor, and write them to docs/measurements.md.

    python bench/measure.py [--times 3] [--only bench_index.py …] [--list]

Each bench runs `--times` times in a process of its own, which compares with its anchor in turns. A figure is
the median of these runs, with the lowest and the highest behind it. Its line in docs/measurements.md names
the machine and the versions that it was measured with; lines of benches that are not run stay as they are.
Benches of real files need `PROOFSPAN_REAL_DATA`, that of other tools `PROOFSPAN_PHOENIX` and
`PROOFSPAN_MLFLOW`; they are left out without these.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import orjson

BENCH = Path(__file__).resolve().parent
PAGE = BENCH.parent / "docs" / "measurements.md"
#: The figures as they were measured last, by their line.
KEPT = BENCH / "measured.json"
REAL = "PROOFSPAN_REAL_DATA"
BEGIN, END = "<!-- written by bench/measure.py -->", "<!-- end -->"
#: The packages that figures depend on.
PACKAGES = ("duckdb", "orjson", "pyarrow", "pymupdf", "streamlit")
_NUMBER = r"(-?[\d,]+(?:\.\d+)?)"


class Figure(NamedTuple):
    """A line of the page: what is measured, its anchor, the command, and how its numbers are found and shown.

    `shown` has the names of numbers in braces; `found` gives for each the text before it in the output, as a
    regular expression. `needs` are variables of the environment without which it is left out.
    """

    what: str
    anchor: str
    command: str
    shown: str
    found: Mapping[str, str]
    needs: tuple[str, ...] = ()

    @property
    def script(self) -> str:
        """Return the name of the bench."""
        return self.command.partition(" ")[0]


_INDEX = "bench_index.py --rounds 1"
_REOPENED = {
    "first": r"first page of failures +",
    "later": r"page 100, by coverage +",
    "search": r"\n +search in questions +",
    "choices": r"choices of the filters +",
}
_APPENDED = {"wall": r"append 1,000 lines, \d+ rounds: ", "cpu": r"append 1,000 lines.*?\), "}
_CLAIMS = "bench_claims_pass.py --rounds 1"
_CLICKS = "bench_clicks.py --traces 100000"
_ACTS = ("next question", "another passage", "filter")
_PAGES = ("question", "triage", "trends", "health", "walkthrough")
FIGURES = (
    Figure(
        "labels and signals of 100,000 traces: one process, two processes",
        "the reference script",
        "bench_triage.py",
        "{one} and {two} times as many a second",
        {"one": r"one process\D*[\d,]+ records/s +", "two": r"two processes\D*[\d,]+ records/s +"},
    ),
    Figure(
        "index of 100,000 traces: one process",
        "triage alone",
        _INDEX,
        "{ratio} times; {peak} MB",
        {"ratio": r"1 process.*?ratio +", "peak": r"1 process.*?peak "},
    ),
    Figure(
        "the same: two processes",
        "triage alone",
        _INDEX,
        "{ratio} times; {peak} MB each",
        {"ratio": r"2 process.*?ratio +", "peak": r"2 process.*?peak "},
    ),
    Figure(
        "the index of 100,000 traces reopened: first page of failures, later page, search, filters",
        "",
        _INDEX,
        "{first}, {later}, {search} and {choices} ms",
        _REOPENED,
    ),
    Figure(
        "1,000 lines appended to an index of 100,000 traces",
        "",
        _INDEX,
        "{wall} ms; {cpu} ms of the processor",
        _APPENDED,
    ),
    Figure(
        "index of 1,000,000 traces (3.5 GB), two processes",
        "",
        "bench_index.py --large --rounds 3",
        "{seconds} s, {peak} MB a process",
        {"seconds": r"2 processes: ", "peak": r" s, peak "},
    ),
    Figure(
        "the index of 1,000,000 traces reopened: first page of failures, later page, search, filters",
        "",
        "bench_index.py --large --rounds 3",
        "{first}, {later}, {search} and {choices} ms",
        _REOPENED,
    ),
    Figure(
        "1,000 lines appended to an index of 1,000,000 traces",
        "",
        "bench_index.py --large --rounds 3",
        "{wall} ms; {cpu} ms of the processor",
        _APPENDED,
    ),
    Figure(
        "10,000 traces until a list shows the first 50 failures: CPU of Phoenix, of MLflow",
        "the CPU of Proofspan, with the start of Python",
        "bench_neighbours.py",
        "{phoenix} and {mlflow} times; {own} s here",
        {
            "phoenix": r"Phoenix.*?CPU s +",
            "mlflow": r"MLflow.*?CPU s +",
            "own": r"Proofspan +[\d.]+ s +",
        },
        needs=("PROOFSPAN_PHOENIX", "PROOFSPAN_MLFLOW"),
    ),
    Figure(
        "claims of 100,000 answers, checked, judged and stored, two processes",
        "building their index",
        _CLAIMS,
        "{ratio} times; {peak} MB a process",
        {"ratio": r"ratio +", "peak": r"claims.*?CPU s +peak "},
    ),
    Figure(
        "a payload of 471 bytes checked against the contract, of 1,000,000: one process, two",
        "parsing it with orjson",
        "bench_validate.py --folder {scratch}",
        "{one} and {two} times",
        {"one": r"one process.*? s sec +", "two": r"two processes.*? s sec +"},
    ),
    Figure(
        "all metrics of 1,000,000 traces with gold from the index, in a fresh process",
        "six of them by plain Python from the file",
        "bench_metrics.py --part run --rounds 1",
        "{times} times as fast; {ms} ms",
        {"times": r"run, fresh.*?ms.*?ms +", "ms": r"run, fresh +"},
    ),
    Figure(
        "the sums behind Trends of 30 runs of 1,000 questions",
        "plain Python",
        "bench_metrics.py --part trends --rounds 1",
        "{times} times as fast; {ms} ms",
        {"times": r"trends, warm.*?ms.*?ms +", "ms": r"trends, warm +"},
    ),
    Figure(
        "Health of 100,000 traces, its whole script: first after a restart, warm",
        "Trends of the same run, warm",
        "bench_health.py",
        "{first} and {warm} ms; Trends takes {ratio} times as long",
        {"first": r"health, first +", "warm": r"health, warm +", "ratio": r"trends / health, warm +"},
    ),
    Figure(
        "the Triage table of 100,000 traces in a warm browser",
        "a bare Streamlit page with a table of 50 rows",
        "bench_pages.py --repeats 5",
        "{ratio} times",
        {"ratio": r"alone, warm: "},
    ),
    *(
        Figure(
            f"the server's CPU for a click on {name}: next question, another passage, a filter of Triage",
            "the button of a bare Streamlit page",
            _CLICKS,
            "{next question}, {another passage} and {filter} ms; {ratio} times",
            {act: rf"{name}, {act}: +" for act in _ACTS} | {"ratio": rf"{name}, next question: .*?\), "},
        )
        for name in ("demo", "100,000 traces")
    ),
    Figure(
        "an open page of 100,000 traces at rest: Question, Triage, Trends, Health, Walkthrough",
        "one core",
        _CLICKS,
        ", ".join(f"{{{page}}}" for page in _PAGES) + " %",
        {page: rf"100,000 traces, {page} at rest: +" for page in _PAGES},
    ),
    Figure(
        "20 people who step through Question of 100,000 traces for ten minutes, five seconds a step: seconds "
        "of a step (median, 95th percentile); memory at first and at the end",
        "",
        "bench_clicks.py --people 20",
        "{p50} and {p95} s; {first} and {last} MB; {errors} errors",
        {
            "p50": "p50 ",
            "p95": "p95 ",
            "first": "memory ",
            "last": "half way, ",
            "errors": "errors: ",
        },
    ),
    Figure(
        "the next bundle of a walkthrough, from the key to its page",
        "a button that opens the page the usual way",
        "bench_walkthrough.py",
        "{ratio} times; {ms} ms",
        {"ratio": r"ratio of the medians: ", "ms": r"new highlighted page painted: p50 "},
    ),
    Figure(
        "from `proofspan open response.json manual.pdf`, 100 pages, to the first box",
        "`streamlit run` of a page of one word",
        "bench_open.py",
        "{ratio} times; {seconds} s",
        {"ratio": r"ratio of the medians: ", "seconds": r"first box: +median "},
    ),
    Figure(
        "a page with its highlight through the worker",
        "`search_for`, annotation and a 150-dpi PNG",
        "bench_page.py",
        "{ratio} times",
        {"ratio": r"  ratio "},
        needs=(REAL,),
    ),
    Figure(
        "10,000 quotes over 20 documents, which are read too: one worker, two",
        "",
        "bench_locate_bulk.py --repeat 1",
        "{one} and {two} a second",
        {"one": r"workers: 1, ", "two": r"workers: 2, "},
        needs=(REAL,),
    ),
    Figure(
        "a sprint's record of 5,000 entries, read, checked and folded",
        "parsing its lines alone",
        "bench_sprint.py",
        "{ratio} times; {seconds} s",
        {"ratio": r"\n +", "seconds": r"open 5,000 entries: "},
    ),
    Figure(
        "reranking by a cross-encoder of 6 layers: everything outside of the model",
        "the time inside",
        "bench_rerank.py",
        "{share} %",
        {"share": r"outside the model: "},
    ),
    Figure(
        "100,000 traces by Spark, without claims: by CPU, beyond its start and with it; a worker's peak",
        "`proofspan index` with two processes",
        "bench_spark.py",
        "{rate} traces a CPU second beyond its start, native {native}; {share} of native; {peak} MiB",
        {
            "native": r"a CPU second: native ",
            "rate": r"Spark beyond its start ",
            "share": r"by the clock, ",
            "peak": r"traces and ",
        },
    ),
)


def numbers_in(figure: Figure, output: str) -> dict[str, str]:
    """Return the numbers of a figure in a bench's output, as written. ValueError where one is missing."""
    found = {}
    for name, before in figure.found.items():
        match = re.search(f"(?:{before}){_NUMBER}", output, re.DOTALL)
        if match is None:
            raise ValueError(f"{figure.command} did not print {name!r} of {figure.what!r}")
        found[name] = match[1]
    return found


def summary(values: Sequence[str]) -> str:
    """Return the median of numbers as written, with the lowest and the highest where these differ."""
    digits = max(len(value.partition(".")[2]) for value in values)
    numbers = [float(value.replace(",", "")) for value in values]
    low, middle, high = (
        f"{number:,.{digits}f}" for number in (min(numbers), statistics.median(numbers), max(numbers))
    )
    return middle if low == high else f"{middle} ({low}–{high})"


def result_of(figure: Figure, outputs: Sequence[str]) -> str:
    """Return the words of a figure for the outputs of its runs."""
    runs = [numbers_in(figure, output) for output in outputs]
    return figure.shown.format(**{name: summary([run[name] for run in runs]) for name in figure.found})


def machine() -> str:
    """Return what a figure depends on besides the code: processor, memory, system and versions."""
    cpuinfo, meminfo = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    model = re.search(r"model name\s*: (.+)", cpuinfo.read_text() if cpuinfo.exists() else "")
    memory = re.search(r"MemTotal:\s+(\d+)", meminfo.read_text() if meminfo.exists() else "")
    parts = [
        f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}",
        f"{int(memory[1]) / 2**20:.0f} GiB" if memory else "",
        f"{platform.system()} {platform.release().partition('-')[0]}",
        f"Python {platform.python_version()}",
        *(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES),
    ]
    return ", ".join(filter(None, parts))


def run(command: str, times: int, scratch: Path) -> list[str]:
    """Return the outputs of a bench; it may keep files in `scratch` for the next run."""
    script, *arguments = shlex.split(command.format(scratch=scratch))
    outputs = []
    for number in range(times):
        print(f"+ {command} ({number + 1} of {times})", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, str(BENCH / script), *arguments], check=True, stdout=subprocess.PIPE, text=True
        )
        outputs.append(done.stdout)
    return outputs


def page_with(text: str, figures: Iterable[Figure], kept: Mapping[str, Mapping[str, str]]) -> str:
    """Return the text of the page with a line for each figure that was ever measured."""
    known = [(figure, kept[figure.what]) for figure in figures if figure.what in kept]
    machines = list(dict.fromkeys(each["machine"] for _, each in known))
    letters = {each: chr(ord("A") + place) for place, each in enumerate(machines)}
    lines = ["| what | against | printed by | median (lowest–highest) | on |", "|---|---|---|---|---|"]
    lines += [
        f"| {figure.what} | {figure.anchor or '–'} | `{figure.script}` | {each['result']} "
        f"| {letters[each['machine']]}, {each['day']}, {each['times']} runs |"
        for figure, each in known
    ]
    lines += ["", *(f"{letter}: {each}." for each, letter in letters.items())]
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="names of benches, or whole commands")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    parser.add_argument("--scratch", type=Path, default=Path("build") / "bench")
    options = parser.parse_args()
    chosen = [
        figure
        for figure in FIGURES
        if (not options.only or {figure.script, figure.command} & {*options.only})
        and os.environ.keys() >= {*figure.needs}
    ]
    commands = list(dict.fromkeys(figure.command for figure in chosen))
    if options.list:
        print("\n".join(commands))
        return
    options.scratch.mkdir(parents=True, exist_ok=True)
    kept: dict[str, dict[str, str]] = orjson.loads(KEPT.read_bytes()) if KEPT.exists() else {}
    for command in commands:
        outputs = run(command, options.times, options.scratch)
        for figure in chosen:
            if figure.command == command:
                day = datetime.now(UTC).date().isoformat()
                result = result_of(figure, outputs)
                print(f"{figure.what}, against {figure.anchor or 'nothing'}: {result}", flush=True)
                kept[figure.what] = {
                    "result": result,
                    "machine": machine(),
                    "day": day,
                    "times": str(options.times),
                }
        named = {figure.what for figure in FIGURES}
        lines = {what: each for what, each in kept.items() if what in named}
        KEPT.write_bytes(orjson.dumps(lines, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
        PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), FIGURES, kept), encoding="utf-8")


if __name__ == "__main__":
    main()
