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
from proofspan.services.review import rules_of
from proofspan.ui.review.name import ask_author
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit.author import author
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece
from proofspan.wording import counted

#: Answers that get something at once.
MOST = 1_000
_BULK, _LAST = "review:bulk", "review:bulk-last"
#: What all answers of a list can get, besides another correctness.
_NAMES = {"agree": "Agree with Proofspan", "assign": "Assign to", "tag": "Tag"}
_CHOICES: Mapping[str, str] = _NAMES | {name: f"Verdict: {words}" for name, words in CORRECT_NAMES.items()}

#: Those that take words.
_WORDED = ("assign", "tag")


class Bulk(NamedTuple):
    """Lines that are prepared, or saved once `is_saved`; `words` say what they are, `problems` why not."""

    lines: tuple[Annotation, ...] = ()
    words: str = ""
    is_saved: bool = False
    problems: tuple[Problem, ...] = ()


def bulk_form(
    manifest: Manifest,
    rows: Callable[[], Iterable[pd.DataFrame]],
    *,
    matching: int,
    are_chosen: bool = False,
) -> None:
    """Draw the choice of what all answers of a list get; nothing is saved before it is confirmed.

    `rows` yields the answers with every column, `matching` is how many there are. `are_chosen`: they are not
    the whole list.
    """
    if refusal(manifest) is not None or not matching:
        return
    if matching > MOST:
        markup.note(f"Up to {MOST:,} answers can be reviewed at once: filter the list first.", "muted")
        return
    whole = f"all {matching:,} answers of the list" if matching > 1 else "the answer of the list"
    kind = _choice(f"For {_chosen(matching) if are_chosen else whole}", "bulk")

    def prepare() -> None:
        if (words := _words(kind, "bulk")) is not None:
            lines = tuple(lines_for(kind, words, rows(), author=author(), at=now()))
            st.session_state[_BULK] = Bulk(lines, _name(kind, words))

    st.button(f"Prepare for {matching:,}", key="bulk-prepare", disabled=not author(), on_click=prepare)


def save_form(manifest: Manifest, rows: pd.DataFrame) -> None:
    """Draw the choice of what chosen answers get, and the button that saves it, which says for how many."""
    if (refused := refusal(manifest)) is not None:
        fault_panel([refused])
        return
    if len(rows) > MOST or rows.empty:
        markup.note(f"Choose 1 to {MOST:,} answers to review them together.", "muted")
        return
    kind = _choice(f"For {_chosen(len(rows))}", "chosen")
    failed: Bulk | None = st.session_state.get(_BULK)
    ready = sum(1 for _ in lines_for(kind, "", [rows], author="", at=""))
    answers = sum(1 for _ in lines_for("tag", "", [rows], author="", at=""))
    if kind == "agree" and ready < answers:
        silent = f"{answers - ready:,} of these {answers:,}"
        markup.note(f"Proofspan has no verdict on {silent}: nothing to agree with.", "muted")

    def save() -> None:
        if (words := _words(kind, "chosen")) is not None:
            # What could not be saved keeps its time: of it no second line is written.
            name = _name(kind, words)
            at = failed.lines[0].at if failed and failed.lines and failed.words == name else now()
            lines = tuple(lines_for(kind, words, [rows], author=author(), at=at))
            _save(manifest, Bulk(lines, name))

    st.button(
        f"Save for {counted(ready, 'answer')}",
        key="chosen-save",
        type="primary",
        disabled=not author() or not ready,
        on_click=save,
    )
    fault_panel(failed.problems if failed else ())


def _chosen(count: int) -> str:
    return f"the {count:,} chosen answers" if count > 1 else "the chosen answer"


def _choice(title: str, key: str) -> str:
    """Draw the choice of what answers get, with the field for its words, and one for an unknown name."""
    kind: str = st.selectbox(
        title, list(_CHOICES), key=f"{key}-kind", format_func=lambda each: _CHOICES[each]
    )
    if kind in _WORDED:
        st.text_input("Name" if kind == "assign" else "Tag", key=f"{key}-words", max_chars=100)
    if not author():
        ask_author(f"{key}-author", "Asked once, written with each review")
    return kind


def _words(kind: str, key: str) -> str | None:
    """Return the words that were typed for a choice, "" where it takes none; None while any are missing."""
    words = " ".join(str(st.session_state.get(f"{key}-words", "")).split()) if kind in _WORDED else ""
    return words if author() and (words or kind not in _WORDED) else None


def _name(kind: str, words: str) -> str:
    return " ".join(filter(None, (_CHOICES[kind], words)))


def is_saved() -> bool:
    """Return whether the lines prepared last are saved, and can be taken back."""
    bulk: Bulk | None = st.session_state.get(_BULK)
    return bulk is not None and bulk.is_saved


def saved_last() -> str:
    """Return what changes with each save: the id of a line, "" before one and after it was taken back."""
    return str(st.session_state.get(_LAST, ""))


def bulk_line(manifest: Manifest, on_done: Callable[[], None] | None = None) -> None:
    """Draw what was prepared with its confirmation, or what was saved with the way back.

    `on_done` is called when the person presses Done, not when the save is undone.
    """

    def done() -> None:
        if on_done is not None:
            on_done()
        drop()

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
            st.button("Done", key="bulk-done", type="tertiary", on_click=done)
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
            st.button("Discard", key="bulk-discard", type="tertiary", on_click=drop)
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
            rules = rules_of(row)
            if target in seen or (kind == "agree" and not any(rules.values())):
                continue
            seen.add(target)
            answer = row["answer"]
            common: dict[str, Any] = {
                "at": at,
                "answer": answer_id(answer if isinstance(answer, str) else ""),
            }
            if kind == "assign":
                yield Annotation("assignment", target, author, assignee=words, **common)
            elif kind == "tag":
                yield Annotation("note", target, author, tags=(words,), **common)
            elif kind == "agree":
                yield Annotation("verdict", target, author, agrees=True, rules=rules, **common)
            else:
                yield Annotation("verdict", target, author, agrees=False, correct=kind, rules=rules, **common)


def _save(manifest: Manifest, bulk: Bulk) -> None:
    """Append the lines; only then are they called saved. The same lines again write nothing twice."""
    try:
        written = append(manifest, *bulk.lines)
    except Fault as fault:
        st.session_state[_BULK] = bulk._replace(problems=tuple(fault.problems)[:3])
    else:
        st.session_state[_BULK] = Bulk(written, bulk.words, is_saved=True)
        st.session_state[_LAST] = written[0].entry_id if written else ""


def _withdraw(manifest: Manifest, bulk: Bulk) -> None:
    lines = [
        Annotation("withdrawal", each.target, each.author, withdraws=each.entry_id) for each in bulk.lines
    ]
    try:
        append(manifest, *lines)
    except Fault as fault:
        st.session_state[_BULK] = bulk._replace(problems=tuple(fault.problems)[:3])
    else:
        st.session_state.pop(_LAST, None)
        drop()


def drop() -> None:
    """Forget what was prepared, or saved last: it can no longer be taken back here."""
    st.session_state.pop(_BULK, None)
