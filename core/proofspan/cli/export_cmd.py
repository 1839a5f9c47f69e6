"""`proofspan export`: a run's triage as a file, by the filters and functions of the Triage page."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from proofspan.cli.index_cmd import LOCATORS, TIMEOUT_S
from proofspan.cli.metrics_cmd import print_problems
from proofspan.cli.output import NamedPath, Option, check_outputs, output_to, with_options, workspace_files
from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.types import TEMPLATES
from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.ranked import BUCKETS
from proofspan.services.export import EXPORTS, RecordCounts, records_of, writer_for
from proofspan.services.locating import place_run
from proofspan.services.workspace.open import chosen_run, profile_of_options, with_profile
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.files.located import EVIDENCE_STATES
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import FLIPS, SORT_KEYS, Filter, Sort
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.store import Store

# `proofspan export log` and `export rag_traces`: a run's log records, whole and in file order.

#: The kinds that are written whole.
KINDS = ("log", "rag_traces")
#: The options that say something of such a file.
_HEEDED = frozenset({"run_id", "all_variants", "cache_dir", "output"})


def refuse_filters(context: click.Context) -> None:
    """UsageError for an option that a file written whole has no use for."""
    options = {each.name: each for each in context.command.params if isinstance(each, click.Option)}
    for name, option in options.items():
        given = context.get_parameter_source(name) if name else None
        if name not in _HEEDED and given is ParameterSource.COMMANDLINE:
            kind = context.params["kind"]
            raise click.UsageError(f"{option.opts[0]} narrows a list, and {kind} is written whole")


def write_records(
    kind: str, manifest: Manifest, run: Run, output: str, *, cache_dir: Path, all_variants: bool
) -> None:
    """Writes the file; says on stderr what its rows lack, and exits with 1 then."""
    counts, writer = RecordCounts(), writer_for(kind, output)
    records = partial(records_of, manifest, run, cache_dir=cache_dir, all_variants=all_variants)
    with output_to(output) as sink:
        for piece in writer(records, counts):
            sink.write(piece)
    problems = counts.problems()
    print_problems(problems, Console(stderr=True, highlight=False))
    if any(problem.severity != "note" for problem in problems):
        sys.exit(1)


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
            fix="name one that `proofspan cohort` lists, or freeze it",
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
