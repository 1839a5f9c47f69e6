"""`proofspan metrics` as a person and as a program meet it, on good input and bad."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from proofspan.cli import main
from proofspan.errors import InputFault
from proofspan.metrics.catalogue import LEFT_OUT, METRICS
from tests.unit.metrics.metrics_room import (
    DECLINED,
    GOLD,
    json_report,
    measured_workspace,
    printed_line,
    report_of_run,
    run_metrics,
    three_traces,
    with_pack,
)
from tests.unit.store_workspace import lines, manifest_of, trace

pytestmark = pytest.mark.slow


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"


def test_every_number_has_its_counts_its_goal_and_what_was_left_out(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces(ΔS=0.5)})
    result = run_metrics(ws)
    assert result.exit_code == 1  # SectionMatch@1 fails its goal
    assert result.stdout.splitlines()[0] == "R1 · 3 questions"
    line = printed_line(result, "SectionMatch@1")
    assert "50 %" in line and "1 of 2" in line and "9–91 %" in line and ">= 0.70" in line
    assert "✗ fails, but 2 questions" in line and "the documents hold no answer 1" in line
    output = report_of_run(ws)["metrics"]
    assert list(output) == sorted(METRICS)
    assert output["section_match_at_1"] == {
        "value": 0.5,
        "low": pytest.approx(0.0945, abs=1e-4),
        "high": pytest.approx(0.9055, abs=1e-4),
        "numerator": 1,
        "denominator": 2,
        "left_out": {"unanswerable": 1},
        "goal": {"is": ">= 0.70", "from_default": True},
        "verdict": "fail",
        "why": "fails, but 2 questions can't exclude 70 % or more",
    }
    assert output["delta_s_mean"]["verdict"] == "warn"
    assert output["latency_p50"] == {
        **dict.fromkeys(("value", "low", "high", "numerator")),
        "denominator": 0,
        "left_out": {"not_logged": 3},
    }


def test_goals_that_are_met_exit_with_0(ws: Path) -> None:
    measured_workspace(
        ws, {"R1": three_traces()}, goals={"section_match_at_1": ">= 0.5", "citation_match": "none"}
    )
    result = run_metrics(ws)
    assert result.exit_code == 0, result.output
    assert "✓ passes, but 2 questions" in result.stdout


def test_the_same_input_gives_the_same_bytes(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces(ΔS=0.1), "R2": three_traces(ΔS=0.3)})
    for more in ((), ("--json",)):
        options = ("--run", "R2", "--against", "R1", "--by", "section", "--explain", *more)
        printed = run_metrics(ws, *options).stdout_bytes
        run_metrics(ws, *options, "-o", str(ws.parent / "out"))
        assert (ws.parent / "out").read_bytes() == printed
        assert "Järvelin and Kekäläinen" in printed.decode()


def test_how_each_is_counted_can_be_asked_of_one(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces()})
    result = run_metrics(ws, "--explain", "--metric", "ndcg_at_10")
    assert "Järvelin and Kekäläinen" in result.stdout
    assert "SectionMatch@1" not in result.stdout
    assert set(json_report(ws, "--explain")["definitions"]) == {*METRICS, "λ_convergent_rate"}
    assert "The share of questions that log a state" in run_metrics(ws, "--explain").stdout


def test_slices_have_every_metric_and_the_largest_comes_first(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces()})
    output = report_of_run(ws, "--by", "type")
    assert [each["slice"] for each in output["slices"]] == ["lookup", "none"]
    assert output["slices"][0]["metrics"]["section_match_at_1"]["denominator"] == 2
    text = run_metrics(ws, "--by", "type", "--metric", "section_match_at_1")
    assert "1 of 2, 50 % (9–91 %)" in printed_line(text, "lookup")


def test_against_another_run_differences_are_paired(ws: Path) -> None:
    better = [trace("Q1"), trace("Q2", chunks=[{"id": "c2"}]), trace("Q3", **DECLINED)]
    measured_workspace(ws, {"R1": three_traces(), "R2": better})
    output = report_of_run(ws, "--run", "R2", "--against", "R1")["against"]
    assert output["run_id"] == "R1"
    pair = output["metrics"]["section_match_at_1"]
    assert (pair["there"], pair["here"], pair["p"]) == (0.5, 1.0, 1.0)
    assert (pair["difference"]["mean"], pair["difference"]["pairs"]) == (0.5, 2)
    assert output["sentences"][0].startswith(
        "Retrieval: 1 fixed, none regressed of 2 by SectionMatch@1: p = 1"
    )
    text = run_metrics(ws, "--run", "R2", "--against", "R1")
    assert "1 fixed, none regressed of 2 by SectionMatch@1" in " ".join(text.stdout.split())


def test_runs_over_different_questions_compare_on_those_of_both(ws: Path) -> None:
    measured_workspace(ws, {"R1": [trace("Q1"), trace("Q9")], "R2": [trace("Q1"), trace("Q2")]})
    output = " ".join(report_of_run(ws, "--run", "R2", "--against", "R1")["against"]["sentences"])
    assert "1 only in R2" in output and "1 only in R1" in output


@pytest.mark.parametrize("trouble", ["not named", "missing", "other", "no chunks"])
def test_without_the_chunk_file_it_stops_instead_of_counting_other_questions(
    ws: Path, trouble: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refusals are not known without it: anchor coverage would count them as answers that cover nothing."""
    gold = [{**each, "anchor": "oil filter holds"} if each["q_id"] == "Q1" else each for each in GOLD]
    listed = [{"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}}]
    records = [trace("Q1"), trace("Q2"), trace("Q3", **DECLINED)]
    measured_workspace(ws, {"R1": records}, gold=gold)
    assert report_of_run(ws)["metrics"]["anchor_coverage"]["denominator"] == 1
    chunks: dict[str, object] = {"path": "chunks.jsonl"}
    if trouble == "missing":
        (ws / "chunks.jsonl").unlink()
    elif trouble == "no chunks":
        (ws / "chunks.jsonl").write_bytes(b"[{")
    elif trouble == "other":
        chunks["sha256"] = "0" * 64
    named = {} if trouble == "not named" else {"chunks": chunks}
    manifest_of(ws, runs=listed, gold={"path": "gold.jsonl"}, **named)
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(ws), "--cache-dir", str(ws.parent / "cache")])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    file = "pipeline_manifest.yaml: chunks:" if trouble == "not named" else "chunks.jsonl"
    assert printed.out == "" and file in printed.err and "chunks: " in printed.err
    assert "cannot be measured" in printed.err and "--metric gt_in_top_20" in printed.err
    line = printed_line(run_metrics(ws, "--metric", "section_match_at_1"), "SectionMatch@1")
    assert "not available" in line
    alone = report_of_run(ws, "--metric", "section_match_at_1")["metrics"]["section_match_at_1"]
    assert alone["left_out"] == {"unanswerable": 1, "unplaced": 2}
    both = run_metrics(ws, "--metric", "delta_s_mean", "--metric", "anchor_coverage")
    assert isinstance(both.exception, InputFault)
    assert run_metrics(ws, "--pack").exit_code == 0


@pytest.mark.parametrize(
    ("template", "answer", "citations", "reason"),
    [
        ("payload", "The filter holds 4 litres.\ncitations: [c1]", [], "cited_in_text"),
        ("seed", "The filter holds 4 litres.", [{"chunk_id": "c1"}], "cited_in_payload"),
        ("payload", "The filter holds 4 litres.", [{"doc_id": "manual", "page_idx": 3}], "places_cited"),
        ("seed", "The filter holds 4 litres.", [], "nothing_cited"),
    ],
)
def test_ids_that_the_profile_does_not_read_are_not_reported_as_no_citation(
    ws: Path, template: str, answer: str, citations: list[object], reason: str
) -> None:
    one = trace("Q1", answer=answer, citations=citations)
    measured_workspace(ws, {"R1": [one]}, triage={"template": template})
    counted = report_of_run(ws)["metrics"]["citation_overlap"]
    assert (counted["denominator"], counted["left_out"]) == (0, {reason: 1})
    line = " ".join(run_metrics(ws, "--metric", "citation_overlap").stdout.split())
    assert LEFT_OUT[reason] in line
    assert (": use " in line) == (reason in ("cited_in_text", "cited_in_payload"))


def test_stored_bundles_are_counted_and_an_answer_without_one_is_not_covered(ws: Path) -> None:
    measured_workspace(ws, {"R1": [trace("Q1"), trace("Q2"), trace("Q3", **DECLINED)]})
    assert report_of_run(ws)["metrics"]["bundle_coverage"]["left_out"] == {"no_bundle": 3}
    entry = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "bundles": {"path": "runs/bundles.jsonl"}}
    traces = {"R1": [trace("Q1"), trace("Q2"), trace("Q3", **DECLINED)]}
    documents = [{"doc_id": "manual", "path": "manual.md", "paged": False}]
    measured_workspace(ws, traces, entries=[entry], documents=documents)
    bundle = {
        "bundle_version": "1.3",
        "run_id": "R1",
        "q_id": "Q1",
        "level": "citation_only",
        "citation_origin": "payload",
        "citation": {"doc_id": "manual", "page_idx": 0},
        "documents": [{"doc_id": "manual", "paged": False}],
    }
    (ws / "runs/bundles.jsonl").write_bytes(lines([bundle]))
    covered = report_of_run(ws)["metrics"]["bundle_coverage"]
    assert (covered["numerator"], covered["denominator"], covered["left_out"]) == (1, 2, {"declined": 1})
    assert covered["verdict"] == "fail"


def test_bundles_that_are_named_and_not_there_are_reported(ws: Path) -> None:
    entry = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "bundles": {"path": "runs/gone.jsonl"}}
    measured_workspace(ws, {"R1": three_traces()}, entries=[entry])
    output = report_of_run(ws)
    assert output["metrics"]["bundle_coverage"]["verdict"] == "unknown"
    assert [problem["code"] for problem in output["problems"]] == ["missing"]


def test_a_chaotic_state_of_any_trace_fails_the_goal(ws: Path) -> None:
    states = [trace("Q1", λ="→"), trace("Q1", λ="×", seed=1)]
    measured_workspace(ws, {"R1": states})
    output = report_of_run(ws)
    assert output["lambda_states"] == {"convergent": 1, "chaotic": 1}
    assert output["metrics"]["lambda_convergent"]["why"] == "fails: 1 trace logs the state chaotic"
    assert output["pack"]["counted"]["λ_convergent_rate"] == 1.0  # of questions, not of traces


# Input that is not as one would wish


def test_without_gold_what_needs_it_is_not_measured(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces(ΔS=0.2)}, gold=None)
    result = run_metrics(ws)
    assert result.exit_code == 0, result.output
    assert "There are no gold questions" in result.stdout
    report = report_of_run(ws)
    assert report["gold_questions"] is None
    match = report["metrics"]["section_match_at_1"]
    assert (match["value"], match["verdict"], match["left_out"]) == (None, "unknown", {"no_gold": 3})
    assert report["metrics"]["delta_s_mean"]["value"] == 0.2


def test_questions_without_gold_and_gold_without_a_trace_are_named(ws: Path) -> None:
    measured_workspace(ws, {"R1": [trace("Q1"), trace("N1"), trace("N2")]})
    output = report_of_run(ws)
    assert (output["gold_questions"], output["without_gold"], output["without_trace"]) == (
        3,
        ["N1", "N2"],
        ["Q2", "Q3"],
    )
    text = run_metrics(ws).stdout
    assert "2 questions without a gold question: N1, N2" in text
    assert "2 questions of the gold set without a trace: Q2, Q3" in text
    assert output["metrics"]["section_match_at_1"]["left_out"] == {"no_gold": 2}


def test_a_file_that_is_no_gold_file_is_reported(ws: Path) -> None:
    measured_workspace(ws, {"R1": three_traces()}, gold=[b"<html>"])
    output = report_of_run(ws)
    assert [each["code"] for each in output["problems"]] == ["not_jsonl"]
    assert output["metrics"]["section_match_at_1"]["value"] is None and output["findings"]


def test_no_question_at_all_is_nothing_to_count(ws: Path) -> None:
    measured_workspace(ws, {"R1": [], "R2": three_traces()})
    result = run_metrics(ws, "--run", "R1", "--against", "R2", "--by", "type")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "R1 · 0 questions"
    assert all(value["value"] is None for value in report_of_run(ws, "--run", "R1")["metrics"].values())


def test_traces_that_are_not_there_are_reported(ws: Path) -> None:
    measured_workspace(ws, {"R1": []}, entries=[{"run_id": "R1", "traces": {"path": "runs/gone.jsonl"}}])
    result = run_metrics(ws)
    assert result.exit_code == 1
    assert result.stdout.startswith("R1 · 0 questions\n")
    assert "`runs[R1].traces`: does not exist" in result.stderr


def test_a_run_of_which_only_the_report_is_left_says_so(ws: Path) -> None:
    entry = {"run_id": "R1", "report": {"path": "runs/report.jsonl"}}
    measured_workspace(ws, {"R1": []}, entries=[entry])
    (ws / "runs/report.jsonl").write_bytes(lines([{"q": "What?", "label": "ok", "why": "x"}]))
    result = run_metrics(ws, "--by", "bucket")
    assert "Counted from the stored report" in result.stdout
    assert "100 %" in printed_line(result, "Grounded  ")
    assert "No question is in such a slice." in result.stdout


def test_lines_that_are_not_in_the_numbers_are_counted(ws: Path) -> None:
    measured_workspace(ws, {"R1": [trace("Q1"), b"{", trace("Q2")]})
    with (ws / "runs/R1.jsonl").open("ab") as file:
        file.write(b'{"q": "unfi')
    result = run_metrics(ws)
    assert "Lines that could not be used as they are: 1; `proofspan index` lists them" in result.stdout
    assert "(11 bytes)" in result.stdout
    assert 'template seed · refusal "not in context"' in result.stdout


def test_one_run_only_has_nothing_to_be_compared_with(ws: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_workspace(ws, {"R1": three_traces()})
    output = report_of_run(ws, "--against", "R1")["against"]["sentences"]
    assert output[0] == "R1 is compared with itself."
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(ws), "--against", "R0"])
    assert ended.value.code == 2
    assert "the manifest has no run 'R0' — name one of R1" in capsys.readouterr().err


def test_a_manifest_without_runs_is_unusable(ws: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured_workspace(ws, {})
    with pytest.raises(SystemExit) as ended:
        main(["metrics", str(ws)])
    assert ended.value.code == 2
    assert "the manifest lists no run" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, b"NaN", "0.4", True, -1e400])
def test_a_measure_that_is_no_number_is_not_logged(ws: Path, value: object) -> None:
    record = orjson.dumps(trace("Q1", ΔS=0.125))
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    measured_workspace(ws, {"R1": [record.replace(b"0.125", data), trace("Q2", ΔS=0.4)]})
    output = report_of_run(ws)["metrics"]["delta_s_mean"]
    assert (output["value"], output["denominator"]) == (0.4, 1)


def test_goals_that_name_no_metric_are_reported_and_do_not_count(ws: Path) -> None:
    goals = {"SectionMatch@1": ">= 0.9", "mrr": "high", "ndcg_at_10": ">= 0.1"}
    measured_workspace(
        ws, {"R1": three_traces()}, goals=goals | {"section_match_at_1": "none", "citation_match": "none"}
    )
    result = run_metrics(ws)
    assert result.exit_code == 0, result.output
    assert "`SectionMatch@1` is not a metric — write `section_match_at_1`" in result.stderr
    assert "`mrr`: 'high' is not a threshold" in result.stderr
    assert len(json_report(ws)["problems"]) == 2


def test_text_of_a_workspace_cannot_act_on_the_terminal(ws: Path) -> None:
    entries = [with_pack(ws, "R1", '{"note": "\\u001b[31mred[bold]x"}') | {"title": "\x1b[2J[red]boo"}]
    measured_workspace(ws, {"R1": [trace("N\x1b[1m\n1")]}, entries=entries)
    result = run_metrics(ws)
    assert "\x1b" not in result.stdout + result.stderr
    assert "[red]boo" in result.stdout
