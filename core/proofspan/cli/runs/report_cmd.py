"""`proofspan report`: the release report of the dashboard as a PDF or PNG of one page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from proofspan.cli.output import CACHE_OPTION, NamedPath, check_outputs, workspace_files, write_bytes
from proofspan.cli.workspace.index_cmd import indexed, refreshed
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.compare import other_run
from proofspan.services.documents.document_cache import Placer
from proofspan.services.gate import release_verdict
from proofspan.services.report.content import release_report
from proofspan.services.report.proofs import proofs_of, reader_of
from proofspan.services.report.sheet import report_sheet
from proofspan.services.report.what_if import suggestion
from proofspan.services.stop_rule import runs_needed
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.cache_dir import default_cache_dir

#: Seconds for a document to be looked through.
TIMEOUT_S = 60.0
KINDS = ("pdf", "png")


@click.command("report")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="The run; the latest when none is named.")
@click.option("--against", metavar="ID", help="The run to compare with; else its baseline or the one before.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The .pdf or .png to write.")
@CACHE_OPTION
def command(
    workspace: Path, run_id: str | None, against: str | None, output: str, cache_dir: Path | None
) -> None:
    """Write the release report on a run of WORKSPACE as a PDF or PNG of one page.

    It has the verdict of `proofspan gate` with its reasons, the headline numbers, what was fixed and what
    regressed, and pictures of the proofs. A document that is missing is stated in place of its picture.
    The index and the claims are brought up to date first.

    Exit status: 0 written, 2 unusable input.
    """
    kind = Path(output).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise click.UsageError(f"-o {output!r} ends in neither .pdf nor .png")
    manifest = load_manifest(workspace)
    check_outputs([output], workspace_files(manifest))
    run = chosen_run(manifest, run_id)
    if against is not None:
        chosen_run(manifest, against)
    refreshed(manifest, runs_needed(manifest, run), cache_dir)
    runs = filter(None, (run.run_id, against or other_run(manifest, run.run_id)))
    store = indexed(manifest, list(dict.fromkeys(runs)), cache_dir, claims=True)
    verdict = release_verdict(store, manifest, run.run_id, against=against)
    found = suggestion(store, manifest, verdict)
    report = replace(release_report(store, manifest, verdict), what_if=found)
    read = reader_of(store, manifest, run.run_id, cache_dir=cache_dir or default_cache_dir())
    with PdfPool(workers=1, timeout_s=TIMEOUT_S) as pool:
        proofs = proofs_of(report.flips, read, manifest=manifest, placer=Placer(pool))
        drawn = pool.draw(report_sheet(report, proofs), to="png" if kind == "png" else "pdf")
    write_bytes(drawn.data, output)
    click.echo(printable(f"{report.title}: {verdict.words} → {output}"), err=True)
