"""`proofspan export`: a run's triage as a file, by the filters and functions of the Triage page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import click
from click.core import ParameterSource

from proofspan.cli.output import (
    STDOUT,
    NamedPath,
    check_outputs,
    output_to,
    print_problems,
    workspace_files,
)
from proofspan.cli.workspace.index_cmd import LOCATORS, TIMEOUT_S
from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.types import TEMPLATES
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.errors import InputFault, Problem
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.journal.annotations import read_annotations
from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import BUCKETS
from proofspan.services.export import EXPORTS, RecordExport, triage_exports, with_reviews, writer_for
from proofspan.services.export_formats import export_run, keys_of
from proofspan.services.passes.checking import check_runs
from proofspan.services.passes.locating import place_runs
from proofspan.services.workspace.open import chosen_run, profile_of_options, with_profile
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.files.checked import CLAIM_COLUMNS, CLAIM_STATUSES, DIFFERENCE_KINDS
from proofspan.store.files.evidence_states import EVIDENCE_STATES
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import FLIPS, REVIEWS, SORT_KEYS, SORTS, Filter, Sort, support_bounds
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.score_conditions import Condition, conditions_by_name
from proofspan.store.query.store import Store
from proofspan.traces.exports.registry import EXPORT_FORMATS
from proofspan.traces.exports.types import ExportFormat
from proofspan.traces.importers.staging import staged

#: The kinds that are written in file order.
KINDS = ("log", "rag_traces", *EXPORT_FORMATS)
#: The options that do not apply to them.
_OF_LISTS = frozenset({"sort", "desc", "with_score"})

#: The columns that need checked claims.
CLAIM_READS = frozenset(CLAIM_COLUMNS.names)

Option = Callable[[Callable[..., None]], Callable[..., None]]


def _only(name: str, what: str, values: Iterable[str] = ()) -> Option:
    kind = click.Choice(list(values)) if values else str
    return click.option(name, multiple=True, type=kind, help=f"Only {what}; repeat.")


def _one(name: str, what: str, values: Iterable[str] = ()) -> Option:
    return click.option(name, default="", type=click.Choice(["", *values]) if values else str, help=what)


def _range(context: click.Context, option: click.Parameter, value: str) -> str:
    """Check a range of support."""
    try:
        return value if not value or support_bounds(value) else ""
    except ValueError:
        raise click.BadParameter("write two numbers from 0 to 1, such as 0.25-0.5") from None


def _conditions(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(str(Condition.parse(each)) for each in value)
    except ValueError as error:
        raise click.BadParameter(f"{error}; write NAME>=0.5, NAME=label or NAME=") from None


def _sort(context: click.Context, option: click.Parameter, value: str) -> str:
    try:
        return Sort(value).by
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("export")
@click.argument("kind", type=click.Choice([*EXPORTS, *KINDS]))
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", help="The run; the latest when none is named.")
@_only("--label", "these labels", LABELS)
@_only("--suspicion", "rows with one of these suspicions")
@_only("--code", "rows that break one of these rules")
@_only("--doc", "rows with evidence from these documents")
@_only("--section", "rows whose rank 1 is in these sections")
@_only("--gold", "these gold outcomes", GOLD_STATES)
@_only("--evidence", "these evidence states", EVIDENCE_STATES)
@click.option(
    "--omits-warning/--omits-no-warning", "safety", default=None, help="With or without omitted warnings."
)
@click.option("--unsupported/--supported", default=None, help="With or without unsupported numbers.")
@_only("--claim", "rows with claims of these statuses", CLAIM_STATUSES)
@_only("--difference", "rows with claims that differ in one of these", DIFFERENCE_KINDS)
@click.option(
    "--contradicts/--contradicts-not",
    "contradictions",
    default=None,
    help="With or without differing claims.",
)
@_only("--cause", "rows that failed for these causes", CAUSES)
@_only("--correct", "answers that compare so with the expected one", CORRECT)
@_only("--grounded", "answers that their evidence supports so", GROUNDED)
@click.option("--support", default="", callback=_range, help="Only rows with support in this range: 0-0.5.")
@click.option(
    "--score",
    multiple=True,
    callback=_conditions,
    help="Only rows with such a score of another tool: NAME>=0.5, NAME=label, NAME= for none; repeat.",
)
@_only("--about", "rows about these places")
@click.option("--fails/--fails-not", "fails", default=None, help="Only rows that fail, or that do not.")
@_only("--bucket", "these buckets", BUCKETS)
@_only("--type", "gold questions of these types")
@_only("--state", "these logged λ states")
@click.option("--declines/--answers", "refused", default=None, help="Only refusals, or only answers.")
@_one("--miss", "Only rows that miss this metric.", MISSES)
@_one("--cohort", "Only the questions of this cohort.")
@click.option("--against", "vs", default="", help="The run that the next five refer to.")
@_only("--was", "rows with these labels there", LABELS)
@_only("--was-cause", "rows with these causes there", CAUSES)
@_only("--was-bucket", "rows in these buckets there", BUCKETS)
@_only("--was-correct", "rows of this correctness there", CORRECT)
@_one("--flip", "Only rows that flipped this way.", FLIPS)
@_one("--outcome", "The metric by which they flipped.", OUTCOMES)
@_one("--review", "Only answers that people have reviewed like this.", REVIEWS)
@_one("--reviewer", "The person that --review refers to; anybody when none is named.")
@_one("--assigned", "Only answers that are assigned to this person.")
@_one("--text", "Only rows whose question or answer contains this text.")
@click.option("--all-variants", is_flag=True, help="Include paraphrases, seeds and repeats.")
@click.option(
    "--with-score",
    multiple=True,
    metavar="NAME",
    help="Also write this score, as those that rows are chosen or sorted by; repeat.",
)
@click.option(
    "--sort",
    default="worst",
    show_default=True,
    callback=_sort,
    metavar="ORDER",
    help=f"Order: {', '.join(SORT_KEYS)}, or score:NAME.",
)
@click.option("--desc", is_flag=True, help="Reverse the order.")
@click.option("--template", type=click.Choice(TEMPLATES), help="Read the run with another profile.")
@click.option("--refusal", multiple=True, help="A refusal phrase of that profile; repeat.")
@click.option("--cache-dir", type=NamedPath(), help="The index's folder.")
@click.option("-o", "--output", required=True, help="The file to write; - for stdout.")
def command(kind: str, workspace: Path, output: str, cache_dir: Path | None, **asked: Any) -> None:
    """Write the questions of one run of WORKSPACE as csv, jsonl or markdown.

    The index is refreshed first. Claims are checked where a filter or the order is about them or the verdicts
    on answers, as the default order is; citations are located only for `--evidence` and `--sort evidence`.
    Otherwise their columns are those of the last `proofspan index`. Text that a spreadsheet would read as a
    formula gets a `'`.

    `log` and `rag_traces` write one record for each question and segment in file order: log lines, or the
    table `rag_traces` as .jsonl, .parquet or .sql, by the suffix of the output. If a row lacks a value that
    the table declares NOT NULL, a message says so and the exit status is 1.

    The other kinds are formats of other tools, which `proofspan open` reads again, in file order too. They
    are a file, or a new folder for beir and trec, and hold people's verdicts and notes where they have a
    place for them. What a format has no place for is counted and printed.
    """
    context = click.get_current_context()
    for option in context.command.params if kind in KINDS else ():
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if option.name in _OF_LISTS and is_given:
            raise click.UsageError(f"{option.opts[0]} is about a list, and {kind} is written in file order")
    if asked["reviewer"] and asked["review"] in ("", "disputed"):
        raise click.UsageError("--reviewer names a person for --review, other than --review disputed")
    profile = profile_of_options(asked.pop("template"), asked.pop("refusal"))
    manifest = with_profile(load_manifest(workspace), profile)
    if kind not in EXPORT_FORMATS or not EXPORT_FORMATS[kind].files:
        check_outputs([output], workspace_files(manifest))
    run, cache = chosen_run(manifest, asked.pop("run_id")), cache_dir or default_cache_dir()
    sort, named = Sort(asked.pop("sort"), asked.pop("desc")), asked.pop("with_score")
    sort, shown = Sort("file") if kind in KINDS else sort, Filter(run.run_id, **asked)
    only = None
    if kind not in KINDS or replace(shown, all_variants=False).is_narrowed:
        store = _refreshed(manifest, shown, sort, cache)
        if kind in KINDS:
            only = keys_of(run.run_id, store.places(shown, sort))
    if kind in EXPORT_FORMATS:
        with _sinks(EXPORT_FORMATS[kind], output) as sinks:
            _, problems = export_run(
                manifest,
                run,
                EXPORT_FORMATS[kind],
                sinks,
                cache_dir=cache,
                all_variants=shown.all_variants,
                only=only,
            )
        _exit_with(problems)
    if kind in KINDS:
        export = RecordExport(manifest, run, cache, shown.all_variants, only)
        writer = writer_for(kind, output)
        with output_to(output) as sink:
            sink.writelines(writer(export))
        _exit_with(export.problems())
    scores = tuple(filter(None, dict.fromkeys((*named, *conditions_by_name(shown.score), sort.score))))
    rows = store.rows(shown, sort, with_claims=True, scores=scores)
    if has_reviews := manifest.annotations is not None:
        rows = with_reviews(rows, read_annotations(manifest))
    pieces = triage_exports(scores, has_reviews=has_reviews)[kind].pieces(rows)
    with output_to(output) as sink:
        sink.writelines(piece.encode("utf-8", "replace") for piece in pieces)


def _refreshed(manifest: Manifest, shown: Filter, sort: Sort, cache: Path) -> Store:
    """Return the store with what the filter and the order read: the index, places, checked claims."""
    if shown.cohort and shown.cohort not in read_cohorts(manifest):
        raise InputFault.of(
            "unknown_cohort",
            f"the workspace has no cohort {shown.cohort!r}",
            where=str(manifest.folder),
            fix="choose one that `proofspan cohort list` prints, or freeze it",
        )
    others = [chosen_run(manifest, shown.vs).run_id] if shown.vs else []
    build_index(manifest, runs=[shown.run, *others], cache_dir=cache)
    if shown.evidence or sort.by == "evidence":
        with PdfPool(workers=LOCATORS, timeout_s=TIMEOUT_S) as pool:
            list(place_runs(manifest, [shown.run], cache_dir=cache, pool=pool, workers=LOCATORS))
    ordered = (term.column for term in SORTS.get(sort.by, ()))
    if not CLAIM_READS.isdisjoint((*(each.removeprefix("was_") for each in shown.where().columns), *ordered)):
        list(check_runs(manifest, [shown.run, *others], cache_dir=cache))
    return Store(manifest, cache)


@contextmanager
def _sinks(format_: ExportFormat, output: str) -> Iterator[list[BinaryIO]]:
    """Open the files of a format: the output, or those of a new folder. They appear when the block ends."""
    if not format_.files:
        with output_to(output) as sink:
            yield [sink]
        return
    target = Path(output)
    if output == STDOUT or target.is_file() or (target.is_dir() and any(target.iterdir())):
        message = f"{format_.title} is a folder of files, and this is not a new one"
        raise InputFault.of("not_a_new_folder", message, where=output, fix="name a new or empty folder")
    with staged(target, force=False) as folder, ExitStack() as stack:
        for name in format_.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        yield [stack.enter_context((folder / name).open("wb")) for name in format_.files]


def _exit_with(problems: list[Problem]) -> NoReturn:
    """Print problems, and exit with 1 for those that are more than notes."""
    print_problems(problems)
    sys.exit(1 if any(problem.severity != "note" for problem in problems) else 0)
