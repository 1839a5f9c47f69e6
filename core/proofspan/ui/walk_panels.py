"""The parts of the Walkthrough: one bundle at a time, large. Each draws what it is given and fetches nothing.

Every bundle has the same elements under the same keys, whatever it holds, so that nothing jumps from one to
the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.errors import Problem
from proofspan.evidence.bundles import BundleAttachment
from proofspan.services.places import Percent
from proofspan.services.playlist import Playlist
from proofspan.services.questions import QuestionView
from proofspan.services.regions import region_of
from proofspan.services.spans import PageView
from proofspan.services.walking import Scene
from proofspan.ui import answer_words, page_panel, question_words, safe, textframe, waiting, walk_load
from proofspan.ui.citation_words import spoken_names
from proofspan.ui.evidence_panel import LEVELS, level_name
from proofspan.ui.marked_text import show_marked
from proofspan.ui.safe import Piece
from proofspan.ui.span_cards import cards_of
from proofspan.ui.state import ViewState, change_view, read_view, write_view
from proofspan.ui.walk_bar import Bar, Wanted, show_bar
from proofspan.ui.walk_exhibits import as_attachment, show_exhibits

#: Characters of a level's reason that fit on the top line; the rest stands in its tip.
REASON_CHARS = 150
#: Characters of a question that is shown whole.
MAX_QUESTION = 1_500


@dataclass(frozen=True, slots=True)
class Stage:
    """The places of a bundle's parts, in the order in which they stand in a narrow window."""

    top: DeltaGenerator
    title: DeltaGenerator
    answer: DeltaGenerator
    page: DeltaGenerator
    bar: DeltaGenerator
    exhibits: DeltaGenerator


def stage() -> Stage:
    """Where everything goes (see walk.css)."""
    with st.container(key="walk", gap=None):
        top, title = st.container(key="walk-top", horizontal=True), st.container(key="walk-title")
        sides = st.container(key="walk-sides")
    answer, right = sides.container(key="walk-answer"), sides.container(key="walk-right")
    page, bar = right.container(key="walk-page"), right.container(key="walk-below")
    return Stage(top, title, answer, page, bar, sides.container(key="walk-exhibits-frame"))


def top_line(position: int, total: int, scene: Scene | None, *, about: str) -> None:
    """Where in the list, how much of the evidence can be shown and why, and what this is all about."""
    place = f"{position + 1:,} of {total:,}" if position >= 0 else f"not among the {total:,}"
    left = [Piece(f"{place}  ", "muted")]
    if scene is not None:
        bundle = scene.slide.bundle
        reason = bundle.level_reason
        shown = reason if len(reason) <= REASON_CHARS else f"{reason[:REASON_CHARS].rstrip()}…"
        name = level_name(bundle)
        kind: safe.Kind = "ok" if name == LEVELS["full"] else "badge"
        left += [Piece(name, kind), Piece(f" {shown}", "muted", tip=reason)]
    safe.show(safe.row(left, [Piece(about, "muted")]))


def title(question: str) -> None:
    """The question; a very long one scrolls in its place."""
    safe.show(safe.text([Piece(question)], role="title", limit=MAX_QUESTION))


def answer(view: QuestionView | None, scene: Scene | None, *, on_choose: Callable[[int], None]) -> None:
    """The answer with its citation marks; those that stand nowhere in it come behind it.

    Without a `scene`, while it is made, nothing is chosen yet; without a `view` the record is lost.
    """
    if view is None:
        pieces = [Piece("The answer can't be read.", "muted")]
    elif view.stored is not None:
        pieces = [Piece(question_words.NO_TRACE, "muted")]
    elif view.trace.answer.strip():
        pieces = _said(answer_words.marked_answer(view, chosen=None))
    else:
        pieces = [Piece("The answer is empty.", "muted")]
    on = "text" if scene and scene.page and scene.page.text is not None else "page"
    names = spoken_names(view, scene.slide.known if scene else {}, on=on) if view else {}
    show_marked(
        [*pieces, *_elsewhere(pieces, list(names))],
        numbers=names,
        chosen=chosen_number(scene) if scene else None,
        key="walk-answer-text",
        on_choose=on_choose,
        size="stage",
    )


def _said(pieces: Sequence[Piece]) -> list[Piece]:
    """The answer without the line of ids at its end, which is meant for machines."""
    end = next((place for place, piece in enumerate(pieces) if piece.kind == "aside"), len(pieces))
    kept = list(pieces[:end])
    if end < len(pieces) and kept:
        kept[-1] = replace(kept[-1], text=kept[-1].text.rstrip())
    return kept


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


def exhibits(scene: Scene | None, notes: Sequence[str], *, on_more: Callable[[], None]) -> None:
    """What belongs to the place, below what has to be said of the bundle."""
    told = [*notes]
    if scene is not None and scene.slide.told:
        told.append(f"Built just now, because {scene.slide.told}.")
    show_exhibits(scene, told=" ".join(told), on_see=_see, on_more=on_more)


def _see(item: BundleAttachment) -> None:
    """The URL says which page, and what is outlined there."""
    change_view(page=item.page_idx, see=item.attachment_id)


def page(scene: Scene, *, see: str | None) -> None:
    """The page at the chosen passage, with the attachment `see` outlined; where there is none, the reason."""
    shown = scene.page
    if shown is None:
        no_page(Problem("no_place", "There is no page to turn to.", "", scene.slide.bundle.level_reason))
    elif shown.problem is not None:
        no_page(shown.problem, path=shown.path)
    elif shown.text is not None:
        textframe.show_text(shown.text, name=_named(shown), focus=shown.target.id)
    elif shown.image is not None:
        targets = scene.slide.targets
        page_panel.drawn_page(
            shown,
            targets,
            cards=cards_of(shown, targets, answer=scene.slide.view.trace.answer),
            key="walk-viewer",
            height="stage",
            region=_region(scene, shown, see),
        )


def _region(scene: Scene, shown: PageView, see: str | None) -> Percent | None:
    """Where an attachment of the bundle lies on the shown page."""
    items = (item for item in scene.slide.bundle.attachments if item.attachment_id == see)
    return next((region_of(as_attachment(item), shown) for item in items), None)


def no_page(problem: Problem, *, path: Path | None = None) -> None:
    """A calm place where the page would be, with the reason and what mends it; `path` is the document's."""
    with st.container(key="walk-no-page"):
        safe.show(
            safe.text(safe.coded(problem.message, "strong"), role="line"),
            safe.text(safe.coded(problem.remedy, "muted"), role="hint"),
        )
        if waiting.is_worth_another_try(problem):
            st.button("Try again", key="walk-again", on_click=walk_load.try_again, args=(path,))


def page_to_come(work: Hashable) -> None:
    """The place of a page that is still being made: nothing moves, and the list goes on."""
    with st.container(key="walk-no-page"):
        waiting.hint("Opening the page …", [work])


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
    document, place = _place(shown) if shown else ("", "")
    total = len(playlist)
    said = f"{position + 1:,} of {total:,}: {scene.slide.bundle.q}" if scene and position >= 0 else ""
    cites = numbers(scene) if scene else ()
    cite = chosen_number(scene) if scene else None
    show_bar(Bar(position, total, cites, cite, state.present, document, place, said[:400]), on_act=on_act)


def _place(shown: PageView) -> tuple[str, str]:
    """`Owner's manual` and `PDF page 42 · printed 41 · page_idx 41`."""
    document = shown.document
    named = (document.title or document.doc_id) if document else (shown.target.doc_id or "")
    if shown.text is not None or shown.page_idx is None:
        return named, question_words.place_words(shown)
    printed = f"printed {shown.printed}" if shown.printed else ""
    where = (f"PDF page {shown.page_idx + 1:,}", printed, f"page_idx {shown.page_idx:,}")
    return named, " · ".join(filter(None, where))


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
