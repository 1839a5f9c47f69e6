"""Copy card: a question as a picture and a text for a chat or a ticket, drawn when somebody asks for it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable

import streamlit as st

from proofspan.errors import Fault
from proofspan.services.page.crop import Crop, crop_of
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView
from proofspan.services.report.card import ASPECT, PIXELS, SHARE, Card, card_drawing, card_of
from proofspan.ui.component import component
from proofspan.ui.status import documents
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.viewer.claim_places import ShownClaims
from proofspan.ui.visit import session
from proofspan.ui.widgets.markup import clean
from proofspan.ui.wording.answer import citation_tail


def show_card(
    opened: session.Opened, view: QuestionView, shown: PageView | None, claims: ShownClaims | None
) -> None:
    """Draw the button that opens the card over the page."""
    is_pending = shown is not None and shown.is_pending

    def make() -> Card:
        crop = Crop("", missing="the answer cites no passage")
        if shown is not None:
            crop = crop_of(shown, documents.placer(), share=SHARE, aspect=ASPECT, pixels=PIXELS)
        answer, tail = view.trace.answer, citation_tail(view.trace.answer)
        answer = answer[: tail[0]] + answer[tail[1] :] if tail else answer
        checked, verdict = (claims.checked, claims.verdict) if claims else (None, None)
        name = opened.manifest.name
        return card_of(view, crop, name=name, answer=answer, checked=checked, verdict=verdict)

    if st.button("Copy card", key="copy-card", disabled=is_pending):
        _dialog(make, view.trace.q_id)


@st.dialog("Card for a chat or a ticket", width="medium")
def _dialog(make: Callable[[], Card], q_id: str) -> None:
    try:
        card = make()
        png = session.pdf_pool().draw(card_drawing(card), to="png").data
    except Fault as fault:
        fault_panel(fault.problems)
        return
    stem = "".join(each if each.isalnum() else "-" for each in clean(q_id))[:40].strip("-") or "card"
    data = {"png": b64encode(png).decode("ascii"), "text": clean(card.text), "stem": stem}
    component("ui/question/card")(key="card", data=data)
