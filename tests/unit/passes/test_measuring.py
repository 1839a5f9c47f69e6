"""Metrics by slice, quantiles, convergence, how questions came out: adding up a run and parts of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from proofspan.errors import StoreFault
from proofspan.metrics.values import Tally
from proofspan.store.files.checked import CLAIM_COLUMNS
from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.index.build import index_folder
from proofspan.store.query.database import Database
from proofspan.store.query.filters import Filter
from proofspan.store.query.metrics import MEASURED, MOST_SLICES, sums_statement, tallies_of
from tests.unit.store.index_rows import store_of, write_index

pytestmark = pytest.mark.slow

HIT = {"answerable": True, "refused": False, "bucket": "hit", "section_rank": 1, "top_rank": 1}
GAP = {"answerable": True, "refused": True, "bucket": "retrieval_gap"}
POLICY = {"answerable": True, "refused": False, "bucket": "score_policy", "section_rank": 3, "top_rank": 20}
UNJUDGED = {"unranked": "no_gold", "refused": True}


def asked(q_id: str, *parts: dict[str, object], **more: object) -> dict[str, object]:
    """A row of some question."""
    return {"q_id": q_id} | {name: value for part in parts for name, value in part.items()} | more


# Slices

PLACED = [
    asked("a", HIT, about=["m#section=4.2", "m#section=4", "m"], q_type="limit"),
    asked("b", GAP, about=["m#section=4.3", "m#section=4", "m"], q_type="figure"),
    asked("c", HIT, about=["n#page_idx=0", "n"], q_type="limit"),
    asked("d", HIT, about=["m#section=4.2", "m#section=4", "m", "n#page_idx=7", "n"], q_type=None),
    asked("e", UNJUDGED, about=[]),
    asked("f", HIT, about=["n"], paraphrase=1),
]


@pytest.mark.parametrize(
    ("by", "slices"),
    [
        (
            "section",
            [
                ("m#section=4", 3, 2),
                ("m#section=4.2", 2, 2),
                ("m#section=4.3", 1, 0),
                ("n#page_idx=0", 1, 1),
                ("n#page_idx=7", 1, 1),
            ],
        ),
        ("document", [("m", 3, 2), ("n", 2, 2)]),
        ("type", [("limit", 2, 2), ("figure", 1, 0)]),
        ("bucket", [("hit", 3, 3), ("retrieval_gap", 1, 0)]),
    ],
)
def test_a_run_is_sliced_the_largest_slice_first(
    tmp_path: Path, by: str, slices: list[tuple[str, int, int]]
) -> None:
    store = store_of(tmp_path, {"R1": PLACED})
    found = store.measure_by(Filter("R1"), by)  # type: ignore[arg-type]
    matched = {name: tallies["section_match_at_1"] for name, tallies in found.items()}
    assert [(name, tally.of, tally.total) for name, tally in matched.items()] == slices
    if by in ("section", "document"):  # a slice is the list that its name opens
        for name, tallies in found.items():
            assert tallies["ok"].of == store.matching(Filter("R1", about=(name,)))


def test_only_the_largest_slices_are_distinguished(tmp_path: Path) -> None:
    rows = [asked(f"Q{n}", HIT, q_type=f"type {n:03d}", latency_ms=1.0 * n) for n in range(MOST_SLICES + 5)]
    store = store_of(tmp_path, {"R1": [*rows, asked("more", GAP, q_type="type 203", latency_ms=0.0)]})
    found = store.measure_by(Filter("R1"), "type")
    assert list(found) == ["type 203", *(f"type {n:03d}" for n in range(MOST_SLICES - 1))]
    assert found["type 203"]["latency_p50"].value == 0.0
    assert found["type 007"]["latency_p50"].value == 7.0


def test_a_filter_narrows_what_is_measured_and_variants_are_no_questions(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": PLACED})
    for shown in (Filter("R1", type=("limit",)), Filter("R1", type=("limit",), all_variants=True)):
        assert store.measure(shown)["section_match_at_1"] == Tally(2, 2, 2)
        assert list(store.measure_by(shown, "bucket")) == ["hit"]
    assert store.measure(Filter("R1", all_variants=True)) == store.measure(Filter("R1"))


# Quantiles


@pytest.mark.parametrize(
    ("count", "p50", "p95"),
    [
        (1, (1.0, None, None), (1.0, None, None)),
        (2, (1.0, None, None), (2.0, None, None)),
        (10, (5.0, 2.0, 9.0), (10.0, None, None)),
        (20, (10.0, 6.0, 15.0), (19.0, None, None)),
        (100, (50.0, 41.0, 60.0), (95.0, 91.0, 100.0)),
    ],
)
def test_quantiles_are_ranks_and_so_are_the_ends_of_their_intervals(
    tmp_path: Path, count: int, p50: tuple[float | None, ...], p95: tuple[float | None, ...]
) -> None:
    """Of 1, 2, … n the value is the rank: q·n rounded up, ± 1.96 · √(n·q·(1−q)) for the ends."""
    rows = [asked(f"Q{n}", latency_ms=float(n)) for n in range(count, 0, -1)]
    measures = store_of(tmp_path, {"R1": rows}).measure(Filter("R1"))
    found = [measures[name] for name in ("latency_p50", "latency_p95")]
    assert [(tally.value, tally.low, tally.high) for tally in found] == [p50, p95]
    assert [tally.of for tally in found] == [count, count]


# The same bytes


def test_sums_are_the_same_bytes_whatever_the_order_of_rows_and_threads() -> None:
    """200,000 numbers that a plain sum adds up differently in another order."""
    random, rows = np.random.default_rng(7), 200_000
    numbers = {"ndcg_10": random.random(rows), "delta_s": random.random(rows) * 2}
    numbers["reciprocal_rank"] = numbers["ndcg_10"]
    assert len({float(np.sum(random.permutation(numbers["delta_s"]))) for _ in range(5)}) > 1
    types = {name: ROW_SCHEMA.field(name).type for name in MEASURED if name in ROW_SCHEMA.names}
    types |= {field.name: field.type for field in CLAIM_COLUMNS if field.name in MEASURED}
    types |= {"converges": pa.bool_(), "unconverged": pa.string()}
    absent = {name: pa.nulls(rows, kind) for name, kind in types.items()}
    whole = pa.table(absent | {name: pa.array(values) for name, values in numbers.items()})
    database, seen = Database(), set()
    orders = [{"rows": whole.take(pa.array(random.permutation(rows)))} for _ in range(2)]
    for tables in orders * 5:
        sums = database.rows(sums_statement(where="TRUE", slice_sql="0"), {"most": 1}, tables)
        seen.add(repr(tallies_of(sums, {})))
    assert len(seen) == 1
    (message,) = seen
    assert f"of={rows}" in message


# How steady

SIX = [(paraphrase, seed) for seed in range(2) for paraphrase in range(3)]


def variants(q_id: str, states: list[str | None], **more: list[object]) -> list[dict[str, object]]:
    """A row a state, as three paraphrases by two seeds and more; `more` holds a value a row."""
    keys = [*SIX, (3, 0), (3, 1)]
    return [
        asked(q_id, paraphrase=keys[n][0], seed=keys[n][1], lambda_state=state)
        | {name: values[n] for name, values in more.items()}
        for n, state in enumerate(states)
    ]


C, D = "convergent", "divergent"


def test_a_question_converges_when_all_of_its_traces_do(tmp_path: Path) -> None:
    rows = [
        *variants("all", [C] * 6),
        *variants("more than asked for", [C] * 8),
        *variants("not one", [C] * 5 + [D]),
        *variants("not logged", [C] * 5 + [None]),
        *variants("too few", [C] * 5),
        *[row | {"seed": 0, "paraphrase": n} for n, row in enumerate(variants("one seed", [C] * 6))],
        *[row | {"seed": n, "paraphrase": n % 2} for n, row in enumerate(variants("two ways", [C] * 6))],
        asked("all", lambda_state=D, repeat=2),  # no trace of its own
    ]
    store = store_of(tmp_path, {"R1": rows, "R2": [asked("alone", lambda_state=C)]})
    tally = store.measure(Filter("R1"))["lambda_convergent"]
    assert tally == Tally(3, 2, 2, left_out={"few_variants": 3, "not_logged": 1})
    assert store.matching(Filter("R1", miss="lambda_convergent")) == 1
    assert store.matching(Filter("R1", met="lambda_convergent", text="more")) == 1
    assert store.measure(Filter("R2"))["lambda_convergent"].left_out == {"few_variants": 1}
    assert store.run_sums(["R2", "R1"])["R1"].measures["lambda_convergent"] == tally


def test_variants_show_what_stays_over_paraphrases_and_seeds(tmp_path: Path) -> None:
    rows = [
        *variants("b", [C, None, D], rank1_section=["4.2", "4.2", None], cited_print=["x", "x", "y"]),
        *variants("a", [D, C], rank1_section=["4.2", "4.2"], cited_print=["x", "x"], label=["ok", None]),
        asked("c", rank1_section="1", cited_print="x"),
        asked("c", rank1_section="2", cited_print="z", repeat=2),
    ]
    frame = store_of(tmp_path, {"R1": rows, "R2": []}).variants("R1")
    assert frame.columns.tolist() == [
        *("q_id", "traces", "paraphrases", "seeds", "same_rank1", "same_cited", "same_label", "states")
    ]
    assert [
        tuple(None if each is pd.NA else each for each in row) for row in frame.itertuples(index=False)
    ] == [
        ("a", 2, 2, 1, True, True, None, [C, D]),
        ("b", 3, 3, 1, None, False, True, [C, D]),
        ("c", 1, 1, 1, None, None, None, []),
    ]


# How questions came out

OUTCOMES = [
    asked("a", HIT, lambda_state="convergent"),
    asked("b", HIT, lambda_state="own word", label="generation_drift"),
    asked("c", POLICY, refused=True, label="refusal_suspect"),
    asked("d", GAP, label="refusal_ok"),
    asked("e", GAP, refused=False),
    asked("f", GAP, refused=None, label=None),
    asked("g", UNJUDGED, lambda_state="convergent"),
    asked("a", GAP, seed=1),
]


def test_questions_are_counted_by_bucket_state_and_refusal(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": OUTCOMES})
    shown = Filter("R1")
    buckets = {"hit": 2, "score_policy": 1, "retrieval_gap": 3, None: 1}
    assert list(store.bucket_counts(shown).items()) == list(buckets.items())
    assert list(store.state_counts(shown).items()) == [(None, 4), ("convergent", 2), ("own word", 1)]
    refusals = {(True, True): 1, (True, False): 1, (False, True): 2, (False, False): 1}
    assert store.refusal_table(shown) == refusals
    for (refused, found), count in refusals.items():
        by = {"met" if found else "miss": "gt_in_top_20"}
        assert store.matching(Filter("R1", refused=refused, **by)) == count  # type: ignore[arg-type]


def test_counts_leave_their_own_part_of_the_filter_out(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": OUTCOMES})
    both = Filter("R1", bucket=("hit",), state=("convergent",))
    assert store.bucket_counts(both) == {"hit": 1, "score_policy": 0, "retrieval_gap": 0, None: 1}
    assert store.state_counts(both) == {"convergent": 1, "own word": 1}
    assert store.refusal_table(both) == {
        (True, True): 0,
        (True, False): 0,
        (False, True): 1,
        (False, False): 0,
    }
    assert store.bucket_counts(Filter("R1", all_variants=True))["retrieval_gap"] == 4
    assert store.options("R1")["bucket"] == (("retrieval_gap", 3), ("hit", 2), ("score_policy", 1))
    assert store.options("R1")["state"] == (("convergent", 2), ("own word", 1))


def test_counts_are_the_same_before_and_after_a_run_was_added_up(tmp_path: Path) -> None:
    store, shown = store_of(tmp_path, {"R1": OUTCOMES}), Filter("R1")

    def counts() -> list[object]:
        ways = (store.counts, store.bucket_counts, store.state_counts, store.refusal_table)
        return [list(found.items()) if isinstance(found := way(shown), dict) else found for way in ways]

    before = counts()
    assert store.run_sums(["R1"])["R1"].counts["label"]["ok"] == 3
    assert counts() == before


def test_ranks_come_run_by_run_and_only_of_judged_questions(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": OUTCOMES, "R2": [asked("b", POLICY), asked("a", GAP)]})
    frame = store.ranks(["R2", "R1", "R2", "no such run"])
    assert frame.columns.tolist() == ["q_id", "q", "run_id", "section_rank", "top_rank", "bucket"]
    assert list(zip(frame["run_id"], frame["q_id"], strict=True)) == [
        *(("R2", q_id) for q_id in "ab"),
        *(("R1", q_id) for q_id in "abcdef"),
    ]
    assert frame["section_rank"].tolist()[:4] == [pd.NA, 3, 1, 1]
    assert store.ranks([]).columns.tolist() == frame.columns.tolist()


def test_runs_are_added_up_at_once_as_one_by_one(tmp_path: Path) -> None:
    runs = {"R1": OUTCOMES, "R2": [], "R3": PLACED}
    together = store_of(tmp_path / "a", runs).run_sums(list(runs))
    single = store_of(tmp_path / "b", runs)
    assert {run: single.run_sums([run])[run] for run in runs} == together
    with pytest.raises(StoreFault, match="has no index yet"):
        single.run_sums(["R9"])


def test_a_run_that_is_indexed_again_is_added_up_again(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": OUTCOMES})
    assert store.measure(Filter("R1"))["section_match_at_1"].of == 6
    write_index(index_folder(store._manifest, "R1", tmp_path / "cache"), [asked("a", HIT)], name="t.parquet")
    assert store.measure(Filter("R1"))["section_match_at_1"].of == 1


def test_runs_that_were_not_used_for_longest_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofspan.store.query.loaded_runs.CACHED_BYTES", 1)
    store = store_of(tmp_path, dict.fromkeys(("R1", "R2", "R3"), OUTCOMES))
    first = [store._kept.loaded(run) for run in ("R1", "R2")]
    for run in ("R1", "R2", "R1", "R3"):
        store.measure(Filter(run))
    assert store._kept.loaded("R1") is first[0]
    assert store._kept.loaded("R2") is not first[1]
