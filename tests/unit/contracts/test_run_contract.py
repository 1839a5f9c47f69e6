"""Findings about a run as a whole: each where it applies, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.errors import Problem
from proofspan.evidence.page_base import PlacedQuote
from proofspan.manifest.types import Artifact, Run
from proofspan.metrics.packs import PackDifference
from proofspan.services.health.rule_counts import ON_THE_PAGE, Count, HealthRow, HealthTable, Kind
from proofspan.services.health.run_findings import (
    RunFinding,
    RunLines,
    answer_findings,
    line_findings,
    measured_findings,
    page_findings,
    pin_findings,
    worst_first,
)
from proofspan.services.metrics.run_metrics import RunMetrics
from proofspan.services.page_base import PRODUCER, CitedPages, examine
from proofspan.services.workspace.links import list_address
from proofspan.store.files.located import Part, PlacedFile
from proofspan.store.files.types import RunFacts

FACTS = RunFacts("R1", "t.jsonl", Profile(), 9, 9, 0, 0, 0, 0, False, (), None)
ISSUE = {"file": "t.jsonl", "line": 4, "remedy": "write one object a line"}
NO_LINES = RunLines(0, 0, pd.DataFrame([]))
PINNED = {"index_hash": "faiss:1", "embed_model": "m:mean", "analyzer": "lowercase"}


def of_answers(*rows: HealthRow, stale: int = 0, **facts: Any) -> list[RunFinding]:
    table = HealthTable((Run("R1", None),), (9,), 0, rows)
    placed = PlacedFile("", "", "", {}, (Part("s", "p", 9),), {})
    known = replace(FACTS, **{"placed": placed, **facts})
    return list(answer_findings(table, known, stale=stale))


def on_the_page(kind: Kind, code: str, count: int, severity: str = "error") -> HealthRow:
    problem = Problem(code, "It differs.", severity=severity)
    return HealthRow(kind, (code,), "differs", problem, ON_THE_PAGE, (Count(count, count),))


def codes(findings: Any) -> list[tuple[str, str]]:
    return [(finding.problem.code, finding.problem.severity) for finding in findings]


def address(finding: RunFinding) -> str:
    assert finding.shown is not None
    return f"./{finding.page}{list_address(finding.shown).removeprefix('./')}"


def measured(**more: Any) -> RunMetrics:
    return replace(RunMetrics("R1", 9, {}, {}, {}, {}, {}), **more)


@pytest.mark.parametrize(
    ("lines", "facts", "expected"),
    [
        (NO_LINES, {}, []),
        (RunLines(1, 1, pd.DataFrame([ISSUE])), {}, [("lines_unreadable", "error")]),
        (RunLines(1, 0, pd.DataFrame([])), {}, [("lines_unreadable_declared", "note")]),
        (RunLines(2, 2, pd.DataFrame([ISSUE])), {"unmatched": 2}, [("report_without_trace", "warning")]),
        (NO_LINES, {"waiting_bytes": 12}, [("last_line_waits", "warning")]),
    ],
)
def test_lines(lines: RunLines, facts: Mapping[str, Any], expected: list[tuple[str, str]]) -> None:
    found = list(line_findings(lines, replace(FACTS, **facts)))
    assert codes(found) == expected
    assert all(address(each) == "./health?run=R1" for each in found)


def test_an_unreadable_line_is_reported_by_its_place_and_remedy() -> None:
    (found,) = line_findings(RunLines(1, 1, pd.DataFrame([ISSUE])), FACTS)
    assert "t.jsonl:4" in found.problem.message
    assert found.problem.fix == "write one object a line"


def test_a_stale_report_opens_its_questions() -> None:
    (found,) = of_answers(stale=3)
    assert (found.problem.code, found.problem.severity) == ("report_stale", "error")
    assert "3 of 9 questions, 33 % (12–65 %)" in found.problem.message
    assert address(found) == "./?run=R1&suspicion=report_stale"
    assert not of_answers()


def test_a_profile_that_fits_no_answer_comes_with_the_one_that_does() -> None:
    suggestion = Suggestion(Profile("payload"), "no answer follows the template")
    (found,) = of_answers(suggestion=suggestion)
    assert found.problem.code == "template_absent"
    assert "--template payload" in found.problem.fix


def test_what_is_wrong_on_the_page_opens_its_questions() -> None:
    rows = [("evidence", "not_found", 1), ("evidence", "page_mismatch", 2), ("evidence", "exact", 0)]
    found = of_answers(
        *(on_the_page(kind, state, count) for kind, state, count in rows),
        on_the_page("unsupported", "unsupported", 2, "warning"),
    )
    assert [(each.problem.severity, each.title, address(each)) for each in found] == [
        ("error", "differs on 1 of 9", "./?run=R1&evidence=not_found"),
        ("error", "differs on 2 of 9", "./?run=R1&evidence=page_mismatch"),
        ("warning", "differs on 2 of 9", "./?run=R1&unsupported=yes"),
    ]
    assert found[1].problem.message == "It differs. On 2 of 9 questions, 22 % (6–55 %)."
    assert codes(of_answers(placed=None)) == [("not_located", "note")]


@pytest.mark.parametrize(
    ("pinned", "absent"),
    [
        (PINNED, None),
        ({"index_hash": "bm25:1", "analyzer": "a"}, None),
        ({}, "index hash, embedding model, analyzer not pinned"),
        ({"index_hash": "bm25:1"}, "analyzer not pinned"),
        ({"analyzer": "a", "embed_model": "m"}, "index hash not pinned"),
    ],
)
def test_what_is_not_pinned_is_named(pinned: Mapping[str, str], absent: str | None) -> None:
    found = list(pin_findings(Run("R1", None, pinned=pinned)))
    assert [each.title for each in found] == ([absent] if absent else [])


def test_a_run_without_a_pack_is_reported() -> None:
    assert codes(measured_findings(Run("R1", None), measured())) == [("metrics_pack_missing", "warning")]


def test_a_pack_that_differs_is_an_error_with_its_numbers() -> None:
    run = Run("R1", None, metrics=Artifact("runs[R1].metrics", "m.json"))
    differs = (PackDifference("recall@50", Decimal("0.91"), 0.8919), PackDifference("nDCG@10", None, 0.5))
    (found,) = measured_findings(run, measured(differences=differs))
    assert (found.problem.code, found.problem.severity, found.title) == (
        "metrics_pack_differs",
        "error",
        "metrics pack differs",
    )
    assert "recall@50: 0.91 in the pack, 0.8919 counted, and 1 other number." in found.problem.message
    assert address(found) == "./trends?run=R1"
    assert not list(measured_findings(run, measured()))


def test_a_pack_that_cannot_be_read_is_an_error() -> None:
    run = Run("R1", None, metrics=Artifact("runs[R1].metrics", "m.json"))
    problem = Problem("pack_not_json", "the metrics pack is no JSON", severity="warning")
    assert codes(measured_findings(run, measured(problems=(problem,)))) == [("pack_not_json", "error")]


def test_only_what_is_systematic_about_pages_is_a_finding() -> None:
    off = [PlacedQuote("d", 5, 4, "1")] * 12
    (found,) = page_findings(CitedPages(examine(off, lambda doc: ()), {}), PRODUCER, "R1")
    assert (found.problem.code, address(found)) == ("page_base", "./?run=R1&evidence=page_mismatch")
    assert "counts pages from 1" in found.problem.message
    right = [PlacedQuote("d", 4, 4, "1")] * 12
    assert not list(page_findings(CitedPages(examine(right, lambda doc: ()), {}), PRODUCER, "R1"))


def test_errors_come_first_and_notes_last() -> None:
    found = [
        RunFinding(Problem(severity, "", severity=severity), "")
        for severity in ("note", "error", "warning", "error")
    ]
    assert [each.problem.severity for each in worst_first(found)] == ["error", "error", "warning", "note"]
