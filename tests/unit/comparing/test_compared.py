"""A run beside another: transitions, flips and pairs, and numbers that are the lengths of their lists."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import TraceKey
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.compare import chosen_sentence, verdict_sentence
from proofspan.store.files.types import Flips
from proofspan.store.index.build import index_folder
from proofspan.store.query.filters import FLIPS, Filter, Sort
from proofspan.store.query.metric_sql import MEASURES, OUTCOMES
from proofspan.store.query.store import Store
from tests.unit.store.index_rows import store_of, write_index
from tests.unit.store_workspace import lines

pytestmark = pytest.mark.slow

HIT = {"bucket": "hit", "section_rank": 1, "top_rank": 1, "answerable": True, "ndcg_10": 1.0}
POLICY = {"bucket": "score_policy", "section_rank": 3, "top_rank": 3, "answerable": True, "ndcg_10": 0.5}
GAP = {"bucket": "retrieval_gap", "answerable": True, "ndcg_10": 0.0}
NONE = {"unranked": "no_gold"}
DRIFT, SUSPECT = {"label": "generation_drift"}, {"label": "refusal_suspect"}


def row(q_id: str, *parts: dict[str, object], **more: object) -> dict[str, object]:
    return {"q_id": q_id, "reciprocal_rank": 0.5} | {k: v for part in parts for k, v in part.items()} | more


BEFORE = [
    row("both", HIT),
    row("regressed", HIT),
    row("fixed", POLICY, DRIFT),
    row("fixed too", GAP, SUSPECT),
    row("neither", GAP, SUSPECT),
    row("not judged", NONE),
    row("gone", HIT),
    row("both", GAP, DRIFT, paraphrase=1),
    row("fixed", HIT, repeat=2),
]
AFTER = [
    row("not judged", HIT),
    row("fixed", HIT),
    row("fixed too", HIT, DRIFT),
    row("neither", POLICY, SUSPECT),
    row("regressed", GAP, label=None),
    row("both", HIT),
    row("new", POLICY),
    row("both", HIT, paraphrase=1),
    row("both", GAP, seed=1),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("compared")
    found = store_of(
        folder, {"R1": BEFORE, "R2": AFTER, "R3": [], "R4": []}, cohorts={"path": "cohorts.jsonl"}
    )
    (index_folder(found._manifest, "R4", folder / "cache") / "run.json").unlink()
    return found


SHOWN = Filter("R2", vs="R1")


def listed(store: Store, shown: Filter) -> list[str]:
    return store.page(shown, Sort("q_id"), limit=50, offset=0)["q_id"].tolist()


def test_labels_and_buckets_go_from_one_run_to_the_other(store: Store) -> None:
    assert store.transitions(SHOWN, "bucket") == [
        ("hit", "hit", 1),
        ("hit", "retrieval_gap", 1),
        ("score_policy", "hit", 1),
        ("retrieval_gap", "hit", 1),
        ("retrieval_gap", "score_policy", 1),
        (None, "hit", 1),
    ]
    assert store.transitions(SHOWN, "label") == [
        ("generation_drift", "ok", 1),
        ("refusal_suspect", "generation_drift", 1),
        ("refusal_suspect", "refusal_suspect", 1),
        ("ok", "ok", 2),
        ("ok", None, 1),
    ]


def test_causes_go_from_one_run_to_the_other(tmp_path: Path) -> None:
    wrong, right = {"cause": "contradicted", "correct": "wrong"}, {"cause": "none", "correct": "correct"}
    before = [row("fixed", **wrong), row("worse", **right), row("same", **wrong), row("not judged")]
    after = [
        row("fixed", **right),
        row("worse", cause="over_refusal"),
        row("same", **wrong),
        row("not judged"),
    ]
    store = store_of(tmp_path, {"R1": before, "R2": after})
    moved = store.transitions(SHOWN, "cause")
    assert moved == [
        ("contradicted", "contradicted", 1),
        ("contradicted", "none", 1),
        ("none", "over_refusal", 1),
        (None, None, 1),
    ]
    assert listed(store, replace(SHOWN, was_cause=("contradicted",), cause=("none",))) == ["fixed"]
    page = store.page(SHOWN, Sort("q_id"), limit=9, offset=0)
    assert page["was_correct"].dropna().tolist() == ["wrong", "wrong", "correct"]


def test_a_run_whose_claims_are_not_checked_has_no_causes(store: Store) -> None:
    assert {(was, now) for was, now, _ in store.transitions(SHOWN, "cause")} == {(None, None)}
    assert listed(store, replace(SHOWN, was_cause=("contradicted",))) == []


@pytest.mark.parametrize(("column", "was"), [("label", "was"), ("bucket", "was_bucket")])
def test_a_cell_of_a_matrix_is_the_list_that_it_opens(store: Store, column: str, was: str) -> None:
    for there, here, count in store.transitions(SHOWN, column):  # type: ignore[arg-type]
        if there is not None and here is not None:
            shown = Filter("R2", vs="R1", **{column: (here,), was: (there,)})  # type: ignore[arg-type]
            assert len(listed(store, shown)) == count


@pytest.mark.parametrize(
    ("outcome", "flips"),
    [
        ("", Flips(2, 1, 1, 1, only_here=1, only_there=1, left_out=1)),
        ("gt_in_top_20", Flips(2, 1, 2, 0, only_here=1, only_there=1, left_out=1)),
        ("answered_ok", Flips(1, 0, 2, 2, only_here=1, only_there=1, left_out=1)),
        ("citation_match", Flips(0, 0, 0, 0, only_here=1, only_there=1, left_out=6)),
    ],
)
def test_flips_count_every_question_once(store: Store, outcome: str, flips: Flips) -> None:
    assert store.flips(Filter("R2", vs="R1", outcome=outcome, flip="fixed")) == flips


@pytest.mark.parametrize(
    ("kind", "sentence", "q_ids"),
    [
        ("fixed", "fixed compared with R1 by SectionMatch@1", ["fixed", "fixed too"]),
        ("regressed", "regressed compared with R1 by SectionMatch@1", ["regressed"]),
        ("both", "right here and in R1 by SectionMatch@1", ["both"]),
        ("neither", "wrong here and in R1 by SectionMatch@1", ["neither"]),
    ],
)
def test_a_flip_opens_its_questions(store: Store, kind: str, sentence: str, q_ids: list[str]) -> None:
    shown = Filter("R2", vs="R1", flip=kind)  # type: ignore[arg-type]
    assert shown.where().sentence == sentence
    assert listed(store, shown) == q_ids
    assert sorted(store.flip_rows(SHOWN, kind, 50, 0)["q_id"]) == q_ids  # type: ignore[arg-type]


def test_flipped_questions_have_their_earlier_values_and_are_worst_first(store: Store) -> None:
    frame = store.flip_rows(SHOWN, "fixed", 50, 0)
    reported = frame.astype(object).where(frame.notna(), None)
    assert frame.columns.tolist() == [
        *("q_id", "q", "was_label", "label", "was_bucket", "bucket"),
        *("was_grounded", "grounded", "was_correct", "correct", "was_rank", "section_rank"),
    ]
    verdicts = ["was_grounded", "grounded", "was_correct", "correct"]
    assert reported[verdicts].isna().all(axis=None), "claims are not checked"
    assert list(reported.drop(columns=verdicts).itertuples(index=False, name=None)) == [
        ("fixed too", "fixed too", "refusal_suspect", "generation_drift", "retrieval_gap", "hit", None, 1),
        ("fixed", "fixed", "generation_drift", "ok", "score_policy", "hit", 3, 1),
    ]
    pages = [store.flip_rows(SHOWN, "fixed", 1, offset) for offset in range(3)]
    assert pd.concat(pages)["q_id"].tolist() == frame["q_id"].tolist()
    assert pages[2].columns.tolist() == frame.columns.tolist()


def test_pairs_are_differences_in_the_order_of_the_file(store: Store) -> None:
    assert store.paired(SHOWN, ["ndcg_at_10"])["ndcg_at_10"].tolist() == [0.5, 1.0, 0.5, -1.0, 0.0]
    assert store.paired(SHOWN, ["gt_in_top_20"])["gt_in_top_20"].tolist() == [0.0, 1.0, 1.0, -1.0, 0.0]
    assert store.paired(SHOWN, ["delta_s_mean"])["delta_s_mean"].tolist() == []
    for metric_id in MEASURES:
        assert len(store.paired(SHOWN, [metric_id])[metric_id]) <= 6, metric_id


def test_a_filter_narrows_both_sides(store: Store) -> None:
    """Of the questions that are hits: what they were, and which hits of the other run are not here."""
    shown = Filter("R2", vs="R1", bucket=("hit",))
    assert store.flips(shown) == Flips(2, 0, 1, 0, only_here=0, only_there=1, left_out=1)
    was = Filter("R2", vs="R1", was_bucket=("retrieval_gap",))
    assert store.flips(was) == Flips(1, 0, 0, 1, only_here=0, only_there=1, left_out=0)
    assert [name for name, *_ in store.transitions(was, "bucket")] == ["retrieval_gap"] * 2


@pytest.mark.parametrize("vs", ["", "R4", "no such run", "../../etc"])
def test_what_is_no_run_to_compare_with_has_nothing_in_common(store: Store, vs: str) -> None:
    shown = Filter("R2", vs=vs)
    assert store.flips(shown) == Flips(0, 0, 0, 0, only_here=7, only_there=0, left_out=0)
    assert store.transitions(shown, "label") == []
    assert store.paired(shown, ["mrr"])["mrr"].size == 0
    assert store.flip_rows(shown, "both", 50, 0).empty
    assert store.matching(Filter("R2", vs=vs, was=("ok",))) == 0
    assert store.measure(Filter("R2", vs=vs, flip="fixed"))["ok"].of == 0
    reported = Filter("R2", vs=vs, was=("ok",)).where().sentence
    assert reported == f"was Grounded in {vs or 'a run that is not named'}"


def test_a_run_beside_itself_and_beside_an_empty_one(store: Store) -> None:
    itself = store.flips(Filter("R2", vs="R2"))
    assert (itself.fixed, itself.regressed, itself.only_here, itself.only_there) == (0, 0, 0, 0)
    assert set(store.paired(Filter("R2", vs="R2"), ["mrr"])["mrr"]) == {0.0}
    assert store.flips(Filter("R2", vs="R3")) == Flips(0, 0, 0, 0, only_here=7, only_there=0, left_out=0)
    assert store.flips(Filter("R3", vs="R2")) == Flips(0, 0, 0, 0, only_here=0, only_there=7, left_out=0)


def test_every_variant_is_compared_with_its_own(store: Store) -> None:
    shown = Filter("R2", vs="R1", was=("generation_drift",), all_variants=True)
    page = store.page(shown, Sort("q_id"), limit=9, offset=0)
    assert list(zip(page["q_id"], page["paraphrase"], strict=True)) == [("both", 1), ("fixed", 0)]
    key = TraceKey("R2", "both", paraphrase=1)
    assert store.neighbours(shown, Sort("q_id"), key).next == TraceKey("R2", "fixed")


filters = st.builds(
    Filter,
    run=st.just("R2"),
    vs=st.sampled_from(["R1", "R2", "R3", ""]),
    label=st.sampled_from([(), ("ok",), ("refusal_suspect", "generation_drift")]),
    bucket=st.sampled_from([(), ("hit",), ("score_policy", "retrieval_gap")]),
    was=st.sampled_from([(), ("ok",), ("refusal_suspect",)]),
    was_bucket=st.sampled_from([(), ("hit", "retrieval_gap")]),
    flip=st.sampled_from(["", *FLIPS]),
    outcome=st.sampled_from(["", *OUTCOMES]),
    miss=st.sampled_from(["", "ndcg_at_10", "section_match_at_1"]),
)


@settings(max_examples=20, deadline=None)
@given(filters)
def test_counts_are_the_lengths_of_lists(store: Store, shown: Filter) -> None:
    count = len(listed(store, shown))
    assert store.matching(shown) == count
    labels = store.counts(shown)
    if shown.label:
        assert sum(labels[label] for label in shown.label) == count  # type: ignore[index]
    buckets = store.bucket_counts(shown)
    if shown.bucket:
        assert sum(buckets[bucket] for bucket in shown.bucket) == count
    flips = store.flips(shown)
    for kind in FLIPS:
        assert getattr(flips, kind) == store.matching(replace(shown, flip=kind))
    in_both = sum(cell for _, _, cell in store.transitions(shown, "label"))
    assert in_both == count - (0 if shown.compares else flips.only_here)


def test_what_was_compared_with_a_run_is_compared_again_when_that_run_changes(tmp_path: Path) -> None:
    store = store_of(tmp_path, {"R1": BEFORE, "R2": AFTER})
    shown = Filter("R2", vs="R1", flip="fixed")
    before = store.places(shown, Sort("q_id"))
    write_index(index_folder(store._manifest, "R1", tmp_path / "cache"), [row("both", GAP)], name="t.parquet")
    assert before["q_id"].tolist() == ["fixed", "fixed too"]
    assert store.places(shown, Sort("q_id"))["q_id"].tolist() == ["both"]


def test_a_cohort_is_the_list_of_its_questions(store: Store) -> None:
    file = store._manifest.folder / "cohorts.jsonl"
    shown = Filter("R2", cohort="GAPS")
    assert (store.matching(shown), shown.where().sentence) == (0, "of cohort GAPS")
    q_ids = ["fixed too", "neither", "gone", "asked nowhere"]
    file.write_bytes(lines([{"name": "GAPS", "q_ids": q_ids}]))
    assert listed(store, shown) == ["fixed too", "neither"]
    assert store.measure(shown)["section_match_at_1"].of == 2
    places = store.places(shown, Sort())
    file.write_bytes(lines([{"name": "GAPS", "q_ids": ["both"]}]))
    assert len(places) == 2
    assert store.places(shown, Sort())["q_id"].tolist() == ["both"]


def test_only_chosen_questions_are_no_evidence(tmp_path: Path) -> None:
    chosen = {"name": "LOST", "q_ids": ["Q1", "Q2"]}
    records: dict[str, dict[str, object]] = {
        "R2": {"derived": {"parent": "R1", "settings": {"cohort": chosen}}},
        "R3": {"derived": {"parent": "R1", "settings": {"cohort": None}}},
        "R4": {"derived": ["R1"]},
    }
    for run_id, record in records.items():
        (tmp_path / f"{run_id}.json").write_text(json.dumps(record), encoding="utf-8")
    was, *runs = (
        Run(name, record=Artifact("record", f"{name}.json", kind="json") if name in records else None)
        for name in ("R1", *records)
    )
    manifest = Manifest("Small car", tmp_path)
    first, *others = (chosen_sentence(manifest, run, was) for run in runs)
    assert first.startswith("Only the 2 questions of LOST were reranked; the others are as in R1.")
    assert others == ["", ""]
    assert chosen_sentence(manifest, runs[0], runs[1]) == ""


def test_nothing_is_concluded_from_questions_that_were_chosen() -> None:
    flips = Flips(6, 0, 18, 13, only_here=0, only_there=0, left_out=0)
    words = {"run": "R7", "vs": "R3", "outcome": "section_match_at_1"}
    assert "p = 0.031, statistically significant" in verdict_sentence(flips, **words)
    plain = verdict_sentence(flips, **words, is_test=False)
    assert plain == "Retrieval: 6 fixed, none regressed of 37 by SectionMatch@1."
