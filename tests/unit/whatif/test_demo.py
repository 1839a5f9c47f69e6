"""The demo with other settings: reproduced orders, questions that move, saved runs with the same outcomes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.passes.checking import check_runs
from proofspan.services.whatif.engine import SHOWN, what_if
from proofspan.services.whatif.lists import Lists, load_lists
from proofspan.services.whatif.logged import logged
from proofspan.services.whatif.params import settings_of
from proofspan.services.whatif.save import save
from proofspan.services.whatif.sweep import sweep
from proofspan.services.whatif.types import Settings, WhatIf
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from tests.places import DEMO

RUNS = ("R001", "R003", "R004")


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the demo, `ws`, and its index, `cache`."""
    folder = tmp_path_factory.mktemp("whatif")
    shutil.copytree(DEMO, folder / "ws")
    refresh(folder, *RUNS)
    return folder


def refresh(room: Path, *run_ids: str) -> Store:
    manifest, cache = load_manifest(room / "ws"), room / "cache"
    build_index(manifest, runs=run_ids, cache_dir=cache, workers=1)
    list(check_runs(manifest, run_ids, cache_dir=cache, workers=1))
    return Store(manifest, cache)


@pytest.fixture(scope="module")
def lists(room: Path) -> dict[str, Lists]:
    manifest = load_manifest(room / "ws")
    store = Store(manifest, room / "cache")
    return {run_id: load_lists(manifest, run_id, store) for run_id in RUNS}


def counts(found: WhatIf) -> dict[str, tuple[int, int]]:
    return {name: (flips.fixed, flips.regressed) for name, flips in found.flips.items()}


def test_the_logged_order_comes_out_again(lists: dict[str, Lists]) -> None:
    for run_id in RUNS:
        assert (logged(lists[run_id]).reproduced, logged(lists[run_id]).questions) == (41, 41)
    own = logged(lists["R003"]).settings
    assert (own.k, own.top, own.depth, own.ties, own.prompt) == (60.0, 20, 50, "section", 5)
    assert [each.name for each in logged(lists["R004"]).lists] == ["bm25", "dense"]
    assert {"maxsim_section", "maxsim_sentence"} <= {each.name for each in logged(lists["R004"]).features}


def test_the_runs_own_settings_change_nothing(lists: dict[str, Lists]) -> None:
    own = logged(lists["R003"]).settings
    found = what_if(lists["R003"], Settings(k=own.k, weights=own.weights, top=own.top, prompt=own.prompt))
    assert found.moved.empty and not found.prompts_changed and not found.notes
    assert all(pair.difference is None or pair.difference.mean == 0 for pair in found.pairs)


def test_a_shorter_fused_list_loses_what_was_behind_it(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R003"], Settings(top=10))
    assert counts(found) == {"section_match_at_1": (0, 0), "gt_in_top_20": (0, 1)}
    (row,) = found.moved.to_dict("records")
    assert (row["q_id"], row["was_top_rank"], row["bucket"]) == ("Q98", 16, "retrieval_gap")


def test_without_its_reranker_a_run_ranks_as_the_run_before_it(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R004"], Settings(is_unranked=True))
    here = {pair.metric.metric_id: pair.here and pair.here.value for pair in found.pairs}
    (there, _) = lists["R003"], found
    fused = {
        pair.metric.metric_id: pair.there and pair.there.value for pair in what_if(there, Settings()).pairs
    }
    for name in ("section_match_at_1", "gt_in_top_20", "mrr", "ndcg_at_10", "recall_at_20"):
        assert here[name] == fused[name]


def test_candidates_that_the_reranker_never_scored_follow(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R004"], Settings(k=10.0))
    assert any("no score of the reranker" in note for note in found.notes)


def test_what_the_run_does_not_log_is_named_with_what_is_near(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R001"], Settings(k=1.0, rerank=(("bm26", 1.0),)))
    assert found.moved.empty
    assert "two separate lists" in found.notes[0] and "'bm26'; it logs bm25" in found.notes[1]
    assert any("only the list bm25" in why for why in logged(lists["R001"]).why)
    unheard = what_if(lists["R003"], Settings(weights=(("bm25", 0.0), ("dense", 0.0))))
    assert unheard.moved.empty and "weight 0" in unheard.notes[0]


def test_an_answer_is_not_blamed_for_another_prompt(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R004"], Settings(rerank=(("maxsim_section", 1.0),)))
    moved = found.moved.set_index("q_id")
    assert (moved.loc["Q102", "was_cause"], moved.loc["Q102", "cause"]) == ("none", "not_in_context")
    assert moved.loc["Q96", "was_cause"] == "unsafe_omission" and moved.loc["Q96", "cause"] is None
    same = moved[~moved["prompt_changed"]]
    assert (same["cause"] == same["was_cause"]).all()
    assert any("is unknown" in note for note in found.notes)


def test_a_higher_support_leaves_fewer_answers_grounded(lists: dict[str, Lists]) -> None:
    found = what_if(lists["R003"], Settings(support=0.9))
    assert ("yes", "partly", 1) in found.changes["grounded"] or ("yes", "no", 1) in found.changes["grounded"]
    same = what_if(lists["R003"], Settings(support=logged(lists["R003"]).settings.support))
    assert all(was == now for was, now, _ in same.changes["grounded"])


def test_a_sweep_says_how_many_it_tried_and_which_is_the_logged_one(lists: dict[str, Lists]) -> None:
    found = sweep(lists["R003"], Settings(), "prompt", "", (1.0, 3.0, 5.0), "ok")
    assert found.tried == 2
    assert [point.is_logged for point in found.points] == [False, False, True]
    assert [point.metric.numerator for point in found.points] == [23, 31, 33]
    assert [point.is_clear for point in found.points] == [True, False, False]  # p = 0.002 and 0.5
    weighted = sweep(lists["R003"], Settings(), "weight", "dense", (0.0, 1.0), "mrr")
    assert [point.is_logged for point in weighted.points] == [False, True]
    assert all(point.p is None for point in weighted.points)
    with pytest.raises(KeyError):
        sweep(lists["R003"], Settings(), "k", "", (1.0,), "delta_s_mean")


SAVED = {
    "W1": ("R003", {"weight": ["bm25:2"], "top": ["7"], "ties": ["chunk"]}),
    "W2": ("R003", {"rerank": ["bm25:1", "dense:0.5"], "prompt": ["3"]}),
    "W3": ("R004", {"k": ["3"], "depth": ["10"]}),
}


def test_a_saved_run_has_the_outcomes_that_were_computed(room: Path, lists: dict[str, Lists]) -> None:
    expected: dict[str, WhatIf] = {}
    for save_as, (run_id, params) in SAVED.items():
        manifest = load_manifest(room / "ws")
        store, (settings, notes) = Store(manifest, room / "cache"), settings_of(params)
        assert not notes
        expected[save_as] = what_if(lists[run_id], settings)
        traces = save(manifest, run_id, store, settings, save_as=save_as)
        written, named = traces.read_bytes(), (room / "ws" / "pipeline_manifest.yaml").read_bytes()
        save(load_manifest(room / "ws"), run_id, store, settings, save_as=save_as)
        assert (written, named) == (
            traces.read_bytes(),
            (room / "ws" / "pipeline_manifest.yaml").read_bytes(),
        )
    store = refresh(room, *SAVED)
    manifest = load_manifest(room / "ws")
    for save_as, found in expected.items():
        measured = run_metrics(store, manifest, save_as).values
        for pair in found.pairs:
            assert pair.metric.metric_id in SHOWN and pair.here == measured[pair.metric.metric_id]
        parent = SAVED[save_as][0]
        for column in ("label", "cause", "bucket"):
            rows = store.transitions(Filter(save_as, vs=parent), column)  # type: ignore[arg-type]
            assert sorted(rows, key=str) == sorted(found.changes[column], key=str)


def test_only_lists_are_saved(room: Path) -> None:
    manifest = load_manifest(room / "ws")
    store = Store(manifest, room / "cache")
    for settings, code in (
        (Settings(), "nothing_changed"),
        (Settings(support=0.5), "setting_unusable"),
        (Settings(weights=(("other", 1.0),)), "setting_unusable"),
    ):
        with pytest.raises(InputFault) as fault:
            save(manifest, "R003", store, settings, save_as="W9")
        assert fault.value.problems[0].code == code
    assert load_manifest(room / "ws").run("W9") is None
