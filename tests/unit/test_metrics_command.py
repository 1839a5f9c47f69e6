"""`proofspan metrics` as a person and as a program meet it, on good input and bad."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson
import pytest
from click.testing import CliRunner, Result

from core.cli import group, main
from core.contracts.context import NO_CONTEXT
from core.contracts.record_rules import record_findings
from core.metrics.catalogue import METRICS
from core.metrics.packs import KEYS
from tests.unit.store_workspace import lines, manifest_of, trace, write_workspace

Json = Any
GOLD = [
    {"q_id": "Q1", "q": "What holds the oil filter?", "type": "lookup", "sections": ["4.2"]},
    {"q_id": "Q2", "q": "What to check?", "type": "lookup", "sections": ["4.3"]},
    {"q_id": "Q3", "q": "Which bolts?", "answerable": False, "type": "none"},
]
DECLINED = {"answer": "not in context", "chunks": [{"id": "c1"}]}


def _traces(**more: object) -> list[dict[str, object]]:
    return [trace("Q1", **more), trace("Q2", **more), trace("Q3", **DECLINED, **more)]


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def _workspace(
    folder: Path,
    traces: Mapping[str, Iterable[object]],
    gold: Iterable[object] | None = GOLD,
    entries: Sequence[Mapping[str, object]] | None = None,
    **manifest: object,
) -> None:
    """A workspace with these traces by run; `entries` are the runs in the manifest where they say more."""
    if gold is not None:
        folder.mkdir(exist_ok=True)
        (folder / "gold.jsonl").write_bytes(lines(gold))
        manifest |= {"gold": {"path": "gold.jsonl", "version": "2"}}
    write_workspace(folder, traces, **manifest)
    if entries is not None:
        manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=entries, **manifest)


def _pack(folder: Path, run_id: str, data: str | bytes) -> dict[str, object]:
    """A run's entry in the manifest with a metrics pack that holds these bytes."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    path = f"runs/{run_id}.json"
    (folder / path).write_bytes(data if isinstance(data, bytes) else data.encode())
    return {"run_id": run_id, "traces": {"path": f"runs/{run_id}.jsonl"}, "metrics": {"path": path}}


def _run(folder: Path, *options: str) -> Result:
    cache = str(folder.parent / "cache")
    return CliRunner().invoke(group, ["metrics", str(folder), "--cache-dir", cache, *options])


def _json(folder: Path, *options: str) -> dict[str, Json]:
    result = _run(folder, "--json", *options)
    assert result.exit_code in (0, 1), result.output
    told: dict[str, Json] = json.loads(result.stdout)
    return told


def _one(folder: Path, *options: str) -> dict[str, Json]:
    (run,) = _json(folder, *options)["runs"]
    told: dict[str, Json] = run
    return told


def _line(result: Result, name: str) -> str:
    return next(line for line in result.stdout.splitlines() if line.strip().startswith(name))


def test_every_number_has_its_counts_its_goal_and_what_was_left_out(ws: Path) -> None:
    _workspace(ws, {"R1": _traces(ΔS=0.5)})
    result = _run(ws)
    assert result.exit_code == 1  # SectionMatch@1 fails its goal
    assert result.stdout.splitlines()[0] == "R1 · 3 questions"
    line = _line(result, "SectionMatch@1")
    assert "50 %" in line and "1 of 2" in line and "9–91 %" in line and ">= 0.70" in line
    assert "✗ fails, but 2 questions" in line and "the documents hold no answer 1" in line
    told = _one(ws)["metrics"]
    assert list(told) == sorted(METRICS)
    assert told["section_match_at_1"] == {
        "value": 0.5,
        "low": pytest.approx(0.0945, abs=1e-4),
        "high": pytest.approx(0.9055, abs=1e-4),
        "numerator": 1,
        "denominator": 2,
        "left_out": {"unanswerable": 1},
        "goal": {"is": ">= 0.70", "from_default": True},
        "verdict": "fail",
        "why": "fails, but 2 questions can't exclude 0.70 or more",
    }
    assert told["delta_s_mean"]["verdict"] == "warn"
    assert told["latency_p50"] == {
        **dict.fromkeys(("value", "low", "high", "numerator")),
        "denominator": 0,
        "left_out": {"not_logged": 3},
    }


def test_goals_that_are_met_exit_with_0(ws: Path) -> None:
    _workspace(ws, {"R1": _traces()}, goals={"section_match_at_1": ">= 0.5", "citation_match": "none"})
    result = _run(ws)
    assert result.exit_code == 0, result.output
    assert "✓ passes, but 2 questions" in result.stdout


def test_the_same_input_gives_the_same_bytes(ws: Path) -> None:
    _workspace(ws, {"R1": _traces(ΔS=0.1), "R2": _traces(ΔS=0.3)})
    for more in ((), ("--json",)):
        options = ("--run", "R2", "--against", "R1", "--by", "section", "--explain", *more)
        printed = _run(ws, *options).stdout_bytes
        _run(ws, *options, "-o", str(ws.parent / "out"))
        assert (ws.parent / "out").read_bytes() == printed
        assert "Järvelin and Kekäläinen" in printed.decode()


def test_how_each_is_counted_can_be_asked_of_one(ws: Path) -> None:
    _workspace(ws, {"R1": _traces()})
    result = _run(ws, "--explain", "--metric", "ndcg_at_10")
    assert "Järvelin and Kekäläinen" in result.stdout
    assert "SectionMatch@1" not in result.stdout
    assert set(_json(ws, "--explain")["definitions"]) == {*METRICS, "λ_convergent_rate"}
    assert "The share of the run's logged states" in _run(ws, "--explain").stdout


def test_slices_have_every_metric_and_the_largest_comes_first(ws: Path) -> None:
    _workspace(ws, {"R1": _traces()})
    told = _one(ws, "--by", "type")
    assert [each["slice"] for each in told["slices"]] == ["lookup", "none"]
    assert told["slices"][0]["metrics"]["section_match_at_1"]["denominator"] == 2
    text = _run(ws, "--by", "type", "--metric", "section_match_at_1")
    assert "1 of 2, 50 % (9–91 %)" in _line(text, "lookup")


def test_against_another_run_differences_are_paired(ws: Path) -> None:
    better = [trace("Q1"), trace("Q2", chunks=[{"id": "c2"}]), trace("Q3", **DECLINED)]
    _workspace(ws, {"R1": _traces(), "R2": better})
    told = _one(ws, "--run", "R2", "--against", "R1")["against"]
    assert told["run_id"] == "R1"
    pair = told["metrics"]["section_match_at_1"]
    assert (pair["there"], pair["here"], pair["p"]) == (0.5, 1.0, 1.0)
    assert (pair["difference"]["mean"], pair["difference"]["pairs"]) == (0.5, 2)
    assert told["said"][0].startswith("1 fixed, none regressed of 2 by SectionMatch@1: p = 1")
    text = _run(ws, "--run", "R2", "--against", "R1")
    assert "1 fixed, none regressed of 2 by SectionMatch@1" in " ".join(text.stdout.split())


def test_runs_over_different_questions_compare_on_those_of_both(ws: Path) -> None:
    _workspace(ws, {"R1": [trace("Q1"), trace("Q9")], "R2": [trace("Q1"), trace("Q2")]})
    said = " ".join(_one(ws, "--run", "R2", "--against", "R1")["against"]["said"])
    assert "1 only in R2" in said and "1 only in R1" in said


def test_stored_bundles_are_counted_and_an_answer_without_one_is_not_covered(ws: Path) -> None:
    _workspace(ws, {"R1": [trace("Q1"), trace("Q2"), trace("Q3", **DECLINED)]})
    assert _one(ws)["metrics"]["bundle_coverage"]["left_out"] == {"no_bundle": 3}
    entry = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "bundles": {"path": "runs/bundles.jsonl"}}
    _workspace(ws, {"R1": [trace("Q1"), trace("Q2"), trace("Q3", **DECLINED)]}, entries=[entry])
    (ws / "runs/bundles.jsonl").write_bytes(
        lines([{"bundle_version": "1.3", "run_id": "R1", "q_id": "Q1", "level": "citation_only"}])
    )
    covered = _one(ws)["metrics"]["bundle_coverage"]
    assert (covered["numerator"], covered["denominator"], covered["left_out"]) == (1, 2, {"declined": 1})
    assert covered["verdict"] == "fail"


def test_bundles_that_are_named_and_not_there_are_told(ws: Path) -> None:
    entry = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "bundles": {"path": "runs/gone.jsonl"}}
    _workspace(ws, {"R1": _traces()}, entries=[entry])
    told = _one(ws)
    assert told["metrics"]["bundle_coverage"]["verdict"] == "unknown"
    assert [problem["code"] for problem in told["problems"]] == ["missing"]


def test_a_chaotic_state_of_any_trace_fails_the_goal(ws: Path) -> None:
    states = [trace("Q1", λ="→"), trace("Q1", λ="×", seed=1)]
    _workspace(ws, {"R1": states})
    told = _one(ws)
    assert told["lambda_states"] == {"convergent": 1, "chaotic": 1}
    assert told["metrics"]["lambda_convergent"]["why"] == "fails: 1 trace logs the state chaotic"
    assert told["pack"]["counted"]["λ_convergent_rate"] == 0.5


# Metrics packs


def test_a_pack_is_printed_written_and_found_to_agree(ws: Path) -> None:
    goals = {"section_match_at_1": "none", "citation_match": "none"}
    _workspace(ws, {"R1": _traces(ΔS=0.4)}, entries=[_pack(ws, "R1", "{}")], goals=goals)
    file = ws / "runs/R1.json"
    printed = _run(ws, "--pack")
    assert printed.exit_code == 0
    assert json.loads(printed.stdout) == {
        "$schema": "urn:proofspan:schema:metrics-1.0",
        "schema_version": "1.0.0",
        "event": "metrics.pack",
        "trace_id": str(uuid5(NAMESPACE_URL, "urn:proofspan:metrics:test/R1")),
        "agent_id": "system",
        "dataset": "gold_v2",
        "nDCG@10": 0.8155,
        "recall@50": None,
        "ΔS_mean": 0.4,
        "ΔS_p95": 0.4,
        "λ_convergent_rate": None,
    }
    assert '"ΔS_mean": 0.4000,' in printed.stdout
    assert _run(ws, "--pack", "-o", str(file)).exit_code == 0
    assert file.read_text(encoding="utf-8") == printed.stdout
    assert f"agrees with what is counted: {len(KEYS)} numbers" in _run(ws).stdout
    assert _run(ws).exit_code == 0


MEMORY = {"mem_rev": "r7", "mem_hash": "sha256:07"}


@pytest.mark.parametrize(
    ("states", "said", "codes"),
    [
        ([MEMORY] * 3, MEMORY, ()),
        ([MEMORY, MEMORY, MEMORY | {"mem_rev": "r8"}], {}, ("missing_mem_rev", "missing_mem_hash")),
        ([MEMORY, MEMORY, {}], {}, ("missing_mem_rev", "missing_mem_hash")),
        ([{"mem_rev": "r7"}] * 3, {"mem_rev": "r7"}, ("missing_mem_hash",)),
    ],
)
def test_a_pack_says_in_which_state_of_memory_its_traces_were_made(
    ws: Path, states: list[dict[str, str]], said: dict[str, str], codes: tuple[str, ...]
) -> None:
    traces = [each | state for each, state in zip(_traces(), states, strict=True)]
    _workspace(ws, {"R1": traces}, entries=[_pack(ws, "R1", "{}") | {"ts": "2026-02-26T18:00:00Z"}])
    pack = json.loads(_run(ws, "--pack").stdout)
    assert {name: pack[name] for name in (*MEMORY, "ts") if name in pack} == said | {
        "ts": "2026-02-26T18:00:00Z"
    }
    assert tuple(finding.code for finding in record_findings("metrics", pack, NO_CONTEXT)) == codes


def test_a_pack_without_a_time_says_so_when_it_is_validated(ws: Path) -> None:
    _workspace(ws, {"R1": [each | MEMORY for each in _traces()]}, name="Handbuch “ü”")
    pack = json.loads(_run(ws, "--pack").stdout)
    assert [finding.code for finding in record_findings("metrics", pack, NO_CONTEXT)] == ["missing_ts"]
    assert pack["trace_id"] == json.loads(_run(ws, "--pack").stdout)["trace_id"]


def test_a_stored_pack_that_differs_is_a_finding(ws: Path) -> None:
    stored = '{"dataset": "gold_v1", "deltaS_mean": 0.41, "nDCG@10": 0.82, "recall@50": 0.9, "by": "ci",'
    stored += ' "ts": "2026-02-26"}'
    goals = {"section_match_at_1": "none", "citation_match": "none"}
    _workspace(ws, {"R1": _traces(ΔS=0.4)}, entries=[_pack(ws, "R1", stored)], goals=goals)
    result = _run(ws)
    assert result.exit_code == 1
    assert "The metrics pack runs/R1.json of gold_v1 differs from what is counted:" in result.stdout
    assert "ΔS_mean: 0.41 in the pack, 0.4000 counted" in result.stdout
    assert "recall@50: 0.9 in the pack, not measured here" in result.stdout
    assert "It also says by: ci\n" in result.stdout  # and nothing of its envelope
    assert len(_one(ws)["pack"]["differences"]) == 2  # 0.8155 rounds to 0.82


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
def test_a_pack_that_cannot_be_used_is_told_and_the_rest_is_counted(
    ws: Path, data: str | bytes, code: str
) -> None:
    _workspace(ws, {"R1": _traces()}, entries=[_pack(ws, "R1", data)])
    told = _one(ws)
    assert [(each["code"], each["where"]) for each in told["problems"]] == [(code, "runs/R1.json")]
    assert told["findings"] and told["metrics"]["section_match_at_1"]["value"] == 0.5


def test_a_pack_that_is_not_there_is_told(ws: Path) -> None:
    entry = _pack(ws, "R1", "{}")
    (ws / "runs/R1.json").unlink()
    _workspace(ws, {"R1": _traces()}, entries=[entry])
    assert [each["code"] for each in _one(ws)["problems"]] == ["missing"]


def test_a_pack_of_nulls_says_that_nothing_was_measured(ws: Path) -> None:
    nulls = json.dumps(dict.fromkeys(KEYS))
    _workspace(ws, {"R1": _traces(ΔS=None)}, entries=[_pack(ws, "R1", nulls)])
    assert _one(ws)["pack"]["differences"] == ["nDCG@10: null in the pack, 0.8155 counted"]


def test_a_pack_goes_into_no_other_file_of_the_workspace(
    ws: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _workspace(ws, {"R1": _traces()}, entries=[_pack(ws, "R1", "{}")])
    for options in (["--pack", "-o", str(ws / "gold.jsonl")], ["-o", str(ws / "runs/R1.json")]):
        with pytest.raises(SystemExit) as ended:
            main(["metrics", str(ws), *options])
        assert ended.value.code == 2
        assert "this is an input" in capsys.readouterr().err


def test_pack_stands_alone(ws: Path) -> None:
    assert _run(ws, "--pack", "--json").exit_code == 2


# Input that is not as one would wish


def test_without_gold_what_needs_it_is_not_measured(ws: Path) -> None:
    _workspace(ws, {"R1": _traces(ΔS=0.2)}, gold=None)
    result = _run(ws)
    assert result.exit_code == 0, result.output
    assert "There are no gold questions" in result.stdout
    told = _one(ws)
    assert told["gold_questions"] is None
    match = told["metrics"]["section_match_at_1"]
    assert (match["value"], match["verdict"], match["left_out"]) == (None, "unknown", {"no_gold": 3})
    assert told["metrics"]["delta_s_mean"]["value"] == 0.2


def test_questions_without_gold_and_gold_without_a_trace_are_named(ws: Path) -> None:
    _workspace(ws, {"R1": [trace("Q1"), trace("N1"), trace("N2")]})
    told = _one(ws)
    assert (told["gold_questions"], told["without_gold"], told["without_trace"]) == (
        3,
        ["N1", "N2"],
        ["Q2", "Q3"],
    )
    text = _run(ws).stdout
    assert "2 questions without a gold question: N1, N2" in text
    assert "2 questions of the gold set without a trace: Q2, Q3" in text
    assert told["metrics"]["section_match_at_1"]["left_out"] == {"no_gold": 2}


def test_a_gold_file_that_is_none_is_told(ws: Path) -> None:
    _workspace(ws, {"R1": _traces()}, gold=[b"<html>"])
    told = _one(ws)
    assert [each["code"] for each in told["problems"]] == ["not_jsonl"]
    assert told["metrics"]["section_match_at_1"]["value"] is None and told["findings"]


def test_no_question_at_all_is_nothing_to_count(ws: Path) -> None:
    _workspace(ws, {"R1": [], "R2": _traces()})
    result = _run(ws, "--run", "R1", "--against", "R2", "--by", "type")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "R1 · 0 questions"
    assert all(value["value"] is None for value in _one(ws, "--run", "R1")["metrics"].values())


def test_traces_that_are_not_there_are_told(ws: Path) -> None:
    _workspace(ws, {"R1": []}, entries=[{"run_id": "R1", "traces": {"path": "runs/gone.jsonl"}}])
    result = _run(ws)
    assert result.exit_code == 1
    assert result.stdout.startswith("R1 · 0 questions\n")
    assert "`runs[R1].traces`: does not exist" in result.stderr


def test_a_run_of_which_only_the_report_is_left_says_so(ws: Path) -> None:
    entry = {"run_id": "R1", "report": {"path": "runs/report.jsonl"}}
    _workspace(ws, {"R1": []}, entries=[entry])
    (ws / "runs/report.jsonl").write_bytes(lines([{"q": "What?", "label": "ok", "why": "x"}]))
    result = _run(ws, "--by", "bucket")
    assert "Counted from the stored report" in result.stdout
    assert "100 %" in _line(result, "ok")
    assert "No question is in such a slice." in result.stdout


def test_lines_that_are_not_in_the_numbers_are_counted(ws: Path) -> None:
    _workspace(ws, {"R1": [trace("Q1"), b"{", trace("Q2")]})
    with (ws / "runs/R1.jsonl").open("ab") as file:
        file.write(b'{"q": "unfi')
    result = _run(ws)
    assert "Lines that could not be used as they are: 1; `proofspan index` lists them" in result.stdout
    assert "11 bytes of a last line without line end wait" in result.stdout
    assert 'template seed · refusal "not in context"' in result.stdout


def test_one_run_only_has_nothing_to_be_compared_with(ws: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _workspace(ws, {"R1": _traces()})
    said = _one(ws, "--against", "R1")["against"]["said"]
    assert said[0] == "R1 is compared with itself, so nothing can differ."
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(ws), "--against", "R0"])
    assert ended.value.code == 2
    assert "the manifest has no run 'R0' — name one of R1" in capsys.readouterr().err


def test_a_manifest_without_runs_is_unusable(ws: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _workspace(ws, {})
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(ws)])
    assert ended.value.code == 2
    assert "the manifest lists no run" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, b"NaN", "0.4", True, -1e400])
def test_a_measure_that_is_no_number_is_not_logged(ws: Path, value: object) -> None:
    record = orjson.dumps(trace("Q1", ΔS=0.125))
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    _workspace(ws, {"R1": [record.replace(b"0.125", data), trace("Q2", ΔS=0.4)]})
    told = _one(ws)["metrics"]["delta_s_mean"]
    assert (told["value"], told["denominator"]) == (0.4, 1)


def test_goals_that_name_no_metric_are_told_and_do_not_count(ws: Path) -> None:
    goals = {"SectionMatch@1": ">= 0.9", "mrr": "high", "ndcg_at_10": ">= 0.1"}
    _workspace(ws, {"R1": _traces()}, goals=goals | {"section_match_at_1": "none", "citation_match": "none"})
    result = _run(ws)
    assert result.exit_code == 0, result.output
    assert "`SectionMatch@1` is no metric that is counted here — write `section_match_at_1`" in result.stderr
    assert "`mrr`: 'high' is no threshold" in result.stderr
    assert len(_json(ws)["problems"]) == 2


def test_text_of_a_workspace_cannot_act_on_the_terminal(ws: Path) -> None:
    entries = [_pack(ws, "R1", '{"note": "\\u001b[31mred[bold]x"}') | {"title": "\x1b[2J[red]boo"}]
    _workspace(ws, {"R1": [trace("N\x1b[1m\n1")]}, entries=entries)
    result = _run(ws)
    assert "\x1b" not in result.stdout + result.stderr
    assert "[red]boo" in result.stdout
