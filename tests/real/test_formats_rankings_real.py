"""Real TREC files and Inspect logs open without a mapping; the run is ordered as trec_eval orders it."""

from __future__ import annotations

from math import log2
from pathlib import Path

import pytest

from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Reading
from proofspan.traces.registry import recognized


def opened(path: Path, name: str) -> tuple[list[Asked], Reading]:
    """Return the questions of a source that is recognized as a format."""
    found = recognized(sample_of(path))
    assert found is not None and found.format.name == name
    reading = Reading(path.name)
    return list(found.format.read(path, reading)), reading


@pytest.mark.parametrize("name", ["trec", "trec/results.test", "trec/qrels.test"])
def test_a_trec_run_with_its_judgments(real_data: Path, name: str) -> None:
    asked, reading = opened(real_data / name, "trec")
    assert len(asked) == 3 and reading.lost == 0 and reading.records == 5_181
    gains = [[each.more.get("relevance", 0) for each in one.lists["retrieved"]] for one in asked]
    recall = [
        sum(gain > 0 for gain in each[:20]) / len(one.gold) for one, each in zip(asked, gains, strict=True)
    ]
    assert round(sum(recall) / 3, 4) == 0.1061  # trec_eval's recall_20
    ideal = [sum(1 / log2(rank + 2) for rank in range(min(10, len(one.gold)))) for one in asked]
    found = [sum(max(gain, 0) / log2(rank + 2) for rank, gain in enumerate(each[:10])) for each in gains]
    ndcg = [one / best for one, best in zip(found, ideal, strict=True)]
    assert round(sum(ndcg) / 3, 4) == 0.3016  # trec_eval's ndcg_cut_10


def test_inspect_logs(real_data: Path) -> None:
    counts = {}
    for path in sorted((real_data / "formats" / "inspect").iterdir()):
        asked, reading = opened(path, "inspect")
        assert reading.lost == 0 and not reading.problems
        assert all(each.answer in ("Yes", "No") and each.expected in ("Yes", "No") for each in asked)
        counts[path.name] = len(asked)
    assert sorted(counts.values()) == [1, 1, 10]


def test_a_table_under_a_wrong_name(real_data: Path) -> None:
    (path,) = (real_data / "hostile" / "jsonl").iterdir()
    asked, reading = opened(path, "table")
    assert len(asked) == reading.records and reading.lost == 0
    assert asked[0].gold[0].document == "JOHNSON_JOHNSON_2022_10K"
