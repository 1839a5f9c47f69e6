"""`proofspan bundle`: evidence bundles 1.3, built from a workspace's traces and checked against it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

import click

from proofspan.cli.output import STDOUT, NamedPath, check_outputs, json_text, output_to, progress_bar
from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Fault, InputFault, Problem, printable
from proofspan.evidence.bundles import packed
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.check import BUILD_BUNDLES, sha256_of
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.services.bundles.build import (
    Sources,
    build_bundles,
    bundles_path,
    load_catalogue,
    load_sources,
    read_earlier,
    run_of,
    run_with_traces,
)
from proofspan.services.bundles.report import Earlier, RunReport
from proofspan.services.bundles.validate import Validation, validate_bundles
from proofspan.services.documents.document_set import Shelf
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted

#: A quote that stands nowhere makes the worker read the whole document once.
TIMEOUT_S = 60.0
#: Bundles that are packed and written at once.
LINES_A_PIECE = 500


@click.group("bundle")
def command() -> None:
    """Build and validate evidence bundles 1.3."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A run and where its bundles go; `name` as `output_to` takes it."""

    run: Run
    name: str

    @property
    def path(self) -> Path:
        """The file; for standard output a plain name."""
        return Path(self.name)


@dataclass(frozen=True, slots=True)
class _Before:
    """What stands there before a build: bundles whose unknown fields live on, and those written over."""

    known: Earlier
    replaced: Earlier


@command.command("build")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("-o", "--output", help="Another file for the bundles of one run; - for stdout.")
@click.option("--workers", type=click.IntRange(1, 32), default=2, show_default=True, help="PDF processes.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def build(workspace: Path, run_ids: tuple[str, ...], output: str | None, workers: int, as_json: bool) -> None:
    """Build the bundles of WORKSPACE's runs, one line a trace, where the manifest says: runs[].bundles.path.

    Names that end in .zst or .gz are written packed. The same files give the same bytes. Fields that an
    earlier file of bundles has beyond this version's are carried over.

    Exit status: 0 good, 1 something can't be read or drawn, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    targets = _targets(manifest, run_ids, output)
    check_outputs([target.name for target in targets], _inputs(manifest, targets))
    before = _all_before(manifest, targets)
    with PdfPool(workers=workers, timeout_s=TIMEOUT_S) as pool:
        sources, problems = load_sources(manifest, pool)
        reports = [
            _build(manifest, target, earlier, sources, workers, quiet=as_json)
            for target, earlier in zip(targets, before, strict=True)
        ]
    show = _print_json if as_json else _print_built
    show(targets, reports, problems, err=output == STDOUT)
    found = [*problems, *(problem for _, told in reports for problem in told)]
    sys.exit(1 if any(problem.severity == "error" for problem in found) else 0)


def _targets(manifest: Manifest, run_ids: Sequence[str], output: str | None) -> list[_Target]:
    """The runs to build, each with its file. InputFault with everything that keeps one from being built."""
    asked = [chosen_run(manifest, run_id) for run_id in dict.fromkeys(run_ids)]
    runs = asked or [run for run in manifest.runs if run.bundles is not None or output is not None]
    if output is not None:
        if len(runs) != 1:
            raise click.UsageError("-o takes the bundles of one run: name it with --run")
        return [_Target(runs[0], output)]
    problems: list[Problem] = []
    targets = []
    for run in runs or manifest.runs:
        try:
            targets.append(_Target(run, str(bundles_path(manifest, run))))
        except Fault as fault:
            problems += fault.problems
    if problems:
        raise InputFault(*problems)
    if not targets:
        chosen_run(manifest, None)  # says that there is no run
    return targets


def _inputs(manifest: Manifest, targets: Sequence[_Target]) -> Iterator[Path]:
    """Every file of the workspace but the bundles that are built: what must not be written over."""
    built = {target.run.bundles.key for target in targets if target.run.bundles is not None}
    if manifest.file is not None:
        yield manifest.file
    for artifact in manifest.artifacts():
        if artifact.key not in built:
            with suppress(Fault):
                yield artifact_path(manifest, artifact)


def _all_before(manifest: Manifest, targets: Sequence[_Target]) -> list[_Before]:
    """What stands there for each run. InputFault with all that keeps one from being built: none is then."""
    found: list[_Before] = []
    problems: list[Problem] = []
    for target in targets:
        try:
            run_with_traces(manifest, target.run.run_id)
            found.append(_before(manifest, target))
        except Fault as fault:
            problems += fault.problems
    if problems:
        raise InputFault(*problems)
    return found


def _before(manifest: Manifest, target: _Target) -> _Before:
    """The run's own file of bundles is the one that is known, where there is one."""
    own = target.run.bundles
    is_own = _is_own(manifest, target)
    is_file = target.name != STDOUT and target.path.is_file()
    name = own.path if own is not None and is_own else target.name
    replaced = read_earlier(target.path, file=name) if is_file else Earlier()
    if own is None or is_own:
        return _Before(replaced, replaced)
    path = bundles_path(manifest, target.run)
    return _Before(read_earlier(path, file=own.path) if path.is_file() else replaced, replaced)


def _is_own(manifest: Manifest, target: _Target) -> bool:
    """Whether a target is the run's own file, by whatever path; both have to be there."""
    if target.name == STDOUT or target.run.bundles is None:
        return False
    own = bundles_path(manifest, target.run)
    return own.exists() and target.path.exists() and target.path.samefile(own)


def _build(
    manifest: Manifest, target: _Target, before: _Before, sources: Sources, workers: int, *, quiet: bool
) -> tuple[RunReport, list[Problem]]:
    """Writes one run's bundles; what came of it, and what is wrong."""
    run, report = target.run, RunReport(target.run.run_id)
    with output_to(target.name) as sink, progress_bar("building", quiet=quiet) as on_progress:
        piece: list[bytes] = []
        for built in build_bundles(
            manifest,
            run.run_id,
            sources=sources,
            earlier=before.known,
            workers=workers,
            on_bytes=lambda done, total: on_progress(run.run_id, done, total),
        ):
            if isinstance(built, LineIssue):
                report.unread.append(built)
                continue
            report.add(built.bundle)
            piece.append(built.line)
            if len(piece) == LINES_A_PIECE:
                _write(sink, piece, target)
        _write(sink, piece, target)
    known = [artifact.unreadable_lines for artifact in run.trace_artifacts]
    declared = sum(count or 0 for count in known) if any(count is not None for count in known) else None
    problems = report.problems(declared=declared, earlier=before.replaced)
    return report, [*problems, *_hash_note(manifest, target)]


def _write(sink: BinaryIO, piece: list[bytes], target: _Target) -> None:
    """Writes the lines and forgets them."""
    if piece:
        sink.write(packed(b"".join(piece), path=target.path))
        piece.clear()


def _hash_note(manifest: Manifest, target: _Target) -> Iterator[Problem]:
    """The line that the manifest needs where the file that it describes is another one now."""
    artifact = target.run.bundles
    if artifact is None or artifact.sha256 is None or not _is_own(manifest, target):
        return
    actual = sha256_of(target.path)
    if actual != artifact.sha256:
        said = f"the manifest still has the sha256 of other bundles; the line now: sha256: {actual}"
        where = f"{manifest.file or manifest.folder}: {artifact.key}"
        yield Problem("sha256_changed", said, where, "paste the line into the manifest", severity="warning")


def _print_json(
    targets: Sequence[_Target],
    reports: Sequence[tuple[RunReport, list[Problem]]],
    problems: Sequence[Problem],
    *,
    err: bool,
) -> None:
    runs: list[Json] = [
        {
            "run_id": report.run_id,
            "file": target.name,
            "bundles": report.bundles,
            "levels": dict(report.levels),
            "closest_passages": report.passages,
            "coverage": report.coverage.to_json(),
            "citation_problems": dict(report.citation_problems),
            "problems": [asdict(problem) for problem in told],
        }
        for target, (report, told) in zip(targets, reports, strict=True)
    ]
    whole = {"runs": runs, "problems": [asdict(problem) for problem in problems]}
    click.echo(json_text(whole), nl=False, err=err)


def _print_built(
    targets: Sequence[_Target],
    reports: Sequence[tuple[RunReport, list[Problem]]],
    problems: Sequence[Problem],
    *,
    err: bool,
) -> None:
    for target, (report, told) in zip(targets, reports, strict=True):
        click.echo(printable(f"{report.run_id} → {target.name}"), err=err)
        click.echo(f"  {report.in_words()}", err=err)
        click.echo(f"  {report.coverage.in_words()}", err=err)
        for problem in told:
            click.echo(f"{problem.severity}: {problem}", err=True)
    for problem in problems:
        click.echo(f"{problem.severity}: {problem}", err=True)


@command.command("validate")
@click.argument("source", metavar="WORKSPACE|FILE", type=NamedPath())
@click.option("--workspace", type=NamedPath(), help="The workspace of a bare FILE.")
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def validate(source: Path, workspace: Path | None, run_ids: tuple[str, ...], as_json: bool) -> None:
    """Check the bundles of WORKSPACE, or those of one FILE.

    What is checked: schema, hash, traces, pages, drawings, levels, and that no attachment is missing.

    One finding a line: file, line, question, what is wrong and what mends it. What a bundle says itself of an
    answer's citations is a warning.

    Exit status: 0 every bundle holds, 1 one does not, 2 unusable input.
    """
    if workspace is None and source.is_file() and source.name != MANIFEST_NAME:
        raise click.UsageError("the bundles of a bare file belong to a workspace: name it with --workspace")
    manifest = load_manifest(workspace or source)
    files = _files(manifest, run_ids, source if workspace is not None else None)
    catalogue, _ = load_catalogue(manifest)
    with PdfPool(workers=1, timeout_s=TIMEOUT_S) as pool:
        shelf = Shelf(manifest, pool)
        found = [
            validate_bundles(manifest, run_id, path=path, file=name, shelf=shelf, catalogue=catalogue)
            for run_id, path, name in files
        ]
    if as_json:
        _print_validations_json(found)
    else:
        for each in found:
            _print_validation(each)
    sys.exit(0 if all(each.is_good for each in found) else 1)


def _files(manifest: Manifest, run_ids: Sequence[str], bare: Path | None) -> list[tuple[str, Path, str]]:
    """Run, path and name of each file that is to be checked. Fault where there is none."""
    asked = [chosen_run(manifest, run_id) for run_id in dict.fromkeys(run_ids)]
    if bare is not None:
        if len(asked) > 1:
            raise click.UsageError("a bare file holds the bundles of one run: name one")
        return [(asked[0].run_id if asked else run_of(bare), bare, str(bare))]
    runs = asked or [run for run in manifest.runs if run.bundles is not None] or manifest.runs
    found: list[tuple[str, Path, str]] = []
    problems: list[Problem] = []
    for run in runs:
        try:
            path = artifact_path(manifest, run.bundles) if run.bundles else bundles_path(manifest, run)
            found.append((run.run_id, path, run.bundles.path if run.bundles else str(path)))
        except Fault as fault:
            built = [replace(each, fix=BUILD_BUNDLES) for each in fault.problems if each.code == "missing"]
            problems += built or fault.problems
    if problems:
        raise InputFault(*problems)
    if not found:
        chosen_run(manifest, None)  # says that there is no run
    return found


def _print_validation(found: Validation) -> None:
    for finding in found.findings:
        click.echo(f"{finding.severity}: {finding}", err=finding.severity == "warning")
    report = found.report
    click.echo(printable(f"{report.run_id}: {found.file}"))
    click.echo(f"  {report.in_words()}")
    click.echo(f"  {report.coverage.in_words()}")
    errors = sum(finding.severity == "error" for finding in found.findings)
    click.echo("  every bundle holds" if not errors else f"  {counted(errors, 'finding')}")


def _print_validations_json(found: Sequence[Validation]) -> None:
    runs = [
        {
            "run_id": each.report.run_id,
            "file": each.file,
            "ok": each.is_good,
            "bundles": each.report.bundles,
            "levels": dict(each.report.levels),
            "coverage": each.report.coverage.to_json(),
            "findings": [asdict(finding) for finding in each.findings],
        }
        for each in found
    ]
    click.echo(json_text({"runs": runs}), nl=False)
