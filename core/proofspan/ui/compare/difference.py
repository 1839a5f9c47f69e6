"""The difference of a metric between two runs, as Compare and Trends show it."""

from __future__ import annotations

from proofspan.metrics.values import difference_in_words
from proofspan.services.compare import NOT_PAIRED, MetricPair, p_words
from proofspan.ui.widgets.table import Cell, Column, Look, explained
from proofspan.ui.widgets.text import unbroken
from proofspan.wording import counted

#: How a significant difference is called, by whether it is better, and looks.
_SIGNS: dict[bool | None, tuple[str, Look]] = {
    None: (" · significant", ""),
    True: (" · better", "green"),
    False: (" · worse", "red"),
}


def difference_column(run: str, vs: str) -> Column:
    """Return the head of the column of differences; Trends has the same one."""
    tip = f"{run} − {vs}, paired question by question, with its 95 % interval, unless it says {NOT_PAIRED}"
    return Column(explained("Difference", "term.paired difference", tip=tip), "end")


def difference_cell(pair: MetricPair) -> Cell:
    """Return the mean of the differences with its interval; of what cannot be paired only the gap."""
    mean = pair.difference
    if mean is None:
        if pair.gap is None:
            return Cell("–", look="quiet")
        return Cell(difference_in_words(pair.metric, pair.gap), note=NOT_PAIRED, look="quiet")
    if mean.low == mean.high == 0:
        message = f"equal in all {mean.pairs:,}" if mean.pairs > 1 else "equal in the one"
        return Cell(difference_in_words(pair.metric, 0.0), note=message, look="quiet")
    low, high = (difference_in_words(pair.metric, bound, with_unit=False) for bound in (mean.low, mean.high))
    p = f" · {unbroken(p_words(pair.p))}" if pair.p is not None else ""
    word, look = _SIGNS[pair.is_better] if pair.is_clear else ("", "")
    method = "normal interval, as there are many" if mean.method == "normal" else "bootstrap of 2,000 samples"
    return Cell(
        f"{difference_in_words(pair.metric, mean.mean)}{word}",
        note=f"{low} to {high}{p}",
        tip=f"Over the {counted(mean.pairs, 'question')} that count in both runs; {method}.",
        look=look,
    )
