"""Can the records of a workspace be read? Each file is read by the reader that the index reads it with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.bundles import BundleLine, read_bundles
from proofspan.journal.cohorts import cohorts_of
from proofspan.journal.lines import read_journal
from proofspan.manifest.check import BUILD_BUNDLES, LINES_UNREADABLE, ArtifactCheck, OnBytes
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.traces.lines.reader import unfinished_bytes
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import read_redirects
from proofspan.traces.records.stored_reports import read_report
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import TraceFile, needed_trace_file
from proofspan.traces.separate.record_files import unreadable

#: What reads a file of records whole, by the manifest's key.
_READERS: Mapping[str, Callable[..., tuple[Sized, list[LineIssue]]]] = {
    "chunks": read_chunks,
    "redirects": read_redirects,
    "gold": read_gold,
}
#: Progress is told once in so many traces.
LINES_A_STEP = 5_000


def reading(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
    """What `check_workspace` looks into files of records with, those that people write included.

    At most one finding: how many lines are no record, and the first of them. As many as the manifest declares
    are a note instead.
    """
    part = artifact.key.rsplit("].", 1)[-1]
    is_separate = part.startswith("records.")
    if (
        part not in ("traces", "chunks", "redirects", "gold", "report", "bundles", "cohorts")
        and not is_separate
    ):
        return []
    try:
        if part == "cohorts":
            return _cohort_problems(artifact, file)
        with unpacked(file) as plain:
            if part == "bundles":
                return _bundle_problems(artifact, file, read_bundles(plain, file=artifact.path))
            if part != "traces" and not is_separate:
                return lines_problems(artifact, file, *_read(part, plain, artifact))
            read = _read_separate if is_separate else _read_traces
            found = read(plain, artifact, is_final=plain != file, on_bytes=on_bytes)
            waiting = [] if plain != file else _waiting(artifact, file)
            return [*lines_problems(artifact, file, *found), *waiting]
    except InputFault as fault:
        return unusable(artifact, fault)


@contextmanager
def unpacked(file: Path) -> Iterator[Path]:
    """The file, or a copy of a packed one that is gone at the end. InputFault where it is damaged."""
    with tempfile.TemporaryDirectory(prefix="proofspan-") as folder:
        yield plain_source(file, cache_dir=Path(folder))


@contextmanager
def opened_traces(manifest: Manifest, run: Run) -> Iterator[tuple[Path, TraceFile]]:
    """A run's traces, unpacked or joined for as long as they are read. InputFault where there are none."""
    with tempfile.TemporaryDirectory(prefix="proofspan-") as folder:
        yield needed_trace_file(manifest, run, cache_dir=Path(folder))


def unusable(artifact: Artifact, fault: InputFault) -> list[Problem]:
    """The problems of a file that cannot be read at all, each with the artifact that it is."""
    return [replace(each, message=f"`{artifact.key}`: {each.message}") for each in fault.problems]


def lines_problems(artifact: Artifact, file: Path, lines: int, issues: Sequence[LineIssue]) -> list[Problem]:
    """What there is to say of the lines, `lines` in all, that are no record, and of ids that come again."""
    repeats = [issue for issue in issues if issue.code.startswith("duplicate_")]
    unread = [issue for issue in issues if not issue.code.startswith("duplicate_")]
    return [*_unread(artifact, file, lines, unread), *_repeated(artifact, file, repeats)]


def _repeated(artifact: Artifact, file: Path, repeats: Sequence[LineIssue]) -> list[Problem]:
    """A note about ids that come again: one record of each id counts, which one its reason says."""
    if not repeats:
        return []
    first = repeats[0]
    counted = f"{len(repeats):,} record{'s' * (len(repeats) != 1)}"
    message = f"`{artifact.key}`: {counted} of an id that came before"
    where = f"{file}:{first.source.line}"
    return [Problem("ids_repeated", f"{message}; first: {first.reason}", where, first.fix, severity="note")]


def _unread(artifact: Artifact, file: Path, lines: int, issues: Sequence[LineIssue]) -> list[Problem]:
    """The lines that are no record, against what the manifest declares."""
    declared = artifact.unreadable_lines
    if not issues and not declared:
        return []
    unread = f"{len(issues):,} line{'s' * (len(issues) != 1)} of {lines:,} could not be read"
    if not issues:
        unread = "every line could be read"
    first = f"line {issues[0].source.line:,}: {issues[0].reason}" if issues else ""
    where = f"{file}:{issues[0].source.line}" if issues else str(file)
    if declared == len(issues):
        message = f"`{artifact.key}`: {unread}, as declared; first: {first}"
        return [Problem("lines_unreadable_declared", message, where, severity="note")]
    said = f"`{artifact.key}`: {unread}" + (f", first: {first}" if issues else "")
    fix = issues[0].fix if issues else ""
    if declared is not None:
        said = f"`{artifact.key}`: {unread}, and {declared:,} declared by `unreadable_lines`"
        said += f"; first: {first}" if issues else ""
        fix = f"mend the file, or declare what is known: unreadable_lines: {len(issues)}"
    return [Problem(LINES_UNREADABLE, said, where, fix, severity="warning")]


def _waiting(artifact: Artifact, file: Path) -> list[Problem]:
    """A last line that its writer has not finished: no finding, and nothing is lost."""
    size = unfinished_bytes(file)
    if not size:
        return []
    said = f"the last line ({size:,} bytes) has no line end yet: it waits, and is not counted"
    return [Problem("last_line_waits", f"`{artifact.key}`: {said}", str(file), severity="note")]


def _bundle_problems(
    artifact: Artifact, file: Path, found: Iterable[BundleLine | LineIssue]
) -> list[Problem]:
    """The lines that are no bundle by the schema; bundles of an older version are a note."""
    lines, issues, older = 0, [], []
    for item in found:
        lines += 1
        issue = item if isinstance(item, LineIssue) else _against_schema(item)
        if issue is not None:
            issues.append(issue)
        elif isinstance(item, BundleLine) and item.is_older:
            older.append(item.source.line)
    problems = lines_problems(artifact, file, lines, issues)
    if older:
        said = f"`{artifact.key}`: {len(older):,} bundle{'s' * (len(older) != 1)} of an older version"
        problems.append(Problem("bundles_older", said, f"{file}:{older[0]}", BUILD_BUNDLES, severity="note"))
    return problems


def _cohort_problems(artifact: Artifact, file: Path) -> list[Problem]:
    """The lines of the cohorts file that are none."""
    entries, issues = read_journal(file, file=artifact.path)
    found = cohorts_of((entries, issues))
    return lines_problems(artifact, file, len(entries) + len(issues), found.issues)


def _against_schema(item: BundleLine) -> LineIssue | None:
    """The issue of a line that is not what the schema says."""
    if not item.errors:
        return None
    place, message = item.errors[0]
    return LineIssue(item.source, "bundle_schema", f"`{place}`: {message}", BUILD_BUNDLES, "")


def _read(part: str, path: Path, artifact: Artifact) -> tuple[int, list[LineIssue]]:
    """How many lines (entries of an array) there are, and those that are no record."""
    issues: list[LineIssue]
    if part == "report":
        rows, issues = read_report(path, file=artifact.path)
        return len(rows) + len(issues), issues
    records, issues = _READERS[part](path, file=artifact.path)
    return len(records) + len(issues), issues


def _read_separate(
    path: Path, artifact: Artifact, *, is_final: bool, on_bytes: OnBytes
) -> tuple[int, list[LineIssue]]:
    """The lines of a file of separate records, each by itself: what they belong to is the index's to say."""
    lines, issues = 0, []
    for issue in unreadable(artifact.key.rsplit(".", 1)[-1], path, file=artifact.path, final=is_final):
        lines += 1
        if issue is not None:
            issues.append(issue)
            on_bytes(issue.source.offset)
    return lines, issues


def _read_traces(
    path: Path, artifact: Artifact, *, is_final: bool, on_bytes: OnBytes
) -> tuple[int, list[LineIssue]]:
    """A last line without its line end belongs to a writer still at work, but not in a packed file."""
    lines = 0
    issues = []
    run_id = artifact.key.removeprefix("runs[").rsplit("].", 1)[0]
    for found in iter_traces(path, file=artifact.path, run_id=run_id, final=is_final):
        lines += 1
        if isinstance(found, LineIssue):
            issues.append(found)
        if lines % LINES_A_STEP == 0:
            on_bytes(found.source.offset)
    return lines, issues


# How many records a file of the workspace holds, counted without reading what they say.

#: Larger files, and packed files of a quarter of that, are not counted: a number is not worth the wait.
MOST_BYTES = 256 << 20
_PACKED = (".gz", ".zst")
_BLOCK = 1 << 20
_BLANK = b" \t\r\n"


def rows_of(checks: Iterable[ArtifactCheck]) -> Mapping[str, int]:
    """The rows of each file that can be counted, by the artifact's key; of JSONL its lines that hold
    something."""
    counted = ((check.artifact.key, _rows(check)) for check in checks)
    return {key: rows for key, rows in counted if rows is not None}


def _rows(check: ArtifactCheck) -> int | None:
    file, kind = check.file, check.artifact.kind
    if file is None or check.size is None or kind not in ("jsonl", "chunks", "journal"):
        return None
    if check.size > (MOST_BYTES // 4 if file.suffix in _PACKED else MOST_BYTES):
        return None
    try:
        with unpacked(file) as plain:
            return count_lines(plain)
    except (Fault, OSError):  # what is wrong with it is told by `check`
        return None


def count_lines(path: Path) -> int | None:
    """The lines that hold more than blanks; None where the file is one JSON array. May raise OSError."""
    lines, open_line = 0, False
    with path.open("rb") as stream:
        first = stream.read(_BLOCK)
        if first.lstrip(_BLANK).startswith(b"["):
            return None
        block = first
        while block:
            *whole, last = block.split(b"\n")
            for line in whole:
                lines += open_line or bool(line.strip(_BLANK))
                open_line = False
            open_line = open_line or bool(last.strip(_BLANK))
            block = stream.read(_BLOCK)
    return lines + open_line
