"""The Triage table: what a row of the index reads like, and what a click on a header means."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import numpy as np
import orjson
import pandas as pd
import pytest

from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.display_names import COLUMN_NAMES, ISSUE_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.store.query.filters import SORTS, Filter, Sort
from proofspan.ui.triage.table import (
    COLUMNS,
    issues,
    order,
    sort_after_click,
    triage_grid,
    triage_rows,
)
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import text
from proofspan.ui.widgets.table import packed

ROW = {
    "q_id": "Q80",
    "paraphrase": 0,
    "seed": 0,
    "repeat": 1,
    "label": "generation_drift",
    "q": "Which flux?",
    "why": "template/citations violated",
    "rank1_section": "2.26",
    "cited": 2.0,
    "cited_resolved": 1.0,
    "answer_coverage": 0.74,
    "numbers_unsupported": np.array(["1/16"], dtype=object),
    "suspicions": np.array(["citation_outside_retrieved"], dtype=object),
    "codes": None,
    "evidence": None,
    "safety_omitted": None,
    "gold_state": None,
    "gold_is_refusal": None,
    "gold_seen_rank": None,
    "gold_retrieved_rank": None,
    "unranked": "no_gold",
    "bucket": None,
    "section_rank": None,
    "support": None,
    "contradictions": None,
    "difference_kinds": None,
}


VIEW = ViewState(filter=Filter(run="R4", label=("ok",), text="a & b=c"), at=3)


def sent(*rows: dict[str, object], view: ViewState = VIEW, sort: Sort | None = None) -> dict[str, Any]:
    """Return the data sent to the browser for these index rows."""
    frame = pd.DataFrame([{**ROW, **row} for row in rows])
    data: dict[str, Any] = orjson.loads(packed(triage_grid(triage_rows(frame, view), sort or view.sort)))
    return data


def test_columns_of_claims_are_there_before_the_claims_are_checked() -> None:
    rows = triage_rows(pd.DataFrame([ROW]), VIEW)
    pending, without = (triage_grid(rows, VIEW.sort, has_claims=has) for has in (True, False))
    names = [{column.name for column in grid.columns} for grid in (pending, without)]
    assert {"support", "contradictions"} <= names[0] and "coverage" not in names[0]
    assert "coverage" in names[1] and not names[1] & {"support", "contradictions"}


def only_row(**changes: object) -> dict[str, str]:
    """The texts of a row's cells; of a label its chip."""
    (row,) = sent(changes)["rows"]
    texts = {name: cell.get("text", "") for name, cell in row["cells"].items()}
    return {**texts, "label": row["cells"]["label"]["chips"][0]["text"]}


def issues_of(offset: int | None = None, **changes: object) -> str:
    offsets = {} if offset is None else {TraceKey("", "Q80"): offset}
    (row,) = triage_rows(pd.DataFrame([{**ROW, "suspicions": [], **changes}]), VIEW, offsets)
    return " · ".join(issues(row))


def test_a_row_reads_in_words() -> None:
    assert only_row() == {
        "label": LABEL_NAMES["generation_drift"],
        "question": "Which flux?",
        "why": "Template or citations violated",
        "section": "2.26",
        "cited": "1 of 2",
        "coverage": "0.74",
        "numbers": "1/16",
        "issues": ISSUE_NAMES["citation_outside_retrieved"],
    }


@pytest.mark.parametrize(
    ("changes", "offset", "expected"),
    [
        ({"evidence": ["page_mismatch", "exact"]}, -1, "Cited page is one too high"),
        ({"evidence": ["page_mismatch", "exact"]}, 1, "Cited page is one too low"),
        ({"evidence": ["page_mismatch", "exact"]}, 7, "Cited text on another page"),
        ({"evidence": ["page_mismatch", "exact"]}, None, "Cited text on another page"),
        (
            {"evidence": ["not_found", "numbers_differ"]},
            None,
            "Cited text not found · Wrong number",
        ),
        ({"evidence": ["partial", "fuzzy", "not_placed", "normalized", "exact"]}, None, ""),
        ({"evidence": None, "safety_omitted": []}, None, ""),
        ({"safety_omitted": ["w-1"]}, None, "May omit a warning"),
        ({"safety_omitted": ["w-1", "w-2"]}, None, "May omit 2 warnings"),
        (
            {
                "evidence": ["numbers_differ", "page_mismatch"],
                "gold_state": "missed",
                "safety_omitted": ["w-1"],
            },
            -1,
            "Wrong number · Gold not retrieved · Cited page is one too high · May omit a warning",
        ),
    ],
)
def test_a_row_says_of_its_citations_only_what_needs_a_look(
    changes: dict[str, object], offset: int | None, expected: str
) -> None:
    assert issues_of(offset, **changes) == expected


def test_the_rules_that_a_record_breaks_are_counted_and_named_errors_first() -> None:
    codes = np.array(["tie_order", "missing_rev", "analyzer_mismatch"], dtype=object)
    cell = sent({"codes": codes})["rows"][0]["cells"]["rules"]
    titles = "rev missing; analyzer differs; ties out of order"
    assert (cell["text"], cell["tip"], cell["spoken"]) == ("3", titles, True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"unranked": None, "bucket": "hit", "section_rank": 1.0}, "1"),
        ({"unranked": None, "bucket": "score_policy", "section_rank": 1_204.0}, "1,204"),
        ({"unranked": None, "bucket": "retrieval_gap"}, "none"),
    ],
)
def test_the_gold_sections_rank_is_a_number_none_or_nothing_to_judge(
    changes: dict[str, object], expected: str
) -> None:
    assert only_row(**changes)["gold_rank"] == expected


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        ({}, ""),
        ({"was_label": None, "was_bucket": None}, ""),
        ({"was_label": "generation_drift", "was_bucket": "hit"}, ""),
        ({"was_label": "ok", "was_bucket": "hit"}, "was Grounded"),
        ({"was_label": "generation_drift", "was_bucket": "retrieval_gap"}, "was Recall miss"),
        ({"was_label": "ok", "was_bucket": "score_policy"}, "was Grounded · Ranking miss"),
    ],
)
def test_a_row_says_what_it_was_in_another_run_where_that_differs(
    was: dict[str, str | None], expected: str
) -> None:
    judged = {"unranked": None, "bucket": "hit", "section_rank": 1}
    assert sent({**judged, **was})["rows"][0]["cells"]["label"].get("note", "") == expected


def test_columns_that_no_row_has_a_value_for_are_left_out() -> None:
    def names(*rows: dict[str, object]) -> set[str]:
        return {column["name"] for column in sent(*rows)["columns"]}

    assert set(COLUMNS) - names({}) == {"gold_rank", "rules", "support", "contradictions"}
    ranked = {"unranked": None, "bucket": "retrieval_gap", "codes": ["missing_rev"]}
    filled = ranked | {"contradictions": 1, "numbers_unsupported": ["7"]}
    assert names({}, filled) == set(COLUMNS) - {"support"}
    assert names({}, filled | {"support": 0.5}) == set(COLUMNS) - {"coverage"}


def test_what_is_not_known_is_a_dash_or_empty_and_never_a_zero() -> None:
    row = only_row(
        label=None,
        why=None,
        rank1_section=None,
        cited=None,
        cited_resolved=None,
        answer_coverage=None,
        numbers_unsupported=None,
        suspicions=None,
    )
    assert row["label"] == NO_LABEL
    assert (row["why"], row["issues"]) == ("", "")
    assert {row[name] for name in ("section", "cited", "coverage")} == {"–"}


def test_cells_are_cut_to_what_a_cell_can_show() -> None:
    row = only_row(
        q="word " * 100_000, numbers_unsupported=np.array([str(n) for n in range(9)], dtype=object)
    )
    assert len(row["question"]) <= 300
    assert row["question"].endswith("…")
    assert row["numbers"] == "0, 1, 2, +6"


def test_control_characters_cannot_pose_as_other_text() -> None:
    assert only_row(q="a\u202eb\x00c\nd")["question"] == "a\ufffdb\ufffdc d"


def test_an_id_that_may_be_made_up_comes_before_the_gold() -> None:
    codes = ["ok_contradicts", "citation_outside_retrieved"]
    assert issues_of(suspicions=codes, gold_state="missed") == (
        "Cites unretrieved chunk · Gold not retrieved · Pipeline flag disagrees"
    )


def test_a_grounded_answer_that_the_evidence_hardly_covers_is_an_issue() -> None:
    assert issues_of(label="ok", answer_coverage=0.11) == "Low coverage"
    assert issues_of(label="ok", answer_coverage=0.9) == ""


@pytest.mark.parametrize(
    ("state", "is_refusal", "seen", "retrieved", "words"),
    [
        ("cited", False, 1, 1, ""),
        ("cited", False, 3, 40, ""),
        ("seen", False, 4, 1, "Gold at rank 4"),
        ("uncited", False, 2, 2, "Gold not cited (rank 2)"),
        ("uncited", True, 1, 1, "Refused with gold (rank 1)"),
        ("dropped", True, pd.NA, 15, "Gold dropped (rank 15)"),
        ("missed", False, None, None, "Gold not retrieved"),
        ("answered", False, None, None, "Should have refused"),
        ("declined", True, None, None, "Correctly refused"),
        (None, None, None, None, ""),
    ],
)
def test_the_gold_comes_first_among_the_issues(
    state: object, is_refusal: object, seen: object, retrieved: object, words: str
) -> None:
    gold = {"gold_state": state, "gold_is_refusal": is_refusal}
    gold |= {"gold_seen_rank": seen, "gold_retrieved_rank": retrieved}
    assert issues_of(**gold) == words
    both = issues_of(**gold, suspicions=["citations_empty"])
    assert both == f"{words} · Citation line without IDs".removeprefix(" · ")


@pytest.mark.parametrize(
    ("column", "before", "after"),
    [
        ("coverage", Sort(), Sort("answer_coverage")),
        ("coverage", Sort("answer_coverage"), Sort("answer_coverage", True)),
        ("coverage", Sort("answer_coverage", True), Sort("answer_coverage")),
        ("numbers", Sort(), Sort("unsupported", True)),
        ("numbers", Sort("unsupported", True), Sort("unsupported")),
        ("label", Sort("cited"), Sort("worst")),
        ("label", Sort("worst"), Sort("worst", True)),
    ],
)
def test_a_click_on_a_header_sorts_and_a_second_turns_round(column: str, before: Sort, after: Sort) -> None:
    assert sort_after_click(column, before) == after


def test_every_column_has_a_title_and_sorts_by_something_the_index_knows() -> None:
    for name, column in COLUMNS.items():
        assert name in COLUMN_NAMES
        assert column.sort in SORTS
        assert order(Sort(column.sort)) == column.order[0]
    assert order(Sort("latency", True)) == "by latency, descending"


def test_a_row_has_the_address_of_its_own_trace_in_the_same_list() -> None:
    view = ViewState(filter=Filter(run="R4", label=("ok",)), at=3, cite=2, page=0)
    (row,) = sent({"repeat": 2, "paraphrase": 1}, view=view)["rows"]
    address = row["cells"]["question"]["href"]
    assert parse_qs(address.partition("?")[2]) == {
        "run": ["R4"],
        "q": ["Q80#2"],
        "p": ["1"],
        "label": ["ok"],
        "at": ["3"],
    }
    (row,) = sent({"q_id": "<a&b=c>#/?ö", "seed": 2, "repeat": 3})["rows"]
    address = row["cells"]["question"]["href"]
    assert address.startswith("./question?")
    assert not set("<>#/ö") & set(address.partition("?")[2])
    state = ViewState.parse(parse_qs(address.partition("?")[2]))
    assert (state.q, state.s, state.filter) == ("<a&b=c>#/?ö#3", 2, VIEW.filter)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (Sort(), {"label": ("other", "")}),
        (Sort("worst", True), {"label": ("descending", "↓")}),
        (Sort("question"), {"question": ("ascending", "↑")}),
        (Sort("unsupported", True), {"numbers": ("descending", "↓")}),
        (Sort("latency"), {}),
    ],
)
def test_one_header_says_how_the_table_is_sorted(sort: Sort, expected: dict[str, tuple[str, str]]) -> None:
    columns = sent({}, sort=sort)["columns"]
    assert {
        column["name"]: (column["sorted"], column.get("arrow", ""))
        for column in columns
        if "sorted" in column
    } == expected


def test_fifty_rows_of_long_text_stay_small() -> None:
    long: dict[str, object] = {"q": "漢" * 5_000, "rank1_section": "§" * 500}
    view = VIEW.change(text="x" * 900)
    data = sent(*[{**long, "q_id": f"{'q' * 40}{number}"} for number in range(50)], view=view)
    assert len(orjson.dumps(data)) < 130_000


def test_every_suspicion_has_its_few_words() -> None:
    assert set(ISSUE_NAMES) == set(SUSPICIONS)
    assert issues_of(suspicions=["somebody_elses"]) == "somebody_elses"


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (6, 41, "15 % of 41 · 7–28 %"),
        (0, 0, "of no questions"),
        (1, 1000, "<1 % of 1,000 · 0–1 %"),
        (999, 1000, ">99 % of 1,000 · 99–100 %"),
        (14, 14, "100 % of 14 · 78–100 %"),
    ],
)
def test_a_share_says_of_how_many_and_how_sure(part: int, whole: int, expected: str) -> None:
    assert text.share_of(part, whole) == expected
