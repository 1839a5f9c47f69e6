"""What became of labels and buckets from one run to another, as grids whose cells open the questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records import LABELS
from proofspan.metrics.buckets import BUCKETS
from proofspan.ui.grid import Cell, Column, Grid, Look, Row
from proofspan.ui.state import ViewState
from proofspan.ui.theme import BUCKET_COLOURS, LABEL_COLOURS
from proofspan.ui.words import counted

#: Questions by what they were and what they are; None: no label, or not judged.
Transitions = Sequence[tuple[str | None, str | None, int]]

#: The buckets, the worst first as labels are.
BUCKET_LOOKS: Mapping[str, Look] = {bucket: BUCKET_COLOURS[bucket] for bucket in reversed(BUCKETS)}
#: The faintest tint of a cell that counts something.
FAINTEST = 0.25


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is counted: its values in their order, each with its colour, the word for none of them, and the
    filter's names for what was and for what is."""

    name: str
    looks: Mapping[str, Look]
    unknown: str
    was: str
    now: str


_LABELS = _Kind("Labels", {label: LABEL_COLOURS[label] for label in LABELS}, "no label", "was", "label")
_BUCKETS = _Kind("Buckets", BUCKET_LOOKS, "not judged", "was_bucket", "bucket")


def label_matrix(counts: Transitions, view: ViewState) -> Grid:
    """Rows: the label in the other run, columns: the label in this one."""
    return _matrix(_LABELS, counts, view)


def bucket_matrix(counts: Transitions, view: ViewState) -> Grid:
    """Rows: the bucket in the other run, columns: the bucket in this one."""
    return _matrix(_BUCKETS, counts, view)


def unknown_in_both(counts: Transitions) -> int:
    """How many questions have no value in either run."""
    return sum(count for was, now, count in counts if was is None and now is None)


def _matrix(kind: _Kind, counts: Transitions, view: ViewState) -> Grid:
    """The values that occur, in their order, with the sums at the ends.

    Questions without a value in both runs are no row and no column (see `unknown_in_both`).
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
    name = f"{kind.name}: rows say what a question was in {vs}, columns what it is in {run}"
    return Grid(name, f"{vs} ↓  {run} →", columns, tuple(rows), wide=False)


def _cell(kind: _Kind, was: str | None, now: str | None, count: int, *, most: int, view: ViewState) -> Cell:
    """A count, stronger the more there are; grey where nothing changed, else in the colour of what is now."""
    if not count:
        return Cell("·", look="quiet")
    tip = f"was {was or kind.unknown} in {view.vs}, is {now or kind.unknown} in {view.run}"
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
    return Cell(value.replace("_", "_\u200b"), look=kind.looks[value], tone=1.0)  # a long name breaks there


def _sum(counts: Iterable[int]) -> Cell:
    return Cell(f"{sum(counts):,}", look="quiet")
