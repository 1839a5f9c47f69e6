"""`proofspan whatif`: its texts, its data, and input that it cannot use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services.whatif.engine import what_if
from proofspan.services.whatif.lists import load_lists
from proofspan.services.whatif.logged import logged
from proofspan.services.whatif.types import Settings
from tests.places import DEMO
from tests.unit.metrics.metrics_room import measured_workspace, three_traces
from tests.unit.store_workspace import built


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def run(cache_dir: Path, *options: str) -> Result:
    named = ["--run", "R003", "--cache-dir", str(cache_dir)]
    return CliRunner().invoke(group, ["whatif", str(DEMO), *named, *options])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("list", ["--list"]),
        ("weight", ["--weight", "bm25:2", "--top", "10"]),
        ("sweep", ["--sweep", "prompt=1,3,5", "--metric", "ok"]),
    ],
)
def test_texts(cache_dir: Path, golden: Callable[[str, str], None], name: str, options: list[str]) -> None:
    result = run(cache_dir, *options)
    assert result.exit_code == 0, result.output
    golden(f"whatif/{name}", result.stdout)


def test_data_has_every_number(cache_dir: Path) -> None:
    found = json.loads(run(cache_dir, "--weight", "bm25:2", "--json").stdout)
    assert found["settings"] == {"weight": ["bm25:2"]} and found["reproduced"] == 41
    assert found["flips"]["section_match_at_1"]["fixed"] == 2
    assert found["metrics"]["section_match_at_1"]["p"] == 0.5
    assert {"was": "score_policy", "now": "hit", "questions": 2} in found["changes"]["bucket"]
    assert found["moved"][0]["rank"] == 1
    swept = json.loads(run(cache_dir, "--sweep", "weight:dense=0,1", "--json").stdout)
    assert (swept["tried"], swept["name"]) == (1, "dense")
    assert [point["logged"] for point in swept["points"]] == [False, True]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "0"], "k=0 is not used: give a number above 0"),
        (["--sweep", "k"], "write NAME=A,B"),
        (["--sweep", "weight=1,2"], "weight:bm25=0,1,2"),
        (["--sweep", "k=1", "--metric", "other"], "--metric other is not one of"),
        (["--sweep", "k=1", "--save-as", "W"], "leave out --sweep"),
        (["--list", "--k", "1"], "takes no settings"),
    ],
)
def test_options_that_cannot_be_used(cache_dir: Path, options: list[str], words: str) -> None:
    result = run(cache_dir, *options)
    assert result.exit_code == 2 and words in result.output


def test_a_list_that_the_run_does_not_log_is_unusable(cache_dir: Path) -> None:
    with pytest.raises(InputFault) as fault:
        group.main(
            ["whatif", str(DEMO), "--run", "R003", "--cache-dir", str(cache_dir), "--weight", "bm52:1"],
            standalone_mode=False,
        )
    assert "'bm52'; it logs bm25" in fault.value.problems[0].message


def test_without_gold_and_without_lists_it_says_so(tmp_path: Path) -> None:
    measured_workspace(tmp_path / "ws", {"R1": three_traces(), "R2": []}, gold=None)
    store = built(load_manifest(tmp_path / "ws"), tmp_path / "cache")
    manifest = load_manifest(tmp_path / "ws")
    lists = load_lists(manifest, "R1", store)
    why = " ".join(logged(lists).why)
    assert "No question has gold" in why and "no separate lists" in why
    found = what_if(lists, Settings(prompt=1, k=5.0))
    assert found.logged.questions == 3 and any("two separate lists" in note for note in found.notes)
    empty = what_if(load_lists(manifest, "R2", store), Settings(prompt=1))
    assert empty.logged.questions == 0 and empty.moved.empty
    assert "R2 has no question." in empty.logged.why


def test_lines_that_were_written_since_are_left_out_and_other_ones_are_refused(tmp_path: Path) -> None:
    measured_workspace(tmp_path / "ws", {"R1": three_traces()})
    store, file = (
        built(load_manifest(tmp_path / "ws"), tmp_path / "cache"),
        tmp_path / "ws" / "runs" / "R1.jsonl",
    )
    manifest, known = load_manifest(tmp_path / "ws"), file.read_bytes()
    file.write_bytes(known + b'{"q_id": "Q9", "q": "New?", "answer": "", "chunks": []}\n')
    assert load_lists(manifest, "R1", store).questions == 3
    file.write_bytes(known.replace(b'"Q2"', b'"Q7"'))
    with pytest.raises(InputFault) as fault:
        load_lists(manifest, "R1", store)
    assert fault.value.problems[0].code == "file_changing"
