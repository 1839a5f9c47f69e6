"""The same question in the other runs, also while those are still being indexed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from proofspan.contracts.records import Label
from proofspan.ui import safe
from proofspan.ui.fragments import fragment
from proofspan.ui.safe import Piece
from proofspan.ui.state import change_view
from proofspan.ui.theme import LABEL_COLOURS

#: Between two looks at runs that are being indexed.
LOOK_AGAIN_SECONDS = 0.7


@dataclass(frozen=True, slots=True)
class OtherRun:
    """The same question in a run: the run's id, its label there, and the URL's name of the question.

    Whether a run without an index holds the question is not known yet.
    """

    run_id: str
    label: Label | None
    q: str
    is_indexed: bool = True


def show_other_runs(
    find: Callable[[], Sequence[OtherRun]], *, current: str, at_work: Callable[[], bool]
) -> None:
    """The same question elsewhere: a run, coloured and named by the label that it got there.

    While `at_work` says that runs are being indexed, this part looks again by itself.
    """
    if at_work():
        _runs_at_work(find, current, at_work)
    else:
        _other_runs(find(), current, at_work=False)


@fragment(run_every=LOOK_AGAIN_SECONDS)
def _runs_at_work(find: Callable[[], Sequence[OtherRun]], current: str, at_work: Callable[[], bool]) -> None:
    if not at_work():
        st.rerun()  # the page without this clock
    _other_runs(find(), current, at_work=True)


def _other_runs(runs: Sequence[OtherRun], current: str, *, at_work: bool) -> None:
    if len(runs) < 2:
        return
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center", key="other-runs"):
        safe.show(safe.text([Piece("Same question:", "muted")], role="hint"), width="content")
        for run in runs:
            is_clicked = st.button(
                _run_label(run, at_work=at_work),
                key=f"run-{run.run_id}",
                type="secondary" if run.run_id == current else "tertiary",
                on_click=change_view,
                kwargs={"run": run.run_id, "q": run.q, "cite": None, "chunk": None, "page": None},
            )
            if is_clicked and at_work:
                st.rerun()  # a click in a fragment runs the fragment alone


def _run_label(run: OtherRun, *, at_work: bool) -> str:
    """A run's id and label as a coloured badge; the same colours as everywhere."""
    without = "no label" if run.is_indexed else "being indexed" if at_work else "not indexed"
    words = safe.label(f"{run.run_id} · {run.label or without}", limit=60)
    return f":{LABEL_COLOURS[run.label]}-badge[{words}]" if run.label else words
