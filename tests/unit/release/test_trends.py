"""Trends without a browser: what its figures, tables and sentences are made of."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS
from proofspan.metrics.values import Tally, metric_value
from proofspan.services.compare import MetricPair, metric_pairs
from proofspan.services.metrics.cohorts import Ranks, sorted_questions
from proofspan.services.metrics.run_metrics import RunTrend
from proofspan.services.release import Affected, Check, ReleaseVerdict
from proofspan.store.query.filters import Filter
from proofspan.ui.trends.charts import (
    BY_STATE,
    address_behind,
    band_table,
    bands,
    flows,
    goal_words,
    line_table,
    metric_line,
    rules,
)
from proofspan.ui.trends.metrics_table import metric_grid, slice_grid
from proofspan.ui.trends.panels import card, check_grid, refusal_grid
from proofspan.ui.trends.ranks import rank_grid
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.chart import BY_BUCKET, BY_LABEL
from proofspan.ui.widgets.table import Grid
from tests.trend_runs import SECTION, run_of, trends_of

VIEW = ViewState().change(run="R2", label=("ok",), q="Q1")


def query(address: str | None) -> dict[str, list[str]]:
    assert address is not None
    return parse_qs(urlsplit(address).query)


def texts(grid: Grid) -> list[list[str]]:
    return [[row.head.text, *(cell.text for cell in row.cells)] for row in grid.rows]


def test_a_point_says_its_number_its_goal_and_what_is_left_out_and_leads_to_the_misses() -> None:
    run = run_of("R1", {SECTION: Tally(37, 26, 26, left_out={"unanswerable": 4})}, title="BM25")
    (point,) = metric_line(trends_of(run), SECTION, "accent", VIEW).points
    assert point.value == pytest.approx(26 / 37)
    assert point.lines[:2] == ("R1 · BM25", "SectionMatch@1: 26 of 37, 70 % (54–83 %)")
    assert point.lines[2].startswith("goal at least 70 %: passes, but 37 questions can't exclude")
    assert point.lines[3] == "4 left out: the documents hold no answer (4)"
    assert query(point.target) == {"run": ["R1"], "miss": [SECTION]}, "the filter of Triage is left behind"


def test_a_run_without_a_number_leaves_a_gap_that_says_why() -> None:
    (point,) = metric_line(trends_of(run_of("R1")), SECTION, "accent", VIEW).points
    assert point.value is None
    assert "3 left out: no gold question (3)" in point.lines


@pytest.mark.parametrize(
    ("metric_id", "expected"),
    [
        (SECTION, {"miss": [SECTION]}),
        ("delta_s_mean", {"miss": ["delta_s_mean"]}),
        ("delta_s_p95", {"sort": ["delta_s"], "desc": ["yes"]}),
        ("latency_p50", {"sort": ["latency"], "desc": ["yes"]}),
        ("refusal_ok", {"label": ["refusal_ok"]}),
        ("bundle_coverage", {}),
    ],
)
def test_behind_every_number_there_is_a_list(metric_id: str, expected: dict[str, list[str]]) -> None:
    assert query(address_behind(metric_id, "R1", VIEW)) == {"run": ["R1"]} | expected


def test_goals_are_lines_where_a_number_passes_and_where_it_warns() -> None:
    found = rules(DEFAULT_GOALS, {"delta_s_mean": "violet", "delta_s_p95": "orange"})
    assert [(rule.value, rule.is_goal) for rule in found] == [(0.45, True), (0.6, False)]
    percent = rules(DEFAULT_GOALS, {"citation_match": "orange", "bundle_coverage": "gray"})
    assert [rule.hue for rule in percent] == ["orange"], "of two at one place the first"
    assert "Citation match ≥ 95 %" in goal_words(DEFAULT_GOALS, ("citation_match", "mrr"))
    assert "Anchor coverage ≥ 70 %" in goal_words(DEFAULT_GOALS, ("anchor_coverage",)), (
        "as its values are written"
    )
    assert goal_words(DEFAULT_GOALS, ("mrr",)) == ""


def test_a_band_counts_of_those_that_fall_into_any_kind_and_links_to_them() -> None:
    runs = trends_of(run_of("R1", buckets=(20, 11, 6, 4)), run_of("R2", buckets=(0, 0, 0, 41)))
    made = bands(runs, BY_BUCKET, [run.buckets for run in runs.runs], VIEW)
    assert [band.name for band in made] == ["Hit", "Ranking miss", "Recall miss"]
    first, empty = made[0].points
    assert (first.label, first.value) == ("20", pytest.approx(20 / 37))
    assert "Hit: 20 of 37, 54 % (38–69 %)" in first.lines
    assert query(first.target) == {"run": ["R1"], "bucket": ["hit"]}
    assert (empty.label, empty.value, empty.target) == ("0", 0.0, "")


def test_a_kind_that_no_run_has_is_no_band_and_without_kinds_there_are_no_bands() -> None:
    runs = trends_of(run_of("R1", labels={"ok": 3, None: 2}))
    labels = [run.labels for run in runs.runs]
    (band,) = bands(runs, BY_LABEL, labels, VIEW)
    assert (band.name, band.points[0].label, band.points[0].value) == ("Grounded", "3", 1.0)
    assert bands(runs, BY_STATE, [run.measured.states for run in runs.runs], VIEW) == ()
    table = band_table(runs, "Labels", BY_LABEL, labels, VIEW)
    assert texts(table) == [["R1", "3", "0", "0", "0", "0", "2"]]
    assert table.columns[-1].head.text == "No label"


def test_states_count_traces_and_their_list_shows_all_of_them() -> None:
    runs = trends_of(run_of("R1", states={"convergent": 6, "chaotic": 2, None: 9}))
    convergent, chaotic = bands(runs, BY_STATE, [runs.current.measured.states], VIEW)
    assert (convergent.points[0].label, chaotic.points[0].value) == ("6", 2 / 8)
    assert query(chaotic.points[0].target) == {"run": ["R1"], "state": ["chaotic"], "all_variants": ["yes"]}


def test_a_hover_says_in_which_buckets_the_questions_were_before() -> None:
    first, second = flows(["R1", "R2"], Ranks.of(FRAME))
    assert first == {}
    assert second == {
        "hit": "in R1: 1 Recall miss",
        "score_policy": "in R1: 1 Hit, 1 Ranking miss, 1 not judged",
    }


def test_a_figures_table_holds_the_same_numbers() -> None:
    run = run_of("R1", {SECTION: Tally(37, 26, 26)})
    table = line_table(trends_of(run), [SECTION, "mrr"], VIEW, name="Ranking")
    assert texts(table) == [["R1", "70 %", "–"]]
    assert table.rows[0].cells[0].note == "26 of 37 · 54–83 %"
    assert query(table.rows[0].cells[0].href)["miss"] == [SECTION]


FRAME = pd.DataFrame(
    [
        ("Q1", "How?", "R1", 1, "hit"),
        ("Q1", "How?", "R2", 4, "score_policy"),
        ("Q2", "Why?", "R1", None, "retrieval_gap"),
        ("Q2", "Why?", "R2", 1, "hit"),
        ("Q3", "What ÄRGER?", "R2", 2, "score_policy"),
        ("Q4", "When?", "R1", 3, "score_policy"),
        ("Q4", "When?", "R2", 3, "score_policy"),
    ],
    columns=["q_id", "q", "run_id", "section_rank", "bucket"],
).astype({"section_rank": "Int32"})


def test_questions_are_sorted_by_how_far_they_fell_or_climbed() -> None:
    known = Ranks.of(FRAME)
    assert [known.move(q_id, "R2", "R1") for q_id in known.questions] == [-3, 4, None, 0]

    def found(order: str, find: str = "") -> list[str]:
        return sorted_questions(known, order, find, run="R2", against="R1")  # type: ignore[arg-type]

    assert found("falls") == ["Q1", "Q4", "Q2", "Q3"]
    assert found("climbs") == ["Q2", "Q4", "Q1", "Q3"]
    assert found("question") == ["Q1", "Q2", "Q3", "Q4"]
    assert found("question", "ärger") == ["Q3"]
    assert found("falls", "q1") == ["Q1"]
    assert found("falls", "nothing") == []


def test_a_rank_is_a_link_to_the_question_in_that_run() -> None:
    known = Ranks.of(FRAME)
    shown = rank_grid(known, ["Q1", "Q2", "Q3"], VIEW, runs={"R1": "", "R2": ""}, run="R2", against="R1")
    assert texts(shown) == [
        ["Q1  How?", "1", "4", "▼ 3"],
        ["Q2  Why?", "–", "1", "▲ 4"],
        ["Q3  What ÄRGER?", "", "2", "–"],
    ]
    first, second = shown.rows[0].cells[:2]
    assert first.href is not None and first.href.startswith("./question?")
    assert query(second.href) == {"run": ["R2"], "q": ["Q1"]}
    assert second.spoken == "Q1 in R2: gold section rank 4, Ranking miss; open the question"
    assert shown.rows[2].cells[0].href is None
    alone = rank_grid(known, ["Q1"], VIEW, runs={"R2": ""}, run="R2", against=None)
    assert texts(alone) == [["Q1  How?", "4"]]


def test_no_judged_question_makes_no_ranks() -> None:
    known = Ranks.of(FRAME.head(0))
    assert known.questions == {} and known.worst == 0


def test_refusals_name_each_of_the_four() -> None:
    run = run_of("R1", refusals={(False, True): 33, (True, True): 2, (True, False): 1, (False, False): 0})
    answered, refused = refusal_grid(run, VIEW).rows
    assert [cell.text for cell in (*answered.cells, *refused.cells)] == ["33", "0", "2", "1"]
    assert answered.cells[1].href is None
    assert query(refused.cells[0].href) == {
        "run": ["R1"],
        "refused": ["yes"],
        "bucket": ["hit", "score_policy"],
    }
    assert query(refused.cells[1].href)["bucket"] == ["retrieval_gap"]


def paired(now: RunTrend, then: RunTrend) -> dict[str, MetricPair]:
    """The metrics of both runs; six of 37 questions improved by SectionMatch@1."""
    differences = {SECTION: np.array([1.0] * 6 + [0.0] * 31)}
    found = metric_pairs(
        now.measured.values,
        then.measured.values,
        lambda names: {each: differences.get(each, np.empty(0)) for each in names},
    )
    return {pair.metric.metric_id: pair for pair in found}


def test_the_table_of_metrics_has_all_of_them_under_their_groups() -> None:
    now = run_of("R2", {SECTION: Tally(37, 26, 26), "over_refusal": Tally(10, 3, 3)})
    then = run_of("R1", {SECTION: Tally(37, 20, 20), "over_refusal": Tally(10, 1, 1)})
    grid = metric_grid(now, then, paired(now, then), VIEW)
    rows = {row[0]: row[1:] for row in texts(grid)}
    assert set(rows) >= {metric.name for metric in METRICS.values()}
    assert rows["SectionMatch@1"] == [
        "70 %",
        "26 of 37",
        "54–83 %",
        "✓\u00a0passes · ≥\u00a070\u00a0%",
        "54 %",
        "+16 pts · better",
        "",
    ]
    assert rows["MRR"][0] == "–" and rows["MRR"][-1] == "3 left out: no gold question (3)"
    cells = {row.head.text: row.cells for row in grid.rows}
    assert (cells["SectionMatch@1"][5].look, cells["SectionMatch@1"][5].note) == (
        "green",
        "+5 to +30 · p\u00a0=\u00a00.031",
    )
    # Without questions of both runs there is only the gap, which says so.
    refusal = cells["Over-refusal"][5]
    assert (refusal.text, refusal.note, refusal.look) == ("+20 pts", "not paired", "quiet")
    assert len(metric_grid(now, None, {}, VIEW).columns) == 5


def test_slices_lead_to_their_own_questions() -> None:
    value = metric_value(METRICS[SECTION], Tally(4, 1, 1))
    by_type = slice_grid({"limit": {SECTION: value}}, "type", "R1", VIEW)
    assert texts(by_type) == [["limit", "25 %"]]
    assert query(by_type.rows[0].cells[0].href) == {"run": ["R1"], "type": ["limit"], "miss": [SECTION]}
    place = "manual#section=5.1"
    by_section = slice_grid({place: {SECTION: value}}, "section", "R1", VIEW)
    assert by_section.rows[0].head.text != place, "named as Triage names it"
    assert query(by_section.rows[0].cells[0].href)["about"] == [place]


def made_report(*checks: Check) -> ReleaseVerdict:
    return ReleaseVerdict("R2", "R1", 37, checks)


def test_every_check_is_a_row_with_a_link_to_its_questions() -> None:
    shown = Filter("R2", miss=SECTION)
    affected = (Affected("Q1", "?", "R2"),)
    failing = Check(
        SECTION, "SectionMatch@1", "fail", "26 of 37; fails", affected=affected, count=1, shown=shown
    )
    report = made_report(
        Check("lines", "Line issues", "warn", "1 line"), Check("q", "Questions", "pass", "37"), failing
    )
    rows = check_grid(report, VIEW).rows
    assert [row.cells[0].text for row in rows] == ["! warning", "✓ passes", "✗ fails"]
    assert query(rows[2].cells[2].href) == {"run": ["R2"], "miss": [SECTION]}
    assert rows[0].cells[2].href is None


def test_a_card_says_number_goal_and_difference_in_that_order() -> None:
    now, then = (run_of(name, {SECTION: Tally(37, part, part)}) for name, part in (("R2", 26), ("R1", 20)))
    pair = paired(now, then)[SECTION]
    reported = [part.html for part in card(now, then, SECTION, pair)]
    assert "SectionMatch@1" in reported[0]
    assert "70\u00a0%" in reported[1] and "26 of 37 · 54–83\u00a0%" in reported[1]
    assert "✓ passes" in reported[2] and "at least 70" in reported[2]
    assert "From R1 (54\u00a0%): +16 pts (+5 to +30), paired over 37 questions, significant." in reported[3]
    (_, nothing, why) = card(run_of("R2"), None, SECTION, None)
    assert "nothing to count" in nothing.html and "no gold question (3)" in why.html
