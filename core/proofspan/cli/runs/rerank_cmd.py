"""`proofspan rerank`: a cohort's logged top 20 in the order of a cross-encoder, ON against OFF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import orjson

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
from proofspan.cli.workspace.index_cmd import indexed
from proofspan.errors import printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.statistics import LEVEL, share_in_words, wilson
from proofspan.services.compare import p_words
from proofspan.services.rerank.results import KIND, Outcome, moved, problems_of, rerank_records, save
from proofspan.services.rerank.scoring import Reranked, with_model, with_scores
from proofspan.services.rerank.selection import Selection, chosen_cohort, read_sources, select
from proofspan.services.stop_rule import ClassLifts, class_lifts, runs_needed
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.wording import counted

#: The cohort of the sprint plan (docs/requirements.md), and the moves that are printed.
COHORT, SHOWN = "SCORE-POLICY", 40


@click.command("rerank")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="The run; the latest when none is named.")
@click.option("--cohort", "cohort_name", metavar="NAME", help=f"The questions.  [default: {COHORT}]")
@click.option("--all", "is_all", is_flag=True, help="All questions of the run.")
@click.option("--model", "model_folder", type=NamedPath(), help="The folder of a cross-encoder (ONNX).")
@click.option(
    "--scores", "score_file", type=NamedPath(), help="Scores from elsewhere: q_id, chunk_id, score."
)
@click.option(
    "--text",
    type=click.Choice(["section", "chunk"]),
    default="section",
    show_default=True,
    help="What the model reads of a candidate: its section's text or its own.",
)
@click.option("--threads", type=click.IntRange(1, 256), default=1, show_default=True, help="Of the model.")
@click.option("--revision", metavar="TEXT", help="The model's revision, for the saved run's pinning record.")
@click.option("--twice", is_flag=True, help="Score twice and compare, for that record too.")
@click.option("-o", "--output", metavar="FILE", help="Write a rerank record a line; - for stdout.")
@click.option("--save-as", metavar="ID", help="Also add it to the workspace as a run of this id.")
@click.option("--title", help="The title of that run.")
@click.option("--prompt", type=click.IntRange(1, 20), metavar="N", help="Its prompts: the first N.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@CACHE_OPTION
def command(workspace: Path, output: str | None, cache_dir: Path | None, **asked: Any) -> None:
    """Rerank the logged top 20 of a cohort of WORKSPACE offline, and compare ON with OFF.

    OFF is the logged order, ON the order by score; ties go by section id and chunk id. The model is a local
    cross-encoder in ONNX form with its tokenizer.json (pip install 'proofspan[rerank]'); nothing is
    downloaded, and no answer is made again. With --save-as the order becomes a run of the workspace, which
    Compare, Trends and the gate show.

    Exit status: 0 done, 2 unusable input.
    """
    _check(output, **asked)
    manifest = load_manifest(workspace)
    run = chosen_run(manifest, asked["run_id"])
    check_outputs([output] if output is not None else [], _inputs(manifest, asked["score_file"]))
    cohort = None if asked["is_all"] else chosen_cohort(manifest, asked["cohort_name"] or COHORT)
    cache = cache_dir or default_cache_dir()
    reranked = _reranked(select(manifest, run, cohort, cache_dir=cache), **asked)
    outcome = Outcome()
    records = rerank_records(reranked, outcome, prompt=asked["prompt"])
    lines = (orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
    if output is None:
        for _ in lines:
            pass
    else:
        with output_to(output) as sink:
            sink.writelines(lines)
    saved = asked["save_as"]
    if saved is not None:
        save(reranked, run_id=saved, title=asked["title"], prompt=asked["prompt"])
        manifest = load_manifest(workspace)
    rule = _stop_rule(manifest, reranked, outcome, saved, cache)
    print_problems(problems_of(reranked))
    if asked["as_json"]:
        click.echo(json_text(_as_json(reranked, outcome, rule, saved)), nl=False, err=output == STDOUT)
        return
    for line in _in_words(reranked, outcome, rule, saved):
        click.echo(printable(line), err=output == STDOUT)


def _check(output: str | None, **asked: Any) -> None:
    if (asked["model_folder"] is None) == (asked["score_file"] is None):
        raise click.UsageError("name a model's folder with --model, or a file of scores with --scores")
    if asked["is_all"] and asked["cohort_name"] is not None:
        raise click.UsageError("--all and --cohort exclude each other")
    if asked["title"] is not None and asked["save_as"] is None:
        raise click.UsageError("--title is that of the run that --save-as names")


def _inputs(manifest: Manifest, score_file: Path | None) -> Iterator[Path]:
    yield from workspace_files(manifest)
    if score_file is not None:
        yield score_file


def _reranked(selection: Selection, **asked: Any) -> Reranked:
    sources = read_sources(selection.manifest, cache_dir=selection.cache_dir)
    if asked["score_file"] is not None:
        return with_scores(selection, sources, asked["score_file"])
    from proofspan.services.rerank.model import CrossEncoder

    model = CrossEncoder(asked["model_folder"], threads=asked["threads"])
    with progress_bar("reranking") as on_progress:
        return with_model(
            selection,
            sources,
            model,
            text=asked["text"],
            revision=asked["revision"],
            twice=asked["twice"],
            on_pairs=lambda done, total: on_progress(selection.run.run_id, done, total),
        )


def _stop_rule(
    manifest: Manifest, reranked: Reranked, outcome: Outcome, saved: str | None, cache: Path
) -> ClassLifts:
    """Return the lifts of the class with this order as its last run."""
    name = saved or "this order"
    others = replace(manifest, runs=tuple(run for run in manifest.runs if run.run_id != saved))
    of_class = [run for run in others.runs if run.kind == KIND]
    needed = runs_needed(others, of_class[-1]) if of_class else ()
    lifts = class_lifts(indexed(others, needed, cache), others, KIND)
    return lifts.after(outcome.lift(name, reranked.selection.run.run_id)) if outcome.judged else lifts


def _in_words(reranked: Reranked, outcome: Outcome, rule: ClassLifts, saved: str | None) -> Iterator[str]:
    selection, judged = reranked.selection, len(outcome.judged)
    of = "all questions" if selection.cohort is None else f"cohort {selection.cohort.name}"
    lists = ", ".join(outcome.stages)
    asked = counted(len(outcome.moves), "question")
    yield f"{selection.run.run_id}, {of}: {asked}, the top 20 of {lists} reranked by {reranked.name}"
    if not judged:
        yield "None of them can be judged: the gold set has no evidence for them."
        return
    for name, side in (("OFF", "off"), ("ON", "on")):
        first = outcome.first(side)
        yield f"SectionMatch@1 {name:<3} {first:,} of {judged:,}, {share_in_words(first, judged)}"
    if outcome.first("logged") != outcome.first("off"):
        logged = f"{outcome.first('logged'):,} of {judged:,}"
        yield f"The run reranks already: its own last list has the gold section first for {logged}."
    won, lost = len(outcome.converted), len(outcome.regressed)
    test = "chosen because they fail, they can only improve; --all tests whether that is more than chance"
    if outcome.p is not None:
        test = f"{p_words(outcome.p)}, {'' if outcome.p < LEVEL else 'not '}statistically significant"
    yield f"{won:,} converted, {lost:,} regressed: {test}"
    if won <= lost:
        fewer = f"{counted(lost - won, 'question')} fewer than" if won < lost else "as many questions as"
        yield f"Zero lift: ON has the gold section first for {fewer} OFF."
    moves = moved(outcome.moves)
    for move in moves[:SHOWN]:
        yield f"  {move.q_id}: rank {_rank(move.off)} → {_rank(move.on)}"
    if len(moves) > SHOWN:
        yield f"  … and {len(moves) - SHOWN:,} more that moved"
    unmoved = judged - len(moves)
    yield f"{counted(unmoved, 'question')} at the same rank" + (
        f"; {len(outcome.moves) - judged:,} cannot be judged" if judged < len(outcome.moves) else ""
    )
    yield f"Stop rule: {rule.sentence}"
    if saved is not None:
        yield f"Saved as {saved}: proofspan metrics WORKSPACE --run {saved} --against {selection.run.run_id}"


def _rank(rank: int | None) -> str:
    return "none" if rank is None else f"{rank:,}"


def _as_json(reranked: Reranked, outcome: Outcome, rule: ClassLifts, saved: str | None) -> dict[str, Any]:
    selection, judged = reranked.selection, len(outcome.judged)

    def share(side: str) -> dict[str, Any]:
        low, high = wilson(outcome.first(side), judged)
        return {"first": outcome.first(side), "of": judged, "low": low, "high": high}

    return {
        "run_id": selection.run.run_id,
        "cohort": None if selection.cohort is None else selection.cohort.name,
        "reranker": reranked.name,
        "questions": len(outcome.moves),
        "stages": outcome.stages,
        "section_match_at_1": {side: share(side) for side in ("off", "on", "logged")},
        "converted": [move.q_id for move in outcome.converted],
        "regressed": [move.q_id for move in outcome.regressed],
        "p": outcome.p,
        "moves": [asdict(move) for move in outcome.moves],
        "cut": {"texts": reranked.cut, "questions": reranked.cut_questions},
        "settings": reranked.settings,
        "stop_rule": {
            "class": rule.kind,
            "raised": rule.is_raised,
            "sentence": rule.sentence,
            "lifts": [asdict(lift) for lift in rule.lifts],
        },
        "saved_as": saved,
        "problems": [asdict(problem) for problem in problems_of(reranked)],
    }
