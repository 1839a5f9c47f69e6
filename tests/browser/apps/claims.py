"""An answer, the list of its claims and a made-up page, connected as on the Question page.

Claim 1 differs from its evidence, claim 2 is supported, claim 3 by another page, claim 4 by nothing. What was
chosen is written as `claim:` for a test to read.
"""

from __future__ import annotations

import os

import streamlit as st

from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
    ClaimEvidence,
    ClaimStatus,
)
from proofspan.diagnosis.verdicts.types import Correctness, Verdict
from proofspan.evidence.pdf.png import encode_png
from proofspan.evidence.types import PageImage, PageInfo, SpanQuery
from proofspan.services.page.claims import ClaimSpot
from proofspan.services.page.shapes import PageSpan
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.ui.claims.annotated_text import show_marked
from proofspan.ui.claims.claim_list import ClaimLine, show_claims
from proofspan.ui.viewer import claim_places
from proofspan.ui.viewer.claim_places import ShownClaims, send_places
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.viewer.viewer import ViewerPage, show_page
from proofspan.ui.widgets import markup
from proofspan.ui.wording.answer import answer_pieces
from proofspan.ui.wording.claims import STATUS_WORDS, comparison

HOSTILE = os.environ.get("HOSTILE", "<img src=x onerror=alert(1)>")
TEXTS = ("It holds 64 litres.", "Stop the engine first.", "The fuse is F12.", f"It is {HOSTILE}.")
ANSWER = " ".join(TEXTS)
STATUSES: tuple[ClaimStatus, ...] = ("differs", "supported", "derived", "unsupported")
FUSE = (ANSWER.index("The fuse"), ANSWER.index("The fuse") + 8)
WIDTH, HEIGHT = 600, 1_600


def claims() -> CheckedAnswer:
    made = []
    for number, (text, status) in enumerate(zip(TEXTS, STATUSES, strict=True), start=1):
        start = ANSWER.index(text)
        evidence = ClaimEvidence("prompt", f"c{number}", 0, 20, "It holds 46 litres.", "manual", number // 3)
        differences = (ClaimDifference("number", "64", start + 9, start + 11, f"46 {HOSTILE}", 9, 11),)
        made.append(
            CheckedClaim(
                Claim(text, start, start + len(text), "sentence"),
                status,
                0.5,
                evidence if number < 4 else None,
                differences if status == "differs" else (),
                formula="8 − 2 = 6" if status == "derived" else "",
            )
        )
    return CheckedAnswer(tuple(made), 0.4)


def choose(number: int) -> None:
    st.query_params["claim"] = str(number)


checked = claims()
verdict = Verdict("contradicted", Correctness("unknown"), "contradicted", "certain", "Wrong number.", harm=1)
lines = [
    ClaimLine(
        number,
        each.status,
        STATUS_WORDS[each.status],
        each.claim.text,
        each.support,
        tuple(comparison(each)),
        where=f"p. 1, {HOSTILE}",
        has_evidence=each.evidence is not None,
    )
    for number, each in enumerate(checked.claims, start=1)
]
targets = {
    number: Target("claim", number, "manual", SpanQuery("It holds 46 litres.", 0)) for number in (1, 2, 3)
}
shown_claims = ShownClaims(checked, verdict, lines, targets)
chosen = int(st.query_params.get("claim", "0")) or None
markup.stylesheet()
st.text(f"claim:{chosen}")
left, right = st.columns(2)
with left:
    show_marked(
        answer_pieces(
            ANSWER,
            phrases=[(0, 8), FUSE],
            numbers_after={8: [1]},
            held_by={(0, 8): 1, FUSE: 2},
            claims=[(each.claim.start, each.claim.end) for each in checked.claims],
            claimed=[(9, 11)],
        ),
        numbers={1: "citation 1", 2: "citation 2"},
        chosen=None,
        key="answer",
        on_choose=lambda number: st.query_params.update(cite=str(number)),
        claims=lines,
        chosen_claim=chosen,
        on_claim=choose,
    )
    show_claims(lines, chosen=chosen, key="list", on_choose=choose)
    st.text(f"cite:{st.query_params.get('cite', '')}")
page = ViewerPage(
    PageImage(
        encode_png(bytes((255, 255, 255)) * WIDTH * HEIGHT, WIDTH, HEIGHT),
        WIDTH,
        HEIGHT,
        PageInfo(0, WIDTH * 0.72, HEIGHT * 0.72, 0, None),
        (1, 0, 0, 1, 0, 0),
    ),
    (PageSpan("cite:1", "cited", (("cited", "cited 1"),), ((5, 4, 90, 10),)),),
    {"cite:1": SpanCard("cited 1", "exact")},
    alt="page 1",
    focus="cite:1@0",
    page_count=2,
    answer=shown_claims.answer,
    claims=("claim:1", "claim:2", "claim:3"),
)
places = (
    ClaimSpot(1, "here", ((10, 5, 60, 3),), ((30, 5, 5, 3),)),
    ClaimSpot(2, "here", ((10, 80, 60, 3),)),
    ClaimSpot(3, "elsewhere"),
    ClaimSpot(4, "none"),
)
# Locating needs a document; the browser's part begins with its result.
claim_places._located = lambda *_: places  # type: ignore[assignment]
with right:
    show_page(
        page,
        on_turn=lambda to: None,
        on_choose=lambda span_id: choose(int(span_id.removeprefix("claim:"))),
    )
    view = PageView(Target("cited", 1, "manual", SpanQuery("It holds", 0)), image=page.image)
    send_places(shown_claims, view, viewer="page", picture_id=page.picture_id)
