"""The rows of the list that a person has ticked: which they are, and their review in a dialog."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.names import parse_question_name, question_name
from proofspan.contracts.records.records import TraceKey
from proofspan.manifest.types import Manifest
from proofspan.ui.triage import bulk
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.table import Ticks

_CHOSEN, _IS_OPEN = "review:chosen", "review:dialog"
_KEY = re.compile(r"([0-9]{1,19}):(-?[0-9]{1,19}):([^\ud800-\udfff]+)")


class _Chosen(NamedTuple):
    """The keys of rows that the browser sent last, and the list that they are of."""

    of: str = ""
    keys: tuple[str, ...] = ()


def row_key(key: TraceKey) -> str:
    """Return the key of a row: paraphrase, seed, and the question with its repeat."""
    return f"{key.paraphrase}:{key.seed}:{question_name(key.q_id, key.repeat)}"


def trace_key(run: str, key: str) -> TraceKey | None:
    """Return the trace of a row's key; None for any other text."""
    if (found := _KEY.fullmatch(key)) is None:
        return None
    q_id, repeat = parse_question_name(found[3])
    return TraceKey(run, q_id, int(found[1]), int(found[2]), repeat)


def ticks(manifest: Manifest, run: str, *, asks: bool) -> Ticks:
    """Return how rows of a run are chosen; with `asks` the page wants to know which they are."""
    of = _list_of(manifest, run)
    return Ticks(
        of=of,
        act="Review",
        hint="Tick answers to review them together.",
        cleared=bulk.saved_last(),
        known=_chosen(of).keys,
        asks=asks,
    )


def choose(manifest: Manifest, run: str, keys: Sequence[str], acts: bool) -> None:
    """Keep which rows are chosen, and with `acts` open their review."""
    st.session_state[_CHOSEN] = _Chosen(_list_of(manifest, run), tuple(dict.fromkeys(keys))[: bulk.MOST + 1])
    st.session_state[_IS_OPEN] = acts and bool(keys)
    if acts:
        bulk.drop()


def chosen(manifest: Manifest, run: str) -> list[TraceKey]:
    """Return the chosen rows of a run, on any page of the list, as far as the page knows them."""
    found = (trace_key(run, key) for key in _chosen(_list_of(manifest, run)).keys)
    return [key for key in found if key is not None]


def is_open() -> bool:
    """Return whether the review of the chosen rows is open."""
    return bool(st.session_state.get(_IS_OPEN))


def left_out(keys: Sequence[TraceKey], listed: pd.DataFrame) -> None:
    """Draw how many chosen rows the list does not have as it is filtered: nothing is done with them."""
    if gone := len(keys) - len(listed):
        words = f"{gone:,} of {len(keys):,} chosen answers are not in the filtered list, and are left out."
        markup.note(words, "muted")


def review_dialog(manifest: Manifest, run: str, listed: Callable[[Sequence[TraceKey]], pd.DataFrame]) -> None:
    """Draw the review of the chosen rows above the page, where it is open.

    `listed` returns the rows of the list among some traces, with every column.
    """
    if is_open():
        _dialog(manifest, run, listed)


def close() -> None:
    """Close the review of the chosen rows."""
    st.session_state[_IS_OPEN] = False
    if bulk.is_saved():  # the browser forgets them too
        st.session_state.pop(_CHOSEN, None)


@st.dialog("Review the chosen answers", on_dismiss=close)
def _dialog(manifest: Manifest, run: str, listed: Callable[[Sequence[TraceKey]], pd.DataFrame]) -> None:
    if not is_open():
        st.rerun()
    if bulk.is_saved():
        bulk.bulk_line(manifest, on_done=close)
        return
    keys = chosen(manifest, run)
    frame = listed(keys)
    left_out(keys, frame)
    bulk.save_form(manifest, frame)


def _chosen(of: str) -> _Chosen:
    kept: _Chosen = st.session_state.get(_CHOSEN, _Chosen())
    return kept if kept.of == of else _Chosen(of)


def _list_of(manifest: Manifest, run: str) -> str:
    return sha1_8(repr((str(manifest.folder), run)))
