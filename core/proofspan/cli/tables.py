"""Tables of commands."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from proofspan.errors import printable
from proofspan.metrics.statistics import LEVEL
from proofspan.metrics.values import difference_in_words, number_in_words
from proofspan.services.compare import NOT_PAIRED, MetricPair, p_words


def pairs_table(pairs: Iterable[MetricPair], there: str, here: str) -> Table:
    """Return the table of metrics of two runs, `there` and `here`, with their paired differences."""
    table = table_of("metric", printable(there), printable(here), "difference", "95 %", "over", "McNemar")
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    for pair in pairs:
        metric, mean = pair.metric, pair.difference
        was, now = (value.value if value else None for value in (pair.there, pair.here))
        cells = [Text(), Text(), Text()]
        if pair.gap is not None:
            cells[:2] = Text(difference_in_words(metric, pair.gap)), Text(NOT_PAIRED, "dim")
        if mean is not None:
            style = "" if not pair.is_clear else "green" if pair.is_better else "red"
            mid, low, high = (difference_in_words(metric, each) for each in (mean.mean, mean.low, mean.high))
            cells = [Text(mid, style), Text(f"{low} to {high}", style), Text(f"{mean.pairs:,}")]
        p = Text("" if pair.p is None else p_words(pair.p), "bold" if pair.p and pair.p < LEVEL else "")
        numbers = (Text(number_in_words(metric, value)) for value in (was, now))
        table.add_row(Text(metric.name), *numbers, *cells, p)
    return table


def table_of(*columns: str) -> Table:
    """Return a table without lines, with these columns."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    return table
