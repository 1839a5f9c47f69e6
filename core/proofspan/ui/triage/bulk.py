"""One verdict, tag or assignment for all answers of a list: prepared, confirmed, saved, and taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from proofspan.display_names import CORRECT_NAMES
from proofspan.errors import Fault, Problem
from proofspan.journal.annotations import Annotation, Target, answer_id, append, now, refusal
from proofspan.manifest.types import Manifest
from proofspan.ui.review.name import ask_author
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit.author import author
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece
from proofspan.wording import counted

#: Answers that get something at once.
MOST = 1_000
_BULK = "review:bulk"
#: What all answers of a list can get, besides another correctness.
_NAMES = {"agree": "Agree with Proofspan", "assign": "Assign to", "tag": "Tag"}
_CHOICES: Mapping[str, str] = _NAMES | {name: f"Verdict: {words}" for name, words in CORRECT_NAMES.items()}


class Bulk(NamedTuple):
    """Lines that are prepared, or saved once `is_saved`; `words` say what they are, `problems` why not."""

    lines: tuple[Annotation, ...] = ()
    words: str = ""
    is_saved: bool = False
    problems: tuple[Problem, ...] = ()


def bulk_form(manifest: Manifest, rows: Callable[[], Iterable[pd.DataFrame]], *, matching: int) -> None:
    """Draw the choice of what all answers of the list get; nothing is saved before it is confirmed.

    `rows` yields the list with every column, `matching` is how many there are.
    """
    if refusal(manifest) is not None or not matching:
        return
    if matching > MOST:
        markup.note(f"Up to {MOST:,} answers can be reviewed at once: filter the list first.", "muted")
        return
    st.selectbox(
        f"For all {matching:,} answers of the list" if matching > 1 else "For the answer of the list",
        list(_CHOICES),
        key="bulk-kind",
        format_func=lambda each: _CHOICES[each],
    )
    kind = st.session_state["bulk-kind"]
    if kind in ("assign", "tag"):
        st.text_input("Name" if kind == "assign" else "Tag", key="bulk-words", max_chars=100)
    if not author():
        ask_author("bulk-author", "Asked once, written with each review")

    def prepare() -> None:
        words = " ".join(str(st.session_state.get("bulk-words", "")).split())
        if author() and (words or kind not in ("assign", "tag")):
            lines = tuple(lines_for(kind, words, rows(), author=author(), at=now()))
            st.session_state[_BULK] = Bulk(lines, " ".join(filter(None, (_CHOICES[kind], words))))

    st.button(f"Prepare for {matching:,}", key="bulk-prepare", disabled=not author(), on_click=prepare)


def bulk_line(manifest: Manifest) -> None:
    """Draw what was prepared with its confirmation, or what was saved with the way back."""
    bulk: Bulk | None = st.session_state.get(_BULK)
    if bulk is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="bulk"):
        count = counted(len(bulk.lines), "answer")
        lead = [Piece("✓ Saved ", "pass"), Piece(" ")] if bulk.is_saved else []
        pieces = [*lead, Piece(bulk.words, "strong"), Piece(f" for {count}")]
        markup.show(markup.text(pieces, role="line"), width="content")
        if bulk.is_saved:
            st.button("Undo", key="bulk-undo", type="tertiary", on_click=_withdraw, args=(manifest, bulk))
            st.button("Done", key="bulk-done", type="tertiary", on_click=_drop)
        else:
            title = f"Save {counted(len(bulk.lines), 'line')}"
            is_empty = not bulk.lines
            st.button(
                title,
                key="bulk-save",
                type="primary",
                disabled=is_empty,
                on_click=_save,
                args=(manifest, bulk),
            )
            st.button("Discard", key="bulk-discard", type="tertiary", on_click=_drop)
    fault_panel(bulk.problems)


def lines_for(
    kind: str, words: str, frames: Iterable[pd.DataFrame], *, author: str, at: str
) -> Iterator[Annotation]:
    """Yield a line for each answer of the list, one for all repeats of an answer.

    To agree with takes a verdict of the rules: answers without one are left out.
    """
    seen: set[Target] = set()
    for frame in frames:
        for row in frame.to_dict("records"):
            target = Target(str(row["run_id"]), str(row["q_id"]), int(row["paraphrase"]), int(row["seed"]))
            rules = {name: _text(row.get(name)) for name in ("correct", "cause", "label")}
            if target in seen or (kind == "agree" and not any(rules.values())):
                continue
            seen.add(target)
            common: dict[str, Any] = {"at": at, "answer": answer_id(_text(row["answer"]) or "")}
            if kind == "assign":
                yield Annotation("assignment", target, author, assignee=words, **common)
            elif kind == "tag":
                yield Annotation("note", target, author, tags=(words,), **common)
            elif kind == "agree":
                yield Annotation("verdict", target, author, agrees=True, rules=rules, **common)
            else:
                yield Annotation("verdict", target, author, agrees=False, correct=kind, rules=rules, **common)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _save(manifest: Manifest, bulk: Bulk) -> None:
    """Append the lines; only then are they called saved. The same lines again write nothing twice."""
    try:
        written = append(manifest, *bulk.lines)
    except Fault as fault:
        st.session_state[_BULK] = bulk._replace(problems=tuple(fault.problems)[:3])
    else:
        st.session_state[_BULK] = Bulk(written, bulk.words, is_saved=True)


def _withdraw(manifest: Manifest, bulk: Bulk) -> None:
    lines = [
        Annotation("withdrawal", each.target, each.author, withdraws=each.entry_id) for each in bulk.lines
    ]
    try:
        append(manifest, *lines)
    except Fault as fault:
        st.session_state[_BULK] = bulk._replace(problems=tuple(fault.problems)[:3])
    else:
        _drop()


def _drop() -> None:
    st.session_state.pop(_BULK, None)
