"""The Compare page's tables of metrics and of what was pinned, as grids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import LABELS
from proofspan.display_names import BUCKET_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.metrics.ranked import BUCKETS
from proofspan.metrics.statistics import Mean
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
from proofspan.ui.widgets.chart import BUCKET_COLOURS, LABEL_COLOURS
from proofspan.ui.widgets.table import Cell, Chip, Column, Grid, Look, Row
from proofspan.wording import counted

#: Characters of a pinned value.
MAX_VALUE = 120
NOTHING = "–"


def metrics_grid(pairs: Sequence[MetricPair], view: ViewState) -> Grid:
    """Return a row per metric: both values with their intervals and counts, then the difference."""
    run, vs = view.run, view.vs or ""
    columns = (
        Column(Cell(vs), "end"),
        Column(Cell(run), "end"),
        Column(Cell("difference", tip=f"{run} − {vs}, question by question, with its 95 % interval"), "end"),
    )
    rows = tuple(_metric_row(pair, view) for pair in pairs)
    return Grid(f"Metrics of {vs} and {run}", "metric", columns, rows)


def _metric_row(pair: MetricPair, view: ViewState) -> Row:
    metric = pair.metric
    there = _value_cell(pair.there, view.change(run=view.vs or "", vs=None))
    here = _value_cell(pair.here, view)
    head = Cell(metric.name, tip=f"{metric.counted} {metric.source}.")
    return Row(head, (there, here, _difference(pair)))


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
    word, look = _sign(pair)
    text = difference_in_words(pair.metric, mean.mean)
    return Cell(f"{text}{word}", note=f"{low} to {high}{p}", tip=_how(mean), look=look)


def _how(mean: Mean) -> str:
    method = "normal interval, as there are many" if mean.method == "normal" else "bootstrap of 2,000 samples"
    return f"Over the {counted(mean.pairs, 'question')} that count in both runs; {method}."


def _sign(pair: MetricPair) -> tuple[str, Look]:
    """Return a quiet word where the difference is significant."""
    if not pair.is_clear:
        return "", ""
    if pair.is_better is None:
        return " · significant", ""
    return (" · better", "green") if pair.is_better else (" · worse", "red")


def pins_grid(differing: Sequence[PinDifference], view: ViewState) -> Grid:
    """Return the settings that differ: key, value before, value now."""
    rows = tuple(Row(Cell(each.key), (_pinned(each.was), _pinned(each.now))) for each in differing)
    columns = (Column(Cell(view.vs or ""), "start"), Column(Cell(view.run), "start"))
    return Grid(f"Configuration changes from {view.vs} to {view.run}", "setting", columns, rows)


def _pinned(value: str | None) -> Cell:
    if value is None:
        return Cell("not pinned", look="quiet")
    line = " ".join(value.split())
    return Cell(
        line if len(line) <= MAX_VALUE else f"{line[: MAX_VALUE - 1]}…",
        tip=value[:2_000] if len(line) > MAX_VALUE else "",
    )


#: Questions by what they were and what they are; None: no label, or not judged.
Transitions = Sequence[tuple[str | None, str | None, int]]

#: The buckets, the worst first as labels are.
BUCKET_LOOKS: Mapping[str, Look] = {bucket: BUCKET_COLOURS[bucket] for bucket in reversed(BUCKETS)}
#: The faintest tint of a cell that counts something.
FAINTEST = 0.25


@dataclass(frozen=True, slots=True)
class _Kind:
    """Values in their order with names and colours, the name for no value, and the filter's names for before
    and now.
    """

    name: str
    names: Mapping[str, str]
    looks: Mapping[str, Look]
    unknown: str
    was: str
    now: str


_LABELS = _Kind(
    "Labels", LABEL_NAMES, {label: LABEL_COLOURS[label] for label in LABELS}, NO_LABEL, "was", "label"
)
_BUCKETS = _Kind("Buckets", BUCKET_NAMES, BUCKET_LOOKS, "Not judged", "was_bucket", "bucket")


def label_matrix(counts: Transitions, view: ViewState) -> Grid:
    """Return how many questions went from which label (rows) to which (columns)."""
    return _matrix(_LABELS, counts, view)


def bucket_matrix(counts: Transitions, view: ViewState) -> Grid:
    """Return how many questions went from which bucket (rows) to which (columns)."""
    return _matrix(_BUCKETS, counts, view)


def unknown_in_both(counts: Transitions) -> int:
    """Return how many questions have no value in either run."""
    return sum(count for was, now, count in counts if was is None and now is None)


def _matrix(kind: _Kind, counts: Transitions, view: ViewState) -> Grid:
    """Return the values that occur, in their order, with sums at the ends.

    Questions without a value in both runs are left out (see `unknown_in_both`).
    """
    run, vs = view.run, view.vs or ""
    known = {(was, now): count for was, now, count in counts if (was, now) != (None, None)}
    values = (*kind.looks, None)
    old = [value for value in values if any(was == value for was, _ in known)]
    new = [value for value in values if any(now == value for _, now in known)]
    most = max(known.values(), default=1)
    rows = [
        Row(
            _chip(kind, was),
            (
                *(_cell(kind, was, now, known.get((was, now), 0), most=most, view=view) for now in new),
                _sum(count for (then, _), count in known.items() if then == was),
            ),
        )
        for was in old
    ]
    sums = [_sum(count for (_, now), count in known.items() if now == value) for value in new]
    rows.append(Row(Cell(f"all in {run}", look="quiet"), (*sums, _sum(known.values()))))
    columns = (*(Column(_chip(kind, value)) for value in new), Column(Cell(f"all in {vs}"), "end"))
    name = f"{kind.name}: rows by {vs}, columns by {run}"
    return Grid(name, f"{vs} ↓  {run} →", columns, tuple(rows), wide=False)


def _cell(kind: _Kind, was: str | None, now: str | None, count: int, *, most: int, view: ViewState) -> Cell:
    """Return a count, more strongly tinted the larger it is; grey where nothing changed, else in the colour
    of the value now.
    """
    if not count:
        return Cell("·", look="quiet")
    tip = f"{_name(kind, was)} in {view.vs}, {_name(kind, now)} in {view.run}"
    look: Look = "gray" if now is None or was == now else kind.looks[now]
    tone = FAINTEST + (1 - FAINTEST) * count / most
    if was is None or now is None:  # what has no value cannot be asked for
        return Cell(f"{count:,}", tip=tip, tone=tone, look=look)
    href = view.change(**{kind.was: (was,), kind.now: (now,)}).link("")
    spoken = f"{tip}: {counted(count, 'question')}. Open in Triage."
    return Cell(f"{count:,}", tip=tip, tone=tone, look=look, href=href, spoken=spoken)


def _chip(kind: _Kind, value: str | None) -> Cell:
    if value is None:
        return Cell(kind.unknown, look="quiet")
    return Cell(chips=(Chip(kind.names[value], kind.looks[value], value),))


def _name(kind: _Kind, value: str | None) -> str:
    return kind.names[value] if value else kind.unknown


def _sum(counts: Iterable[int]) -> Cell:
    return Cell(f"{sum(counts):,}", look="quiet")
