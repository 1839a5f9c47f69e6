"""`proofspan triage`: the report of bare trace and chunk files, or of a run of a workspace."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from proofspan.cli.interrupts import heed
from proofspan.cli.output import STDOUT, Output, check_outputs, output_to, workspace_files
from proofspan.cli.paths import NamedPath
from proofspan.cli.results import json_text
from proofspan.contracts.records import LABELS, LineIssue, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.profile import TEMPLATES, profile_from
from proofspan.diagnosis.report import markdown_row, row_to_json, table_head
from proofspan.diagnosis.suggest import Suggestion, add_facts, suggest_profile
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.diagnosis.verdict import QUESTION_UNKNOWN, verdict
from proofspan.errors import InputFault, ManifestFault, Problem, printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.workspace import chosen_run, profile_of_options
from proofspan.store.labelling import find_inputs
from proofspan.store.plan import find_source
from proofspan.traces.chunks import read_chunks
from proofspan.traces.identity import Repeats
from proofspan.traces.reader import open_source
from proofspan.traces.sniff import foreign_file
from proofspan.traces.traces import iter_traces
from proofspan.traces.unpack import plain_source

PROGRESS_AFTER_SECONDS = 1.0
#: So many line issues are printed; `--json` has them all.
ISSUES_SHOWN = 20
_BLOCK = 1 << 20
#: A manifest may be named in place of its folder.
MANIFEST_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Sources:
    """What is read: files with the names that messages give them, and how.

    `run_id` is the manifest's; None with bare files, whose lines may name their own. With `is_final` the
    last line of the traces counts without its line end. `arguments` are the command's, for the advice to
    run it again, `issues` the lines of separate records that belong to no trace.
    """

    traces: Path
    traces_file: str
    chunks: Path
    chunks_file: str
    profile: Profile
    run_id: str | None
    is_final: bool
    arguments: tuple[str, ...]
    issues: tuple[LineIssue, ...] = ()


@dataclass(slots=True)
class Outcome:
    """What a run of the command has counted."""

    profile: Profile
    labels: Counter[str] = field(default_factory=Counter)
    suspicions: Counter[str] = field(default_factory=Counter)
    facts: dict[str, int] = field(default_factory=dict)
    issues: list[LineIssue] = field(default_factory=list)
    waiting_bytes: int = 0

    @property
    def suggestion(self) -> Suggestion | None:
        return suggest_profile(self.facts, self.profile)


@click.command("triage")
@click.argument("traces", metavar="TRACES|WORKSPACE", type=NamedPath())
@click.argument("chunks", required=False, type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="Of a workspace: the run; the latest when none is named.")
@click.option("-o", "--output", "report", required=True, help="The report to write as JSONL; - for stdout.")
@click.option("--markdown", help="Also write the questions as a Markdown table.")
@click.option("--template", type=click.Choice(TEMPLATES), help="Where the template check looks.  [seed]")
@click.option("--refusal", multiple=True, help="A phrase that makes an answer a refusal; repeat for several.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on stdout.")
def command(
    traces: Path,
    chunks: Path | None,
    run_id: str | None,
    report: str,
    markdown: str | None,
    template: str | None,
    refusal: tuple[str, ...],
    as_json: bool,
) -> None:
    """Label the questions of TRACES (JSONL) by the texts of CHUNKS (a JSON array or JSONL).

    Of a WORKSPACE, traces, chunks and profile are those that its manifest names.

    Exit status: 0 every line was read, whatever the labels; 1 some line could not be read; 2 a file cannot be
    used at all.
    """
    profile = profile_of_options(template, refusal)
    outputs = [name for name in (report, markdown) if name is not None]
    if as_json and STDOUT in outputs:
        raise click.UsageError("--json prints its summary on stdout, so -o and --markdown need files")
    with ExitStack() as stack:
        unpacked = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proofspan-")))
        if chunks is not None:
            if run_id is not None:
                raise click.UsageError("--run chooses among the runs of a workspace; bare files hold one")
            check_outputs(outputs, (traces, chunks))
            sources = _bare(traces, chunks, profile or Profile(), unpacked)
        elif traces.is_dir() or traces.suffix in MANIFEST_SUFFIXES:
            manifest = load_manifest(traces)
            check_outputs(outputs, workspace_files(manifest))
            sources = _of_workspace(traces, manifest, run_id, profile, unpacked)
        else:
            raise click.UsageError("name the CHUNKS file after the TRACES, or a workspace alone")
        outcome = Outcome(sources.profile, issues=list(sources.issues))
        corpus = _corpus(sources, outcome)
        rows = _rows(sources, corpus, outcome)
        _write(rows, stack.enter_context(output_to(report)), markdown, stack)
    if as_json:
        click.echo(json_text(_summary(outcome)), nl=False)
    else:
        _print_summary(outcome, [*sources.arguments, "-o", report])
    sys.exit(1 if outcome.issues else 0)


def _bare(traces: Path, chunks: Path, profile: Profile, unpacked: Path) -> Sources:
    return Sources(
        traces=plain_source(traces, cache_dir=unpacked),
        traces_file=str(traces),
        chunks=plain_source(chunks, cache_dir=unpacked),
        chunks_file=str(chunks),
        profile=profile,
        run_id=None,
        is_final=True,
        arguments=(str(traces), str(chunks)),
    )


def _of_workspace(
    workspace: Path, manifest: Manifest, run_id: str | None, profile: Profile | None, unpacked: Path
) -> Sources:
    """The files of one run as the index finds and names them, so that both give the same labels.

    A Fault where the index would have rows without labels or none at all.
    """
    run = chosen_run(manifest, run_id)
    if not run.has_traces:
        _not_named(f"{manifest.folder}: runs[{run.run_id}]", "traces for this run", "traces: {path: …}")
    inputs = find_inputs(manifest, profile or profile_from(manifest.triage), None, cache_dir=unpacked)
    source = find_source(manifest, run, cache_dir=unpacked)
    if inputs.chunks is None or source.path is None:
        raise InputFault(*source.problems, *inputs.problems)
    return Sources(
        traces=source.path,
        traces_file=source.file,
        chunks=inputs.chunks,
        chunks_file=inputs.chunks_file,
        profile=inputs.profile,
        run_id=run.run_id,
        is_final=source.is_final,
        arguments=(str(workspace), "--run", run.run_id),
        issues=source.issues,
    )


def _not_named(where: str, what: str, entry: str) -> NoReturn:
    message = f"the manifest names no {what}"
    raise ManifestFault.of("not_named", message, where=where, remedy=f"add `{entry}` there")


def _corpus(sources: Sources, outcome: Outcome) -> Corpus:
    """The chunk texts. InputFault where the file holds none: no label could be given."""
    file = sources.chunks_file
    found, issues = read_chunks(sources.chunks, file=file)
    outcome.issues += issues
    if not found:
        problems = [_problem(issue) for issue in issues[:ISSUES_SHOWN]]
        remedy = "write chunks as {id, text}, in a JSON array or one a line"
        raise InputFault(Problem("no_chunks", "the file holds no chunk", file, remedy), *problems)
    return Corpus({chunk_id: chunk.text for chunk_id, chunk in found.items()})


def _rows(sources: Sources, corpus: Corpus, outcome: Outcome) -> Iterator[ReportRow]:
    """The report rows in file order, everything counted on the way."""
    path, file = sources.traces, sources.traces_file
    if foreign := foreign_file(path, file=file):
        raise InputFault(_problem(foreign))
    repeats = Repeats()
    end = None if sources.is_final else _end_of_whole_lines(path, outcome)
    with _progress(path) as on_progress:
        for found in iter_traces(path, file=file, run_id=sources.run_id, end=end, final=True):
            on_progress(found.source.offset)
            if isinstance(found, LineIssue):
                outcome.issues.append(found)
                continue
            row = _row(found, corpus, outcome.profile, is_repeat=repeats.key_of(found).repeat > 1)
            if row is None:
                outcome.suspicions.update([QUESTION_UNKNOWN])
                continue
            outcome.labels[row.label] += 1
            outcome.suspicions.update(row.suspicions)
            add_facts(outcome.facts, found, row, outcome.profile)
            yield row


def _end_of_whole_lines(path: Path, outcome: Outcome) -> int:
    """Where the last line end stands now; what follows it is still being written, and is counted."""
    with open_source(path) as source:
        position = size = os.fstat(source.fileno()).st_size
        while position:
            start = max(0, position - _BLOCK)
            source.seek(start)
            found = source.read(position - start).rfind(b"\n")
            if found >= 0:
                position = start + found + 1
                break
            position = start
    outcome.waiting_bytes = size - position
    return position


def _row(trace: Trace, corpus: Corpus, profile: Profile, *, is_repeat: bool) -> ReportRow | None:
    """The row as a file shows it: the identity only as far as the trace itself gives it.

    None where nothing says what was asked.
    """
    row = verdict(trace, corpus, profile)
    if row is None:
        return None
    variant = {"paraphrase": trace.paraphrase, "seed": trace.seed}
    return replace(
        row,
        q_id=row.q_id if trace.raw.get("q_id") or trace.raw.get("qid") else None,
        suspicions=tuple(sorted((*row.suspicions, "duplicate_question"))) if is_repeat else row.suspicions,
        extra={name: number for name, number in variant.items() if number},
    )


def _write(rows: Iterator[ReportRow], report: Output, markdown: str | None, stack: ExitStack) -> None:
    """Write report and table side by side, so that a run of any size passes through once."""
    table = stack.enter_context(output_to(markdown)) if markdown is not None else None
    if table:
        table.write(table_head().encode())
    for row in rows:
        report.write(row_to_json(row) + b"\n")
        if table:
            table.write(markdown_row(row).encode())


@contextmanager
def _progress(path: Path) -> Iterator[_Meter]:
    """A bar on stderr over the bytes of the traces, which appears after a second."""
    with open_source(path) as source:
        total = os.fstat(source.fileno()).st_size
    bar = Progress(
        TextColumn("triage"), BarColumn(), DownloadColumn(), console=Console(stderr=True), transient=True
    )
    try:
        yield _Meter(bar, total)
    finally:
        bar.stop()


class _Meter:
    """Called for every line, looks at the clock for few of them."""

    def __init__(self, bar: Progress, total: int) -> None:
        self._bar, self._total = bar, total
        self._started = time.monotonic()
        self._calls = 0
        self._task: TaskID | None = None

    def __call__(self, offset: int) -> None:
        self._calls += 1
        if self._calls % 256:
            return
        heed()
        if self._task is not None:
            self._bar.update(self._task, completed=offset)
        elif time.monotonic() - self._started > PROGRESS_AFTER_SECONDS:
            self._bar.start()
            self._task = self._bar.add_task("triage", total=self._total, completed=offset)


def _summary(outcome: Outcome) -> dict[str, object]:
    suggestion = outcome.suggestion
    return {
        "traces": outcome.labels.total(),
        "waiting_bytes": outcome.waiting_bytes,
        "labels": {label: outcome.labels[label] for label in LABELS},
        "suspicions": dict(outcome.suspicions),
        "profile": {"template": outcome.profile.template, "refusal": outcome.profile.refusal},
        "template_absent": suggestion
        and {
            "reason": suggestion.reason,
            "template": suggestion.profile.template,
            "refusal": suggestion.profile.refusal,
        },
        "line_issues": [
            {
                "where": f"{issue.source.file}:{issue.source.line}",
                "code": issue.code,
                "reason": issue.reason,
                "remedy": issue.remedy,
                "excerpt": issue.excerpt,
            }
            for issue in outcome.issues
        ],
    }


def _print_summary(outcome: Outcome, arguments: Sequence[str]) -> None:
    """Counts with the profile beside them, the fitting profile where the template is absent, line issues."""
    total = outcome.labels.total()
    lines = [f"{total:,} question{'s' * (total != 1)} · {outcome.profile.describe()}"]
    for label in LABELS:
        count = outcome.labels[label]
        share = f"{count / total:7.1%}" if total else ""
        lines.append(f"  {label:<16} {count:>8}{share}")
    for code, count in sorted(outcome.suspicions.items()):
        lines.append(f"  suspicion: {code} {count}")
    if suggestion := outcome.suggestion:
        again = shlex.join(["proofspan", "triage", *arguments])
        lines += [f"{suggestion.code}: {suggestion.reason}.", f"  Try: {again} {suggestion.options}"]
    if outcome.waiting_bytes:
        waiting = f"{outcome.waiting_bytes:,} bytes of a last line without line end wait for the rest of it"
        lines.append(waiting)
    if outcome.issues:
        lines.append(f"Lines that could not be used as they are: {len(outcome.issues)}")
        lines += [f"  {_problem(issue)}" for issue in outcome.issues[:ISSUES_SHOWN]]
    if len(outcome.issues) > ISSUES_SHOWN:
        lines.append(f"  … and {len(outcome.issues) - ISSUES_SHOWN} more; --json lists them all")
    for line in lines:
        click.echo(printable(line), err=True)


def _problem(issue: LineIssue) -> Problem:
    return Problem(issue.code, issue.reason, f"{issue.source.file}:{issue.source.line}", issue.remedy)
