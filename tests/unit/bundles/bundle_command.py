"""`proofspan bundle` in this process, and a workspace whose run has a place for its bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.manifest.types import Manifest
from tests.bundle_room import jsonl, trace, write_workspace


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["bundle", *map(str, arguments)])


def workspace(folder: Path, *records: Any, bundles: str = "bundles.jsonl", **more: Any) -> Manifest:
    run = {"run_id": "R1", "traces": {"path": "traces.jsonl"}, "bundles": {"path": bundles, **more}}
    manifest = write_workspace(folder, runs=[run])
    given = records or (trace("Q1"), trace("Q2", citations=[], answer="not in context"), trace("Q3"))
    (folder / "traces.jsonl").write_bytes(jsonl(given))
    return manifest


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]
