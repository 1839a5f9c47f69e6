"""The Triage table: what a row of the index reads like, and what a click on a header means."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import numpy as np
import orjson
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan, TraceKey
from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.display_names import COLUMN_NAMES, ISSUE_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.store.query.filters import SORTS, Filter, Sort
from proofspan.ui.triage.chosen import row_key, trace_key
from proofspan.ui.triage.excerpt import LEAD, differing, excerpt
from proofspan.ui.triage.table import (
    COLUMNS,
    JUDGED,
    LEAST_QUESTION,
    UNJUDGED,
    Known,
    columns_of,
    issues,
    order,
    sort_after_click,
    triage_grid,
    triage_rows,
)
from proofspan.ui.visit.view_state import OPTIONAL_COLUMNS, ViewState
from proofspan.ui.widgets import text
from proofspan.ui.widgets.table import packed

ROW = {
    "q_id": "Q80",
    "paraphrase": 0,
    "seed": 0,
    "repeat": 1,
    "label": "generation_drift",
    "q": "Which flux?",
    "answer": "Use rosin.\ncitations: [c1]",
    "why": "template/citations violated",
    "rank1_section": "2.26",
    "rank1_doc": "manual",
    "grounded": "contradicted",
    "correct": "wrong",
    "cause": "contradicted",
    "cause_sentence": "Wrong name: the answer says rosin; its evidence says tin.",
    "claims": None,
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


def sent(
    *rows: dict[str, object],
    view: ViewState = VIEW,
    sort: Sort | None = None,
    known: Known | None = None,
    is_judged: bool = True,
    has_gold: bool = True,
) -> dict[str, Any]:
    """Return the data sent to the browser for these index rows, with all columns."""
    made = triage_rows(pd.DataFrame([{**ROW, **row} for row in rows]), view, known or Known())
    grid = triage_grid(
        made, sort or view.sort, chosen=OPTIONAL_COLUMNS, is_judged=is_judged, has_gold=has_gold
    )
    data: dict[str, Any] = orjson.loads(packed(grid))
    return data


def only_row(known: Known | None = None, **changes: object) -> dict[str, str]:
    """The texts of a row's cells, left out or not; of verdict and label their chips."""
    (row,) = sent(changes, known=known)["rows"]
    texts = {name: cell.get("text", "") for name, cell in row["cells"].items()}
    texts = dict.fromkeys((*JUDGED, *OPTIONAL_COLUMNS), "–") | {"why": "", "issues": ""} | texts
    return {**texts, **{name: row["cells"][name]["chips"][0]["text"] for name in ("verdict", "label")}}


def issues_of(offset: int | None = None, **changes: object) -> str:
    known = Known(offsets={} if offset is None else {TraceKey("", "Q80"): offset})
    (row,) = triage_rows(pd.DataFrame([{**ROW, "suspicions": [], **changes}]), VIEW, known)
    return " · ".join(issues(row))


def test_a_row_reads_in_words() -> None:
    assert only_row() == {
        "verdict": "✕ Contradicted",
        "cause": "Wrong name: the answer says rosin; its evidence says tin.",
        "answer": "Use rosin.",
        "expected": "–",
        "support": "–",
        "contradictions": "–",
        "gold_rank": "–",
        "rules": "–",
        "reviewed": "–",
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


WAS = {"was_grounded": "yes", "was_correct": "correct", "was_cause": "none"}


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        ({}, ""),
        ({"was_grounded": None, "was_correct": None, "was_cause": None}, ""),
        (WAS, "was ✓ Correct"),
        ({**WAS, "was_grounded": "contradicted", "was_cause": "wrong_source"}, "was Wrong source"),
        ({"was_grounded": "contradicted", "was_correct": "wrong", "was_cause": "contradicted"}, ""),
    ],
)
def test_a_row_has_the_verdict_of_the_other_run_where_that_differs(
    was: dict[str, str | None], expected: str
) -> None:
    assert sent({**was})["rows"][0]["cells"]["verdict"].get("note", "") == expected


def test_an_answer_without_a_verdict_says_so() -> None:
    cells = sent(dict.fromkeys(("grounded", "correct", "cause", "cause_sentence")))["rows"][0]["cells"]
    assert cells["verdict"]["chips"][0]["text"] == "Not judged"
    assert cells["cause"]["text"] == "–"


def test_the_expected_answer_is_that_of_the_gold_question() -> None:
    span = GoldSpan("manual", 3, "Solder with tin.")
    for gold, expected in (
        (GoldQuestion("Q80", "Which flux?", answer="Tin,\nno rosin."), "Tin, no rosin."),
        (GoldQuestion("Q80", "Which flux?", spans=(span,)), "Solder with tin."),
        (GoldQuestion("Q80", "Which flux?", answerable=False), "No answer in the documents"),
        (GoldQuestion("Q80", "Which flux?"), "–"),
        (GoldQuestion("Q81", "Which?", answer="Tin."), "–"),
    ):
        assert only_row(Known(gold={gold.q_id: gold}))["expected"] == expected


def test_the_top_document_is_there_where_the_workspace_has_several() -> None:
    other = {"rank1_doc": "bulletin"}

    def cell(titles: dict[str, str], **changes: object) -> dict[str, str]:
        found: dict[str, str] = sent(changes, other, known=Known(titles=titles))["rows"][0]["cells"][
            "section"
        ]
        return {name: found[name] for name in ("text", "note") if name in found}

    assert cell({}) == {"text": "2.26"}
    titles = {"manual": "Owner's manual", "bulletin": "Bulletin 7"}
    assert cell(titles) == {"text": "2.26", "note": "Owner's manual"}
    assert cell(titles, rank1_doc="other") == {"text": "2.26", "note": "other"}
    assert cell(titles, rank1_section=None) == {"text": "Owner's manual"}
    assert cell(titles, rank1_section=None, rank1_doc=None) == {"text": "–"}
    assert cell(titles, **other) == {"text": "2.26"}, "all rows have the same document"


def test_a_column_without_a_value_is_left_out_unless_the_list_is_in_its_order() -> None:
    assert "coverage" in sent({}, {"answer_coverage": None})["rows"][1]["cells"]
    empty = {"answer_coverage": None, "suspicions": []}
    assert sent(empty)["rows"][0]["cells"].keys().isdisjoint({"coverage", "expected", "issues"})
    assert "coverage" in sent(empty, sort=Sort("answer_coverage"))["rows"][0]["cells"]


def test_a_list_has_its_columns_and_those_that_are_chosen() -> None:
    assert columns_of((), is_judged=True, has_gold=True) == list(JUDGED)
    assert columns_of((), is_judged=False, has_gold=True) == list(UNJUDGED)
    assert "expected" not in columns_of((), is_judged=True, has_gold=False)
    chosen = columns_of(("rules", "label", "question"), is_judged=True, has_gold=True)
    assert chosen == [*JUDGED, "label", "rules"]
    assert columns_of(("label",), is_judged=False, has_gold=True) == list(UNJUDGED)
    assert {*JUDGED, *UNJUDGED, *OPTIONAL_COLUMNS} == set(COLUMNS)


@pytest.mark.parametrize("is_judged", [True, False])
def test_whatever_is_chosen_the_columns_fit_or_move_under_the_question(is_judged: bool) -> None:
    columns = sent({}, is_judged=is_judged)["columns"]
    edges = [column["folds"]["below"] for column in columns if "folds" in column]
    fixed = sum(column.get("width", 0) for column in columns if "folds" not in column)
    for width in (at + step for at in edges for step in (0.01, -0.01)):
        beside = [
            column.get("width", 0) for column in columns if width > column.get("folds", {}).get("below", 0)
        ]
        assert sum(beside) + LEAST_QUESTION <= width or sum(beside) == fixed


def test_suspicions_that_the_page_says_once_are_in_no_row() -> None:
    codes = {"suspicions": ["template_absent", "duplicate_question"]}
    assert "Template not followed" in only_row(None, **codes)["issues"]
    assert only_row(Known(hidden=("template_absent",)), **codes)["issues"] == "Answered more than once"


CLAIMS = orjson.dumps(
    [
        {"differences": [{"claimed_start": 4, "claimed_end": 9}, {"claimed_start": 4, "claimed_end": 9}]},
        {"differences": []},
        {"differences": [{"claimed_start": 20, "claimed_end": 20}, {"claimed_start": 6, "claimed_end": 8}]},
    ]
).decode()


def test_words_that_differ_are_marked_once() -> None:
    assert differing(CLAIMS) == [(4, 9)]
    assert differing("") == []
    cell = sent({"claims": CLAIMS, "answer": "Use 𝟏 rosin."})["rows"][0]["cells"]["answer"]
    assert cell["marks"] == [[4, 10]], "the browser counts UTF-16 units"


@pytest.mark.parametrize(
    ("answer", "marks", "text"),
    [
        ("Use rosin.\ncitations: [c1]", [], "Use rosin."),
        ("Use\n\n  rosin.", [(7, 12)], "Use rosin."),
        ("", [], ""),
        ("citations: [c1]", [], ""),
        ("word " * 40, [], f"{('word ' * 12)[:59]}…"),
    ],
)
def test_an_excerpt_is_one_line_without_the_citations(
    answer: str, marks: list[tuple[int, int]], text: str
) -> None:
    found, ranges = excerpt(answer, marks, 60)
    assert found == text
    assert [found[slice(*each)] for each in ranges] == ["rosin" for _ in marks]


def test_an_excerpt_begins_where_the_difference_can_be_seen() -> None:
    answer = f"{'word ' * 40}then 1.4 litre {'word ' * 40}"
    start = answer.index("1.4")
    text, ((low, high),) = excerpt(answer, [(start, start + 9)], 110)
    assert text[low:high] == "1.4 litre"
    assert text.startswith("… ") and text.endswith("…")
    assert len(text) <= 110
    text, marks = excerpt("漢" * 400, [(300, 302)], 110)
    assert marks == ((LEAD + 2, LEAD + 4),)


@given(st.text(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.integers(20, 120))
def test_any_answer_has_an_excerpt(answer: str, ends: list[int], limit: int) -> None:
    places = sorted(set(ends))
    marks = list(zip(places[::2], places[1::2], strict=False))
    text, found = excerpt(answer, marks, limit)
    assert len(text) <= limit
    assert "\n" not in text and "\u202e" not in text
    assert all(0 <= low < high <= len(text) for low, high in found)


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
    assert len(only_row(cause_sentence="word " * 9_000)["cause"]) <= 220
    assert len(only_row(answer="word " * 9_000)["answer"]) <= 110


def test_control_characters_cannot_pose_as_other_text() -> None:
    hostile, shown = "a\u202eb\x00c\nd", "a\ufffdb\ufffdc d"
    row = only_row(
        Known(gold={"Q80": GoldQuestion("Q80", "?", answer=hostile)}, titles={"manual": hostile}),
        q=hostile,
        answer=hostile,
        cause_sentence=hostile,
        rank1_section=hostile,
    )
    assert {row[name] for name in ("question", "answer", "cause", "expected", "section")} == {shown}


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
        ("verdict", Sort("cited"), Sort("worst")),
        ("verdict", Sort("worst"), Sort("worst", True)),
        ("label", Sort("worst"), Sort("label")),
        ("label", Sort("label"), Sort("label", True)),
    ],
)
def test_a_click_on_a_header_sorts_and_a_second_turns_round(column: str, before: Sort, after: Sort) -> None:
    assert sort_after_click(column, before) == after


def test_every_column_has_a_title_and_sorts_by_something_the_index_knows() -> None:
    for name, column in COLUMNS.items():
        assert name in COLUMN_NAMES
        assert column.layout.sorts == bool(column.sort)
        assert not column.sort or column.sort in SORTS
        assert not column.sort or order(Sort(column.sort)) == column.order[0]
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
        (Sort(), {"verdict": ("other", "")}),
        (Sort("worst", True), {"verdict": ("descending", "↓")}),
        (Sort("label"), {"label": ("ascending", "↑")}),
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


def test_before_there_are_verdicts_the_list_is_by_label() -> None:
    columns = sent({}, sort=Sort(), is_judged=False)["columns"]
    assert [column["name"] for column in columns if "sorted" in column] == ["label"]


def test_fifty_rows_of_long_text_stay_small() -> None:
    long: dict[str, object] = {"q": "漢" * 5_000, "rank1_section": "§" * 500, "answer": "漢" * 5_000}
    long |= {"cause_sentence": "漢" * 5_000}
    view = VIEW.change(text="x" * 900)
    data = sent(*[{**long, "q_id": f"{'q' * 40}{number}"} for number in range(50)], view=view)
    assert len(orjson.dumps(data)) < 200_000


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


@pytest.mark.parametrize("key", [TraceKey("R1", "Q:8\n0", 2, -3), TraceKey("R1", "Q80", 0, 2**32, 2)])
def test_the_key_of_a_row_names_its_trace(key: TraceKey) -> None:
    assert trace_key("R1", row_key(key)) == key


@pytest.mark.parametrize("key", ["", "Q80", "0:Q80", "x:0:Q80", "0:0:", "0:0:\ud800", f"0:{10**20}:Q80"])
def test_other_texts_name_none(key: str) -> None:
    assert trace_key("R1", key) is None
