"""How many traces and questions of several runs break which rule, and have which suspicion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from proofspan.contracts.records.records import SourceLine
from proofspan.manifest.types import Manifest
from proofspan.store.query.database import statement
from proofspan.store.query.list_reader import Reader
from proofspan.store.query.loaded_runs import LoadedRun, Memory, record_of
from proofspan.store.query.metric_sql import HEADLINE

#: So many runs' counts are remembered, for each of the two columns.
KEPT_COUNTS = 512

#: A code with its traces and its questions.
Counts = tuple[tuple[str, int, int], ...]


class Counting(Reader):
    """Counts over whole runs, headline or not: a fault in a paraphrase is one as well."""

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        super().__init__(manifest, cache_dir)
        self._counted: Memory[Counts] = Memory(self._kept, most=KEPT_COUNTS)

    def code_counts(self, runs: Sequence[str]) -> pd.DataFrame:
        """How often each code of the contract occurs: a row a run and code, by the order of `runs` and code.

        The columns are `run_id`, `code`, `traces` (all variants) and `questions`: the headline ones among
        them, as a list of Triage counts. A code that only variants and repeats have is one of 0 questions. A
        run without an index is left out, one without any code has no row.
        """
        return self._counts_by(runs, "codes", "code")

    def suspicion_counts(self, runs: Sequence[str]) -> pd.DataFrame:
        """The same of suspicions, in a column `suspicion`."""
        return self._counts_by(runs, "suspicions", "suspicion")

    def line_of_one_memory(self, run: str) -> SourceLine | None:
        """The run's first line, where all its traces were made in one state of memory; None where not."""

        def read(loaded: LoadedRun) -> SourceLine | None:
            memory = loaded.table(("memory",)).column("memory")
            if memory.null_count or len(memory.unique()) != 1:
                return None
            record = record_of(loaded.frame([0], ("line", "offset", "length")))
            line, offset, length = (int(str(record[name])) for name in ("line", "offset", "length"))
            return SourceLine(loaded.run_file.file, line, offset, length)

        return self._kept.with_run(run, read)

    def _counts_by(
        self, runs: Sequence[str], column: Literal["codes", "suspicions"], name: str
    ) -> pd.DataFrame:
        indexed = [run for run in dict.fromkeys(runs) if self._can_compare(run)]
        if not indexed:
            return pd.DataFrame(columns=["run_id", name, "traces", "questions"])
        found = self._kept.with_runs(indexed, lambda loaded: self._known_counts(loaded, column))
        rows = [(run, *count) for run, counts in zip(indexed, found, strict=True) for count in counts]
        return pd.DataFrame(rows, columns=["run_id", name, "traces", "questions"])

    def _known_counts(self, runs: Sequence[LoadedRun], column: str) -> list[Counts]:
        """The counts of each run: those that are not known yet are worked out at once."""
        known = [self._counted.get((run,), column) for run in runs]
        missing = [run for run, counts in zip(runs, known, strict=True) if counts is None]
        found = iter(self._counted_codes(missing, column) if missing else ())
        return [
            self._counted.keep((run,), column, next(found)) if counts is None else counts
            for run, counts in zip(runs, known, strict=True)
        ]

    def _counted_codes(self, runs: Sequence[LoadedRun], column: str) -> list[Counts]:
        table = self._columns.tables(runs, (column, *HEADLINE.columns))
        sql = statement("codes").format(column=column, headline=HEADLINE.sql)
        by_run: list[list[tuple[str, int, int]]] = [[] for _ in runs]
        for run, code, traces, questions in self._database.rows(sql, {}, {"rows": table}):
            by_run[int(str(run))].append((str(code), int(str(traces)), int(str(questions))))
        return [tuple(counts) for counts in by_run]
