"""Mapping files: YAML, checked against their JSON Schema and compiled, with a position for every problem."""

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
#: The group of fields that are copied unchanged.
COPIED = "fields"

#: A group's fields in order: (name in the native record, getter).
Fields = tuple[tuple[str, Getter], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that are read from one item; `each` leads from the item above to the items.

    `key` is the place of `each` in the mapping, under which it is counted.
    """

    fields: Fields
    each: Path | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class TraceMapping:
    """The mapping of traces. `seen` names the stage whose chunks become the trace's `chunks`."""

    own: Group
    copied: Fields
    stages: Mapping[str, Group]
    seen: str | None
    citations: Group | None


@dataclass(frozen=True, slots=True)
class GoldMapping:
    """The mapping of gold questions. `source` is a file beside the main source, None for that one."""

    own: Group
    spans: Group | None
    spans_as_chunks: bool
    source: str | None


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """A whole mapping. `run` and `triage` are copied into the manifest.

    `keys` are the keys of every field and `each`, in the mapping's order; `lists` has the path, as written,
    of every `each`.
    """

    name: str
    records: Path | None
    run: Mapping[str, Json]
    triage: Mapping[str, Json]
    traces: TraceMapping | None
    gold: GoldMapping | None
    chunks: Group | None = None
    pattern: str | None = None
    paged: bool = True
    keys: tuple[str, ...] = ()
    lists: Mapping[str, str] = field(default_factory=dict)


def load_mapping(file: FilePath) -> ImportMapping:
    """Return the mapping in `file`. Raises a Fault with all its problems, each with line and column."""
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
    key = ".".join(map(str, path))
    fixes = {
        "page": "write {path: …, base: 0} or base: 1: the source's number of a document's first page",
        "bbox": "write {path: …, space: …}: points, unit (0 to 1) or per_mille (0 to 1000)",
    }
    fix = fixes.get(str(path[-1]) if path else "")
    return Problem(
        "mapping_schema",
        f"`{key}`: {error.message}" if key else error.message,
        where=text.place(path),
        fix=fix or "see data/schemas/mapping-1.0.json and the examples in data/mappings",
    )


class _Compiler:
    """Compiles the validated value into getters and collects the problems of its paths and patterns."""

    def __init__(self, text: YamlText) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.keys: list[str] = []
        self.lists: dict[str, str] = {}

    def mapping(self, value: Mapping[str, Any]) -> ImportMapping:
        documents = value.get("documents", {})
        chunk_names = ("id", "text", "doc_id", "section_id", "page", "page_label", "bbox")
        return ImportMapping(
            name=value["name"],
            records=self._path(value, "records", []),
            run=value.get("run", {}),
            triage=value.get("triage", {}),
            traces=self._traces(value["traces"]) if "traces" in value else None,
            gold=self._gold(value["gold"]) if "gold" in value else None,
            chunks=self._group(value["chunks"], ["chunks"], chunk_names) if "chunks" in value else None,
            pattern=documents.get("pattern"),
            paged=documents.get("paged", True),
            keys=tuple(self.keys),
            lists=self.lists,
        )

    def _traces(self, value: Mapping[str, Any]) -> TraceMapping:
        at = ["traces"]
        stages, seen, citations = value.get("stages", {}), value.get("seen"), value.get("citations")
        if seen not in stages and seen is not None:
            self._report([*at, "seen"], f"names the stage {seen!r}, which is not in `stages`")
        candidate = ("id", "text", "doc_id", "section_id", "page", "page_label", "score", "bbox")
        cited = ("id", "doc_id", "section_id", "page", "page_label", "quote", "bbox")
        return TraceMapping(
            own=self._group(value, at, ("q", "q_id", "answer")),
            copied=self._fields(value.get(COPIED, {}), [*at, COPIED], None),
            stages={name: self._group(stages[name], [*at, "stages", name], candidate) for name in stages},
            seen=seen,
            citations=None if citations is None else self._group(citations, [*at, "citations"], cited),
        )

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
        """Compile the named fields; without names, all of them, to be copied unchanged."""
        fields = []
        for name in value if names is None else (name for name in names if name in value):
            kind = "any" if names is None else KINDS.get(name, "name")
            key = ".".join([*at, name])
            self.keys.append(key)
            try:
                fields.append((name, getter_from(key, kind, value[name])))
            except ValueError as error:
                self._report([*at, name], str(error))
        return tuple(fields)

    def _path(self, value: Mapping[str, Any], name: str, at: list[str]) -> Path | None:
        try:
            return parse_path(value[name]) if name in value else None
        except ValueError as error:
            self._report([*at, name], str(error))
            return None

    def _report(self, at: list[str], message: str) -> None:
        fix = "see the description in data/schemas/mapping-1.0.json for how paths are written"
        where = self.text.place(at)
        self.problems.append(Problem("mapping_field", f"`{'.'.join(at)}` {message}", where, fix))
