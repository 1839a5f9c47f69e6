"""Write a run in the format of another tool, and count what that format has no place for."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import pandas as pd

from proofspan.contracts.records.records import LineIssue, TraceKey
from proofspan.errors import Problem
from proofspan.journal.annotations import read_annotations
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.export import RecordExport
from proofspan.store.files.columns import KEY_COLUMNS
from proofspan.traces.exports.asked import asked_of, passage_of
from proofspan.traces.exports.types import ExportFormat, Writing
from proofspan.traces.formats.types import Asked
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.wording import counted

T = TypeVar("T")
#: Most kinds of facts that a message names.
MOST_NAMED = 12


def export_run(
    manifest: Manifest,
    run: Run,
    format_: ExportFormat,
    sinks: Sequence[BinaryIO],
    *,
    cache_dir: Path,
    all_variants: bool = False,
    only: frozenset[TraceKey] | None = None,
) -> tuple[Writing, list[Problem]]:
    """Write a run to the opened files of a format, and return what was written and the problems.

    A question without an id of its own repeats, so only paraphrase 0 and seed 0 are written unless
    `all_variants` are requested. `only` are the traces to write, None for all. Each is written with the
    latest verdict of every person and with their notes. Raises InputFault or ManifestFault if a file of the
    workspace cannot be read at all.
    """
    problems: list[Problem] = []
    chunks = _table(manifest, manifest.chunks, read_chunks, cache_dir, problems)
    gold = _table(manifest, manifest.gold, read_gold, cache_dir, problems)
    reviews = read_annotations(manifest)
    edited = [each for each in reviews.issues if each.code == "edited_entry"]  # they count
    problems += [*edited, *_unread(each for each in reviews.issues if each not in edited)]
    writing, records = Writing(), RecordExport(manifest, run, cache_dir, all_variants, only)

    seen: Counter[str] = Counter()

    def asked() -> Iterator[Asked]:
        for trace in records.traces():
            each = asked_of(trace, chunks=chunks, gold=gold, run=run.title or "", reviews=reviews)
            if each.fields.get("seed") == seen[trace.q_id]:  # readers count repeats
                del each.fields["seed"]
            seen[trace.q_id] += 1
            writing.count(each, format_)
            yield each

    format_.write(asked(), map(passage_of, chunks.values()), sinks)
    return writing, [*problems, *records.problems(), *left_out(writing, format_.title)]


def packed_run(
    manifest: Manifest, run: Run, format_: ExportFormat, *, cache_dir: Path, only: frozenset[TraceKey]
) -> bytes:
    """Return some traces of a run in a format, of one that is a folder as a ZIP archive; see `export_run`."""
    sinks = [io.BytesIO() for _ in format_.files or ("",)]
    export_run(manifest, run, format_, sinks, cache_dir=cache_dir, all_variants=True, only=only)
    if not format_.files:
        return sinks[0].getvalue()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, sink in zip(format_.files, sinks, strict=True):
            packed.writestr(name, sink.getvalue())
    return archive.getvalue()


def keys_of(run_id: str, rows: pd.DataFrame) -> frozenset[TraceKey]:
    """Return which traces the rows of a list are, by their `KEY_COLUMNS`."""
    return frozenset(
        TraceKey(run_id, *key) for key in rows[[*KEY_COLUMNS]].itertuples(index=False, name=None)
    )


def left_out(writing: Writing, title: str) -> Iterator[Problem]:
    """Yield a note of everything that the format has no place for, the most frequent first."""
    if not writing.left:
        return
    named = _named(writing.left)
    message = f"{title} has no place for {named}; left out of {counted(writing.questions, 'question')}"
    yield Problem("not_in_format", message, fix="keep the workspace, which has all of it", severity="note")


def _named(left: Counter[str]) -> str:
    ordered = sorted(left.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{name} ({number:,})" for name, number in ordered[:MOST_NAMED]]
    if hidden := len(ordered) - len(named):
        named.append(f"{hidden:,} more")
    return ", ".join(named)


def _table(
    manifest: Manifest,
    artifact: Artifact | None,
    read: Callable[..., tuple[Mapping[str, T], Iterable[LineIssue]]],
    cache_dir: Path,
    problems: list[Problem],
) -> Mapping[str, T]:
    """Return the records of a side file by id, {} without one; its bad lines are one problem."""
    if artifact is None:
        return {}
    found, issues = read(artifact_source(manifest, artifact, cache_dir=cache_dir), file=artifact.path)
    problems += _unread(each for each in issues if not each.code.startswith("duplicate_"))
    return found


def _unread(issues: Iterable[LineIssue]) -> list[Problem]:
    """Return one problem for all lines of a file that could not be read; none without any."""
    if not (unread := [*issues]):
        return []
    message = f"{counted(len(unread), 'line')} could not be read, first: {unread[0].message}"
    return [Problem("lines_unreadable", message, unread[0].where, unread[0].fix)]
