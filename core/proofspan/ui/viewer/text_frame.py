"""The viewer of a document without pages: its lines as text in a frame, scrolled to the chosen span.

`proofspan.ui.widgets.markup` builds the frame and escapes foreign text; a component that draws nothing
scrolls it.
"""

from __future__ import annotations

import hashlib

import streamlit as st

from proofspan.services.page.text_view import TextView
from proofspan.ui.component import component
from proofspan.ui.widgets import markup

EXTRACTED = "The text of a web page, without its tags; lines are counted in this text."


def show_text(view: TextView, *, name: str, focus: str, key: str = "text-reveal") -> None:
    """Draw the lines; `name` describes them in words.

    When `focus` differs from the last call's, the chosen span (else the first cited one) is scrolled into
    view inside the frame. `key` distinguishes several frames on one page.
    """
    hints = [EXTRACTED] if view.is_extracted else []
    if not view.is_whole:
        first, last = view.lines[0], view.lines[-1]
        where = f"line {first.number:,}" if first == last else f"lines {first.number:,}–{last.number:,}"
        cut = ", cut where they are too long" if first.is_cut_before or last.is_cut_after else ""
        hints.append(f"The document is long: shown is {where} of {view.line_count:,}{cut}.")
    for hint in hints:
        markup.note(hint, "muted")
    mark = hashlib.sha1(f"{name}\0{focus}".encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    markup.show(markup.numbered(view, name=name, focus=mark))
    with st.container(key=key):
        component("ui/viewer/text_frame")(key=f"{key}-script", data={"focus": mark})
