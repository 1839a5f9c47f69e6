"""`proofspan pack`: the questions of a run with their proof, as one HTML file to hand over."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from proofspan.cli.output import (
    CACHE_OPTION,
    NamedPath,
    check_outputs,
    output_to,
    print_problems,
    progress_bar,
    workspace_files,
)
from proofspan.cli.workspace.index_cmd import LOCATORS, TIMEOUT_S, indexed, refreshed
from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.pack.redaction import FIELDS, Redaction
from proofspan.services.pack.write import MOST_QUESTIONS, needed_runs, write_pack
from proofspan.services.stop_rule import runs_needed
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted


@click.command("pack")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="The run; the latest when none is named.")
@click.option("--against", metavar="ID", help="Compare with this run: differences, fixed and regressed.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MOST_QUESTIONS,
    show_default=True,
    help="The most questions, the most harmful first.",
)
@click.option(
    "--redact",
    "fields",
    multiple=True,
    type=click.Choice(FIELDS),
    help="Leave this field out of the file, and what repeats it; repeat.",
)
@click.option(
    "--redact-document",
    "documents",
    multiple=True,
    metavar="ID",
    help="Leave this document out, and the answers that rest on it; repeat.",
)
@CACHE_OPTION
@click.option("-o", "--output", required=True, help="The HTML file to write; - for stdout.")
def command(workspace: Path, output: str, cache_dir: Path | None, **asked: Any) -> None:
    """Write the questions of a run of WORKSPACE with their proof as one HTML file.

    It has verdicts, claims, the cited parts of pages with their boxes, notices, numbers with intervals, and
    people's verdicts and notes. It opens from disk, makes no request, and can be read without JavaScript. The
    index and the claims are brought up to date first.

    What is redacted is not in the file: a field takes along what would repeat it, such as the claims of an
    answer, and a page that shows a redacted text has no picture.

    Exit status: 0 written, 1 written, but a document or a record is missing, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    check_outputs([output], workspace_files(manifest))
    run, against = chosen_run(manifest, asked["run_id"]), asked["against"]
    if against is not None and chosen_run(manifest, against) == run:
        raise InputFault.of(
            "same_run",
            f"{run.run_id!r} cannot be compared with itself",
            where=str(manifest.folder),
            fix="name the earlier run with --against",
        )
    redaction = Redaction.of(manifest, asked["fields"], asked["documents"])
    refreshed(manifest, runs_needed(manifest, run), cache_dir)  # for the release check
    store = indexed(manifest, needed_runs(manifest, run.run_id, against), cache_dir, claims=True)
    with (
        progress_bar("packing") as on_question,
        PdfPool(workers=LOCATORS, timeout_s=TIMEOUT_S) as pool,
        output_to(output) as sink,
    ):
        report = write_pack(
            sink,
            store,
            manifest,
            run.run_id,
            placer=Placer(pool),
            against=against,
            redaction=redaction,
            limit=asked["limit"],
            on_question=on_question,
        )
    print_problems(report.problems)
    words = counted(report.questions, "question")
    if report.questions < report.whole:
        words = f"the {report.questions:,} most harmful of {report.whole:,} questions; --limit writes more"
    click.echo(f"{run.run_id}: {words}", err=True)
    sys.exit(1 if report.problems else 0)
