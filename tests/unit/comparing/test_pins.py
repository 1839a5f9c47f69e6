"""The pins of two runs: only differences are listed, and a lost record is a problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.errors import Fault
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.compare import PinDifference, compared_pins, pin_differences
from proofspan.services.pinning.read import read_record
from tests.places import DEMO
from tests.unit.store_workspace import manifest_of


@pytest.mark.parametrize(
    ("was", "now", "differing", "same"),
    [
        ({}, {}, [], ()),
        ({"a": 1}, {"a": 1}, [], ("a",)),
        ({"a": 1}, {"a": 2}, [("a", "1", "2")], ()),
        ({"a": 1}, {"a": 1.0}, [("a", "1", "1.0")], ()),
        ({"a": 1}, {"a": True}, [("a", "1", "true")], ()),
        ({"a": "x"}, {}, [("a", "x", None)], ()),
        ({"a": None}, {}, [("a", "null", None)], ()),
        ({}, {"a": {"c": 1, "b": "y"}}, [("a.b", None, "y"), ("a.c", None, "1")], ()),
        ({"a": {"b": 1, "c": [1, 2]}}, {"a": {"b": 1, "c": [2, 1]}}, [("a.c", "[1,2]", "[2,1]")], ("a.b",)),
        ({"a": {"c": 1, "b": 2}}, {"a": {"b": 2, "c": 1}}, [], ("a",)),
        ({"a": "x"}, {"a": {"b": 1}}, [("a", "x", '{"b":1}')], ()),
        ({"a": {}}, {"a": {"b": 1}}, [("a.b", None, "1")], ()),
        ({"a": {}}, {}, [("a", "{}", None)], ()),
    ],
)
def test_only_what_differs_is_reported(
    was: dict[str, Any],
    now: dict[str, Any],
    differing: list[tuple[str, str | None, str | None]],
    same: tuple[str, ...],
) -> None:
    found = pin_differences(was, now)
    assert found.differing == tuple(PinDifference(*each) for each in differing)
    assert found.same == same


def test_the_demo_says_that_its_reranker_is_new() -> None:
    manifest = load_manifest(DEMO)
    was, now = manifest.run("R003"), manifest.run("R004")
    assert was is not None and now is not None
    found = compared_pins(manifest, was, now)
    assert PinDifference("reranker.model", None, "maxsim-1") in found.differing
    assert {"bm25", "embed_model", "index"} <= set(found.same)
    assert not {"run_id", "ts", "record"} & {each.key for each in found.differing}
    assert not found.problems


def pinned(folder: Path, data: bytes | None) -> Manifest:
    """Two runs, the second with a record."""
    folder.mkdir()
    if data is not None:
        (folder / "pin.json").write_bytes(data)
    (folder / "t.jsonl").write_bytes(b"")
    runs = [
        {"run_id": "R1", "traces": {"path": "t.jsonl"}, "pinned": {"k": "3"}},
        {"run_id": "R2", "traces": {"path": "t.jsonl"}, "pinned": {"k": "3", "record": "pin.json"}},
    ]
    return manifest_of(folder, runs=runs)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "does not exist"),
        (b"", "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "nested more than 64 deep"),
        (orjson.dumps({"a": "x" * (5 << 20)}), "larger than"),
    ],
)
def test_a_record_that_cannot_be_used_is_reported_beside_the_rest(
    tmp_path: Path, data: bytes | None, reason: str
) -> None:
    manifest = pinned(tmp_path / "w", data)
    first, second = manifest.runs
    found = compared_pins(manifest, first, second)
    (problem,) = found.problems
    assert reason in problem.message and problem.fix
    assert found.same == ("k",)
    with pytest.raises(Fault, match=reason):
        read_record(manifest, second)
    assert read_record(manifest, first).values == {}
