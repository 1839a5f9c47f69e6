"""The run that the Triage list is compared with, and the questions that were fixed or regressed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from proofspan.manifest.types import Run
from proofspan.store.files.types import Flips
from proofspan.store.query.filters import Flip
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.store.query.store import Store
from proofspan.ui.status import notices
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, select, toggle_button

#: What is removed from the address with the run to compare with.
_ALONE = {"vs": "", "was": (), "was_bucket": (), "flip": "", "outcome": ""}
#: What the toggles show, in order.
FLIPS_SHOWN: tuple[Flip, ...] = ("fixed", "regressed")
#: The outcomes that need no gold questions.
WITHOUT_GOLD = ("answered_ok",)
_MEANT = {
    "fixed": "Wrong in the other run, right in this one",
    "regressed": "Right in the other run, wrong in this one",
}


def other_run(view: ViewState, store: Store) -> str | None:
    """Return the run to compare with; None where the address names none, or one without an index."""
    return view.vs if view.vs in store.runs() else None


def not_there(view: ViewState, vs: str | None) -> list[str]:
    """Explain why a run that the address names is not compared with."""
    return (
        [f"Run {view.vs} is not indexed, so nothing is compared with it."] if view.vs and vs is None else []
    )


def compare_choice(view: ViewState, runs: Sequence[Run]) -> None:
    """Draw the choice of another run; nothing where this run is the only one."""
    names = notices.run_names(runs, but=view.run)
    if names:
        select(
            "Compare with",
            names,
            view.filter.vs or None,
            key="compared-with",
            placeholder="Compare with …",
            is_clearable=True,
            width=170,
            on_choose=lambda vs: change_view(**({"vs": vs} if vs else _ALONE)),
        )


def outcomes_for(view: ViewState, *, has_gold: bool) -> tuple[str, ...]:
    """Return what questions can be right by here, the one of the address first."""
    known = tuple(OUTCOMES) if has_gold else WITHOUT_GOLD
    asked = view.filter.outcome
    return tuple(dict.fromkeys([*([asked] if asked else []), *known]))


def flip_line(flips: Flips, view: ViewState, *, outcomes: Sequence[str]) -> None:
    """Draw how many questions were fixed and how many regressed, a toggle each.

    `flips` counts the list without its flip filter, by the first of `outcomes`.
    """
    judged = flips.judged
    with line("flip"):
        markup.note(f"Compared with {view.filter.vs}:", "muted")
        for kind in FLIPS_SHOWN:
            is_on = view.filter.flip == kind
            toggle_button(
                f"**{getattr(flips, kind):,}** {kind}",
                key=f"flip-{kind}",
                help=_MEANT[kind],
                is_on=is_on,
                on_click=partial(change_view, flip="" if is_on else kind, outcome=_in_address(outcomes[0])),
            )
        markup.note(f"of {judged:,} by", "muted", tip=_left_out(flips, view))
        select(
            "Right by",
            {outcome: words for outcome, words in OUTCOMES.items() if outcome in outcomes},
            outcomes[0],
            key="flip-outcome",
            width=175,
            on_choose=lambda outcome: change_view(outcome=_in_address(outcome)),
        )
        st.page_link(
            "pages/compare.py", label="Compare", query_params=view.as_list().params(), width="content"
        )


def _in_address(outcome: str) -> str:
    """Return an outcome for the address, which leaves the default out."""
    return "" if outcome == next(iter(OUTCOMES)) else outcome


def _left_out(flips: Flips, view: ViewState) -> str:
    """Return what the toggles do not count."""
    counts = {
        "cannot be judged in one of the runs": flips.left_out,
        f"only in {view.run}": flips.only_here,
        f"only in {view.filter.vs}": flips.only_there,
    }
    return "; ".join(f"{count:,} {words}" for words, count in counts.items() if count)
