"""Rules and suspicions counted over runs: how many questions have which, and since when.

Each number is the length of a list: `HealthRow.filter` gives the list that a cell opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import pandas as pd

from proofspan.contracts.rules.catalogue import FAMILIES, RULES, Group, in_order, rule_of
from proofspan.diagnosis.messages import suspicion_text
from proofspan.display_names import ISSUE_NAMES
from proofspan.errors import Problem
from proofspan.manifest.types import Run
from proofspan.services.rows import Layout, exports
from proofspan.store.files.evidence_states import EVIDENCE
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

Kind = Literal["code", "suspicion", "evidence", "unsupported"]

#: Headings of the groups of rules.
GROUP_NAMES: Mapping[Group, str] = {
    "reading": "Reading",
    "envelope": "Envelope",
    "citation": "Citations",
    "ranking": "Ranking",
    "parity": "Index and query configuration",
    "answer": "Answers",
    "chunk": "Chunks",
    "across": "Across records",
}
NOTICED = "Noticed while reading and labelling"
ON_THE_PAGE = "On the page"
#: The fewest codes of a family that are folded into a row.
FEWEST_FOLDED = 3
_FAMILY_FIX = (
    "Pass every field of the contract on in the adapter that writes the record, and let it fail rather than "
    "leave one out."
)
#: The finding on an answer with a number that no evidence has.
UNSUPPORTED = Problem(
    "numbers_unsupported",
    "A number in the answer is nowhere in the evidence that the answerer saw.",
    fix="Check these numbers against the page before the answers are used.",
    severity="warning",
)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of headline questions, and of traces with all variants."""

    questions: int = 0
    traces: int = 0


NONE = Count()


@dataclass(frozen=True, slots=True)
class HealthRow:
    """The counts of some codes by run; several codes are a folded family. `kind` is the filter of its lists.

    `problem` has their meaning, fix and severity. `unknown` are the indices of runs without a count yet.
    """

    kind: Kind
    codes: tuple[str, ...]
    title: str
    problem: Problem
    group: str
    counts: tuple[Count, ...]
    unknown: frozenset[int] = frozenset()

    def filter(self, run_id: str, count: Count) -> Filter:
        """Return the list of exactly these questions, with variants if only those have the problem."""
        narrow: dict[str, Any] = {self.kind: True if self.kind == "unsupported" else self.codes}
        return Filter(run_id, all_variants=not count.questions, **narrow)


@dataclass(frozen=True, slots=True)
class HealthTable:
    """The rows over the indexed runs, oldest first; `shown` is the index of the shown run.

    `questions` counts each run's headline questions. `members` are the rows of folded families. `broken_on`
    counts the shown run's questions that break any rule.
    """

    runs: tuple[Run, ...]
    questions: tuple[int, ...]
    shown: int
    rows: tuple[HealthRow, ...]
    members: tuple[HealthRow, ...] = ()
    broken_on: int = 0

    @property
    def run_id(self) -> str:
        """The id of the shown run."""
        return self.runs[self.shown].run_id

    @property
    def total(self) -> int:
        """The number of the shown run's headline questions."""
        return self.questions[self.shown]

    def now(self, row: HealthRow) -> Count:
        """Return the row's count in the shown run."""
        return row.counts[self.shown]

    def questions_by(self, kind: Kind) -> dict[str, int]:
        """Return how many questions of the shown run have each code of a kind."""
        return {row.codes[0]: self.now(row).questions for row in self.single() if row.kind == kind}

    def single(self) -> tuple[HealthRow, ...]:
        """Return all rows without folding."""
        return tuple(row for row in self.rows if len(row.codes) == 1) + self.members

    def broken(self, severity: str = "error", *, is_folded: bool = False) -> list[HealthRow]:
        """Return the rules that the shown run breaks, those with the most questions first."""
        rows = self.rows if is_folded else self.single()
        broken = (
            row
            for row in rows
            if row.kind == "code" and row.problem.severity == severity and self.now(row).traces
        )
        return sorted(broken, key=lambda row: -self.now(row).questions)


def health_table(store: Store, runs: Sequence[Run], shown: str) -> HealthTable:
    """Build the table of some indexed runs. Raises StoreFault if one has no index."""
    ids = [run.run_id for run in runs]
    totals = tuple(store.total(run_id) for run_id in ids)
    singles = [
        *code_rows(store.code_counts(ids), ids),
        *_page_rows(store, ids),
        *suspicion_rows(store.code_counts(ids, "suspicions"), ids),
    ]

    def union(codes: tuple[str, ...], index: int, counts: Sequence[Count]) -> Count:
        """Query the index only if the single counts do not determine the union."""
        most = max(count.questions for count in counts)
        if not any(count.traces for count in counts):
            return NONE
        if most == totals[index] > 0:
            return Count(most, max(count.traces for count in counts))
        listed = Filter(ids[index], code=codes)
        return Count(store.matching(listed), store.matching(replace(listed, all_variants=True)))

    rows, members = folded(singles, union)
    table = HealthTable(tuple(runs), totals, ids.index(shown), rows, members)
    broken = tuple(row.codes[0] for row in table.broken())
    return replace(table, broken_on=store.matching(Filter(shown, code=broken)) if broken else 0)


def code_rows(frame: pd.DataFrame, runs: Sequence[str]) -> Iterator[HealthRow]:
    """Yield a row per code of `Store.code_counts`: errors first, then by group."""
    counts = _by_code(frame, runs)
    for code in in_order(counts):
        rule = rule_of(code)
        heading = GROUP_NAMES[rule.group] + (", recommended" if rule.severity == "warning" else "")
        problem = Problem(code, rule.meaning, fix=rule.fix, severity=rule.severity)
        yield HealthRow("code", (code,), rule.title, problem, heading, counts[code])


def suspicion_rows(frame: pd.DataFrame, runs: Sequence[str]) -> Iterator[HealthRow]:
    """Yield a row per suspicion of `Store.code_counts` that is not the code of a rule, by name."""
    counts = _by_code(frame, runs)
    for code in sorted(counts.keys() - RULES.keys()):
        problem = Problem(code, suspicion_text(code), severity="warning")
        title = ISSUE_NAMES.get(code, code.replace("_", " "))
        yield HealthRow("suspicion", (code,), title, problem, NOTICED, counts[code])


def _page_rows(store: Store, runs: Sequence[str]) -> list[HealthRow]:
    known = [store.evidence_counts(Filter(run_id)) for run_id in runs]
    unknown = frozenset(index for index, counts in enumerate(known) if not counts)
    rows = []
    for state, text in EVIDENCE.items():
        problem = Problem(text.code, text.meaning, fix=text.fix)
        counts = tuple(Count(number, number) for number in (each.get(state, 0) for each in known))
        if text.code:  # else the state is no finding
            rows.append(HealthRow("evidence", (state,), text.name, problem, ON_THE_PAGE, counts, unknown))
    numbers = (store.matching(Filter(run_id, unsupported=True)) for run_id in runs)
    counts = tuple(Count(number, number) for number in numbers)
    title = "number without evidence"
    rows.append(HealthRow("unsupported", ("unsupported",), title, UNSUPPORTED, ON_THE_PAGE, counts))
    return [row for row in rows if any(count.traces for count in row.counts)]


def folded(
    rows: Iterable[HealthRow], union: Callable[[tuple[str, ...], int, Sequence[Count]], Count]
) -> tuple[tuple[HealthRow, ...], tuple[HealthRow, ...]]:
    """Fold families of many fields into one row each; return all rows, and the members of the families.

    `union` counts the traces with any of some codes in the run at an index, given each code's count there.
    """
    shown: list[HealthRow] = []
    members: list[HealthRow] = []

    def family_and_group(row: HealthRow) -> tuple[str, str]:
        code = row.codes[0] if row.kind == "code" and row.codes[0] not in RULES else ""
        return next((prefix for prefix in FAMILIES if code.startswith(prefix)), ""), row.group

    for (family, _), group in groupby(rows, key=family_and_group):
        alike = tuple(group)
        if not family or len(alike) < FEWEST_FOLDED:
            shown += alike
            continue
        members += alike
        codes = tuple(row.codes[0] for row in alike)
        by_run = zip(*(row.counts for row in alike), strict=True)
        fields = ", ".join(code.removeprefix(family) for code in codes)
        shown.append(
            replace(
                alike[0],
                codes=codes,
                title=FAMILIES[family].title.replace("{}", f"{len(alike)} fields"),
                problem=replace(alike[0].problem, message=f"Any of {fields}.", fix=_FAMILY_FIX),
                counts=tuple(union(codes, index, counts) for index, counts in enumerate(by_run)),
            )
        )
    return tuple(shown), tuple(members)


def _by_code(frame: pd.DataFrame, runs: Sequence[str]) -> dict[str, tuple[Count, ...]]:
    counts: dict[str, dict[str, Count]] = {}
    columns = (frame[column].tolist() for column in ("run_id", "code", "questions", "traces"))
    for run_id, code, questions, traces in zip(*columns, strict=True):
        counts.setdefault(code, {})[run_id] = Count(int(questions), int(traces))
    return {code: tuple(by_run.get(run_id, NONE) for run_id in runs) for code, by_run in counts.items()}


def trend(table: HealthTable, row: HealthRow) -> str:
    """Describe how the shown run's count changed: `new in R005`, `Resolved in R006`, `+3`, `as in R004`.

    "" in the first run, and if the count of an earlier run is unknown. Traces count where only variants have
    the problem.
    """
    if not table.shown or any(index <= table.shown for index in row.unknown):
        return ""
    seen = [count.questions or count.traces for count in row.counts[: table.shown + 1]]
    now, before, last = seen[-1], seen[-2], table.runs[table.shown - 1].run_id
    if now and not any(seen[:-1]):
        return f"new in {table.run_id}"
    if now and not before:
        return f"back in {table.run_id}"
    if now:
        return f"as in {last}" if now == before else f"{'+' if now > before else '−'}{abs(now - before):,}"
    if not any(seen):
        return "not yet"
    resolved = max(index for index, number in enumerate(seen) if number) + 1
    return f"Resolved in {table.runs[resolved].run_id}"


COLUMNS = (
    *("run_id", "kind", "code", "severity", "group", "title"),
    *("questions", "of_questions", "traces", "meaning", "next_step"),
)
HEALTH_EXPORTS = exports(Layout(COLUMNS, frozenset({"questions", "of_questions", "traces"})), "csv")


def health_frame(table: HealthTable) -> pd.DataFrame:
    """Return the rows of an export, one per code and run without folding; unknown counts are None."""
    return pd.DataFrame(
        [
            {
                "run_id": run.run_id,
                "kind": row.kind,
                "code": row.codes[0],
                "severity": row.problem.severity,
                "group": row.group,
                "title": row.title,
                "questions": row.counts[index].questions if index not in row.unknown else None,
                "of_questions": table.questions[index],
                "traces": row.counts[index].traces if index not in row.unknown else None,
                "meaning": row.problem.message,
                "next_step": row.problem.fix,
            }
            for row in table.single()
            for index, run in enumerate(table.runs)
        ],
        columns=list(COLUMNS),
    )
