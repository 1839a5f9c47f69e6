"""A run's logged lists as arrays: a question is a row, each of its candidates a column.

The columns of a question are its candidates in the pinned order of ties: by section id, then chunk id.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proofspan.contracts.records.field_values import number_of, numbers_of
from proofspan.contracts.records.records import GoldQuestion, Json, StageName, Trace
from proofspan.diagnosis.answers import answer_from
from proofspan.diagnosis.prompt_labels import PromptLabels
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.diagnosis.verdicts.gold_text import GoldTrails, Telling
from proofspan.errors import InputFault
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.fusion import Flags, Numbers, Ranks
from proofspan.metrics.ranked import in_judged_order
from proofspan.metrics.relevance import Relevance
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.types import Progress
from proofspan.store.index.labelling import Labeller, find_inputs, labeller_for
from proofspan.store.index.plan import find_source
from proofspan.store.query.store import Store
from proofspan.traces.lines.worker_process import collector_paused
from proofspan.traces.records.redirects import of_today
from proofspan.traces.records.trace_record import STAGES, lengths, listed, place_in, score_of
from proofspan.traces.records.traces import iter_traces

OnProgress = Callable[[Progress], None]
Counts = NDArray[np.int32]
#: More candidates of one question are not read: memory grows with the longest list of a run.
MOST_CANDIDATES = 1_000
#: Traces between reports of progress.
_STEP = 500
#: Of a trace's record, what its lists are.
_LISTS = ("chunks", "stages")
_NOTHING: Mapping[str, Json] = {}
#: The columns of the index that a what-if shows or replaces.
COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "q", "line", "offset", "length"),
    *("label", "bucket", "section_rank", "top_rank", "section_coverage", "unranked"),
    *("grounded", "correct", "cause", "claims_supported", "claims_unsupported"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """The lists of a run's questions, with what is known of their gold.

    Arrays over questions and candidates have one shape. `ranks` are the places of each stage from 1, 0 where
    it does not hold the candidate, and `judged` these with ties broken as metrics break them; `sizes` are the
    lengths of the lists. `scores` are those of the stages' entries and `features` all numbers that entries
    log; NaN for no number. `in_base` are the features that the first stage logs. `gold` says whether a
    stage's entry lies in the gold, `gold_anywhere` whether the entries together do; `relevant` and `extent`
    are chunks that count for recall and coverage, of `relevant_of` and `extent_of` in all. `table` holds the
    index's columns of the questions, `traces` their records without lists, `cut` how many questions have
    more candidates than are read. `made_from` has the prompts of answers that were made from another one than
    the trace's. `telling` are the candidates on which the trail of a question's gold depends, with their
    columns; None without one, as while claims are not checked. `labels` give the label of each answer on any
    prompt; there are none without chunks. `is_checked`: the claims of the run were checked. `graded` are the
    questions whose gold chunks have grades: those of its columns, and of all gold chunks, the best first.
    `kept` is for what is computed once.
    """

    manifest: Manifest
    store: Store
    run: Run
    profile: Profile
    labeller: Labeller
    table: pa.Table
    traces: tuple[Trace, ...]
    ids: tuple[tuple[str, ...], ...]
    ranks: Mapping[StageName, Ranks]
    judged: Mapping[StageName, Ranks]
    sizes: Mapping[StageName, Counts]
    scores: Mapping[StageName, Numbers]
    features: Mapping[str, Numbers]
    in_base: frozenset[str]
    gold: Mapping[StageName, Flags]
    gold_anywhere: Flags
    relevant: Flags
    extent: Flags
    relevant_of: Counts
    extent_of: Counts
    is_absent: NDArray[np.bool_]
    is_judged: NDArray[np.bool_]
    made_from: Mapping[int, frozenset[str]]
    telling: tuple[tuple[Telling, list[int]] | None, ...]
    labels: tuple[PromptLabels, ...]
    is_checked: bool
    cut: int = 0
    graded: Mapping[int, tuple[Mapping[int, int], tuple[int, ...]]] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        """Return the number of questions."""
        return len(self.traces)

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many questions there are, and the most candidates of one."""
        rows, columns = self.gold_anywhere.shape
        return rows, columns

    def gold_question(self, row: int) -> GoldQuestion | None:
        """Return the gold question of a row; None without one."""
        return self.labeller.questions.get(self.traces[row].q_id)


def load_lists(
    manifest: Manifest,
    run_id: str,
    store: Store,
    *,
    all_variants: bool = False,
    on_progress: OnProgress | None = None,
) -> Lists:
    """Read the lists of a run's questions, as its index has them; of all traces with `all_variants`.

    Lines that were written since are left out. InputFault for an unknown run, one without traces, or one
    whose files have changed; StoreFault where it has no index.
    """
    run = chosen_run(manifest, run_id)
    table = store.headline_table(run.run_id, COLUMNS, all_variants=all_variants)
    profile = profile_from(manifest.triage)
    inputs = find_inputs(manifest, profile, None, cache_dir=store.cache_dir, run=run)
    labeller, _ = labeller_for(inputs)
    trails = None
    if labeller.corpus is not None and store.are_claims_checked(run.run_id):
        trails = GoldTrails(labeller.corpus.texts, labeller.places)
    gathered = Gathered(labeller, trails)
    with collector_paused():
        for number, trace in enumerate(_traces(manifest, run, store, table), start=1):
            gathered.add(trace)
            if on_progress is not None and number % _STEP == 0:
                on_progress(Progress(run.run_id, number, len(table), number))
    return gathered.lists(manifest, store, run, profile, table)


def _traces(manifest: Manifest, run: Run, store: Store, table: pa.Table) -> Iterator[Trace]:
    """Yield the traces of the rows of a table, in its order."""
    if store.run_facts(run.run_id).from_report:
        raise InputFault.of(
            "no_traces",
            f"{run.run_id} has a stored report and no traces, so that no list can be changed",
            where=f"runs[{run.run_id}]",
            fix="name its trace file under `traces`, or choose another run",
        )
    names = ("line", "offset", "length", "q_id")
    wanted = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    if not wanted:
        return
    source = find_source(manifest, run, cache_dir=store.cache_dir)
    rows = iter(wanted)
    line, offset, _, q_id = next(rows)
    for item in iter_traces(
        source.needed_path,
        file=source.file,
        run_id=run.run_id,
        offset=offset,
        line=line,
        final=source.is_final,
    ):
        if item.source.line < line:
            continue
        if not isinstance(item, Trace) or item.source.offset != offset or item.q_id != q_id:
            raise changed(manifest, run)
        yield item
        if (following := next(rows, None)) is None:
            return
        line, offset, _, q_id = following
    raise changed(manifest, run)


def changed(manifest: Manifest, run: Run) -> InputFault:
    """Return the fault of files that are not those of the index."""
    return InputFault.of(
        "file_changing",
        "the files of this run have changed since they were indexed",
        where=f"runs[{run.run_id}]",
        fix=f"proofspan index {manifest.folder}",
    )


class Candidates:
    """The candidates of a trace by id, with what its lists up to a stage say of each, the last first."""

    def __init__(self, trace: Trace, *, upto: StageName = "chunks") -> None:
        self.entries: dict[str, dict[str, Json]] = {}
        self.ranks: dict[StageName, dict[str, int]] = {}
        self.is_cut = False
        for name in STAGES:
            ranks = self.ranks[name] = {}
            for rank, chunk_id, entry in listed(trace, name):
                known = self.entries.get(chunk_id)
                if known is None:
                    if len(self.entries) >= MOST_CANDIDATES:
                        self.is_cut = True
                        continue
                    self.entries[chunk_id] = dict(entry)
                else:
                    known.update(_joined(known, entry))
                ranks.setdefault(chunk_id, rank)
            if name == upto:
                return


def _joined(known: Mapping[str, Json], entry: Mapping[str, Json]) -> dict[str, Json]:
    """Return what a later stage says of a candidate, its features beside those of the stages before."""
    earlier, own = known.get("features"), entry.get("features")
    if isinstance(earlier, dict) and isinstance(own, dict) and earlier is not own:
        return {**entry, "features": {**earlier, **own}}
    return dict(entry)


@dataclass(slots=True)
class _Column:
    """Numbers of some questions and candidates, as they come."""

    rows: array[int] = field(default_factory=lambda: array("i"))
    columns: array[int] = field(default_factory=lambda: array("i"))
    values: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: int, column: int, value: float) -> None:
        self.rows.append(row)
        self.columns.append(column)
        self.values.append(value)

    def array(self, shape: tuple[int, int], missing: float, kind: Any) -> NDArray[Any]:
        found = np.full(shape, missing, kind)
        rows, columns, values = map(np.asarray, (self.rows, self.columns, self.values))
        found[rows, columns] = values
        return found


def _by_stage() -> dict[StageName, _Column]:
    return {name: _Column() for name in STAGES}


@dataclass(slots=True)
class Gathered:
    """The lists of traces, one added after the other, with what their gold looks for."""

    labeller: Labeller
    trails: GoldTrails | None
    traces: list[Trace] = field(default_factory=list)
    ids: list[tuple[str, ...]] = field(default_factory=list)
    ranks: dict[StageName, _Column] = field(default_factory=_by_stage)
    judged: dict[StageName, _Column] = field(default_factory=_by_stage)
    scores: dict[StageName, _Column] = field(default_factory=_by_stage)
    gold: dict[StageName, _Column] = field(default_factory=_by_stage)
    sizes: dict[StageName, list[int]] = field(default_factory=lambda: {name: [] for name in STAGES})
    features: dict[str, _Column] = field(default_factory=dict)
    in_base: set[str] = field(default_factory=set)
    flags: dict[str, _Column] = field(
        default_factory=lambda: {name: _Column() for name in ("gold", "relevant", "extent")}
    )
    relevant_of: list[int] = field(default_factory=list)
    extent_of: list[int] = field(default_factory=list)
    is_absent: list[bool] = field(default_factory=list)
    is_judged: list[bool] = field(default_factory=list)
    made_from: dict[int, frozenset[str]] = field(default_factory=dict)
    telling: list[tuple[Telling, list[int]] | None] = field(default_factory=list)
    labels: list[PromptLabels] = field(default_factory=list)
    graded: dict[int, tuple[dict[int, int], tuple[int, ...]]] = field(default_factory=dict)
    cut: int = 0

    def add(self, trace: Trace) -> None:
        """Read the lists of the next trace."""
        row, places = len(self.traces), self.labeller.places
        raw = {name: value for name, value in trace.raw.items() if name not in _LISTS}
        self.traces.append(replace(trace, raw=raw))
        found = Candidates(trace)
        self.cut += found.is_cut
        sections = {
            chunk_id: place_in(entry, chunk_id, places).section_id or ""
            for chunk_id, entry in found.entries.items()
        }
        ids = tuple(sorted(sections, key=lambda chunk_id: (sections[chunk_id], chunk_id)))
        self.ids.append(ids)
        column_of = {chunk_id: column for column, chunk_id in enumerate(ids)}
        sizes = lengths(trace)
        for name in STAGES:
            self.sizes[name].append(sizes.get(name, 0))
            for chunk_id, rank in found.ranks[name].items():
                self.ranks[name].add(row, column_of[chunk_id], rank)
        if (made_from := answer_from(trace.raw)) is not None:
            self.made_from[row] = frozenset(made_from.chunks)
        if self.labeller.corpus is not None:
            labels = PromptLabels(trace, self.labeller.corpus)
            labels.label(trace.chunk_ids, self.labeller.profile)  # most other prompts share these chunks
            self.labels.append(labels)
        self.telling.append(self._telling(trace, found, column_of))
        self._add_numbers(trace, row, column_of)
        self._add_gold(trace, found, row, column_of)

    def _telling(
        self, trace: Trace, found: Candidates, column_of: Mapping[str, int]
    ) -> tuple[Telling, list[int]] | None:
        gold = self.labeller.questions.get(trace.q_id)
        telling = self.trails.telling(gold, found.entries.items()) if self.trails and gold else None
        return None if telling is None else (telling, [column_of[chunk_id] for chunk_id in telling.ids])

    def _add_numbers(self, trace: Trace, row: int, column_of: Mapping[str, int]) -> None:
        base = next(
            (name for name in STAGES if name != "chunks" and trace.raw and lengths(trace).get(name)), None
        )
        for name in STAGES:
            for _, chunk_id, entry in listed(trace, name):
                column = column_of.get(chunk_id)
                if column is None:
                    continue
                if (score := score_of(entry)) is not None:
                    self.scores[name].add(row, column, score)
                own = entry.get("features")
                numbers = own.items() if isinstance(own, dict) else ()
                for feature, value in numbers:
                    if (number := number_of(value)) is not None:
                        self._add_feature(str(feature), row, column, number)
                        if name == base:
                            self.in_base.add(str(feature))
                for field_name in ("pre_score", "post_score"):
                    if field_name in entry:
                        for feature, number in numbers_of(entry[field_name]).items():
                            self._add_feature(f"{field_name}.{feature}", row, column, number)

    def _add_feature(self, feature: str, row: int, column: int, number: float) -> None:
        if feature not in self.features:
            self.features[feature] = _Column()
        self.features[feature].add(row, column, number)

    def _add_gold(self, trace: Trace, found: Candidates, row: int, column_of: Mapping[str, int]) -> None:
        labeller, places = self.labeller, self.labeller.places
        relevance = labeller.judge.relevance(trace.q_id)
        self.is_judged.append(relevance.unranked is None)
        self.relevant_of.append(len(relevance.relevant))
        self.extent_of.append(len(relevance.extent))
        self.is_absent.append(relevance.is_absent)
        if relevance.unranked is not None:
            return
        if relevance.grades:
            self.graded[row] = {}, relevance.best_gains
        gold = labeller.questions[trace.q_id]
        today = of_today(trace, places, wanted=gold.chunks)
        current_ids: dict[str, str] = {}
        for name in STAGES:
            now = list(listed(today, name))
            former = {
                id(entry): chunk_id
                for (_, _, entry), (_, chunk_id, _) in zip(now, listed(trace, name), strict=True)
            }
            seen: set[str] = set()
            for rank, current, entry in in_judged_order(now, places):
                chunk_id = former[id(entry)]
                if chunk_id in seen or chunk_id not in column_of:
                    continue
                seen.add(chunk_id)
                current_ids[chunk_id] = current
                self.judged[name].add(row, column_of[chunk_id], rank)
                if _is_gold(relevance, current, entry, labeller):
                    self.gold[name].add(row, column_of[chunk_id], 1)
        for chunk_id, entry in found.entries.items():
            column, current = column_of[chunk_id], current_ids.get(chunk_id, chunk_id)
            if _is_gold(relevance, current, entry, labeller):
                self.flags["gold"].add(row, column, 1)
            if current in relevance.relevant:
                self.flags["relevant"].add(row, column, 1)
                if relevance.grades:
                    self.graded[row][0][column] = relevance.grades.get(current, 1)
            if current in relevance.extent:
                self.flags["extent"].add(row, column, 1)

    def lists(self, manifest: Manifest, store: Store, run: Run, profile: Profile, table: pa.Table) -> Lists:
        """Return the arrays of all traces."""
        shape = len(self.traces), max(map(len, self.ids), default=0)

        def arrays(named: Mapping[Any, _Column], missing: float, kind: Any) -> dict[Any, NDArray[Any]]:
            return {name: column.array(shape, missing, kind) for name, column in named.items()}

        flags = arrays(self.flags, False, np.bool_)
        relevant_of, extent_of = (np.array(each, np.int32) for each in (self.relevant_of, self.extent_of))
        return Lists(
            manifest,
            store,
            run,
            profile,
            self.labeller,
            table,
            tuple(self.traces),
            tuple(self.ids),
            arrays(self.ranks, 0, np.int32),
            arrays(self.judged, 0, np.int32),
            {name: np.array(sizes, np.int32) for name, sizes in self.sizes.items()},
            arrays(self.scores, np.nan, np.float64),
            arrays(self.features, np.nan, np.float64),
            frozenset(self.in_base),
            arrays(self.gold, False, np.bool_),
            flags["gold"],
            flags["relevant"],
            flags["extent"],
            relevant_of,
            extent_of,
            np.array(self.is_absent, np.bool_),
            np.array(self.is_judged, np.bool_),
            self.made_from,
            tuple(self.telling),
            tuple(self.labels),
            self.trails is not None,
            self.cut,
            self.graded,
        )


def _is_gold(relevance: Relevance, chunk_id: str, entry: Mapping[str, Json], labeller: Labeller) -> bool:
    if relevance.rules_out(chunk_id, entry.get("section_id")):
        return False
    return relevance.has(chunk_id, place_in(entry, chunk_id, labeller.places))
