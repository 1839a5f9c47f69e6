"""The run that the Triage list is compared with, and the questions that were fixed or regressed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from proofspan.manifest.types import Run
from proofspan.store.files.types import Flips
from proofspan.store.query.filters import Flip
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.store.query.store import Store
from proofspan.ui.status import notices
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import feed, line

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
    names = {run.run_id: notices.run_name(run) for run in runs if run.run_id != view.run}
    if not names:
        return
    key = "compared-with"
    feed(key, view.filter.vs or None)
    st.selectbox(
        "Compare with",
        list(names),
        key=key,
        index=None,
        format_func=lambda run_id: markup.clean(names[run_id]),
        placeholder="Compare with …",
        label_visibility="collapsed",
        width=170,
        on_change=_choose_run,
        args=(key,),
    )


def _choose_run(key: str) -> None:
    vs = st.session_state[key]
    change_view(**({"vs": vs} if vs else _ALONE))


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
        markup.show(markup.text([markup.Piece(f"Compared with {view.filter.vs}:", "muted")], role="hint"))
        for kind in FLIPS_SHOWN:
            mark = "*✓* " if view.filter.flip == kind else ""
            title = f"{mark}**{getattr(flips, kind):,}** {kind}"
            st.button(
                title,
                key=f"flip-{kind}",
                type="tertiary",
                help=_MEANT[kind],
                on_click=change_view,
                kwargs={
                    "flip": "" if view.filter.flip == kind else kind,
                    "outcome": _in_address(outcomes[0]),
                },
            )
        markup.show(
            markup.text([markup.Piece(f"of {judged:,} by", "muted", _left_out(flips, view))], role="hint")
        )
        _outcome(outcomes)
        st.page_link(
            "pages/compare.py", label="Compare", query_params=view.as_list().params(), width="content"
        )


def _outcome(outcomes: Sequence[str]) -> None:
    key = "flip-outcome"
    feed(key, outcomes[0])
    st.selectbox(
        "Right by",
        [outcome for outcome in OUTCOMES if outcome in outcomes],
        key=key,
        format_func=lambda outcome: OUTCOMES[outcome],
        label_visibility="collapsed",
        width=175,
        on_change=lambda: change_view(outcome=_in_address(st.session_state[key])),
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
