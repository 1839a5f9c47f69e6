"""Reads a mapping file: YAML, JSON Schema, paths and patterns, with a place for every complaint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

import jsonschema_rs

from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import schema
from proofspan.errors import InputFault, Problem
from proofspan.manifest.yaml_text import YamlText, read_yaml
from proofspan.traces.importers.field_getters import Getter, Kind, Path, getter_from, parse_path

KINDS: dict[str, Kind] = {
    "q": "text",
    "answer": "text",
    "text": "text",
    "quote": "text",
    "page": "page",
    "bbox": "box",
    "score": "number",
    "sections": "texts",
    "paraphrases": "texts",
}
#: Whole group of fields that are copied as they are.
COPIED = "fields"

#: A group's fields in order: (name in the native record, how to read it).
Fields = tuple[tuple[str, Getter], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Several fields that are read from one item; `each` leads from the item above to its own items.

    `key` is the place of `each` in the mapping, under which it is counted.
    """

    fields: Fields
    each: Path | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class TraceMapping:
    """Where traces stand. `seen` names the stage whose chunks become the trace's `chunks`."""

    own: Group
    copied: Fields
    stages: Mapping[str, Group]
    seen: str | None
    citations: Group | None


@dataclass(frozen=True, slots=True)
class GoldMapping:
    """Where gold questions stand. `source` is a file beside the traces' one, None for that one itself."""

    own: Group
    spans: Group | None
    spans_as_chunks: bool
    source: str | None


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """A whole mapping. `run` and `triage` go into the manifest as they are."""

    name: str
    records: Path | None
    run: Mapping[str, Json]
    triage: Mapping[str, Json]
    traces: TraceMapping | None
    gold: GoldMapping | None
    chunks: Group | None = None
    pattern: str | None = None
    paged: bool = True
    keys: tuple[str, ...] = field(default=())  # every field's and `each`'s key, in the mapping's order
    lists: Mapping[str, str] = field(default_factory=dict)  # key of each `each` → the path as it is written


def load_mapping(file: FilePath) -> ImportMapping:
    """The mapping in `file`. Raises a Fault with every problem at once, each with line, column and remedy."""
    text = read_yaml(file)
    errors = [_problem(error, text) for error in _validator().iter_errors(text.value)]
    if errors:
        raise InputFault(*errors)
    compiler = _Compiler(text)
    mapping = compiler.mapping(text.value)
    if compiler.problems:
        raise InputFault(*compiler.problems)
    return mapping


@lru_cache(maxsize=1)
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema("mapping"))


def _problem(error: jsonschema_rs.ValidationError, text: YamlText) -> Problem:
    path = list(error.instance_path)
    key = ".".join(str(step) for step in path)
    fix = "see data/schemas/mapping-1.0.json and the examples in data/mappings"
    if path and path[-1] == "page":
        fix = "write {path: …, base: 0} or base: 1: what the source calls a document's first page"
    if path and path[-1] == "bbox":
        fix = "write {path: …, space: …}: points, unit (0 to 1) or per_mille (0 to 1000)"
    message = f"`{key}`: {error.message}" if key else error.message
    return Problem("mapping_schema", message, where=text.place(path), fix=fix)


class _Compiler:
    """Turns the checked value into getters and collects what is wrong with its paths and patterns."""

    def __init__(self, text: YamlText) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.keys: list[str] = []
        self.lists: dict[str, str] = {}

    def mapping(self, value: Mapping[str, Any]) -> ImportMapping:
        documents = value.get("documents", {})
        return ImportMapping(
            name=value["name"],
            records=self._path(value, "records", []),
            run=value.get("run", {}),
            triage=value.get("triage", {}),
            traces=self._traces(value["traces"]) if "traces" in value else None,
            gold=self._gold(value["gold"]) if "gold" in value else None,
            chunks=self._chunks(value["chunks"]) if "chunks" in value else None,
            pattern=documents.get("pattern"),
            paged=documents.get("paged", True),
            keys=tuple(self.keys),
            lists=self.lists,
        )

    def _traces(self, value: Mapping[str, Any]) -> TraceMapping:
        at = ["traces"]
        stages = value.get("stages", {})
        missing = value.get("seen") if value.get("seen") not in stages else None
        if missing:
            self._complain([*at, "seen"], f"names the stage {missing!r}, which `stages` does not have")
        return TraceMapping(
            own=self._group(value, at, ("q", "q_id", "answer")),
            copied=self._fields(value.get(COPIED, {}), [*at, COPIED], None),
            stages={name: self._candidates(stages[name], [*at, "stages", name]) for name in stages},
            seen=value.get("seen"),
            citations=self._citations(value["citations"]) if "citations" in value else None,
        )

    def _candidates(self, value: Mapping[str, Any], at: list[str]) -> Group:
        return self._group(
            value, at, ("id", "text", "doc_id", "section_id", "page", "page_label", "score", "bbox")
        )

    def _chunks(self, value: Mapping[str, Any]) -> Group:
        names = ("id", "text", "doc_id", "section_id", "page", "page_label", "bbox")
        return self._group(value, ["chunks"], names)

    def _citations(self, value: Mapping[str, Any]) -> Group:
        names = ("id", "doc_id", "section_id", "page", "page_label", "quote", "bbox")
        return self._group(value, ["traces", "citations"], names)

    def _gold(self, value: Mapping[str, Any]) -> GoldMapping:
        spans = value.get("spans")
        names = ("q", "q_id", "answer", "type", "sections", "paraphrases")
        return GoldMapping(
            own=self._group(value, ["gold"], names),
            spans=self._group(spans, ["gold", "spans"], ("doc_id", "page", "quote")) if spans else None,
            spans_as_chunks=bool(spans and spans.get("as_chunks")),
            source=value.get("source"),
        )

    def _group(self, value: Mapping[str, Any], at: list[str], names: Iterable[str]) -> Group:
        each, key = self._path(value, "each", at), ".".join([*at, "each"])
        if each is not None:
            self.keys.append(key)
            self.lists[key] = value["each"]
        return Group(self._fields(value, at, names), each, key)

    def _fields(self, value: Mapping[str, Any], at: list[str], names: Iterable[str] | None) -> Fields:
        """The getters of the named fields; without names, of all, copied as they are."""
        found = []
        for name in value if names is None else (name for name in names if name in value):
            kind = "any" if names is None else KINDS.get(name, "name")
            key = ".".join([*at, name])
            self.keys.append(key)
            try:
                found.append((name, getter_from(key, kind, value[name])))
            except ValueError as error:
                self._complain([*at, name], str(error))
        return tuple(found)

    def _path(self, value: Mapping[str, Any], name: str, at: list[str]) -> Path | None:
        if name not in value:
            return None
        try:
            return parse_path(value[name])
        except ValueError as error:
            self._complain([*at, name], str(error))
            return None

    def _complain(self, at: list[str], message: str) -> None:
        where = self.text.place(at)
        fix = "see the description in data/schemas/mapping-1.0.json for how paths are written"
        self.problems.append(Problem("mapping_field", f"`{'.'.join(at)}` {message}", where, fix))
