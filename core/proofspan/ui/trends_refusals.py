"""Refusals against what was found, as a matrix of links."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.metrics.intervals import share_in_words
from proofspan.services.trends import RunTrend
from proofspan.ui.grid import Cell, Column, Grid, Look, Row
from proofspan.ui.state import ViewState
from proofspan.ui.trends_points import base
from proofspan.ui.words import counted

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
