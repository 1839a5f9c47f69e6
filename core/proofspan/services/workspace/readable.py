"""Read the records of a workspace's files for `proofspan check`, with the readers of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.bundles import BundleLine, read_bundles
from proofspan.journal.cohorts import cohorts_of
from proofspan.journal.lines import read_journal
from proofspan.journal.sprint import entries_of
from proofspan.manifest.check import BUILD_BUNDLES, LINES_UNREADABLE, ArtifactCheck, OnBytes
from proofspan.manifest.types import Artifact
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.reader import unfinished_bytes
from proofspan.traces.lines.unpack import is_packed, plain_source, temporary_folder
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import read_redirects
from proofspan.traces.records.stored_reports import read_report
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.record_files import unreadable
from proofspan.wording import counted

#: Part of the manifest's key → reader of the whole file.
_READERS: Mapping[str, Callable[..., tuple[Sized, list[LineIssue]]]] = {
    "chunks": read_chunks,
    "redirects": read_redirects,
    "gold": read_gold,
    "report": read_report,
}
#: The number of traces between reports of progress.
LINES_A_STEP = 5_000


def reading(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
    """Check that the lines of a file are records: return how many are not, with the first of them.

    As many as the manifest declares are a note.
    """
    part = artifact.key.rsplit("].", 1)[-1]
    try:
        if part in ("cohorts", "sprint"):
            read = read_journal(file, file=artifact.path)
            unread = cohorts_of(read).issues if part == "cohorts" else entries_of(read)[1]
            return lines_problems(artifact, file, len(read[0]) + len(read[1]), unread)
        if part not in ("bundles", "metrics", "traces", *_READERS) and not part.startswith("records."):
            return []
        with unpacked(file, fix_encoding=artifact.fix_encoding) as plain:
            if part == "bundles":
                return _bundle_problems(artifact, file, read_bundles(plain, file=artifact.path))
            damage = [] if artifact.fix_encoding else wrongly_decoded(artifact, plain, file)
            if part == "metrics":  # read where it is compared
                return damage
            if part in _READERS:
                records, issues = _READERS[part](plain, file=artifact.path)
                return damage + lines_problems(artifact, file, len(records) + len(issues), issues)
            is_final = is_packed(file)  # only its last line counts without a line end
            problems = damage + lines_problems(
                artifact, file, *_read_lines(plain, artifact, is_final, on_bytes)
            )
            if not is_final and (size := unfinished_bytes(plain)):
                message = (
                    f"`{artifact.key}`: the last line ({size:,} bytes) has no line end and is not counted"
                )
                problems.append(Problem("last_line_waits", f"{message} yet", str(file), severity="note"))
            return problems
    except InputFault as fault:
        return unusable(artifact, fault)


def wrongly_decoded(artifact: Artifact, plain: Path, file: Path) -> list[Problem]:
    """Return the warning for text in a file that was decoded wrongly, if there is any."""
    found = damage_of(plain, file=str(file))
    return [] if found is None else [replace(found, message=f"`{artifact.key}`: {found.message}")]


@contextmanager
def unpacked(file: Path, *, fix_encoding: bool = False) -> Iterator[Path]:
    """Yield the file, or a temporary copy, unpacked or repaired. Raises InputFault if it is damaged."""
    with temporary_folder() as folder:
        yield plain_source(file, cache_dir=Path(folder), fix_encoding=fix_encoding)


def unusable(artifact: Artifact, fault: InputFault) -> list[Problem]:
    """Return the problems of a file that cannot be read at all, with its key."""
    return [replace(each, message=f"`{artifact.key}`: {each.message}") for each in fault.problems]


def lines_problems(artifact: Artifact, file: Path, lines: int, issues: Sequence[LineIssue]) -> list[Problem]:
    """Return the problems of `lines` lines: those that are no record, and a note on repeated ids."""
    repeats = [issue for issue in issues if issue.code.startswith("duplicate_")]
    unread = [issue for issue in issues if not issue.code.startswith("duplicate_")]
    declared, key, problems = artifact.unreadable_lines, f"`{artifact.key}`", []
    if unread or declared:
        message, first, where, fix = f"{key}: every line could be read", "", str(file), ""
        if unread:
            line, first_issue = unread[0].source.line, unread[0]
            message = f"{key}: {counted(len(unread), 'line')} of {lines:,} could not be read"
            first, where = f"first: line {line:,}: {first_issue.message}", f"{file}:{line}"
            fix = first_issue.fix
        if declared == len(unread):
            message = f"{message}, as declared; {first}"
            problems.append(Problem("lines_unreadable_declared", message, where, severity="note"))
        else:
            if declared is None:
                message = f"{message}, {first}"
            else:
                message += f", but `unreadable_lines` declares {declared:,}{f'; {first}' if first else ''}"
                fix = f"correct the file, or declare the lines: unreadable_lines: {len(unread)}"
            problems.append(Problem(LINES_UNREADABLE, message, where, fix, severity="warning"))
    if repeats:
        repeated = repeats[0]
        message = f"{key}: {counted(len(repeats), 'record')} of an id that came before"
        message += f"; first: {repeated.message}"
        where = f"{file}:{repeated.source.line}"
        problems.append(Problem("ids_repeated", message, where, repeated.fix, severity="note"))
    return problems


def _bundle_problems(
    artifact: Artifact, file: Path, found: Iterable[BundleLine | LineIssue]
) -> list[Problem]:
    """Return the lines that are no bundle by the schema, and a note on bundles of an older version."""
    lines, issues, older = 0, [], []
    for item in found:
        lines += 1
        if isinstance(item, LineIssue):
            issues.append(item)
        elif item.errors:
            place, message = item.errors[0]
            problem = f"`{place}`: {message}"
            issues.append(LineIssue.at(item.source, "bundle_schema", problem, BUILD_BUNDLES, ""))
        elif item.is_older:
            older.append(item.source.line)
    problems = lines_problems(artifact, file, lines, issues)
    if older:
        message = f"`{artifact.key}`: {counted(len(older), 'bundle')} of an older version"
        where = f"{file}:{older[0]}"
        problems.append(Problem("bundles_older", message, where, BUILD_BUNDLES, severity="note"))
    return problems


def _read_lines(
    path: Path, artifact: Artifact, is_final: bool, on_bytes: OnBytes
) -> tuple[int, list[LineIssue]]:
    """Count the lines of traces or separate records, and return those that are none by themselves."""
    found: Iterator[Trace | LineIssue | None]
    run, part = artifact.key.removeprefix("runs[").rsplit("].", 1)
    if part == "traces":
        found = iter_traces(path, file=artifact.path, run_id=run, final=is_final)
    else:
        found = unreadable(part.rsplit(".", 1)[-1], path, file=artifact.path, final=is_final)
    lines = 0
    issues = []
    for item in found:
        lines += 1
        if isinstance(item, LineIssue):
            issues.append(item)
        if item is not None and (lines % LINES_A_STEP == 0 or isinstance(item, LineIssue)):
            on_bytes(item.source.offset)
    return lines, issues


#: Larger files, and packed files of a quarter of that, are not counted, as that would take too long.
MOST_BYTES = 256 << 20
_PACKED = (".gz", ".zst")
_BLOCK = 1 << 20
_BLANK = b" \t\r\n"


def rows_of(checks: Iterable[ArtifactCheck]) -> Mapping[str, int]:
    """Return the number of rows of each file that can be counted, by the artifact's key."""
    found: dict[str, int] = {}
    for check in checks:
        file, kind = check.file, check.artifact.kind
        if file is None or check.size is None or kind not in ("jsonl", "table", "chunks", "journal"):
            continue
        if check.size <= (MOST_BYTES // 4 if file.suffix in _PACKED else MOST_BYTES):
            with suppress(Fault, OSError), unpacked(file) as plain:  # reported by the check itself
                if (rows := count_lines(plain)) is not None:
                    found[check.artifact.key] = rows
    return found


def count_lines(path: Path) -> int | None:
    """Count the lines with more than blanks; None if the file is one JSON array. May raise OSError."""
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
