"""A summary of what was opened: the formats, what was understood, the documents, and the notes on pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from proofspan.errors import printable
from proofspan.manifest.paths import OPENED
from proofspan.services.opening.documents import Found
from proofspan.services.opening.open import Opened
from proofspan.wording import counted

#: How many fields, names and problems a summary in words lists; others are counted.
MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A source: its file, its format and why, its records and those lost, and its fields by their counts."""

    file: str
    format: str
    why: str
    records: int
    lost: int
    understood: Mapping[str, int]
    left: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcome of an opening, made of what (`key`), with which PDFs beside it (`beside`).

    `missing` are documents that were named and not found, `ambiguous` those that several files could be,
    `refused` the folders whose files were not confirmed. `unknown` are files of no known format. `notes` are
    sentences on pages.
    """

    key: str
    beside: str
    questions: int
    chunks: int
    parts: tuple[Part, ...]
    documents: int
    missing: tuple[str, ...]
    ambiguous: tuple[str, ...]
    refused: tuple[str, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    more_problems: int

    @property
    def is_complete(self) -> bool:
        """Return whether every document that was named was found."""
        return not (self.missing or self.ambiguous or self.refused)


def summary_of(
    made_from: tuple[str, str], opened: Opened, found: Found, *, unknown: Sequence[Path], notes: Sequence[str]
) -> Summary:
    """Return the summary of what was opened; `made_from` are its `key` and `beside`."""
    report = opened.report
    return Summary(
        key=made_from[0],
        beside=made_from[1],
        questions=report.traces,
        chunks=report.chunks,
        parts=tuple(
            Part(
                source.path.name,
                source.found.format.title,
                source.found.why,
                reading.records,
                reading.lost,
                _by_count(reading.understood),
                _by_count(reading.left),
            )
            for source, reading in zip(opened.sources, opened.readings, strict=True)
        ),
        documents=len(report.documents),
        missing=tuple(each.doc_id for each in report.missing),
        ambiguous=tuple(sorted(found.ambiguous)),
        refused=tuple(sorted({str(folder) for folder in found.refused.values()})),
        unknown=tuple(each.name for each in unknown),
        notes=tuple(notes),
        problems=tuple(map(str, report.problems)),
        more_problems=sum(reading.not_listed for reading in opened.readings),
    )


def lines_of(summary: Summary, *, lists_all: bool = False) -> Iterator[str]:
    """Yield the summary in words, a line each; every name and problem with `lists_all`."""
    most = None if lists_all else MOST_NAMED
    for part in summary.parts:
        yield f"{part.file}: recognized as {part.format}: {part.why}"
        lost = f", {part.lost:,} not usable" if part.lost else ""
        yield f"  {counted(part.records, 'record')}{lost} · understood: {_fields(part.understood, most)}"
        if part.left:
            yield f"  not understood: {_fields(part.left, most)}"
    if summary.unknown:
        yield f"{counted(len(summary.unknown), 'file')} of no known format: {_names(summary.unknown, most)}"
    present = summary.documents - len(summary.missing)
    documents = f", {present:,} of {counted(summary.documents, 'document')}" if summary.documents else ""
    yield f"{counted(summary.questions, 'question')}, {counted(summary.chunks, 'passage')}{documents}"
    if summary.missing:
        names = f": {', '.join(summary.missing)}" if lists_all or len(summary.missing) == 1 else ""
        remedy = "name their PDFs, or their folder with --documents DIR"
        remedy += "" if names else "; --list names them"
        yield f"{counted(len(summary.missing), 'document')} not found{names} — {remedy}"
    if summary.ambiguous:
        yield f"several different files could be {_names(summary.ambiguous, most)} — name the right one"
    for folder in summary.refused:
        yield f"links to {folder} were not followed — confirm them with --trust-roots"
    yield from summary.notes
    yield from summary.problems[:most]
    if (more := len(summary.problems[most:]) * (most is not None) + summary.more_problems) > 0:
        yield f"… and {counted(more, 'more problem')}{'' if lists_all else '; --list lists them'}"


def write(summary: Summary, folder: Path) -> None:
    """Keep the summary in its workspace, so that it is shown when the same is opened again."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    (folder / OPENED).write_bytes(orjson.dumps(asdict(summary), option=options))


def read(folder: Path) -> Summary | None:
    """Return the summary of a workspace; None where it has none that can be read."""
    try:
        values: dict[str, Any] = orjson.loads((folder / OPENED).read_bytes())
        parts = tuple(Part(**each) for each in values.pop("parts"))
        for name, value in values.items():
            values[name] = tuple(value) if isinstance(value, list) else value
        return Summary(parts=parts, **values)
    except (OSError, orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        return None


def tools_of(folder: Path) -> tuple[str, ...]:
    """Return the formats of the files that a workspace was made of, each once; () of any other."""
    summary = read(folder)
    return tuple(dict.fromkeys(str(part.format) for part in summary.parts)) if summary else ()


def _by_count(fields: Counter[str]) -> dict[str, int]:
    return dict(sorted(fields.items(), key=lambda item: (-item[1], item[0])))


def _fields(fields: Mapping[str, int], most: int | None) -> str:
    ordered = sorted(fields.items(), key=lambda item: (-item[1], item[0]))
    return _names([f"{name} {count:,}" for name, count in ordered], most) or "nothing"


def _names(names: Sequence[str], most: int | None) -> str:
    more = len(names[most:]) if most is not None else 0
    return ", ".join(map(printable, names[:most])) + (f" and {more:,} more" if more else "")
