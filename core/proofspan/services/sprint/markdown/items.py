"""Single items of a record in Markdown, and back: a goal, a work package's row, a decision, a risk.

A compact form as in the sprint plan is written only where it is read back as the same item. Otherwise every
field has a label of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import DECISION_STATES
from proofspan.services.sprint.fields import FIELDS, FieldOf
from proofspan.services.sprint.fold import key_of, named_after
from proofspan.services.sprint.goals_now import metric_named
from proofspan.services.sprint.markdown.blocks import (
    BLANKS,
    Guard,
    cell,
    fenced,
    guard,
    indented,
    item,
    items_of,
    list_cell,
    of_cell,
    of_list_cell,
    plain,
    read,
    safe,
    written,
)
from proofspan.services.sprint.markdown.words import (
    LABEL,
    LABELS,
    MORE,
    SPEC,
    STATUSES,
    label_of,
    slug,
)
from proofspan.services.sprint.types import Item

#: Written for a value that is not there, where the text beside it would give one.
_NOTHING: Final = "—"
Fields = dict[str, Json]
#: An item as it is read: its key and fields.
Read = tuple[str, Fields]

_KEY = r"[^\s|`*#<>{}(),;:—\\]{1,80}"
_SIGNS: Final = {"≥": ">=", "≤": "<=", ">": ">", "<": "<", "=": "==", ">=": ">=", "<=": "<=", "==": "=="}
_BY_SIGN: Final = {">=": "≥", "<=": "≤", ">": ">", "<": "<", "==": "="}

# Lists of labelled fields below a bullet: what goals and risks have besides their first line, and all of a
# checkpoint and a check-in.

_NESTED = r"[-*+][ \t]+\*\*([^*\n]+?):\*\*"
_NESTED_LINE = re.compile(rf"{_NESTED}[ \t]*(.*)$")
#: A text below which labelled fields may follow.
_LABELLED: Final = guard(3, _NESTED)


def labelled(name: str, value: str, kept: Guard) -> list[str]:
    """Return the lines of a field with its label: `- **Status:** open`."""
    lines = written(value, kept)
    if len(lines) == 1:
        return [f"- **{name}:** {lines[0]}"]
    return [f"- **{name}:**", *indented(lines)]


def value_of(first: str, rest: Sequence[str], kept: Guard) -> str:
    """Return the text of a labelled field: what is beside its label, and the lines below."""
    return read([first, *rest] if first.strip(BLANKS) else rest, kept)


def _text_of(value: Json) -> str:
    return "" if value is None or isinstance(value, list) else str(value)


def _fields(known: Sequence[FieldOf], fields: Mapping[str, Json], without: Sequence[str]) -> Iterator[str]:
    """Yield the nested lines of all known fields that are set; of a list one for each text."""
    for each in known:
        value = fields.get(each.name)
        if value is None or each.name in without:
            continue
        for text in map(str, value if isinstance(value, list) else [value]):
            yield from indented(labelled(each.label, text, _LABELLED))


def _read_fields(known: Sequence[FieldOf], lines: Sequence[str], first: int) -> tuple[list[str], Fields]:
    """Split the lines below a bullet into its own text and its labelled fields."""
    own: list[str] = []
    fields: Fields = {}
    by_label = {each.label.casefold(): each for each in known}
    for block in items_of(lines, first):
        match = _NESTED_LINE.match(f"- {block.lines[0]}") if block.is_item else None
        field = by_label.get(match[1].casefold()) if match is not None else None
        if match is None or field is None:
            own += block.whole
            continue
        text = value_of(match[2], block.lines[1:], _LABELLED)
        if field.shape in ("list", "keys"):
            fields.setdefault(field.name, []).append(text)
        elif text:
            fields[field.name] = int(text) if field.shape == "number" and text.isdecimal() else text
    return own, fields


# Goals.

_GOAL = re.compile(r"\*\*(.+?)\*\*(?: \(≥? ?(\d{1,9})/(\d{1,9})\))?")
_THRESHOLD = re.compile(r"(.*\S) (≥|≤|>=|<=|==|>|<|=) ?(-?\d{1,9}(?:\.\d{1,9})?)( ?%)?")
_GOAL_FIELDS: Final = (*FIELDS["goal"], FieldOf("key", "Key"))


def goal_lines(goal: Item) -> list[str]:
    """Return the lines of a goal: `- **SectionMatch@1 ≥ 70%** (≥ 26/37)`."""
    fields = goal.fields
    for head, without in ((_goal_head(fields), ("title", "threshold", "needed", "questions")), ("", ())):
        metric = {"metric": fields.get("metric", _NOTHING)}
        for more in ({}, metric, {"key": goal.key, **metric}):
            kept = {name: value for name, value in fields.items() if name not in ("metric", "criteria")}
            lines = [f"- {head or '**Goal**'}", *_fields(_GOAL_FIELDS, {**kept, **more}, without)]
            criteria = fields.get("criteria") or ()
            lines += [line for text in criteria for line in indented(item(text, _LABELLED))]
            (block, *_) = items_of(lines, 1)
            if read_goal(block.lines, 1) == (goal.key, {**fields}):
                return lines
    return lines


def _goal_head(fields: Mapping[str, Json]) -> str:
    title = safe(_text_of(fields.get("title")))
    if not title:
        return ""
    threshold = _text_of(fields.get("threshold"))
    counts = f"{fields['needed']}/{fields['questions']}" if {"needed", "questions"} <= fields.keys() else ""
    if threshold:
        comparison, number = threshold.split(" ")
        title += f" {_BY_SIGN[comparison]} {_percent(number)}"
    return f"**{title}**" + (f" (≥ {counts})" if counts else "")


def _percent(number: str) -> str:
    """`70%` of 0.70, the number itself where that is not read back as the same."""
    percent = f"{Decimal(number) * 100:f}"
    percent = percent.rstrip("0").rstrip(".") if "." in percent else percent
    return f"{percent}%" if _share(percent) == number else number


def _share(percent: str) -> str:
    """`0.70` of 70."""
    share = Decimal(percent) / 100
    return f"{share:.2f}" if share == round(share, 2) else f"{share:f}"


def read_goal(lines: Sequence[str], first: int) -> Read:
    """Return a goal's key and fields from the lines of its bullet."""
    own, fields = _read_fields(_GOAL_FIELDS, lines[1:], first + 1)
    match = _GOAL.fullmatch(lines[0].strip(BLANKS))
    if match is not None and match[1] != "Goal":
        fields = {**_title_and_threshold(match[1]), **fields}
        if match[2]:
            fields = {"needed": int(match[2]), "questions": int(match[3]), **fields}
    elif match is None:
        fields = {**_title_and_threshold(lines[0].strip(BLANKS).rstrip(":").replace("**", "")), **fields}
    criteria = [
        read(block.lines, _LABELLED)
        for block in items_of(own, first + 1)
        if any(line.strip(BLANKS) for line in block.lines)
    ]
    if criteria:
        fields["criteria"] = [*fields.get("criteria", []), *filter(None, criteria)]
    metric = fields.pop("metric", "") or metric_named(str(fields.get("title", ""))) or ""
    if metric in ("", _NOTHING):
        metric = ""
    else:
        fields["metric"] = metric
    return str(fields.pop("key", "") or metric or slug(str(fields.get("title", "goal")))), fields


def _title_and_threshold(words: str) -> Fields:
    match = _THRESHOLD.fullmatch(words)
    if match is None:
        return {"title": plain(words)} if words else {}
    number = _share(match[3]) if match[4] else match[3]
    return {"title": plain(match[1]), "threshold": f"{_SIGNS[match[2]]} {number}"}


# Work packages: rows of a table.

#: The columns of the sprint plan's table, which are always there, then those that are written where used.
COLUMNS: Final[Mapping[str, str]] = {
    "WP": "key",
    "Stream": "stream",
    "Status": "status",
    "Primary artifact(s)": "artifacts",
    "Notes": "notes",
    "Title": "title",
    "Depends on": "depends_on",
    "Unblocks": "unblocks",
    "Owner": "owner",
    "Next step": "next",
}
ALWAYS: Final = 5
_LISTS: Final = ("artifacts", "depends_on", "unblocks", "next")


def package_columns(packages: Sequence[Item]) -> list[str]:
    """Return the titles of the columns that these work packages need."""
    return [
        title
        for at, (title, name) in enumerate(COLUMNS.items())
        if at < ALWAYS or any(_is_shown(package, name) for package in packages)
    ]


def _is_shown(package: Item, name: str) -> bool:
    if name == "depends_on":
        return list(package.listed(name)) != named_after(package.line("notes"))
    return name in package.fields


def package_cells(package: Item, columns: Sequence[str]) -> Iterator[str]:
    """Yield the cells of a work package's row."""
    for title in columns:
        name = COLUMNS[title]
        if name == "key":
            yield cell(package.key)
        elif name == "status":
            yield _status_cell(package)
        elif name in _LISTS:
            yield list_cell(package.listed(name))
        else:
            yield cell(package.line(name))


def _status_cell(package: Item) -> str:
    status, note = package.line("status"), package.line("status_note")
    sign, words = STATUSES.get(status, ("", ("",)))  # type: ignore[call-overload]
    compact = cell(f"{sign} **{note}**".strip() if note else f"{sign} {words[0]}".strip())
    wanted = {name: value for name, value in (("status", status), ("status_note", note)) if value}
    return compact if read_status(compact, {}) == wanted else cell(f"{sign} {words[0]} · {note}".strip())


def read_status(written_cell: str, signs: Mapping[str, str]) -> Fields:
    """Return a status and what is written beside it; `signs` are those of the file's legend, by sign."""
    text = of_cell(written_cell)
    for status, (sign, words) in STATUSES.items():
        for each in (sign, *(found for found, named in signs.items() if named == status)):
            if each and text.startswith(each):
                return {"status": status, **_note(text[len(each) :].lstrip("\ufe0f" + BLANKS), words)}
    for status, (_, words) in STATUSES.items():
        if text.strip("*").casefold() in {each.casefold() for each in words}:
            return {"status": status}
    note = text[2:] if text.startswith("· ") else _unbold(text)
    return {"status_note": note} if note else {}


def _note(text: str, words: Sequence[str]) -> Fields:
    known = {each.casefold() for each in words}
    first, point, note = text.partition(" · ")
    if point and first.casefold() in known:
        return {"status_note": note} if note else {}
    plain_text = _unbold(text)
    return {} if not text or text.strip("*").casefold() in known else {"status_note": plain_text}


def _unbold(text: str) -> str:
    return text[2:-2] if re.fullmatch(r"\*\*[^*]+\*\*", text) else text


def read_package(cells: Mapping[str, str], signs: Mapping[str, str]) -> Read:
    """Return a work package's key and fields from the cells of its row, by column title."""
    names = {title.casefold(): name for title, name in COLUMNS.items()}
    fields: Fields = {}
    key = ""
    for title, written_cell in cells.items():
        name = names.get(title.casefold()) or names.get(title.casefold().rstrip("s"), slug(title))
        if name == "key":
            key = key_of("package", of_cell(written_cell).strip("*"))
        elif name == "status":
            fields |= read_status(written_cell, signs)
        elif name in _LISTS:
            fields[name] = of_list_cell(written_cell)
        else:
            fields[name] = of_cell(written_cell)
    if "depends on" not in map(str.casefold, cells):
        fields["depends_on"] = named_after(str(fields.get("notes", "")))
    return key, {name: value for name, value in fields.items() if value not in ("", [])}


# Decisions.

_HEADING = re.compile(rf"({_KEY})(?:(?: [—–-]|:) (.+?))?(?: \(({'|'.join(DECISION_STATES)})(?:; (.+))?\))?")
_DECISION: Final = guard(3, LABEL.pattern)
_ONE_LINE: Final = ("title", "state", "state_note", "owner", "spec_from")


def decision_lines(decision: Item, unblocks: Sequence[str] = ()) -> list[str]:
    """Return the heading and the lists of a decision; `unblocks` is what the agenda's text says of it."""
    fields = decision.fields
    title, state, note = (safe(decision.line(name)) for name in ("title", "state", "state_note"))
    states = f" ({'; '.join(filter(None, (state, note)))})" if state else ""
    compact = f"{decision.key}{f' — {title}' if title else ''}{states}"
    in_heading = {name: fields[name] for name in ("title", "state", "state_note") if name in fields}
    if read_decision_heading(compact) != (decision.key, in_heading):
        compact, in_heading = decision.key, {}
    lines = [f"### {compact}"]
    for name, label in LABELS.items():
        if name in fields and name not in (*in_heading, "depends_on", "unblocks", "spec_from"):
            spec_from = safe(decision.line("spec_from"))
            source = f" (from {spec_from})" if name == "spec" and spec_from else ""
            lines += _list(f"{label}{source}", fields[name])
        elif name == "spec_from" and name in fields and "spec" not in fields:
            lines += _list(label, fields[name])
    stated = named_after(decision.line("state_note")) if "state_note" in in_heading else []
    for name, known in (("depends_on", stated), ("unblocks", unblocks)):
        if list(decision.listed(name)) != list(known):
            lines += _list(LABELS[name], fields.get(name, [_NOTHING]))
    for more in fields.get("more", ()):
        heading = safe(more["heading"])
        taken = label_of(heading) or SPEC.fullmatch(heading) or heading.startswith(MORE)
        lines += _list(f"{MORE if taken else ''}{heading}", more["items"])
    return lines


def _list(label: str, value: Json) -> list[str]:
    texts = value if isinstance(value, list) else [str(value)]
    return ["", f"**{label}**", *(line for text in texts for line in item(text, _DECISION))]


def read_decision_heading(heading: str) -> Read | None:
    """Return key, title, state and note of a decision's heading; None for another heading."""
    match = _HEADING.fullmatch(heading)
    if match is None:
        return None
    found = zip(("title", "state", "state_note"), match.groups()[1:], strict=True)
    return match[1], {name: plain(value) for name, value in found if value}


def read_decision(fields: Fields, lines: Sequence[str], first: int, unblocks: Sequence[str] = ()) -> Fields:
    """Return the fields of a decision: those of its heading, and its lists; `unblocks` as it was written."""
    stated = named_after(str(fields.get("state_note", "")))
    name: str = "decision"
    more: str | None = None
    found: Fields = dict(fields)
    for block in items_of(lines, first):
        texts: list[list[str]] = [[]]
        is_text = [code or (block.is_item and at == 0) for at, code in enumerate(fenced(block.lines))]
        for line, is_kept in zip(block.lines, is_text, strict=True):
            label = None if is_kept else LABEL.match(line)
            if label is None:
                texts[-1].append(line)
                continue
            _keep(found, name, more, read(texts.pop(), _DECISION))
            texts.append([])
            name, more = _named_list(found, label)
        for text in texts:
            _keep(found, name, more, read(text, _DECISION))
    for name, known in (("depends_on", stated), ("unblocks", unblocks)):
        found.setdefault(name, list(known))
        if found[name] in ([], [_NOTHING]):
            del found[name]
    return found


def _named_list(found: Fields, label: re.Match[str]) -> tuple[str, str | None]:
    """Return the field of a label, and for another label the heading of a further list."""
    words = label[1]
    source = SPEC.fullmatch(words)
    if source is not None:
        found["spec_from"] = plain(source[1])
        return "spec", None
    name = "" if words.startswith(MORE) else label_of(words)
    if name:
        return name, None
    heading = plain(words.removeprefix(MORE) + label[2])
    found.setdefault("more", []).append({"heading": heading, "items": []})
    return "more", heading


def _keep(found: Fields, name: str, more: str | None, text: str) -> None:
    if not text:
        return
    if more is not None:
        found["more"][-1]["items"].append(text)
    elif name in _ONE_LINE:
        found[name] = text
    else:
        found.setdefault(name, []).append(text)


# Risks.

_RISK = re.compile(rf"\*\*({_KEY}):\*\*[ \t]*(.*)")
_ARROW = re.compile(r"(?<!\\)(\\*)→")
_RISK_FIELDS: Final = FIELDS["risk"]


def risk_lines(risk: Item) -> list[str]:
    """Return the lines of a risk: `- **RISK-1:** the text → what makes it smaller`."""
    head = _ARROW.sub(r"\1\1\\→", safe(risk.line("text")))
    mitigation = [_ARROW.sub(r"\1\1\\→", safe(text)) for text in risk.listed("mitigation")]
    compact = f"- **{risk.key}:** {' → '.join([head, *mitigation])}".rstrip(BLANKS)
    rest = list(_fields(_RISK_FIELDS, risk.fields, ("text", "mitigation")))
    long = [f"- **{risk.key}:**", *_fields(_RISK_FIELDS, risk.fields, ())]
    for lines in ([compact, *rest], long):
        blocks = list(items_of(lines, 1)) if "\n" not in lines[0] else []
        if len(blocks) == 1 and read_risk(blocks[0].lines, 1) == (risk.key, {**risk.fields}):
            return lines
    return long


def read_risk(lines: Sequence[str], first: int) -> Read:
    """Return a risk's key and fields from the lines of its bullet."""
    own, fields = _read_fields(_RISK_FIELDS, lines[1:], first + 1)
    match = _RISK.match(lines[0])
    head = match[2] if match is not None else lines[0]
    text, *mitigation = [
        plain(_ARROW.sub(lambda each: each[1][1::2] + "→", part)) for part in re.split(r"(?<!\\) → ", head)
    ]
    if mitigation:
        fields["mitigation"] = [*filter(None, mitigation), *fields.get("mitigation", [])]
    own_text = read([text, *own] if text.strip(BLANKS) else own, _LABELLED)
    if own_text:
        fields["text"] = own_text
    return (match[1] if match is not None else slug(text)[:40]), fields
