"""The stop rule: two runs of a class in a row without lift raise it, in the gate too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofspan.errors import ManifestFault
from proofspan.manifest.types import Manifest
from proofspan.services.gate import release_verdict
from proofspan.services.sprint.record import sprint_record
from proofspan.services.stop_rule import ClassLifts, Lift, class_lifts, runs_needed, stop_rules
from tests.unit.store_workspace import CHUNKS, built, lines, manifest_of, trace

QUESTIONS = ("Q1", "Q2", "Q3")
#: Each run with its class, its baseline, and the questions whose gold section comes first.
RUNS: dict[str, tuple[str | None, str | None, str]] = {
    "R1": (None, None, "1"),
    "R2": ("recall", "R1", "12"),
    "R3": ("rerank", "R2", "23"),
    "R4": ("rerank", "R2", "1"),
    "R5": ("recall", "R4", "1"),
    "R6": ("rerank", "R9", "1"),
    "R7": ("rerank", "R2", "123"),
}


def workspace(folder: Path, runs: dict[str, tuple[str | None, str | None, str]], **more: Any) -> Manifest:
    (folder / "chunks.jsonl").write_bytes(lines(CHUNKS))
    gold = [{"q_id": q_id, "q": "What holds the oil filter?", "sections": ["4.2"]} for q_id in QUESTIONS]
    (folder / "gold.jsonl").write_bytes(lines(gold))
    listed = []
    for run_id, (kind, baseline, first) in runs.items():
        order = {q_id: ["c1", "c2"] if q_id[1] in first else ["c2", "c1"] for q_id in QUESTIONS}
        traces = [trace(q_id, chunks=[{"id": each} for each in ids]) for q_id, ids in order.items()]
        (folder / f"{run_id}.jsonl").write_bytes(lines(traces))
        named = {"class": kind, "baseline": baseline}
        listed.append(
            {"run_id": run_id, "traces": {"path": f"{run_id}.jsonl"}}
            | {name: value for name, value in named.items() if value is not None}
        )
    named = {"chunks": {"path": "chunks.jsonl"}, "gold": {"path": "gold.jsonl"}}
    return manifest_of(folder, runs=listed, **named, **more)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("stop")
    manifest = workspace(folder, RUNS)
    return built(manifest, folder / "cache"), manifest


def test_a_class_has_the_lift_of_each_run_on_its_baseline(room: Any) -> None:
    assert class_lifts(*room, "rerank") == ClassLifts(
        "rerank", (Lift("R3", "R2", 1, 1, 3), Lift("R4", "R2", 0, 1, 3), Lift("R7", "R2", 1, 0, 3))
    )
    assert class_lifts(*room, "rerank", until="R4").idle == (
        Lift("R3", "R2", 1, 1, 3),
        Lift("R4", "R2", 0, 1, 3),
    )
    assert class_lifts(*room, "none") == ClassLifts("none", ())


def test_a_run_with_lift_ends_the_row(room: Any) -> None:
    raised = class_lifts(*room, "rerank", until="R4")
    assert raised.is_raised
    assert raised.sentence == (
        "the last 2 runs of class rerank lifted nothing (R3 ±0 on R2, R4 −1 on R2): "
        "stop, and propose another change"
    )
    once = class_lifts(*room, "recall")
    assert not once.is_raised
    assert once.sentence == (
        "the last run of class recall lifted nothing (R5 ±0 on R4); one more raises the rule"
    )
    now = class_lifts(*room, "rerank")
    assert (now.idle, now.sentence) == ((), "the last run of class rerank has lift (R7 +1 on R2)")
    assert stop_rules(*room) == ()
    assert once.after(Lift("new", "R4", 0, 0, 3)).is_raised


def test_the_rule_is_raised_for_the_classes_that_end_without_lift(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {name: RUNS[name] for name in ("R1", "R2", "R3", "R4")})
    store = built(manifest, tmp_path / "cache")
    assert [each.kind for each in stop_rules(store, manifest)] == ["rerank"]
    assert sprint_record(manifest, store).stopped == (class_lifts(store, manifest, "rerank").sentence,)
    assert sprint_record(manifest, None).stopped == ()


def test_only_the_last_two_of_a_class_are_needed(room: Any) -> None:
    _, manifest = room
    assert runs_needed(manifest, manifest.run("R7")) == ("R4", "R2", "R7")
    assert runs_needed(manifest, manifest.run("R1")) == ()


def test_runs_without_an_index_are_named(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {name: RUNS[name] for name in ("R1", "R2")})
    store = built(manifest_of(tmp_path, runs=[]), tmp_path / "cache")
    assert class_lifts(store, manifest, "recall") == ClassLifts("recall", (), ("R2", "R1"))


def test_the_gate_warns_or_fails_a_run_that_raises_it(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, {name: RUNS[name] for name in ("R1", "R2", "R3", "R4", "R7")})
    store = built(manifest, tmp_path / "cache")

    def checked(run_id: str, **gates: str) -> list[tuple[str, object]]:
        checks = release_verdict(store, replace(manifest, gates=gates), run_id).checks
        return [(each.status, each.numbers["without_lift"]) for each in checks if each.name == "stop_rule"]

    assert checked("R4") == checked("R4", stop_rule="warn") == [("warn", 2)]
    assert checked("R4", stop_rule="fail") == [("fail", 2)]
    assert checked("R7", stop_rule="fail") == [("pass", 0)]
    assert checked("R3") == checked("R1") == []


@pytest.mark.parametrize("value", ["off", "true"])
def test_a_gate_that_cannot_be_understood_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ManifestFault):
        manifest_of(tmp_path, gates={"stop_rule": value})
