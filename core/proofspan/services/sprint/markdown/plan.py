"""Import a record from Markdown: the entries that a file would add to a workspace's record.

A file is read as the state at one time: an item that is the same in the record already adds nothing, and
importing a file again adds nothing. An absent field is left alone, so nothing is taken away by a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.journal.lines import EXCERPT, entries_in
from proofspan.journal.sprint import (
    EntryKind,
    SprintEntry,
    entries_of,
    entry_id_of,
    entry_problems,
    not_correctable,
    where_of,
)
from proofspan.mojibake import NAMES, Encoding, first_change, repaired
from proofspan.services.sprint.fold import LOG_KINDS, fold
from proofspan.services.sprint.markdown.read import Leftover, read_markdown
from proofspan.services.sprint.types import Item
from proofspan.wording import counted

#: Files of a sprint stay far below this.
MAX_BYTES = 16 << 20
_FIX = "Correct the text and import the file again; what is in the record already is not added twice."


@dataclass(frozen=True, slots=True)
class Plan:
    """The entries that a file adds, in their order; `known` of its entries are in the record already.

    `read` counts what was read by kind, `leftovers` are texts that were kept without being understood,
    `issues` what could not be kept.
    """

    entries: tuple[SprintEntry, ...]
    known: int
    read: Mapping[EntryKind, int]
    leftovers: tuple[Leftover, ...] = ()
    issues: tuple[LineIssue, ...] = ()


def file_text(path: Path, *, fix_encoding: bool) -> tuple[str, dict[Encoding, int]]:
    """Return a file's text with line feeds alone, and how many lines were repaired by code page.

    Raises InputFault if the file cannot be read, is too large or is not UTF-8, or if its text was decoded
    with another code page and is not to be repaired.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise InputFault.of("unreadable_file", message, where=str(path), fix="name another file") from error
    if len(data) > MAX_BYTES:
        message, fix = f"the file is larger than {MAX_BYTES >> 20} MiB", "import it in parts"
        raise InputFault.of("file_too_large", message, where=str(path), fix=fix)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        message, fix = f"line {line} is not UTF-8", "save the file as UTF-8"
        raise InputFault.of("not_utf8", message, where=f"{path}:{line}", fix=fix) from None
    return _repaired(text.replace("\r\n", "\n").replace("\r", "\n"), path, fix_encoding=fix_encoding)


def _repaired(text: str, path: Path, *, fix_encoding: bool) -> tuple[str, dict[Encoding, int]]:
    lines = text.split("\n")
    found: Counter[Encoding] = Counter()
    for at, line in enumerate(lines):
        repair = repaired(line)
        if repair.encoding is None:
            continue
        if not fix_encoding:
            change = first_change(line)
            example = f": {change.found[:40]!r} was {change.meant[:40]!r}" if change is not None else ""
            message = f"the text was decoded with the wrong code page{example}"
            fix = "pass --fix-encoding to read it as it was meant"
            raise InputFault.of("wrong_encoding", message, where=f"{path}:{at + 1}", fix=fix)
        found[repair.encoding] += 1
        lines[at] = repair.text
    return "\n".join(lines), dict(found)


def repairs_in_words(repairs: Mapping[Encoding, int]) -> str:
    """`65 lines had been read as Windows-1254`; "" without any."""
    return ", ".join(
        f"{counted(count, 'line')} had been read as {NAMES[page]}" for page, count in repairs.items()
    )


def plan(text: str, existing: Sequence[SprintEntry], *, file: str, author: str = "", at: str = "") -> Plan:
    """Return what the text adds to the entries of a record.

    `author` is who wrote what the file names nobody for, else the sprint's owner; `at` is the time of the
    items, else the last day that the file names. Raises InputFault if an entry to add would lack one of them.
    """
    found = read_markdown(text)
    stored, issues = _stored(found.lines, file)
    author = author or str(found.sprint.get("owner", ""))[:100].strip()
    days = sorted(found.dates)
    at = at or (days[-1] if days else "")
    result = _Adding(existing, file)
    result.issues += issues
    for entry in stored:
        result.add(entry)
    now = fold([*existing, *result.entries])
    logged = {_logged(entry) for entry in now.log}
    for each in found.found:
        entry = SprintEntry(
            each.kind, each.key, each.at or at, each.author or author, each.fields, each.corrects
        )
        entry = replace(entry, entry_id=entry_id_of(entry))
        item = now.items.get((entry.kind, entry.key))
        if _is_in(item, each.fields) if entry.kind not in LOG_KINDS else _logged(entry) in logged:
            result.known += not stored
            continue
        if not (entry.author and entry.at):
            raise _unsigned(entry, f"{file}:{each.line}")
        result.add(entry, line=each.line)
    kinds: Counter[EntryKind] = Counter(each.kind for each in found.found)
    leftovers = sorted([*found.leftovers, *result.leftovers])
    return Plan(tuple(result.entries), result.known, dict(kinds), tuple(leftovers), tuple(result.issues))


def _unsigned(entry: SprintEntry, where: str) -> InputFault:
    if not entry.author:
        return InputFault.of("no_author", "nothing says who wrote it", where=where, fix="pass --author NAME")
    return InputFault.of(
        "no_date", "nothing says when it was written", where=where, fix="pass --at YYYY-MM-DD"
    )


class _Adding:
    """The entries that are new, each once and valid."""

    def __init__(self, existing: Sequence[SprintEntry], file: str) -> None:
        self.ids = {entry.entry_id: entry for entry in existing}
        self.file = file
        self.entries: list[SprintEntry] = []
        self.issues: list[LineIssue] = []
        self.leftovers: list[Leftover] = []
        self.known = 0

    def add(self, entry: SprintEntry, line: int = 0) -> None:
        """Add an entry that the record does not have, or an issue where it is not valid."""
        if entry.entry_id in self.ids:
            self.known += 1
            return
        if entry.corrects is not None and (reason := not_correctable(entry, self.ids)):
            self.leftovers.append(Leftover(line, where_of(entry), f"kept, but {reason}"))
            entry = replace(entry, corrects=None)
            entry = replace(entry, entry_id=entry_id_of(entry))
        problem = next(iter(entry_problems(entry)), None)
        if problem is None:
            self.ids[entry.entry_id] = entry
            self.entries.append(replace(entry, source=None))
            return
        source = SourceLine(self.file, line or (entry.source.line if entry.source else 0), 0, 0)
        excerpt = str(entry.fields.get("title") or entry.fields.get("text") or "")[:EXCERPT]
        message = f"{problem.where}: {problem.message}"
        self.issues.append(LineIssue.at(source, problem.code, message, _FIX, excerpt))


def _stored(lines: Sequence[tuple[int, str]], file: str) -> tuple[list[SprintEntry], list[LineIssue]]:
    """Return the entries in the file's lines of JSON, which are read as those of a journal."""
    found, issues = entries_of(entries_in(((number, line.encode()) for number, line in lines), file))
    return list(found), list(issues)


def _is_in(item: Item | None, fields: Mapping[str, Json]) -> bool:
    """Return whether an item has these fields already."""
    return item is not None and all(item.fields.get(name) == value for name, value in fields.items())


def _logged(entry: SprintEntry) -> tuple[str, str, str, bytes]:
    """Return what makes a log entry the same, whoever wrote it and at what time of the day."""
    return entry.kind, entry.key, entry.at[:10], orjson.dumps(dict(entry.fields), option=orjson.OPT_SORT_KEYS)
