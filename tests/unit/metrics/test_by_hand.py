"""Ten questions of the demo counted by hand: out of the raw lines, with none of the program's own code.

The table was worked out by reading R003's traces beside the gold set; `_counted` does the same sums in the
plainest way there is, and both have to be what the index holds.
"""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.records.records import TraceKey
from proofspan.manifest.load import load_manifest
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from tests.places import DEMO

Json = Any
RUN = "R003"

#: Rank of the gold section in the last stage; recall at 1, 5, 10, 20 and 50; nDCG@10; ΔS; whether a citation
#: lies on the gold passage, None where the answer declines.
BY_HAND: dict[str, tuple[int | None, tuple[float, ...], float, float, bool | None]] = {
    "Q74": (8, (0, 0, 1, 1, 1), 0.3010, 0.1970, False),  # at rank 9: 1 / log2(10)
    "Q76": (1, (0, 0, 0, 0, 0), 0.0000, 0.2566, False),  # another chunk of the section is first
    "Q77": (1, (1, 1, 1, 1, 1), 1.0000, 0.1588, True),
    "Q80": (None, (0, 0, 0, 0, 0), 0.0000, 0.3641, False),
    "Q87": (1, (0, 0, 0, 1, 1), 0.0000, 0.2673, False),  # its chunk is between 11 and 20
    "Q89": (1, (1, 1, 1, 1, 1), 1.0000, 0.1447, True),
    "Q92": (3, (0, 1, 1, 1, 1), 0.4307, 0.2150, None),  # at rank 4: 1 / log2(5)
    "Q100": (None, (0, 0, 0, 0, 1), 0.0000, 0.3957, None),  # beyond the fused 20, within the retrieved 57
    "Q105": (1, (0, 1, 1, 1, 1), 0.5000, 0.3470, True),  # at rank 3: 1 / log2(4)
    "Q108": (3, (0, 1, 1, 1, 1), 0.4307, 0.1479, True),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    manifest, cache = load_manifest(DEMO), tmp_path_factory.mktemp("cache")
    build_index(manifest, runs=[RUN], cache_dir=cache)
    return Store(manifest, cache)


def _lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _untied(listed: list[Json]) -> list[Json]:
    """Return a list whose equal scores are in the order of section and id."""
    groups: list[list[Json]] = []
    for candidate in listed:
        if groups and groups[-1][0]["score"] == candidate["score"]:
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    return [each for group in groups for each in sorted(group, key=lambda c: (c["section_id"], c["id"]))]


def _counted(trace: Json, gold: Json) -> tuple[int | None, tuple[float, ...], float, float, bool | None]:
    lists = {name: _untied(listed) for name, listed in trace["stages"].items()}
    last, long = lists["fused"], (lists["fused"], lists["retrieved"])
    rank = next((place for place, c in enumerate(last, 1) if c["section_id"] in gold["sections"]), None)
    recalls = []
    for k in (1, 5, 10, 20, 50):
        listed = next(listed for listed in long if len(listed) >= k)
        recalls.append(sum(c["id"] in gold["chunks"] for c in listed[:k]) / len(gold["chunks"]))
    gain = sum(1 / log2(place + 1) for place, c in enumerate(last[:10], 1) if c["id"] in gold["chunks"])
    best = sum(1 / log2(place + 1) for place in range(1, len(gold["chunks"]) + 1))
    match = any(
        cited["doc_id"] == span["doc_id"]
        and cited["offsets"]["start"] < span["offsets"][1]
        and span["offsets"][0] < cited["offsets"]["end"]
        for cited in trace["citations"]
        for span in gold["spans"]
    )
    declines = "not in context" in trace["answer"].lower()
    return rank, tuple(recalls), round(gain / best, 4), trace["ΔS"], None if declines else match


def test_the_plain_sums_are_those_in_the_table() -> None:
    traces = {trace["q_id"]: trace for trace in _lines(DEMO / "runs" / RUN / "trace.jsonl")}
    gold = {each["q_id"]: each for each in _lines(DEMO / "gold/goldset.jsonl")}
    assert {q_id: _counted(traces[q_id], gold[q_id]) for q_id in BY_HAND} == BY_HAND


def test_the_index_holds_the_numbers_of_the_table(store: Store) -> None:
    for q_id, (rank, recalls, ndcg, delta_s, match) in BY_HAND.items():
        found = store.find(TraceKey(RUN, q_id))
        assert found is not None
        row: Json = found.row
        precision = row["citation_precision"]
        assert (row["section_rank"], row["top_rank"]) == (rank, rank), q_id
        assert tuple(row[f"recall_{k}"] for k in (1, 5, 10, 20, 50)) == recalls, q_id
        assert (round(row["ndcg_10"], 4), row["delta_s"]) == (ndcg, delta_s), q_id
        assert (None if precision is None else precision > 0) is match, q_id


def test_the_run_is_the_sum_of_all_its_questions(store: Store) -> None:
    traces = _lines(DEMO / "runs" / RUN / "trace.jsonl")
    gold = {each["q_id"]: each for each in _lines(DEMO / "gold/goldset.jsonl")}
    counted = [_counted(each, gold[each["q_id"]]) for each in traces if gold[each["q_id"]]["answerable"]]
    values = run_metrics(store, load_manifest(DEMO), RUN).values
    ranks = [rank for rank, *_ in counted]
    matches = [match for *_, match in counted if match is not None]
    shares = {
        "section_match_at_1": (ranks.count(1), 37),
        "gt_in_top_20": (sum(rank is not None for rank in ranks), 37),
        "citation_match": (sum(matches), len(matches)),
    }
    assert {name: (values[name].numerator, values[name].denominator) for name in shares} == shares
    assert shares["section_match_at_1"] == (18, 37) and shares["citation_match"] == (14, 32)
    means = {
        f"recall_at_{k}": [recalls[i] for _, recalls, *_ in counted] for i, k in enumerate((1, 5, 10, 20, 50))
    }
    means |= {"ndcg_at_10": [ndcg for _, _, ndcg, *_ in counted], "delta_s_mean": [t["ΔS"] for t in traces]}
    for name, numbers in means.items():
        assert values[name].value == pytest.approx(sum(numbers) / len(numbers), abs=5e-5), name
        assert values[name].denominator == len(numbers), name
