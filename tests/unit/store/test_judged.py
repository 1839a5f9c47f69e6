"""Gold evaluation in the index: stored as computed, whoever builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.metrics.gold_eval import UNJUDGED
from proofspan.store.index import build
from proofspan.store.index.build import build_index
from tests.unit.store_workspace import RUN, built, lines, manifest_of, table_of, trace, write_workspace

pytestmark = pytest.mark.slow

COLUMNS = (
    *("q_type", "answerable", "refused", "unranked", "bucket", "section_rank", "top_rank"),
    *("section_coverage", "recall_1", "recall_5", "recall_10", "recall_20", "recall_50"),
    *("ndcg_10", "reciprocal_rank", "citation_precision", "citation_recall", "anchor_coverage"),
)
GOLD = [
    {"q_id": "Q1", "q": "one", "sections": ["§ 4.2."], "type": "figure", "anchor": "oil filter holds"},
    {"q_id": "Q2", "q": "two", "chunks": ["c2"], "type": "figure"},
    {"q_id": "Q3", "q": "three", "spans": [{"doc_id": "bulletin", "page_idx": 6, "quote": "30 Nm"}]},
    {"q_id": "Q4", "q": "four", "answerable": False, "type": "none"},
    {"q_id": "Q6", "q": "six"},
    {"q_id": "Q9", "q": "asked by nobody", "chunks": ["c1"]},
]
RECORDS = [
    trace("Q1"),
    trace("Q2", answer="not in context"),
    trace("Q3", stages={"retrieved": [{"id": "c3", "page_idx": 7}, {"id": "c3", "page_idx": 6}]}),
    trace("Q4"),
    trace("Q5"),
    trace("Q6"),
]
NULL = (None,) * 5


def rows_of(manifest_folder: Path, cache: Path, *, workers: int = 1) -> list[tuple[object, ...]]:
    (manifest_folder / "runs").mkdir(parents=True, exist_ok=True)
    (manifest_folder / "gold.jsonl").write_bytes(lines(GOLD))
    manifest = write_workspace(manifest_folder, {RUN: RECORDS}, gold={"path": "gold.jsonl"})
    build_index(manifest, cache_dir=cache, workers=workers)
    return [tuple(row[name] for name in COLUMNS) for row in table_of(manifest, RUN, cache)]


def test_a_row_has_its_gold_outcome(tmp_path: Path) -> None:
    ranked = {
        "hit": (None, "hit", 1, 1, 1.0, 1.0, *NULL[:4], 1.0, 1.0),
        "second": (None, "score_policy", 2, 2, 1.0, 0.0, *NULL[:4], pytest.approx(0.63093), 0.5),
        "page": (None, "score_policy", 2, 2, None, *NULL, None, None),
    }
    assert rows_of(tmp_path / "ws", tmp_path / "cache") == [
        ("figure", True, False, *ranked["hit"], 1.0, 1.0, 1.0),
        ("figure", True, True, *ranked["second"], None, None, None),
        (None, True, False, *ranked["page"], 0.0, 0.0, None),
        ("none", False, False, "unanswerable", *NULL, *NULL, None, None, None, None),
        (None, None, False, "no_gold", *NULL, *NULL, None, None, None, None),
        (None, True, False, "gold_unplaced", *NULL, *NULL, None, None, None, None),
    ]


@pytest.mark.slow
def test_several_workers_judge_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 400)
    one = rows_of(tmp_path / "ws", tmp_path / "one")
    assert rows_of(tmp_path / "ws", tmp_path / "two", workers=2) == one


def test_a_run_that_has_only_a_report_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(lines(GOLD))
    (tmp_path / "report.jsonl").write_bytes(lines([{"q_id": "Q1", "q": "one", "label": "ok"}]))
    runs = [{"run_id": RUN, "report": {"path": "report.jsonl"}}]
    manifest = manifest_of(tmp_path, gold={"path": "gold.jsonl"}, runs=runs)
    built(manifest, tmp_path / "cache")
    (row,) = table_of(manifest, RUN, tmp_path / "cache")
    assert {name: row[name] for name in COLUMNS} == dict.fromkeys(COLUMNS) | {"unranked": "no_candidates"}
    assert {row[name] == value for name, value in UNJUDGED.columns.items()} == {True}


def test_without_a_chunk_file_ranks_come_from_what_the_traces_say(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(lines(GOLD))
    places = [{"id": "c1", "section_id": "4.2"}]
    manifest = write_workspace(
        tmp_path,
        {RUN: [trace("Q1", chunks=places)]},
        gold={"path": "gold.jsonl"},
        chunks={"path": "gone.jsonl"},
    )
    built(manifest, tmp_path / "cache")
    (row,) = table_of(manifest, RUN, tmp_path / "cache")
    assert (row["section_rank"], row["bucket"], row["section_coverage"], row["refused"]) == (
        1,
        "hit",
        None,
        None,
    )
    # Whether it declines is not known, and a refusal would count as one that cites no gold passage.
    assert (row["citation_recall"], row["anchor_coverage"]) == (None, None)
