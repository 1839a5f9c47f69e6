"""The shown passage as the question's gold by one key: what it replaces, why not, and the way back."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from proofspan.contracts.records.field_values import texts_of
from proofspan.contracts.records.records import GoldQuestion
from proofspan.errors import Fault, Problem
from proofspan.journal.annotations import now
from proofspan.journal.gold import GoldRecord, refusal, restore, revise
from proofspan.manifest.types import Manifest
from proofspan.services.page.new_gold import gold_change, is_same
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView
from proofspan.ui.keys import GOLD
from proofspan.ui.review.name import ask_author
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit.author import author
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.text import shortened
from proofspan.wording import Labels, page_words, printed_on

#: What this visit has done to the gold of questions, by workspace and question.
_DONE = "review:gold"
#: Characters shown of an answer and of a passage.
MAX_WORDS = 80


class Done(NamedTuple):
    """The record before and the new one; or what was asked for and not done yet, and why."""

    earlier: GoldRecord | None = None
    record: GoldRecord | None = None
    asked: GoldRecord | None = None
    problems: tuple[Problem, ...] = ()


def gold_line(manifest: Manifest, view: QuestionView, page: PageView | None, labels: Labels) -> None:
    """Draw the button that makes the shown passage the gold, or why it cannot be; then the way back."""
    place = (str(manifest.folder), view.trace.q_id)
    done = _done().get(place, Done())
    refused = refusal(manifest)
    change = gold_change(view, page) if refused is None else refused
    is_gold = not isinstance(change, Problem) and view.gold is not None and is_same(change, view.gold.raw)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review-gold"):
        st.button(
            "Make it the gold",
            key="review-make-gold",
            shortcut=GOLD,
            disabled=isinstance(change, Problem) or is_gold,
            help="This answer and the shown passage become what is right for this question, "
            "as a line at the end of the gold file",
            on_click=_make,
            args=(manifest, place, change),
        )
        with st.container(width="stretch", key="review-gold-words"):
            words = _about(change, view.gold, labels, is_gold=is_gold)
            markup.show(markup.text([Piece(words, "muted", tip=words)], role="hint"))
    if done.asked is not None:
        _unfinished(manifest, place, done)
    elif done.record is not None and view.gold is not None and _is_ours(view.gold.raw, done.record):
        _way_back(manifest, place, done, labels)


def _about(change: GoldRecord | Problem, gold: GoldQuestion | None, labels: Labels, *, is_gold: bool) -> str:
    """Return why there is no new gold, or what it would replace."""
    if isinstance(change, Problem):
        fix = f" {change.fix[:1].upper()}{change.fix[1:]}." if change.fix else ""
        return f"Not possible: {change.message}.{fix}"
    if is_gold:
        return "This answer and the shown passage are the gold."
    if gold is None:
        return "The question has no gold yet."
    return f"replaces {_words(gold.raw, labels)}"


def _words(record: GoldRecord, labels: Labels) -> str:
    """Return answer and passages of a gold record in a line."""
    answer, spans = record.get("answer"), record.get("spans")
    parts = [f"“{shortened(answer, MAX_WORDS)}”"] if isinstance(answer, str) and answer else []
    for span in [each for each in spans if isinstance(each, dict)][:2] if isinstance(spans, list) else ():
        doc_id, page_idx = str(span.get("doc_id")), span.get("page_idx")
        on = page_words(page_idx, printed_on(page_idx, labels(doc_id))) if type(page_idx) is int else "text"
        parts.append(f"{on} of {doc_id}: “{shortened(str(span.get('quote')), MAX_WORDS)}”")
    if not parts and (named := (*texts_of(record.get("sections")), *texts_of(record.get("chunks")))):
        parts = [shortened(", ".join(named), MAX_WORDS)]
    if record.get("answerable") is False:
        parts.insert(0, "a question that the documents do not answer")
    return " · ".join(parts) or "a record without an answer"


def _make(manifest: Manifest, place: tuple[str, str], change: GoldRecord | Problem) -> None:
    if isinstance(change, Problem):
        return
    _done()[place] = Done(asked=change)
    if author():
        _write(manifest, place)


def _write(manifest: Manifest, place: tuple[str, str]) -> None:
    done = _done().get(place, Done())
    if done.asked is None:
        return
    try:
        earlier, record = revise(manifest, place[1], done.asked, author=author(), at=now())
    except Fault as fault:
        _done()[place] = done._replace(problems=tuple(fault.problems))
    else:
        _done()[place] = Done(earlier, record)


def _unfinished(manifest: Manifest, place: tuple[str, str], done: Done) -> None:
    """Draw what keeps the gold from being written: no name yet, or a fault with its remedy."""

    def discard() -> None:
        _done().pop(place, None)

    fault_panel(done.problems)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="review-gold-asked"):
        words = "Asked once, written with the gold"
        ask_author("review-gold-author", words, lambda: _write(manifest, place))
        if done.problems:
            st.button(
                "Try again",
                key="review-gold-again",
                type="primary",
                on_click=_write,
                args=(manifest, place),
            )
        st.button("Discard", key="review-gold-discard", type="tertiary", on_click=discard)


def _way_back(manifest: Manifest, place: tuple[str, str], done: Done, labels: Labels) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review-gold-done"):
        replaced = _words(done.earlier, labels) if done.earlier is not None else "nothing"
        pieces = [Piece("✓ Saved", "pass"), Piece(" as gold; it replaced "), Piece(replaced, "muted")]
        markup.show(markup.text(pieces, role="hint"), width="content")
        st.button(
            "Undo",
            key="review-gold-undo",
            type="tertiary",
            help="Adds a line with the gold that was there before",
            on_click=_take_back,
            args=(manifest, place, done),
        )
    fault_panel(done.problems)


def _take_back(manifest: Manifest, place: tuple[str, str], done: Done) -> None:
    try:
        restore(manifest, place[1], done.earlier, author=author(), at=now())
    except Fault as fault:
        _done()[place] = done._replace(problems=tuple(fault.problems))
    else:
        _done().pop(place, None)


def _is_ours(raw: GoldRecord, record: GoldRecord) -> bool:
    """Return whether the gold that counts is what this visit has written, and nobody changed it since."""
    return raw.get("revised") == record.get("revised")


def _done() -> dict[tuple[str, str], Done]:
    done: dict[tuple[str, str], Done] = st.session_state.setdefault(_DONE, {})
    return done
