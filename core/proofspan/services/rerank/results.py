"""ON against OFF: the new order as records, the moves of the gold section, and the order saved as a run.

Source: sprint plan (docs/requirements.md), D3. OFF is the logged order of the list that the top 20 is read
from, ON the order by score. Nothing is retrieved and nobody is asked again.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from proofspan.contracts.records.records import Json, StageName, Trace
from proofspan.contracts.rules.envelope import ENVELOPE
from proofspan.errors import Problem
from proofspan.metrics.ranked import TOP
from proofspan.metrics.statistics import mcnemar
from proofspan.services.derived_runs import derived_record, parent_traces, write_run
from proofspan.services.rerank.candidates import Asked, Entry, asked_in, new_order
from proofspan.services.rerank.scoring import TIES, Reranked
from proofspan.services.rerank.selection import Sources
from proofspan.services.stop_rule import Lift
from proofspan.traces.records.redirects import of_today
from proofspan.traces.records.trace_record import lengths, score_of
from proofspan.wording import counted

#: The class of the runs that are saved, and the name of the new score in `post_score`.
KIND, SCORE = "rerank", "rerank"
SCHEMA = "urn:proofspan:schema:rerank-1.0"
#: The questions that are named in a message.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Move:
    """The rank of a question's gold section OFF and ON, None where it is not among the candidates.

    `logged` is its rank in the last list that the run logs, which differs from OFF where that run reranks.
    `unranked` says why a question cannot be judged.
    """

    q_id: str
    q: str
    unranked: str | None
    off: int | None = None
    on: int | None = None
    logged: int | None = None


@dataclass(slots=True)
class Outcome:
    """The moves of the questions, each once; filled while the records are read."""

    moves: list[Move] = field(default_factory=list)
    stages: dict[StageName, int] = field(default_factory=dict)

    @property
    def judged(self) -> list[Move]:
        """Return the questions whose ranking can be judged."""
        return [move for move in self.moves if move.unranked is None]

    def first(self, side: str) -> int:
        """Return how many questions have the gold section first: `off`, `on` or `logged`."""
        return sum(getattr(move, side) == 1 for move in self.judged)

    @property
    def converted(self) -> list[Move]:
        """Return the questions whose gold section is first ON alone."""
        return [move for move in self.judged if move.on == 1 and move.off != 1]

    @property
    def regressed(self) -> list[Move]:
        """Return the questions whose gold section is first OFF alone."""
        return [move for move in self.judged if move.off == 1 and move.on != 1]

    @property
    def p(self) -> float | None:
        """Return McNemar's exact p of ON against OFF; None if no question is right OFF: none can regress."""
        return mcnemar(len(self.converted), len(self.regressed)) if self.first("off") else None

    def lift(self, run_id: str, parent: str) -> Lift:
        """Return the lift of the order as a run on its parent, as the stop rule counts it."""
        won = sum(move.on == 1 and move.logged != 1 for move in self.judged)
        lost = sum(move.logged == 1 and move.on != 1 for move in self.judged)
        return Lift(run_id, parent, won, lost, len(self.judged))


def moved(moves: Collection[Move]) -> list[Move]:
    """Return the questions whose gold section is at another rank, the largest climbs first."""

    def place(rank: int | None) -> int:
        return TOP + 1 if rank is None else rank

    found = [move for move in moves if move.unranked is None and move.off != move.on]
    return sorted(found, key=lambda move: (place(move.on) - place(move.off), move.q_id))


def rerank_records(
    reranked: Reranked, outcome: Outcome, *, prompt: int | None = None
) -> Iterator[dict[str, Json]]:
    """Yield a rerank record for each trace, with the gold section's ranks, and fill `outcome` meanwhile.

    `prompt` is how many of the items go on; None for as many as the logged prompt has.
    """
    selection = reranked.selection
    parents = parent_traces(selection.manifest, selection.run, cache_dir=selection.cache_dir)
    for trace, asked in _each(reranked, parents):
        if asked is None:
            continue
        ordered = _ordered(reranked, asked)
        move = _move(reranked.sources, trace, asked, _entries(asked, ordered, reranked))
        if asked.is_headline:
            outcome.moves.append(move)
            outcome.stages[asked.stage] = outcome.stages.get(asked.stage, 0) + 1
        kept = prompt if prompt is not None else len(trace.chunk_ids)
        yield _record(reranked, trace, asked, ordered, move, min(kept, len(ordered)))


def save(reranked: Reranked, *, run_id: str, title: str | None = None, prompt: int | None = None) -> Path:
    """Save the order as a run; see `write_run`. With `prompt` the first items are the new prompt."""
    selection = reranked.selection
    run = selection.run
    parents = parent_traces(selection.manifest, run, cache_dir=selection.cache_dir)

    def records() -> Iterator[Mapping[str, Json]]:
        for trace, asked in _each(reranked, parents):
            entries = [] if asked is None else _entries(asked, _ordered(reranked, asked), reranked)
            stages: dict[StageName, Sequence[Json]] = {"reranked": entries} if entries else {}
            chunks = entries[:prompt] if prompt is not None and entries else None
            yield derived_record(trace, run_id=run_id, stages=stages, chunks=chunks)

    of = f"cohort {selection.cohort.name}" if selection.cohort is not None else "all questions"
    return write_run(
        selection.manifest,
        run,
        run_id=run_id,
        title=title or f"{run.title or run.run_id}, reranked by {reranked.name} ({of})",
        kind=KIND,
        records=records(),
        settings={**reranked.settings, "prompt": prompt},
        by="rerank",
        pinned={"reranker": reranked.name},
        record={"tie_break": TIES, "commands": [_command(reranked, run_id, prompt)], **reranked.record},
        issues=parents.issues,
    )


def _command(reranked: Reranked, run_id: str, prompt: int | None) -> str:
    """Return the command that makes the run again, where workspace, model and scores are."""
    settings, cohort = reranked.settings, reranked.selection.cohort
    command = ["proofspan", "rerank", "WORKSPACE", "--run", reranked.selection.run.run_id]
    command += ["--all"] if cohort is None else ["--cohort", cohort.name]
    if "scores" in settings:
        command += ["--scores", settings["scores"]["file"]]
    else:
        threads = str(settings["reranker"]["threads"]["intra_op"])
        command += ["--model", reranked.name, "--text", settings["text"]["of"], "--threads", threads]
    return shlex.join([*command, "--save-as", run_id, *([] if prompt is None else ["--prompt", str(prompt)])])


def problems_of(reranked: Reranked) -> list[Problem]:
    """Return warnings about what was not reranked, and a note about what was shortened."""
    selection = reranked.selection
    problems = []

    def add(code: str, message: str, fix: str, severity: str = "warning") -> None:
        problems.append(Problem(code, message, selection.run.run_id, fix, severity))

    if selection.issues:
        add(
            "lines_unreadable",
            f"{counted(len(selection.issues), 'line')} of the run without a trace: left out",
            "proofspan check WORKSPACE",
        )
    if selection.absent:
        named = ", ".join(selection.absent[:_NAMED])
        message = f"not in the run: {counted(len(selection.absent), 'question')} of the cohort ({named})"
        add("questions_absent", message, "rerank a run that asks them")
    if selection.bare:
        message = f"{counted(selection.bare, 'trace')} without any candidate: nothing to rerank"
        add("no_candidates", message, "", "note")
    if unscored := len(selection.asked) - len(reranked.scores):
        message = f"no scores for {counted(unscored, 'paraphrase, seed or repeat')}: in the logged order"
        add("variants_unscored", message, "score them too, with `paraphrase` and `seed` on their lines")
    if reranked.cut or reranked.cut_questions:
        message = (
            f"{counted(reranked.cut, 'text')} and {counted(reranked.cut_questions, 'question')} were cut"
        )
        add("texts_cut", f"{message} to the model's length", "", "note")
    return problems


def _each(reranked: Reranked, traces: Any) -> Iterator[tuple[Trace, Asked | None]]:
    """Yield every trace of the run, with its candidates where they were scored."""
    cohort = reranked.selection.cohort
    for trace, key, asked in asked_in(traces, None if cohort is None else frozenset(cohort.q_ids)):
        yield trace, asked if key in reranked.scores else None


def _ordered(reranked: Reranked, asked: Asked) -> list[tuple[str, Entry]]:
    return new_order(asked, reranked.scores[asked.key], reranked.sources.places)


def _entries(asked: Asked, ordered: Sequence[tuple[str, Entry]], reranked: Reranked) -> list[Json]:
    """Return the entries of the reranked list: as logged, with the new score and the old one beside it."""
    scores = reranked.scores[asked.key]
    entries = []
    for rank, (chunk_id, entry) in enumerate(ordered, start=1):
        new = {**entry, **({"rank": rank} if "rank" in entry else {}), "score": scores[chunk_id]}
        entries.append({**new, **_both_scores(asked, entry, scores[chunk_id])})
    return entries


def _both_scores(asked: Asked, entry: Entry, score: float) -> dict[str, Json]:
    before = score_of(entry)
    return {
        **({"pre_score": {asked.stage: before}} if before is not None else {}),
        "post_score": {SCORE: score},
    }


def _move(sources: Sources, trace: Trace, asked: Asked, entries: Sequence[Json]) -> Move:
    """Rank the gold section as metrics do: in the logged order, the new one, and the run's last list."""
    named = trace.raw.get("stages")
    stages = named if isinstance(named, dict) else {}
    others = {name: each for name, each in stages.items() if name != "reranked"}

    def rank_with(lists: Mapping[str, Json]) -> tuple[str | None, int | None]:
        today = of_today(
            replace(trace, raw={**trace.raw, "stages": lists}),
            sources.places,
            wanted=sources.gold_chunks.get(trace.q_id, ()),
        )
        ranked = sources.judge.judged(today, None).ranked
        return ranked.unranked, ranked.section_rank

    unranked, off = rank_with({**others, "reranked": [entry for _, entry in asked.candidates]})
    _, on = rank_with({**others, "reranked": entries})
    logged = off if "reranked" not in lengths(trace) else rank_with(stages)[1]
    return Move(trace.q_id, trace.q, unranked, off, on, logged)


def _record(
    reranked: Reranked,
    trace: Trace,
    asked: Asked,
    ordered: Sequence[tuple[str, Entry]],
    move: Move,
    kept: int,
) -> dict[str, Json]:
    """Return the order of a trace as a record of the data contracts, with the ranks of the gold section."""
    scores = reranked.scores[asked.key]
    places = {chunk_id: rank for rank, (chunk_id, _) in enumerate(asked.candidates, start=1)}
    envelope = {name: trace.raw[name] for name in ENVELOPE if name in trace.raw}
    identity: dict[str, Json] = {"q_id": asked.key.q_id}
    for name, number in (("paraphrase", asked.key.paraphrase), ("seed", asked.key.seed)):
        identity |= {name: number} if number else {}
    items = [
        {
            "chunk_id": chunk_id,
            **{name: entry[name] for name in ("doc_id", "section_id", "page_idx") if name in entry},
            "rank_before": places[chunk_id],
            **_both_scores(asked, entry, scores[chunk_id]),
            "selected": rank <= kept,
        }
        for rank, (chunk_id, entry) in enumerate(ordered, start=1)
    ]
    return {
        "$schema": SCHEMA,
        **envelope,
        **({"event": "rerank.run"} if "event" in envelope else {}),
        **identity,
        "model": reranked.name,
        "k_in": len(ordered),
        "k_out": kept,
        "reranks": {"run_id": trace.run_id, "stage": asked.stage},
        "gold": {"unranked": move.unranked, "rank_off": move.off, "rank_on": move.on},
        "items": items,
    }
