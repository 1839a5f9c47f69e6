"""`proofspan export`: a run's triage as a file, by the filters and functions of the Triage page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proofspan.cli.export_records import KINDS, refuse_filters, write_records
from proofspan.cli.index_cmd import LOCATORS, TIMEOUT_S
from proofspan.cli.output import check_outputs, output_to, workspace_files
from proofspan.cli.paths import NamedPath
from proofspan.cli.results import Option, with_options
from proofspan.contracts.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.profile import TEMPLATES
from proofspan.errors import InputFault
from proofspan.evidence.client import PdfPool
from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.load import load_manifest
from proofspan.metrics.buckets import BUCKETS
from proofspan.services.exports import EXPORTS
from proofspan.services.placing import place_run
from proofspan.services.workspace import chosen_run, profile_of_options, with_profile
from proofspan.store.cache import default_cache_dir
from proofspan.store.filters import FLIPS, SORT_KEYS, Filter, Sort
from proofspan.store.index import build_index
from proofspan.store.measures import MISSES, OUTCOMES
from proofspan.store.placed import EVIDENCE_STATES
from proofspan.store.queries import Store

_OPTIONS: tuple[Option, ...] = (
    click.option("--run", "run_id", help="The run; the latest when none is named."),
    click.option("--label", multiple=True, type=click.Choice(LABELS), help="Only these labels; repeat."),
    click.option("--suspicion", multiple=True, help="Only rows with one of these suspicions; repeat."),
    click.option("--code", multiple=True, help="Only rows that break one of these rules; repeat."),
    click.option("--doc", multiple=True, help="Only rows with evidence from these documents; repeat."),
    click.option("--section", multiple=True, help="Only rows whose rank 1 lies in these sections; repeat."),
    click.option("--gold", multiple=True, type=click.Choice(GOLD_STATES), help="Only these gold; repeat."),
    click.option(
        "--evidence", multiple=True, type=click.Choice(EVIDENCE_STATES), help="Only such cited text."
    ),
    click.option(
        "--omits-warning/--omits-no-warning", "safety", default=None, help="With or without omitted warnings."
    ),
    click.option("--unsupported/--supported", default=None, help="With or without unsupported numbers."),
    click.option("--about", multiple=True, help="Only rows about these places, as in `about`; repeat."),
    click.option("--fails/--fails-not", "fails", default=None, help="Only rows that fail, or that do not."),
    click.option("--bucket", multiple=True, type=click.Choice(BUCKETS), help="Only these buckets; repeat."),
    click.option("--type", multiple=True, help="Only gold questions of these types; repeat."),
    click.option("--state", multiple=True, help="Only these logged λ states; repeat."),
    click.option("--declines/--answers", "refused", default=None, help="Only what declines, or does not."),
    click.option("--miss", default="", type=click.Choice(["", *MISSES]), help="Only what misses a metric."),
    click.option("--cohort", default="", help="Only the questions of this frozen cohort."),
    click.option("--against", "vs", default="", help="The run that the next four speak of."),
    click.option("--was", multiple=True, type=click.Choice(LABELS), help="Only what had these labels there."),
    click.option(
        "--was-bucket", multiple=True, type=click.Choice(BUCKETS), help="Only what was in these buckets."
    ),
    click.option("--flip", default="", type=click.Choice(["", *FLIPS]), help="Only what went this way."),
    click.option("--outcome", default="", type=click.Choice(["", *OUTCOMES]), help="By what it went so."),
    click.option("--text", default="", help="Only rows whose question or answer holds this text."),
    click.option("--all-variants", is_flag=True, help="Paraphrases, seeds and repeats too."),
    click.option("--sort", default="worst", show_default=True, type=click.Choice(SORT_KEYS), help="Order."),
    click.option("--desc", is_flag=True, help="Turn the order round."),
    click.option("--template", type=click.Choice(TEMPLATES), help="Read the run with another profile."),
    click.option("--refusal", multiple=True, help="A refusal phrase of that profile; repeat."),
    click.option("--cache-dir", type=NamedPath(), help="Where the index lies."),
    click.option("-o", "--output", required=True, help="The file to write; - for stdout."),
)


@click.command("export")
@click.argument("kind", type=click.Choice([*EXPORTS, *KINDS]))
@click.argument("workspace", type=NamedPath())
@with_options(*_OPTIONS)
def command(kind: str, workspace: Path, output: str, cache_dir: Path | None, **asked: Any) -> None:
    """Write the questions of one run of WORKSPACE as csv, jsonl or markdown.

    The index is brought up to date first, and citations are located where `--evidence` or `--sort evidence`
    asks for them; else `evidence` and `agreement` are as the last `proofspan index` left them. Text that a
    spreadsheet would take for a formula gets a `'`.

    `log` and `rag_traces` write the run whole, one record a question and segment: log lines, or the table
    `rag_traces` as .jsonl, .parquet or .sql, by the suffix of the output. What a row lacks that the table
    declares NOT NULL is reported on stderr, and the exit status is 1.
    """
    if kind in KINDS:
        refuse_filters(click.get_current_context())
    profile = profile_of_options(asked.pop("template"), asked.pop("refusal"))
    manifest = with_profile(load_manifest(workspace), profile)
    check_outputs([output], workspace_files(manifest))
    run_id = chosen_run(manifest, asked.pop("run_id")).run_id
    cache = cache_dir or default_cache_dir()
    if kind in KINDS:
        run, variants = chosen_run(manifest, run_id), asked["all_variants"]
        write_records(kind, manifest, run, output, cache_dir=cache, all_variants=variants)
        return
    if asked["cohort"] and asked["cohort"] not in read_cohorts(manifest):
        raise InputFault.of(
            "unknown_cohort",
            f"the workspace has no cohort {asked['cohort']!r}",
            where=str(manifest.folder),
            remedy="name one that `proofspan cohort` lists, or freeze it",
        )
    others = [chosen_run(manifest, asked["vs"]).run_id] if asked["vs"] else []
    build_index(manifest, runs=[run_id, *others], cache_dir=cache)
    sort = Sort(asked.pop("sort"), asked.pop("desc"))
    if asked["evidence"] or sort.by == "evidence":
        with PdfPool(workers=LOCATORS, timeout_s=TIMEOUT_S) as pool:
            place_run(manifest, run_id, cache_dir=cache, pool=pool, workers=LOCATORS)
    store = Store(manifest, cache)
    pieces = EXPORTS[kind].pieces(store.rows(Filter(run=run_id, **asked), sort))
    with output_to(output) as sink:
        for piece in pieces:
            sink.write(piece.encode("utf-8", "replace"))
