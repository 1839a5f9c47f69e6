"""Opening a sprint's record against its figure: its entries read, checked and folded, without the runs.

    python bench/bench_sprint.py [--entries 5000] [--rounds 7]

Entries of all kinds, with texts of a few hundred characters, are written as a journal. A round reads the file
and folds it to the record as page and commands do; beside it, as an anchor, the same lines are parsed as JSON
and nothing more, and saving one entry to that record is timed. Prints the medians and their ratio.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson

from proofspan.journal.sprint import DECISION_STATES, PACKAGE_STATUSES, SprintEntry, append, line_of
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.sprint.markdown.plan import plan
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.record import sprint_record

#: What has to hold, in seconds.
FIGURE = 0.5
TEXT = "Section titles are indexed; the questions that miss their passage name things as drivers do." * 3


def entries(count: int) -> Iterator[SprintEntry]:
    """Check-ins, decisions and work packages that change, each at its own second."""
    for number in range(count):
        at = f"2026-02-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:{number // 840:02}Z"
        entry = SprintEntry("log", "", at, "Ada", {"title": f"Run {number}", "text": TEXT, "notes": TEXT})
        if number % 3 == 1:
            state = DECISION_STATES[number % len(DECISION_STATES)]
            fields = {"title": TEXT[:90], "state": state, "pros": [TEXT], "unblocks": [f"A{number % 50}"]}
            entry = replace(entry, kind="decision", key=f"D{number % 200}", fields=fields)
        elif number % 3 == 2:
            status = PACKAGE_STATUSES[number % len(PACKAGE_STATUSES)]
            entry = replace(
                entry, kind="package", key=f"A{number % 50}", fields={"status": status, "notes": TEXT}
            )
        yield entry


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The median time of a call, after one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proofspan-bench-") as folder:
        path = Path(folder) / "log.jsonl"
        path.write_bytes(b"".join(orjson.dumps(line_of(each)) + b"\n" for each in entries(options.entries)))
        manifest = Manifest("Bench", Path(folder), sprint=Artifact("sprint", path.name, kind="journal"))
        opened = seconds(lambda: sprint_record(manifest, None), options.rounds)
        parsed = seconds(lambda: [*map(orjson.loads, path.read_bytes().splitlines())], options.rounds)
        record = sprint_record(manifest, None)
        assert len(record.entries) == options.entries
        text = markdown_of(record)
        exported = seconds(lambda: markdown_of(record), 3)
        imported = seconds(lambda: plan(text, record.entries, file="f"), 3)
        numbers = iter(range(options.rounds + 1))
        entry = SprintEntry("log", "", "2026-03-01", "Ada")
        saved = seconds(
            lambda: append(manifest, replace(entry, fields={"title": str(next(numbers))})), options.rounds
        )
    met = "met" if opened <= FIGURE else "MISSED"
    print(f"open {options.entries:,} entries: {opened:.3f} s, at most {FIGURE} s: {met}")
    print(f"  {opened / parsed:.1f} times parsing the lines alone ({parsed:.3f} s)")
    print(f"save one entry: {saved:.3f} s; export: {exported:.3f} s; import again: {imported:.3f} s")


if __name__ == "__main__":
    main()
