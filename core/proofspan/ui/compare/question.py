"""One question side by side: both answers with what differs, both pages, how the candidates moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.services.compare import TOP, Aligned, Part, aligned, answer_difference, have_nothing_in_common
from proofspan.services.page.target import cite_id
from proofspan.store.files.types import Neighbours
from proofspan.ui.compare.load import Side
from proofspan.ui.question import steps
from proofspan.ui.question.candidates import GOLD_WORDS, beginning_of
from proofspan.ui.question.panels import STAGE_NAMES
from proofspan.ui.status import background, documents, notices
from proofspan.ui.viewer import page_panel, text_frame
from proofspan.ui.viewer.span_cards import cards_of
from proofspan.ui.visit.view_state import ViewState, parse_question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import show_steps
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.wording import answer as answer_words
from proofspan.ui.wording import citation, question, verdict
from proofspan.ui.wording.citation import citation_line, is_of_several_documents
from proofspan.ui.wording.question import (
    NO_TRACE,
    document_name,
    place_tip,
    place_words,
    short_id,
    spoken_place,
)
from proofspan.wording import counted, page_words, with_printed

When = Literal["was", "now"]

_KINDS: dict[When, dict[str, Kind]] = {
    "was": {"same": "plain", "words": "removed", "number": "removed-number"},
    "now": {"same": "plain", "words": "added", "number": "added-number"},
}
#: The most citations, and the most differing numbers, that are named.
MOST_NAMED, MOST_NUMBERS = 12, 6
#: How the move of a gold chunk looks; whether that of another is good nobody knows.
_LOOKS: dict[str, Look] = {"up": "green", "new": "green", "down": "red", "gone": "red"}
#: Of more rows the rest scrolls inside the frame, in CSS pixels.
HEIGHT = 560


def place_of(view: ViewState) -> str:
    """Return the name of what both sides are drawn for (see `steps.place_name`)."""
    return steps.place_name(view.vs, view.run, view.q, view.p, view.s, view.cite, view.chunk)


def header(view: ViewState, beside: Neighbours, what: str, was: Side, now: Side) -> DeltaGenerator:
    """Draw the question, its place among the flipped ones, and the links to its neighbours and back.

    Return the container of the component that steps (see `steps.show_steps_ahead`).
    """
    name = short_id(parse_question_name(view.q or "")[0])
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compare-question"):
        st.page_link(
            "pages/compare.py",
            label=markup.label(f"← {view.run} compared with {view.vs}"),
            query_params=view.change(q=None, cite=None, chunk=None, page=None, flip="", at=view.at).params(),
            width="content",
        )
        st.space("stretch")
        show_steps(beside, what)
        wire = st.container(key="ahead")
    q = next((side.loaded.view.trace.q for side in (now, was) if side.loaded), "")
    title = markup.text([Piece(f"{q}  ", "h2"), Piece(name, "muted")], role="title", limit=1_000)
    markup.show(steps.header_mark(place_of(view)), title)
    return wire


def answers(was: Side, now: Side, view: ViewState) -> None:
    """Draw both answers with their labels; what only one of them says is marked.

    The citation line at the end of an answer is left out: the citations are listed below.
    """
    texts = []
    for side in (was, now):
        answer = side.loaded.view.trace.answer if side.loaded else ""
        tail = answer_words.citation_tail(answer)
        texts.append(answer[: tail[0]].rstrip() if tail else answer)
    asked = next((side.loaded.view.trace.q for side in (now, was) if side.loaded), "")
    difference, of = answer_difference(*texts, question=asked), place_of(view)
    lines = []
    if was.loaded and now.loaded:
        if difference.is_same:
            lines.append(markup.text([Piece("Both answers say the same.")], role="hint"))
        elif difference.figures:
            old, new = (", ".join(side) for side in zip(*difference.figures[:MOST_NUMBERS], strict=True))
            message = f"{was.run_id} says {old}; {now.run_id} says {new}."
            lines.append(markup.text([Piece("Numbers differ: ", "strong"), Piece(message)], role="says"))
        elif not difference.is_rough:
            message = "The wording differs; what only one of the answers says is marked."
            lines.append(markup.text([Piece(message, "muted")], role="hint"))
        if difference.is_rough and not difference.is_same:
            message = "The answers are too long to compare word by word; "
            message += "what lies between their equal ends is marked."
            lines.append(markup.text([Piece(message, "muted")], role="hint"))
    if lines:
        with st.container(key="compare-says"):
            markup.show(markup.place("says", of), *lines)
    with st.container(key="compare-answers"):
        sides: tuple[tuple[When, Side, Sequence[Part]], ...] = (
            ("was", was, difference.was),
            ("now", now, difference.now),
        )
        for when, side, parts in sides:
            with st.container(border=True, key=f"answer-{when}"):
                _answer(when, side, parts, markup.place("answer", of))
                page_panel.end_of_page(of, key=f"page-end-answer-{when}")


def _answer(when: When, side: Side, parts: Sequence[Part], mark: markup.Markup) -> None:
    if side.loaded is None:
        notices.fault_panel(side.problems)
        if not side.problems:
            markup.note(f"{side.run_id} does not hold this question.", "strong", role="line")
        return
    view = side.loaded.view
    labels = documents.PageLabels(side.opened.manifest)
    judged = verdict.row_pieces(side.row, labels)
    if not judged:
        chip, reason = question.label_chip(view)
        judged = [chip, Piece(reason, "muted")]
    markup.show(mark, markup.text([Piece(f"{side.run_id} ", "h3"), *judged], role="line", limit=600))
    pieces = [Piece(part.text, _KINDS[when][part.change]) for part in parts]
    empty = NO_TRACE if view.stored else "The answer is empty."
    words = pieces or [Piece(empty, "muted")]
    markup.show_long(words, key=f"answer:{when}:{view.trace.q_id}", limit=markup.FEW)
    several, found = is_of_several_documents(view), side.shown.found if side.shown else {}
    for item in view.citations[:MOST_NAMED]:
        on = "text" if item.citation.doc_id in side.opened.manifest.unpaged else "page"
        place = found.get(cite_id(item.citation.number))
        line = citation_line(item, place, on=on, names_document=several)
        where = with_printed(line.place, labels(item.citation.doc_id))
        cited = [Piece("cites ", "muted"), Piece(line.badge, "badge"), Piece(where)]
        markup.show(markup.text(cited, role="hint"))
    hidden = len(view.citations) - MOST_NAMED
    if hidden > 0:
        markup.note(f"and {counted(hidden, 'more citation')}", "muted")
    st.page_link(
        "pages/question.py",
        label="Open this answer on the Question page",
        query_params=side.opened.view.change(at=1).params(),
        width="content",
    )


def pages(was: Side, now: Side, view: ViewState) -> None:
    """Draw the page of each run's chosen passage, in places of a fixed height."""
    with st.container(key="compare-pages"):
        for when, side in (("was", was), ("now", now)):
            is_page = side.shown is not None and side.shown.text is None and side.shown.problem is None
            with st.container(key=f"{'page' if is_page else 'no-page'}-{when}", gap="xsmall"):
                _page(when, side, place_of(view))
                page_panel.end_of_page(place_of(view), key=f"page-end-{when}")


def _page(when: str, side: Side, of: str) -> None:
    shown, view = side.shown, side.loaded.view if side.loaded else None
    with st.container(key=f"finding-{when}", gap="xxsmall"):
        passage = [Piece("No passage names a document, so there is no page." if view else "", "muted")]
        if shown is not None:
            title = document_name(shown) or "no document"
            place = Piece(f"{title}  {place_words(shown)}", "muted", tip=place_tip(shown))
            passage = [Piece(f"{shown.target.tag} "), place]
        line = markup.text([Piece(f"{side.run_id} ", "h3"), *passage], role="hint")
        markup.show(markup.place("page", of), line)
        if shown is not None and view is not None and not shown.is_pending:
            if shown.problem is not None:
                notices.fault_panel([shown.problem])
            else:
                quote_from, answer = citation.origin(view, shown.target), view.trace.answer
                figures, finding = citation.findings(shown, answer=answer, quote_from=quote_from)
                says = (markup.text(each, role="says") for each in figures)
                markup.show(*says, markup.text(citation.with_pages(finding, shown.labels), role="hint"))
    if shown is None or view is None:
        return
    if shown.is_pending:
        message = "Opening the page and locating the passage …"
        background.placeholder(message, [shown.work], key=f"wait-{when}")
    elif shown.text is not None:
        named = f"{side.run_id}: {spoken_place(shown)}"
        text_frame.show_text(shown.text, name=named, focus=shown.target.id, key=f"text-reveal-{when}")
    elif shown.image is not None:
        origins = {target.id: citation.origin(view, target) for target in side.targets}
        cards = cards_of(shown, side.targets, answer=view.trace.answer, origins=origins)
        # Its page is turned on the Question page: here both sides stay at what they show.
        alone = replace(shown, page_count=None)
        page_panel.drawn_page(
            alone, (shown.target,), cards=cards, key=f"page-of-{when}", of=of, beside=side.run_id or ""
        )


def candidates(was: Side, now: Side, view: ViewState) -> None:
    """Draw the two lists that rank 1 is read from, aligned by chunk.

    A row per chunk by its rank now, then those that are gone, linked to its place in both.
    """
    of = place_of(view)
    with st.container(key="compare-candidates"):
        _candidates(was, now, view, of)
        page_panel.end_of_page(of, key="page-end-candidates")


def _candidates(was: Side, now: Side, view: ViewState, of: str) -> None:
    stages = [side.loaded.view.last_stage if side.loaded else None for side in (was, now)]
    rows, labels = aligned(*stages), documents.PageLabels(now.opened.manifest)
    names = " compared with ".join(
        f"{side.run_id}, {STAGE_NAMES[stage.name]}"
        for side, stage in zip((was, now), stages, strict=True)
        if stage
    )
    about = f"the top {TOP} of {names}" if names else ""
    title = markup.text([Piece("Candidates ", "h2"), Piece(about, "muted")], role="line")
    markup.show(markup.place("candidates", of), title)
    if not rows:
        markup.note("Neither trace lists a candidate.", "muted")
        return
    if have_nothing_in_common(rows):
        markup.note("No chunk is in both lists: the chunk ids may come from different builds.")
    listed = []
    for row in rows:
        text, tip = beginning_of(row.view)
        candidate = row.view.candidate
        section = f"section {candidate.section_id}" if candidate.section_id else ""
        page = page_words(candidate.page_idx) if candidate.page_idx is not None else ""
        page = with_printed(page, labels(candidate.doc_id))
        head = Cell(
            text,
            note=" · ".join(filter(None, (section, page))),
            tip=tip,
            href=view.change(chunk=row.chunk_id, cite=None, page=None).link("compare"),
            spoken=f"{text}. {_move_spoken(row)}. Show its place.",
        )
        ranks = [Cell("–" if rank is None else f"{rank:,}") for rank in (row.was_rank, row.rank)]
        look: Look = _LOOKS.get(row.move, "quiet") if row.gold else "quiet"
        cited = [run for run, each in ((view.vs, row.was), (view.run, row.now)) if each and each.cited_by]
        marks = [GOLD_WORDS[row.gold]] if row.gold else []
        marks += [f"cited in {' and '.join(map(str, cited))}"] if cited else []
        signs = {"up": f"↑{row.places:,}", "down": f"↓{row.places:,}", "same": "="}
        move = Cell(signs.get(row.move, row.move), look=look, tip=_move_spoken(row))
        marked = Cell(" · ".join(marks), look="green" if row.gold else "orange")
        listed.append(Row(head, (*ranks, move, marked)))
    columns = (
        Column(Cell(f"In {view.vs}", tip="Rank then"), "end"),
        Column(Cell(f"In {view.run}", tip="Rank now"), "end"),
        Column(Cell("Move"), "start"),
        Column(Cell("Marks", tip="What the gold question expects, and what the answers cite"), "start"),
    )
    name = f"Candidates of {view.vs} and of {view.run}, by chunk"
    show_grid(Grid(name, "Chunk", columns, tuple(listed), height=HEIGHT), key="grid-candidates")


def _move_spoken(row: Aligned) -> str:
    """Return the move as screen readers say it: `up 3, from rank 5 to 2`."""
    if row.move in ("new", "gone"):
        return f"new at rank {row.rank}" if row.move == "new" else f"gone, was at rank {row.was_rank}"
    if row.move == "same":
        return f"stays at rank {row.rank}"
    return f"{row.move} {row.places}, from rank {row.was_rank} to {row.rank}"
