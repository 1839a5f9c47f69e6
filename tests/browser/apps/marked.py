"""A text whose citations can be chosen, alone on a page: its choice, and hostile words in every place."""

import os

import streamlit as st

from proofspan.ui.claims.annotated_text import show_marked
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

HOSTILE = os.environ.get("HOSTILE", "<img src=x onerror=alert(1)> \u202e${1} ![x](y)")
TEXT = [
    Piece("Use only "),
    Piece("rosin flux", "phrase", cite=1),
    Piece("1", "number"),
    Piece(" and strip "),
    Piece("1/16", "unsupported", tip=HOSTILE, cite=2),
    Piece(" inch", "phrase", cite=2),
    Piece("2", "number", tip="c2"),
    Piece(HOSTILE, "strong", tip=HOSTILE),
    Piece("7", "number"),
    Piece("\n".join(f" Line {n}" for n in range(200))),
    Piece("3", "number"),
    Piece("citations: [", "aside"),
    Piece("1", "number"),
    Piece("]", "aside"),
]


def choose(number: int) -> None:
    st.session_state["chosen"] = number


markup.stylesheet()
chosen = st.session_state.get("chosen")
show_marked(
    TEXT,
    numbers={1: "citation 1, exact, PDF page 42", 2: f"citation 2 {HOSTILE}", 3: "citation 3"},
    chosen=chosen,
    key="text",
    on_choose=choose,
)
st.text(f"chosen: {chosen}")
st.button("Third", on_click=choose, args=(3,))
