"""Add entries to a record in processes that are killed: `python -m tests.sprint_writer FOLDER KILLS SEED`.

Each acknowledges an entry on a pipe once `append` has returned. Prints the acknowledged ids, one a line.
"""

from __future__ import annotations

import os
import random
import sys
import time
from functools import partial
from pathlib import Path

from proofspan.journal.sprint import SprintEntry, append
from proofspan.manifest.types import Artifact, Manifest
from tests.killed_writers import killed, started

#: Seconds between the first entry of a process and its end, at most.
LONGEST = 0.02


def manifest_in(folder: Path) -> Manifest:
    return Manifest("W", folder, sprint=Artifact("sprint", "log.jsonl", kind="journal"))


def write_for_ever(folder: Path, name: str, pipe: int) -> None:
    """Add entries of growing length and acknowledge each."""
    manifest = manifest_in(folder)
    number = 0
    while True:
        number += 1
        fields = {"text": f"{name} {number} " + "x" * (number * 397 % 5_000) + "."}
        entry = append(manifest, SprintEntry("log", "", "2026-02-23T10:00:00Z", name, fields))
        os.write(pipe, f"{entry.entry_id}\n".encode())


def killed_after(folder: Path, name: str, seconds: float) -> bytes:
    """Let a process write for a while after its first entry, kill it, and return its acknowledgements."""
    process, reading = started(partial(write_for_ever, folder, name))
    first = os.read(reading, 17)
    time.sleep(seconds)
    return first + killed(process, reading)


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    moments = random.Random(seed)
    for number in range(kills):
        acknowledged = killed_after(folder, f"P{number}", moments.uniform(0, LONGEST))
        # A line that was cut off was not written whole before the process ended.
        sys.stdout.write(acknowledged[: acknowledged.rfind(b"\n") + 1].decode())


if __name__ == "__main__":
    main()
