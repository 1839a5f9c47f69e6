"""The release verdict: its state, the order of its reasons, what would change it, and the default gates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.manifest.load import load_manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, Bound, Goal, Verdict, judge
from proofspan.metrics.values import MetricValue, Tally, metric_value
from proofspan.services.gate import release_verdict
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.passes.checking import check_runs
from proofspan.services.release import Check, ReleaseVerdict
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from tests.unit.store_workspace import lines, manifest_of, trace, write_workspace

PINNED = {"index_hash": "faiss:2f7d", "embed_model": "bge-large:mean", "analyzer": "lowercase+ascii_fold"}


def verdict(*checks: Check, strict: bool = False) -> ReleaseVerdict:
    return ReleaseVerdict("R2", "R1", 3, checks, strict)


PASSES = Check("questions", "Questions", "pass", "3 questions")
OPEN = Check("gt_in_top_20", "GT", "pass", "ok", subject="ranking", open="3 questions: few", change="ask 9")
WARNS = Check("metrics_pack", "Pack", "warn", "differs", change="write it again")
FLIPS = Check(
    "flips", "Flips", "fail", "2 of 3; at most 0 may", count=2, subject="regressions", change="fix 2"
)
PARITY = Check("code_x", "Index differs", "fail", "1 of 3", count=1, subject="settings", change="rebuild")


@pytest.mark.parametrize(
    ("checks", "state", "passes", "strictly"),
    [
        ((PASSES,), "ready", True, "ready"),
        ((PASSES, WARNS), "ready", True, "not_ready"),
        ((PASSES, OPEN), "not_enough_evidence", True, "not_enough_evidence"),
        ((OPEN, WARNS), "not_enough_evidence", True, "not_ready"),
        ((OPEN, FLIPS), "not_ready", False, "not_ready"),
        ((), "ready", True, "ready"),
    ],
)
def test_the_state_follows_from_the_checks(
    checks: tuple[Check, ...], state: str, passes: bool, strictly: str
) -> None:
    assert (verdict(*checks).state, verdict(*checks).passes()) == (state, passes)
    strict = verdict(*checks, strict=True)
    assert (strict.state, strict.passes()) == (strictly, strictly == "ready")


def test_reasons_come_with_the_most_harmful_first_and_say_what_would_change_it() -> None:
    found = verdict(PASSES, WARNS, OPEN, FLIPS, PARITY)
    assert [(each.status, each.sentence) for each in found.reasons] == [
        ("fail", "Index differs: 1 of 3"),
        ("fail", "Flips: 2 of 3"),
        ("open", "GT: 3 questions: few"),
        ("warn", "Pack: differs"),
    ]
    assert found.changes == ("Rebuild", "Fix 2")
    assert verdict(PASSES, OPEN).changes == ("Ask 9",)
    assert (verdict(PASSES).reasons, verdict(PASSES).changes) == ((), ())


def test_checks_that_lack_the_same_evidence_are_one_reason() -> None:
    absent = [
        Check(name, name, "skipped", "no", open="not measured: no gold question", change="give it gold")
        for name in ("A", "B")
    ]
    (reason,) = verdict(PASSES, *absent).reasons
    assert reason.sentence == "2 checks not measured: no gold question: A, B"
    assert verdict(*absent).changes == ("Give it gold",)


def _share(part: int, whole: int, metric_id: str = "section_match_at_1") -> MetricValue:
    return metric_value(METRICS[metric_id], Tally(whole, float(part), float(part)))


def _judged(value: MetricValue, goal: Goal | None = None) -> Verdict:
    return judge(goal or DEFAULT_GOALS[value.metric.metric_id], value)


def test_a_missed_goal_says_how_many_questions_it_lacks() -> None:
    words = _judged(_share(24, 37)).change
    assert words == "SectionMatch@1 needs 2 more of its 37 questions to be at least 70 %"
    rare = Goal("over_refusal", Bound("<=", "0.1"))
    assert "needs 3 fewer of its 37" in _judged(_share(6, 37, "over_refusal"), rare).change
    assert "can't be at least 120 %" in _judged(_share(3, 4), Goal("x", Bound(">=", "1.2"))).change


def test_a_met_goal_is_open_while_its_interval_includes_the_threshold() -> None:
    found = _judged(_share(26, 37))
    assert (found.status, found.open) == (
        "pass",
        "37 questions: the interval of 54–83 % includes the goal 70 %",
    )
    assert _judged(_share(36, 37)).open == ""
    assert _judged(_share(37, 37, "gt_in_top_20")).open == ""


@pytest.mark.parametrize(("part", "whole"), [(35, 37), (30, 32), (40, 43), (19, 20)])
def test_as_many_questions_as_it_names_would_decide(part: int, whole: int) -> None:
    words = _judged(_share(part, whole, "gt_in_top_20")).change
    needed = int(words.split()[1].replace(",", ""))
    assert needed > whole
    share = part / whole
    for number, is_open in ((needed - 1, True), (needed, False)):
        exact = metric_value(METRICS["gt_in_top_20"], Tally(whole, float(part)))
        spread = 1.959963984540054**2 * 0.9 * 0.1 / number
        assert ((share - 0.9) ** 2 <= spread) is is_open, exact


def test_a_number_at_its_goal_is_never_decided_and_one_question_is_too_few() -> None:
    assert _judged(_share(9, 10, "gt_in_top_20")).change.startswith("GT-in-top-20 needs more questions")
    mean = MetricValue(METRICS["delta_s_mean"], 0.4, None, None, None, 1, {})
    assert _judged(mean).open == "one of the questions: too few to judge by"


def built(folder: Path, traces: list[dict[str, object]], **run: Any) -> ReleaseVerdict:
    """Return the verdict on the second of two equal runs, the second with the entries `run`."""
    entries = {name: run.pop(name, {}) for name in ("goals", "gates")}
    manifest = write_workspace(folder, {"R1": traces, "R2": traces}, **entries)
    body = orjson.loads((folder / "pipeline_manifest.yaml").read_bytes())
    body["runs"][1] |= run
    body |= {"triage": run["triage"]} if "triage" in run else {}
    body["runs"][1].pop("triage", None)
    (folder / "pipeline_manifest.yaml").write_bytes(orjson.dumps(body))
    manifest = load_manifest(folder)
    build_index(manifest, cache_dir=folder / "cache")
    list(check_runs(manifest, ["R1", "R2"], cache_dir=folder / "cache"))
    return release_verdict(Store(manifest, folder / "cache"), manifest, "R2")


def check(found: ReleaseVerdict, name: str) -> Check | None:
    return next((each for each in found.checks if each.name == name), None)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("analyzer", "lowercase", "analyzer_mismatch"),
        ("index_hash", "faiss:9999", "mismatch_index_hash"),
        ("embed_model", "other:mean", "embed_model_mismatch"),
    ],
)
def test_without_gates_a_run_that_read_with_other_settings_is_not_ready(
    tmp_path: Path, field: str, value: str, code: str
) -> None:
    logged = {**PINNED, field: value}
    found = built(tmp_path, [trace("Q1", **logged), trace("Q2", **PINNED)], pinned=PINNED)
    failing = check(found, f"code_{code}")
    assert failing is not None
    assert (found.state, failing.status, failing.count) == ("not_ready", "fail", 1)
    assert found.reasons[0].link == f"./?run=R2&code={code}"
    assert found.reasons[0].change
    assert not found.passes()


def test_settings_that_are_logged_and_not_pinned_are_missing_evidence(tmp_path: Path) -> None:
    found = built(tmp_path, [trace("Q1", **PINNED)], pinned={"index_hash": PINNED["index_hash"]})
    unpinned = check(found, "code_analyzer_mismatch")
    assert unpinned is not None
    assert (unpinned.status, "the run pins none" in unpinned.open) == ("skipped", True)
    assert check(found, "code_embed_model_mismatch") is None  # a lexical index has none
    agrees = check(found, "code_mismatch_index_hash")
    assert agrees is not None and agrees.status == "pass"


def test_without_gates_answers_without_citations_fail_where_the_profile_asks_for_them(
    tmp_path: Path,
) -> None:
    bare = [trace("Q1", answer="The oil filter holds 4 litres."), trace("Q2")]
    found = check(built(tmp_path / "seed", bare), "code_empty_citations")
    assert found is not None
    assert (found.status, [each.q_id for each in found.affected]) == ("fail", ["Q1"])
    free = built(tmp_path / "none", bare, triage={"template": "none"})
    assert check(free, "code_empty_citations") is None


def test_an_answer_that_contradicts_its_evidence_has_to_be_read_before_a_release(tmp_path: Path) -> None:
    wrong = trace("Q1", answer="The oil filter holds 9 litres.\ncitations: [c1]")
    none = dict.fromkeys(DEFAULT_GOALS, "none")
    found = built(tmp_path, [wrong, trace("Q2")], goals=none)
    claims = check(found, "causes")
    assert claims is not None
    assert claims.open == "1 of 2 answers: contradicts its evidence (1), by rules alone"
    assert claims.link == "./?run=R2&cause=contradicted"
    assert found.state == "not_enough_evidence"
    assert built(tmp_path / "good", [trace("Q1"), trace("Q2")], goals=none).state == "ready"


def test_a_number_for_a_cause_decides_about_its_answers(tmp_path: Path) -> None:
    wrong = trace("Q1", answer="The oil filter holds 9 litres.\ncitations: [c1]")
    none = dict.fromkeys(DEFAULT_GOALS, "none")
    for most, status, state in (("0", "fail", "not_ready"), ("1", "pass", "ready")):
        gates = {"causes": {"contradicted": most}}
        found = built(tmp_path / most, [wrong, trace("Q2")], goals=none, gates=gates)
        contradicted, others = check(found, "cause_contradicted"), check(found, "causes")
        assert contradicted is not None and others is not None
        assert (contradicted.status, others.status, found.state) == (status, "pass", state)


def test_goals_without_gold_are_missing_evidence_in_one_reason(tmp_path: Path) -> None:
    found = built(tmp_path, [trace("Q1")])
    sentences = [each.sentence for each in found.reasons if "no gold question" in each.sentence]
    assert (found.state, len(sentences)) == ("not_enough_evidence", 1)
    assert "SectionMatch@1, GT-in-top-20, Section coverage" in sentences[0]


def test_a_first_run_has_nothing_to_compare_with(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path, {"R1": [trace("Q1")]}, goals=dict.fromkeys(DEFAULT_GOALS, "none"))
    build_index(manifest, cache_dir=tmp_path / "cache")
    found = release_verdict(Store(manifest, tmp_path / "cache"), manifest, "R1")
    assert [each.sentence for each in found.reasons] == [
        "Harmful answers: the claims of the answers are not checked yet",
        "Flips: nothing to compare with: the manifest names no baseline for this run, and no run precedes it",
    ]


def test_only_bundles_whose_citation_leads_to_a_page_of_a_document_cover_an_answer(tmp_path: Path) -> None:
    def bundle(
        q_id: str, *, origin: str = "payload", doc_id: str = "manual", page: int = 2
    ) -> dict[str, Any]:
        return {
            "bundle_version": "1.3",
            "q_id": q_id,
            "level": "full",
            "citation_origin": origin,
            "citation": {"doc_id": doc_id, "page_idx": page},
            "documents": [{"doc_id": doc_id, "page_count": 3, "paged": True}],
        }

    bundles = [
        bundle("Q1"),
        bundle("Q2", origin="retrieved"),
        bundle("Q3", doc_id="elsewhere"),
        bundle("Q4", page=3),
        bundle("Q5") | {"citation": None},
    ]
    (tmp_path / "bundles.jsonl").write_bytes(lines(bundles))
    run = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "bundles": {"path": "bundles.jsonl"}}
    documents = [{"doc_id": "manual", "path": "manual.md", "paged": False}]
    traces = [trace(f"Q{number}") for number in range(1, 7)]
    write_workspace(tmp_path, {"R1": traces})
    chunks = {"path": "chunks.jsonl"}
    manifest = manifest_of(tmp_path, chunks=chunks, runs=[run], documents=documents)
    build_index(manifest, cache_dir=tmp_path / "cache")
    measured = run_metrics(Store(manifest, tmp_path / "cache"), manifest, "R1").values["bundle_coverage"]
    assert (measured.numerator, measured.denominator) == (1, 6)
