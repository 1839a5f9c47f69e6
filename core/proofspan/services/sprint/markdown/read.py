"""Read a sprint's record from Markdown: the sprint plan's structure, by hand or as `write` makes it.

What has no place in the structure is kept as the text of a section, so nothing is lost. The shape of a file
is never a reason to refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import EntryKind
from proofspan.services.sprint.fields import CHECKIN, CHECKPOINT, FieldOf
from proofspan.services.sprint.fold import agenda_links, key_of, without_empty
from proofspan.services.sprint.markdown.blocks import (
    BLANKS,
    DERIVED,
    cells_of,
    fenced,
    is_rule_row,
    items_of,
    of_cell,
    plain,
    read,
)
from proofspan.services.sprint.markdown.items import (
    Fields,
    read_decision,
    read_decision_heading,
    read_goal,
    read_package,
    read_risk,
    value_of,
)
from proofspan.services.sprint.markdown.words import (
    BYLINE,
    HEADER,
    HEADINGS,
    LEGEND_LINE,
    NOTES_LABEL,
    STATUSES,
    TITLE,
    part_of,
    slug,
)
from proofspan.services.sprint.markdown.write import ATTRIBUTE, ENTRY, FILLED, INTROS, SECTION, VALUE
from proofspan.services.sprint.types import PARTS

#: Sections that a sprint plan has besides the parts. Others are kept as well, and named in the report.
_EXPECTED = re.compile(
    r"authorit|constraint|diagnos|folder|provenance|pointer|abbreviation|future work|lever", re.IGNORECASE
)


class Found(NamedTuple):
    """An entry in the file, without its author: `at` is None where its heading has no date."""

    kind: EntryKind
    key: str
    fields: Fields
    line: int
    at: str | None = None
    author: str | None = None
    corrects: str | None = None


class Leftover(NamedTuple):
    """Text that is kept in the section `heading` without being understood, from `line` on."""

    line: int
    heading: str
    what: str


@dataclass(slots=True)
class ReadMarkdown:
    """The content of a file: its entries, lines of entries as JSON with their numbers, and leftovers."""

    found: list[Found] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)

    def keep_section(self, key: str, title: str, text: str, line: int) -> None:
        """Add a section; what comes again under the same key belongs to it."""
        for each in self.found:
            if (each.kind, each.key) == ("section", key):
                each.fields["text"] = "\n\n".join(filter(None, (each.fields.get("text", ""), text)))
                return
        fields = without_empty({"title": title or None, "text": text or None})
        self.found.append(Found("section", key, fields, line))

    @property
    def sprint(self) -> Fields:
        """The fields of the sprint itself."""
        return next((each.fields for each in self.found if each.kind == "sprint"), {})

    @property
    def dates(self) -> list[str]:
        """The days that the file names: those of its log, and that of its creation."""
        created = re.match(r"\d{4}-\d{2}-\d{2}", str(self.sprint.get("created", "")))
        days = [each.at[:10] for each in self.found if each.at is not None]
        return [*days, *([created[0]] if created is not None else [])]


class _Part(NamedTuple):
    """A part of the file: its key ("" for the top), title, line of its heading, and the lines below it."""

    key: str
    title: str
    line: int
    lines: list[str]


_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*$")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}$")
_PREFACE: Final = "preface"


def read_markdown(text: str) -> ReadMarkdown:
    """Return what a file holds; `text` has line feeds alone."""
    lines = text.split("\n")
    while lines and (not lines[-1].strip(BLANKS) or lines[-1].strip(BLANKS) == "End."):
        lines.pop()
    result = ReadMarkdown()
    parts = list(_parts(lines))
    agenda = "\n".join(line for part in parts if part.key == "agenda" for line in part.lines)
    stated = agenda_links(agenda.partition(DERIVED)[0])
    for part in parts:
        _read_part(part, result, stated)
    return result


def _parts(lines: Sequence[str]) -> Iterator[_Part]:
    """Cut the file at headings of the first and second level, outside of fenced code."""
    inside = fenced(lines)
    starts = [0]
    for at, line in enumerate(lines):
        match = None if inside[at] else _HEADING.match(line)
        if at and match is not None and len(match[1]) <= 2:
            starts.append(at)
    taken: dict[str, int] = {}
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        match = None if not lines or inside[begin] else _HEADING.match(lines[begin])
        is_top = match is not None and len(match[1]) == 1 and begin == 0
        if match is None or is_top or len(match[1]) > 2:
            yield _Part("", match[2] or "" if is_top and match is not None else "", 1, list(lines[begin:end]))
            continue
        heading = match[2] or ""
        named = ATTRIBUTE.search(heading)
        title = heading[: named.start()].rstrip(BLANKS) if named is not None else heading
        key = named[1] if named is not None else part_of(heading) or slug(heading)
        taken[key] = taken.get(key, 0) + 1
        if taken[key] > 1 and key not in (*PARTS, "entries"):
            key = f"{key}-{taken[key]}"
        if named is None and title == HEADINGS.get(key):
            title = ""
        yield _Part(key, plain(title), begin + 1, list(lines[begin + 1 : end]))


def _read_part(part: _Part, result: ReadMarkdown, stated: Mapping[str, Sequence[str]]) -> None:
    if not part.key:
        _read_head(part, result)
        return
    lines = _kept(part.lines)
    first = part.line + 1
    if part.key in ("checkpoint-template", "checkin-template"):
        return
    if part.key == "entries":
        result.lines += _json_lines(lines, first)
        return
    rest: list[str]
    if part.key == "goals":
        rest = _read_items("goal", read_goal, lines, first, result)
    elif part.key == "risks":
        rest = _read_items("risk", read_risk, lines, first, result)
    elif part.key == "packages":
        rest = _read_packages(lines, first, result)
    elif part.key == "log":
        rest = _read_log(lines, first, result)
    elif part.key == "decisions":
        rest = _read_decisions(lines, first, result, stated)
    else:
        rest = lines
    text = read(rest, INTROS.get(part.key, SECTION))
    if text or part.title:
        result.keep_section(part.key, part.title, text, part.line)
    if text and part.key not in PARTS and _EXPECTED.search(part.title) is None:
        result.leftovers.append(Leftover(part.line, part.title, "a section of its own"))


def _kept(lines: list[str]) -> list[str]:
    """Return the lines without the rule that ends a part, and without what was made from the record."""
    inside = fenced(lines)
    at = next((at for at, line in enumerate(lines) if line == DERIVED and not inside[at]), None)
    kept = list(lines[:at])
    while kept and (not kept[-1].strip(BLANKS) or _RULE.match(kept[-1].strip(BLANKS))):
        kept.pop()
    return kept


def _read_head(part: _Part, result: ReadMarkdown) -> None:
    """Read the title, the `Owner: …` lines right below it, and what else is above the first section."""
    lines = _kept(part.lines)
    fields: Fields = {}
    at = 0
    if part.title:
        title = part.title.removeprefix("\\") if part.title.lstrip("\\") == TITLE else part.title
        if part.title != TITLE:
            fields["title"] = plain(title)
        at = 1
    names = {label.casefold(): name for label, name in HEADER.items()}
    rest = []
    is_head = True
    for line in lines[at:]:
        label, colon, value = line.partition(":")
        is_head = is_head and bool(line.strip(BLANKS))
        name = names.get(label.strip(BLANKS).casefold()) if colon and is_head else None
        if name is None or not value.strip(BLANKS):
            rest.append(line)
        else:
            bare = value.strip(BLANKS)
            bold = re.fullmatch(r"\*\*(.+)\*\*", bare)
            fields[name] = plain(bold[1] if bold is not None else bare)
    if fields:
        result.found.append(Found("sprint", "", fields, part.line))
    if text := read(rest, SECTION):
        result.keep_section(_PREFACE, "", text, part.line)
        result.leftovers.append(Leftover(part.line + at, "the lines at the top", "kept as a text"))


def _json_lines(lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    inside = fenced(lines)
    for at, line in enumerate(lines):
        if inside[at] and line.startswith("{"):
            yield first + at, line


def _read_items(
    kind: EntryKind,
    reader: Callable[[Sequence[str], int], tuple[str, Fields]],
    lines: Sequence[str],
    first: int,
    result: ReadMarkdown,
) -> list[str]:
    """Read the bullets of a part as items; what is between them is left."""
    rest: list[str] = []
    taken: dict[str, int] = {}
    for block in items_of(lines, first):
        if not block.is_item:
            rest += block.lines
            continue
        key, fields = reader(block.lines, block.line)
        taken[key] = taken.get(key, 0) + 1
        if taken[key] > 1:
            key = f"{key}-{taken[key]}"
        result.found.append(Found(kind, key, without_empty(fields), block.line))
    return rest


def _read_packages(lines: Sequence[str], first: int, result: ReadMarkdown) -> list[str]:
    """Read the table of work packages; other tables and texts are left."""
    inside = fenced(lines)
    rest: list[str] = []
    columns: list[str] = []
    signs = {sign: status for line in lines if _LEGEND.match(line) for sign, status in _signs(line).items()}
    for at, line in enumerate(lines):
        if inside[at] or not line.lstrip(BLANKS).startswith("|"):
            columns = []
            if inside[at] or not _LEGEND.match(line):
                rest.append(line)
            continue
        if not columns and at + 1 < len(lines) and is_rule_row(lines[at + 1]):
            columns = _columns(line)
        elif columns and not is_rule_row(line):
            cells = zip(columns, _cells(line, len(columns)), strict=False)
            key, fields = read_package({**dict.fromkeys(columns, ""), **dict(cells)}, signs)
            if key:
                result.found.append(Found("package", key, fields, first + at))
            else:
                result.leftovers.append(Leftover(first + at, line[:80], "a row without a work package"))
                rest.append(line)
            continue
        if not columns:
            rest.append(line)
    return rest


_LEGEND = re.compile(LEGEND_LINE)


def _columns(line: str) -> list[str]:
    """Return the titles of a table of work packages, none for another table."""
    titles = [of_cell(each).strip("*") for each in cells_of(line)]
    return titles if "wp" in map(str.casefold, titles) else []


def _cells(line: str, most: int) -> list[str]:
    """Return the cells of a row; what is beyond the last column belongs to it."""
    cells = cells_of(line)
    return cells if len(cells) <= most else [*cells[: most - 1], " | ".join(cells[most - 1 :])]


def _signs(legend: str) -> dict[str, str]:
    """Return the status of each sign that a legend explains, also of a sign that lost bytes."""
    found: dict[str, str] = {}
    for part in legend.partition(":")[2].strip("* ").split("·"):
        sign, _, words = part.strip(f"*{BLANKS}").partition(" ")
        for status, (_, known) in STATUSES.items():
            if sign and words.strip(BLANKS).casefold() in {each.casefold() for each in known}:
                found[sign] = status
    return found


class _Section(NamedTuple):
    """The lines below a heading of the third or fourth level, and the line of the heading."""

    heading: str
    line: int
    lines: list[str]


def _below(lines: Sequence[str], first: int, level: int) -> tuple[list[str], list[_Section]]:
    """Cut lines at their headings of a level; also return the lines above the first of them."""
    inside = fenced(lines)
    above: list[str] = []
    sections: list[_Section] = []
    for at, line in enumerate(lines):
        match = None if inside[at] else _HEADING.match(line)
        if match is not None and len(match[1]) == level:
            sections.append(_Section(match[2] or "", first + at, []))
        elif sections:
            sections[-1].lines.append(line)
        else:
            above.append(line)
    return above, sections


def _read_decisions(
    lines: Sequence[str], first: int, result: ReadMarkdown, stated: Mapping[str, Sequence[str]]
) -> list[str]:
    rest, sections = _below(lines, first, 3)
    for section in sections:
        heading = read_decision_heading(section.heading)
        kept = _kept(section.lines)
        if heading is None:
            rest += ["", f"### {section.heading}", *kept]
            result.leftovers.append(Leftover(section.line, section.heading, "not the heading of a decision"))
            continue
        key, fields = heading
        fields = read_decision(fields, kept, section.line + 1, stated.get(key, ()))
        result.found.append(Found("decision", key, fields, section.line))
    return rest


_DAY = r"(\d{4}-\d{2}-\d{2})"
_DATED = re.compile(rf"{_DAY}(?: ?[—–:-] ?(.+))?$|{_DAY}$")
_CHECKPOINT = re.compile(rf"(?:Day (\d{{1,4}}) )?checkpoint [—–-] {_DAY}$", re.IGNORECASE)
_CHECKIN = re.compile(r"WP-([^\s()—]+)(?: \((.+)\))? [—–-] Check-in$", re.IGNORECASE)


def _read_log(lines: Sequence[str], first: int, result: ReadMarkdown) -> list[str]:
    rest, sections = _below(lines, first, 3)
    day: str | None = None
    for section in sections:
        kept = _kept(section.lines)
        checkpoint, checkin = _CHECKPOINT.match(section.heading), _CHECKIN.match(section.heading)
        dated = _DATED.match(section.heading)
        if checkpoint is not None:
            day = checkpoint[2]
            fields: Fields = {"date": day, **({"day": int(checkpoint[1])} if checkpoint[1] else {})}
            result.found.append(_filled("checkpoint", "", fields, CHECKPOINT, kept, section, day))
        elif checkin is not None and not checkin[1].startswith("__"):
            fields = {"title": plain(checkin[2])} if checkin[2] else {}
            key = key_of("checkin", checkin[1])
            result.found.append(_filled("checkin", key, fields, CHECKIN, kept, section, day))
        elif dated is not None:
            day = dated[1] or dated[3]
            result.found.append(_log_entry(plain(dated[2] or ""), kept, section, day))
        elif section.heading or kept:
            rest += ["", f"### {section.heading}", *kept]
            result.leftovers.append(Leftover(section.line, section.heading, "a log entry without a date"))
    return rest


def _with_byline(found: Found, lines: list[str]) -> tuple[Found, list[str]]:
    at = next((at for at, line in enumerate(lines) if line.strip(BLANKS)), 0)
    match = re.match(BYLINE, lines[at]) if lines else None
    if match is None:
        return found, lines
    return found._replace(at=match[1], corrects=match[2], author=plain(match[3])), lines[at + 1 :]


def _log_entry(title: str, lines: list[str], section: _Section, day: str) -> Found:
    found, lines = _with_byline(Found("log", "", {}, section.line, day), lines)
    above, parts = _below(lines, section.line + 1, 4)
    listed = [
        without_empty({"title": plain(part.heading) or "—", **_text_and_notes(part.lines)}) for part in parts
    ]
    fields = {"title": title or None, **_text_and_notes(above), "parts": listed}
    return found._replace(fields=without_empty(fields))


def _text_and_notes(lines: Sequence[str]) -> dict[str, Json]:
    """Split a check-in at the label of the orchestrator's notes."""
    inside = fenced(lines)
    at = next(
        (at for at, line in enumerate(lines) if not inside[at] and re.match(NOTES_LABEL, line)), len(lines)
    )
    return {"text": read(lines[:at], ENTRY) or None, "notes": read(lines[at + 1 :], ENTRY) or None}


def _filled(
    kind: EntryKind,
    key: str,
    fields: Fields,
    known: Sequence[FieldOf],
    lines: list[str],
    section: _Section,
    day: str | None,
) -> Found:
    """Read a template that was filled in; what is beside its fields is the text."""
    found, lines = _with_byline(Found(kind, key, fields, section.line, day), lines)
    names = {_bare(each.label): each.name for each in known}
    rest: list[str] = []
    for block in items_of(lines, section.line + 1):
        match = re.match(r"\*\*([^*\n]+?):\*\*[ \t]*(.*)$", block.lines[0]) if block.is_item else None
        name = names.get(_bare(match[1])) if match is not None else None
        if match is None or name is None:
            rest += block.whole
        elif value := value_of(match[2], block.lines[1:], VALUE):
            found.fields[name] = value
    if text := read(rest, FILLED):
        found.fields["text"] = text
    return found


def _bare(label: str) -> str:
    return re.sub(r"\s*\(.*?\)", "", label).strip(BLANKS).casefold()
