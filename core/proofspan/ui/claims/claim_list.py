"""The claims of an answer as the browser draws them: in the answer's text, and as a list.

Answer, list and page are components of their own, each with its own script. `claim_links.js` connects them in
the browser, so that pointing at a claim needs no answer of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import orjson
import streamlit as st

from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean

#: The script that answer, list and page share.
LINKS = "ui/claims/claim_links.js"
#: The colours of each status, for the same three.
COLOURS = "ui/claims/claim_status.css"
#: Claims that the list shows, the weakest first.
MAX_LISTED = 200
#: Characters of a claim in the list.
MAX_TEXT = 600

Look = Literal["plain", "muted", "claimed", "found"]


@dataclass(frozen=True, slots=True)
class LinePart:
    """Words of a claim's line; `claimed` are the answer's and `found` the page's where the two differ."""

    text: str
    look: Look = "plain"


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim in words. `number` counts from 1 in the order of the answer.

    `line` compares it with its evidence; `where` says where that is; `note` what could not be decided.
    `terms` explain its status and what differs (see `Piece.term`).
    """

    number: int
    status: ClaimStatus
    status_words: str
    text: str
    support: float
    line: tuple[LinePart, ...] = ()
    where: str = ""
    note: str = ""
    has_evidence: bool = False
    terms: tuple[str, ...] = ()


def packed_claims(claims: Sequence[ClaimLine]) -> list[dict[str, Any]]:
    """Return claims as the scripts read them, cleaned of what a browser cannot show."""
    return [
        asdict(each)
        | {
            "text": clean(each.text[:MAX_TEXT]) + ("…" if len(each.text) > MAX_TEXT else ""),
            "line": [{"text": clean(part.text), "look": part.look} for part in each.line],
            "where": clean(each.where),
            "note": clean(each.note),
        }
        for each in claims
    ]


def show_claims(
    claims: Sequence[ClaimLine],
    *,
    chosen: int | None,
    key: str,
    on_choose: Callable[[int], None],
    of: str = "",
) -> None:
    """Draw the claims as a list in the given order; one that is chosen calls `on_choose` with its number.

    `of` names what it is drawn for (see `markup.place`).
    """
    listed = claims[:MAX_LISTED]
    data = {
        "claims": packed_claims(listed),
        "chosen": chosen,
        "more": len(claims) - len(listed),
        "name": "Claims, the weakest first",
        "of": of,
    }
    component("ui/claims/claim_list", css=(COLOURS,), scripts=(LINKS,))(
        key=key,
        data=orjson.dumps(data),
        on_claim_change=lambda: pass_on_claim(key, claims, on_choose),
    )


def pass_on_claim(key: str, claims: Sequence[ClaimLine], on_choose: Callable[[int], None]) -> None:
    """Call `on_choose` with the claim that the browser sent, which may send anything."""
    sent = st.session_state[key].get("claim")
    if isinstance(sent, int) and not isinstance(sent, bool) and any(each.number == sent for each in claims):
        on_choose(sent)
