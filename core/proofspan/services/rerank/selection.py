"""The questions that are reranked, and the files that decide how they are read and judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.diagnosis.types import profile_from
from proofspan.errors import InputFault
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.gold_eval import ChunkFile, Judge
from proofspan.services.derived_runs import parent_traces
from proofspan.services.rerank.candidates import Asked, asked_in
from proofspan.store.index.labelling import find_inputs, read_side_file
from proofspan.traces.records.chunks import Places, place_of, read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today, mapped, read_redirects, with_redirects


@dataclass(frozen=True, slots=True)
class Selection:
    """The traces to rerank. `questions` are all of the run, `absent` those of the cohort that it lacks.

    `bare` of the cohort's traces list no candidate; `issues` are lines of the run without a trace.
    """

    manifest: Manifest
    run: Run
    cache_dir: Path
    cohort: Cohort | None
    asked: tuple[Asked, ...]
    questions: frozenset[str]
    absent: tuple[str, ...]
    bare: int
    issues: tuple[LineIssue, ...]


@dataclass(frozen=True, slots=True)
class Sources:
    """The chunks by id, earlier ids too, and the gold questions; `hashes` are of the files they are from."""

    chunks: Mapping[str, Chunk]
    places: Places
    gold_chunks: Mapping[str, tuple[str, ...]]
    judge: Judge
    hashes: Mapping[str, str]


def chosen_cohort(manifest: Manifest, name: str) -> Cohort:
    """Return the cohort of that name. Raises InputFault, with the names that there are."""
    cohorts = read_cohorts(manifest)
    if (cohort := cohorts.get(name)) is None:
        known = ", ".join(cohorts)
        freeze = f"proofspan cohort freeze WORKSPACE {name} --run ID --bucket score_policy"
        fix = f"name one of {known}, or all questions: --all" if known else f"freeze it first: {freeze}"
        message = f"the workspace has no cohort {name!r}"
        raise InputFault.of("unknown_cohort", message, where=str(manifest.folder), fix=fix)
    return cohort


def select(manifest: Manifest, run: Run, cohort: Cohort | None, *, cache_dir: Path) -> Selection:
    """Read the candidates of a cohort's questions in a run; without a cohort, of all.

    Raises InputFault if there are none.
    """
    wanted = None if cohort is None else frozenset(cohort.q_ids)
    traces = parent_traces(manifest, run, cache_dir=cache_dir)
    asked: list[Asked] = []
    questions: set[str] = set()
    bare = 0
    for trace, _, each in asked_in(traces, wanted):
        questions.add(trace.q_id)
        if each is not None:
            asked.append(each)
        elif wanted is None or trace.q_id in wanted:
            bare += 1
    absent = tuple(q_id for q_id in (cohort.q_ids if cohort else ()) if q_id not in questions)
    if not asked:
        of = "the run" if cohort is None else f"the cohort {cohort.name!r}"
        message = f"{run.run_id} lists no candidate for any question of {of}"
        fix = "log the ranked lists under `stages`, or name another run or cohort"
        raise InputFault.of("nothing_to_rerank", message, where=str(manifest.folder), fix=fix)
    return Selection(
        manifest,
        run,
        cache_dir,
        cohort,
        tuple(asked),
        frozenset(questions),
        absent,
        bare,
        tuple(traces.issues),
    )


def read_sources(manifest: Manifest, *, cache_dir: Path) -> Sources:
    """Read chunks and gold as the index does. Raises InputFault where a file that is named cannot be used."""
    inputs = find_inputs(manifest, profile_from(manifest.triage), None, cache_dir=cache_dir)
    named = {"chunks": manifest.chunks, "gold": manifest.gold, "redirects": manifest.redirects}
    files = {name: getattr(inputs, name) for name, artifact in named.items() if artifact is not None}
    chunks, _, unread = read_side_file(inputs.chunks, read_chunks)
    gold, _, unread_gold = read_side_file(inputs.gold, read_gold)
    redirects, _, unread_redirects = read_side_file(inputs.redirects, read_redirects)
    problems = [problem for each in files.values() for problem in each.problems]
    if problems := [*problems, *unread, *unread_gold, *unread_redirects]:
        raise InputFault(*problems)
    by_id = with_redirects(chunks, redirects)
    places = mapped(by_id, place_of)
    questions = gold_of_today(gold, by_id)
    return Sources(
        by_id,
        places,
        {q_id: question.chunks for q_id, question in questions.items()},
        Judge(questions, ChunkFile(places, {}, {})),
        {each.file: each.version for name, each in files.items() if name != "gold"},
    )
