"""A sprint's record as one Markdown file, in the structure of the sprint plan (docs/requirements.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import orjson

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import SprintEntry, line_of
from proofspan.services.rows import markdown_cell, markdown_head, markdown_line
from proofspan.services.sprint.fields import CHECKIN, CHECKPOINT, FieldOf
from proofspan.services.sprint.fold import agenda_links
from proofspan.services.sprint.markdown.blocks import DERIVED, Guard, guard, safe, written
from proofspan.services.sprint.markdown.items import (
    decision_lines,
    goal_lines,
    labelled,
    package_cells,
    package_columns,
    risk_lines,
)
from proofspan.services.sprint.markdown.words import (
    BOLD,
    BYLINE,
    HEADER,
    HEADINGS,
    LEGEND,
    LEGEND_LINE,
    NOTES,
    NOTES_LABEL,
    TITLE,
    part_of,
    slug,
)
from proofspan.services.sprint.types import AgendaItem, Item, LedgerRow, SprintRecord

#: What has a meaning in the texts of each part.
SECTION: Guard = guard(2)
IN_LIST: Guard = guard(2, r"[-*+][ \t]", r"\d{1,3}[.)][ \t]")
IN_TABLE: Guard = guard(2, r"\|", LEGEND_LINE)
IN_ENTRIES: Guard = guard(3)
ENTRY: Guard = guard(4, NOTES_LABEL, BYLINE)
FILLED: Guard = guard(3, BYLINE, r"[-*+][ \t]", r"\d{1,3}[.)][ \t]")
VALUE: Guard = guard(3)

INTROS: Mapping[str, Guard] = {
    "goals": IN_LIST,
    "risks": IN_LIST,
    "packages": IN_TABLE,
    "log": IN_ENTRIES,
    "decisions": IN_ENTRIES,
}
#: The order of the parts where the record does not state another; None is where its own sections go.
_ORDER = (
    *("preface", None, "goals", "packages", "agenda", "ledger", "log", "decisions", "risks"),
    *("checkpoint-template", "checkin-template", "entries"),
)
#: The key of a section at the end of its heading, where the heading does not say it.
ATTRIBUTE = re.compile(r"(?:^|[ \t])\{#([^{}]*)\}$")


def markdown_of(record: SprintRecord, *, entries: bool = True) -> str:
    """Return the record as Markdown; with `entries` all its entries follow, so that nothing is lost.

    `proofspan sprint import` reads it back. Agenda and ledger are made from the record and the manifest each
    time, and are not read back.
    """
    sections = {item.key: item for item in record.sections}
    first = next(iter(record.sections), None)
    preface = first if first is not None and first.key == "preface" and not first.line("title") else None
    blocks = [_head(record, preface)]
    for part in _parts(list(sections)):
        if part == "preface" and (preface is not None or part not in sections):
            continue
        if part == "entries" and not (entries and record.entries):
            continue
        blocks.append(_part(part, sections.get(part), record))
    lines = [line for block in blocks for line in (*block, "", "---", "")]
    return "\n".join([*lines, "End.", ""])


def _parts(keys: Sequence[str]) -> list[str]:
    """Return the order of sections and parts: that of the sections, with the other parts in between."""
    known = [part for part in _ORDER if part is not None]
    own = [key for key in keys if key not in known]
    if not any(key in known for key in keys):
        return [each for part in _ORDER for each in (own if part is None else [part])]
    order = list(keys)
    for part in known:
        if part not in order:
            before = [order.index(each) for each in known[: known.index(part)] if each in order]
            order.insert(max(before, default=-1) + 1, part)
    return order


def _head(record: SprintRecord, preface: Item | None) -> list[str]:
    item = record.sprint or Item("sprint", "", {})
    title = item.line("title")
    if title.lstrip("\\") == TITLE:
        title = f"\\{title}"
    lines = [f"# {safe(title) or TITLE}"]
    for label, name in HEADER.items():
        if value := safe(item.line(name)):
            is_bold = name in BOLD or re.fullmatch(r"\*\*.+\*\*", value) is not None
            lines.append(f"{label}: {f'**{value}**' if is_bold else value}  ")
    return [*lines, "", *written(preface.line("text"), SECTION)] if preface is not None else lines


def _part(part: str, intro: Item | None, record: SprintRecord) -> list[str]:
    lines = [_heading(part, intro)]
    if intro is not None and (text := intro.line("text")):
        lines += ["", *written(text, INTROS.get(part, SECTION))]
    return [*lines, *_BODIES[part](record)] if part in _BODIES else lines


def _heading(part: str, intro: Item | None) -> str:
    """Return the heading of a section, with its key where the heading does not say it."""
    title = intro.line("title") if intro is not None else ""
    if not title and part in HEADINGS:
        return f"## {HEADINGS[part]}"
    is_read_back = (part_of(title) or slug(title)) == part and title not in HEADINGS.values()
    if title and is_read_back and not ATTRIBUTE.search(title):
        return f"## {safe(title)}"
    return " ".join(filter(None, ("##", safe(title), f"{{#{part}}}")))


def _goals(record: SprintRecord) -> Iterator[str]:
    yield ""
    for goal in record.goals:
        yield from goal_lines(goal.item)


def _packages(record: SprintRecord) -> Iterator[str]:
    if not record.packages:
        return
    columns = package_columns(record.packages)
    rules = ["---:", *("---" for _ in columns[1:])]
    yield from ("", *markdown_head(columns, rules).splitlines())
    for package in record.packages:
        yield markdown_line(package_cells(package, columns)).rstrip("\n")
    yield from ("", LEGEND)


def _agenda(record: SprintRecord) -> Iterator[str]:
    yield from ("", DERIVED, "")
    for each in record.agenda:
        yield f"- {_in_words(each)}"


def _in_words(agenda: AgendaItem) -> str:
    words = safe(agenda.what)
    words += f" for {', '.join(agenda.waits_for)}" if agenda.waits_for else ""
    return f"{words} → unblocks {', '.join(agenda.unblocks)}" if agenda.unblocks else words


def _ledger(record: SprintRecord) -> Iterator[str]:
    yield from ("", DERIVED, "")
    columns = ("Run", "Time", "Title", "Class", "Baseline", "Section at 1", "Inputs", "Outputs")
    yield from markdown_head(columns, ["---"] * len(columns)).splitlines()
    for row in record.ledger:
        yield markdown_line(_ledger_cells(row)).rstrip("\n")
    yield from (f"\n{safe(sentence)}" for sentence in record.stopped)


def _ledger_cells(row: LedgerRow) -> Iterator[str]:
    hits = "" if row.hits is None else f"{row.hits} of {row.judged}"
    for text in (row.run_id, row.ts, row.title, row.kind, row.baseline, hits):
        yield markdown_cell(text or "")
    for files in (row.inputs, row.outputs):
        named = (f"{path} ({sha256[:12]})" if sha256 else path for path, sha256 in files)
        yield "<br>".join(map(markdown_cell, named))


def _log(record: SprintRecord) -> Iterator[str]:
    for entry in record.log[::-1]:
        yield from ("", *_entry(entry))


def _entry(entry: SprintEntry) -> Iterator[str]:
    fields = entry.fields
    corrects = f" (corrects {entry.corrects})" if entry.corrects else ""
    yield f"### {_entry_heading(entry)}"
    yield f"*{entry.at}{corrects} — {safe(entry.author)}*"
    kept = ENTRY if entry.kind == "log" else FILLED
    if text := fields.get("text"):
        yield from ("", *written(text, kept))
    if entry.kind != "log":
        yield ""
        for each in CHECKPOINT if entry.kind == "checkpoint" else CHECKIN:
            if each.name in fields:
                yield from labelled(each.label, fields[each.name], VALUE)
        return
    yield from _notes(fields)
    for part in fields.get("parts") or ():
        yield from ("", f"#### {safe(part['title'])}")
        if "text" in part:
            yield from written(part["text"], ENTRY)
        yield from _notes(part)


def _entry_heading(entry: SprintEntry) -> str:
    title = safe(entry.fields.get("title") or "")
    if entry.kind == "checkpoint":
        day = entry.fields.get("day")
        return f"{'Checkpoint' if day is None else f'Day {day} checkpoint'} — {entry.fields['date']}"
    if entry.kind == "checkin":
        return f"WP-{entry.key}{f' ({title})' if title else ''} — Check-in"
    return f"{entry.at[:10]} — {title}" if title else entry.at[:10]


def _notes(fields: Mapping[str, Json]) -> Iterator[str]:
    if fields.get("notes"):
        yield from ("", f"**{NOTES}**", *written(fields["notes"], ENTRY))


def _decisions(record: SprintRecord) -> Iterator[str]:
    agenda = next((item.line("text") for item in record.sections if item.key == "agenda"), "")
    stated = agenda_links(agenda)
    for decision in record.decisions:
        yield from ("", *decision_lines(decision, stated.get(decision.key, ())))


def _risks(record: SprintRecord) -> Iterator[str]:
    yield ""
    for risk in record.risks:
        yield from risk_lines(risk)


def _template(heading: str, known: Sequence[FieldOf]) -> Iterator[str]:
    yield from ("", f"### {heading}", *(f"- **{each.label}:**" for each in known))


def _entries(record: SprintRecord) -> Iterator[str]:
    yield from ("", "```jsonl")
    for entry in record.entries:
        yield orjson.dumps(line_of(entry), option=orjson.OPT_SORT_KEYS).decode()
    yield "```"


_BODIES = {
    "goals": _goals,
    "packages": _packages,
    "agenda": _agenda,
    "ledger": _ledger,
    "log": _log,
    "decisions": _decisions,
    "risks": _risks,
    "checkpoint-template": lambda _: _template("Day N checkpoint — YYYY-MM-DD", CHECKPOINT),
    "checkin-template": lambda _: _template("WP-__ (e.g., WP-A1) — Check-in", CHECKIN),
    "entries": _entries,
}
