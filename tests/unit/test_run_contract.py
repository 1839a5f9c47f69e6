"""What speaks against a run as a whole: each finding where it applies, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest

from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.errors import Problem
from proofspan.evidence.page_base import PlacedQuote
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.packs import Pack, PackDifference
from proofspan.services.health.run_findings import (
    RunFinding,
    RunLines,
    cited_findings,
    copied_from,
    figure_findings,
    line_findings,
    pack_findings,
    page_findings,
    pin_findings,
    report_findings,
    template_findings,
    worst_first,
)
from proofspan.services.metrics.run_metrics import RunMetrics
from proofspan.services.page_base import PRODUCER, CitedPages, examine
from proofspan.store.files.types import RunFacts

FACTS = RunFacts("R1", "t.jsonl", Profile(), 9, 9, 0, 0, 0, 0, False, (), None)
ISSUE = {"file": "t.jsonl", "line": 4, "remedy": "write one object a line"}
NO_LINES = RunLines(0, 0, pd.DataFrame([]))
PINNED = {"index_hash": "faiss:1", "embed_model": "m:mean", "analyzer": "lowercase"}


def codes(findings: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in findings]


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
    assert all(each.address == "./health?run=R1" for each in found)


def test_an_unreadable_line_is_told_by_its_place_and_remedy() -> None:
    (found,) = line_findings(RunLines(1, 1, pd.DataFrame([ISSUE])), FACTS)
    assert "t.jsonl:4" in found.said
    assert found.next_step == "write one object a line"


def test_a_stale_report_opens_its_questions() -> None:
    (found,) = report_findings("R1", 3, 9)
    assert (found.code, found.severity) == ("report_stale", "error")
    assert found.said == "The stored report has another label on 3 of 9 questions, 33 % (12–65 %)."
    assert found.address == "./?run=R1&suspicion=report_stale"
    assert not list(report_findings("R1", 0, 9))


def test_a_profile_that_fits_no_answer_comes_with_the_one_that_does() -> None:
    suggestion = Suggestion(Profile("payload"), "no answer follows the template")
    (found,) = template_findings(replace(FACTS, suggestion=suggestion))
    assert found.code == "template_absent"
    assert "--template payload" in found.next_step


def test_cited_text_that_stands_elsewhere_opens_its_questions() -> None:
    counts = {"not_found": 1, "page_mismatch": 2, "numbers_differ": 0, "exact": 6}
    found = list(cited_findings("R1", counts, 9, is_located=True))
    assert [(each.code, each.address) for each in found] == [
        ("cited_text_not_found", "./?run=R1&evidence=not_found"),
        ("cited_page_differs", "./?run=R1&evidence=page_mismatch"),
    ]
    assert codes(cited_findings("R1", {}, 9, is_located=False)) == [("not_located", "note")]


def test_numbers_without_evidence_open_their_questions() -> None:
    (found,) = figure_findings("R1", 2, 9)
    assert (found.severity, found.address) == ("warning", "./?run=R1&unsupported=yes")
    assert not list(figure_findings("R1", 0, 9))


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


def test_a_run_without_a_pack_is_told_so() -> None:
    assert codes(pack_findings(Run("R1", None), measured(), None)) == [("metrics_pack_missing", "warning")]


def test_a_pack_that_differs_is_told_with_the_run_that_it_was_copied_from() -> None:
    run = Run("R1", None, metrics=Artifact("runs[R1].metrics", "m.json"))
    differs = (PackDifference("recall@50", Decimal("0.91"), 0.8919), PackDifference("nDCG@10", None, 0.5))
    (found,) = pack_findings(run, measured(differences=differs), "R0")
    assert (found.code, found.severity, found.title) == (
        "metrics_pack_differs",
        "error",
        "metrics pack is that of R0",
    )
    assert "recall@50: 0.91 in the pack, 0.8919 counted, and 1 other number." in found.said
    assert found.address == "./trends?run=R1"
    assert not list(pack_findings(run, measured(), None))


def test_a_pack_that_cannot_be_read_is_an_error() -> None:
    run = Run("R1", None, metrics=Artifact("runs[R1].metrics", "m.json"))
    problem = Problem("pack_not_json", "the metrics pack is no JSON", severity="warning")
    assert codes(pack_findings(run, measured(problems=(problem,)), None)) == [("pack_not_json", "error")]


def test_a_copied_pack_is_known_by_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "R0.json").write_bytes(orjson.dumps({"recall@50": 0.5, "dataset": "a"}))
    (tmp_path / "R2.json").write_text("{")
    runs = tuple(Run(name, None, metrics=Artifact(name, f"{name}.json")) for name in ("R2", "R0", "R1"))
    manifest = Manifest("w", tmp_path, runs=runs)
    assert copied_from(manifest, runs[2], Pack(numbers={"recall@50": Decimal("0.5")})) == "R0"
    assert copied_from(manifest, runs[2], Pack(numbers={"recall@50": Decimal("0.6")})) is None
    assert copied_from(manifest, runs[2], Pack(numbers={"recall@50": None})) is None
    assert copied_from(manifest, runs[2], None) is None


def test_only_what_is_systematic_about_pages_is_a_finding() -> None:
    off = [PlacedQuote("d", 5, 4, "1")] * 12
    (found,) = page_findings(CitedPages(examine(off, lambda doc: ()), {}), PRODUCER, "R1")
    assert (found.code, found.address) == ("page_base", "./?run=R1&evidence=page_mismatch")
    assert "counts pages from 1" in found.said
    right = [PlacedQuote("d", 4, 4, "1")] * 12
    assert not list(page_findings(CitedPages(examine(right, lambda doc: ()), {}), PRODUCER, "R1"))


def test_errors_come_first_and_notes_last() -> None:
    found = [RunFinding(severity, severity, "", "") for severity in ("note", "error", "warning", "error")]
    assert [each.severity for each in worst_first(found)] == ["error", "error", "warning", "note"]
