"""The context that a record is compared with, and how messages show a record's values."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.records.records import Json
from proofspan.wording import counted

#: How many characters of a value a message shows.
SHOWN = 80


@dataclass(frozen=True, slots=True)
class Context:
    """The known facts about the run of a record; those that are None or empty are not compared.

    `index_hash`, `embed_model` and `analyzer` are those that the run pins, `revs` the revision of each
    document by `doc_id`, `corpus` the ids of the chunk file. With `allow_cross` a segment may cite any
    sections together; the sections in `cross_sections` may be cited beside any other. With `is_foreign` the
    records are another tool's: only one that names the contract's schema owes what the contract requires of
    logging.
    """

    index_hash: str | None = None
    embed_model: str | None = None
    analyzer: str | None = None
    revs: Mapping[str, str] = field(default_factory=dict)
    corpus: Container[str] | None = None
    allow_cross: bool = False
    cross_sections: frozenset[str] = frozenset()
    is_foreign: bool = False


NO_CONTEXT = Context()


def shown(value: Json) -> str:
    """Return a value as messages show it: text quoted and cut to `SHOWN` characters, containers by size."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"an object of {counted(len(value), 'key')}" if value else "an object without keys"
    if isinstance(value, list):
        return f"a list of {counted(len(value), 'entry', 'entries')}" if value else "a list without entries"
    return "null" if value is None else str(value)[:SHOWN]
