"""Check the claims of whole runs against the chunks and store the results beside the index.

Each answer is checked as the Question page does it. Segments of the index that were checked are kept, also
those of a pass that was interrupted: of a trace file that has grown only the new lines are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.suggest import suggest_profile
from proofspan.diagnosis.types import ReportRow, Signals, profile_from
from proofspan.errors import InputFault
from proofspan.fingerprints import GROWN, change_since
from proofspan.manifest.types import Manifest, Run
from proofspan.services.passes.turns import turn_on
from proofspan.services.question.claims import AnswerChecker
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files import checked as stored
from proofspan.store.files.located import index_identity
from proofspan.store.files.run_file import RunFile, Segment, read_run_file
from proofspan.store.files.segment_files import DamagedError, read_columns
from proofspan.store.files.types import Progress
from proofspan.store.index.build import index_folder, made_elsewhere, workers_for
from proofspan.store.index.kernel import line_batches, trace_lines
from proofspan.store.index.labelling import Inputs, Labeller, find_inputs, labeller_for, read_side_file
from proofspan.store.index.plan import find_source
from proofspan.store.index.scan import spread
from proofspan.traces.lines.worker_process import collector_paused
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.traces import trace_of_line

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """The claims of a run: how many have each status, and its answers by the kinds of their differences.

    `answers` counts its traces, `checked` those that were checked in this call.
    """

    run_id: str
    answers: int
    checked: int
    claims: Mapping[str, int]
    differing: Mapping[str, int]


def check_runs(
    manifest: Manifest,
    run_ids: Sequence[str],
    *,
    cache_dir: Path,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[CheckedReport]:
    """Check the claims of indexed runs, run by run, and store the results; up-to-date runs cost nothing.

    The result does not depend on `workers` (None: as many as pay). `on_progress` gets traces done, traces in
    all and traces checked in this call. Several processes may call this at once. StoreFault where a run has
    no index or the cache cannot be written, InputFault where the run's files are not those of its index.
    """
    for run_id in run_ids:
        run = chosen_run(manifest, run_id)
        with turn_on(manifest, run_id, stored.CLAIMS_FOLDER, cache_dir=cache_dir) as indexed:
            report = _RunChecker(manifest, run, *indexed, cache_dir, workers, on_progress).refresh()
        yield report


def is_checked(manifest: Manifest, run_id: str, cache_dir: Path) -> bool:
    """Return whether the claims of a run are checked by the chunks and rules as they are of its index."""
    folder = index_folder(manifest, run_id, cache_dir)
    known, run_file = stored.read_checked_file(folder), read_run_file(folder)
    return bool(known and run_file and known.is_of(run_file))


@dataclass(frozen=True, slots=True)
class _Source:
    """The file of a run and what its answers are checked against; sent to each worker once."""

    path: Path
    file: str
    run_id: str
    folder: Path
    inputs: Inputs
    is_final: bool
    follows: bool


def answer_checker(inputs: Inputs, *, follows: bool, labeller: Labeller | None = None) -> AnswerChecker:
    """Return the checker of a run's answers. `follows` is whether any of them follows the template.

    `labeller` is that of the inputs, where it is known already.
    """
    labeller = labeller or labeller_for(inputs)[0]
    if labeller.corpus is None:
        return AnswerChecker(inputs.profile, None)
    checker = Checker(labeller.corpus.texts, labeller.corpus.survey, labeller.places)
    notices = read_side_file(inputs.catalogue, read_catalogue)[0]
    return AnswerChecker(inputs.profile, checker, labeller.questions, notices, follows)


@dataclass(slots=True)
class _RunChecker:
    """Checks the claims of one run; holds its lock meanwhile."""

    manifest: Manifest
    run: Run
    folder: Path
    run_file: RunFile
    cache_dir: Path
    workers: int | None
    on_progress: OnProgress | None
    checked: int = 0

    def refresh(self) -> CheckedReport:
        """Bring the stored results up to date."""
        known, segments = stored.read_checked_file(self.folder), self.run_file.segments
        if known is None or not known.is_of(self.run_file) or not self._can_be_read(known):
            parts = self._parts()
            try:
                claims, differing = stored.sums_of(self.folder, parts, segments)
            except DamagedError:  # a file of an earlier pass
                self._discard()
                parts = self._parts()
                claims, differing = stored.sums_of(self.folder, parts, segments)
            index, version = index_identity(self.run_file), stored.claims_version()
            known = stored.CheckedFile(version, index, parts, claims, differing)
            stored.write_checked_file(self.folder, known)
        return CheckedReport(self.run.run_id, self.run_file.rows, self.checked, known.claims, known.differing)

    def _can_be_read(self, known: stored.CheckedFile) -> bool:
        try:
            stored.sums_of(self.folder, known.parts, self.run_file.segments)
        except DamagedError:
            self._discard()
            return False
        return True

    def _discard(self) -> None:
        for path in (self.folder / stored.CLAIMS_FOLDER).glob("*.arrow"):
            path.unlink(missing_ok=True)

    def _parts(self) -> tuple[stored.CheckedPart, ...]:
        """Check the segments that have no file yet, and return the files of all."""
        segments, folder = self.run_file.segments, self.folder / stored.CLAIMS_FOLDER
        missing = [each for each in segments if not (folder / stored.part_name(each)).is_file()]
        self._show_progress(self.run_file.rows - sum(each.rows for each in missing))
        if missing and self.run_file.from_report:  # a report has no answers
            for segment in missing:
                batch = stored.claims_batch([stored.claims_row(None)] * segment.rows)
                stored.write_part(self.folder, stored.part_name(segment), [batch])
        elif missing:
            self._check(missing)
        return tuple(stored.CheckedPart(each.name, stored.part_name(each)) for each in segments)

    def _check(self, segments: Sequence[Segment]) -> None:
        source = self._source()
        size = sum(segment.end - segment.start for segment in segments)
        workers = min(workers_for(size) if self.workers is None else self.workers, len(segments))
        done = self.run_file.rows - sum(segment.rows for segment in segments)
        if workers > 1:
            for rows in spread(
                _check_in_worker,
                iter(segments),
                workers=workers,
                start=_start_worker,
                given=source,
                file=source.file,
            ):
                done, self.checked = done + rows, self.checked + rows
                self._show_progress(done)
        else:
            checker = answer_checker(source.inputs, follows=source.follows)
            with collector_paused():
                for segment in segments:

                    def show(rows: int, before: int = done) -> None:
                        self._show_progress(before + rows)

                    rows = _check_segment(source, checker, segment, show)
                    done, self.checked = done + rows, self.checked + rows
                    self._show_progress(done)
        try:
            self._require_unchanged(source.path)
        except InputFault:
            self._discard()
            raise

    def _source(self) -> _Source:
        """Return what the run is checked by. InputFault where that is not what its index is made of."""
        if made_elsewhere(self.manifest, self.run.run_id) is not None:
            raise InputFault.of(
                "claims_not_made",
                "the index came with the run, and the claims of its answers were not checked then",
                where=str(self.folder),
                fix="make it again with `proofspan spark-index` and without --no-claims",
            )
        profile = profile_from(self.manifest.triage)
        inputs = find_inputs(self.manifest, profile, self.run_file, cache_dir=self.cache_dir, run=self.run)
        source = find_source(self.manifest, self.run, cache_dir=self.cache_dir)
        if inputs.key != self.run_file.key or source.path is None:
            raise self._changed()
        self._require_unchanged(source.path)
        follows = suggest_profile(self.run_file.facts, profile) is None
        run_id = self.run.run_id
        return _Source(source.path, source.file, run_id, self.folder, inputs, source.is_final, follows)

    def _require_unchanged(self, path: Path) -> None:
        printed = self.run_file.source
        try:
            is_same = printed is not None and change_since(path, printed) in GROWN
        except OSError:
            is_same = False
        if not is_same:
            raise self._changed()

    def _changed(self) -> InputFault:
        return InputFault.of(
            "file_changing",
            "the files of this run have changed since they were indexed",
            where=f"runs[{self.run.run_id}]",
            fix=f"proofspan index {self.manifest.folder}",
        )

    def _show_progress(self, traces: int) -> None:
        if self.on_progress is not None:
            self.on_progress(Progress(self.run.run_id, traces, self.run_file.rows, self.checked))


def checked_batch(
    lines: pa.RecordBatch, known: pa.Table, checker: AnswerChecker, *, file: str, run_id: str | None
) -> pa.RecordBatch:
    """Return the claims of the traces among some lines, as a batch of `CHECKED_SCHEMA`.

    `lines` are a batch of `proofspan.store.index.kernel.LINE_SCHEMA`, `known` the columns `LABELLED` of the
    index rows of the same traces; there may be more rows after them. Reads no file: local processes and other
    engines call it alike.
    """
    items = (trace_of_line(raw, file=file, run_id=run_id) for raw in trace_lines(lines))
    return checked_traces((item for item in items if isinstance(item, Trace)), known.to_pylist(), checker)


def checked_traces(
    traces: Iterable[Trace], known: Sequence[Mapping[str, Any]], checker: AnswerChecker
) -> pa.RecordBatch:
    """Return the claims of traces as a batch of `CHECKED_SCHEMA`; `known` are their `LABELLED` values."""
    rows = []
    for trace, row in zip(traces, known, strict=False):  # there may be more known rows
        listed = (checker.notices.get(each) for each in row["safety_omitted"] or ())
        omitted = [each for each in listed if each is not None]
        rows.append(stored.claims_row(checker.judged(trace, _labelled(trace, row), omitted)))
    return stored.claims_batch(rows)


#: How many lines are checked between two reports of progress.
_TOGETHER = 100


def _check_segment(
    source: _Source, checker: AnswerChecker, segment: Segment, on_rows: Callable[[int], None] | None = None
) -> int:
    """Check the traces of a segment, write its file, and return their number."""
    known = read_columns(source.folder, [segment.name], LABELLED)

    def batches() -> Iterator[pa.RecordBatch]:
        count, (start, end) = 0, (segment.start, segment.end if segment.rows else segment.start)
        for lines in line_batches(
            source.path, offset=start, line=segment.line, end=end, final=source.is_final
        ):
            for first in range(0, lines.num_rows, _TOGETHER):
                some = lines.slice(first, _TOGETHER)
                rows = known.slice(count, some.num_rows)
                batch = checked_batch(some, rows, checker, file=source.file, run_id=source.run_id)
                yield batch
                count += batch.num_rows
                if on_rows is not None:
                    on_rows(count)

    return stored.write_part(source.folder, stored.part_name(segment), batches())


#: What a verdict reads of the index.
LABELLED = ("label", "why", "suspicions", "safety_omitted")


def _labelled(trace: Trace, known: Mapping[str, Any]) -> ReportRow | None:
    """Return a trace's report row as far as the index has it; None without a label."""
    if known["label"] is None:
        return None
    suspicions = tuple(known["suspicions"] or ())
    return ReportRow(
        trace.q, known["label"], known["why"] or "", trace.chunk_ids, (), Signals(), suspicions, trace.q_id
    )


#: The source and checker of a worker process.
_worker: tuple[_Source, AnswerChecker] | None = None


def _start_worker(source: _Source) -> None:
    global _worker  # the only way to give a process its chunks once
    _worker = source, answer_checker(source.inputs, follows=source.follows)


def _check_in_worker(segment: Segment) -> int:
    assert _worker is not None  # noqa: S101 - set by the pool's initializer
    return _check_segment(*_worker, segment)
