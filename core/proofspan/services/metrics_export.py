"""A run's metrics as files: the rows that a table shows, as CSV, JSON or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson
import pandas as pd

from proofspan.metrics.goals import Goal, Verdict
from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import left_out_in_words, value_in_words
from proofspan.services.exports import Export, Frames, cell, csv_lines, plain

#: The columns of a row; numbers are those of the metric, unrounded.
COLUMNS = (
    *("run_id", "slice", "metric", "name", "value", "low", "high", "numerator", "denominator"),
    *("goal", "verdict", "in_words", "left_out"),
)
_WHOLE = frozenset({"numerator", "denominator"})


def metric_rows(
    run_id: str,
    values: Mapping[str, MetricValue],
    *,
    goals: Mapping[str, Goal] | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
    slice_name: str = "",
) -> pd.DataFrame:
    """One row a metric, in the metrics' order; goals and verdicts are those of a whole run."""
    wanted, judged = goals or {}, verdicts or {}
    return pd.DataFrame(
        [
            {
                "run_id": run_id,
                "slice": slice_name,
                "metric": metric_id,
                "name": value.metric.name,
                "value": value.value,
                "low": value.low,
                "high": value.high,
                "numerator": value.numerator,
                "denominator": value.denominator,
                "goal": str(wanted[metric_id]) if metric_id in wanted else "",
                "verdict": judged[metric_id].status if metric_id in judged else "",
                "in_words": value_in_words(value),
                "left_out": left_out_in_words(value),
            }
            for metric_id, value in values.items()
        ],
        columns=list(COLUMNS),
    )


def _records(frames: Frames) -> Iterator[dict[str, Any]]:
    for frame in frames:
        for values in zip(*(frame[name].tolist() for name in COLUMNS), strict=True):
            row = {name: plain(value) for name, value in zip(COLUMNS, values, strict=True)}
            # pandas turns whole numbers into floats where one is missing
            yield row | {name: int(row[name]) for name in _WHOLE if row[name] is not None}


def _csv(frames: Frames) -> Iterator[str]:
    yield csv_lines([COLUMNS])
    yield csv_lines([cell(row[name]) for name in COLUMNS] for row in _records(frames))


def _json(frames: Frames) -> Iterator[str]:
    option = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    yield orjson.dumps(list(_records(frames)), option=option).decode()


def _markdown(frames: Frames) -> Iterator[str]:
    rows = list(_records(frames))
    sliced = ["slice"] if any(row["slice"] for row in rows) else []
    yield _line([*sliced, "metric", "number", "goal", "left out"])
    yield _line(["---"] * (4 + len(sliced)))
    for row in rows:
        goal = " ".join(filter(None, (row["goal"], row["verdict"])))
        yield _line([*(row[name] for name in sliced), row["name"], row["in_words"], goal, row["left_out"]])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |\n"


def _escaped(text: str) -> str:
    """On one line, and nothing of it a cell's end or the start of a tag."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


#: Kind → how it is written, in the order in which kinds are offered.
METRIC_EXPORTS: Mapping[str, Export] = {
    "csv": Export("CSV", "csv", "text/csv", _csv),
    "json": Export("JSON", "json", "application/json", _json),
    "markdown": Export("Markdown table", "md", "text/markdown", _markdown),
}
