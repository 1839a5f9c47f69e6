"""`proofspan pin`, and the gate that asks for a pinning record."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.contracts.pinning.requirements import USES, gaps, placeholders, stated_uses
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.goals import read_gates
from proofspan.services.pin_checks import pin_checks
from proofspan.services.pinning.machine import THREAD_VARIABLES, runtime_here, versions_here
from proofspan.services.pinning.template import template, weights_of
from tests.places import DEMO
from tests.unit.pinning.test_findings import EXAMPLE, workspace
from tests.unit.store_workspace import lines, trace, write_workspace


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["pin", *map(str, arguments)])


def test_a_new_record_has_a_placeholder_for_each_field() -> None:
    result = run("--new")
    record = json.loads(result.stdout)
    found = gaps(record, USES)
    assert (result.exit_code, found.missing, found.malformed) == (0, (), ())
    assert stated_uses(record) == set(USES)
    assert len(found.placeholders) == len(list(placeholders(record))) > 25
    assert "reranker" not in json.loads(run("--new", "--uses", "fusion").stdout)


def test_a_record_whose_placeholders_are_replaced_is_complete() -> None:
    record = template(USES)
    filled = orjson.loads(
        orjson.dumps(record).replace(b'"<number>"', b"1").replace(b'"<true or false>"', b"true")
    )

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {name.strip("<>"): replaced(each) for name, each in value.items()}
        if isinstance(value, list):
            return [replaced(each) for each in value]
        return value.strip("<>") if isinstance(value, str) else value

    found = gaps(replaced(filled), USES)
    assert (found.missing, found.placeholders, found.malformed) == ((), (), ())


def test_files_and_libraries_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "model/onnx").mkdir(parents=True)
    (tmp_path / "model/onnx/model.onnx").write_bytes(b"weights")
    (tmp_path / "model/tokenizer.json").write_bytes(b"{}")
    options = ["--weights", tmp_path / "model", "--tokenizer", tmp_path / "model/tokenizer.json"]
    record = json.loads(run("--new", *options, "--library", "numpy", "--machine").stdout)
    assert record["reranker"]["weights"] == weights_of(tmp_path / "model")
    assert record["reranker"]["weights"]["source"] == "model"
    assert set(record["reranker"]["weights"]["files"]) == {"onnx/model.onnx", "tokenizer.json"}
    # `sha256sum onnx/model.onnx tokenizer.json | sha256sum` in the folder
    assert record["reranker"]["weights"]["sha256"].startswith(
        "a6680a82b47c88c3c28f95df1bad52f0d549e367b95badef"
    )
    assert record["reranker"]["tokenizer"]["sha256"].startswith(
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe7"
    )
    assert record["libraries"] == versions_here(["numpy"])
    assert record["runtime"]["cpu"] and record["runtime"]["os"] and record["runtime"]["python"]
    embedding = json.loads(run("--new", "--uses", "embedding", *options).stdout)
    assert "weights" in embedding["embedding"] and "reranker" not in embedding


def test_the_threads_are_those_of_the_environment() -> None:
    runtime = runtime_here({"OMP_NUM_THREADS": "2", "MKL_CBWR": "COMPATIBLE", "HOME": "/"})
    assert runtime["threads"] == 2
    assert runtime["environment"] == dict.fromkeys(THREAD_VARIABLES) | {
        "OMP_NUM_THREADS": "2",
        "MKL_CBWR": "COMPATIBLE",
    }
    assert "threads" not in runtime_here({})


@pytest.mark.parametrize(
    "options",
    [["--weights", "lost"], ["--weights", "."], ["--tokenizer", "lost"], ["--library", "no-such-library"]],
)
def test_what_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(run("--new", *options).exception, InputFault)


@pytest.mark.parametrize(
    "arguments", [[], ["--run", "R1"], [DEMO, "--machine"], [DEMO, "--library", "numpy"]]
)
def test_options_that_do_not_fit(arguments: list[object]) -> None:
    assert run(*arguments).exit_code == 2


def test_the_demos_records_are_complete(golden: Callable[[str, str], None]) -> None:
    result = run(DEMO)
    assert result.exit_code == 0
    golden("pin/demo", result.stdout)


def test_findings_are_listed_by_run(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    record = {"run_id": "R1", "libraries": {"x": "<version>"}, "fusion": {"k": "60", "top": 20}}
    traces = lines([trace("Q1", index_hash="bm25:2222222", stages={"fused": [{"id": "c1"}] * 21})])
    workspace(tmp_path / "w", record, traces)
    result = run(tmp_path / "w")
    assert result.exit_code == 1
    golden("pin/findings", result.stdout)
    (report,) = json.loads(run(tmp_path / "w", "--json").stdout)
    assert report["uses"] == ["fusion"]
    assert report["findings"][0] | {"message": "", "fix": ""} == {
        "kind": "contradicts",
        "field": "fusion.top",
        "severity": "error",
        "message": "",
        "fix": "",
    }
    assert isinstance(run(tmp_path / "w", "--run", "R9").exception, InputFault)


def test_a_run_without_a_record_gets_one_from_what_is_known(tmp_path: Path) -> None:
    write_workspace(tmp_path / "w", {"R1": [trace("Q1")]})
    assert run(tmp_path / "w").exit_code == 1
    record = json.loads(run(DEMO, "--run", "R003", "--new").stdout)
    committed = json.loads((DEMO / "pinning/R003.json").read_bytes())
    assert record["fusion"] == committed["fusion"]
    assert not list(placeholders(record))
    manifest = load_manifest(tmp_path / "w")
    record = json.loads(run(manifest.folder, "--new").stdout)
    assert (record["run_id"], record["determinism"]["file"]) == ("R1", "runs/R1.jsonl")
    assert not {"reranker", "fusion"} & record.keys()


def checks(manifest: Manifest, **gates: str) -> list[tuple[str, str, str]]:
    asked, problems = read_gates(gates)
    assert not problems
    found = pin_checks(manifest, manifest.runs[-1], pinning=asked.pinning, determinism=asked.determinism)
    return [(each.name, each.status, each.message) for each in found]


def test_the_gate_passes_the_demo_and_says_nothing_that_it_is_not_asked() -> None:
    manifest = load_manifest(DEMO)
    assert checks(manifest) == []
    assert [each[:2] for each in checks(manifest, pinning="complete", determinism="required")] == [
        ("pinning", "pass"),
        ("determinism", "pass"),
    ]


def test_a_record_that_contradicts_its_run_is_a_warning_or_fails(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "w", {"run_id": "R2"})
    assert [each[:2] for each in checks(manifest)] == [("pinning", "warn")]
    assert [each[:2] for each in checks(manifest, pinning="required")] == [("pinning", "fail")]


def test_an_incomplete_record_fails_only_where_it_has_to_be_complete(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "w", {"run_id": "R1"})
    assert checks(manifest) == []
    ((_, status, message),) = checks(manifest, pinning="required")
    assert status == "pass" and "lacks 8 of 8 fields" in message
    assert [each[1] for each in checks(manifest, pinning="complete")] == ["fail"]


def test_a_run_without_a_record_fails_the_gate(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path / "w", {"R1": [trace("Q1")]})
    assert checks(manifest) == []
    asked = checks(manifest, pinning="required", determinism="required")
    assert [each[1] for each in asked] == ["fail", "fail"]


@pytest.mark.parametrize(
    ("proof", "why"),
    [
        ({}, "does not state"),
        ({"sha256": ["6a2c50e3"]}, "does not state"),
        ({"sha256": ["6a2c50e3", "<sha256>"]}, "does not state"),
        ({"sha256": ["6a2c50e3", "pass"]}, "is not a hash"),
        ({"sha256": ["6a2c50e3", "6a2c50e4"]}, "differ"),
        ({"sha256": ["6a2c50e3", "6a2c50e3"]}, None),
        ({"sha256": ["6a2c50e3", "6a2c50e3"], "file": "lost.jsonl"}, "does not exist"),
        ({"sha256": ["6a2c50e3", "6a2c50e3"], "file": "../x"}, "is refused"),
        ({"sha256": ["6a2c50e3", "6a2c50e3"], "file": "t.jsonl"}, "another sha256 now"),
    ],
)
def test_the_proof_of_determinism(tmp_path: Path, proof: dict[str, Any], why: str | None) -> None:
    manifest = workspace(tmp_path / "w", EXAMPLE | {"run_id": "R1", "determinism": proof})
    ((_, status, message),) = checks(manifest, determinism="required")
    assert status == ("fail" if why else "pass")
    assert why is None or why in message


def test_the_output_that_a_proof_names_must_have_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    workspace(folder, EXAMPLE | {"run_id": "R1"})
    shutil.copy(folder / "t.jsonl", tmp_path / "again.jsonl")
    command = [
        "determinism",
        str(tmp_path / "again.jsonl"),
        str(folder / "t.jsonl"),
        "--record",
        str(folder / "pin.json"),
    ]
    for options in ([], ["--ignore", "q_id"]):
        assert CliRunner().invoke(group, [*command, *options]).exit_code == 0
        assert [
            each[1] for each in checks(load_manifest(folder), pinning="complete", determinism="required")
        ] == ["pass"] * 2
    (folder / "t.jsonl").write_bytes(lines([trace("Q1", answer="Another one.")]))
    ((_, status, message),) = checks(load_manifest(folder), determinism="required")
    assert status == "fail" and "another sha256 now" in message
