"""A sprint's record as plain text and as JSON, for `proofspan sprint show`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import EntryKind, SprintEntry, line_of
from proofspan.metrics.values import value_in_words
from proofspan.services.sprint.fold import LOG_KINDS
from proofspan.services.sprint.types import GoalNow, Item, SprintRecord
from proofspan.wording import counted

#: Characters of a text on one line.
SHORT = 100


def text_lines(record: SprintRecord) -> Iterator[str]:
    """Yield the record as lines: what is open first, then goals, work, decisions, risks, log."""
    yield record.title
    if record.agenda:
        yield from (
            "",
            "Agenda",
            *(f"  {each.what}{_for(each.waits_for, ' for ')}" for each in record.agenda),
        )
    yield from _titled("Goals", [_goal(goal) for goal in record.goals])
    yield from _titled("Work packages", [_package(item) for item in record.packages])
    yield from _titled("Decisions", [_decision(item, record) for item in record.decisions])
    yield from _titled("Risks", [f"{item.key}: {_short(item.line('text'))}" for item in record.risks])
    yield from _titled("Runs", [_run(row.run_id, row.title, row.hits, row.judged) for row in record.ledger])
    yield from _titled("Log, newest first", [_logged(entry, record.corrected) for entry in record.log])
    yield from _titled("Stop rule", list(record.stopped))


def _titled(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", title, *(f"  {line}" for line in lines))


def _for(names: tuple[str, ...], words: str) -> str:
    return f"{words}{', '.join(names)}" if names else ""


def _short(text: str) -> str:
    first = text.partition("\n")[0]
    return first if len(first) <= SHORT else f"{first[: SHORT - 1]}…"


def _goal(goal: GoalNow) -> str:
    name = goal.item.line("title") or goal.item.key
    if goal.value is None:
        return f"{name}: {goal.item.line('status') or goal.why}"
    needs = f", {goal.needed} of {goal.questions} needed" if goal.needed is not None else ""
    moved = f"; moved by {goal.moved_by}" if goal.moved_by is not None else ""
    verdict = f"{goal.verdict.status}: " if goal.verdict is not None else ""
    return f"{name}: {verdict}{value_in_words(goal.value)} in {goal.run_id}{needs}{moved}"


def _package(item: Item) -> str:
    title = item.line("title") or item.line("stream")
    words = item.line("status").replace("_", " ") or "no status"
    note = f" ({item.line('status_note')})" if item.line("status_note") else ""
    return f"{item.name}: {words}{note}{f', {_short(title)}' if title else ''}"


def _decision(item: Item, record: SprintRecord) -> str:
    after = _for(record.unblocks.get(item.name, ()), "; unblocks ")
    return f"{item.key}: {item.line('state') or 'no state'}, {_short(item.line('title'))}{after}"


def _run(run_id: str, title: str | None, hits: int | None, judged: int | None) -> str:
    counts = "" if hits is None else f": gold section first for {hits} of {judged}"
    return f"{run_id}{counts}{f' ({title})' if title else ''}"


def _logged(entry: SprintEntry, corrected: Mapping[str, str]) -> str:
    fields = entry.fields
    title = fields.get("title") or fields.get("text") or ""
    if entry.kind == "checkpoint":
        title = f"Day {fields['day']} checkpoint" if fields.get("day") else f"Checkpoint {fields.get('date')}"
    elif entry.kind == "checkin":
        title = f"WP-{entry.key} check-in"
    marks = f" [corrected by {corrected[entry.entry_id]}]" if entry.entry_id in corrected else ""
    marks += f" [corrects {entry.corrects}]" if entry.corrects else ""
    return f"{entry.at}  {entry.author}: {_short(str(title))}{marks}"


def record_as_json(record: SprintRecord) -> dict[str, Json]:
    """Return the record as JSON; numbers of goals are those of the metrics."""
    return {
        "title": record.title,
        "sprint": _item(record.sprint) if record.sprint is not None else None,
        "goals": [_goal_json(goal) for goal in record.goals],
        "packages": [_item(item, record) for item in record.packages],
        "decisions": [_item(item, record) for item in record.decisions],
        "risks": [_item(item) for item in record.risks],
        "sections": [_item(item) for item in record.sections],
        "agenda": [
            {
                "what": each.what,
                "action": each.action,
                "item": each.item.name,
                "unblocks": each.unblocks,
                "waits_for": each.waits_for,
            }
            for each in record.agenda
        ],
        "ledger": [asdict(row) for row in record.ledger],
        "log": [line_of(entry) for entry in record.log if entry.kind in LOG_KINDS],
        "corrected": dict(record.corrected),
        "stopped": record.stopped,
        "issues": [issue.as_json() for issue in record.issues],
        "problems": [
            {"code": each.code, "message": each.message, "fix": each.fix} for each in record.problems
        ],
    }


def _item(item: Item, record: SprintRecord | None = None) -> dict[str, Json]:
    links = (
        {"unblocks": record.unblocks.get(item.name, ()), "waits_for": record.waits_for.get(item.name, ())}
        if record is not None
        else {}
    )
    return {
        "key": item.key,
        "fields": dict(item.fields),
        "history": [line_of(entry) for entry in item.history],
        **links,
    }


def _goal_json(goal: GoalNow) -> dict[str, Json]:
    value = goal.value
    return {
        **_item(goal.item),
        "metric": goal.metric_id,
        "run_id": goal.run_id,
        "value": value.value if value is not None else None,
        "numerator": value.numerator if value is not None else None,
        "denominator": value.denominator if value is not None else None,
        "status": goal.verdict.status if goal.verdict is not None else None,
        "needed": goal.needed,
        "questions": goal.questions,
        "moved_by": goal.moved_by,
        "was": goal.was.value if goal.was is not None else None,
    }


def counts_in_words(counts: Mapping[EntryKind, int]) -> str:
    """`1 sprint, 3 goals, 5 packages`: how many entries of each kind."""
    return ", ".join(counted(count, kind) for kind, count in counts.items())
