"""Where the evidence of an answer's claims is, sent to the browser after the page itself.

Locating takes longer than drawing a page, and a reader rarely needs all of it. So the page comes first, and a
component that draws nothing asks for the places of its claims in a fragment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import orjson

from proofspan.diagnosis.claims.types import CheckedAnswer
from proofspan.diagnosis.verdicts.types import Verdict
from proofspan.fingerprints import file_state
from proofspan.services.documents.background import Done, Waiting
from proofspan.services.page.claims import ClaimSpot, claim_spots
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.ui.claims.claim_list import LINKS, ClaimLine, LinePart, packed_claims
from proofspan.ui.component import component
from proofspan.ui.status import background, documents
from proofspan.ui.status.fragments import fragment
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.widgets.markup import clean


@dataclass(frozen=True)
class ShownClaims:
    """The claims of the shown answer: checked, in words (the weakest first), and as passages by number.

    `verdict` is the one on the answer.
    """

    checked: CheckedAnswer
    verdict: Verdict
    lines: Sequence[ClaimLine]
    targets: Mapping[int, Target]

    @cached_property
    def answer(self) -> str:
        """A name of the answer with these claims, by which the browser connects them with the page."""
        seen = repr((self.checked.claims, sorted(self.targets)))
        return hashlib.sha1(seen.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()

    def line(self, target: Target) -> ClaimLine | None:
        """Return the claim in words whose evidence is shown."""
        if target.kind != "claim":
            return None
        return next((each for each in self.lines if each.number == target.number), None)


def send_places(claims: ShownClaims, shown: PageView, *, viewer: str, picture_id: str) -> None:
    """Mount the component that passes the claims' places on the shown page to answer, list and viewer."""
    fragment(place=f"viewer-wire-claims-{viewer}")(_send)(claims, shown, viewer, picture_id)


def _send(claims: ShownClaims, shown: PageView, viewer: str, picture_id: str) -> None:
    spots = _located(claims, shown, picture_id)
    key = f"{viewer}-claims"
    component("ui/viewer/claim_places", scripts=(LINKS,))(
        key=key,
        data=packed_places(claims, spots, viewer=viewer, picture_id=picture_id),
        on_ask_change=lambda: None,  # running the fragment again is the answer
    )


def _located(claims: ShownClaims, shown: PageView, picture_id: str) -> Sequence[ClaimSpot] | None:
    """The claims' places, None while they are being looked for; nothing where the document cannot be read."""
    order = [each.number for each in claims.lines]
    locate = partial(claim_spots, shown, claims.checked, claims.targets, order, documents.placer())
    if shown.image is None or shown.path is None:
        return locate()
    key = ("claims", claims.answer, str(shown.path), file_state(shown.path), picture_id)
    outcome = background.ask(key, locate, share=0.0)
    if isinstance(outcome, Waiting):
        return None
    return outcome.value if isinstance(outcome, Done) else ()


def packed_places(
    claims: ShownClaims, spots: Sequence[ClaimSpot] | None, *, viewer: str, picture_id: str
) -> bytes:
    """Return the claims' places as JSON in UTF-8; `spots` None: they are not known yet."""
    words = {each["number"]: each for each in packed_claims(claims.lines)}
    return orjson.dumps(
        {
            "of": claims.answer,
            "viewer": viewer,
            "id": picture_id,
            "is_ready": spots is not None,
            "spots": [_packed(spot, claims, words[spot.number]) for spot in spots or ()],
        }
    )


#: Shown on the page, where the passage itself is highlighted.
_CLOSEST = [asdict(LinePart("closest passage; it does not support the claim", "muted"))]


def _packed(spot: ClaimSpot, claims: ShownClaims, words: Mapping[str, Any]) -> dict[str, Any]:
    packed = {"number": spot.number, "placement": spot.placement}
    if spot.placement != "here":
        return packed
    target, line = claims.targets[spot.number], "".join(part["text"] for part in words["line"])
    card = SpanCard(
        name=clean(target.tag),
        status=words["status_words"],
        notes=tuple(filter(None, (line, words["where"], words["note"]))),
        text=clean(target.query.quote),
    )
    return packed | {
        "id": clean(target.id),
        "status": words["status"],
        "rects": spot.rects,
        "marks": spot.marks,
        "line": _CLOSEST if words["status"] == "unsupported" else words["line"],
        "card": asdict(card),
    }
