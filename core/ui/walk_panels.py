"""The parts of the Walkthrough: one bundle at a time, large. Each draws what it is given and fetches nothing.

Every bundle has the same elements under the same keys, whatever it holds, so that nothing jumps from one to
the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import Problem
from core.evidence.bundles import Bundle
from core.services.playlist import Playlist
from core.services.spans import PageView
from core.services.walking import Scene
from core.ui import answer_words, finding_words, page_panel, question_words, safe, textframe
from core.ui.citation_words import spoken_names
from core.ui.evidence_panel import LEVELS
from core.ui.marked_text import show_marked
from core.ui.safe import Piece
from core.ui.span_cards import cards_of
from core.ui.state import ViewState, change_view, read_view, write_view
from core.ui.walk_bar import Bar, Wanted, show_bar
from core.ui.walk_exhibits import show_exhibits

#: Characters of a level's reason that fit on the top line; the rest stands in its tip.
REASON_CHARS = 150
#: Characters of a question that is shown whole.
MAX_QUESTION = 1_500


def stage() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Where top line, question, answer side and page side go (see walk.css)."""
    with st.container(key="walk", gap=None):
        top, title = st.container(key="walk-top", horizontal=True), st.container(key="walk-title")
        sides = st.container(key="walk-sides")
        return top, title, sides.container(key="walk-left"), sides.container(key="walk-right")


def top_line(position: str, bundle: Bundle | None, about: str) -> None:
    """Where in the list, how much of the evidence can be shown and why, and what this is all about."""
    left = [Piece(f"{position}  ", "muted")]
    if bundle is not None:
        reason = bundle.level_reason
        shown = reason if len(reason) <= REASON_CHARS else f"{reason[:REASON_CHARS].rstrip()}…"
        kind: safe.Kind = "ok" if bundle.level == "full" else "badge"
        left += [Piece(LEVELS[bundle.level], kind), Piece(f" {shown}", "muted", tip=reason)]
    safe.show(safe.row(left, [Piece(about, "muted")]))


def title(question: str) -> None:
    """The question; a very long one scrolls in its place."""
    safe.show(safe.text([Piece(question)], role="title", limit=MAX_QUESTION))


def answer(scene: Scene, *, on_choose: Callable[[int], None]) -> None:
    """The answer with its citation marks; those that stand nowhere in it come behind it."""
    view = scene.slide.view
    if view.stored is not None:
        pieces = [Piece(question_words.NO_TRACE, "muted")]
    elif view.trace.answer.strip():
        pieces = answer_words.marked_answer(view, chosen=None)
    else:
        pieces = [Piece("The answer is empty.", "muted")]
    on = "text" if scene.page is not None and scene.page.text is not None else "page"
    names = spoken_names(view, scene.slide.known, on=on)
    show_marked(
        [*pieces, *_elsewhere(pieces, list(names))],
        numbers=names,
        chosen=chosen_number(scene),
        key="walk-answer-text",
        on_choose=on_choose,
        size="stage",
    )


def _elsewhere(pieces: Sequence[Piece], numbers: Sequence[int]) -> list[Piece]:
    """The citations that have no mark in the answer."""
    marked = {piece.text for piece in pieces if piece.kind in ("number", "number-chosen")}
    missing = [number for number in numbers if str(number) not in marked]
    if not missing:
        return []
    return [Piece("\nAlso cited: ", "aside"), *(Piece(str(number), "number") for number in missing)]


def chosen_number(scene: Scene) -> int | None:
    """The citation whose page is shown, None where that is a retrieved passage, or nothing."""
    kind, _, name = (scene.page.target.id if scene.page else "").partition(":")
    return int(name) if kind == "cite" else None


def numbers(scene: Scene) -> tuple[int, ...]:
    """The citations that can be chosen, in their order."""
    return tuple(each.number for each in scene.slide.bundle.citations if each.number is not None)


def exhibits(scene: Scene, notes: Sequence[str], *, on_more: Callable[[], None]) -> None:
    """What belongs to the place, below what has to be said of the bundle."""
    told = [*notes]
    if scene.slide.told:
        told.append(f"Built just now, because {scene.slide.told}.")
    show_exhibits(
        scene, told=" ".join(told), on_page=lambda page_idx: change_view(page=page_idx), on_more=on_more
    )


def page(scene: Scene) -> None:
    """The page at the chosen passage; where there is none, the reason."""
    shown = scene.page
    with st.container(key="walk-page"):
        if shown is None:
            no_page(Problem("no_place", "There is no page to turn to", "", scene.slide.bundle.level_reason))
        elif shown.problem is not None:
            no_page(shown.problem)
        elif shown.text is not None:
            textframe.show_text(shown.text, name=_named(shown), focus=shown.target.id)
        elif shown.image is not None:
            answer = scene.slide.view.trace.answer
            targets = scene.slide.targets
            cards = cards_of(shown, targets, answer=answer)
            page_panel.drawn_page(shown, targets, cards=cards, key="walk-viewer", height="stage")


def no_page(problem: Problem) -> None:
    """A calm place where the page would be, with the reason and what mends it."""
    with st.container(key="walk-no-page"):
        safe.show(
            safe.text(safe.coded(problem.message, "strong"), role="line"),
            safe.text(safe.coded(problem.remedy, "muted"), role="hint"),
        )


def finding(scene: Scene) -> str:
    """What is wrong with the chosen citation, in one sentence; "" where nothing is."""
    shown = scene.page
    if shown is None or shown.problem is not None or shown.chosen is None:
        return ""
    answer = scene.slide.view.trace.answer
    told = finding_words.figure_pieces(shown, answer=answer, quote_from=None)
    return " ".join("".join(piece.text for piece in pieces) for pieces in told)


def bar(
    scene: Scene | None,
    state: ViewState,
    playlist: Playlist,
    position: int,
    *,
    on_act: Callable[[Wanted], None],
) -> None:
    """The line below the page."""
    shown = scene.page if scene else None
    place = _place(shown) if shown else ""
    total = len(playlist)
    said = f"{position + 1:,} of {total:,}: {scene.slide.bundle.q}" if scene and position >= 0 else ""
    cites = numbers(scene) if scene else ()
    cite = chosen_number(scene) if scene else None
    show_bar(Bar(position, total, cites, cite, state.present, place, said[:400]), on_act=on_act)


def _place(shown: PageView) -> str:
    """`Owner's manual · PDF page 42 · printed 41 · page_idx 41`."""
    document = shown.document
    named = (document.title or document.doc_id) if document else (shown.target.doc_id or "")
    if shown.text is not None or shown.page_idx is None:
        return " · ".join(filter(None, (named, question_words.place_words(shown))))
    printed = f"printed {shown.printed}" if shown.printed else ""
    where = (f"PDF page {shown.page_idx + 1:,}", printed, f"page_idx {shown.page_idx:,}")
    return " · ".join(filter(None, (named, *where)))


def _named(shown: PageView) -> str:
    return f"{shown.target.doc_id}, {question_words.place_words(shown)}"


def nothing(state: ViewState, *, has_ids: bool) -> None:
    """A playlist without a single question, and the ways out of it."""
    with st.container(border=True, key="walk-empty"):
        if has_ids:
            said = "None of the chosen questions is in this run."
        elif state.is_filtered or state.level:
            said = "No question matches this playlist's filter."
        else:
            said = "This run holds no question yet."
        safe.show(safe.text([Piece(said, "strong")], role="line"))
        if has_ids or state.is_filtered or state.level:
            st.button("Go through the whole run", key="walk-whole", on_click=_whole)
        st.page_link("pages/triage.py", label="Back to Triage", query_params=state.as_list().params())


def _whole() -> None:
    """The whole run from its first question on."""
    write_view(read_view().without_filter().change(q=None, p=0, s=0, cite=None, chunk=None, page=None))
