"""What is usual in a run: its state of memory, and its unit of offsets. A record that differs is a finding.

Only the whole run tells what is usual, so one pass counts, and where something differs a second names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.records import Json
from proofspan.contracts.values import OFFSET_UNITS, text_of
from proofspan.store.marks import SEVERAL, offset_unit

About = Literal["mem_rev", "mem_hash", "unit"]
_MEMORY: tuple[Literal["mem_rev", "mem_hash"], ...] = ("mem_rev", "mem_hash")
#: Where the units of records without a run's name are counted; there from the start.
UNNAMED_UNITS: tuple[About, str] = ("unit", "")
#: Record types with a list of citations that have offsets.
_CITING = frozenset({"trace", "auditable-answer"})
#: Record types that a run writes; what is written besides may well come from other states of memory.
_OF_RUNS = frozenset(
    {"envelope", "query", "retrieved", "rerank", "prompt-frame", "answer", "trace", "log", "rag-traces"}
)


def words_of(kind: str, obj: Mapping[str, Json]) -> Iterator[tuple[About, str]]:
    """The words of a record that are compared with those of its run, as far as it has them."""
    if kind in _OF_RUNS:
        for name in _MEMORY:
            if (state := text_of(obj.get(name))) is not None:
                yield name, state
    if (unit := unit_of(kind, obj)) is not None:
        yield "unit", unit


def unit_of(kind: str, obj: Mapping[str, Json]) -> str | None:
    """The unit of a record's offsets; None where it has none, or several, which its own rules tell."""
    if kind == "citation":
        offsets = obj.get("offsets")
        unit = offsets.get("unit", "char") if type(offsets) is dict else None
        return unit if type(unit) is str and unit in OFFSET_UNITS else None
    unit = offset_unit(obj) if kind in _CITING else None
    return None if unit == SEVERAL else unit


@dataclass(slots=True)
class Marks:
    """How many records of each run (its `run_id`, "" where they name none) have which word."""

    words: dict[tuple[About, str], dict[str, int]] = field(default_factory=lambda: {UNNAMED_UNITS: {}})

    def note(self, kind: str, obj: Mapping[str, Json]) -> None:
        """Count a record."""
        for about, word in words_of(kind, obj):
            words = self.words.setdefault((about, _run_of(obj)), {})
            words[word] = words.get(word, 0) + 1

    def add(self, other: Marks) -> None:
        """Count the records of the next lines as well."""
        for key, counts in other.words.items():
            words = self.words.setdefault(key, {})
            for word, number in counts.items():
                words[word] = words.get(word, 0) + number

    @property
    def differ(self) -> bool:
        """Whether some record is unlike the rest of its run."""
        return any(len(words) > 1 for words in self.words.values())

    def unusual(self, kind: str, obj: Mapping[str, Json]) -> Iterator[Finding]:
        """How a counted record is unlike most of its run; of equally many the first count as most."""
        for about, word in words_of(kind, obj):
            words = self.words[about, _run_of(obj)]
            most = max(words, key=words.__getitem__)
            if word == most:
                continue
            if about == "unit":
                place = "offsets.unit" if kind == "citation" else "citations"
                said = f"offsets are in {word} here, and mostly in {most}"
                yield Finding("mixed_offset_units", place, said)
            else:
                yield Finding("memory_desync", about, f"{about} is {shown(word)}, and mostly {shown(most)}")
                return


def _run_of(obj: Mapping[str, Json]) -> str:
    return text_of(obj["run_id"]) or "" if "run_id" in obj else ""
