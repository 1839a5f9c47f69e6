"""Findings by code over runs: how many questions break which rule in which run, and since when.

Every number is that of a list: `HealthRow.filter` gives the one that a cell opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, cast

import pandas as pd

from proofspan.contracts.rules.catalogue import RULES, Group, Severity, in_order, rule_of
from proofspan.diagnosis.messages import suspicion_text
from proofspan.manifest.types import Run
from proofspan.services.export import Export, Frames, cell, csv_lines
from proofspan.services.health.run_findings import RunFinding, counted, share_of
from proofspan.store.files.located import EvidenceState
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

Kind = Literal["code", "suspicion", "evidence", "unsupported"]

#: What rules are about, as headings.
GROUP_NAMES: Mapping[Group, str] = {
    "reading": "Reading",
    "envelope": "Envelope",
    "citation": "Citations",
    "ranking": "Ranking",
    "parity": "Written against read",
    "answer": "Answers",
    "chunk": "Chunks",
    "across": "Across records",
}
RECOMMENDED = "recommended"
NOTICED = "Noticed while reading and labelling"
ON_THE_PAGE = "On the page"
#: Families of so many codes are one row, with the fields in it.
FEWEST_FOLDED = 3
#: The prefixes of families, with the noun of the row that they become.
FAMILIES: Mapping[str, str] = {
    "missing_": "fields missing",
    "empty_": "fields empty",
    "wrong_type_": "fields of the wrong type",
    "bad_": "fields not allowed",
}
#: Suspicion → the code of the rule that it is the labels' view of.
_SAID_BY: Mapping[str, str] = {
    "citation_outside_retrieved": "cited_not_retrieved",
    "citation_page_zero": "page_below_one",
    "unresolved_chunk_id": "not_in_corpus",
}
_FAMILY_STEP = (
    "Carry every field of the contract on in the adapter that writes the record, and let it fail rather than "
    "leave one out."
)
#: What became of cited text, where it is a finding: title, meaning, what to do.
_EVIDENCE: Mapping[EvidenceState, tuple[str, str, str]] = {
    "numbers_differ": (
        "figure differs from the page",
        "The answer cites a figure where the page has another one.",
        "Check these figures, and let the answer copy them from the chunk.",
    ),
    "not_found": (
        "cited text not found",
        "The cited text stands nowhere in its document.",
        "Quote the chunk's own words, and check that traces and documents are of one edition.",
    ),
    "page_mismatch": (
        "on another page than cited",
        "The cited text stands on another page than the cited one.",
        "Look under cited pages for who writes them, and from which number on.",
    ),
}
_UNSUPPORTED = (
    "number without evidence",
    "A number in the answer stands nowhere in what the answerer saw.",
    "Check these numbers against the page before the answers go out.",
)


@dataclass(frozen=True, slots=True)
class Count:
    """How many headline questions, and how many traces with all variants, have something."""

    questions: int = 0
    traces: int = 0


NONE = Count()
#: Counts what has any of some codes in the run at a place, given each code's own count there.
Union = Callable[[tuple[str, ...], int, Sequence[Count]], Count]


@dataclass(frozen=True, slots=True)
class HealthRow:
    """What some codes of one kind come to, run by run. Several codes are a family that is folded together.

    `group` is the heading that the row stands under, `unknown` the places of runs in which it was not counted
    yet: their counts say nothing.
    """

    kind: Kind
    codes: tuple[str, ...]
    title: str
    meaning: str
    next_step: str
    severity: Severity
    group: str
    counts: tuple[Count, ...]
    unknown: frozenset[int] = frozenset()

    def filter(self, run_id: str, count: Count) -> Filter:
        """The list that has exactly these questions, with all variants where only those have it."""
        shown = Filter(run_id, all_variants=not count.questions)
        if self.kind == "code":
            return replace(shown, code=self.codes)
        if self.kind == "suspicion":
            return replace(shown, suspicion=self.codes)
        if self.kind == "unsupported":
            return replace(shown, unsupported=True)
        return replace(shown, evidence=cast(tuple[EvidenceState, ...], self.codes))


@dataclass(frozen=True, slots=True)
class HealthTable:
    """The rows over the runs that have an index, oldest first; `shown` is a place among them.

    `questions` has each run's headline questions. `members` are the single rows of what is folded in `rows`.
    """

    runs: tuple[Run, ...]
    questions: tuple[int, ...]
    shown: int
    rows: tuple[HealthRow, ...]
    members: tuple[HealthRow, ...] = ()

    @property
    def run_id(self) -> str:
        """The shown run."""
        return self.runs[self.shown].run_id

    def now(self, row: HealthRow) -> Count:
        """The row's count in the shown run."""
        return row.counts[self.shown]

    def single(self) -> tuple[HealthRow, ...]:
        """All rows with nothing folded."""
        return tuple(row for row in self.rows if len(row.codes) == 1) + self.members

    def broken(self) -> tuple[HealthRow, ...]:
        """The rules that the shown run breaks: single rows of codes that are errors, most questions first."""
        found = [
            row
            for row in self.single()
            if row.kind == "code" and row.severity == "error" and self.now(row).traces
        ]
        return tuple(sorted(found, key=lambda row: -self.now(row).questions))


def health_table(store: Store, runs: Sequence[Run], shown: str) -> HealthTable:
    """The table of the runs, which all have an index, in their order. StoreFault where one has none."""
    ids = [run.run_id for run in runs]
    totals = tuple(store.total(run_id) for run_id in ids)
    of_codes = tuple(code_rows(store.code_counts(ids), ids))
    noticed = suspicion_rows(store.suspicion_counts(ids), ids)
    singles = [*of_codes, *_evidence_rows(store, ids), *not_said_before(noticed, of_codes)]

    def union(codes: tuple[str, ...], place: int, counts: Sequence[Count]) -> Count:
        """Asked for only where the single counts do not tell."""
        most = max(count.questions for count in counts)
        if not any(count.traces for count in counts):
            return NONE
        listed = Filter(ids[place], code=codes)
        if most == totals[place] > 0:
            return Count(most, max(count.traces for count in counts))
        return Count(store.matching(listed), store.matching(replace(listed, all_variants=True)))

    rows, members = folded(singles, union)
    return HealthTable(tuple(runs), totals, ids.index(shown), rows, members)


def code_rows(frame: pd.DataFrame, runs: Sequence[str]) -> Iterator[HealthRow]:
    """A row a code of `Store.code_counts`: errors first, then by group."""
    known = _by_code(frame, "code", runs)
    for code in in_order(known):
        rule = rule_of(code)
        group = GROUP_NAMES[rule.group]
        heading = f"{group}, {RECOMMENDED}" if rule.severity == "warning" else group
        yield HealthRow(
            "code", (code,), rule.title, rule.meaning, rule.next_step, rule.severity, heading, known[code]
        )


def suspicion_rows(frame: pd.DataFrame, runs: Sequence[str]) -> Iterator[HealthRow]:
    """A row a suspicion of `Store.suspicion_counts`, but for those that are codes as well; by name."""
    known = _by_code(frame, "suspicion", runs)
    for code in sorted(known.keys() - RULES.keys()):
        yield HealthRow(
            "suspicion",
            (code,),
            code.replace("_", " "),
            suspicion_text(code),
            "",
            "warning",
            NOTICED,
            known[code],
        )


def not_said_before(noticed: Iterable[HealthRow], codes: Iterable[HealthRow]) -> Iterator[HealthRow]:
    """The suspicions but for those that a code says of the same questions in every run."""
    known = {row.codes[0]: row.counts for row in codes}
    for row in noticed:
        if known.get(_SAID_BY.get(row.codes[0], "")) != row.counts:
            yield row


def _evidence_rows(store: Store, runs: Sequence[str]) -> Iterator[HealthRow]:
    """What of cited text and figures does not agree with the page, where any run has it."""
    found = [store.evidence_counts(Filter(run_id)) for run_id in runs]
    unknown = frozenset(place for place, each in enumerate(found) if not each)  # citations not located yet
    for state, (title, meaning, step) in _EVIDENCE.items():
        counts = tuple(Count(each.get(state, 0), each.get(state, 0)) for each in found)
        if any(count.questions for count in counts):
            yield HealthRow("evidence", (state,), title, meaning, step, "error", ON_THE_PAGE, counts, unknown)
    numbers = [store.matching(Filter(run_id, unsupported=True)) for run_id in runs]
    if any(numbers):
        counts = tuple(Count(number, number) for number in numbers)
        title, meaning, step = _UNSUPPORTED
        yield HealthRow("unsupported", ("unsupported",), title, meaning, step, "warning", ON_THE_PAGE, counts)


def folded(rows: Iterable[HealthRow], union: Union) -> tuple[tuple[HealthRow, ...], tuple[HealthRow, ...]]:
    """The rows with families of many fields as one row each, and the single rows of those families.

    `union` counts the questions that have any of some codes.
    """
    shown: list[HealthRow] = []
    members: list[HealthRow] = []
    for (family, _), group in groupby(rows, key=lambda row: (_family(row), row.group)):
        alike = tuple(group)
        if not family or len(alike) < FEWEST_FOLDED:
            shown += alike
        else:
            shown.append(_as_one(alike, family, union))
            members += alike
    return tuple(shown), tuple(members)


def _as_one(rows: Sequence[HealthRow], family: str, union: Union) -> HealthRow:
    codes = tuple(row.codes[0] for row in rows)
    by_run = zip(*(row.counts for row in rows), strict=True)
    fields = ", ".join(code.removeprefix(family) for code in codes)
    return replace(
        rows[0],
        codes=codes,
        title=f"{len(rows)} {FAMILIES[family]}",
        meaning=f"Any of {fields}.",
        next_step=_FAMILY_STEP,
        counts=tuple(union(codes, place, counts) for place, counts in enumerate(by_run)),
    )


def _family(row: HealthRow) -> str:
    """The prefix of the family that a row's code is of; "" for a code of its own."""
    if row.kind != "code" or row.codes[0] in RULES:
        return ""
    return next((prefix for prefix in FAMILIES if row.codes[0].startswith(prefix)), "")


def _by_code(frame: pd.DataFrame, name: str, runs: Sequence[str]) -> dict[str, tuple[Count, ...]]:
    """The counts of each code, run by run, of the runs asked for."""
    found: dict[str, dict[str, Count]] = {}
    columns = (frame[column].tolist() for column in ("run_id", name, "questions", "traces"))
    for run_id, code, questions, traces in zip(*columns, strict=True):
        found.setdefault(code, {})[run_id] = Count(int(questions), int(traces))
    return {code: tuple(by_run.get(run_id, NONE) for run_id in runs) for code, by_run in found.items()}


# Health in words: the verdict on a run, what to mend first, and how a count came about over the runs.

#: So many things are said first; a verdict names as many of what is wrong besides rules.
FIRST, NAMED = 4, 4
#: What breaks on so large a share of the questions comes before what concerns single ones.
MOST = 0.5
COLUMNS = (
    *("run_id", "kind", "code", "severity", "group", "title"),
    *("questions", "of_questions", "traces", "meaning", "next_step"),
)


@dataclass(frozen=True, slots=True)
class Mend:
    """One thing to mend: what it is, its numbers, what to do, and the list (or page) that has it."""

    title: str
    said: str
    next_step: str
    shown: Filter | None = None
    page: str = ""


def verdict(table: HealthTable, findings: Sequence[RunFinding], broken_on: int) -> str:
    """The run in one sentence. `broken_on` counts the questions that break any rule.

    `R005: 3 rules broken on 39 of 39 questions; stored report disagrees on 8 of 39; metrics pack differs.`
    """
    rules, total = len(table.broken()), table.questions[table.shown]
    titles = [finding.title for finding in findings if finding.severity == "error"]
    parts = (
        [f"{counted(rules, 'rule')} broken on {broken_on:,} of {counted(total, 'question')}"] if rules else []
    )
    parts += titles[:NAMED]
    if len(titles) > NAMED:
        parts.append(f"{len(titles) - NAMED:,} more below")
    if parts:
        return f"{table.run_id}: {'; '.join(parts)}."
    slighter = sum(finding.severity == "warning" for finding in findings) + len(_slighter(table))
    if slighter:
        beside = f"besides {counted(slighter, 'warning')}, nothing speaks against it"
        return f"{table.run_id}: no rule broken on {counted(total, 'question')}; {beside}."
    return f"{table.run_id}: no rule broken on {counted(total, 'question')}, and nothing speaks against it."


def mend_first(table: HealthTable, findings: Sequence[RunFinding]) -> tuple[Mend, ...]:
    """The errors of a run but for those of its files, the most far-reaching first; the caller shows a few.

    What keeps all questions from being judged, then rules that most questions break, what is wrong with the
    run as a whole, and what single questions have.
    """
    errors = [each for each in findings if each.severity == "error" and not each.is_of_file]
    if any(each.code == "page_base" for each in errors):  # it says the same with its reason
        errors = [each for each in errors if each.code != "cited_page_differs"]
    broken = sorted(_broken(table), key=lambda row: -table.now(row).questions)
    often = [row for row in broken if table.now(row).questions > MOST * table.questions[table.shown]]
    return (
        *(_of_finding(each) for each in errors if each.shown is None),
        *(_of_row(table, row) for row in often),
        *(_of_finding(each) for each in errors if each.shown is not None),
        *(_of_row(table, row) for row in broken if row not in often),
    )


def trend(table: HealthTable, row: HealthRow) -> str:
    """How the shown run's count came about: `new in R005`, `gone since R006`, `+3`, `as in R004`.

    "" in the first run, and where one up to the shown run was not counted. What only variants have counts as
    1 a trace.
    """
    if not table.shown or any(place <= table.shown for place in row.unknown):
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
    gone = max(place for place, number in enumerate(seen) if number) + 1
    return f"gone since {table.runs[gone].run_id}"


def health_frame(table: HealthTable) -> pd.DataFrame:
    """One row a code and run, nothing folded: what an export holds. What was not counted has no number."""
    return pd.DataFrame(
        [
            {
                "run_id": run.run_id,
                "kind": row.kind,
                "code": row.codes[0],
                "severity": row.severity,
                "group": row.group,
                "title": row.title,
                "questions": count.questions if is_known else None,
                "of_questions": total,
                "traces": count.traces if is_known else None,
                "meaning": row.meaning,
                "next_step": row.next_step,
            }
            for row in table.single()
            for place, (run, total, count) in enumerate(
                zip(table.runs, table.questions, row.counts, strict=True)
            )
            for is_known in (place not in row.unknown,)
        ],
        columns=list(COLUMNS),
        dtype=object,  # a number that is missing would make its column one of floats
    )


def _csv(frames: Frames) -> Iterator[str]:
    yield csv_lines([COLUMNS])
    for frame in frames:
        yield csv_lines(
            [cell(value) for value in row] for row in frame[list(COLUMNS)].itertuples(index=False)
        )


HEALTH_EXPORTS: Mapping[str, Export] = {"csv": Export("CSV", "csv", "text/csv", _csv)}


def _broken(table: HealthTable) -> list[HealthRow]:
    """The rules that the shown run breaks, families folded."""
    return [
        row for row in table.rows if row.kind == "code" and row.severity == "error" and table.now(row).traces
    ]


def _slighter(table: HealthTable) -> list[HealthRow]:
    return [
        row
        for row in table.rows
        if row.kind == "code" and row.severity == "warning" and table.now(row).traces
    ]


def _of_finding(finding: RunFinding) -> Mend:
    return Mend(finding.title, finding.said, finding.next_step, finding.shown, finding.page)


def _of_row(table: HealthTable, row: HealthRow) -> Mend:
    count, total = table.now(row), table.questions[table.shown]
    told = share_of(count.questions, total) if count.questions else counted(count.traces, "variant")
    return Mend(row.title, f"{row.meaning} On {told}.", row.next_step, row.filter(table.run_id, count))
