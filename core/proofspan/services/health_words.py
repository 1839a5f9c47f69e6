"""Health in words: the verdict on a run, what to mend first, and how a count came about over the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from proofspan.services.exports import Export, Frames, cell, csv_lines
from proofspan.services.health import HealthRow, HealthTable
from proofspan.services.run_contract import RunFinding, counted, share_of
from proofspan.store.filters import Filter

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
