"""`proofspan bundle`: evidence bundles 1.3, built from a workspace's traces and checked against it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path

import click

from proofspan.cli.output import (
    CACHE_OPTION,
    STDOUT,
    NamedPath,
    check_outputs,
    json_text,
    output_to,
    print_problems,
    progress_bar,
    workspace_files,
)
from proofspan.cli.workspace.index_cmd import refreshed
from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Fault, InputFault, Problem, for_all, printable
from proofspan.evidence.bundles import packed
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.fingerprints import sha256_of
from proofspan.manifest.check import BUILD_BUNDLES
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
from proofspan.services.bundles.validate import validate_bundles
from proofspan.services.documents.document_set import Shelf
from proofspan.services.workspace.open import chosen_run
from proofspan.store.index.scan import spare_pandas
from proofspan.wording import counted

#: A quote that is nowhere in a document makes the worker read the whole document once.
TIMEOUT_S = 60.0
#: Bundles that are compressed and written together.
LINES_A_PIECE = 500


@click.group("bundle")
def command() -> None:
    """Build and validate evidence bundles 1.3."""
    if click.get_current_context().obj:
        spare_pandas()


@command.command("build")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("-o", "--output", help="Another file for the bundles of one run; - for stdout.")
@click.option("--workers", type=click.IntRange(1, 32), default=2, show_default=True, help="PDF processes.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@CACHE_OPTION
def build(
    workspace: Path,
    run_ids: tuple[str, ...],
    output: str | None,
    workers: int,
    as_json: bool,
    cache_dir: Path | None,
) -> None:
    """Build the bundles of WORKSPACE's runs, one line per trace, at the manifest's runs[].bundles.path.

    Files whose name ends in .zst or .gz are compressed. The same input gives the same bytes. Unknown fields
    of an earlier file of bundles are kept. The index is brought up to date first.

    Exit status: 0 good, 1 something can't be read or drawn, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    runs = _runs(manifest, run_ids) if run_ids or output is None else list(manifest.runs)
    if output is not None and len(runs) != 1:
        raise click.UsageError("-o takes the bundles of one run: name it with --run")
    # Each run with the name of its output, as `output_to` takes it.
    targets = for_all(lambda run: (run, output or str(bundles_path(manifest, run))), runs)
    own = [run.bundles for run, _ in targets]
    check_outputs([name for _, name in targets], workspace_files(manifest, without=own))
    earlier = for_all(lambda target: _earlier(manifest, *target), targets)  # all can be built, or none is
    with PdfPool(workers=workers, timeout_s=TIMEOUT_S) as pool:
        sources, problems = load_sources(manifest, pool)
        cache = refreshed(manifest, [run.run_id for run, _ in targets], cache_dir)
        results = [
            (name, *_build(manifest, run, name, known, replaced, sources, cache, workers, quiet=as_json))
            for (run, name), (known, replaced) in zip(targets, earlier, strict=True)
        ]
    if as_json:
        reports: list[Json] = [
            {
                "run_id": report.run_id,
                "file": name,
                "bundles": report.bundles,
                "levels": dict(report.levels),
                "closest_passages": report.passages,
                "coverage": report.coverage(),
                "citation_problems": dict(report.citation_problems),
                "problems": [asdict(problem) for problem in of_run],
            }
            for name, report, of_run in results
        ]
        whole = {"runs": reports, "problems": [asdict(problem) for problem in problems]}
        click.echo(json_text(whole), nl=False, err=output == STDOUT)
    else:
        for name, report, of_run in results:
            click.echo(printable(f"{report.run_id} → {name}"), err=output == STDOUT)
            click.echo(f"  {report.in_words()}", err=output == STDOUT)
            click.echo(f"  {report.coverage_in_words()}", err=output == STDOUT)
            print_problems(of_run)
        print_problems(problems)
    everything = [*problems, *(problem for _, _, of_run in results for problem in of_run)]
    sys.exit(1 if any(problem.severity == "error" for problem in everything) else 0)


def _runs(manifest: Manifest, run_ids: Sequence[str]) -> list[Run]:
    """Return these runs, else those with bundles in the manifest, else all. Raises InputFault without any."""
    requested = [chosen_run(manifest, run_id) for run_id in dict.fromkeys(run_ids)]
    if not manifest.runs:
        chosen_run(manifest, None)  # raises: there is no run
    return requested or [run for run in manifest.runs if run.bundles is not None] or list(manifest.runs)


def _earlier(manifest: Manifest, run: Run, name: str) -> tuple[Earlier, Earlier]:
    """Return the bundles whose unknown fields are kept, and those in the file to be overwritten.

    Raises Fault if the run cannot be built.
    """
    run_with_traces(manifest, run.run_id)
    own, path, is_own = run.bundles, Path(name), _is_own(manifest, run, name)
    is_file = name != STDOUT and path.is_file()
    shown = own.path if own is not None and is_own else name
    replaced = read_earlier(path, file=shown, run_id=run.run_id) if is_file else Earlier()
    if own is None or is_own:
        return replaced, replaced
    path = bundles_path(manifest, run)
    return read_earlier(path, file=own.path, run_id=run.run_id) if path.is_file() else replaced, replaced


def _is_own(manifest: Manifest, run: Run, name: str) -> bool:
    """Return whether an output is the run's own file, by whatever path; both must exist."""
    if name == STDOUT or run.bundles is None:
        return False
    own = bundles_path(manifest, run)
    return own.exists() and Path(name).exists() and Path(name).samefile(own)


def _build(
    manifest: Manifest,
    run: Run,
    name: str,
    known: Earlier,
    replaced: Earlier,
    sources: Sources,
    cache_dir: Path,
    workers: int,
    *,
    quiet: bool,
) -> tuple[RunReport, list[Problem]]:
    report = RunReport(run.run_id)

    def built() -> Iterator[bytes]:
        for item in build_bundles(
            manifest,
            run.run_id,
            sources=sources,
            cache_dir=cache_dir,
            earlier=known,
            workers=workers,
            on_bytes=lambda done, total: on_progress(run.run_id, done, total),
        ):
            if isinstance(item, LineIssue):
                report.unread.append(item)
            else:
                report.add(item[0])
                yield item[1]

    with output_to(name) as sink, progress_bar("building", quiet=quiet) as on_progress:
        lines = built()
        while piece := list(islice(lines, LINES_A_PIECE)):
            sink.write(packed(b"".join(piece), path=Path(name)))
    counts = [artifact.unreadable_lines for artifact in run.trace_artifacts]
    declared = sum(count or 0 for count in counts) if any(count is not None for count in counts) else None
    problems = list(report.problems(declared=declared, earlier=replaced))
    artifact = run.bundles
    named = artifact.sha256 if artifact is not None and _is_own(manifest, run, name) else None
    if artifact is not None and named is not None and (actual := sha256_of(Path(name))) != named:
        message = f"the manifest has the sha256 of other bundles; the new line: sha256: {actual}"
        where = f"{manifest.file or manifest.folder}: {artifact.key}"
        fix = "paste the line into the manifest"
        problems.append(Problem("sha256_changed", message, where, fix, severity="warning"))
    return report, problems


@command.command("validate")
@click.argument("source", metavar="WORKSPACE|FILE", type=NamedPath())
@click.option("--workspace", type=NamedPath(), help="The workspace of a bare FILE.")
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="Only this run (may be repeated).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@CACHE_OPTION
def validate(
    source: Path, workspace: Path | None, run_ids: tuple[str, ...], as_json: bool, cache_dir: Path | None
) -> None:
    """Validate the bundles of WORKSPACE, or those of one FILE.

    Checks schema, hash, traces, pages, drawings, levels, and that no attachment is missing. The index is
    brought up to date first.

    Prints one finding per line: file, line, question, what is wrong and how to fix it. Problems that a bundle
    itself states about an answer's citations are warnings.

    Exit status: 0 every bundle is valid, 1 one is not, 2 unusable input.
    """
    if workspace is None and source.is_file() and source.name != MANIFEST_NAME:
        raise click.UsageError("name the workspace of a bare file with --workspace")
    manifest = load_manifest(workspace or source)
    files = _files(manifest, run_ids, source if workspace is not None else None)
    catalogue, _ = load_catalogue(manifest)
    known = {run.run_id for run in manifest.runs if run.has_traces}
    cache = refreshed(manifest, [run_id for run_id, *_ in files if run_id in known], cache_dir)
    with PdfPool(workers=1, timeout_s=TIMEOUT_S) as pool:
        shelf = Shelf(manifest, pool)
        results = [
            validate_bundles(
                manifest, run_id, path=path, file=name, shelf=shelf, catalogue=catalogue, cache_dir=cache
            )
            for run_id, path, name in files
        ]
    if as_json:
        runs = [
            {
                "run_id": each.report.run_id,
                "file": each.file,
                "ok": not each.errors,
                "bundles": each.report.bundles,
                "levels": dict(each.report.levels),
                "coverage": each.report.coverage(),
                "findings": [finding.to_json(each.file) for finding in each.findings],
            }
            for each in results
        ]
        click.echo(json_text({"runs": runs}), nl=False)
    else:
        for each in results:
            for finding in each.findings:
                severity = finding.problem.severity
                click.echo(f"{severity}: {finding.in_words(each.file)}", err=severity == "warning")
            report, errors = each.report, each.errors
            click.echo(printable(f"{report.run_id}: {each.file}"))
            click.echo(f"  {report.in_words()}")
            click.echo(f"  {report.coverage_in_words()}")
            click.echo(f"  {counted(errors, 'finding')}" if errors else "  every bundle is valid")
    sys.exit(1 if any(each.errors for each in results) else 0)


def _files(manifest: Manifest, run_ids: Sequence[str], bare: Path | None) -> list[tuple[str, Path, str]]:
    """Return run, path and name of each file to validate. Raises Fault without a run."""
    if bare is not None:
        runs = _runs(manifest, run_ids) if run_ids else []
        if len(runs) > 1:
            raise click.UsageError("a bare file holds the bundles of one run: name one")
        return [(runs[0].run_id if runs else run_of(bare), bare, str(bare))]

    def file_of(run: Run) -> tuple[str, Path, str]:
        try:
            path = artifact_path(manifest, run.bundles) if run.bundles else bundles_path(manifest, run)
        except Fault as fault:
            missing = [replace(each, fix=BUILD_BUNDLES) for each in fault.problems if each.code == "missing"]
            raise InputFault(*(missing or fault.problems)) from fault
        return run.run_id, path, run.bundles.path if run.bundles else str(path)

    return for_all(file_of, _runs(manifest, run_ids))
