"""The one way to open a run's traces: their own file, or that which its separate records are joined into.

The joined file lies in the cache and is made anew whenever one of its sources changes. Its bytes follow from
them alone; so does its time, by which an index knows it again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from proofspan.contracts.records.records import GoldQuestion, Json, LineIssue, SourceLine
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.lines.cache_files import (
    cache_fault,
    copy_name,
    ends_of,
    fingerprint,
    new_part,
    remove_others,
    remove_parts,
    whole_copy,
)
from proofspan.traces.lines.reader import UnusableError, open_source
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.gold import read_gold
from proofspan.traces.separate.join_question import joined_trace
from proofspan.traces.separate.record_files import TYPES, Gold, Identity, RecordSource, Separate

#: Counts up whenever the same records are joined into other lines.
JOIN_VERSION: Final = "2"
#: Sources that change while they are joined are joined again, this often in all.
ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class TraceFile:
    """Where a run's traces lie. `path` is None where there are none to read; `problems` says why.

    `file` is the name that records and issues carry, `is_final` whether the last line counts without its line
    end and the file never grows. `issues_file` holds the line issues of joining, None for a file that was
    not joined; `is_pending` says that it still has to be.
    """

    path: Path | None
    file: str
    is_final: bool = False
    problems: tuple[Problem, ...] = ()
    issues_file: Path | None = None
    is_pending: bool = False

    @property
    def issues(self) -> tuple[LineIssue, ...]:
        """The lines of separate records that were not joined, in the order of their files."""
        if self.issues_file is None:
            return ()
        with open_source(self.issues_file) as source:
            return tuple(_issue(record) for record in orjson.loads(source.read()))


def trace_file(manifest: Manifest, run: Run, *, cache_dir: Path, join: bool = True) -> TraceFile:
    """The run's traces: the file that it names, unpacked if need be, else its records joined.

    Files that are missing or damaged are among its problems; so is a run that names neither. Joining takes
    a while (10 s for 100,000 questions): with `join` False, records that are not joined yet are pending.
    """
    try:
        if run.traces is not None:
            found = artifact_path(manifest, run.traces)
            with open_source(found):
                path = plain_source(found, cache_dir=cache_dir)
            return TraceFile(path, run.traces.path, is_final=path != found)
        if run.records:
            return _joined(manifest, run, cache_dir, join=join)
    except Fault as fault:
        return TraceFile(None, _name(run), problems=fault.problems)
    problem = Problem(
        "no_traces",
        "the manifest names neither traces nor records for this run",
        f"runs[{run.run_id}]",
        "name its file: traces: {path: …}",
    )
    return TraceFile(None, "", problems=(problem,))


def needed_trace_file(manifest: Manifest, run: Run, *, cache_dir: Path) -> tuple[Path, TraceFile]:
    """The path of the run's traces, and the rest. InputFault where there are none to read."""
    found = trace_file(manifest, run, cache_dir=cache_dir)
    if found.path is None:
        raise InputFault(*found.problems)
    return found.path, found


def _name(run: Run) -> str:
    return run.traces.path if run.traces is not None else f"runs[{run.run_id}].records"


def _joined(manifest: Manifest, run: Run, cache_dir: Path, *, join: bool) -> TraceFile:
    folder = cache_dir / "joined"
    key = hashlib.sha256(f"{manifest.folder.resolve()}\0{run.run_id}".encode()).hexdigest()[:12]
    paths = _paths(manifest, run)
    for _ in range(ATTEMPTS):
        state, time = _state(manifest, run, paths)
        ends = _ends(paths)
        stem = f"{key}-{state}"
        copy, issues_file = whole_copy(folder, stem), folder / f"{stem}.issues"
        if copy is None or not issues_file.exists():
            if not join:
                return TraceFile(None, _name(run), is_final=True, is_pending=True)
            try:
                sources = _sources(run, paths, cache_dir)
                copy = _join(folder, stem, sources, _gold(manifest, cache_dir), run.run_id, time)
            except UnusableError:  # a line is not what it was a moment ago
                continue
            if _ends(paths, ends) != ends:  # replaced; what only grew is joined again when it is asked for
                continue
            remove_parts(folder)
            remove_others(copy, key)
            _remove_issues(issues_file, key)
        return TraceFile(copy, _name(run), is_final=True, issues_file=issues_file)
    raise InputFault.of(
        "file_changing",
        "the records of this run are replaced while they are read",
        where=f"runs[{run.run_id}].records",
        fix="Open it when they are complete.",
    )


def _paths(manifest: Manifest, run: Run) -> dict[str, Path]:
    """Where the files of records lie. Fault with every problem at once."""
    paths: dict[str, Path] = {}
    problems: list[Problem] = []
    for name in TYPES:
        if (artifact := run.records.get(name)) is not None:
            try:
                paths[name] = artifact_path(manifest, artifact)
                open_source(paths[name]).close()
            except Fault as fault:
                problems += fault.problems
    if problems:
        raise InputFault(*problems)
    return paths


def _state(manifest: Manifest, run: Run, paths: Mapping[str, Path]) -> tuple[str, int]:
    """What tells one state of the sources from another, and a time that goes with it, in ns.

    The time is the latest of theirs to the second, then digits of the state: an index that remembers size and
    time of the joined file notices a change of any source.
    """
    prints, times = [JOIN_VERSION, run.run_id], [0]
    gold = _gold_path(manifest)
    for name, path in [*paths.items(), *([("gold", gold)] if gold else [])]:
        with open_source(path) as source:
            artifact = run.records.get(name)
            prints += [name, artifact.path if artifact else "", fingerprint(source)]
            times.append(os.fstat(source.fileno()).st_mtime_ns)
    digest = hashlib.sha256("\0".join(prints).encode()).hexdigest()
    second = 10**9
    return digest[:20], max(times) // second * second + int(digest[20:32], 16) % second


def _ends(
    paths: Mapping[str, Path], upto: Mapping[str, tuple[int, bytes]] | None = None
) -> dict[str, tuple[int, bytes]]:
    """The sizes of files and both their ends; with `upto` the ends of what had those sizes."""
    found = {}
    for name, path in paths.items():
        with open_source(path) as source:
            size = upto[name][0] if upto else os.fstat(source.fileno()).st_size
            found[name] = (size, ends_of(source, size))
    return found


def _sources(run: Run, paths: Mapping[str, Path], cache_dir: Path) -> dict[str, RecordSource]:
    plain = {name: plain_source(path, cache_dir=cache_dir) for name, path in paths.items()}
    return {
        name: RecordSource(path, run.records[name].path, is_final=path != paths[name])
        for name, path in plain.items()
    }


def _gold_path(manifest: Manifest) -> Path | None:
    """The gold set, where it can be found; what is wrong with it is said where it is needed for more."""
    if manifest.gold is None:
        return None
    try:
        path = artifact_path(manifest, manifest.gold)
        open_source(path).close()
        return path
    except Fault:
        return None


def _gold(manifest: Manifest, cache_dir: Path) -> Gold:
    """The gold set's question of an identity: the question itself, or its paraphrase of that number."""
    known: dict[str, GoldQuestion] = {}
    if manifest.gold is not None and (path := _gold_path(manifest)) is not None:
        try:
            known, _ = read_gold(plain_source(path, cache_dir=cache_dir), file=manifest.gold.path)
        except InputFault:
            known = {}

    def question(identity: Identity) -> str | None:
        q_id, paraphrase, _ = identity
        if (found := known.get(q_id)) is None:
            return None
        asked = (found.q, *found.paraphrases)
        return asked[paraphrase] if paraphrase < len(asked) else None

    return question


def _join(
    folder: Path, stem: str, sources: Mapping[str, RecordSource], gold: Gold, run_id: str, time: int
) -> Path:
    """Writes the joined lines and the issues beside them; the file of lines appears last."""
    separate = Separate(sources, run_id=run_id)
    lines = (
        orjson.dumps(joined_trace(parts, run_id=run_id), option=orjson.OPT_APPEND_NEWLINE)
        for parts in separate.parts(gold)
    )
    try:
        with new_part(folder, stem) as (out, part):
            size = sum(map(out.write, lines))
            out.flush()
            _write_issues(folder / f"{stem}.issues", stem, separate.issues)
            os.utime(part, ns=(time, time))
            target = folder / copy_name(stem, size)
            part.replace(target)
    except OSError as error:
        where = f"runs[{run_id}].records"
        raise cache_fault(folder, error, "the records cannot be joined", where=where) from error
    return target


def _write_issues(target: Path, stem: str, issues: Iterable[LineIssue]) -> None:
    with new_part(target.parent, stem) as (out, part):
        out.write(orjson.dumps([issue.as_json() for issue in issues]))
        out.flush()
        part.replace(target)


def _issue(record: Mapping[str, Json]) -> LineIssue:
    source = SourceLine(**record["source"])
    return LineIssue.at(source, record["code"], record["reason"], record["fix"], record["excerpt"])


def _remove_issues(kept: Path, key: str) -> None:
    for other in kept.parent.glob(f"{key}-*.issues"):
        if other != kept:
            other.unlink(missing_ok=True)
