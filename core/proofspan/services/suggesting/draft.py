"""Write a guess as a mapping in YAML, with how often each field is there and an example in comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path as FilePath
from typing import Final

import orjson

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.services.suggesting.guesses import Found, Guess, ListGuess, guessed
from proofspan.services.suggesting.shapes import Node, node_of
from proofspan.traces.formats.table import plain_name
from proofspan.traces.importers.paths import Path
from proofspan.traces.importers.sources import ROWS, Noticed, Source
from proofspan.wording import counted

#: How many records are looked at.
SAMPLED: Final = 200
#: How many fields without a part are listed, and how many characters of an example are shown.
_LISTED, _SHOWN = 20, 60
_PLAIN = re.compile(r"[A-Za-z_$][\w.$=-]*")
_WORDS = frozenset({"true", "false", "null", "~", "True", "False", "Null", "TRUE", "FALSE", "NULL"})
#: The name of a document at the end of a path, without `.pdf`.
_NAME_PATTERN = r"([^/\\]+?)(?:\.[Pp][Dd][Ff])?$"
_STAGES = ("retrieved", "fused", "reranked")
_CITED = ("doc_id", "section_id", "page", "page_label", "text")


def suggested(source: FilePath) -> tuple[str, bool]:
    """Return a mapping for a source, and whether it can be imported as it is.

    Raises InputFault for a source that is neither JSON nor a table, or holds no record.
    """
    noticed = Noticed()
    values = [value for _, value in islice(Source(source).records(noticed), SAMPLED)]
    if not values:
        if noticed.issues or noticed.problems:
            raise InputFault(*noticed.issues[:5], *noticed.problems[:5])
        fix = "Name a file with records: JSON, JSONL, CSV or Parquet."
        raise InputFault.of("nothing_there", "holds no record", where=str(source), fix=fix)
    at, records, guess = _records(values)
    return "\n".join(_lines(source, at, len(records.values), guess)) + "\n", _can_be_imported(guess)


def _records(values: list[Json]) -> tuple[Path | None, Node, Guess]:
    """Return the path of the records, their shape and the guess: of one object, the list with most parts."""
    whole = node_of(values)
    choices: list[tuple[Path | None, Node]] = [(None, whole)]
    if len(values) == 1:
        for entry in whole.lists():
            if entry.keys:
                choices.append((entry.path_below(whole), node_of(entry.values)))
    guesses = [(at, node, guessed(node)) for at, node in choices]
    return max(guesses, key=lambda each: _worth(each[2]))


def _worth(guess: Guess) -> tuple[int, ...]:
    parts = len(guess.fields) + len(guess.lists) + (guess.expected is not None)
    return (guess.has_traces, guess.has_gold, _can_be_imported(guess), parts)


def _can_be_imported(guess: Guess) -> bool:
    return guess.has_traces or guess.has_gold or _has_chunks(guess)


def _has_chunks(guess: Guess) -> bool:
    return "q" not in guess.fields and "text" in guess.fields


def _lines(source: FilePath, at: Path | None, count: int, guess: Guess) -> Iterator[str]:
    yield f"# A first mapping of {shown(source.name)}, guessed from {counted(count, 'record')}."
    yield "# Behind each line: in how many of them its field is, and an example. What is unsure is a comment."
    yield 'mapping_version: "1.0"'
    yield f"name: {quoted(source.stem[:100])}"
    if at is not None:
        yield f"records: {quoted(str(at))}"
    if guess.group_by is not None:
        yield f"group_by: {quoted(str(guess.group_by))}  # several records are one question: its chunks"
    rows = guess.group_by is not None
    if guess.has_traces:
        yield "run: {run_id: R001}"
        yield "triage: {template: none}  # the answers need no `citations: [id, ...]`"
        yield "traces:"
        for part in ("q_id", "q", "answer"):
            if part in guess.fields:
                yield from _field(part, guess.fields[part], 1, rows=rows)
            elif part == "answer":
                yield "  # answer: no field looks like an answer; write its path here"
            elif part == "q_id":
                yield "  # q_id: the id of a question; without one it is made of the question's text"
        yield from _stages(guess, rows=rows)
        if (cited := guess.lists.get("citations")) is not None:
            yield from _cited(cited)
        yield from _others(guess, rows=rows)
    elif _has_chunks(guess):
        yield "chunks:"
        for part, found in guess.fields.items():
            if part != "score":
                yield from _field(part, found, 1)
    if guess.has_gold:
        yield from _gold(guess, rows=rows)
    if not _can_be_imported(guess):
        yield "run: {run_id: R001}"
        yield "traces:"
        yield "  # q: no field looks like a question; write its path here"
        yield from _others(guess)
    yield from _documents(guess)


def _stages(guess: Guess, *, rows: bool) -> Iterator[str]:
    stages = [stage for stage in _STAGES if stage in guess.lists]
    if not stages:
        yield "  # stages: no list looks like chunks"
        return
    yield "  stages:"
    for stage in stages:
        listed = guess.lists[stage]
        yield f"    {stage}:"
        yield f"      each: {quoted(f'{ROWS}[]' if rows else str(listed.each.path))}{_share(listed.each)}"
        if listed.joins:
            yield "      join:"
            for name, path in listed.joins.items():
                yield f"        {name}: {{from: {quoted(str(path), flow=True)}}}  # as long as `each`"
        for part, found in listed.fields.items():
            yield from _field(part, found, 3)
    yield f"  seen: {stages[-1]}  # what the answerer saw"


def _cited(cited: ListGuess) -> Iterator[str]:
    yield "  citations:"
    yield f"    each: {quoted(str(cited.each.path))}{_share(cited.each)}"
    for part in _CITED:
        if part in cited.fields:
            yield from _field("quote" if part == "text" else part, cited.fields[part], 2)


def _gold(guess: Guess, *, rows: bool) -> Iterator[str]:
    yield "gold:"
    for part in ("q_id", "q"):
        if part in guess.fields:
            yield from _field(part, guess.fields[part], 1, rows=rows)
    if guess.expected is not None:
        yield from _field("answer", guess.expected, 1, rows=rows)
    elif not guess.has_traces and "answer" in guess.fields:
        yield from _field("answer", guess.fields["answer"], 1, rows=rows)
    if (listed := guess.lists.get("gold")) is not None:
        can_be = {"doc_id", "text"} <= listed.fields.keys()
        mark = "" if can_be else "# "
        note = "" if can_be else "; spans need a document and a quote"
        yield f"  {mark}spans:"
        yield f"  {mark}  each: {quoted(str(listed.each.path))}{_share(listed.each)}{note}"
        for part in ("doc_id", "page", "text"):
            if part in listed.fields:
                for line in _field("quote" if part == "text" else part, listed.fields[part], 2):
                    yield line if can_be else f"  # {line[2:]}"


def _others(guess: Guess, *, rows: bool = False) -> Iterator[str]:
    fields = [(note, found) for note, found in guess.others if not note]
    for note, found in [each for each in guess.others if each[0]][:_LISTED]:
        yield f"  # {note}: {quoted(str(found.path))}{_share(found)}"
    if fields:
        yield "  # fields:  # copied as they are"
    names: set[str] = set()
    for _, found in fields[:_LISTED]:
        keys = [each for each in found.path.steps if isinstance(each, str)]
        name = plain_name(keys[-1]) or "field"
        if name in names:
            name = "_".join(filter(None, map(plain_name, keys)))
        while name in names:
            name += "_2"
        names.add(name)
        yield f"  #   {name}: {quoted(str(_in_rows(found.path, rows)))}{_share(found)}"
    if len(fields) > _LISTED:
        yield f"  #   ... and {len(fields) - _LISTED:,} more"


def _in_rows(path: Path, rows: bool) -> Path:
    return Path((ROWS, 0, *path.steps)) if rows else path


def _documents(guess: Guess) -> Iterator[str]:
    parts = [listed.fields for listed in guess.lists.values()]
    if _has_chunks(guess):
        parts.append(guess.fields)
    named = [each for each in parts if "doc_id" in each]
    is_pdf = any("page" in each or each["doc_id"].is_located for each in named)
    if not named and _has_chunks(guess):
        yield "  # doc_id: {const: NAME}  # of which document?"
    if named:
        mark = "" if is_pdf else "# "
        yield f"{mark}documents:"
        yield f'{mark}  pattern: "{{doc_id}}.pdf"  # below the source\'s folder; or name --documents DIR'


def _field(part: str, found: Found, level: int, *, rows: bool = False) -> Iterator[str]:
    path = _in_rows(found.path, rows)
    value = quoted(str(path))
    flow = quoted(str(path), flow=True)
    unsure = found.unsure
    if part == "page":
        value = f"{{path: {flow}, base: {1 if found.base is None else found.base}}}"
    elif part == "doc_id" and found.is_located:
        value = f"{{path: {flow}, regex: '{_NAME_PATTERN}'}}"
    mark = "# " if unsure else ""
    yield f"{'  ' * level}{mark}{part}: {value}{_share(found)}{f'; {unsure}' if unsure else ''}"


def _share(found: Found) -> str:
    example = "" if found.example is None else f"; {shown(found.example)}"
    return f"  # {found.found:,} of {found.of:,}{example}"


def shown(value: Json) -> str:
    """Return a value for a comment: one line, short, and nothing that acts on a terminal or ends the line."""
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode("utf-8", "replace")
    plain = "".join(each if each.isprintable() else " " for each in text[: 4 * _SHOWN])
    plain = " ".join(plain.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"


def quoted(text: str, *, flow: bool = False) -> str:
    """Return a text as YAML that is read back as it is; `flow`: within braces."""
    plain = text if flow else text.replace("[", "").replace("]", "")
    if _PLAIN.fullmatch(plain) and text[:1] not in "[]" and text not in _WORDS:
        return text
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08X}" for each in escaped)
