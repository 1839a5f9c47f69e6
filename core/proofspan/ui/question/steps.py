"""Steps from question to question, and the name of what the page is drawn for.

A component of our own, because presses follow each other faster than the page is drawn, and because no page
that a reader turns away from may be seen below another question, not even until the server answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import orjson
import streamlit as st

from proofspan.contracts.records.records import TraceKey
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.store.files.types import Neighbours
from proofspan.ui.component import component
from proofspan.ui.question.candidates import row_key
from proofspan.ui.visit.view_state import ViewState, change_view, question_name, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Markup

_KEY, _PRESSES, _RUNS = "steps-ahead", "steps:presses", "steps:runs"
#: The largest whole number that JavaScript counts exactly.
_MAX = 2**53


def place_name(*seen: object) -> str:
    """Return a name of what the page is drawn for: the question and what of it is chosen, by their `repr`."""
    return hashlib.sha1(repr(seen).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]


def question_mark(key: TraceKey) -> str:
    """Return a name of the question, for what belongs to it whatever passage is chosen."""
    return place_name(key)


def header_mark(of: str) -> Markup:
    """Return the mark of the place: with it the browser compares all others (see `steps.js`).

    It counts the runs of the page, and names the press that this run answers.
    """
    run = st.session_state[_RUNS] = int(st.session_state.get(_RUNS, 0)) + 1
    return markup.place("question", of, run=run, presses=int(st.session_state.get(_PRESSES, 0)))


def header_marks(key: TraceKey, of: str) -> tuple[Markup, Markup]:
    """Return the marks of the place and of the question, for panels that belong to the question alone."""
    head = header_mark(of)
    return head, markup.place("asked", question_mark(key), run=int(st.session_state[_RUNS]))


def drawn(key: TraceKey) -> None:
    """Mark that all panels of a container up to here are drawn for the question, in this run."""
    markup.show(markup.place("drawn", question_mark(key), run=int(st.session_state[_RUNS])))


def show_steps_ahead(
    beside: Neighbours,
    key_at: Callable[[ViewState, int], TraceKey | None],
    *,
    shown: PageView | None = None,
    targets: Sequence[Target] = (),
) -> None:
    """Mount the component that steps by keys and buttons, and hides what is left.

    It gets the position in the list, and what lies on the `shown` page, which a choice does not leave.
    `key_at` returns the question at a position, from 0, of an address's list, or None past its end.
    """
    spans = [span.id for span in shown.spans] if shown is not None else []
    drawn = set(spans)
    here = [row_key(each.chunk_id or "") for each in targets if each.kind == "retrieved" and each.id in drawn]

    def step() -> None:
        asked = asked_step(st.session_state[_KEY].get("step"))
        if asked is None:
            return
        to, st.session_state[_PRESSES] = asked
        if (key := key_at(read_view(), to)) is not None:
            name = question_name(key.q_id, key.repeat)
            change_view(q=name, p=key.paraphrase, s=key.seed, cite=None, chunk=None, page=None)

    data = {
        "position": None if beside.position is None else beside.position - 1,
        "total": beside.total,
        "presses": int(st.session_state.get(_PRESSES, 0)),
        "spans": [markup.clean(each) for each in spans],
        "here": here,
    }
    component("ui/question/steps")(key=_KEY, data=orjson.dumps(data), on_step_change=step)


def asked_step(sent: object) -> tuple[int, int] | None:
    """Return the asked position, from 0, and the number of the press, if a browser may send them."""
    if not isinstance(sent, Mapping):
        return None
    to, presses = sent.get("to"), sent.get("presses")
    return (to, presses) if _is_count(to) and _is_count(presses) else None


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX
