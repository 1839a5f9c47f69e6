"""Mapping files: YAML, checked against their JSON Schema and compiled, with a position for every problem."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path as FilePath
from typing import Any, TypeVar

import jsonschema_rs

from proofspan.contracts.records.schemas import schema
from proofspan.errors import InputFault, Problem
from proofspan.manifest.yaml_text import YamlText, read_yaml
from proofspan.traces.importers.conditions import Condition, conditions_from
from proofspan.traces.importers.field_getters import Getter, Kind, getter_from
from proofspan.traces.importers.joins import Join, join_from
from proofspan.traces.importers.paths import Path, parse_path

T = TypeVar("T")

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


_CHUNK = ("id", "text", "doc_id", "section_id", "page", "page_label", "bbox")
_CANDIDATE = ("id", "text", "doc_id", "section_id", "page", "page_label", "score", "bbox")
_CITED = ("id", "doc_id", "section_id", "page", "page_label", "quote", "bbox")
_GOLD = ("q", "q_id", "answer", "type", "sections", "paraphrases")


@dataclass(frozen=True, slots=True)
class Group:
    """Fields that are read from one item; `each` leads from the item above to the items.

    `key` is the group's place in the mapping, under which `each` and `where` are counted.
    """

    fields: Fields
    key: str = ""
    each: Path | None = None
    joins: tuple[Join, ...] = ()
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportMapping:
    """A whole mapping. `value` is the mapping as written; `records`, `where` and `group_by` are compiled.

    `groups` are its groups of fields by their place: `traces`, `traces.fields`, `traces.stages.NAME`,
    `traces.citations`, `gold`, `gold.spans` and `chunks`. `keys` are the keys of every field and `each`, in
    the mapping's order; `lists` has the path, as written, of every `each`.
    """

    value: Mapping[str, Any]
    records: Path | None
    where: tuple[Condition, ...]
    group_by: tuple[Path, ...]
    groups: Mapping[str, Group]
    keys: Sequence[str]
    lists: Mapping[str, str]


def load_mapping(file: FilePath) -> ImportMapping:
    """Return the mapping in `file`. Raises a Fault with all its problems, each with line and column."""
    text = read_yaml(file)
    problems = [_problem(error, text) for error in _validator().iter_errors(text.value)]
    if problems:
        raise InputFault(*problems)

    def report(at: list[str], message: str) -> None:
        fix = "see the description in data/schemas/mapping-1.0.json for how paths are written"
        problems.append(Problem("mapping_field", f"`{'.'.join(at)}` {message}", text.place(at), fix))

    def compiled(value: Mapping[str, Any], name: str, at: list[str], make: Callable[[Any], T]) -> T | None:
        try:
            return make(value[name]) if name in value else None
        except ValueError as error:
            report([*at, name], str(error))
            return None

    def check(path: Path | None, known: Collection[str], at: list[str]) -> None:
        if path is not None and path.join is not None and path.join not in known:
            names = ", ".join(f"`{each}`" for each in known) or "no join"
            report(at, f"names the join {path.join!r}; known here: {names}")

    value: Mapping[str, Any] = text.value
    traces, gold = value.get("traces", {}), value.get("gold", {})
    stages, seen = traces.get("stages", {}), traces.get("seen")
    records = compiled(value, "records", [], parse_path)
    where = compiled(value, "where", [], conditions_from) or ()
    group_by = compiled(value, "group_by", [], _paths) or ()
    for path in (records, *(each.path for each in where), *group_by):
        check(path, (), ["records"])
    if seen is not None and seen not in stages:
        report(["traces", "seen"], f"names the stage {seen!r}, which is not in `stages`")
    parts: list[tuple[list[str], Mapping[str, Any] | None, tuple[str, ...] | None]] = [
        (["traces"], value.get("traces"), ("q", "q_id", "answer", "run")),
        (["traces", COPIED], traces.get(COPIED), None),
        *((["traces", "stages", name], stage, _CANDIDATE) for name, stage in stages.items()),
        (["traces", "citations"], traces.get("citations"), _CITED),
        (["gold"], value.get("gold"), _GOLD),
        (["gold", "spans"], gold.get("spans"), ("doc_id", "page", "quote")),
        (["chunks"], value.get("chunks"), _CHUNK),
    ]
    groups: dict[str, Group] = {}
    keys = [name for name in ("where", "group_by") if name in value]
    lists: dict[str, str] = {}
    joined: dict[str, tuple[str, ...]] = {}
    for at, part, names in parts:
        if part is None:
            continue
        place, each, fields = ".".join(at), None, []
        known = joined.get(at[0], ())
        joins: list[Join] = []
        conditions: tuple[Condition, ...] = ()
        if names is not None:
            if (each := compiled(part, "each", at, parse_path)) is not None:
                keys.append(f"{place}.each")
                lists[f"{place}.each"] = part["each"]
                check(each, known, [*at, "each"])
            for name, spec in part.get("join", {}).items():
                keys.append(key := f"{place}.join.{name}")
                join = compiled({name: spec}, name, [*at, "join"], partial(join_from, name, key))
                if join is not None:
                    joins.append(join)
                    check(join.source, known, [*at, "join", name])
            known = (*known, *part.get("join", {}))
            if at == ["traces"] or at == ["gold"]:
                joined[at[0]] = known
            if "where" in part:
                keys.append(f"{place}.where")
                conditions = compiled(part, "where", at, conditions_from) or ()
                for condition in conditions:
                    check(condition.path, known, [*at, "where"])
        for name in part if names is None else (name for name in names if name in part):
            kind = "any" if names is None else KINDS.get(name, "name")
            keys.append(f"{place}.{name}")
            getter = compiled(part, name, at, partial(getter_from, f"{place}.{name}", kind))
            if getter is not None:
                fields.append((name, getter))
                check(getter.path, known, [*at, name])
        groups[place] = Group(tuple(fields), place, each, tuple(joins), conditions)
    if problems:
        raise InputFault(*problems)
    return ImportMapping(value, records, where, group_by, groups, keys, lists)


def _paths(spec: str | list[str]) -> tuple[Path, ...]:
    return tuple(parse_path(each) for each in (spec if isinstance(spec, list) else [spec]))


@lru_cache(maxsize=1)
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema("mapping"))


def _problem(error: jsonschema_rs.ValidationError, text: YamlText) -> Problem:
    path = list(error.instance_path)
    key = ".".join(map(str, path))
    fixes = {
        "page": "write {path: …, base: 0} or base: 1: the source's number of a document's first page",
        "where": "write {path: …} with equals, in or exists, or {not: {…}}, or a list of these",
        "bbox": "write {path: …, space: …}: points, unit (0 to 1) or per_mille (0 to 1000)",
    }
    fix = fixes.get(str(path[-1]) if path else "")
    return Problem(
        "mapping_schema",
        f"`{key}`: {error.message}" if key else error.message,
        where=text.place(path),
        fix=fix or "see data/schemas/mapping-1.0.json and the examples in data/mappings",
    )
