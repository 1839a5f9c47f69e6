"""What pages and commands ask of an index. Every question is one file in `sql/`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from core.contracts.records import LABELS, Label, SourceLine, TraceKey
from core.errors import StoreFault
from core.manifest.types import Manifest
from core.store.clauses import FAILS, HEADLINE
from core.store.database import Database
from core.store.files import DamagedError
from core.store.filters import Filter, Sort
from core.store.index import index_folder
from core.store.loaded import ALL_COLUMNS, LoadedRun, record_of
from core.store.placed import EVIDENCE_STATES, PLACED_SCHEMA, EvidenceState, PlacedFile, Placements
from core.store.runfile import RUN_FILE, read_run_file
from core.store.types import FailureCount, Found, Neighbours, PlacedFacts, RunFacts, failure_count
from core.triage.gold import GOLD_STATES, GoldState
from core.triage.profile import profile_from
from core.triage.suggest import suggest_profile

T = TypeVar("T")
#: Filter name → its values, each with a count.
Choices = dict[str, tuple[tuple[str, int], ...]]

#: The columns of a page: all that a table row may show. The rest stays on disk until it is asked for.
PAGE_COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "q", "label", "severity", "why", "stored_label"),
    *("rank1_section", "rank1_doc"),
    *("gold_state", "gold_is_refusal", "gold_seen_rank", "gold_retrieved_rank"),
    *("unranked", "bucket", "section_rank", "top_rank"),
    *("cited", "cited_retrieved", "cited_resolved", "query_coverage", "answer_coverage"),
    *("numbers_unsupported", "suspicions", "safety_omitted", "evidence", "agreement"),
)
_INNER = {"row", "q_folded", "answer_folded", "evidence_severity"}
#: The columns of an export and of a single row.
FULL_COLUMNS = tuple(name for name in ALL_COLUMNS if name not in _INNER)
#: Those of a step through a list.
PLACE_COLUMNS = ("q_id", "paraphrase", "seed", "repeat", "q", "label", "line", "offset", "length")
#: Those of a citation.
CITATION_COLUMNS = tuple(name for name in PLACED_SCHEMA.names if name != "row")

#: Rows of an export that become a piece together; of a longer list the run's columns are in memory.
EXPORT_ROWS = 5_000
#: So many runs are kept in memory.
KEPT_RUNS = 8
#: So many orders of lists are remembered for stepping from question to question.
KEPT_ORDERS = 16


@cache
def statement(name: str) -> str:
    """The text of `sql/{name}.sql`."""
    return (files("core.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class Store:
    """The index of a workspace, read with its manifest's profile. Safe for several threads.

    An index that is rebuilt while it is looked at is picked up with the next call. StoreFault where a run
    has no index yet, or a query fails.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        self._manifest = manifest
        self._cache_dir = cache_dir
        self._profile = profile_from(manifest.triage)
        self._database = Database()
        self._runs: dict[str, tuple[tuple[int, int], PlacedFile | None, LoadedRun]] = {}
        self._placements = Placements(manifest)
        self._orders: OrderedDict[tuple[LoadedRun, Filter, Sort], np.ndarray] = OrderedDict()
        self._options: WeakKeyDictionary[LoadedRun, Choices] = WeakKeyDictionary()
        self._folders: dict[str, Path] = {}
        self._lock = Lock()

    def runs(self) -> tuple[str, ...]:
        """The runs that have an index, in the manifest's order."""
        return tuple(run.run_id for run in self._manifest.runs if self.stamp(run.run_id) is not None)

    def stamp(self, run: str) -> tuple[int, int] | None:
        """Changes whenever the run's index does, for keys of caches; None where there is no index."""
        try:
            status = (self._folder(run) / RUN_FILE).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_ino

    def counts(self, shown: Filter) -> dict[Label, int]:
        """Traces by label, for the filter without its label part; every label is there."""
        found = self._counts("label", replace(shown, label=()))
        return {label: found.get(label, 0) for label in LABELS}

    def unlabelled(self, shown: Filter) -> int:
        """Traces without a label, for the filter without its label part."""
        return self._counts("label", replace(shown, label=())).get(None, 0)

    def gold_counts(self, shown: Filter) -> dict[GoldState, int]:
        """Traces by what became of their gold, for the filter without its gold part; every state is there."""
        found = self._counts("gold_state", replace(shown, gold=()))
        return {state: found.get(state, 0) for state in GOLD_STATES}

    def evidence_counts(self, shown: Filter) -> dict[EvidenceState, int]:
        """Traces by what became of their citations, for the filter without its evidence part.

        Every state is there, and a trace may be in several; empty while the run's citations are not located.
        """
        if self._with_run(shown.run, lambda run: run.placed()) is None:
            return {}
        found = self._counts("evidence", replace(shown, evidence=()), by="evidence")
        return {state: found.get(state, 0) for state in EVIDENCE_STATES}

    def safety_count(self, shown: Filter) -> int:
        """How many traces may leave out a warning or caution, for the filter without its safety part."""
        return self.matching(replace(shown, safety=True))

    def safety_judged(self, shown: Filter) -> int:
        """Of how many `safety_count` is: the traces with a citation, chunks and a catalogue to judge by."""
        return self.safety_count(shown) + self.matching(replace(shown, safety=False))

    def failures(self, shown: Filter) -> tuple[FailureCount, ...]:
        """Where traces fail, for the filter without `about` and `fails`; a trace is in one entry.

        Entries come in the order of their places.
        """
        wanted = replace(shown, about=(), fails=None)
        clause = wanted.where()
        sql = statement("failures").format(where=clause.sql, fails=FAILS.sql)

        def read(run: LoadedRun) -> list[tuple[object, ...]]:
            table = run.table(("about", *FAILS.columns, *clause.columns))
            return self._database.rows(sql, clause.params, {"rows": table})

        return tuple(map(failure_count, self._with_run(shown.run, read)))

    def placed(self, run: str) -> pd.DataFrame | None:
        """Every citation of a run with where it stands, in the order of the traces.

        None while the citations are not located, or the index or a document is no longer what it was then.
        The columns are those of `core.store.placed.PLACED_SCHEMA` but for `row`.
        """
        return self._with_run(run, lambda loaded: loaded.citations(CITATION_COLUMNS))

    def placed_stamp(self, run: str) -> str | None:
        """Changes whenever `placed` does, for keys of caches; None while the citations are not located."""
        known = self._with_run(run, lambda loaded: loaded.placed())
        return None if known is None else f"{self.stamp(run)} {known.digest}"

    def total(self, run: str, *, all_variants: bool = False) -> int:
        """How many questions (or traces, with all variants) the run has."""
        return self.matching(Filter(run, all_variants=all_variants))

    def matching(self, shown: Filter) -> int:
        """How many traces pass the filter."""
        return int(str(self._rows_of("matching", shown, "label")[0][0]))

    def page(self, shown: Filter, sort: Sort, *, limit: int, offset: int) -> pd.DataFrame:
        """`limit` rows of the list after the first `offset`, with `PAGE_COLUMNS`, `run_id` and `file`."""

        def read(run: LoadedRun) -> pd.DataFrame:
            rows = self._query(run, "page", shown, sort, {"limit": limit, "offset": offset})
            return self._frame(run, shown.run, rows, PAGE_COLUMNS)

        return self._with_run(shown.run, read)

    def rows(self, shown: Filter, sort: Sort) -> Iterator[pd.DataFrame]:
        """The whole list in pieces, with every column, for an export."""

        def read(run: LoadedRun) -> tuple[LoadedRun, np.ndarray]:
            run.table(FULL_COLUMNS)  # an index that is replaced meanwhile changes nothing any more
            return run, self._order(run, shown, sort)

        run, order = self._with_run(shown.run, read)
        for start in range(0, len(order), EXPORT_ROWS):
            yield self._frame(run, shown.run, order[start : start + EXPORT_ROWS], FULL_COLUMNS)

    def places(self, shown: Filter, sort: Sort) -> pd.DataFrame:
        """The whole list in the order of `page`: what names a trace, its line in the file, and its label.

        The columns are `PLACE_COLUMNS`, `run_id` and `file`: enough to step through it without asking again.
        """

        def read(run: LoadedRun) -> pd.DataFrame:
            return self._frame(run, shown.run, self._order(run, shown, sort), PLACE_COLUMNS)

        return self._with_run(shown.run, read)

    def neighbours(self, shown: Filter, sort: Sort, key: TraceKey) -> Neighbours:
        """The questions before and after one, in the order of `page`."""

        def read(run: LoadedRun) -> Neighbours:
            order = self._order(run, shown, sort)
            row = self._place(run, key)
            places = np.flatnonzero(order == (-1 if row is None else row))
            if len(places) == 0:
                first = self._key(run, shown.run, order[0]) if len(order) else None
                return Neighbours(None, first, None, len(order))
            place = int(places[0])
            before = self._key(run, shown.run, order[place - 1]) if place else None
            after = self._key(run, shown.run, order[place + 1]) if place + 1 < len(order) else None
            return Neighbours(before, after, place + 1, len(order))

        return self._with_run(shown.run, read)

    def find(self, key: TraceKey) -> Found | None:
        """A trace by its identity; None where the run has none such."""

        def read(run: LoadedRun) -> Found | None:
            row = self._place(run, key)
            if row is None:
                return None
            record = record_of(self._frame(run, key.run_id, [row], FULL_COLUMNS))
            line, offset, length = (int(str(record[name])) for name in ("line", "offset", "length"))
            return Found(SourceLine(run.run_file.file, line, offset, length), record)

        return self._with_run(key.run_id, read)

    def same_question(self, q_id: str) -> pd.DataFrame:
        """All traces of a question in every indexed run, with every column, runs in the manifest's order."""
        frames = [self._question(run, q_id) for run in self.runs()]
        filled = [frame for frame in frames if len(frame)]
        return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=_names(FULL_COLUMNS))

    def options(self, run: str) -> Choices:
        """What the run's list can be narrowed to: filter name → values with their headline traces.

        The names are `suspicion`, `doc`, `section` and `gold` (without values where the run has no gold);
        the most frequent value comes first.
        """
        return self._with_run(run, self._choices)

    def line_issues(self, run: str) -> pd.DataFrame:
        """The lines of the run's files that could not be read: file, line, offset, length, code, reason, …"""
        return self._with_run(run, lambda loaded: loaded.issues())

    def run_facts(self, run: str) -> RunFacts:
        """What stands beside the run's numbers."""

        def read(loaded: LoadedRun) -> RunFacts:
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
                placed=_placed_facts(loaded.placed()),
            )

        return self._with_run(run, read)

    def _folder(self, run: str) -> Path:
        """Where the run's index lies, worked out once."""
        if run not in self._folders:
            self._folders[run] = index_folder(self._manifest, run, self._cache_dir)
        return self._folders[run]

    def _choices(self, run: LoadedRun) -> Choices:
        if run not in self._options:
            needed = (*HEADLINE.columns, "suspicions", "rank1_section", "gold_state")
            tables = {"rows": run.table(needed)}
            sql = statement("options").format(where=HEADLINE.sql)
            headline = self._database.column(statement("rows").format(where=HEADLINE.sql), {}, tables)
            found = [
                *self._database.rows(sql, {}, tables),
                *(("doc", doc, traces) for doc, traces in run.documents(headline)),
            ]
            found.sort(key=lambda choice: (-int(str(choice[2])), str(choice[1])))
            self._options[run] = {
                name: tuple((str(value), int(str(traces))) for kind, value, traces in found if kind == name)
                for name in ("suspicion", "doc", "section", "gold")
            }
        return self._options[run]

    def _with_run(self, run: str, read: Callable[[LoadedRun], T]) -> T:
        """Calls `read`, again if the index was replaced meanwhile and its old files are gone."""
        for _ in range(3):
            try:
                return read(self._loaded(run))
            except DamagedError:
                with self._lock:
                    self._runs.pop(run, None)
        raise StoreFault.of(
            "index_damaged",
            f"files of the index of run {run!r} are missing or damaged",
            where=str(self._folder(run)),
            remedy="delete that folder and run `proofspan index` again",
        )

    def _loaded(self, run: str) -> LoadedRun:
        stamp, folder = self.stamp(run), self._folder(run)
        with self._lock:
            placed = self._placements.of(folder)
            known = self._runs.get(run)
            if known and known[0] == stamp and known[1] is placed:
                return known[2]
            run_file = read_run_file(folder)
            if run_file is None or stamp is None:
                raise StoreFault.of(
                    "not_indexed",
                    f"run {run!r} has no index yet",
                    where=str(self._manifest.folder),
                    remedy=f"proofspan index {self._manifest.folder}",
                )
            holds = placed is not None and placed.is_of(run_file)
            loaded = LoadedRun(folder, run_file, placed if holds else None)
            self._runs[run] = (stamp, placed, loaded)
            while len(self._runs) > KEPT_RUNS:
                del self._runs[next(iter(self._runs))]
            for key in [key for key in self._orders if key[0].folder == folder]:
                del self._orders[key]
            return loaded

    def _query(
        self, run: LoadedRun, name: str, shown: Filter, sort: Sort, params: Mapping[str, object]
    ) -> np.ndarray:
        clause = shown.where()
        sql = statement(name).format(where=clause.sql, order=sort.order())
        table = run.table((*clause.columns, *sort.columns()))
        return self._database.column(sql, {**clause.params, **params}, {"rows": table})

    def _rows_of(self, name: str, shown: Filter, column: str) -> list[tuple[object, ...]]:
        clause = shown.where()
        sql = statement(name).format(where=clause.sql, column=column)

        def read(run: LoadedRun) -> list[tuple[object, ...]]:
            table = run.table((column, *clause.columns))
            return self._database.rows(sql, clause.params, {"rows": table})

        return self._with_run(shown.run, read)

    def _counts(
        self, column: Literal["label", "gold_state", "evidence"], shown: Filter, *, by: str = "counts"
    ) -> dict[object, int]:
        return {value: int(str(count)) for value, count in self._rows_of(by, shown, column)}

    def _order(self, run: LoadedRun, shown: Filter, sort: Sort) -> np.ndarray:
        """All rows of a list in order; the last few lists are remembered."""
        key = (run, shown, sort)
        with self._lock:
            if key in self._orders:
                self._orders.move_to_end(key)
                return self._orders[key]
        order = self._query(run, "ordered", shown, sort, {})
        with self._lock:
            self._orders[key] = order
            while len(self._orders) > KEPT_ORDERS:
                self._orders.popitem(last=False)
        return order

    def _place(self, run: LoadedRun, key: TraceKey) -> int | None:
        identity = {"q_id": key.q_id, "paraphrase": key.paraphrase, "seed": key.seed, "repeat": key.repeat}
        found = self._database.rows(statement("find"), identity, {"rows": run.table(tuple(identity))})
        return int(str(found[0][0])) if found else None

    def _question(self, name: str, q_id: str) -> pd.DataFrame:
        def read(run: LoadedRun) -> pd.DataFrame:
            table = run.table(("q_id", "paraphrase", "seed", "repeat"))
            rows = self._database.column(statement("question"), {"q_id": q_id}, {"rows": table})
            return self._frame(run, name, rows, FULL_COLUMNS)

        return self._with_run(name, read)

    def _key(self, run: LoadedRun, name: str, row: int) -> TraceKey:
        record = record_of(run.frame([row], ("q_id", "paraphrase", "seed", "repeat")))
        paraphrase, seed, repeat = (int(str(record[part])) for part in ("paraphrase", "seed", "repeat"))
        return TraceKey(name, str(record["q_id"]), paraphrase, seed, repeat)

    def _frame(
        self, run: LoadedRun, name: str, rows: Sequence[int] | np.ndarray, columns: Sequence[str]
    ) -> pd.DataFrame:
        frame = run.frame(rows, columns)
        frame.insert(0, "run_id", name)
        frame["file"] = run.run_file.file
        return frame


def _placed_facts(placed: PlacedFile | None) -> PlacedFacts | None:
    if placed is None:
        return None
    looked_for = placed.citations - placed.counts.get("not_placed", 0)
    return PlacedFacts(placed.citations, looked_for, placed.counts)


def _names(columns: Sequence[str]) -> list[str]:
    return ["run_id", *columns, "file"]
