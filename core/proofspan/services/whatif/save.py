"""Save a what-if as a run of its own, with the lists that it leads to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proofspan.contracts.records.records import Json, StageName, Trace
from proofspan.errors import InputFault
from proofspan.manifest.types import Manifest
from proofspan.metrics.fusion import Numbers
from proofspan.services.derived_runs import (
    ParentTraces,
    derived_record,
    parent_traces,
    traces_sha256,
    write_run,
)
from proofspan.services.whatif.engine import lists_by, usable
from proofspan.services.whatif.lists import Candidates, Lists, OnProgress, changed, load_lists
from proofspan.services.whatif.logged import fusion_of, logged
from proofspan.services.whatif.params import params_of
from proofspan.services.whatif.ranking import NewLists, fuses
from proofspan.services.whatif.types import Settings, Ties
from proofspan.services.workspace.open import chosen_run
from proofspan.store.query.store import Store
from proofspan.traces.records.trace_record import LAST_STAGES, STAGES

#: The class of runs that were saved what-ifs, and the name of what made them.
KIND = BY = "what-if"
_SCORES = ("score", "score_norm", "score_raw")
#: How pinning records state the order of equal scores.
TIE_BREAKS: Mapping[Ties, str] = {
    "section": "score desc, section_id, chunk_id",
    "chunk": "score desc, chunk_id",
    "logged": "score desc, as logged",
}


def save(
    manifest: Manifest,
    run_id: str,
    store: Store,
    settings: Settings,
    *,
    save_as: str,
    title: str = "",
    on_progress: OnProgress | None = None,
) -> Path:
    """Write what settings lead to as the run `save_as`, name it in the manifest, and return its trace file.

    All traces of the run are written, with other lists and the logged answers. They are computed twice, and
    the pinning record has both hashes. Without a `title` it is made of the settings. Saving the same again
    changes nothing. InputFault for settings that cannot be used or change no list, for a run id that exists
    with other contents, and where the files have changed since they were indexed or cannot be written.
    """
    run = chosen_run(manifest, run_id)
    lists = load_lists(manifest, run.run_id, store, all_variants=True, on_progress=on_progress)
    _require_lists(lists, settings)
    new = lists_by(lists, settings)
    first = parent_traces(manifest, run, cache_dir=store.cache_dir)
    first_sha256 = traces_sha256(_records(lists, new, first, save_as), run)
    parents = parent_traces(manifest, run, cache_dir=store.cache_dir)
    asked = [(name, text) for name, texts in params_of(settings).items() for text in texts]
    command = shlex.join(
        [
            *("proofspan", "whatif", "WORKSPACE", "--run", run.run_id),
            *(word for name, text in asked for word in (f"--{name}", text)),
            *("--save-as", save_as),
        ]
    )
    stated = _stated(lists, settings)
    return write_run(
        manifest,
        run,
        run_id=save_as,
        title=title or f"{run.run_id} with {', '.join(f'{name} {text}' for name, text in asked)}",
        kind=KIND,
        records=_records(lists, new, parents, save_as),
        settings=stated,
        by=BY,
        record={"commands": [command], **{name: stated[name] for name in ("fusion",) if name in stated}},
        first_sha256=first_sha256,
        issues=parents.issues,
    )


def _require_lists(lists: Lists, settings: Settings) -> None:
    _, notes = usable(lists, settings)
    if notes:
        raise InputFault.of(
            "setting_unusable",
            f"the what-if is not saved: {' '.join(notes)}",
            where=f"runs[{lists.run.run_id}]",
            fix="leave out what the run does not log; `proofspan whatif --list` prints what it does",
        )
    if settings.profile is not None or settings.support is not None:
        raise InputFault.of(
            "setting_unusable",
            "template, refusal and support change no list, so a run cannot hold them",
            where=f"runs[{lists.run.run_id}]",
            fix="leave them out; those of all runs are under `triage` in the manifest",
        )
    if settings == Settings():
        raise InputFault.of(
            "nothing_changed",
            "no setting differs from the logged run, so there is nothing to save",
            where=f"runs[{lists.run.run_id}]",
            fix="change a setting, such as k",
        )


def _stated(lists: Lists, settings: Settings) -> dict[str, Json]:
    """Return the exact settings: those that were changed, and all that the fused list was made by."""
    stated: dict[str, Json] = {"changed": {name: list(texts) for name, texts in params_of(settings).items()}}
    by = fusion_of(lists, logged(lists).settings, settings) if fuses(settings) else None
    if by is not None:
        weights = dict(zip(by.names, by.weights, strict=True))
        stated["fusion"] = {
            "method": "rrf",
            "k": by.k,
            "weights": weights,
            "depth": by.depth,
            "top": by.top,
            "tie_break": TIE_BREAKS[by.ties],
        }
    return stated


def _records(lists: Lists, new: NewLists, parents: ParentTraces, run_id: str) -> Iterator[Mapping[str, Json]]:
    """Yield the record of each trace, in the order of the file."""
    repeats = repeating(lists)
    rows = 0
    for row, trace in enumerate(parents):
        if row >= lists.questions or trace.source.offset != lists.traces[row].source.offset:
            raise changed(lists.manifest, lists.run)
        rows += 1
        written = WrittenLists(lists, new, row, trace, repeats)
        yield derived_record(trace, run_id=run_id, stages=written.stages(), chunks=written.prompt())
    if rows != lists.questions:
        raise changed(lists.manifest, lists.run)


def repeating(lists: Lists) -> frozenset[str]:
    """Return the features of the fused list that only repeat its score."""
    scores, found = lists.scores["fused"], []
    for name, values in lists.features.items():
        known = np.isfinite(values) & (lists.ranks["fused"] > 0)
        if name not in lists.in_base and known.any() and (values[known] == scores[known]).all():
            found.append(name)
    return frozenset(found)


@dataclass(slots=True)
class WrittenLists:
    """The lists of one trace as they would be written."""

    lists: Lists
    new: NewLists
    row: int
    trace: Trace
    repeating: frozenset[str]

    def is_new(self, name: StageName) -> bool:
        """Return whether a stage is written again."""
        ranks = self.new.ranks[name][self.row]
        if (ranks != self.lists.ranks[name][self.row]).any():
            return True
        return name in self.new.scores and bool((ranks > 0).any())

    def stages(self) -> dict[StageName, Sequence[Json]]:
        """Return the stages that differ; one that is left out is empty."""
        found: dict[StageName, Sequence[Json]] = {}
        for name in STAGES[:-1]:
            if self.is_new(name):
                entries = Candidates(self.trace, upto=name).entries
                found[name] = self._entries(name, entries, self.new.scores.get(name))
        return found

    def prompt(self) -> Sequence[Json] | None:
        """Return the prompt, None where it stays as it is logged."""
        ranks, row = self.new.ranks["chunks"][self.row], self.row
        is_listed = int((ranks > 0).sum()) == int(self.lists.sizes["chunks"][row])
        is_new = [name for name in STAGES[:-1] if self.is_new(name)]
        if not self.is_new("chunks") and not (is_new and is_listed):
            return None
        last: StageName = next(
            (name for name in LAST_STAGES if (self.new.ranks[name][row] > 0).any()), "chunks"
        )
        scores = self.new.scores.get(last, self.lists.scores[last])
        return self._entries("chunks", Candidates(self.trace).entries, scores)

    def _entries(
        self, name: StageName, entries: Mapping[str, Mapping[str, Json]], scores: Numbers | None
    ) -> list[Json]:
        ranks = self.new.ranks[name][self.row]
        columns = sorted(np.flatnonzero(ranks).tolist(), key=lambda column: int(ranks[column]))
        written: list[Json] = []
        for column in columns:
            entry = dict(entries[self.lists.ids[self.row][column]])
            if scores is not None:
                entry = {key: value for key, value in entry.items() if key not in _SCORES}
                score = float(scores[self.row, column])
                if np.isfinite(score):
                    entry["score"] = score
            if "fused" in self.new.scores and isinstance(features := entry.get("features"), dict):
                fused = float(self.new.scores["fused"][self.row, column])
                again = dict.fromkeys(sorted(self.repeating), fused) if np.isfinite(fused) else {}
                kept = {key: value for key, value in features.items() if key not in self.repeating}
                entry["features"] = {**kept, **again}
            written.append(entry)
        return written
