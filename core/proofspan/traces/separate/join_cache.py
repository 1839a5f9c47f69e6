"""Open a run's traces: their own file, or the one that its separate records are joined into.

The joined file is in the cache and is made again whenever a source changes. Its bytes and its time depend on
the sources only, so that an index recognizes it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import orjson

from proofspan.contracts.records.records import GoldQuestion
from proofspan.errors import Fault, InputFault, Problem, for_all
from proofspan.fingerprints import ends_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.traces.lines.reader import UnusableError, open_source
from proofspan.traces.lines.unpack import (
    artifact_source,
    fingerprint,
    is_packed,
    remove_stale,
    whole_copy,
    write_copy,
)
from proofspan.traces.records.gold import read_gold
from proofspan.traces.separate.record_files import TYPES, RecordFile, Separate

#: Raised whenever the same records are joined into different lines.
JOIN_VERSION: Final = "2"
#: How often sources that change while they are read are joined.
ATTEMPTS: Final = 3


def trace_file(manifest: Manifest, run: Run, *, cache_dir: Path, join: bool = True) -> RecordFile:
    """Return the run's traces: the file that it names, unpacked if packed, else its records joined.

    Missing and damaged files are among its problems, as is a run without either. Joining takes 10 s for
    100,000 questions: with `join` False, records that are not joined yet are pending.
    """
    name = run.traces.path if run.traces is not None else f"runs[{run.run_id}].records"
    try:
        if run.traces is not None:
            source = artifact_path(manifest, run.traces)
            with open_source(source):
                path = artifact_source(manifest, run.traces, cache_dir=cache_dir)
            return RecordFile(path, name, is_final=is_packed(source))
        if run.records:
            return _joined(manifest, run, name, cache_dir, join=join)
    except Fault as fault:
        return RecordFile(None, name, problems=fault.problems)
    message = "the manifest names neither traces nor records for this run"
    fix = "name its file: traces: {path: …}"
    return RecordFile(None, "", problems=(Problem("no_traces", message, f"runs[{run.run_id}]", fix),))


def _joined(manifest: Manifest, run: Run, file: str, cache_dir: Path, *, join: bool) -> RecordFile:
    folder = cache_dir / "joined"
    key = hashlib.sha256(f"{manifest.folder.resolve()}\0{run.run_id}".encode()).hexdigest()[:12]

    def opened(artifact: Artifact) -> Path:
        path = artifact_path(manifest, artifact)
        open_source(path).close()
        return path

    artifacts = {name: run.records[name] for name in TYPES if name in run.records}
    paths = dict(zip(artifacts, for_all(opened, artifacts.values()), strict=True))
    fixed = [name for name, artifact in artifacts.items() if artifact.fix_encoding]
    if manifest.gold is not None:
        with suppress(Fault):  # others report it
            paths["gold"] = opened(manifest.gold)
            fixed += ["gold"] * manifest.gold.fix_encoding
    for _ in range(ATTEMPTS):
        state, time = _state(run, paths, fixed)
        ends = _ends(paths)
        stem = f"{key}-{state}"
        copy, issues_file = whole_copy(folder, stem), folder / f"{stem}.issues"
        if copy is None or not issues_file.exists():
            if not join:
                return RecordFile(None, file, is_final=True, is_pending=True)
            try:
                copy = _join(manifest, run, paths, cache_dir, stem, time)
            except UnusableError:  # a line has changed since the first reading
                continue
            if _ends(paths, ends) != ends:  # replaced; a file that only grew is joined again next time
                continue
            remove_stale(folder, key, keep={copy, issues_file})
        return RecordFile(copy, file, is_final=True, issues_file=issues_file)
    message = "the records of this run are replaced while they are read"
    fix = "Open it when they are complete."
    raise InputFault.of("file_changing", message, where=file, fix=fix)


def _state(run: Run, paths: Mapping[str, Path], fixed: Iterable[str]) -> tuple[str, int]:
    """Return the state of the sources as a hash, and a time made of it, in ns.

    `fixed` are the names of those that are read repaired. The time is the sources' latest to the second,
    then digits of the hash: an index that compares size and time of the joined file notices a change of any
    source.
    """
    prints, newest = [JOIN_VERSION, run.run_id, *fixed], 0
    for name, path in paths.items():
        with open_source(path) as source:
            prints += [name, run.records[name].path if name in run.records else "", fingerprint(source)]
            newest = max(newest, os.fstat(source.fileno()).st_mtime_ns)
    digest = hashlib.sha256("\0".join(prints).encode()).hexdigest()
    second = 10**9
    return digest[:20], newest // second * second + int(digest[20:32], 16) % second


def _ends(
    paths: Mapping[str, Path], upto: Mapping[str, tuple[int, object]] | None = None
) -> dict[str, tuple[int, tuple[bytes, bytes]]]:
    """Return the files' sizes and both their ends; with `upto`, the ends of their first bytes."""
    ends = {}
    for name, path in paths.items():
        with open_source(path) as source:
            size = upto[name][0] if upto else os.fstat(source.fileno()).st_size
            ends[name] = (size, ends_of(source, size))
    return ends


def _join(
    manifest: Manifest, run: Run, paths: Mapping[str, Path], cache_dir: Path, stem: str, time: int
) -> Path:
    """Write the issues, then the joined lines: the file of lines appears last."""
    sources = {}
    for name in TYPES:
        if name in paths:
            plain = artifact_source(manifest, run.records[name], cache_dir=cache_dir)
            sources[name] = RecordFile(plain, run.records[name].path, is_final=is_packed(paths[name]))
    separate = Separate(sources, run_id=run.run_id)
    gold: Mapping[str, GoldQuestion] = {}
    if manifest.gold is not None and "gold" in paths:
        with suppress(InputFault):
            gold_file = artifact_source(manifest, manifest.gold, cache_dir=cache_dir)
            gold, _ = read_gold(gold_file, file=manifest.gold.path)
    lines = (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in separate.lines(gold))
    folder = cache_dir / "joined"
    issues = orjson.dumps([issue.as_json() for issue in separate.issues])
    where, lost = f"runs[{run.run_id}].records", "the records cannot be joined"
    write_copy(folder, stem, [issues], name=f"{stem}.issues", where=where, lost=lost)
    return write_copy(folder, stem, lines, time=time, where=where, lost=lost)
