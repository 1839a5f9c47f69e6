"""Two people annotate in processes that are killed.

`python -m tests.annotation_writer FOLDER NOTES KILLS SEED`: each process acknowledges a note on a pipe once
`append` has returned. After each kill the same person goes on in a new process. Prints the acknowledged ids,
one a line, once there are NOTES of them and KILLS kills.
"""

from __future__ import annotations

import os
import random
import select
import sys
from functools import partial
from pathlib import Path

from proofspan.journal.annotations import Annotation, Target, append
from proofspan.manifest.types import Artifact, Manifest
from tests.killed_writers import killed, started

PEOPLE = ("Ada", "Ben")


def write_for_ever(folder: Path, name: str, pipe: int) -> None:
    """Add notes of growing length and acknowledge each."""
    manifest = Manifest("W", folder, annotations=Artifact("annotations", "notes.jsonl", kind="journal"))
    number = 0
    while True:
        number += 1
        text = f"{name} {os.getpid()} {number} " + "x" * (number * 397 % 5_000) + "."
        (note,) = append(manifest, Annotation("note", Target("R006", f"Q{number % 41}"), name, text=text))
        os.write(pipe, f"{note.entry_id}\n".encode())


def main() -> None:
    folder, notes, kills = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(sys.argv[4])
    running = {name: started(partial(write_for_ever, folder, name)) for name in PEOPLE}
    heard = dict.fromkeys(PEOPLE, b"")
    found: list[str] = []
    done = 0
    while len(found) < notes or done < kills:
        # At least one note of each between two kills, then a random moment within a few more.
        wanted = {name: chance.randint(1, max(1, 2 * notes // max(kills, 1))) for name in PEOPLE}
        while any(heard[name].count(b"\n") < wanted[name] for name in PEOPLE):
            ready = select.select([pipe for _, pipe in running.values()], [], [])[0]
            for name, (_, pipe) in running.items():
                if pipe in ready:
                    heard[name] += os.read(pipe, 1 << 16)
        name = PEOPLE[done % 2]
        process, pipe = running[name]
        heard[name] += killed(process, pipe)
        running[name] = started(partial(write_for_ever, folder, name))
        done += 1
        for person in PEOPLE:  # a line that was cut off was not written whole before the process ended
            whole, _, rest = heard[person].rpartition(b"\n")
            found += whole.decode().split()
            heard[person] = b"" if person == name else rest
    for process, pipe in running.values():
        killed(process, pipe)
    sys.stdout.write("\n".join(found))


if __name__ == "__main__":
    main()
