"""The Compare page's tables of metrics and of what was pinned, as grids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    difference_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
)
from proofspan.services.compare import MetricPair, PinDifference, p_words
from proofspan.store.query.metric_sql import MISSES
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.chart import Split
from proofspan.ui.widgets.table import Cell, Chip, Column, Grid, Look, Row
from proofspan.wording import counted

#: Characters of a pinned value.
MAX_VALUE = 120
NOTHING = "–"
#: How a significant difference is called, by whether it is better, and looks.
_SIGNS: dict[bool | None, tuple[str, Look]] = {
    None: (" · significant", ""),
    True: (" · better", "green"),
    False: (" · worse", "red"),
}


def metrics_grid(pairs: Sequence[MetricPair], view: ViewState) -> Grid:
    """Return a row per metric: both values with their intervals and counts, then the difference."""
    run, vs = view.run, view.vs or ""
    columns = (
        Column(Cell(vs), "end"),
        Column(Cell(run), "end"),
        Column(Cell("difference", tip=f"{run} − {vs}, question by question, with its 95 % interval"), "end"),
    )
    rows = tuple(
        Row(
            Cell(pair.metric.name, tip=f"{pair.metric.counted} {pair.metric.source}."),
            (
                _value_cell(pair.there, view.change(run=vs, vs=None)),
                _value_cell(pair.here, view),
                _difference(pair),
            ),
        )
        for pair in pairs
    )
    return Grid(f"Metrics of {vs} and {run}", "metric", columns, rows)


def _value_cell(value: MetricValue | None, view: ViewState) -> Cell:
    """Return a value, linked to the questions that count against it."""
    if value is None or value.value is None:
        return Cell(NOTHING, look="quiet", tip=left_out_in_words(value) if value else "")
    metric, number = value.metric, number_in_words(value.metric, value.value)
    counted, interval = counted_in_words(value), interval_in_words(value)
    is_share = value.numerator is not None
    text = f"{counted} · {number}" if is_share else number
    href = view.change(miss=metric.metric_id).link("") if metric.metric_id in MISSES else None
    spoken = f"{metric.name} of {view.run}: {text}. Open the questions that count against it in Triage."
    return Cell(
        text,
        note=interval if is_share else ", ".join(filter(None, (interval, counted))),
        tip=left_out_in_words(value),
        href=href,
        spoken=spoken if href else "",
    )


def _difference(pair: MetricPair) -> Cell:
    """Return the mean of the differences with its interval; of a quantile only the gap."""
    mean = pair.difference
    if mean is None:
        return Cell(NOTHING if pair.gap is None else difference_in_words(pair.metric, pair.gap), look="quiet")
    if mean.low == mean.high == 0:
        message = f"equal in all {mean.pairs:,}" if mean.pairs > 1 else "equal in the one"
        return Cell(difference_in_words(pair.metric, 0.0), note=message, look="quiet")
    low, high = (difference_in_words(pair.metric, bound, with_unit=False) for bound in (mean.low, mean.high))
    p = f" · {p_words(pair.p)}" if pair.p is not None else ""
    word, look = _SIGNS[pair.is_better] if pair.is_clear else ("", "")
    method = "normal interval, as there are many" if mean.method == "normal" else "bootstrap of 2,000 samples"
    return Cell(
        f"{difference_in_words(pair.metric, mean.mean)}{word}",
        note=f"{low} to {high}{p}",
        tip=f"Over the {counted(mean.pairs, 'question')} that count in both runs; {method}.",
        look=look,
    )


def pins_grid(differing: Sequence[PinDifference], view: ViewState) -> Grid:
    """Return the settings that differ: key, value before, value now."""

    def pinned(value: str | None) -> Cell:
        if value is None:
            return Cell("not pinned", look="quiet")
        line = " ".join(value.split())
        if len(line) <= MAX_VALUE:
            return Cell(line)
        return Cell(f"{line[: MAX_VALUE - 1]}…", tip=value[:2_000])

    rows = tuple(Row(Cell(each.key), (pinned(each.was), pinned(each.now))) for each in differing)
    columns = (Column(Cell(view.vs or ""), "start"), Column(Cell(view.run), "start"))
    return Grid(f"Configuration changes from {view.vs} to {view.run}", "setting", columns, rows)


#: Questions by what they were and what they are; None: no label, or not judged.
Transitions = Sequence[tuple[str | None, str | None, int]]

#: The faintest tint of a cell that counts something.
FAINTEST = 0.25


def unknown_in_both(counts: Transitions) -> int:
    """Return how many questions have no value in either run."""
    return sum(count for was, now, count in counts if was is None and now is None)


def transition_matrix(split: Split, counts: Transitions, view: ViewState) -> Grid:
    """Return how many questions went from which value (rows) to which (columns), with sums at the ends.

    The values that occur are there, the worst first. Questions without a value in both runs are left out (see
    `unknown_in_both`).
    """
    run, vs = view.run, view.vs or ""
    known = {(was, now): count for was, now, count in counts if (was, now) != (None, None)}
    values = (*reversed(tuple(split.looks)), None)
    old = [value for value in values if any(was == value for was, _ in known)]
    new = [value for value in values if any(now == value for _, now in known)]
    most = max(known.values(), default=1)

    def name(value: str | None) -> str:
        return split.names[value] if value else split.none

    def chip(value: str | None) -> Cell:
        if value is None:
            return Cell(split.none, look="quiet")
        return Cell(chips=(Chip(split.names[value], split.looks[value], value),))

    def cell(was: str | None, now: str | None) -> Cell:
        """Return a count, more strongly tinted the larger it is; grey where nothing changed, else in the
        colour of the value now.
        """
        count = known.get((was, now), 0)
        if not count:
            return Cell("·", look="quiet")
        tip = f"{name(was)} in {vs}, {name(now)} in {run}"
        look: Look = "gray" if now is None or was == now else split.looks[now]
        tone = FAINTEST + (1 - FAINTEST) * count / most
        if was is None or now is None:  # what has no value cannot be asked for
            return Cell(f"{count:,}", tip=tip, tone=tone, look=look)
        href = view.change(**{split.was: (was,), split.field: (now,)}).link("")
        spoken = f"{tip}: {counted(count, 'question')}. Open in Triage."
        return Cell(f"{count:,}", tip=tip, tone=tone, look=look, href=href, spoken=spoken)

    def total(counts: Iterable[int]) -> Cell:
        return Cell(f"{sum(counts):,}", look="quiet")

    rows = []
    for was in old:
        whole = total(count for (then, _), count in known.items() if then == was)
        rows.append(Row(chip(was), (*(cell(was, now) for now in new), whole)))
    sums = [total(count for (_, now), count in known.items() if now == value) for value in new]
    rows.append(Row(Cell(f"all in {run}", look="quiet"), (*sums, total(known.values()))))
    columns = (*(Column(chip(value)) for value in new), Column(Cell(f"all in {vs}"), "end"))
    title = f"{split.title}: rows by {vs}, columns by {run}"
    return Grid(title, f"{vs} ↓  {run} →", columns, tuple(rows), wide=False)
