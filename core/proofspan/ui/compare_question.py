"""One question side by side: both answers with what differs, both pages, how the candidates moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from proofspan.services.compared_answers import AnswerDifference, Part, answer_difference
from proofspan.services.compared_candidates import TOP, aligned, have_nothing_in_common
from proofspan.services.questions import QuestionView
from proofspan.ui import answer_words, finding_words, notices, page_panel, safe, textframe, waiting, why_words
from proofspan.ui.citation_words import citation_line, is_of_several_documents
from proofspan.ui.compare_candidates import candidates_grid
from proofspan.ui.compare_pair import Side, Step
from proofspan.ui.grid import show_grid
from proofspan.ui.question_panels import STAGE_NAMES
from proofspan.ui.question_words import NO_TRACE, place_words, short_id
from proofspan.ui.safe import Kind, Piece
from proofspan.ui.span_cards import cards_of, scores_of
from proofspan.ui.state import ViewState, parse_question_name
from proofspan.ui.steps import Neighbour, show_steps
from proofspan.ui.words import counted

When = Literal["was", "now"]

_KINDS: dict[When, dict[str, Kind]] = {
    "was": {"same": "plain", "words": "removed", "number": "removed-number"},
    "now": {"same": "plain", "words": "added", "number": "added-number"},
}
#: So many citations, and so many numbers that differ, are named.
MOST_NAMED, MOST_NUMBERS = 12, 6


def header(view: ViewState, place: Step, q: str) -> None:
    """Which question, where it stands among the flipped ones, the way to its neighbours and back."""
    name = short_id(parse_question_name(view.q or "")[0])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare-question"):
        st.page_link(
            "pages/compare.py",
            label=safe.label(f"← {view.run} against {view.vs}"),
            query_params=view.change(q=None, cite=None, chunk=None, page=None, flip="", at=view.at).params(),
            width="content",
        )
        st.space("stretch")
        show_steps(
            place.position,
            previous=Neighbour(place.previous) if place.previous else None,
            following=Neighbour(place.following) if place.following else None,
        )
    safe.show(safe.text([Piece(f"{q}  "), Piece(name, "muted")], role="title", limit=1_000))


def answers(was: Side, now: Side) -> None:
    """Both answers with their labels; what only one of them says is marked."""
    difference = answer_difference(*(_without_tail(side.answer) for side in (was, now)))
    if was.loaded and now.loaded:
        _difference(difference, was, now)
    with st.container(key="compare-answers"):
        _answer("was", was, difference.was)
        _answer("now", now, difference.now)


def _without_tail(answer: str) -> str:
    """What is said, without the citation line at its end: the citations are listed below."""
    tail = answer_words.citation_tail(answer)
    return answer[: tail[0]].rstrip() if tail else answer


def _difference(difference: AnswerDifference, was: Side, now: Side) -> None:
    """What differs in a line: the numbers first."""
    if difference.is_same:
        safe.show(safe.text([Piece("Both answers say the same.")], role="hint"))
        return
    old, new = (", ".join(found[:MOST_NUMBERS]) for found in difference.numbers)
    if old and new:
        told = f"{was.run_id} says {old}; {now.run_id} says {new}."
        safe.show(safe.text([Piece("Numbers differ: ", "strong"), Piece(told)], role="says"))
    if difference.is_rough:
        told = (
            "The answers are too long to compare word by word; what lies between their equal ends is marked."
        )
        safe.show(safe.text([Piece(told, "muted")], role="hint"))


def _answer(when: When, side: Side, parts: Sequence[Part]) -> None:
    with st.container(border=True, key=f"answer-{when}"):
        if side.loaded is None:
            _missing(side)
            return
        view = side.loaded.view
        chip, reason = why_words.verdict(view)
        safe.show(safe.text([Piece(f"{side.run_id} ", "strong"), chip, Piece(reason, "muted")], role="line"))
        pieces = [Piece(part.text, _KINDS[when][part.change]) for part in parts]
        empty = NO_TRACE if view.stored else "The answer is empty."
        safe.show_long(pieces or [Piece(empty, "muted")], key=f"answer:{when}:{view.trace.q_id}")
        for line in _cited(side, view):
            safe.show(safe.text(line, role="hint"))
        st.page_link(
            "pages/question.py",
            label="Open this answer on the Question page",
            query_params=side.opened.view.change(at=1).params(),
            width="content",
        )


def _missing(side: Side) -> None:
    if side.problems:
        notices.fault_panel(side.problems)
    else:
        told = f"{side.run_id} does not hold this question."
        safe.show(safe.text([Piece(told, "strong")], role="line"))


def _cited(side: Side, view: QuestionView) -> list[list[Piece]]:
    """A line a citation: its number, what became of it on its page, its place."""
    several, found = is_of_several_documents(view), side.shown.found if side.shown else {}
    lines = [
        citation_line(item, found.get(f"cite:{item.citation.number}"), names_document=several)
        for item in view.citations[:MOST_NAMED]
    ]
    told = [[Piece("cites ", "muted"), Piece(line.badge, "badge"), Piece(line.place)] for line in lines]
    hidden = len(view.citations) - MOST_NAMED
    return [*told, [Piece(f"and {counted(hidden, 'more citation')}", "muted")]] if hidden > 0 else told


def pages(was: Side, now: Side) -> None:
    """The page of each run's chosen passage, in places of a fixed height."""
    with st.container(key="compare-pages"):
        for when, side in (("was", was), ("now", now)):
            is_page = side.shown is not None and side.shown.text is None and side.shown.problem is None
            with st.container(key=f"{'page' if is_page else 'no-page'}-{when}", gap="xsmall"):
                _page(when, side)


def _page(when: str, side: Side) -> None:
    with st.container(key=f"told-{when}", gap="xxsmall"):
        safe.show(safe.text([Piece(f"{side.run_id} ", "strong"), *_passage(side)], role="hint"))
        _told(side)
    shown, view = side.shown, side.loaded.view if side.loaded else None
    if shown is None or view is None:
        return
    if shown.is_pending:
        waiting.placeholder(
            "Opening the page and looking for the passage …", [shown.work], key=f"wait-{when}"
        )
    elif shown.text is not None:
        named = f"{side.run_id}: {shown.target.doc_id}, {place_words(shown)}"
        textframe.show_text(shown.text, name=named, focus=shown.target.id, key=f"text-reveal-{when}")
    elif shown.image is not None:
        cards = cards_of(
            shown,
            side.targets,
            answer=view.trace.answer,
            origins={target.id: finding_words.origin(view, target) for target in side.targets},
            scores=scores_of(view),
        )
        # Its page is turned on the Question page: here both sides stay at what they show.
        page_panel.drawn_page(
            replace(shown, page_count=None), (shown.target,), cards=cards, key=f"page-of-{when}"
        )


def _passage(side: Side) -> list[Piece]:
    """Which passage is shown, and where it lies."""
    shown = side.shown
    if shown is None:
        return [Piece("No passage names a document, so there is no page." if side.loaded else "", "muted")]
    document = shown.document
    title = (document.title or document.doc_id) if document else shown.target.doc_id or "no document"
    return [Piece(f"{shown.target.tag} "), Piece(f"{title}  {place_words(shown)}", "muted")]


def _told(side: Side) -> None:
    """What the locator says of the passage; else why there is no page."""
    shown, view = side.shown, side.loaded.view if side.loaded else None
    if shown is None or view is None or shown.is_pending:
        return
    if shown.problem is not None:
        notices.fault_panel([shown.problem])
        return
    quote_from, answer = finding_words.origin(view, shown.target), view.trace.answer
    figures = finding_words.figure_pieces(shown, answer=answer, quote_from=quote_from)
    finding = finding_words.finding_pieces(shown, answer=answer, quote_from=quote_from)
    safe.show(*(safe.text(each, role="says") for each in figures), safe.text(finding, role="hint"))


def candidates(was: Side, now: Side, view: ViewState) -> None:
    """Both lists that rank 1 is read from, aligned by chunk."""
    stages = [side.loaded.view.last_stage if side.loaded else None for side in (was, now)]
    rows = aligned(*stages)
    names = " against ".join(
        f"{side.run_id}, {STAGE_NAMES[stage.name]}"
        for side, stage in zip((was, now), stages, strict=True)
        if stage
    )
    head = [Piece("Candidates ", "strong"), Piece(f"the top {TOP} of {names}" if names else "", "muted")]
    safe.show(safe.text(head, role="line"))
    if not rows:
        safe.show(safe.text([Piece("Neither trace lists a candidate.", "muted")], role="hint"))
        return
    if have_nothing_in_common(rows):
        told = "No chunk is in both lists: the chunk ids may come from different builds."
        safe.show(safe.text([Piece(told)], role="hint"))
    show_grid(candidates_grid(rows, view), key="grid-candidates")
