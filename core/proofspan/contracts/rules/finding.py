"""What is wrong with a record, as data: a code, the field, a sentence; the code knows its next step.

Nothing here reads a file. A finding is about one record (or one entry inside it); where the record stands is
said by whoever read it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Rule, Severity, rule_of

#: An entry of a list, by its place from 1, and a finding whose field is one of its keys.
Placed = tuple[int, "Finding"]

#: So many characters of a value are shown in a message.
SHOWN = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach of the contract.

    `field` is the place inside the record, `citations[2].offsets`, list positions from 1; "" for the record
    as a whole. `message` is one sentence with the values that are wrong. `record_id` names the record (a
    chunk id, a q_id) where it has a name.
    """

    code: str
    field: str
    message: str
    record_id: str = ""

    @property
    def rule(self) -> Rule:
        """The rule that the record breaks."""
        return rule_of(self.code)

    @property
    def severity(self) -> Severity:
        """Whether the record breaks what is required, or only what is recommended."""
        return self.rule.severity

    @property
    def next_step(self) -> str:
        """What to do about it, in one sentence."""
        return self.rule.next_step

    def inside(self, place: str) -> Finding:
        """The same finding as seen from the record that holds this one at `place`."""
        parted = "." if self.field and not self.field.startswith("[") else ""
        return replace(self, field=f"{place}{parted}{self.field}")


def shown(value: Json) -> str:
    """A value as a message shows it: text in quotes and cut to `SHOWN` characters, a list by its kind."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        is_object, number = isinstance(value, dict), len(value)
        kind, one, more = ("an object", "key", "keys") if is_object else ("a list", "entry", "entries")
        of = one if number == 1 else more
        return f"{kind} of {number:,} {of}" if value else f"{kind} without {of}"
    return "null" if value is None else str(value)[:SHOWN]


# What a record is held against besides itself: the run's pins, the revisions, the corpus, the whitelist.


@dataclass(frozen=True, slots=True)
class Context:
    """None, or empty, where nothing is known: what cannot be compared is no finding.

    `index_hash`, `embed_model` and `analyzer` are those that the run pins (the live ones), `revs` the
    revision of each document by `doc_id`, `corpus` the ids of the chunk file. `allow_cross` True lets a
    segment cite any sections together; the sections in `cross_sections` may be cited beside any other.
    """

    index_hash: str | None = None
    embed_model: str | None = None
    analyzer: str | None = None
    revs: Mapping[str, str] = field(default_factory=dict)
    corpus: Container[str] | None = None
    allow_cross: bool = False
    cross_sections: frozenset[str] = frozenset()


#: Nothing is known.
NO_CONTEXT = Context()
