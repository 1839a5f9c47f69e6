"""Workspaces to be measured, and `proofspan metrics` run on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from proofspan.cli import group
from tests.unit.store_workspace import lines, manifest_of, trace, write_workspace

Json = Any
GOLD = [
    {"q_id": "Q1", "q": "What holds the oil filter?", "type": "lookup", "sections": ["4.2"]},
    {"q_id": "Q2", "q": "What to check?", "type": "lookup", "sections": ["4.3"]},
    {"q_id": "Q3", "q": "Which bolts?", "answerable": False, "type": "none"},
]
DECLINED = {"answer": "not in context", "chunks": [{"id": "c1"}]}


def three_traces(**more: object) -> list[dict[str, object]]:
    return [trace("Q1", **more), trace("Q2", **more), trace("Q3", **DECLINED, **more)]


def measured_workspace(
    folder: Path,
    traces: Mapping[str, Iterable[object]],
    gold: Iterable[object] | None = GOLD,
    entries: Sequence[Mapping[str, object]] | None = None,
    **manifest: object,
) -> None:
    """A workspace with these traces by run; `entries` are the runs in the manifest where they say more."""
    if gold is not None:
        folder.mkdir(exist_ok=True)
        (folder / "gold.jsonl").write_bytes(lines(gold))
        manifest |= {"gold": {"path": "gold.jsonl", "version": "2"}}
    write_workspace(folder, traces, **manifest)
    if entries is not None:
        manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=entries, **manifest)


def with_pack(folder: Path, run_id: str, data: str | bytes) -> dict[str, object]:
    """A run's entry in the manifest with a metrics pack that holds these bytes."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    path = f"runs/{run_id}.json"
    (folder / path).write_bytes(data if isinstance(data, bytes) else data.encode())
    return {"run_id": run_id, "traces": {"path": f"runs/{run_id}.jsonl"}, "metrics": {"path": path}}


def run_metrics(folder: Path, *options: str) -> Result:
    cache = str(folder.parent / "cache")
    return CliRunner().invoke(group, ["metrics", str(folder), "--cache-dir", cache, *options])


def json_report(folder: Path, *options: str) -> dict[str, Json]:
    result = run_metrics(folder, "--json", *options)
    assert result.exit_code in (0, 1), result.output
    report: dict[str, Json] = json.loads(result.stdout)
    return report


def report_of_run(folder: Path, *options: str) -> dict[str, Json]:
    (run,) = json_report(folder, *options)["runs"]
    report: dict[str, Json] = run
    return report


def printed_line(result: Result, name: str) -> str:
    return next(line for line in result.stdout.splitlines() if line.strip().startswith(name))
