"""The fields of a complete pinning record, which depend on what its run uses, and those that it lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import Problem

#: A part of a pipeline that needs fields of its own.
Use = Literal["embedding", "reranker", "fusion", "faiss"]
USES: Final[tuple[Use, ...]] = get_args(Use)
#: The text for what a run does not have, such as the tokenizer of a model without one.
NONE: Final = "none"

_OF_MODEL: Final = (
    *("model", "revision", "weights.source", "weights.sha256", "tokenizer.sha256", "truncation"),
)
#: The fields of every record, and those of a use.
ALWAYS: Final = (
    *("libraries", "commands", "tie_break"),
    *("runtime.cpu", "runtime.os", "runtime.threads", "runtime.environment", "determinism.sha256"),
)
OF_USE: Final[Mapping[Use, tuple[str, ...]]] = {
    "embedding": tuple(f"embedding.{name}" for name in _OF_MODEL),
    "reranker": tuple(f"reranker.{name}" for name in _OF_MODEL),
    "fusion": tuple(f"fusion.{name}" for name in ("method", "k", "weights", "top")),
    "faiss": ("faiss.build", "faiss.index_type", "faiss.exact"),
}
#: The fields of the model that answers, which are needed where it is named at all.
_OF_READER: Final = ("reader.model", "reader.revision")

#: A text that somebody has to replace: `<version>`, `TODO: ask`, `tbd`, `?`, `…`.
_PLACEHOLDER = re.compile(
    r"\s*(?:<[^<>]*>|(?:todo|tbd|fixme|xxx)\b.*|[?.…_-]+)\s*", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """The fields that a record lacks, those with a placeholder, and the problems of the others' values."""

    missing: tuple[str, ...]
    placeholders: tuple[str, ...]
    malformed: tuple[Problem, ...]


def needed_fields(record: Mapping[str, Json], uses: Collection[Use]) -> tuple[str, ...]:
    """Return the fields of a complete record as paths, in the order of the schema."""
    of_uses = [field for use in USES if use in uses for field in OF_USE[use]]
    reader = _OF_READER if record.get("reader") else ()
    has_own = is_stated(at(record, "fusion.tie_break")) and "fusion" in uses
    return tuple(field for field in (*of_uses, *reader, *ALWAYS) if not (has_own and field == "tie_break"))


def stated_uses(record: Mapping[str, Json]) -> frozenset[Use]:
    """Return what a run uses by its record: it has the section, a store or a library of that name."""
    found: set[Use] = {use for use in USES if record.get(use) not in (None, NONE)}
    libraries = record.get("libraries")
    names = [str(name).lower() for name in libraries] if isinstance(libraries, dict) else []
    if is_faiss(at(record, "index.index_hash")) or any(name.startswith("faiss") for name in names):
        found.add("faiss")
    return frozenset(found)


def is_faiss(index_hash: Json) -> bool:
    """Return whether an index hash names FAISS as its store: `faiss:2f7d`."""
    return isinstance(index_hash, str) and index_hash.lower().partition(":")[0].strip().startswith("faiss")


def gaps(record: Mapping[str, Json], uses: Collection[Use]) -> Gaps:
    """Return what a record lacks for its uses, its placeholders, and what breaks the schema."""
    waiting = tuple(placeholders(record))
    needed = needed_fields(record, uses)
    missing = tuple(
        field
        for field in needed
        if not is_stated(at(record, field)) and not any(_is_below(field, each) for each in waiting)
    )
    problems = schema_problems("pinning", dict(record))
    malformed = tuple(each for each in problems if not any(_is_below(each.where, field) for field in waiting))
    return Gaps(missing, waiting, malformed)


def at(record: Mapping[str, Json], path: str) -> Json:
    """Return the value at a path such as `reranker.weights.sha256`, None without one.

    A part that is `none` has `none` everywhere below.
    """
    value: Json = record
    for name in path.split("."):
        if value == NONE:
            return NONE
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def is_stated(value: Json) -> bool:
    """Return whether a value says something: it is not null, blank or empty."""
    return (
        value is not None and value not in ("", [], {}) and not (isinstance(value, str) and value.isspace())
    )


def is_placeholder(value: Json) -> bool:
    """Return whether a value is a text that has to be replaced: `<version>`, `TODO`, `…`."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def placeholders(value: Json, path: str = "") -> Iterator[str]:
    """Yield the paths of all placeholders, entries of lists from 1: `commands[1]`."""
    inside: list[tuple[str, Any]] = []
    if isinstance(value, Mapping):
        inside = [(f"{path}.{name}" if path else str(name), each) for name, each in value.items()]
    elif isinstance(value, list):
        inside = [(f"{path}[{number}]", each) for number, each in enumerate(value, start=1)]
    elif is_placeholder(value):
        yield path
    for where, each in inside:
        if is_placeholder(where.rpartition(".")[2]):  # a name to replace, `libraries.<library>`
            yield where
        else:
            yield from placeholders(each, where)


def _is_below(path: str, parent: str) -> bool:
    """Return whether a path is another one, or inside of it, or around it."""
    short, long = sorted((path, parent), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")
