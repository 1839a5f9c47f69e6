"""Records how long each stage takes, so that a build need not look at the clock.

`python -m tools.demo.timings` runs the pipeline on this machine and writes `timings.json`: milliseconds by
run, question/paraphrase/seed and stage. A build copies them and says that they are a recording.
"""

from __future__ import annotations

import time
from pathlib import Path

import orjson

from tools.demo.gold import wordings
from tools.demo.runs import SETTINGS, Pipeline
from tools.demo.sources import Indexes, Sources, load

FILE = Path(__file__).parent / "timings.json"

Timings = dict[str, dict[str, dict[str, float]]]


class Stopwatch:
    """Notes how long each stage took since the one before."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """A stage has ended."""
        now = time.perf_counter()
        self.laps[stage] = round((now - self._since) * 1000, 3)
        self._since = now


def record(sources: Sources) -> Timings:
    """Every trace of every run once, after one question that warms up."""
    indexes = Indexes(sources.pieces)
    found: Timings = {}
    for setting in SETTINGS:
        pipeline = Pipeline(setting, indexes.of(setting))
        pipeline.answer(sources.questions[0]["q"])
        laps = found[setting.run_id] = {}
        for question in sources.questions:
            for paraphrase, seed in setting.variants:
                watch = Stopwatch()
                pipeline.answer(wordings(question)[paraphrase], seed, lap=watch.lap)
                laps[variant_key(question["q_id"], paraphrase, seed)] = watch.laps
    return found


def variant_key(q_id: str, paraphrase: int, seed: int) -> str:
    """Return a trace's name within its run."""
    return f"{q_id}/{paraphrase}/{seed}"


def read() -> Timings:
    """The committed recording."""
    timings: Timings = orjson.loads(FILE.read_bytes())
    return timings


def _text(timings: Timings) -> str:
    """One trace a line, so that a new recording can be compared with the old one."""
    runs = []
    for run_id, laps in timings.items():
        rows = (
            f"    {orjson.dumps(key).decode()}: {orjson.dumps(each).decode()}" for key, each in laps.items()
        )
        runs.append(f'  "{run_id}": {{\n' + ",\n".join(rows) + "\n  }")
    return "{\n" + ",\n".join(runs) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(_text(record(load())), encoding="utf-8")
