"""Metrics packs as `proofspan metrics` prints, writes and compares them."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from proofspan.cli import main
from proofspan.contracts.record_rules import record_problems
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.metrics.packs import KEYS
from tests.unit.metrics.metrics_room import (
    measured_workspace,
    report_of_run,
    run_metrics,
    three_traces,
    with_pack,
)

pytestmark = pytest.mark.slow

MEMORY = {"mem_rev": "r7", "mem_hash": "sha256:" + "07" * 32}
TIME = "2026-02-26T18:00:00Z"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def test_a_pack_is_printed_written_and_found_to_agree(ws: Path) -> None:
    goals = {"section_match_at_1": "none", "citation_match": "none"}
    measured_workspace(ws, {"R1": three_traces(ΔS=0.4)}, entries=[with_pack(ws, "R1", "{}")], goals=goals)
    file = ws / "runs/R1.json"
    printed = run_metrics(ws, "--pack")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == {
        "$schema": "urn:proofspan:schema:metrics-1.0",
        "schema_version": "1.0.0",
        "event": "metrics.pack",
        "trace_id": str(uuid5(NAMESPACE_URL, "urn:proofspan:metrics:test/R1")),
        "agent_id": "system",
        "basis": "questions",
        "bases": {
            "nDCG@10": {"of": "questions", "counted": 2, "left_out": {"unanswerable": 1}},
            "recall@50": {
                "of": "questions",
                "counted": 0,
                "left_out": {"unanswerable": 1, "short_list": 2},
            },
            "ΔS_mean": {"of": "questions", "counted": 3, "left_out": {}},
            "ΔS_p95": {"of": "questions", "counted": 3, "left_out": {}},
            "λ_convergent_rate": {"of": "questions", "counted": 0, "left_out": {"not_logged": 3}},
        },
        "dataset": "gold_v2",
        "nDCG@10": 0.8155,
        "recall@50": None,
        "ΔS_mean": 0.4,
        "ΔS_p95": 0.4,
        "λ_convergent_rate": None,
    }
    assert '"ΔS_mean": 0.4000,' in printed.stdout
    assert record_problems("metrics", json.loads(printed.stdout) | MEMORY | {"ts": TIME}, NO_CONTEXT) == ()
    assert run_metrics(ws, "--pack", "-o", str(file)).exit_code == 0
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert f"agrees with the computed numbers: {len(KEYS)} numbers" in run_metrics(ws).stdout
    assert run_metrics(ws).exit_code == 0
    assert "It also says" not in run_metrics(ws).stdout


@pytest.mark.parametrize(
    ("states", "expected", "codes"),
    [
        ([MEMORY] * 3, MEMORY, ()),
        ([MEMORY, MEMORY, MEMORY | {"mem_rev": "r8"}], {}, ("missing_mem_rev", "missing_mem_hash")),
        ([MEMORY, MEMORY, {}], {}, ("missing_mem_rev", "missing_mem_hash")),
        ([{"mem_rev": "r7"}] * 3, {"mem_rev": "r7"}, ("missing_mem_hash",)),
    ],
)
def test_a_pack_says_in_which_state_of_memory_its_traces_were_made(
    ws: Path, states: list[dict[str, str]], expected: dict[str, str], codes: tuple[str, ...]
) -> None:
    traces = [each | state for each, state in zip(three_traces(), states, strict=True)]
    measured_workspace(
        ws, {"R1": traces}, entries=[with_pack(ws, "R1", "{}") | {"ts": "2026-02-26T18:00:00Z"}]
    )
    pack = json.loads(run_metrics(ws, "--pack").stdout)
    assert {name: pack[name] for name in (*MEMORY, "ts") if name in pack} == expected | {
        "ts": "2026-02-26T18:00:00Z"
    }
    assert tuple(finding.code for finding in record_problems("metrics", pack, NO_CONTEXT)) == codes


def test_a_pack_without_a_time_says_so_when_it_is_validated(ws: Path) -> None:
    measured_workspace(ws, {"R1": [each | MEMORY for each in three_traces()]}, name="Handbuch “ü”")
    pack = json.loads(run_metrics(ws, "--pack").stdout)
    assert [finding.code for finding in record_problems("metrics", pack, NO_CONTEXT)] == ["missing_ts"]
    assert pack["trace_id"] == json.loads(run_metrics(ws, "--pack").stdout)["trace_id"]


def test_a_stored_pack_that_differs_is_a_finding(ws: Path) -> None:
    stored = '{"dataset": "gold_v1", "deltaS_mean": 0.41, "nDCG@10": 0.82, "recall@50": 0.9, "by": "ci",'
    stored += ' "ts": "2026-02-26"}'
    goals = {"section_match_at_1": "none", "citation_match": "none"}
    measured_workspace(ws, {"R1": three_traces(ΔS=0.4)}, entries=[with_pack(ws, "R1", stored)], goals=goals)
    result = run_metrics(ws)
    assert result.exit_code == 1
    assert "The metrics pack runs/R1.json of gold_v1 differs from the computed numbers:" in result.stdout
    assert "ΔS_mean: 0.41 in the pack, 0.4000 counted" in result.stdout
    assert "recall@50: 0.9 in the pack, not measured here" in result.stdout
    assert "It also says by: ci\n" in result.stdout  # and nothing of its envelope
    assert len(report_of_run(ws)["pack"]["differences"]) == 2  # 0.8155 rounds to 0.82


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("no json", "pack_not_json"),
        ("[]", "pack_not_an_object"),
        ('{"ΔS_mean": NaN}', "pack_not_a_number"),
        ('{"ΔS_mean": "0.4"}', "pack_not_a_number"),
        ('{"ΔS_mean": true}', "pack_not_a_number"),
        (b"\xff\x00", "pack_not_json"),
    ],
)
def test_a_pack_that_cannot_be_used_is_reported_and_the_rest_is_counted(
    ws: Path, data: str | bytes, code: str
) -> None:
    measured_workspace(ws, {"R1": three_traces()}, entries=[with_pack(ws, "R1", data)])
    output = report_of_run(ws)
    assert [(each["code"], each["where"]) for each in output["problems"]] == [(code, "runs/R1.json")]
    assert output["findings"] and output["metrics"]["section_match_at_1"]["value"] == 0.5


def test_a_pack_that_is_not_there_is_reported(ws: Path) -> None:
    entry = with_pack(ws, "R1", "{}")
    (ws / "runs/R1.json").unlink()
    measured_workspace(ws, {"R1": three_traces()}, entries=[entry])
    assert [each["code"] for each in report_of_run(ws)["problems"]] == ["missing"]


def test_a_pack_of_nulls_says_that_nothing_was_measured(ws: Path) -> None:
    nulls = json.dumps(dict.fromkeys(KEYS))
    measured_workspace(ws, {"R1": three_traces(ΔS=None)}, entries=[with_pack(ws, "R1", nulls)])
    assert report_of_run(ws)["pack"]["differences"] == ["nDCG@10: null in the pack, 0.8155 counted"]


def test_a_pack_goes_into_no_other_file_of_the_workspace(
    ws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured_workspace(ws, {"R1": three_traces()}, entries=[with_pack(ws, "R1", "{}")])
    for options in (["--pack", "-o", str(ws / "gold.jsonl")], ["-o", str(ws / "runs/R1.json")]):
        with pytest.raises(SystemExit) as ended:
            main(["metrics", str(ws), *options])
        assert ended.value.code == 2
        assert "this is an input" in capsys.readouterr().err


def test_pack_excludes_other_options(ws: Path) -> None:
    assert run_metrics(ws, "--pack", "--json").exit_code == 2
