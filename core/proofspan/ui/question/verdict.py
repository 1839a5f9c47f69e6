"""The verdict on the Question page: its chips with the cause, the way of the right passage, the next step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

import streamlit as st

from proofspan.diagnosis.verdicts.types import GoldTrail, Verdict
from proofspan.evidence.types import FoundSpan
from proofspan.services.question.view import QuestionView
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Markup, Piece
from proofspan.ui.wording import question
from proofspan.ui.wording import verdict as words
from proofspan.ui.wording.citation import is_of_several_documents
from proofspan.wording import Labels, counted, with_printed

#: Characters shown of a cause's sentence.
MAX_SENTENCE = 2_000
#: Passages whose way is shown, and those that are folded.
MAX_PARTS, MAX_FOLDED = 3, 40


def banner(view: QuestionView, verdict: Verdict, *, claims: Iterable[int] = (), labels: Labels) -> None:
    """Show the verdict's chips, the cause in a sentence, and the ways to the passages that prove it.

    `claims` are the numbers of the claims whose evidence a page can show, `labels` name a document's pages.
    """
    printed = labels(verdict.doc_id)
    grade = words.tone(verdict.grounded, verdict.correct, verdict.cause)
    chips = words.chips(verdict.grounded, verdict.correct)
    cause = [replace(each, text=with_printed(each.text, printed)) for each in words.cause_pieces(verdict)]
    pieces = [*chips, Piece(" "), *cause]
    with st.container(
        border=True, horizontal=True, gap="small", vertical_alignment="center", key=f"verdict-{grade}"
    ):
        markup.show(markup.text(pieces, role="line", limit=MAX_SENTENCE))
        ways = words.evidence_ways(view, verdict, claims=claims, labels=labels)
        certainty = words.certainty_piece(verdict)
        if not ways and not certainty.text:
            return
        with st.container(
            horizontal=True, gap="small", vertical_alignment="center", width="content", key="evidence-ways"
        ):
            aside = [certainty, Piece(" · ", "muted")] if certainty.text and ways else [certainty]
            what = "closest passage:" if verdict.cause == "unsupported" else "evidence:"
            about = Piece(what if ways else "", "muted")
            markup.show(markup.text([*aside, about], role="hint"), width="content")
            for place, (label, change) in enumerate(ways):
                st.button(
                    markup.label(label),
                    key=f"evidence-{place}",
                    type="tertiary",
                    on_click=change_view,
                    kwargs=change,
                )


def trail(view: QuestionView, followed: GoldTrail | None, labels: Labels) -> None:
    """Show each gold passage's way through the stages; nothing without one to follow."""
    if followed is None or not followed.parts:
        return
    title = [Piece("Where the right passage went ", "h2"), Piece(words.trail_note(followed), "muted")]
    shown = _parts(followed, names_document=is_of_several_documents(view), labels=labels)
    with st.container(border=True, key="trail", gap="xsmall"):
        markup.show(markup.text(title, role="line"), *chain(*shown[:MAX_PARTS]))
        if rest := shown[MAX_PARTS:]:
            with st.expander(counted(len(rest), "more passage"), key="trail-rest"):
                markup.show(*chain(*rest[:MAX_FOLDED]))
                if len(rest) > MAX_FOLDED:
                    markup.note(f"and {len(rest) - MAX_FOLDED:,} more", "muted")


def _parts(followed: GoldTrail, *, names_document: bool, labels: Labels) -> list[list[Markup]]:
    """Return each passage with its stages, those that are not whole in the prompt first."""
    count = len(followed.parts)
    numbered = sorted(enumerate(followed.parts, start=1), key=lambda each: words.is_in_prompt(each[1]))
    made = []
    for number, part in numbered:
        printed = labels(part.doc_id)
        pieces = words.part_pieces(part, number, count, names_document=names_document, labels=printed)
        name = with_printed(words.part_name(part, number, count), printed)
        made.append([markup.text(pieces, role="hint"), markup.stops(words.stops_of(part), name=name)])
    return made


def next_step(
    view: QuestionView,
    verdict: Verdict | None,
    found: Mapping[str, FoundSpan],
    *,
    causes: Mapping[str, int],
    shown: ViewState,
) -> None:
    """Show what to do about this answer once its citations are located; nothing without a label or step.

    `causes` counts the run's answers by cause. Where several have this one, a link leads to them.
    """
    if view.row is None or view.stored is not None:
        return
    step = question.step(view, view.row, found, verdict)
    if not step:
        return
    with st.container(border=True, key="next"):
        markup.show(markup.text([Piece("Next step ", "h2"), Piece(step)], role="line"))
        cause = verdict.cause if verdict is not None else None
        alike = causes.get(cause, 0) if cause is not None and cause != "none" else 0
        if cause is not None and alike > 1:
            st.page_link(
                "pages/triage.py",
                label=f"{alike:,} of {sum(causes.values()):,} answers of this run have this cause",
                query_params=shown.without_filter().change(cause=(cause,)).as_list().params(),
                width="content",
            )
