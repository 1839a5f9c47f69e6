"""The record of the demo's sprint, from `sprint.yaml`: one entry a line, as the product writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

from proofspan.journal.sprint import SprintEntry, entry_id_of, entry_problems, line_of
from proofspan.services.sprint.draft import drafted

LOG = "sprint/log.jsonl"
SOURCE = Path(__file__).with_name("sprint.yaml")


def sprint_log() -> bytes:
    """The lines of the record. ValueError for an entry that is not valid."""
    lines = (orjson.dumps(line_of(entry), option=orjson.OPT_SORT_KEYS) for entry in entries())
    return b"".join(line + b"\n" for line in lines)


def entries() -> Iterator[SprintEntry]:
    """The entries in their order, with their ids."""
    names: dict[str, str] = {}
    for written in yaml.safe_load(SOURCE.read_text(encoding="utf-8")):
        entry = _entry(written, names)
        if problems := entry_problems(entry):
            raise ValueError(f"{SOURCE.name}: {problems[0]}")
        names[written.get("name", "")] = entry_id_of(entry)
        yield entry


def _entry(written: Mapping[str, Any], names: Mapping[str, str]) -> SprintEntry:
    return drafted(
        written["kind"],
        written.get("key", ""),
        at=written["at"],
        author=written["author"],
        fields=written["fields"],
        corrects=names[written["corrects"]] if "corrects" in written else None,
        keep_empty=True,
    )
