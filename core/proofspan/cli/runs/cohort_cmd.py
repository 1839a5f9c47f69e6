"""`proofspan cohort`: freeze the questions of a bucket by name, and count their conversions in later runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import cast

import click

from proofspan.cli.output import NamedPath, json_text
from proofspan.cli.workspace.index_cmd import indexed
from proofspan.errors import printable
from proofspan.journal.cohorts import MAX_NAME, Cohort, read_cohorts
from proofspan.manifest.load import load_manifest
from proofspan.metrics.ranked import BUCKETS, Bucket
from proofspan.services.metrics.cohorts import conversions, freeze_bucket
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted


@click.group("cohort")
def command() -> None:
    """Freeze the questions of a bucket by name, and count how many convert in later runs."""


@command.command("freeze")
@click.argument("workspace", type=NamedPath())
@click.argument("name")
@click.option("--run", "run_id", required=True, metavar="ID", help="The run whose bucket it is.")
@click.option("--bucket", required=True, type=click.Choice(BUCKETS), help="Where ranking failed.")
@click.option("--again", is_flag=True, help="Replace a cohort of that name.")
@click.option("--cache-dir", type=NamedPath(), help="The index's folder.")
def freeze(workspace: Path, name: str, run_id: str, bucket: str, again: bool, cache_dir: Path | None) -> None:
    """Freeze the questions that a run of WORKSPACE has in a bucket as the cohort NAME.

    It is appended to the file that the manifest's `cohorts` names, a line per cohort.

    Exit status: 0 it is written, 2 it cannot be, or there is a cohort of that name.
    """
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise click.UsageError(
            f"a cohort's name has 1 to {MAX_NAME} characters, none of them a control character"
        )
    manifest = load_manifest(workspace)
    run = chosen_run(manifest, run_id)
    store = indexed(manifest, [run.run_id], cache_dir)
    cohort = freeze_bucket(store, manifest, name, run_id=run.run_id, bucket=cast(Bucket, bucket), again=again)
    click.echo(printable(f"{_head(cohort)}: {', '.join(cohort.q_ids)}"))


@command.command("list")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_ids", multiple=True, metavar="ID", help="Only this run; repeat.")
@click.option("--json", "as_json", is_flag=True, help="Print cohorts and conversions as JSON.")
@click.option("--cache-dir", type=NamedPath(), help="The index's folder.")
def list_cohorts(workspace: Path, run_ids: tuple[str, ...], as_json: bool, cache_dir: Path | None) -> None:
    """List the cohorts of WORKSPACE, and how many of each converted in each run.

    A question has converted if the gold section comes first.

    Exit status: 0 good, 1 a line of the file is not a cohort, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    runs = [chosen_run(manifest, run_id) for run_id in run_ids] or manifest.runs
    wanted = list(dict.fromkeys(run.run_id for run in runs))
    cohorts = read_cohorts(manifest)
    store = indexed(manifest, wanted, cache_dir)
    results = [
        (cohort, [each for each in conversions(store, manifest, cohort) if each.run_id in wanted])
        for cohort in cohorts.values()
    ]
    issues = cohorts.issues
    if as_json:
        value = {
            "cohorts": [
                {**asdict(cohort), "runs": [asdict(each) for each in converted]}
                for cohort, converted in results
            ],
            "issues": [issue.as_json() for issue in issues],
        }
        click.echo(json_text(value), nl=False)
        sys.exit(1 if issues else 0)
    for cohort, converted in results:
        click.echo(printable(_head(cohort)))
        for each in converted:
            click.echo(printable(f"  {each.run_id}: {each.in_words(cohort.name)}"))
    if not results:
        click.echo("No cohort is frozen yet: proofspan cohort freeze WORKSPACE NAME --run ID --bucket …")
    for issue in issues:
        click.echo(str(issue), err=True)
    sys.exit(1 if issues else 0)


def _head(cohort: Cohort) -> str:
    """`RETRIEVAL-GAP: 6 questions, retrieval_gap of R001`."""
    origin = f"{cohort.bucket or 'some'} of {cohort.run_id}" if cohort.run_id else "chosen by hand"
    count = len(cohort.q_ids)
    return f"{cohort.name}: {counted(count, 'question')}, {origin}"
