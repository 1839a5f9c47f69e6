"""A text with marks whose citations can be chosen: their numbers are buttons, their words follow the mouse.

A small component of our own, because `safe.text` makes text and no buttons, and a widget cannot stand inside
a sentence. Its parts are files beside this module, handed over as inline strings, so that nothing is fetched;
a piece looks as it does elsewhere (`pieces.css`). Where it cannot be mounted, `safe.text` stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Literal

import orjson
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece, clean

Size = Literal["panel", "stage"]

_NAME = "proofspan_marked_text"
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
    name: str = "Answer",
) -> None:
    """Draws the pieces. Those of the kinds "number" and "number-chosen" are buttons that call `on_choose`.

    `numbers` holds every citation that can be chosen with its spoken name ("citation 1, exact, PDF page 42");
    another number is a mark and no button. A click on a piece with a `cite` chooses that citation as well.
    `size` "stage" is larger. `name` says what the text is, to who hears it. A text of more than `safe.LIMIT`
    characters is shown in parts.
    """
    kept, hidden = markup.cut(pieces, limit=markup.shown_limit(_length_key(key, pieces)))
    if hidden:
        kept = (*kept, Piece(f" … {hidden:,} more characters", "muted"))
    data = packed(kept, numbers=numbers, chosen=chosen, size=size, name=name)
    try:
        _component()(key=key, data=data, on_choose_change=lambda: _chosen(key, numbers, on_choose))
    except (StreamlitAPIException, TypeError):
        markup.show(markup.text(kept))
    markup.show_more(pieces, key=_length_key(key, pieces))


def packed(
    pieces: Sequence[Piece],
    *,
    numbers: Mapping[int, str],
    chosen: int | None,
    size: Size = "panel",
    name: str = "Answer",
) -> bytes:
    """What the browser needs, as JSON in UTF-8; the pieces stay the same whatever is chosen."""
    return orjson.dumps(
        {
            "pieces": [_packed(piece, numbers) for piece in pieces],
            "numbers": {str(number): clean(spoken) for number, spoken in numbers.items()},
            "chosen": chosen,
            "size": size,
            "name": clean(name),
        }
    )


def _packed(piece: Piece, numbers: Mapping[int, str]) -> dict[str, str | int | None]:
    is_number = piece.kind in _NUMBERS and piece.text.isdecimal()
    return {
        "tag": markup.tag_of(piece.kind),
        "kind": "number" if piece.kind in _NUMBERS else piece.kind,
        "text": clean(piece.text),
        "tip": clean(piece.tip[:_MAX_TIP]),
        "cite": piece.cite if piece.cite in numbers else None,
        "number": int(piece.text) if is_number and int(piece.text) in numbers else None,
    }


def _chosen(key: str, numbers: Mapping[int, str], on_choose: Callable[[int], None]) -> None:
    """Tells of a citation that was chosen; what else a browser may send is none."""
    sent = st.session_state[key].get("choose")
    if isinstance(sent, int) and not isinstance(sent, bool) and sent in numbers:
        on_choose(sent)


def _length_key(key: str, pieces: Sequence[Piece]) -> str:
    """Under which it is kept how much of this very text is shown: another text begins anew."""
    return f"{key}:{hash(tuple(piece.text for piece in pieces)):x}"


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, pieces, js = (
        text_of(f"ui/{part}")
        for part in (
            "widgets/annotated_text.html",
            "widgets/annotated_text.css",
            "css/pieces.css",
            "widgets/annotated_text.js",
        )
    )
    return st.components.v2.component(_NAME, html=html, css=f"{pieces}\n{css}", js=js)
