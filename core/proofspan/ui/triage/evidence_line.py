"""Lines on citations above the Triage table: evidence states, omitted warnings, wrong page numbers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from proofspan.display_names import EVIDENCE_NAMES
from proofspan.evidence.page_base import PageBaseFinding
from proofspan.services.page_base import in_words, worth_saying
from proofspan.services.workspace.index_job import IndexJob
from proofspan.store.files.evidence_states import EVIDENCE, EvidenceState
from proofspan.store.files.types import PlacedFacts
from proofspan.ui.status.fragments import fragment
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, show_toggles, toggle_button


def cited_line(
    counts: Mapping[EvidenceState, int],
    placed: PlacedFacts | None,
    view: ViewState,
    *,
    folder: Path,
    job: IndexJob | None,
) -> None:
    """Draw the evidence states, a toggle each, worst first.

    `counts` are those of the list without its evidence filter; a state that the run has stays when other
    filters leave it empty, so that nothing moves. While citations are not located, `job` does it, or says why
    it could not.
    """
    with line("evidence", width="content"):
        if placed is None and job is not None and job.is_running:
            _being_located(job)
        elif placed is None:
            _not_located(folder, job.failure if job is not None else None)
        else:
            shown = {*placed.counts, *view.filter.evidence}
            present = {state: counts.get(state, 0) for state in EVIDENCE if state in shown}
            meaning = lambda state: EVIDENCE[state].meaning  # noqa: E731
            show_toggles("evidence", "Cited text:", present, EVIDENCE_NAMES, meaning, view.filter.evidence)


def safety_line(omitting: int, judged: int, view: ViewState) -> None:
    """Draw how many of the `judged` answers may omit a warning, in the list without its safety filter."""
    with line("safety", width="content"):
        markup.note("Safety:", "muted")
        toggle_button(
            f"**{omitting:,}** of {judged:,} may omit a warning",
            key="safety-omitted",
            help="Neither answer nor citations mention a WARNING or CAUTION of the cited section; "
            "of the questions with a citation to judge by.",
            is_on=bool(view.filter.safety),
            on_click=partial(change_view, safety=None if view.filter.safety else True),
        )


def waiting_note(placed: PlacedFacts | None, view: ViewState) -> list[str]:
    """Explain why nothing matches a filter on cited text before citations are located."""
    if placed is not None or not view.filter.evidence:
        return []
    return ["Nothing matches the filter on cited text until citations are located."]


def page_base(findings: Sequence[PageBaseFinding]) -> list[PageBaseFinding]:
    """Return the findings on cited pages as a whole that only a change at their source would fix."""
    return [finding for finding in worth_saying(findings) if finding.is_systematic]


def page_base_line(findings: Sequence[PageBaseFinding], view: ViewState) -> None:
    """Draw the first of them in one quiet line, with links to its questions and to the fix."""
    with line("pages"):
        markup.note(f"{in_words(findings[0])}.")
        if view.filter.evidence != ("page_mismatch",):
            st.button(
                "Show these questions",
                key="pages-shown",
                type="tertiary",
                on_click=change_view,
                kwargs={"evidence": ("page_mismatch",)},
            )
        title = f"What to do (and {len(findings) - 1:,} more)" if len(findings) > 1 else "What to do"
        st.page_link(
            "pages/health.py",
            label=title,
            query_params=view.params(),
            width="content",
        )


@fragment(run_every=1.0)
def _being_located(job: IndexJob) -> None:
    """Draw the progress; rerun the page when the citations are located."""
    if not job.is_running:
        st.rerun()
    share = job.progress.share if job.progress else 0.0
    message = "Cited text: being located …" + (f" {100 * share:.0f} %" if share else "")
    with st.container(width="content"):
        markup.note(message, "muted")


def _not_located(folder: Path, failure: str | None) -> None:
    why = f"not located: {failure.splitlines()[-1]}" if failure else "not located yet."
    command = f"proofspan index {shlex.quote(str(folder))}"
    markup.show(
        markup.text(
            [markup.Piece(f"Cited text: {why} ", "muted"), markup.Piece(command, "code")], role="hint"
        )
    )
