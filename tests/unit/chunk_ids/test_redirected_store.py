"""A run that names ids of an earlier build, indexed beside one that names those of today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.manifest.types import Manifest
from proofspan.services.workspace.readable import reading
from proofspan.store.index.build import build_index
from tests.unit.store_workspace import RUN, lines, table_of, trace, write_workspace

pytestmark = pytest.mark.slow

GOLD = [
    {"q_id": "Q1", "q": "What holds the oil filter?", "chunks": ["c1"], "anchor": "holds 4 litres"},
    {"q_id": "Q2", "q": "What holds the oil filter?", "chunks": ["c2"]},
    {"q_id": "Q3", "q": "What holds the oil filter?", "chunks": ["c3"], "sections": ["1"]},
]
#: What the earlier build called them; `was12` held two of today's chunks.
FORMER = {"c1": "was1", "c2": "was2", "c3": "was3"}
REDIRECTS = [
    {"old_id": old, "kind": "shift", "new_ids": [new], "confidence": 0.9} for new, old in FORMER.items()
] + [
    {"old_id": "was12", "kind": "split", "new_ids": ["c1", "c2"], "confidence": 1.0},
    {"old_id": "deleted", "kind": "gone", "new_ids": [], "confidence": 1.0},
]
#: Columns that hold ids or are made of them, or that say where the record is.
OWN = {
    "citations",
    "answer",
    "answer_folded",
    "suspicions",
    "codes",
    "cited_print",
    "answer_print",
    "offset",
    "length",
}


def asked() -> list[dict[str, object]]:
    chunks = [{"id": "c1"}, {"id": "c2"}, {"id": "c3"}]
    cited = "The oil filter holds 4 litres.\ncitations: [c2]"
    return [
        trace("Q1", chunks=chunks, stages={"retrieved": chunks[::-1]}),
        trace("Q2", answer=cited, chunks=chunks),
        trace("Q3", chunks=chunks, citations=[{"chunk_id": "c3"}]),
        trace("Q4"),
    ]


def earlier(record: dict[str, object]) -> dict[str, object]:
    text = orjson.dumps(record).decode()
    for new, old in FORMER.items():
        text = text.replace(f'"{new}"', f'"{old}"').replace(f"[{new}]", f"[{old}]")
    found: dict[str, object] = orjson.loads(text)
    return found


def workspace(folder: Path, records: list[dict[str, object]], redirects: list[dict[str, object]]) -> Manifest:
    folder.mkdir()
    (folder / "gold.jsonl").write_bytes(lines(GOLD))
    (folder / "redirects.jsonl").write_bytes(lines(redirects))
    named = {"gold": {"path": "gold.jsonl"}, "redirects": {"path": "redirects.jsonl"}}
    manifest = write_workspace(folder, {RUN: records}, **named)
    build_index(manifest, cache_dir=folder / "cache")
    return manifest


def table(manifest: Manifest) -> list[dict[str, Any]]:
    return table_of(manifest, RUN, manifest.folder / "cache")


def outcomes(manifest: Manifest) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in OWN} for row in table(manifest)]


def suspicions(manifest: Manifest) -> list[set[str]]:
    return [set(row["suspicions"]) for row in table(manifest)]


def test_an_old_run_is_labelled_and_measured_as_one_of_today(tmp_path: Path) -> None:
    today = workspace(tmp_path / "today", asked(), REDIRECTS)
    former = workspace(tmp_path / "former", [earlier(record) for record in asked()], REDIRECTS)
    assert outcomes(former) == outcomes(today)
    assert {row["gold_state"] for row in outcomes(former)} == {"cited", None}
    for plain, led in zip(suspicions(today), suspicions(former), strict=True):
        assert led == plain | {"redirected_chunk_id"}


def test_a_split_chunk_is_right_by_any_of_its_parts_and_a_deleted_one_stays_unresolved(
    tmp_path: Path,
) -> None:
    cited = "The oil filter holds 4 litres.\ncitations: [was12]"
    records = [
        trace("Q2", answer=cited, chunks=[{"id": "was12"}]),
        trace("Q1", answer=cited, chunks=[{"id": "was12"}]),
        trace("Q3", chunks=[{"id": "deleted"}]),
    ]
    manifest = workspace(tmp_path / "split", records, REDIRECTS)
    found = table(manifest)
    assert [row["gold_state"] for row in found] == ["cited", "cited", "missed"]
    assert [row["label"] for row in found[:2]] == ["ok", "ok"]
    assert "unresolved_chunk_id" in suspicions(manifest)[2]


def test_the_index_is_made_again_when_the_redirects_change(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "changed", [earlier(trace("Q1"))], [])
    assert suspicions(manifest)[0] >= {"unresolved_chunk_id"}
    (manifest.folder / "redirects.jsonl").write_bytes(lines(REDIRECTS))
    build_index(manifest, cache_dir=manifest.folder / "cache")
    assert suspicions(manifest)[0] & {"unresolved_chunk_id", "redirected_chunk_id"} == {"redirected_chunk_id"}


@pytest.mark.parametrize(
    ("content", "expected"), [(None, ["redirects_unusable"]), (b'{"not": "jsonl', ["not_json"])]
)
def test_lost_redirects_are_reported_and_leave_the_labels(
    tmp_path: Path, content: bytes | None, expected: list[str]
) -> None:
    manifest = workspace(tmp_path / "lost", [trace("Q1")], REDIRECTS)
    (manifest.folder / "redirects.jsonl").unlink()
    if content is not None:
        (manifest.folder / "redirects.jsonl").write_bytes(content)
    (report,) = build_index(manifest, cache_dir=manifest.folder / "cache").runs
    problems = [problem.code for problem in report.problems]
    assert problems + [issue.code for issue in report.issues] == expected
    assert [row["label"] for row in table(manifest)] == ["ok"]


def test_checking_a_workspace_reports_lines_that_are_no_redirect(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "bad", [trace("Q1")], [*REDIRECTS, {"old_id": "x", "kind": "moved"}])
    assert manifest.redirects is not None
    (problem,) = reading(manifest.redirects, manifest.folder / "redirects.jsonl", lambda done: None)
    assert (problem.code, problem.severity) == ("lines_unreadable", "warning")
    assert "1 line of 6 could not be read, first: line 6: kind is not a kind of redirect" in problem.message
