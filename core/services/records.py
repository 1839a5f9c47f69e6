"""Can the records of a workspace be read? Each file is read by the reader that the index reads it with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from core.contracts.records import LineIssue
from core.errors import InputFault, Problem
from core.manifest.check import LINES_UNREADABLE, Examine
from core.manifest.types import Artifact
from core.traces.chunks import read_chunks
from core.traces.gold import read_gold
from core.traces.reports import read_report
from core.traces.traces import iter_traces
from core.traces.unpack import plain_source


def reading(artifact: Artifact, file: Path) -> Iterable[Problem]:
    """What `check_workspace` looks into traces, chunks, gold and reports with; other files are not read.

    At most one problem: how many lines are no record, and the first of them.
    """
    part = artifact.key.rsplit("].", 1)[-1]
    if part not in ("traces", "chunks", "gold", "report"):
        return ()
    try:
        with tempfile.TemporaryDirectory(prefix="proofspan-") as unpacked:
            lines, issues = _read(part, plain_source(file, cache_dir=Path(unpacked)), artifact)
    except InputFault as fault:
        return [replace(each, message=f"`{artifact.key}`: {each.message}") for each in fault.problems]
    return [_problem(artifact, file, lines, issues)] if issues else ()


def all_of(*examine: Examine) -> Examine:
    """One look that is all of these, one after the other."""

    def look(artifact: Artifact, file: Path) -> Iterable[Problem]:
        return [problem for each in examine for problem in each(artifact, file)]

    return look


def _read(part: str, path: Path, artifact: Artifact) -> tuple[int, list[LineIssue]]:
    """How many lines (entries of an array) there are, and those that are no record."""
    if part == "traces":
        return _read_traces(path, artifact)
    issues: list[LineIssue]
    if part == "report":
        rows, issues = read_report(path, file=artifact.path)
        return len(rows) + len(issues), issues
    read = read_chunks if part == "chunks" else read_gold
    records, issues = read(path, file=artifact.path)
    unreadable = [issue for issue in issues if not issue.code.startswith("duplicate_")]
    return len(records) + len(issues), unreadable


def _read_traces(path: Path, artifact: Artifact) -> tuple[int, list[LineIssue]]:
    """A last line without its line end belongs to a writer still at work, and is left out."""
    lines = 0
    issues = []
    run_id = artifact.key.removeprefix("runs[").rsplit("].", 1)[0]
    for found in iter_traces(path, file=artifact.path, run_id=run_id):
        lines += 1
        if isinstance(found, LineIssue):
            issues.append(found)
    return lines, issues


def _problem(artifact: Artifact, file: Path, lines: int, issues: list[LineIssue]) -> Problem:
    first = issues[0]
    count = f"{len(issues):,} line{'s' * (len(issues) > 1)} of {lines:,} could not be read"
    return Problem(
        LINES_UNREADABLE,
        f"`{artifact.key}`: {count}, first: line {first.source.line:,}: {first.reason}",
        where=f"{file}:{first.source.line}",
        remedy=first.remedy,
        severity="warning",
    )
