"""The Triage table: what a row of the index reads like, and what a click on a header means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.store.filters import SORTS, Filter, Sort
from core.triage.advice import SUSPICIONS
from core.ui import words
from core.ui.state import ViewState
from core.ui.triage_table import HEADERS, NO_LABEL, opened, sort_after_click, table_frame

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
    "gold_known": False,
    "gold_seen_rank": None,
    "gold_retrieved_rank": None,
}


def only_row(**changes: object) -> dict[str, object]:
    frame = pd.DataFrame([{**ROW, **changes}])
    row: dict[str, object] = table_frame(frame).iloc[0].to_dict()
    return row


def test_a_row_reads_in_words() -> None:
    assert only_row() == {
        "label": ["generation_drift"],
        "question": "Which flux?",
        "why": "template/citations",
        "section": "2.26",
        "cited": "1 of 2",
        "coverage": 0.74,
        "numbers": ["1/16"],
        "stands_out": "cited, never retrieved",
    }


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
    assert row["label"] == [NO_LABEL]
    assert (row["why"], row["section"], row["cited"], row["stands_out"]) == ("", "–", "–", "")
    assert pd.isna(row["coverage"])
    assert row["numbers"] == []


def test_cells_are_cut_to_what_a_cell_can_show() -> None:
    row = only_row(
        q="word " * 100_000, numbers_unsupported=np.array([str(n) for n in range(9)], dtype=object)
    )
    assert len(str(row["question"])) <= 160
    assert str(row["question"]).endswith("…")
    assert row["numbers"] == ["0", "1", "2", "+6"]


def test_control_characters_cannot_pose_as_other_text() -> None:
    assert only_row(q="a\u202eb\x00c\nd")["question"] == "a\ufffdb\ufffdc d"


def test_an_ok_that_the_evidence_hardly_carries_stands_out() -> None:
    assert (
        only_row(label="ok", answer_coverage=0.11, suspicions=[])["stands_out"]
        == "little of it in the evidence"
    )
    assert only_row(label="ok", answer_coverage=0.9, suspicions=[])["stands_out"] == ""


@pytest.mark.parametrize(
    ("seen", "retrieved", "words"),
    [
        (1, 1, ""),
        (3, 40, ""),
        (4, 1, "gold seen at rank 4"),
        (pd.NA, 15, "gold retrieved at 15, not seen"),
        (None, None, "gold never retrieved"),
    ],
)
def test_lost_gold_stands_out_first(seen: object, retrieved: object, words: str) -> None:
    gold = {"gold_known": True, "gold_seen_rank": seen, "gold_retrieved_rank": retrieved}
    assert only_row(**gold, suspicions=[])["stands_out"] == words
    both = only_row(**gold, suspicions=["citations_empty"])["stands_out"]
    assert both == f"{words}, citation line names no id".removeprefix(", ")


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


def test_every_header_sorts_by_something_the_index_knows_and_has_its_words() -> None:
    for header in HEADERS.values():
        assert header.sort in SORTS
        assert not words.order(Sort(header.sort)).endswith("ascending")


def test_a_row_opens_its_own_trace_in_the_same_list() -> None:
    view = ViewState(filter=Filter(run="R4", label=("ok",)), at=3, cite=2, page=0)
    shown = opened(pd.Series({**ROW, "repeat": 2, "paraphrase": 1}), view)
    assert shown.params() == {"run": ["R4"], "q": ["Q80#2"], "p": ["1"], "label": ["ok"], "at": ["3"]}


def test_every_suspicion_has_its_few_words() -> None:
    assert set(words.SHORT) == set(SUSPICIONS)
    assert words.short("somebody_elses") == "somebody_elses"


@pytest.mark.parametrize(
    ("part", "whole", "told"),
    [
        (6, 41, "15 % of 41 · 7–28 %"),
        (0, 0, "of no questions"),
        (1, 1000, "<1 % of 1,000 · 0–1 %"),
        (999, 1000, ">99 % of 1,000 · 99–100 %"),
        (14, 14, "100 % of 14 · 78–100 %"),
    ],
)
def test_a_share_says_of_how_many_and_how_sure(part: int, whole: int, told: str) -> None:
    assert words.share_of(part, whole) == told
