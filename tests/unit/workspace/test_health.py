"""Findings by code over runs: the rows, how families fold, the trend, and what comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from proofspan.errors import Problem
from proofspan.manifest.types import Run
from proofspan.services.health.rule_counts import (
    HEALTH_EXPORTS,
    NONE,
    Count,
    HealthRow,
    HealthTable,
    code_rows,
    folded,
    health_frame,
    health_table,
    suspicion_rows,
    trend,
)
from proofspan.services.health.run_findings import RunFinding, fix_first, in_a_sentence, to_fix
from proofspan.store.query.filters import Filter
from proofspan.ui.health.rules import code_grid
from proofspan.ui.visit.view_state import ViewState
from tests.unit.store_workspace import built, trace, write_workspace

RUNS = ("R1", "R2", "R3")


def counts(*numbers: int) -> tuple[Count, ...]:
    return tuple(Count(number, number) for number in numbers)


def row(code: str, *numbers: int) -> HealthRow:
    frame = pd.DataFrame(
        [(run, code, number, number) for run, number in zip(RUNS, numbers, strict=False)],
        columns=["run_id", "code", "traces", "questions"],
    )
    (found,) = code_rows(frame, RUNS[: len(numbers)])
    return found


def table(*rows: HealthRow, shown: int = -1, members: Sequence[HealthRow] = ()) -> HealthTable:
    runs = len(rows[0].counts) if rows else 1
    return HealthTable(
        tuple(Run(name, None) for name in RUNS[:runs]),
        (10,) * runs,
        shown % runs,
        tuple(rows),
        tuple(members),
    )


def test_codes_come_errors_first_and_by_what_they_are_about() -> None:
    frame = pd.DataFrame(
        [("R1", code, 1, 1) for code in ("tie_order", "analyzer_mismatch", "missing_ts", "bad_offsets")],
        columns=["run_id", "code", "traces", "questions"],
    )
    assert [(each.codes[0], each.group) for each in code_rows(frame, ["R1"])] == [
        ("missing_ts", "Envelope"),
        ("bad_offsets", "Citations"),
        ("analyzer_mismatch", "Index and query configuration"),
        ("tie_order", "Ranking, recommended"),
    ]


def test_a_run_without_a_code_has_none_of_it() -> None:
    frame = pd.DataFrame([("R2", "bad_offsets", 3, 0)], columns=["run_id", "code", "traces", "questions"])
    (found,) = code_rows(frame, ["R1", "R2"])
    assert found.counts == (NONE, Count(0, 3))
    assert found.filter("R2", found.counts[1]) == Filter("R2", code=("bad_offsets",), all_variants=True)


def test_a_suspicion_that_is_a_code_as_well_is_one_row_only() -> None:
    frame = pd.DataFrame(
        [("R1", "report_stale", 2, 2), ("R1", "duplicate_question", 1, 1)],
        columns=["run_id", "code", "traces", "questions"],
    )
    (found,) = suspicion_rows(frame, ["R1"])
    assert found.codes == ("report_stale",)
    assert found.filter("R1", found.counts[0]) == Filter("R1", suspicion=("report_stale",))


def test_many_missing_fields_are_one_row_that_counts_their_questions_once() -> None:
    rows = [row("missing_rev", 1, 4), row("missing_tokens", 2, 4), row("missing_source_url", 2, 0)]
    shown, members = folded(
        [*rows, row("missing_score", 1, 1)], lambda codes, place, found: Count(len(codes), place)
    )
    assert [each.title for each in shown] == ["3 fields missing", "no score"]
    assert shown[0].codes == ("missing_rev", "missing_tokens", "missing_source_url")
    assert shown[0].counts == (Count(3, 0), Count(3, 1))
    assert "rev, tokens, source_url" in shown[0].problem.message
    assert members == tuple(rows)


def test_few_missing_fields_stay_as_they_are() -> None:
    rows = [row("missing_rev", 1), row("missing_tokens", 2)]
    assert folded(rows, lambda *_: NONE) == (tuple(rows), ())


@pytest.mark.parametrize(
    ("numbers", "shown", "expected"),
    [
        ((3,), 0, ""),
        ((3, 3), 1, "as in R1"),
        ((3, 5), 1, "+2"),
        ((5, 3), 1, "−2"),
        ((0, 3), 1, "new in R2"),
        ((3, 0), 1, "Resolved in R2"),
        ((3, 0, 0), 2, "Resolved in R2"),
        ((3, 0, 2), 2, "back in R3"),
        ((0, 0, 2), 1, "not yet"),
    ],
)
def test_how_a_count_came_about(numbers: tuple[int, ...], shown: int, expected: str) -> None:
    code = row("bad_offsets", *numbers)
    assert trend(table(code, shown=shown), code) == expected


def test_what_was_not_counted_in_a_run_is_no_zero_there() -> None:
    code = replace(row("bad_offsets", 0, 3), unknown=frozenset({0}))
    found = table(code)
    assert trend(found, code) == ""
    assert health_frame(found)["questions"].isna().tolist() == [True, False]
    cells = code_grid(found, found.rows, ViewState()).rows[1].cells
    assert [cell.text for cell in cells] == ["?", "3"]
    assert cells[0].href is None


def finding(code: str, title: str = "", severity: str = "error", shown: Filter | None = None) -> RunFinding:
    return RunFinding(Problem(code, "", severity=severity), title or code, shown)


STALE = finding("report_stale", "stored report disagrees on 8", shown=Filter("R1"))
WAITS = finding("last_line_waits", "last line unfinished", "warning")


def test_the_sentence_counts_what_is_listed() -> None:
    rows = row("bad_offsets", 4), row("analyzer_mismatch", 9), row("tie_order", 1)
    health = replace(table(*rows), broken_on=10)
    message = in_a_sentence(health, (STALE, WAITS))
    assert message == "R1: 3 errors and 2 warnings; rules broken on 10 of 10 questions."
    listed = Counter(each.problem.severity for each in to_fix(health, (STALE, WAITS)))
    assert listed == {"error": 3, "warning": 2}


def test_errors_of_files_alone_are_counted_too() -> None:
    of_file = replace(finding("lines_unreadable"), is_of_file=True)
    assert in_a_sentence(table(), (of_file,)) == "R1: 1 error of its files."


def test_the_sentence_of_a_run_without_errors() -> None:
    assert in_a_sentence(table(), ()) == "R1: No data-quality issues found in 10 questions."
    assert in_a_sentence(table(row("tie_order", 1)), [WAITS]) == "R1: 2 warnings."


def test_the_widest_effect_is_to_be_fixed_first() -> None:
    few, most = row("bad_offsets", 1), row("analyzer_mismatch", 9)
    first = fix_first(table(few, most), (STALE, WAITS, finding("hash_differs")))
    assert [each.problem.code for each in first] == [
        *("hash_differs", "analyzer_mismatch", "report_stale", "bad_offsets"),
    ]
    assert first[1].shown == Filter("R1", code=("analyzer_mismatch",))
    assert "On 9 of 10 questions, 90 %" in first[1].problem.message


def test_findings_of_the_files_are_not_repeated() -> None:
    assert fix_first(table(), [replace(finding("lines_unreadable"), is_of_file=True)]) == ()


def test_pages_that_are_off_for_a_known_reason_are_reported_once() -> None:
    findings = [finding(code, shown=Filter("R1")) for code in ("cited_page_differs", "page_base")]
    assert [each.problem.code for each in fix_first(table(), findings)] == ["page_base"]


def test_an_export_has_every_code_of_every_run() -> None:
    members = [row("missing_rev", 1, 4), row("missing_tokens", 2, 4)]
    fold = HealthRow("code", ("missing_rev", "missing_tokens"), "2", Problem("", ""), "", counts(2, 4))
    frame = health_frame(table(fold, row("bad_offsets", 0, 1), members=members))
    assert list(zip(frame["run_id"], frame["code"], frame["questions"], strict=True)) == [
        *(("R1", "bad_offsets", 0), ("R2", "bad_offsets", 1)),
        *(("R1", "missing_rev", 1), ("R2", "missing_rev", 4)),
        *(("R1", "missing_tokens", 2), ("R2", "missing_tokens", 4)),
    ]
    text = "".join(HEALTH_EXPORTS["csv"].pieces([frame]))
    assert text.splitlines()[1].startswith("R1,code,bad_offsets,error,Citations,offsets do not span,0,10,0")


def test_every_number_is_that_of_the_list_that_it_opens(tmp_path: Path) -> None:
    payload = {"snippet_id": "c1", "section_id": "4.2", "offsets": {"start": 9, "end": 4}}
    runs = {
        "R1": [trace("Q1", answer="It holds 5 litres."), trace("Q2", citations=[payload])],
        "R2": [trace("Q1", seed=1, citations=[payload]), trace("Q2"), trace("Q2")],
    }
    manifest = write_workspace(tmp_path, runs)
    store = built(manifest, tmp_path / "cache")
    found = health_table(store, manifest.runs, "R2")
    assert found.questions == (2, 1)
    cells = [
        (run.run_id, each, count)
        for each in (*found.rows, *found.members)
        for run, count in zip(found.runs, each.counts, strict=True)
        if count.traces
    ]
    assert len(cells) > 5
    for run_id, each, count in cells:
        assert store.matching(each.filter(run_id, count)) == (count.questions or count.traces), each.codes
