"""The gold's rank in the index: stored, filtered, offered, the same for any number of workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.manifest.types import Manifest
from core.store import build
from core.store.filters import Filter, Sort
from core.store.index import build_index, index_state
from core.store.queries import Store
from core.triage.gold import GoldState
from tests.unit.store_workspace import built, lines, table_of, trace, write_workspace

RUN = "R1"
GOLD = [
    {"q_id": "Q1", "q": "one", "sections": ["4.3"]},
    {"q_id": "Q2", "q": "two", "spans": [{"doc_id": "bulletin", "page_idx": 6, "quote": "30 Nm"}]},
    {"q_id": "Q3", "q": "three", "chunks": ["c3"]},
    {"q_id": "Q4", "q": "four", "answerable": False, "chunks": ["c1"]},
]
COLUMNS = ("q_id", "gold_known", "gold_seen_rank", "gold_retrieved_rank", "gold_retrieved_stage")
RANKS = [
    ("Q1", True, 2, 2, "chunks"),
    ("Q2", True, None, 2, "retrieved"),
    ("Q3", True, None, None, "fused"),
    ("Q4", False, None, None, None),
    ("Q5", False, None, None, None),
]


def workspace(folder: Path, gold: bytes | None, *, traces: int = 5) -> Manifest:
    more = {
        2: {"stages": {"retrieved": [{"id": "c1"}, {"id": "c3", "page_idx": 6}]}},
        3: {"stages": {"fused": [{"id": "c1"}]}},
    }
    records = [trace(f"Q{number}", **more.get(number, {})) for number in range(1, traces + 1)]
    if gold is not None:
        folder.mkdir(exist_ok=True)
        (folder / "gold.jsonl").write_bytes(gold)
    return write_workspace(folder, {RUN: records}, gold={"path": "gold.jsonl"})


def ranks(manifest: Manifest, cache: Path) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in COLUMNS) for row in table_of(manifest, RUN, cache)]


def test_a_row_knows_at_which_rank_its_gold_stood(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines(GOLD))
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert ranks(manifest, tmp_path / "cache") == RANKS


def test_several_workers_find_the_same_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 2_000)
    manifest = workspace(tmp_path / "ws", lines(GOLD), traces=30)
    found = []
    for workers in (1, 2):
        cache = tmp_path / f"cache{workers}"
        build_index(manifest, cache_dir=cache, workers=workers)
        found.append(ranks(manifest, cache))
    assert found[0] == found[1]
    assert found[0][:5] == RANKS


@pytest.mark.parametrize(("state", "q_ids"), [("seen", ["Q1"]), ("dropped", ["Q2"]), ("missed", ["Q3"])])
def test_a_list_is_narrowed_to_what_became_of_the_gold(
    tmp_path: Path, state: GoldState, q_ids: list[str]
) -> None:
    store = built(workspace(tmp_path / "ws", lines(GOLD)), tmp_path / "cache")
    page = store.page(Filter(RUN, gold=(state,)), Sort(), limit=9, offset=0)
    assert list(page["q_id"]) == q_ids
    assert sorted(store.options(RUN)["gold"]) == [("dropped", 1), ("missed", 1), ("seen", 1)]


def test_bad_gold_lines_are_findings_and_the_good_ones_count(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines([b"{no json", {"q_id": "Q2"}, *GOLD]))
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert [(issue.source.file, issue.source.line, issue.code) for issue in run.issues] == [
        ("gold.jsonl", 1, "not_json"),
        ("gold.jsonl", 2, "q_missing"),
    ]
    assert ranks(manifest, tmp_path / "cache") == RANKS


@pytest.mark.parametrize("gold", [None, b"\x00\x01\x02\x03 no text at all"])
def test_gold_that_cannot_be_used_is_a_problem_and_the_labels_stand(
    tmp_path: Path, gold: bytes | None
) -> None:
    manifest = workspace(tmp_path / "ws", gold)
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert len(run.problems) + run.line_issues == 1
    rows = table_of(manifest, RUN, tmp_path / "cache")
    assert {(row["label"], row["gold_known"]) for row in rows} == {("ok", False)}
    assert Store(manifest, tmp_path / "cache").options(RUN)["gold"] == ()


def test_other_gold_makes_the_index_stale(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines(GOLD))
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert index_state(manifest, RUN, tmp_path / "cache").state == "fresh"
    (tmp_path / "ws" / "gold.jsonl").write_bytes(lines(GOLD[:1]))
    assert index_state(manifest, RUN, tmp_path / "cache").state == "stale"
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert ranks(manifest, tmp_path / "cache")[1] == ("Q2", False, None, None, None)
