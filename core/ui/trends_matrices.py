"""Refusals against what was found, and how the buckets moved from one run to the other: matrices of links."""

from __future__ import annotations

from collections.abc import Mapping

from core.metrics.buckets import BUCKET_NAMES, BUCKETS
from core.metrics.intervals import share_in_words
from core.metrics.ranked import Bucket
from core.services.ranks import Ranks
from core.services.trends import RunTrend
from core.ui.grid import Cell, Column, Grid, Look, Row
from core.ui.state import ViewState
from core.ui.trends_points import base
from core.ui.words import counted

_REFUSED: Mapping[bool, str] = {False: "answered", True: "refused"}
_FOUND: Mapping[bool, str] = {True: "gold in the top 20", False: "gold not in the top 20"}
#: What each of the four says: a tint where it is wrong, or at least not what retrieval allows.
_LOOKS: Mapping[tuple[bool, bool], tuple[Look, str]] = {
    (False, True): ("green", "found and answered"),
    (False, False): ("orange", "answered without the passage: look for what the answer rests on"),
    (True, True): ("red", "refused although the passage was there"),
    (True, False): ("gray", "refused for want of the passage: raise recall"),
}


def refusal_grid(run: RunTrend, view: ViewState) -> Grid:
    """Refused? × is the gold in the top 20?, over the judged questions of a run."""
    whole = sum(run.refusals.values())
    return Grid(
        f"Refusals of {run.run_id} by whether the gold is in the top 20",
        "",
        tuple(Column(Cell(name)) for name in _FOUND.values()),
        tuple(
            Row(Cell(name), tuple(_refusal_cell(run, refused, found, whole, view) for found in _FOUND))
            for refused, name in _REFUSED.items()
        ),
        wide=False,
    )


def _refusal_cell(run: RunTrend, refused: bool, found: bool, whole: int, view: ViewState) -> Cell:
    count = run.refusals.get((refused, found), 0)
    look, told = _LOOKS[refused, found]
    if not count:
        return Cell("0", look="quiet", tip=told)
    buckets = ("hit", "score_policy") if found else ("retrieval_gap",)
    said = f"{_REFUSED[refused]}, {_FOUND[found]}: {counted(count, 'question')} of {whole:,}"
    return Cell(
        f"{count:,}",
        note=share_in_words(count, whole),
        tip=told,
        look=look,
        tone=0.25 + 0.6 * count / whole,
        href=base(view, run.run_id).change(refused=refused, bucket=buckets).link(""),
        spoken=f"{said}, {told}; list them",
    )


def step_grid(known: Ranks, was: str, now: str, view: ViewState) -> Grid:
    """A row a bucket in the run `was`, a column a bucket in the run `now`, the questions of both."""
    counts = known.steps(was, now)
    whole = max([*counts.values(), 1])
    return Grid(
        f"Buckets of the questions in {was} and in {now}",
        f"{was} ↓   {now} →",
        tuple(Column(Cell(bucket, tip=BUCKET_NAMES[bucket])) for bucket in BUCKETS),
        tuple(
            Row(
                Cell(before, tip=BUCKET_NAMES[before]),
                tuple(
                    _step_cell(counts[before, after], before, after, whole, was, now, view)
                    for after in BUCKETS
                ),
            )
            for before in BUCKETS
        ),
        wide=False,
    )


def _step_cell(
    count: int, before: Bucket, after: Bucket, whole: int, was: str, now: str, view: ViewState
) -> Cell:
    if not count:
        return Cell("0", look="quiet")
    is_still, is_better = before == after, BUCKETS.index(after) < BUCKETS.index(before)
    return Cell(
        f"{count:,}",
        note="stay" if is_still else "▲ better" if is_better else "▼ worse",
        look="gray" if is_still else "green" if is_better else "red",
        tone=0.2 + 0.6 * count / whole,
        href=base(view, now).change(vs=was, was_bucket=(before,), bucket=(after,)).link(""),
        spoken=f"{counted(count, 'question')} {before} in {was} and {after} in {now}, list them",
    )
