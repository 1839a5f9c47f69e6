"""Running `proofspan` on bad input in this process, and reading what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from proofspan.manifest.load import load_manifest
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

#: Far longer than anything takes on the busiest machine, and far shorter than what never ends.
NEVER_S = 120
LABELS = {"Q1": "ok", "Q2": "generation_drift", "Q3": "refusal_suspect"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its status and what it wrote, line breaks of tables and all."""

    status: int
    out: str
    err: str


Proofspan = Callable[..., Ended]


def triage(proofspan: Proofspan, folder: Path) -> Ended:
    """`proofspan triage` over the workspace's bare files, the report in `report.jsonl`."""
    return proofspan("triage", folder / "trace.jsonl", folder / "chunks.jsonl", "-o", folder / "report.jsonl")


def reported(folder: Path) -> dict[str, str]:
    """Question → label in the report."""
    rows = map(orjson.loads, (folder / "report.jsonl").read_bytes().splitlines())
    return {row["q_id"]: row["label"] for row in rows}


def indexed(folder: Path, run: str = "R1") -> dict[str, str | None]:
    """Question → label in the index."""
    rows = Store(load_manifest(folder), default_cache_dir()).page(
        Filter(run=run), Sort(), limit=100, offset=0
    )
    return dict(zip(rows["q_id"], rows["label"], strict=True))


def holds(text: str, *parts: str) -> None:
    """Assert that the text has every part and is not a traceback."""
    assert "Traceback" not in text, text
    for part in parts:
        assert part in text, f"{part!r} is missing in: {text}"
