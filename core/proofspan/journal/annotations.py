"""Annotations: what people say of answers, in the file of the manifest's `annotations`, one a line.

A line is a verdict, a note, an assignment, or the withdrawal of an earlier line. Nothing is ever replaced.
What counts follows from times and ids alone, never from the order of the lines, so that the files of two
people can be joined in any order.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.contracts.records.schemas import validator
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import InputFault, Problem
from proofspan.fingerprints import file_state
from proofspan.journal.lines import Entry, Read, content_id, open_journal, read_journal
from proofspan.journal.named import path_to_read, path_to_write, refusal_to_write
from proofspan.manifest.types import Manifest

AnnotationKind = Literal["verdict", "note", "assignment", "withdrawal"]
#: The line that lets people annotate the answers of a workspace.
MANIFEST_LINE = "annotations: {path: annotations.jsonl}"
_FIX = "Write it again as data/schemas/annotation-1.0.json describes it; this line counts for nothing."
#: The values that a person's verdict may give in place of the rules'.
VERDICT_FIELDS = ("correct", "cause", "label")


class Target(NamedTuple):
    """The answer that an annotation is about."""

    run_id: str
    q_id: str
    paraphrase: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Annotation:
    """A line of the file. `at` is ISO 8601 in UTC to the millisecond.

    `answer` is `answer_id` of the answer's text. Of a verdict, `correct`, `cause` and `label` are the
    person's, where they differ from the rules' or the person does not agree; `rules` are the rules' at that
    time. `assignee` is None where nobody is assigned any more. `entry_id` follows from the content.
    """

    kind: AnnotationKind
    target: Target
    author: str
    at: str = ""
    answer: str | None = None
    agrees: bool | None = None
    correct: str | None = None
    cause: str | None = None
    label: str | None = None
    rules: Mapping[str, str | None] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    text: str | None = None
    assignee: str | None = None
    withdraws: str | None = None
    entry_id: str = ""
    source: SourceLine | None = None

    @property
    def order(self) -> tuple[str, str]:
        """Return the key that annotations sort by: time, then id."""
        return (self.at, self.entry_id)

    def value(self, name: str) -> str | None:
        """Return the verdict's `correct`, `cause` or `label`: the person's, else the rules' agreed to."""
        own: str | None = getattr(self, name)
        return self.rules.get(name) if own is None and self.agrees else own


@dataclass(frozen=True, slots=True)
class Annotations:
    """The lines of a file that count: verdicts, notes and assignees by answer, and the issues of other lines.

    `entries` are all lines in their order of time, those that were withdrawn included. `verdicts` has the
    last one of each person by name, `runs` the runs of these answers.
    """

    entries: tuple[Annotation, ...] = ()
    issues: tuple[LineIssue, ...] = ()
    verdicts: Mapping[Target, Mapping[str, Annotation]] = field(default_factory=dict)
    notes: Mapping[Target, tuple[Annotation, ...]] = field(default_factory=dict)
    assignees: Mapping[Target, str] = field(default_factory=dict)
    runs: frozenset[str] = frozenset()

    @property
    def authors(self) -> tuple[str, ...]:
        """Return who gave a verdict that counts, sorted."""
        return tuple(sorted({author for each in self.verdicts.values() for author in each}))

    def is_seen(self, target: Target, author: str | None = None) -> bool:
        """Return whether there is a verdict on the answer: of `author`, or of anybody."""
        verdicts = self.verdicts.get(target, {})
        return bool(verdicts) if author is None else author in verdicts

    def of_question(self, q_id: str, *, but: Target) -> tuple[Annotation, ...]:
        """Return verdicts and notes on other answers to a question, the newest first."""
        found = [
            each
            for target, verdicts in self.verdicts.items()
            if target.q_id == q_id and target != but
            for each in verdicts.values()
        ]
        for target, notes in self.notes.items():
            if target.q_id == q_id and target != but:
                found += notes
        return tuple(sorted(found, key=lambda each: each.order, reverse=True))


def disputed(verdicts: Mapping[str, Annotation]) -> bool:
    """Return whether people give an answer different values of a field that both of them give."""
    return any(
        len({value for each in verdicts.values() if (value := each.value(field)) is not None}) > 1
        for field in VERDICT_FIELDS
    )


def contested(verdicts: Mapping[str, Annotation]) -> bool:
    """Return whether anybody does not agree with the rules about an answer."""
    return any(not each.agrees for each in verdicts.values())


def answer_id(text: str) -> str:
    """Return the id of an answer's text: the first 16 hexadecimal digits of its sha256 in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_annotations(manifest: Manifest) -> Annotations:
    """Return the workspace's annotations; none if the manifest names no file, or it is not written yet.

    A file that did not change is not read again.

    Raises ManifestFault if the file's path is refused, InputFault if it cannot be read.
    """
    artifact = manifest.annotations
    path = None if artifact is None else path_to_read(manifest, artifact)
    if artifact is None or path is None:
        return Annotations()
    return _read(path, artifact.path, file_state(path))


@lru_cache(maxsize=4)
def _read(path: Path, file: str, state: str) -> Annotations:
    """Return the annotations of a file in this state."""
    return annotations_of(read_journal(path, file=file))


def annotations_of(read: Read) -> Annotations:
    """Return what counts in the lines of a journal. A line that comes again counts once."""
    issues = list(read[1])
    found: dict[str, Annotation] = {}
    for line in read[0]:
        if (issue := _unreadable(line)) is not None:
            issues.append(issue)
            continue
        entry = _annotation_of(line)
        if line.record.get("entry_id", entry.entry_id) != entry.entry_id:
            message = "the line was changed after it was written: its entry_id belongs to another content"
            issues.append(line.issue("edited_entry", message, "Restore the line, or add one of its own."))
        found.setdefault(entry.entry_id, entry)
    return replace(folded(found.values()), issues=tuple(sorted(issues, key=lambda each: each.source.line)))


def folded(annotations: Iterable[Annotation]) -> Annotations:
    """Return what counts of some annotations, in whatever order they come.

    Only the person who wrote a line can withdraw it.
    """
    entries = sorted(annotations, key=lambda each: each.order)
    withdrawn = {(each.author, each.withdraws) for each in entries if each.kind == "withdrawal"}
    verdicts: defaultdict[Target, dict[str, Annotation]] = defaultdict(dict)
    notes: defaultdict[Target, list[Annotation]] = defaultdict(list)
    assignees: dict[Target, str | None] = {}
    for each in entries:
        if (each.author, each.entry_id) in withdrawn:
            continue
        if each.kind == "verdict":
            verdicts[each.target][each.author] = each
        elif each.kind == "note":
            notes[each.target].append(each)
        elif each.kind == "assignment":
            assignees[each.target] = each.assignee
    return Annotations(
        entries=tuple(entries),
        verdicts=dict(verdicts),
        notes={target: tuple(each) for target, each in notes.items()},
        assignees={target: name for target, name in assignees.items() if name is not None},
        runs=frozenset(target.run_id for target in verdicts),
    )


def append(manifest: Manifest, *annotations: Annotation) -> tuple[Annotation, ...]:
    """Add annotations to the workspace's file and return them with times and ids; then they are on the disk.

    One without a time gets the present one. One that is there already is not added again, so that a save can
    be repeated and files can be joined. Raises InputFault, with nothing added, if one is not valid, if the
    file cannot be written, or if the manifest names none or states its hash; ManifestFault if the file's path
    is refused.
    """
    given = tuple(_complete(each) for each in annotations)
    if problems := [problem for each in given for problem in problems_of(each)]:
        raise InputFault(*problems)
    path = path_to_write(manifest, manifest.annotations, key="annotations", line=MANIFEST_LINE)
    with open_journal(path, file=path.name) as journal:
        known = {each.record.get("entry_id") for each in journal.read()[0]}
        lines = {each.entry_id: line_of(each) for each in given if each.entry_id not in known}
        journal.append_all(lines.values())
    return given


def refusal(manifest: Manifest) -> Problem | None:
    """Return why nobody can annotate the answers of this workspace; None if the manifest allows it."""
    return refusal_to_write(manifest, manifest.annotations, key="annotations", line=MANIFEST_LINE)


def problems_of(annotation: Annotation) -> tuple[Problem, ...]:
    """Return what is wrong with an annotation before it is written."""
    line, fix = line_of(annotation), "data/schemas/annotation-1.0.json describes every field"
    where = f"{annotation.kind} on {annotation.target.q_id} of {annotation.target.run_id}"
    try:
        orjson.dumps(line)
    except TypeError as error:
        message = f"it cannot be written as JSON: {error}"
        return (Problem("entry_not_json", message, where, "write texts without lone surrogates"),)
    return tuple(
        Problem(found.code, found.message, ", ".join(filter(None, (where, found.where))), fix)
        for found in schema_problems("annotation", line)
    )


def line_of(annotation: Annotation) -> dict[str, Json]:
    """Return the annotation as it is written, with its id."""
    content = _content(annotation)
    return {**content, "entry_id": annotation.entry_id or content_id(content)}


def now() -> str:
    """Return the present time as annotations have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _complete(annotation: Annotation) -> Annotation:
    dated = replace(annotation, at=annotation.at or now())
    return replace(dated, entry_id=content_id(_content(dated)))


def _content(each: Annotation) -> dict[str, Json]:
    """Return the fields of a line that its id follows from; those without a value are left out."""
    fields: dict[str, Any] = {
        "kind": each.kind,
        "run_id": each.target.run_id,
        "q_id": each.target.q_id,
        "paraphrase": each.target.paraphrase or None,
        "seed": each.target.seed or None,
        "at": each.at,
        "author": each.author,
        "answer": each.answer,
        "agrees": each.agrees,
        "correct": each.correct,
        "cause": each.cause,
        "label": each.label,
        "rules": dict(each.rules) or None,
        "tags": list(dict.fromkeys(each.tags)) or None,
        "text": each.text,
        "withdraws": each.withdraws,
    }
    content: dict[str, Json] = {name: value for name, value in fields.items() if value is not None}
    return content | ({"assignee": each.assignee} if each.kind == "assignment" else {})


def _annotation_of(line: Entry) -> Annotation:
    record: Mapping[str, Any] = line.record
    target = Target(record["run_id"], record["q_id"], record.get("paraphrase", 0), record.get("seed", 0))
    rest = {
        name: record[name]
        for name in ("answer", "agrees", *VERDICT_FIELDS, "rules", "text", "assignee", "withdraws")
        if name in record
    }
    annotation = Annotation(
        cast(AnnotationKind, record["kind"]),
        target,
        record["author"],
        record["at"],
        tags=tuple(record.get("tags", ())),
        source=line.source,
        **rest,
    )
    return replace(annotation, entry_id=content_id(_content(annotation)))


def _unreadable(line: Entry) -> LineIssue | None:
    """Return the issue of a line that is no annotation."""
    record = line.record
    if not validator("annotation").is_valid(record):
        found = schema_problems("annotation", record)[0]
        return line.issue(found.code, f"{found.where}: {found.message}".removeprefix(": "), _FIX)
    try:
        datetime.fromisoformat(str(record["at"]))
    except ValueError:
        return line.issue("bad_at", f"at is {record['at']!r}, which is no time of the calendar", _FIX)
    return None
