"""`run.json`: the small file that names the segments of a run's index and what they were made from.

It is the only file that changes, and it is replaced as a whole; every other file is written once under its
own name. So readers always see a complete index.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from proofspan.errors import Problem
from proofspan.fingerprints import Fingerprint, KnownHash

RUN_FILE = "run.json"


@dataclass(frozen=True, slots=True)
class Segment:
    """The rows of the bytes `[start, end)` of the source, in the files `name` and `rows_name(name)`.

    The first line is number `line`; `lines` counts the line ends passed, blank lines included. `issues` is
    the number of rows of its issue file, which is there only where it is not 0, `scores` that of its scores.
    `facts` are what `proofspan.diagnosis.suggest` adds up over a run.
    """

    name: str
    start: int
    end: int
    line: int
    lines: int
    rows: int
    issues: int
    facts: dict[str, int] = field(default_factory=dict)
    scores: int = 0


@dataclass(frozen=True, slots=True)
class RunFile:
    """The contents of `run.json`.

    `key` is a hash of all that labels depend on besides the traces: chunks, gold, profile, rules, index
    version. `source` is None where there is no trace file. `unread_bytes` of it are still to be read where
    this is the index of a part, which pages show meanwhile. `joined` is the file of what depends on the whole
    run (repeats, stored labels), `joined_issues` that of the `other_issues` of chunks and report, which
    belong to no segment; `unmatched` of them are rows of the report without a trace. `report_print` and
    `hashes`, of the other files by their keys in the manifest, spare reading those files again.
    """

    key: str
    file: str
    source: Fingerprint | None
    segments: tuple[Segment, ...]
    waiting_bytes: int = 0
    unread_bytes: int = 0
    joined: str | None = None
    joined_issues: str | None = None
    other_issues: int = 0
    unmatched: int = 0
    report_print: Fingerprint | None = None
    hashes: dict[str, KnownHash] = field(default_factory=dict)
    from_report: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def rows(self) -> int:
        """Return how many traces are indexed."""
        return sum(segment.rows for segment in self.segments)

    def rows_before(self, segment: Segment) -> int:
        """Return how many traces the segments before this one hold."""
        return sum(each.rows for each in self.segments[: self.segments.index(segment)])

    @property
    def lines(self) -> int:
        """Return how many lines of the source were read."""
        return sum(segment.lines for segment in self.segments)

    @property
    def line_issues(self) -> int:
        """Return how many lines of traces, chunks and report could not be read or belong to nothing."""
        return self.other_issues + sum(segment.issues for segment in self.segments)

    @property
    def facts(self) -> dict[str, int]:
        """Return the facts of the whole run."""
        return added_facts(self.segments)

    def files(self) -> set[str]:
        """Return the names of all files that the index needs."""
        segments = [segment.name for segment in self.segments]
        others = [*self.issue_files(), *(scores_name(each.name) for each in self.segments if each.scores)]
        named = [self.joined, RUN_FILE, *others, *segments, *map(rows_name, segments)]
        return {name for name in named if name}

    def marks(self) -> set[str]:
        """Return the names of the files of marks, which are made again where they are missing."""
        return {marks_name(segment.name) for segment in self.segments}

    def issue_files(self) -> list[str]:
        """Return the files of line issues: the traces' in order, then that of chunks and report."""
        names = [issues_name(segment.name) for segment in self.segments if segment.issues]
        return [*names, self.joined_issues] if self.joined_issues else names


def added_facts(segments: Iterable[Segment]) -> dict[str, int]:
    """Return the sums of the facts of several segments."""
    total: Counter[str] = Counter()
    for segment in segments:
        total.update(segment.facts)
    return dict(total)


def rows_name(segment: str) -> str:
    """Return the name of a segment's Arrow file."""
    return segment.removesuffix(".parquet") + ".rows.arrow"


def scores_name(segment: str) -> str:
    """Return the name of the file of a segment's scores."""
    return segment.removesuffix(".parquet") + ".scores.parquet"


def marks_name(segment: str) -> str:
    """Return the name of the file of a segment's marks."""
    return segment.removesuffix(".parquet") + ".marks"


def issues_name(segment: str) -> str:
    """Return the name of the file of a segment's line issues."""
    return segment.removesuffix(".parquet") + ".issues.parquet"


def read_run_file(folder: Path) -> RunFile | None:
    """Return the run file of a folder; None without one of this format."""
    try:
        data = orjson.loads((folder / RUN_FILE).read_bytes())
        for name in ("source", "report_print"):
            data[name] = None if data[name] is None else Fingerprint(**data[name])
        data["hashes"] = {
            key: KnownHash(each["sha256"], Fingerprint(**each["fingerprint"]))
            for key, each in data["hashes"].items()
        }
        data["segments"] = tuple(Segment(**segment) for segment in data["segments"])
        data["problems"] = tuple(Problem(**problem) for problem in data["problems"])
        return RunFile(**data)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def whole_run_file(folder: Path) -> RunFile | None:
    """Return the run file if all files that it names exist: some may have been deleted."""
    run = read_run_file(folder)
    try:
        return run if run and all((folder / name).stat().st_size for name in run.files()) else None
    except FileNotFoundError:
        return None


def write_run_file(folder: Path, run: RunFile) -> None:
    """Replace the run file in one step."""
    write_json(folder, RUN_FILE, asdict(run))


def write_json(folder: Path, name: str, data: object) -> None:
    """Replace a file of JSON in one step."""
    with new_file(folder, name) as part:
        part.write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


@contextmanager
def new_file(folder: Path, name: str) -> Iterator[Path]:
    """Open a temporary path that becomes `folder/name` when the block succeeds and else disappears.

    A folder of that name, which is not ours, is removed.
    """
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".part-")
    os.close(handle)
    part = Path(temporary)
    try:
        yield part
        remove_folder(folder / name)
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a folder with its contents, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
