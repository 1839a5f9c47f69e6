"""Traces taken apart into the separate records of a pipeline, as files of a workspace."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import yaml

HANDBOOK = Path(__file__).parent / "handbook"

_ENVELOPE = ("schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash")
_NOT_THE_ANSWERS = {"run_id", "q_id", "q", "paraphrase", "seed", "chunks", "stages", "answer", "citations"}


def separate_records(trace: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The records that the pipeline of a trace would have written, by type."""
    joined_by = {name: trace[name] for name in ("q_id", "paraphrase", "seed") if name in trace}
    stages = trace.get("stages", {})
    saw = {entry["id"] for entry in trace["chunks"]}
    records: dict[str, dict[str, Any]] = {"query": {**joined_by, "text": trace["q"], "lang": "en"}}
    if "retrieved" in stages:
        items = [_renamed(entry) for entry in stages["retrieved"]]
        records["retrieved"] = {**joined_by, "ranker": "bm25", "k": len(items), "items": items}
    if "reranked" in stages:
        ranked = [
            {**_renamed(entry), "post_score": {"ce": entry["score"]}, "selected": entry["id"] in saw}
            for entry in stages["reranked"]
        ]
        records["rerank"] = {**joined_by, "k_out": len(saw), "items": ranked}
    shown = [{"id": entry["id"], "section_id": entry.get("section_id")} for entry in trace["chunks"]]
    records["prompt"] = {**joined_by, "question": trace["q"], "citations": shown}
    fields = {name: value for name, value in trace.items() if name not in _NOT_THE_ANSWERS}
    answer = {**joined_by, "answer_text": trace["answer"], **fields}
    if "citations" in trace:
        answer["citations"] = trace["citations"]
    records["answer"] = answer
    return records


def _renamed(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"chunk_id": entry["id"], **{name: value for name, value in entry.items() if name != "id"}}


def write_lines(path: Path, records: Iterable[object]) -> None:
    """Records as JSONL; bytes go in as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [record if isinstance(record, bytes) else orjson.dumps(record) for record in records]
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def handbook_of_records(folder: Path) -> Path:
    """The handbook's workspace with R001 as it is and R002 as separate records in place of its traces."""
    shutil.copytree(HANDBOOK, folder)
    manifest = yaml.safe_load((folder / "pipeline_manifest.yaml").read_text())
    run = manifest["runs"][1]
    lines = (folder / run.pop("traces")["path"]).read_bytes().splitlines()
    by_type: dict[str, list[object]] = {}
    for line in lines:
        for name, record in separate_records(orjson.loads(line)).items():
            by_type.setdefault(name, []).append(record)
    run["records"] = {name: {"path": f"runs/R002/{name}.jsonl"} for name in by_type}
    for name, records in by_type.items():
        write_lines(folder / run["records"][name]["path"], records)
    (folder / "runs" / "R002" / "trace.jsonl").unlink()
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest, sort_keys=False))
    return folder
