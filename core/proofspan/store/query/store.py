"""Queries of pages and commands on the index of a workspace. Each query is a file in `sql/`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LABELS, Label, SourceLine, TraceKey
from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.suggest import suggest_profile
from proofspan.diagnosis.types import profile_from
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, Cause, Correct
from proofspan.journal.annotations import Annotations, Target, contested, disputed, read_annotations
from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import Tally
from proofspan.recent import Recent
from proofspan.store.files.checked import CLAIM_STATUSES
from proofspan.store.files.columns import KEY_COLUMNS, PAGE_COLUMNS, parse_setting
from proofspan.store.files.evidence_states import EVIDENCE_STATES, EvidenceState
from proofspan.store.files.located import PLACED_SCHEMA
from proofspan.store.files.scores import ScoreName, export_columns
from proofspan.store.files.segment_files import DamagedError
from proofspan.store.files.types import FailureCount, Flips, Found, Neighbours, RunFacts, TraceVerdict
from proofspan.store.index.build import discard_damaged
from proofspan.store.query import metrics
from proofspan.store.query.database import Database, selection, statement
from proofspan.store.query.derived_columns import NOTHING_REVIEWED, ListedRun, Reviewed, tables_of
from proofspan.store.query.filters import TURNS, Filter, Flip, Sort
from proofspan.store.query.loaded_runs import ALL_COLUMNS, LoadedRun, RunCache, results_of
from proofspan.store.query.metric_sql import FAILS, HEADLINE, OUTCOMES, Clause, measure_of
from proofspan.store.query.score_conditions import Condition, score_columns

P = ParamSpec("P")
T = TypeVar("T")
#: Filter name → its values, each with a count.
Choices = dict[str, tuple[tuple[str, int], ...]]

#: The columns of a page that are those of the run it is compared with.
WAS_COLUMNS = ("was_label", "was_bucket", "was_grounded", "was_correct", "was_cause")
_INNER = {"row", "q_folded", "answer_folded", "evidence_severity", "cited_print"}
_INNER |= {"memory", "offset_unit", "answer_print", "citations", "settings"}
#: The columns of an export and of a single row.
FULL_COLUMNS = tuple(name for name in ALL_COLUMNS if name not in _INNER)
#: The filters with choices, and the columns that these are counted from; lists count each of their values.
_CHOICES: Mapping[str, str] = {
    "suspicion": "suspicions",
    "code": "codes",
    "section": "rank1_section",
    "gold": "gold_state",
    "bucket": "bucket",
    "type": "q_type",
    "state": "lambda_state",
    "difference": "difference_kinds",
    "cause": "cause",
}
#: The columns of the verdict on an answer.
AXES = ("grounded", "correct", "cause")
#: The columns of a question's other traces in its run.
VARIANT_COLUMNS = (*KEY_COLUMNS, "q", "label", "lambda_state", "rank1_section", "unranked", "section_rank")
#: The columns of a step through a list.
PLACE_COLUMNS = (*KEY_COLUMNS, "q", "label", "line", "offset", "length")
#: The columns of a located citation.
CITATION_COLUMNS = tuple(name for name in PLACED_SCHEMA.names if name != "row")
#: The whole documents among the places that a trace is about (see `proofspan.diagnosis.topic`).
_DOCUMENTS = "list_filter(about, lambda place: NOT contains(place, '#'))"
_JUDGED = "unranked, refused, coalesce(top_rank <= 20, FALSE)"
#: What the questions of a run are counted by, with the columns that this reads.
_COUNTED: Mapping[str, tuple[str, ...]] = {
    "label": ("label",),
    "bucket": ("bucket",),
    "lambda_state": ("lambda_state",),
    _JUDGED: ("unranked", "refused", "top_rank"),
}
_RANKED = ("section_rank", "top_rank", "bucket")
_VARIED = (*KEY_COLUMNS, "rank1_section", "cited_print", "label", "lambda_state")
#: The order of a column's values in `transitions`.
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "label": LABELS,
    "cause": CAUSES,
    "bucket": get_args(Bucket),
    "correct": CORRECT,
}
#: The columns of `flip_rows` that both runs have, with the name of the other run's.
_FLIPPED = {
    **{name: f"was_{name}" for name in ("label", "bucket", "grounded", "correct")},
    "section_rank": "was_rank",
}

#: How often an index that is replaced while it is read is read, in all.
ATTEMPTS = 3
#: How many rows are cached of the pages of lists that were read last, one more for each page.
CACHED_ROWS = 2_000
#: Rows per piece of an export. For a longer list the run's columns are read as a whole.
EXPORT_ROWS = 5_000


def _retried(method: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Call a method again if an index was replaced meanwhile and its files are gone."""

    @wraps(method)
    def call(store: Store, /, *args: P.args, **options: P.kwargs) -> T:
        for _ in range(ATTEMPTS):
            try:
                return method(store, *args, **options)
            except DamagedError as error:
                folder = error.folder
                run_id = store._kept.forget(folder)
        raise discard_damaged(store._manifest, run_id, folder)

    return call


#: For how many reviewers and assignees it is kept which answers they reviewed, or have to.
_MOST_REVIEWERS = 32


class Store:
    """The index of a workspace, read with its manifest's profile. Safe for several threads.

    An index that is rebuilt meanwhile is picked up with the next call. StoreFault where a run has no index
    yet, or a query fails.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        self.cache_dir = cache_dir
        self._manifest = manifest
        self._profile = profile_from(manifest.triage)
        self._database = Database()
        self._kept = RunCache(manifest, cache_dir)
        #: Pages of lists: people go back to the list that they filtered.
        self._pages: Recent[pd.DataFrame] = Recent(CACHED_ROWS, weigh=lambda page: 1 + len(page))
        #: What filters ask of the reviews, as long as these are what the file holds.
        self._reviews: tuple[Annotations, dict[tuple[str, str, str], Reviewed]] = (Annotations(), {})

    # Runs

    def runs(self) -> tuple[str, ...]:
        """Return the runs that have an index, in the manifest's order."""
        return tuple(run.run_id for run in self._manifest.runs if self.stamp(run.run_id) is not None)

    def stamp(self, run: str) -> tuple[int, int] | None:
        """Return what changes whenever the run's index does, for keys of caches; None without an index."""
        return self._kept.stamp(run)

    def claims_stamp(self, run: str) -> tuple[int, int] | None:
        """Return what changes whenever the run's checked claims do, for keys of caches; None without any."""
        return self._kept.claims_stamp(run)

    @_retried
    def run_facts(self, run: str) -> RunFacts:
        """Return the facts that are shown beside the run's numbers."""
        loaded = self._kept.loaded(run)
        placed, checked = loaded.placed(), loaded.checked()

        def compute() -> RunFacts:
            about = loaded.run_file
            repeat = loaded.table(["repeat"]).column("repeat").to_numpy()
            return RunFacts(
                run_id=run,
                file=about.file,
                profile=self._profile,
                traces=about.rows,
                questions=self.total(run),
                repeats=int((repeat > 1).sum()),
                line_issues=about.line_issues,
                unmatched=about.unmatched,
                waiting_bytes=about.waiting_bytes,
                from_report=about.from_report,
                problems=about.problems,
                suggestion=suggest_profile(about.facts, self._profile),
                placed=placed,
                checked=checked,
                unread_bytes=about.unread_bytes,
            )

        return loaded.get_or_make(("facts", placed is None, checked is None), compute)

    @_retried
    def settings(self, run: str) -> list[tuple[str, str, str, int]]:
        """Return what the traces of a run log of index, model, analyzer and revisions, most frequent first.

        Each entry is field, document (of a revision, else ""), value, and how many traces log it.
        """
        counted = self._kept.loaded(run).list_counts("settings")
        return sorted(
            ((*parse_setting(text), traces) for text, traces in counted), key=lambda each: (-each[3], *each)
        )

    @_retried
    def line_issues(self, run: str) -> pd.DataFrame:
        """Return the lines of the run's files that could not be read: file, line, offset, length, code, …"""
        return self._kept.loaded(run).issues()

    @_retried
    def line_of_one_memory(self, run: str) -> SourceLine | None:
        """Return the run's first line if all its traces were made in one state of memory, else None."""
        loaded = self._kept.loaded(run)
        memory = loaded.table(("memory",)).column("memory")
        if memory.null_count or len(memory.unique()) != 1:
            return None
        return _source_line(loaded, loaded.record(0, ("line", "offset", "length")))

    # Citations

    @_retried
    def placed(self, run: str, *, q_id: str | None = None) -> pd.DataFrame | None:
        """Return every citation of a run, or of one question, with its location, in the order of the traces.

        None while the citations are not located, or where the index or a document changed since. The columns
        are those of `proofspan.store.files.located.PLACED_SCHEMA` except `row`.
        """
        return self._kept.loaded(run).citations(CITATION_COLUMNS, q_id=q_id)

    @_retried
    def placed_stamp(self, run: str) -> str | None:
        """Return what changes whenever `placed` does, for keys of caches; None while not located."""
        known = self._kept.loaded(run).placed()
        return None if known is None else f"{self.stamp(run)} {known.digest}"

    @_retried
    def are_claims_checked(self, run: str) -> bool:
        """Return whether the claims of a run's answers are checked, by the rules and chunks as they are."""
        return self._kept.loaded(run).checked() is not None

    # Lists

    def matching(self, shown: Filter) -> int:
        """Return how many traces pass the filter."""
        ((count,),) = self._rows("matching", shown)
        return int(count)

    @_retried
    def total(self, run: str, *, all_variants: bool = False) -> int:
        """Return how many questions (or traces, with all variants) the run has."""
        shown = Filter(run, all_variants=all_variants)
        return self._kept.loaded(run).get_or_make(f"total {all_variants}", lambda: self.matching(shown))

    @_retried
    def page(
        self,
        shown: Filter,
        sort: Sort,
        *,
        limit: int,
        offset: int,
        with_claims: bool = False,
        scores: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Return `limit` rows of the list after the first `offset`: `PAGE_COLUMNS`, `run_id` and `file`.

        Compared with another run also `WAS_COLUMNS`: the same trace's values there, null where it has none.
        With claims also the column `claims`, and with names of scores their columns, as in `rows`.
        """
        listed = self._listed(shown, sort, compares=True)
        of = (listed.run.state, listed.other and listed.other.state, listed.cohort, listed.reviewed)
        key = (*of, shown, sort, limit, offset, with_claims, tuple(scores))

        def read() -> pd.DataFrame:
            rows = self._select(listed, shown, sort, limit=limit, offset=offset)
            frame = self._frame(listed.run, shown.run, rows, PAGE_COLUMNS)
            if with_claims:
                texts = listed.run.claims()(np.asarray(rows, dtype=np.int64))
                frame["claims"] = pd.Series(texts, dtype=object)
            frame = _with_scores(frame, listed.run, rows, scores)
            if listed.other is None:
                return frame
            was = listed.table(WAS_COLUMNS).take(pa.array(rows))
            return frame.assign(**{name: was.column(name).to_pylist() for name in WAS_COLUMNS})

        return self._pages.get_or_make(key, read).copy(deep=False)

    def rows(
        self, shown: Filter, sort: Sort, *, with_claims: bool = False, scores: Sequence[str] = ()
    ) -> Iterator[pd.DataFrame]:
        """Yield the whole list in pieces, with every column, for an export.

        With claims also the column `claims`: those of the answer as JSON, null where they are not checked.
        With names of scores also `score:NAME` and `score_label:NAME`: the mean of their numbers in a trace,
        and their labels.
        """
        run, order = self._whole(shown, sort, scores)
        claims = run.claims() if with_claims else None
        for start in range(0, len(order), EXPORT_ROWS):
            rows = order[start : start + EXPORT_ROWS]
            frame = self._frame(run, shown.run, rows, FULL_COLUMNS)
            if claims is not None:
                frame["claims"] = pd.Series(claims(rows), dtype=object)
            yield _with_scores(frame, run, rows, scores)

    @_retried
    def among(self, shown: Filter, sort: Sort, keys: Sequence[TraceKey]) -> pd.DataFrame:
        """Return those of some traces that are in the list, in its order, with every column."""
        listed = self._listed(shown, sort)
        order = self._order(listed, shown, sort)
        wanted = {tuple(getattr(key, name) for name in KEY_COLUMNS) for key in keys}
        column = listed.run.table(("q_id",)).column("q_id")
        asked = pa.array({key.q_id for key in keys}, pa.string()).cast(column.type)
        near = np.asarray(pc.indices_nonzero(pc.is_in(column, value_set=asked)), dtype=np.int64)
        found = zip(near, *listed.run.lists(near, KEY_COLUMNS), strict=True)
        rows = [row for row, *values in found if tuple(values) in wanted]
        return self._frame(listed.run, shown.run, order[np.isin(order, rows)], FULL_COLUMNS)

    @_retried
    def _whole(self, shown: Filter, sort: Sort, scores: Sequence[str]) -> tuple[LoadedRun, np.ndarray]:
        listed = self._listed(shown, sort)
        listed.run.table(FULL_COLUMNS)  # in memory: an index that is replaced meanwhile changes nothing
        for name in scores:
            listed.run.score(name)
        return listed.run, self._order(listed, shown, sort)

    @_retried
    def places(
        self, shown: Filter, sort: Sort, *, limit: int | None = None, with_verdicts: bool = False
    ) -> pd.DataFrame:
        """Return the list, or its first `limit` rows, as `page` orders it: `PLACE_COLUMNS`, run and file.

        With verdicts also `AXES`, null while claims are not checked.
        """
        listed = self._listed(shown, sort)
        order = self._order(listed, shown, sort)[:limit]
        columns = (*PLACE_COLUMNS, *AXES) if with_verdicts else PLACE_COLUMNS
        return self._frame(listed.run, shown.run, order, columns)

    @_retried
    def neighbours(self, shown: Filter, sort: Sort, key: TraceKey) -> Neighbours:
        """Return the questions before and after one, in the order of `page`."""
        listed = self._listed(shown, sort)
        order, row = self._order(listed, shown, sort), self._row(listed.run, key)
        places = np.flatnonzero(order == (-1 if row is None else row))
        place = int(places[0]) if len(places) else None
        before, after = (-1, 0) if place is None else (place - 1, place + 1)
        if place is None and shown.review and row is not None:
            # A verdict takes an answer out of the list of those to look at: it goes on from there.
            whole = self._order(listed, replace(shown, review=""), sort)
            passed = whole[: np.argmax(whole == row)] if row in whole else whole[:0]
            after = int(np.isin(order, passed).sum())
            before = after - 1
        previous, following = (
            self._key(listed.run, shown.run, order[at]) if 0 <= at < len(order) else None
            for at in (before, after)
        )
        return Neighbours(previous, following, None if place is None else place + 1, len(order))

    # Single traces

    @_retried
    def find(self, key: TraceKey) -> Found | None:
        """Return a trace by its identity; None where the run has none."""
        run = self._kept.loaded(key.run_id)
        row = self._row(run, key)
        if row is None:
            return None
        record = {"run_id": key.run_id, **run.record(row, FULL_COLUMNS), "file": run.run_file.file}
        return Found(_source_line(run, record), record)

    @_retried
    def same_answer(self, key: TraceKey) -> TraceKey | None:
        """Return the first other trace with the same candidates, answer and citations; None without one."""
        run = self._kept.loaded(key.run_id)
        row = self._row(run, key)
        same = "answer_print = (SELECT answer_print FROM rows WHERE row = $row)"
        alike = self._where(run, same, ("answer_print",), {"row": row})
        return self._key(run, key.run_id, alike[0]) if len(alike) and alike[0] != row else None

    def same_question(self, q_id: str) -> dict[str, list[TraceVerdict]]:
        """Return all traces of a question in every indexed run that has it, with their verdicts, by run."""
        found = {run: self._judged(q_id, run) for run in self.runs()}
        return {run: traces for run, traces in found.items() if traces}

    @_retried
    def _judged(self, q_id: str, run: str) -> list[TraceVerdict]:
        loaded = self._kept.loaded(run)
        columns = loaded.lists(loaded.rows_of(q_id), TraceVerdict._fields)
        return [TraceVerdict(*values) for values in zip(*columns, strict=True)]

    @_retried
    def named_like(self, run: str, beginning: str, *, limit: int) -> pd.DataFrame:
        """Return the headline traces whose question id begins so, in either case, the shortest id first.

        At most `limit` rows, with the columns of `page`.
        """
        loaded = self._kept.loaded(run)
        sql = f"starts_with(lower(q_id), lower($beginning)) AND {HEADLINE.sql}"
        rows = self._where(loaded, sql, KEY_COLUMNS, {"beginning": beginning}, order="length(q_id), q_id")
        return self._frame(loaded, run, rows[:limit], PAGE_COLUMNS)

    @_retried
    def traces_of(self, q_id: str, run: str, columns: Sequence[str] = VARIANT_COLUMNS) -> pd.DataFrame:
        """Return all traces of a question in one run, the headline one first."""
        loaded = self._kept.loaded(run)
        return self._frame(loaded, run, loaded.rows_of(q_id), columns)

    # Counts for filters

    def counts(self, shown: Filter) -> dict[Label | None, int]:
        """Return traces by label, for the filter without its label part; every label is there.

        None, which comes last, are those without a label.
        """
        counted = self._counts(replace(shown, label=()), "label")
        return {label: counted.get(label, 0) for label in (*LABELS, None)}

    def gold_counts(self, shown: Filter) -> dict[GoldState, int]:
        """Return traces by gold state, for the filter without its gold part; every state is there."""
        counted = dict(self._rows("counts", replace(shown, gold=()), ("gold_state",), columns="gold_state"))
        return {state: counted.get(state, 0) for state in GOLD_STATES}

    @_retried
    def evidence_counts(self, shown: Filter) -> dict[EvidenceState, int]:
        """Return traces by the state of their citations, for the filter without its evidence part.

        Every state is there, and a trace may be in several; empty while the run's citations are not located.
        """
        if self._kept.loaded(shown.run).placed() is None:
            return {}
        shown = replace(shown, evidence=())
        counted = dict(self._rows("counts", shown, ("evidence",), columns="unnest(evidence)"))
        return {state: counted.get(state, 0) for state in EVIDENCE_STATES}

    @_retried
    def claim_counts(self, shown: Filter) -> dict[ClaimStatus, int]:
        """Return traces by the statuses of their claims, for the filter without its claim part.

        Every status is there, and a trace may be in several; empty while the run's claims are not checked.
        """
        if self._kept.loaded(shown.run).checked() is None:
            return {}
        shown, value = replace(shown, claim=()), "unnest(claim_statuses)"
        counted = dict(self._rows("counts", shown, ("claim_statuses",), columns=value))
        return {status: counted.get(status, 0) for status in CLAIM_STATUSES}

    @_retried
    def verdict_counts(self, shown: Filter, axis: Literal["cause", "grounded", "correct"]) -> dict[str, int]:
        """Return traces by cause, or by an axis of their verdicts, for the filter without that part.

        Only values that occur, most frequent first; empty while the run's claims are not checked.
        """
        if self._kept.loaded(shown.run).checked() is None:
            return {}
        without: dict[str, Any] = {axis: ()}
        counted = self._rows("counts", replace(shown, **without), (axis,), columns=axis)
        found = [(value, count) for value, count in counted if value is not None]
        return dict(sorted(found, key=lambda each: (-each[1], each[0])))

    @_retried
    def outcome_counts(self, shown: Filter) -> dict[tuple[Cause | None, Correct | None], int]:
        """Return traces by cause and correctness together, for the filter without these two parts.

        Only pairs that occur; None twice is an answer without a verdict. Empty while claims are not checked.
        """
        if self._kept.loaded(shown.run).checked() is None:
            return {}
        names = ("cause", "correct")
        counted = self._rows("counts", replace(shown, cause=(), correct=()), names, columns=", ".join(names))
        return {(cause, correct): count for cause, correct, count in counted}

    def failures(self, shown: Filter, *, within: str | None = None) -> tuple[FailureCount, ...]:
        """Return failures by place, for the filter without `about` and `fails`; a trace is in one entry.

        With `within` only those of traces about that place.
        """
        return self._failures(replace(shown, about=() if within is None else (within,), fails=None), "about")

    def failures_by_document(self, shown: Filter) -> tuple[FailureCount, ...]:
        """Return the same with whole documents as the only places."""
        return self._failures(replace(shown, about=(), fails=None), _DOCUMENTS)

    def _failures(self, shown: Filter, of: str) -> tuple[FailureCount, ...]:
        judged: Counter[tuple[str, ...]] = Counter()
        failing: Counter[tuple[str, ...]] = Counter()
        columns = ("about", *FAILS.columns)
        for about, fails, traces in self._rows("counts", shown, columns, columns=f"{of}, {FAILS.sql}"):
            places = tuple(about or ())
            judged[places] += 0 if fails is None else traces
            failing[places] += traces if fails else 0
        return tuple(FailureCount(places, judged[places], failing[places]) for places in sorted(judged))

    @_retried
    def options(self, run: str) -> Choices:
        """Return the values that the run's list can be filtered by: filter → values with headline traces.

        The names are `suspicion`, `code`, `doc`, `section`, `state`, `gold`, `bucket` and `type` (without
        values where the run has no gold), and `difference` and `cause` (without values while claims are not
        checked); the most frequent value comes first.
        """
        loaded = self._kept.loaded(run)
        return loaded.get_or_make("options", lambda: self._choices(loaded))

    @_retried
    def has_scores(self, run: str) -> bool:
        """Return whether any trace of a run has scores of other tools."""
        return any(segment.scores for segment in self._kept.loaded(run).run_file.segments)

    @_retried
    def score_names(self, run: str) -> list[ScoreName]:
        """Return the scores of other tools that the run's headline traces have, the most frequent first."""
        loaded = self._kept.loaded(run)

        def names() -> list[ScoreName]:
            headline = self._where(loaded, HEADLINE.sql, HEADLINE.columns, {})
            return loaded.score_names(headline)

        return loaded.get_or_make("score names", names)

    def score_counts(self, shown: Filter, name: str) -> dict[str, int]:
        """Return traces by the labels of a score, for the filter without that score's part.

        The most frequent comes first, and last "": those without the score.
        """
        others = tuple(each for each in shown.score if Condition.parse(each).name != name)
        without, (_, labels) = replace(shown, score=others), score_columns(name)
        counted = self._rows("counts", without, (labels,), columns=f"unnest({labels})")
        found = sorted(((value, count) for value, count in counted), key=lambda each: (-each[1], each[0]))
        absent = replace(without, score=(*others, str(Condition(name, "=", ""))))
        return {**dict(found), "": self.matching(absent)}

    @_retried
    def code_counts(
        self, runs: Sequence[str], column: Literal["codes", "suspicions"] = "codes"
    ) -> pd.DataFrame:
        """Return how often each contract code or suspicion occurs: a row per run and code, by run and code.

        The columns are `run_id`, `code`, `traces` (all variants) and `questions`: the headline ones among
        them. A code of variants and repeats only has 0 questions. A run without an index is left out.
        """
        indexed = self._indexed(runs)

        def compute(loaded: Sequence[LoadedRun]) -> list[list[tuple[str | int, ...]]]:
            table = tables_of(self._database, loaded, (column, *HEADLINE.columns))
            # Most traces of a run have the very codes that many others have, so whole lists are counted.
            sql = statement("counts").format(columns=f"run, {column}, {HEADLINE.sql}", where="TRUE")
            counts: list[dict[str, list[int]]] = [{} for _ in loaded]
            for place, codes, is_headline, count in self._database.rows(sql, {}, {"rows": table}):
                for code in codes or ():
                    both = counts[place].setdefault(code, [0, 0])
                    both[0] += count
                    both[1] += count * is_headline
            return [[(code, *of_run[code]) for code in sorted(of_run)] for of_run in counts]

        counts = results_of([self._kept.loaded(run) for run in indexed], column, compute)
        rows = [(run, *each) for run, of_run in zip(indexed, counts, strict=True) for each in of_run]
        return pd.DataFrame(rows, columns=["run_id", "code", "traces", "questions"])

    # Metrics: of headline traces, one per question, also where a list shows all variants

    @_retried
    def run_sums(self, runs: Sequence[str]) -> dict[str, metrics.RunSums]:
        """Return the sums of several whole runs, computed together and cached."""
        loaded = [self._kept.loaded(run) for run in runs]
        return dict(zip(runs, results_of(loaded, "sums", self._compute_sums), strict=True))

    def measure(self, shown: Filter) -> dict[str, Tally]:
        """Return every metric of a list by id, except that of evidence bundles, which are not indexed."""
        shown = _headline(shown)
        if not shown.is_narrowed:
            return dict(self.run_sums([shown.run])[shown.run].measures)
        return self._sliced(shown, "0", ()).get("0") or dict(metrics.NO_TALLIES)

    def measure_traces(self, run: str) -> dict[str, Tally]:
        """Return every metric over all traces of a run, with paraphrases, seeds and repeats."""
        return self._sliced(Filter(run, all_variants=True), "0", ()).get("0") or dict(metrics.NO_TALLIES)

    def measure_by(self, shown: Filter, by: metrics.Slice) -> dict[str, dict[str, Tally]]:
        """Return `measure` by slice: the largest first, then by name; at most `MOST_SLICES`.

        A section's or document's name is a place as `Filter.about` takes it; a question counts in all that
        it is about. Questions without a type, or a bucket, are in no slice.
        """
        sql, column = metrics.SLICES[by]
        return self._sliced(_headline(shown), sql, (column,))

    def bucket_counts(self, shown: Filter) -> dict[Bucket | None, int]:
        """Return questions by bucket, for the filter without its bucket part; every bucket is there.

        None, which comes last, are those whose ranking cannot be judged.
        """
        counted = self._counts(replace(shown, bucket=()), "bucket")
        return {bucket: counted.get(bucket, 0) for bucket in (*get_args(Bucket), None)}

    def state_counts(self, shown: Filter) -> dict[str | None, int]:
        """Return questions by logged λ state (None: none), the most frequent first.

        The filter's state part is left out.
        """
        counted = self._counts(replace(shown, state=()), "lambda_state")
        return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0] or "")))

    def refusal_table(self, shown: Filter) -> dict[tuple[bool, bool], int]:
        """Return judged questions by (does the answer decline?, is the gold in the top 20?)."""
        counted, either = self._counts(_headline(shown), _JUDGED), (True, False)
        return {(refused, top): counted.get((None, refused, top), 0) for refused in either for top in either}

    @_retried
    def ranks(self, runs: Sequence[str]) -> pd.DataFrame:
        """Return the gold rank of judged questions in several runs, by the order of the runs and q_id.

        The columns are `q_id`, `q`, `run_id`, `section_rank`, `top_rank` and `bucket`. A run without an index
        is left out.
        """
        indexed, names = self._indexed(runs), ("q_id", "q", "run", *_RANKED)
        if not indexed:
            return pd.DataFrame(columns=["q_id", "q", "run_id", *_RANKED])
        loaded = [self._kept.loaded(run) for run in indexed]
        table = tables_of(self._database, loaded, ("q", "q_id", *HEADLINE.columns, "unranked", *_RANKED))
        judged = f"{HEADLINE.sql} AND unranked IS NULL"
        sql = selection(judged, columns=", ".join(names), order="run, q_id")
        result = self._database.table(sql, {}, {"rows": table})
        columns = {name: result.column(name).to_pylist() for name in names}
        columns["run"] = [indexed[place] for place in columns["run"]]
        frame = pd.DataFrame(columns, dtype=object).rename(columns={"run": "run_id"})
        return frame.astype({"section_rank": "Int32", "top_rank": "Int32"})

    @_retried
    def variants(self, run: str) -> pd.DataFrame:
        """Return how stable each question of a run is over its paraphrases and seeds, by q_id.

        `traces` counts its traces without repeats, `paraphrases` and `seeds` the different ones.
        `same_rank1`, `same_cited` and `same_label` say whether all traces have the same rank-1 section, cited
        chunks and label; missing with one trace alone, or where a trace has none and the others agree.
        `states` are the different λ states that were logged, in order.
        """
        loaded = self._kept.loaded(run)

        def compute() -> pd.DataFrame:
            rows = ListedRun(self._database, loaded).table(_VARIED)
            result = self._database.table(statement("variants"), {}, {"rows": rows})
            frame = pd.DataFrame({name: result.column(name).to_pylist() for name in result.column_names})
            return frame.astype(dict.fromkeys(("same_rank1", "same_cited", "same_label"), "boolean"))

        return loaded.get_or_make("variants", compute)

    # Comparison with the run that a filter names in `vs`: headline traces, one per question. Where that run
    # has no index, nothing is in both.

    def transitions(
        self, shown: Filter, column: Literal["label", "cause", "bucket", "correct"]
    ) -> list[tuple[str | None, str | None, int]]:
        """Return (value there, value here, questions) over the questions of both runs, in their order.

        None is a question without a label or checked claims, or whose ranking cannot be judged; it is last.
        """
        names, values = (column, f"was_{column}", "was_row"), f"was_row IS NULL, was_{column}, {column}"
        rows = self._rows("counts", _headline(shown), names, compares=True, columns=values)
        place = {value: number for number, value in enumerate((*_ORDERS[column], None))}
        moved = [(was, now, count) for is_alone, was, now, count in rows if not is_alone]
        return sorted(moved, key=lambda row: (place[row[0]], place[row[1]]))

    def flips(self, shown: Filter) -> Flips:
        """Return how the filter's `outcome` changed, in all kinds: its part `flip` is left out."""
        shown = replace(_headline(shown), flip="")
        outcome = shown.outcome or next(iter(OUTCOMES))
        here, was = measure_of(outcome), f"was_value_{outcome}"
        values = f"was_row IS NULL, {was}, {here.number}"
        columns = (*here.columns, was, "was_row")
        counted = Counter[object]()
        rows = self._rows("counts", shown, columns, compares=True, columns=values)
        for is_alone, there, now, count in rows:
            is_known = there is not None and now is not None
            counted["alone" if is_alone else (there, now) if is_known else "left_out"] += count
        only_there = 0
        if self._is_indexed(shown.vs):  # what the same filter keeps of the other run that this one lacks
            mirrored = replace(shown.without_comparison, run=shown.vs, vs=shown.run)
            is_there = self._rows("counts", mirrored, ("was_row",), compares=True, columns="was_row IS NULL")
            only_there = dict(is_there).get(True, 0)
        return Flips(
            **{flip: counted[was, is_now] for flip, (was, is_now, _) in TURNS.items()},
            only_here=counted["alone"],
            only_there=only_there,
            left_out=counted["left_out"],
        )

    @_retried
    def paired(self, shown: Filter, metric_ids: Sequence[str]) -> dict[str, np.ndarray]:
        """Return each question's differences in metrics (here less there), in the order of this run's file.

        Questions that lack a number in one run are left out. Numbers are 0 or 1 for a share, what a quantile
        is taken of, and for citation overlap the share of a question's own ids.
        """
        if not metric_ids:
            return {}
        shown = _headline(shown)
        clause, columns, numbers = shown.where(), list[str](), list[str]()
        for metric_id in metric_ids:
            measure, was = measure_of(metric_id), f"was_value_{metric_id}"
            columns += (*measure.columns, was)
            numbers.append(f"{measure.number} - {was} AS {metric_id}")
        table = self._listed(shown, compares=True).table((*dict.fromkeys(columns), *clause.columns))
        sql = selection(clause.sql, columns=", ".join(numbers))
        found = self._database.table(sql, clause.params, {"rows": table})
        return {name: found.column(name).drop_null().to_numpy() for name in metric_ids}

    # Of rows that are not in the index as they are: a what-if replaces some of their columns.

    @_retried
    def headline_table(self, run: str, names: Iterable[str], *, all_variants: bool = False) -> pa.Table:
        """Return columns of a run's headline traces, or of all, in the order of the file.

        All that metrics measure is there besides: `MEASURED` and `row`.
        """
        listed = self._listed(Filter(run))
        table = listed.table(("row", *metrics.MEASURED, *HEADLINE.columns, *names))
        if all_variants:
            return table
        return self._database.table(statement("kept").format(where=HEADLINE.sql), {}, {"rows": table})

    @_retried
    def claims_of(self, run: str, rows: np.ndarray) -> list[str | None]:
        """Return the claims of rows of a run as JSON, in the order given; None where they are not checked."""
        return self._kept.loaded(run).claims()(np.asarray(rows, dtype=np.int64))

    def tallies_of_table(self, table: pa.Table) -> dict[str, Tally]:
        """Return the metrics of the index over the rows of a table as `headline_table` returns it.

        Quantiles are of what the pipeline measured; they have no value here.
        """
        found = self._tallies(table, Clause("TRUE"), "0", most=1, quantiles=False)
        return found.get(0) or dict(metrics.NO_TALLIES)

    def numbers_of_table(self, table: pa.Table, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Return each row's number in metrics or outcomes, NaN where a row is left out.

        The table is one as `headline_table` returns it.
        """
        columns = ", ".join(
            f"CAST({measure_of(name).number} AS DOUBLE) AS n{at}" for at, name in enumerate(names)
        )
        numbers = self._database.table(selection("TRUE", columns=columns), {}, {"rows": table})
        return {
            name: pc.fill_null(column, float("nan")).to_numpy()
            for name, column in zip(names, numbers.columns, strict=True)
        }

    @_retried
    def flip_rows(self, shown: Filter, kind: Flip, limit: int, offset: int) -> pd.DataFrame:
        """Return `limit` of the questions that flipped in a way, after the first `offset`, worst first.

        Labels, buckets, gold ranks and verdicts are those of the other run (`was_…`) and of this one.
        """
        shown = replace(_headline(shown), flip=kind)
        listed = self._listed(shown)
        rows = self._select(listed, shown, Sort(), limit=limit, offset=offset)
        names = [*_FLIPPED, *(f"was_{name}" for name in _FLIPPED)]
        both = listed.table(names).take(pa.array(rows))
        frame = listed.run.frame(rows, ("q_id", "q")).astype(object)
        for name, was in _FLIPPED.items():
            frame[was] = pd.Series(both.column(f"was_{name}").to_pylist(), dtype=object)
            frame[name] = pd.Series(both.column(name).to_pylist(), dtype=object)
        return frame.astype({"section_rank": "Int32", "was_rank": "Int32"})

    # Helpers

    def _listed(self, shown: Filter, sort: Sort | None = None, *, compares: bool = False) -> ListedRun:
        """Return the list's run with what else the list, and its order, depend on.

        `compares`: the other run is needed even where the list is not restricted by it.
        """
        cohort = read_cohorts(self._manifest).get(shown.cohort) if shown.cohort else None
        is_needed = (compares or shown.compares) and self._is_indexed(shown.vs)
        asks_reviews = shown.review or shown.assigned or (sort is not None and sort.by == "reviewed")
        return ListedRun(
            self._database,
            self._kept.loaded(shown.run),
            self._kept.loaded(shown.vs) if is_needed else None,
            None if cohort is None else frozenset(cohort.q_ids),
            self._reviews_as_asked(shown) if asks_reviews else NOTHING_REVIEWED,
        )

    def _reviews_as_asked(self, shown: Filter) -> Reviewed:
        """Return the run's answers as `_reviewed`, counted once for each state of the file."""
        known = read_annotations(self._manifest)
        is_same = self._reviews[0] is known and len(self._reviews[1]) < _MOST_REVIEWERS
        kept = self._reviews if is_same else (known, {})
        self._reviews = kept
        key = shown.run, shown.reviewer, shown.assigned
        if (found := kept[1].get(key)) is None:
            found = kept[1][key] = self._reviewed(shown)
        return found

    def _reviewed(self, shown: Filter) -> Reviewed:
        """Return the run's answers by what people did with them, as a filter asks."""
        known = read_annotations(self._manifest)

        def of_run(targets: Iterable[Target]) -> frozenset[Target]:
            return frozenset(each for each in targets if each.run_id == shown.run)

        verdicts, by = known.verdicts, shown.reviewer
        agreeing = {
            target: {each.agrees for name, each in given.items() if by in ("", name)}
            for target, given in verdicts.items()
        }
        return Reviewed(
            of_run(each for each, agrees in agreeing.items() if agrees),
            of_run(each for each, agrees in agreeing.items() if agrees == {True}),
            of_run(each for each, agrees in agreeing.items() if False in agrees),
            of_run(each for each, given in verdicts.items() if disputed(given)),
            of_run(each for each, name in known.assignees.items() if name == shown.assigned),
            of_run(verdicts),
            of_run(each for each, given in verdicts.items() if contested(given)),
        )

    def _is_indexed(self, run: str) -> bool:
        return bool(run) and self._manifest.run(run) is not None and self.stamp(run) is not None

    def _indexed(self, runs: Sequence[str]) -> list[str]:
        return [run for run in dict.fromkeys(runs) if self._is_indexed(run)]

    @_retried
    def _rows(
        self,
        name: str,
        shown: Filter,
        reads: Iterable[str] = (),
        *,
        columns: str = "",
        compares: bool = False,
    ) -> list[metrics.Row]:
        """Return the rows of a statement about a list, which reads these columns besides the filter's."""
        listed = self._listed(shown, compares=compares)

        def query() -> list[metrics.Row]:
            clause = shown.where()
            sql = statement(name).format(where=clause.sql, columns=columns)
            return self._database.rows(sql, clause.params, {"rows": listed.table((*reads, *clause.columns))})

        key = (name, columns, shown, listed.cohort, listed.reviewed, listed.other and listed.other.state)
        return listed.run.get_or_make(key, query)

    def _select(
        self, listed: ListedRun, shown: Filter, sort: Sort, *, limit: int | None = None, offset: int = 0
    ) -> np.ndarray:
        """Return the rows of a list in order: all (`limit` None), or a page."""
        clause = shown.where()
        sql = selection(clause.sql, order=sort.order(), limit=limit, offset=offset)
        tables = {"rows": listed.table((*sort.columns(), *clause.columns))}
        return self._database.column(sql, clause.params, tables)

    def _order(self, listed: ListedRun, shown: Filter, sort: Sort) -> np.ndarray:
        key = (shown, sort, listed.cohort, listed.reviewed, listed.other and listed.other.state)
        return listed.run.get_or_make(key, lambda: self._select(listed, shown, sort))

    def _where(
        self,
        run: LoadedRun,
        sql: str,
        columns: Sequence[str],
        params: Mapping[str, object],
        *,
        order: str = "row",
    ) -> np.ndarray:
        """Return the rows of a run that meet a condition of our own."""
        return self._database.column(selection(sql, order=order), params, {"rows": run.table(columns)})

    def _row(self, run: LoadedRun, key: TraceKey) -> int | None:
        rows = run.rows_of(key.q_id)
        found = zip(rows, *run.lists(rows, KEY_COLUMNS), strict=True)
        wanted = tuple(getattr(key, name) for name in KEY_COLUMNS)
        return next((int(row) for row, *values in found if tuple(values) == wanted), None)

    def _key(self, run: LoadedRun, name: str, row: int) -> TraceKey:
        return TraceKey(name, *run.record(row, KEY_COLUMNS).values())

    def _frame(
        self, run: LoadedRun, name: str, rows: Sequence[int] | np.ndarray, columns: Sequence[str]
    ) -> pd.DataFrame:
        frame = run.frame(rows, columns)
        frame.insert(0, "run_id", name)
        frame["file"] = run.run_file.file
        return frame

    def _counts(self, shown: Filter, counted: str) -> dict[Any, int]:
        """Return traces by a key of `_COUNTED`, from memory where the sums of the whole run are cached.

        One count alone is not worth computing all sums.
        """
        known: metrics.RunSums | None = None
        if not shown.is_narrowed:
            known = self._kept.loaded(shown.run).cached("sums")
        if known:
            return known.counts[counted]
        return _counts_of(self._rows("counts", shown, _COUNTED[counted], columns=counted))

    def _choices(self, run: LoadedRun) -> Choices:
        tables = {"rows": run.table((*HEADLINE.columns, *_CHOICES.values()))}
        headline = self._database.column(selection(HEADLINE.sql), {}, tables)
        counted = {"doc": run.list_counts("docs", headline)}
        for name, column in _CHOICES.items():
            value = f"unnest({column})" if name in ("suspicion", "code", "difference") else column
            sql = statement("counts").format(columns=value, where=HEADLINE.sql)
            rows = self._database.rows(sql, {}, tables)
            counted[name] = [(value, traces) for value, traces in rows if value is not None]
        return {
            name: tuple(sorted(values, key=lambda choice: (-choice[1], choice[0])))
            for name, values in counted.items()
        }

    @_retried
    def _sliced(self, shown: Filter, slice_sql: str, columns: Sequence[str]) -> dict[str, dict[str, Tally]]:
        where = shown.where()
        listed = self._listed(shown)
        table = listed.table((*metrics.MEASURED, *columns, *where.columns))
        by_slice = self._tallies(table, where, slice_sql, most=metrics.MOST_SLICES)
        return {str(name): tallies for name, tallies in by_slice.items()}

    def _tallies(
        self, table: pa.Table, where: Clause, slice_sql: str, *, most: int, quantiles: bool = True
    ) -> dict[object, dict[str, Tally]]:
        """Return the metrics of the rows that a condition keeps, by slice."""
        tables = {"rows": table}
        ends: metrics.Ends = {}
        statements = metrics.quantiles_statements(where=where.sql, slice_sql=slice_sql) if quantiles else ()
        for metric_ids, sql in statements:
            for name, *numbers in self._database.rows(sql, where.params, tables):
                for place, metric_id in enumerate(metric_ids):
                    value, low, high = numbers[3 * place : 3 * place + 3]
                    ends[name, metric_id] = value, low, high
        sql = metrics.sums_statement(where=where.sql, slice_sql=slice_sql)
        return metrics.tallies_of(self._database.rows(sql, {**where.params, "most": most}, tables), ends)

    def _compute_sums(self, runs: Sequence[LoadedRun]) -> list[metrics.RunSums]:
        reads = (column for columns in _COUNTED.values() for column in columns)
        table = tables_of(self._database, runs, (*metrics.MEASURED, *HEADLINE.columns, *reads))
        measures = self._tallies(table, HEADLINE, "run", most=len(runs))
        counts: list[dict[str, dict[Any, int]]] = [{} for _ in runs]
        for counted in _COUNTED:
            sql = statement("counts").format(columns=f"run, {counted}", where=HEADLINE.sql)
            rows = self._database.rows(sql, {}, {"rows": table})
            for place, of_run in enumerate(counts):
                of_run[counted] = _counts_of(row[1:] for row in rows if row[0] == place)
        none = metrics.NO_TALLIES
        return [metrics.RunSums(measures.get(place, none), of_run) for place, of_run in enumerate(counts)]


def _counts_of(rows: Iterable[tuple[Any, ...]]) -> dict[Any, int]:
    """Return counts by value, or by the values of several columns."""
    return {values[0] if len(values) == 1 else tuple(values): count for *values, count in rows}


def _with_scores(
    frame: pd.DataFrame, run: LoadedRun, rows: Sequence[int] | np.ndarray, names: Sequence[str]
) -> pd.DataFrame:
    """Return a frame of some rows with the columns of scores."""
    added = {}
    for name in names:
        found = run.score(name).take(pa.array(rows, pa.int64()))
        for of, values in zip(export_columns(name), found.columns, strict=True):
            added[of] = pd.Series(values.to_pylist(), dtype=object)
    return frame.assign(**added)


def _headline(shown: Filter) -> Filter:
    return replace(shown, all_variants=False)


def _source_line(run: LoadedRun, record: Mapping[str, Any]) -> SourceLine:
    return SourceLine(run.run_file.file, record["line"], record["offset"], record["length"])
