"""The sprint's record: entries that people append to the file of the manifest's `sprint`, one a line.

An entry sets fields of the goal, work package, decision or risk that it names, or is a log entry by itself.
The present state is what the entries add up to, in the order of the file. Nothing is ever replaced: a later
entry, or one that corrects an earlier one, is beside it with its own author and time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, cast, get_args

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.contracts.records.schemas import validator
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import InputFault, Problem
from proofspan.journal.lines import Entry, Journal, Read, content_id, open_journal, read_journal
from proofspan.journal.named import path_to_read, path_to_write, refusal_to_write
from proofspan.manifest.types import Manifest

#: `log` is a check-in with notes, `checkpoint` and `checkin` follow the templates of the sprint plan,
#: `section` is any other text of a record: authorities, diagnosis, constraints, future work.
EntryKind = Literal[
    "sprint", "goal", "package", "decision", "risk", "log", "checkpoint", "checkin", "section"
]
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
#: The states of a decision and the statuses of a work package.
DecisionState = Literal["PROPOSED", "PENDING", "ACCEPTED", "LOCKED", "REJECTED"]
DECISION_STATES: tuple[DecisionState, ...] = get_args(DecisionState)
PackageStatus = Literal["pending", "in_progress", "complete", "blocked", "dropped"]
PACKAGE_STATUSES: tuple[PackageStatus, ...] = get_args(PackageStatus)

#: The line that gives a workspace a record.
MANIFEST_LINE = "sprint: {path: sprint/log.jsonl}"
#: The fields of a line that its `entry_id` follows from.
_CONTENT = frozenset({"kind", "key", "at", "author", "fields", "corrects"})
#: The longest line, in bytes.
MAX_LINE = 1 << 20
_FIX = "Add the entry again as data/schemas/sprint-1.0.json describes it; this line counts for nothing."


@dataclass(frozen=True, slots=True)
class SprintEntry:
    """A line of the record. `at` is ISO 8601 in UTC to the second, or a date alone where no time is known.

    `key` is the item's id ("D2", "A1"; "" for a log entry). `fields` are the entry's own fields, which
    data/schemas/sprint-1.0.json describes; null or an empty list takes a value away. `corrects` is the
    `entry_id` of the entry that it corrects. `entry_id` follows from the content, so that two files can be
    merged.
    """

    kind: EntryKind
    key: str
    at: str
    author: str
    fields: Mapping[str, Json] = field(default_factory=dict)
    corrects: str | None = None
    entry_id: str = ""
    source: SourceLine | None = None


Record = tuple[tuple[SprintEntry, ...], tuple[LineIssue, ...]]


def read_sprint(manifest: Manifest) -> Record:
    """Return the entries in the order of the file, and the issues of lines that hold none.

    There are none if the manifest names no file for them, or it is not written yet. Raises ManifestFault if
    the file's path is refused, InputFault if it cannot be read.
    """
    artifact = manifest.sprint
    path = None if artifact is None else path_to_read(manifest, artifact)
    if artifact is None or path is None:
        return (), ()
    return entries_of(read_journal(path, file=artifact.path))


def entries_of(read: Read) -> Record:
    """Return the entries in the lines of a journal, each once, and the issues of the other lines.

    An entry whose `entry_id` differs from its content was edited after it was written: it counts, with an
    issue. One that corrects an entry that is not above it, or of another item, counts by itself.
    """
    lines, issues = read[0], list(read[1])
    found: dict[str, SprintEntry] = {}
    for line in lines:
        if (issue := _unreadable(line)) is not None:
            issues.append(issue)
            continue
        entry = _entry_of(line)
        if entry.entry_id in found:
            message = f"the entry {entry.entry_id} comes again"
            issues.append(line.issue("duplicate_entry", message, "Nothing: it counts once."))
            continue
        if line.record.get("entry_id", entry.entry_id) != entry.entry_id:
            message = "the line was changed after it was written: its entry_id belongs to another content"
            fix = "Restore the line, and correct it by an entry of its own: proofspan sprint add --corrects."
            issues.append(line.issue("edited_entry", message, fix))
        if entry.corrects is not None and (reason := not_correctable(entry, found)):
            fix = "Name an earlier entry of the same item: proofspan sprint show --json lists their entry_id."
            issues.append(line.issue("corrects_nothing", reason, fix))
            entry = replace(entry, corrects=None)
        found[entry.entry_id] = entry
    return tuple(found.values()), tuple(sorted(issues, key=lambda issue: issue.source.line))


def append(manifest: Manifest, entry: SprintEntry) -> SprintEntry:
    """Add the entry to the workspace's record and return it with its id; on return it is on the disk.

    An entry that is there already is not added again, so that a save can be repeated. Raises InputFault if
    the entry is not valid, corrects nothing, or cannot be written, or if the manifest names no file or states
    its hash; ManifestFault if the file's path is refused.
    """
    return append_all(manifest, [entry])[0][0]


def append_all(manifest: Manifest, entries: Iterable[SprintEntry]) -> tuple[tuple[SprintEntry, ...], int]:
    """Add the entries in their order; return them with their ids, and how many were not there yet.

    Raises as `append`; nothing is added if one of them is not valid.
    """
    given = [replace(entry, entry_id=entry_id_of(entry)) for entry in entries]
    problems = [problem for entry in given for problem in entry_problems(entry)]
    if problems:
        raise InputFault(*problems)
    path = path_to_write(manifest, manifest.sprint, key="sprint", line=MANIFEST_LINE)
    with open_journal(path, file=path.name) as journal:
        return tuple(given), _add(journal, given)


def _add(journal: Journal, entries: Iterable[SprintEntry]) -> int:
    known = _known(journal.read()[0])
    wanted: list[SprintEntry] = []
    for entry in entries:
        if entry.entry_id not in known:
            if entry.corrects is not None and (reason := not_correctable(entry, known)):
                fix = "name an earlier entry of the same item: proofspan sprint show --json lists them"
                raise InputFault.of("corrects_nothing", reason, where=where_of(entry), fix=fix)
            wanted.append(entry)
            known[entry.entry_id] = entry
    for entry in wanted:
        journal.append(line_of(entry))
    return len(wanted)


def _known(lines: Iterable[Entry]) -> dict[str, SprintEntry]:
    """Return the entries that are there by id, as far as saving needs them: kinds and keys, not checked."""
    found: dict[str, SprintEntry] = {}
    for line in lines:
        content = {
            name: value for name, value in line.record.items() if name in _CONTENT and value is not None
        }
        kind, key = content.get("kind"), content.setdefault("key", "")
        if isinstance(key, str) and kind in ENTRY_KINDS:
            found[content_id(content)] = SprintEntry(kind, key, "", "")
    return found


def refusal(manifest: Manifest) -> Problem | None:
    """Return why nothing can be added to the record of this workspace; None if the manifest allows it."""
    return refusal_to_write(manifest, manifest.sprint, key="sprint", line=MANIFEST_LINE)


def entry_problems(entry: SprintEntry) -> tuple[Problem, ...]:
    """Return what is wrong with an entry before it is written."""
    line, where = line_of(entry), where_of(entry)
    try:
        size = len(orjson.dumps(line))
    except (TypeError, ValueError) as error:
        fix = "write texts, numbers and lists of texts"
        return (Problem("entry_not_json", f"the entry cannot be written as JSON: {error}", where, fix),)
    if size > MAX_LINE:
        message = f"the entry is larger than {MAX_LINE >> 20} MiB"
        return (Problem("entry_too_large", message, where, "write it as several entries"),)
    fix = "data/schemas/sprint-1.0.json describes every field"
    problems = schema_problems("sprint", line)
    if not problems and not _is_time(entry.at):
        problems = (Problem("bad_at", f"at is {entry.at!r}, which is no day of the calendar", "at"),)
    return tuple(
        Problem(found.code, found.message, ", ".join(filter(None, (where, found.where))), fix)
        for found in problems
    )


def where_of(entry: SprintEntry) -> str:
    """`decision D2`, `log`: the entry's place in messages."""
    return f"{entry.kind} {entry.key}".strip()


def line_of(entry: SprintEntry) -> dict[str, Json]:
    """Return the entry as it is written, with its id."""
    return {**_content(entry), "entry_id": entry.entry_id or entry_id_of(entry)}


def entry_id_of(entry: SprintEntry) -> str:
    """Return the id that follows from the entry's content; "" for a content that is not JSON."""
    return content_id(_content(entry))


def _content(entry: SprintEntry) -> dict[str, Json]:
    content: dict[str, Json] = {
        "kind": entry.kind,
        "key": entry.key,
        "at": entry.at,
        "author": entry.author,
        "fields": dict(entry.fields),
    }
    return content | ({"corrects": entry.corrects} if entry.corrects is not None else {})


def _entry_of(line: Entry) -> SprintEntry:
    record = line.record
    entry = SprintEntry(
        kind=cast(EntryKind, record["kind"]),
        key=record.get("key", ""),
        at=record["at"],
        author=record["author"],
        fields=record["fields"],
        corrects=record.get("corrects"),
        source=line.source,
    )
    return replace(entry, entry_id=entry_id_of(entry))


def _unreadable(line: Entry) -> LineIssue | None:
    """Return the issue of a line that holds no entry."""
    record = line.record
    if validator("sprint").is_valid(record) and _is_time(record["at"]):
        return None
    kind = record.get("kind")
    if isinstance(kind, str) and kind not in ENTRY_KINDS:
        message = f"the kind {kind[:80]!r} is not known"
        fix = "A newer Proofspan may read it; the line stays as it is."
        return line.issue("unknown_kind", message, fix)
    if found := schema_problems("sprint", record):
        return line.issue(found[0].code, f"{found[0].where}: {found[0].message}", _FIX)
    return line.issue("bad_at", f"at is {record['at']!r}, which is no day of the calendar", _FIX)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def not_correctable(entry: SprintEntry, known: Mapping[str, SprintEntry]) -> str:
    """Return why the entry cannot correct what it names; "" if it can."""
    earlier = known.get(entry.corrects or "")
    if earlier is None:
        return f"there is no earlier entry {entry.corrects} that could be corrected"
    if (earlier.kind, earlier.key) != (entry.kind, entry.key):
        return f"the entry {entry.corrects} is about {where_of(earlier)}, not about {where_of(entry)}"
    return ""
