"""Where traces fail: the places in the index, and counts that equal those of plain Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.manifest.types import Manifest
from proofspan.store.query.database import Database, statement
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import FAILS
from tests.unit.store_workspace import RUN, built, lines, table_of, trace, write_workspace

GOLD = [
    {"q_id": "Q1", "q": "one", "sections": ["4.3"]},
    {"q_id": "Q2", "q": "two", "sections": ["4.2"], "chunks": ["c1"]},
    {"q_id": "Q3", "q": "three", "answerable": False},
    {"q_id": "Q4", "q": "four", "spans": [{"doc_id": "bulletin", "page_idx": 6, "quote": "30 Nm"}]},
]
FAILING = ("generation_drift", "retrieval_drift", "refusal_suspect")


def workspace(folder: Path) -> Manifest:
    records = [
        trace("Q1"),
        trace("Q2"),
        trace("Q2", paraphrase=1),
        trace("Q3"),
        trace("Q4"),
        trace("Q5", answer="Four litres, perhaps."),
        trace("Q6", chunks=[]),
    ]
    folder.mkdir()
    (folder / "gold.jsonl").write_bytes(lines(GOLD))
    return write_workspace(folder, {RUN: records}, gold={"path": "gold.jsonl"})


def test_a_row_is_about_its_gold_else_about_rank_1(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws")
    built(manifest, tmp_path / "cache")
    assert [(row["q_id"], row["about"]) for row in table_of(manifest, RUN, tmp_path / "cache")] == [
        ("Q1", ["manual#section=4.3", "manual#section=4", "manual"]),
        ("Q2", ["manual#section=4.2", "manual#section=4", "manual"]),
        ("Q2", ["manual#section=4.2", "manual#section=4", "manual"]),
        ("Q3", ["manual#section=4.2", "manual#section=4", "manual"]),
        ("Q4", ["bulletin#page_idx=6", "bulletin"]),
        ("Q5", ["manual#section=4.2", "manual#section=4", "manual"]),
        ("Q6", []),
    ]


def test_failures_are_headline_questions_by_what_they_are_about(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws"), tmp_path / "cache")
    counts = {each.about: (each.judged, each.failing) for each in store.failures(Filter(RUN))}
    assert counts == {
        ("manual#section=4.3", "manual#section=4", "manual"): (1, 1),
        ("manual#section=4.2", "manual#section=4", "manual"): (3, 2),
        ("bulletin#page_idx=6", "bulletin"): (1, 1),
        (): (1, 1),
    }
    everything = store.failures(Filter(RUN, all_variants=True))
    assert sum(each.judged for each in everything) == 7


def test_failures_within_a_document_and_by_document_are_those_of_all_places(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws"), tmp_path / "cache")
    counts = store.failures(Filter(RUN))
    for doc in ("manual", "bulletin"):
        assert store.failures(Filter(RUN), within=doc) == tuple(each for each in counts if doc in each.about)
    assert {each.about: (each.judged, each.failing) for each in store.failures_by_document(Filter(RUN))} == {
        (): (1, 1),
        ("bulletin",): (1, 1),
        ("manual",): (4, 3),
    }


def test_a_count_is_what_its_filter_then_shows(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws"), tmp_path / "cache")
    shown = Filter(RUN, about=("manual#section=4.2",), fails=True)
    assert list(store.page(shown, Sort("q_id"), limit=9, offset=0)["q_id"]) == ["Q3", "Q5"]
    counts = store.failures(Filter(RUN))
    assert store.failures(shown) == counts
    assert [each.about for each in counts] == sorted(each.about for each in counts)
    assert store.matching(Filter(RUN, about=("manual",))) == 4
    assert store.matching(Filter(RUN, about=("manual#section=4",))) == 4
    assert store.matching(Filter(RUN, fails=False)) == 1


def test_what_cannot_be_judged_neither_fails_nor_does_not(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path / "ws", {RUN: [trace("Q1")]})
    (manifest.folder / "chunks.jsonl").unlink()
    store = built(manifest, tmp_path / "cache")
    (only,) = store.failures(Filter(RUN))
    assert (only.judged, only.failing) == (0, 0)
    assert [store.matching(Filter(RUN, fails=fails)) for fails in (True, False, None)] == [0, 0, 1]


place_lists = st.lists(st.sampled_from(["a#section=1", "a#section=2", "a", "b#page_idx=0", "b"]), unique=True)
rows = st.lists(
    st.tuples(
        st.none() | st.sampled_from(LABELS),
        st.none() | st.sampled_from(GOLD_STATES),
        place_lists,
        st.sampled_from([0, 0, 1]),
        st.sampled_from([None, None, "none", "contradicted"]),
    ),
    max_size=30,
)


def fails(label: str | None, gold: str | None, cause: str | None) -> bool | None:
    if cause is not None:
        return cause != "none"
    if gold is not None:
        return gold not in ("cited", "declined")
    return None if label is None else label in FAILING


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(drawn=rows)
def test_counts_equal_plain_python(
    database: Database, drawn: list[tuple[str | None, str | None, list[str], int, str | None]]
) -> None:
    word = pa.dictionary(pa.int32(), pa.string())
    columns = list(zip(*drawn, strict=True)) if drawn else [()] * 5
    table = pa.table(
        {
            "label": pa.array(columns[0], word),
            "gold_state": pa.array(columns[1], word),
            "cause": pa.array(columns[4], pa.string()),
            "about": pa.array(columns[2], pa.list_(pa.string())),
            "paraphrase": pa.array(columns[3], pa.int32()),
            "seed": pa.array(np.zeros(len(drawn), np.int32)),
            "repeat": pa.array(np.ones(len(drawn), np.int32)),
        }
    )
    sql = statement("counts").format(where=Filter("R").where().sql, columns=f"about, {FAILS.sql}")
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for places, bad, count in database.rows(sql, {}, {"rows": table}):
        before = found.get(tuple(places), (0, 0))
        found[tuple(places)] = (before[0] + count * (bad is not None), before[1] + count * bool(bad))
    judged: Counter[tuple[str, ...]] = Counter()
    failing: Counter[tuple[str, ...]] = Counter()
    for label, gold, about, paraphrase, cause in drawn:
        if paraphrase == 0:
            judged[tuple(about)] += fails(label, gold, cause) is not None
            failing[tuple(about)] += fails(label, gold, cause) is True
    assert found == {about: (judged[about], failing[about]) for about in judged}
