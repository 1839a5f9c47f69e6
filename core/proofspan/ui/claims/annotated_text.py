"""A text with marks whose citations and claims can be chosen: numbers and the signs of claims are buttons.

A component of our own, because `markup.text` makes no buttons, and Streamlit's cannot be part of a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import orjson
import streamlit as st

from proofspan.ui.claims.claim_list import COLOURS, LINKS, ClaimLine, packed_claims, pass_on_claim
from proofspan.ui.component import component
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece, Size, clean

_NUMBERS = ("number", "number-chosen")
#: Characters of a tip: an id, a reason.
_MAX_TIP = 400


def show_marked(
    pieces: Sequence[Piece],
    *,
    numbers: Mapping[int, str],
    chosen: int | None,
    key: str,
    on_choose: Callable[[int], None],
    size: Size = "panel",
    claims: Sequence[ClaimLine] = (),
    chosen_claim: int | None = None,
    on_claim: Callable[[int], None] | None = None,
) -> None:
    """Draw the pieces. Those of the kinds "number" and "number-chosen" are buttons that call `on_choose`.

    `numbers` holds every citation that can be chosen with its spoken name ("citation 1, exact, PDF page 42");
    another number is not a button. A click on a piece with a `cite` chooses that citation as well. `size`
    "stage" is larger. More than `markup.LIMIT` characters are shown in parts. Pieces with a `claim` are
    underlined by its status and followed by its sign, a button that calls `on_claim`.
    """
    length_key = f"{key}:{hash(tuple(piece.text for piece in pieces)):x}"
    kept, hidden = markup.cut(pieces, limit=markup.shown_limit(length_key))
    if hidden:
        kept = (*kept, Piece(f" … {hidden:,} more characters", "muted"))
    drawn = {piece.claim for piece in kept}
    shown_claims = [each for each in claims if each.number in drawn]
    data = packed(
        kept, numbers=numbers, chosen=chosen, size=size, claims=shown_claims, chosen_claim=chosen_claim
    )
    component("ui/claims/annotated_text", css=("ui/css/pieces.css", COLOURS), scripts=(LINKS,))(
        key=key,
        data=data,
        on_choose_change=lambda: _chosen(key, numbers, on_choose),
        on_claim_change=lambda: pass_on_claim(key, shown_claims, on_claim) if on_claim else None,
    )
    markup.show_more(pieces, key=length_key)


def packed(
    pieces: Sequence[Piece],
    *,
    numbers: Mapping[int, str],
    chosen: int | None,
    size: Size = "panel",
    claims: Sequence[ClaimLine] = (),
    chosen_claim: int | None = None,
) -> bytes:
    """Return what the browser needs, as JSON in UTF-8; the pieces stay the same whatever is chosen."""
    packed_pieces = []
    known_claims = {each.number for each in claims}
    for piece in pieces:
        is_number = piece.kind in _NUMBERS
        known = is_number and piece.text.isdecimal() and int(piece.text) in numbers
        packed_pieces.append(
            {
                "tag": markup.tag_of(piece.kind),
                "kind": "number" if is_number else piece.kind,
                "text": clean(piece.text),
                "tip": clean(piece.tip[:_MAX_TIP]),
                "cite": piece.cite if piece.cite in numbers else None,
                "number": int(piece.text) if known else None,
                "claim": piece.claim if piece.claim in known_claims else None,
            }
        )
    return orjson.dumps(
        {
            "pieces": packed_pieces,
            "numbers": {str(number): clean(spoken) for number, spoken in numbers.items()},
            "chosen": chosen,
            "size": size,
            "name": "Answer",  # for screen readers
            "claims": packed_claims(claims),
            "claim": chosen_claim,
        }
    )


def _chosen(key: str, numbers: Mapping[int, str], on_choose: Callable[[int], None]) -> None:
    """Pass on a citation number that the browser sent, which may send anything."""
    sent = st.session_state[key].get("choose")
    if isinstance(sent, int) and not isinstance(sent, bool) and sent in numbers:
        on_choose(sent)
