"""Metrics as files: the numbers as they are, and no cell that is a formula."""

from __future__ import annotations

import csv
import io
import json

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import Tally, metric_value
from proofspan.services.metrics.report import COLUMNS, METRIC_EXPORTS, metric_rows
from tests.trend_runs import SECTION, run_of

RUN = run_of("=R1", {SECTION: Tally(37, 26, 26), "mrr": Tally(0, left_out={"no_gold": 37})})


def written(kind: str, *, slice_name: str = "") -> str:
    measured = RUN.measured
    if slice_name:
        values = {SECTION: metric_value(METRICS[SECTION], Tally(4, 1, 1))}
        rows = metric_rows("R1", values, slice_name=slice_name)
    else:
        rows = metric_rows(RUN.run_id, measured.values, measured=measured)
    return "".join(METRIC_EXPORTS[kind].pieces([rows]))


def test_a_csv_holds_every_metric_with_its_number_as_it_is() -> None:
    header, first, *others = csv.reader(io.StringIO(written("csv")))
    assert tuple(header) == COLUMNS
    row = dict(zip(header, first, strict=True))
    assert row["run_id"] == "'=R1", "a spreadsheet does not take it for a formula"
    assert (row["metric"], row["numerator"], row["denominator"]) == (SECTION, "26", "37")
    assert float(row["value"]) == 26 / 37
    assert (row["goal"], row["verdict"]) == (">= 0.70", "pass")
    assert len(others) == len(METRICS) - 1


def test_json_says_null_where_nothing_is_counted_and_is_the_same_every_time() -> None:
    rows = {row["metric"]: row for row in json.loads(written("json"))}
    assert rows["mrr"]["value"] is None and rows["mrr"]["denominator"] == 0
    assert rows["mrr"]["left_out"] == "37 left out: no gold question (37)"
    assert rows[SECTION]["in_words"] == "26 of 37, 70 % (54–83 %)"
    assert written("json") == written("json")


def test_a_markdown_cell_ends_where_it_ends() -> None:
    head, rule, line = written("markdown", slice_name="a|b\n<img src=x>").splitlines()
    assert head == "| slice | metric | number | goal | left out |"
    assert rule == "|---|---|---|---|---|"
    assert line == "| a\\|b &lt;img src=x> | SectionMatch@1 | 1 of 4, 25 % (5–70 %) |  |  |"
    assert "slice" not in written("markdown").splitlines()[0]
