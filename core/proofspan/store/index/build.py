"""Build and refresh the index of a workspace: trace files in, segments and one small file per run out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from pathlib import Path

import orjson
import pyarrow as pa

from proofspan.contracts.records.records import LineIssue
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import Fault, InputFault, Problem, StoreFault
from proofspan.fingerprints import GROWN, Fingerprint, change_since, fingerprint_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.store.files import run_file, segment_files
from proofspan.store.files.cache_dir import LAYOUT, run_folder, turn, writing_to
from proofspan.store.files.checked import CLAIMS_FILE, CLAIMS_FOLDER
from proofspan.store.files.columns import ROW_SCHEMA, issue_from, issue_table
from proofspan.store.files.located import PLACED_FILE, PLACED_FOLDER
from proofspan.store.files.run_file import RunFile, Segment
from proofspan.store.files.scores import read_scores, write_scores
from proofspan.store.files.types import IndexReport, OnProgress, Progress, RunReport, State
from proofspan.store.index.labelling import Inputs, Labeller, find_inputs, labeller_for
from proofspan.store.index.plan import Plan, Range, cut, make_plan, segment_bytes
from proofspan.store.index.run_rules import join_run
from proofspan.store.index.scan import Source, index_ranges, index_report
from proofspan.traces.lines.record_list import SUFFIX
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.lines.worker_process import collector_paused
from proofspan.traces.records.stored_reports import StoredRow, read_report
from proofspan.wording import counted

#: Below this many bytes a second process costs more than it saves.
WORTH_A_WORKER = 64 << 20
MOST_WORKERS = 4
#: More small segments than this at the end are merged into one.
MANY_TAILS = 8
#: How often a file that is replaced while it is read is read, in all.
ATTEMPTS = 3
#: How many line issues are in a report; all are in the index.
ISSUES_REPORTED = 100


def build_index(
    manifest: Manifest,
    *,
    runs: Sequence[str] | None = None,
    cache_dir: Path,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> IndexReport:
    """Bring the index of all (or the named) runs up to date; fresh indexes are left alone.

    The result does not depend on `workers` (None: as many as pay). Several processes may call this at once:
    they take turns run by run. StoreFault where the cache cannot be written or a run is not in the manifest;
    problems of single files are in the report.
    """
    profile = profile_from(manifest.triage)
    made: dict[str, tuple[Labeller, tuple[Problem, ...]]] = {}
    reports = []
    for run in _chosen_runs(manifest, runs):
        folder = index_folder(manifest, run.run_id, cache_dir)
        if made_elsewhere(manifest, run.run_id) is not None:
            reports.append(_report_of_made(manifest, run.run_id, folder))
            continue
        builder = Builder(manifest, run, profile, folder, cache_dir, made, workers, on_progress)
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with turn(folder):
                reports.append(builder.refresh())
    return IndexReport(tuple(reports))


def index_state(manifest: Manifest, run_id: str, cache_dir: Path) -> State:
    """Compare a run's files with its index without reading them."""
    (run,) = _chosen_runs(manifest, [run_id])
    if (made := made_elsewhere(manifest, run_id)) is not None:
        return "missing" if run_file.whole_run_file(made) is None else "fresh"
    earlier = run_file.whole_run_file(index_folder(manifest, run_id, cache_dir))
    profile = profile_from(manifest.triage)
    return make_plan(manifest, run, profile, earlier, cache_dir=cache_dir, join=False).state


def index_folder(manifest: Manifest, run_id: str, cache_dir: Path) -> Path:
    """Return the folder of a run's index when it is read with the manifest's profile.

    That of a run whose traces are a list of Parquet files is beside the list, whatever the profile.
    """
    if (made := made_elsewhere(manifest, run_id)) is not None:
        return made
    profile = profile_from(manifest.triage)
    variant = hashlib.sha256(orjson.dumps([profile.template, *profile.refusal])).hexdigest()[:8]
    return run_folder(cache_dir, manifest.folder, run_id, variant)


def made_elsewhere(manifest: Manifest, run_id: str) -> Path | None:
    """Return the folder of an index that came with its run, made by `proofspan spark-index`; else None."""
    run = manifest.run(run_id)
    if run is None or run.traces is None or not run.traces.path.endswith(SUFFIX):
        return None
    return artifact_path(manifest, run.traces).parent / LAYOUT


def not_indexed(manifest: Manifest, run_id: str) -> StoreFault:
    """Return the fault of a run that has no index."""
    if (folder := made_elsewhere(manifest, run_id)) is not None:
        message = f"the index of run {run_id!r} is missing, incomplete or of another version of Proofspan"
        fix = "make it again with `proofspan spark-index`"
        return StoreFault.of("not_indexed", message, where=str(folder), fix=fix)
    message, fix = f"run {run_id!r} has no index yet", f"proofspan index {manifest.folder}"
    return StoreFault.of("not_indexed", message, where=str(manifest.folder), fix=fix)


def discard_damaged(manifest: Manifest, run_id: str, folder: Path) -> StoreFault:
    """Discard a run's index, its located citations or its claims, in `folder`: files of it cannot be read.

    Without the file that names the others it counts as missing, and is built when it is next needed. Returns
    the fault to raise.
    """
    if made_elsewhere(manifest, run_id) is not None:
        fix = "put the files back, or make the index again with `proofspan spark-index`"
        message = f"files of the index of run {run_id!r} are missing or damaged"
        return StoreFault.of("index_damaged", message, where=str(folder), fix=fix)
    for name in (run_file.RUN_FILE, PLACED_FILE, CLAIMS_FILE):
        with suppress(OSError):  # where the cache cannot be written, `proofspan index` reports it
            (folder / name).unlink()
    message = f"files of the index of run {run_id!r} are missing or damaged"
    fix = f"open the run again, or run `proofspan index {manifest.folder}`: its index is then built again"
    return StoreFault.of("index_damaged", message, where=str(folder), fix=fix)


def _report_of_made(manifest: Manifest, run_id: str, folder: Path) -> RunReport:
    """Return the report of an index that came with its run, and is used as it is."""
    made = run_file.whole_run_file(folder)
    if made is None:
        raise not_indexed(manifest, run_id)
    reason = "the index came with the run"
    return RunReport(
        run_id, "fresh", reason, made.rows, 0, made.line_issues, 0, made.problems, _issues(folder, made)
    )


def _issues(folder: Path, built: RunFile) -> tuple[LineIssue, ...]:
    """Return the first line issues of an index."""
    issues: list[LineIssue] = []
    for name in built.issue_files():
        if len(issues) == ISSUES_REPORTED:
            break
        table = segment_files.read_table(folder / name)
        issues += map(issue_from, table.slice(0, ISSUES_REPORTED - len(issues)).to_pylist())
    return tuple(issues)


def workers_for(size: int) -> int:
    """Return how many processes are worth their cost for this number of bytes of traces."""
    return min(os.cpu_count() or 1, MOST_WORKERS) if size >= WORTH_A_WORKER else 1


def _partial(run_id: str, rows: int) -> Problem:
    return Problem(
        "index_partial",
        f"the run is read in part so far: all numbers are of its first {counted(rows, 'trace')}",
        f"runs[{run_id}]",
        "wait until the index is built; `proofspan index` goes on with one that was interrupted",
    )


def _chosen_runs(manifest: Manifest, wanted: Sequence[str] | None) -> list[Run]:
    if wanted is None:
        return list(manifest.runs)
    known = {run.run_id: run for run in manifest.runs}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise StoreFault.of(
            "unknown_run",
            f"the manifest has no run {unknown[0]!r}",
            where=str(manifest.folder),
            fix=f"name one of {', '.join(known) or '(it has none)'}",
        )
    return [known[name] for name in dict.fromkeys(wanted)]


@dataclass(slots=True)
class Builder:
    """Refreshes the index of one run, whose lock is held meanwhile.

    `made` holds the last labeller by its key, for all runs: chunks, gold and catalogue are read once.
    """

    manifest: Manifest
    run: Run
    profile: Profile
    folder: Path
    cache_dir: Path
    made: dict[str, tuple[Labeller, tuple[Problem, ...]]]
    workers: int | None
    on_progress: OnProgress | None
    earlier: RunFile | None = None

    def refresh(self) -> RunReport:
        """Bring the index up to date. InputFault where files keep being replaced while they are read."""
        earlier = self.earlier = run_file.whole_run_file(self.folder)
        for _ in range(ATTEMPTS):
            try:
                if report := self._refreshed(earlier):
                    return report
            except segment_files.DamagedError:
                earlier = None
        raise InputFault.of(
            "file_changing",
            "the files of this run are replaced while they are read",
            where=f"runs[{self.run.run_id}]",
            fix="Index it when they are complete; a file that only grows may be read at any time.",
        )

    def _refreshed(self, earlier: RunFile | None) -> RunReport | None:
        """Refresh once, keeping what is valid of an earlier index; None where files changed meanwhile."""
        if earlier and not segment_files.can_be_read(
            self.folder, [segment.name for segment in earlier.segments]
        ):
            earlier = None
        plan = make_plan(self.manifest, self.run, self.profile, earlier, cache_dir=self.cache_dir)
        if plan.state == "fresh" and earlier is not None:
            return self._report(plan, earlier, lines_read=0)
        kept = earlier if earlier and plan.keep else None
        before = fingerprint_of(plan.source.path) if plan.source.path else None
        built = self._build(plan, kept)
        now = find_inputs(self.manifest, self.profile, built, cache_dir=self.cache_dir, run=self.run)
        path, prints = plan.source.path, (before, kept.source if kept else None)
        try:  # the trace file may have grown meanwhile
            if now.key != plan.inputs.key or not all(
                change_since(path, each) in GROWN for each in prints if path and each
            ):
                return None
        except FileNotFoundError:
            return None
        run_file.write_run_file(self.folder, built)
        report = self._report(plan, built, lines_read=built.lines - (kept.lines if kept else 0))
        wanted = built.files() | built.marks() | {"lock", PLACED_FOLDER, CLAIMS_FOLDER}
        for path in self.folder.iterdir():  # also unfinished files of processes that died
            if path.name not in wanted:
                run_file.remove_folder(path)
                path.unlink(missing_ok=True)
        return report

    def _labeller(self, inputs: Inputs) -> tuple[Labeller, tuple[Problem, ...]]:
        if inputs.labeller_key not in self.made:
            self.made.clear()
            self.made[inputs.labeller_key] = labeller_for(inputs)
        return self.made[inputs.labeller_key]

    def _build(self, plan: Plan, kept: RunFile | None) -> RunFile:
        segments, printed, waiting = self._segments(plan, kept.segments if kept else ())
        return self._run_file(plan, segments, printed, kept=kept, waiting=waiting)

    def _run_file(
        self,
        plan: Plan,
        segments: tuple[Segment, ...],
        printed: Fingerprint | None,
        *,
        kept: RunFile | None = None,
        waiting: int = 0,
        unread: int = 0,
    ) -> RunFile:
        """Write what depends on the whole run, and return the run file that names it and the segments.

        The segments begin with those of the index that is `kept`. With `unread` bytes of the source still to
        read it is that of a part; the stored report, which is of the whole run, is then left out.
        """
        labeller, problems = self._labeller(plan.inputs)
        if unread:
            problems += (_partial(self.run.run_id, sum(segment.rows for segment in segments)),)
        stored: list[StoredRow] = []
        report_issues: list[LineIssue] = []
        report_problems, report_print = plan.report_problems, None
        if plan.report is not None and self.run.report is not None and not unread:
            report_print = fingerprint_of(plan.report)
            try:
                stored, report_issues = read_report(plan.report, file=self.run.report.path)
            except Fault as fault:
                report_problems = fault.problems
        joined, unmatched = join_run(self.folder, segments, stored, kept)
        issues = [*plan.source.issues, *labeller.issues, *report_issues, *unmatched]
        stem = hashlib.sha256(
            repr((plan.inputs.key, [each.name for each in segments], report_print)).encode()
        ).hexdigest()[:12]
        joined_name = f"{stem}.joined.parquet" if joined.num_rows else None
        issues_file = f"{stem}.joined.issues.parquet" if issues else None
        if joined_name:
            segment_files.write_table(self.folder, joined_name, joined)
        if issues_file:
            segment_files.write_table(self.folder, issues_file, issue_table(issues))
        return RunFile(
            key=plan.inputs.key,
            file=plan.source.file,
            source=printed,
            segments=segments,
            waiting_bytes=waiting,
            unread_bytes=unread,
            joined=joined_name,
            joined_issues=issues_file,
            other_issues=len(issues),
            unmatched=len(unmatched),
            report_print=report_print,
            hashes=plan.inputs.hashes,
            from_report=plan.from_report,
            problems=(*plan.source.problems, *plan.inputs.problems, *problems, *report_problems),
        )

    def _segments(
        self, plan: Plan, kept: tuple[Segment, ...]
    ) -> tuple[tuple[Segment, ...], Fingerprint | None, int]:
        """Return the segments that are kept and those read now, in order.

        Also the fingerprint of their source, and the bytes of an unfinished last line.
        """
        path, file = plan.source.path, plan.source.file
        if path is None:
            return (), None, 0
        before = fingerprint_of(path)
        prefix = hashlib.sha256(repr((plan.inputs.key, file, before)).encode()).hexdigest()[:12]
        source = Source(
            path,
            file,
            self.run.run_id,
            self.folder,
            prefix,
            plan.inputs,
            final=plan.source.is_final,
        )
        if plan.from_report:
            return (index_report(source),), before, 0
        start, size = kept[-1].end if kept else 0, before.size
        target = segment_bytes(size)
        line = kept[-1].line + kept[-1].lines if kept else 1
        cuts = cut(path, start=start, line=line, end=size, target=target, final=source.final)
        first = next(cuts, None)
        if not kept and foreign_file(path, file=file):
            first, cuts = Range(0, size, 1, 1), iter(())
        cuts = chain([first] if first else [], cuts)
        workers = workers_for(size - start) if self.workers is None else self.workers
        segments, done, rows = list(kept), start, sum(segment.rows for segment in kept)
        # Where a whole index is there, pages show that one until all is read.
        shown = start if self.earlier is None or self.earlier.unread_bytes else None
        with collector_paused():
            for segment in index_ranges(
                source, lambda: self._labeller(plan.inputs)[0], cuts, workers=workers
            ):
                segments.append(segment)
                done, rows = done + segment.end - segment.start, rows + segment.rows
                if shown is not None and done >= 2 * shown and done < size:
                    shown = self._show_part(plan, segments, size) or shown
                if self.on_progress:
                    self.on_progress(Progress(self.run.run_id, done, size, rows))
        segments.sort(key=lambda segment: segment.start)
        merged = self._merged_tail(tuple(segments), prefix, target)
        end = merged[-1].end if merged else 0
        read_print = fingerprint_of(path, indexed=end)
        return merged, replace(read_print, size=size, mtime_ns=before.mtime_ns), size - end

    def _show_part(self, plan: Plan, segments: Sequence[Segment], size: int) -> int:
        """Let pages use the segments from the beginning of a file that is still being read.

        It is the index of a shorter file: a build that is interrupted goes on from there. Return where the
        part ends, 0 if the first segment is not done yet.
        """
        ready: list[Segment] = []
        for segment in sorted(segments, key=lambda segment: segment.start):
            if segment.start != (ready[-1].end if ready else 0):
                break
            ready.append(segment)
        if ready and plan.source.path is not None:
            end = ready[-1].end
            printed = replace(fingerprint_of(plan.source.path, indexed=end), size=end)
            part = self._run_file(plan, tuple(ready), printed, unread=size - end)
            run_file.write_run_file(self.folder, part)
            return end
        return 0

    def _merged_tail(self, segments: tuple[Segment, ...], prefix: str, target: int) -> tuple[Segment, ...]:
        """Merge many small segments at the end, as a growing file leaves them, into one."""
        small = list(takewhile(lambda each: each.end - each.start < target // 4, reversed(segments)))
        if len(small) <= MANY_TAILS:
            return segments
        tail = segments[-len(small) :]
        first, last = tail[0], tail[-1]
        name = f"{prefix}-{first.start:014d}-{last.end:014d}.parquet"
        names = [segment.name for segment in tail]
        segment_files.write_segment(
            self.folder, name, segment_files.read_columns(self.folder, names, ROW_SCHEMA.names)
        )
        with_issues = [run_file.issues_name(segment.name) for segment in tail if segment.issues]
        if with_issues:
            issues = pa.concat_tables([segment_files.read_table(self.folder / each) for each in with_issues])
            segment_files.write_table(self.folder, run_file.issues_name(name), issues)
        sums = (sum(getattr(each, of) for each in tail) for of in ("lines", "rows", "issues", "scores"))
        lines, rows, count, scored = sums
        if scored:
            write_scores(self.folder, run_file.scores_name(name), read_scores(self.folder, tail))
        facts = run_file.added_facts(tail)
        merged = Segment(name, first.start, last.end, first.line, lines, rows, count, facts, scored)
        return (*segments[: -len(small)], merged)

    def _report(self, plan: Plan, built: RunFile, *, lines_read: int) -> RunReport:
        return RunReport(
            run_id=self.run.run_id,
            was=plan.state,
            reason=plan.reason,
            rows=built.rows,
            lines_read=lines_read,
            line_issues=built.line_issues,
            waiting_bytes=built.waiting_bytes,
            problems=built.problems,
            issues=_issues(self.folder, built),
        )
