"""The panels of the Walkthrough: one bundle at a time. Each draws what it receives, fetching nothing.

Every bundle has the same elements under the same keys, whatever it holds, so that nothing jumps between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.contracts.records.records import LABELS
from proofspan.display_names import LABEL_NAMES
from proofspan.errors import Problem
from proofspan.evidence.bundles import Bundle, Level
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import Playlist, Scene
from proofspan.services.page.view import region_of
from proofspan.services.question.view import QuestionView
from proofspan.ui.question.attachments import LEVELS, Group, level_name, show_groups
from proofspan.ui.status import background
from proofspan.ui.viewer import page_panel, text_frame
from proofspan.ui.viewer.span_cards import cards_of
from proofspan.ui.visit.view_state import MAX_REPEATS, ViewState, question_name, read_view, write_view
from proofspan.ui.walkthrough import load
from proofspan.ui.walkthrough.bar import Bar, show_bar
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.annotated_text import show_marked
from proofspan.ui.widgets.controls import begin, feed
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording import answer as answer_words
from proofspan.ui.wording import question as question_words
from proofspan.ui.wording import safety
from proofspan.ui.wording.citation import spoken_names
from proofspan.wording import counted

#: Characters of a level's reason that fit on the top line; its tip has the rest.
REASON_CHARS = 150


def stage() -> tuple[DeltaGenerator, ...]:
    """Create the containers of top line, title, answer, page, bar and exhibits (see walkthrough.css).

    This is their order in a narrow window.
    """
    with st.container(key="walk", gap=None):
        top, title = st.container(key="walk-top", horizontal=True), st.container(key="walk-title")
        sides = st.container(key="walk-sides")
    answer, right = sides.container(key="walk-answer"), sides.container(key="walk-right")
    page, bar = right.container(key="walk-page"), right.container(key="walk-below")
    return top, title, answer, page, bar, sides.container(key="walk-exhibits-frame")


def top_line(position: int, total: int, scene: Scene | None, *, about: str) -> None:
    """Show the position in the list, the level of the evidence with its reason, and the run."""
    place = f"{position + 1:,} of {total:,}" if position >= 0 else f"not among the {total:,}"
    left = [Piece(f"{place}  ", "muted")]
    if scene is not None:
        bundle = scene.slide.bundle
        reason = bundle.level_reason
        shown = reason if len(reason) <= REASON_CHARS else f"{reason[:REASON_CHARS].rstrip()}…"
        name = level_name(bundle)
        kind: markup.Kind = "ok" if name == LEVELS["full"] and _is_quoted(bundle) else "badge"
        left += [Piece(name, kind), Piece(f" {shown}", "muted", tip=reason)]
    markup.show(markup.row(left, [Piece(about, "muted")]))


def _is_quoted(bundle: Bundle) -> bool:
    """Return whether the page has the very words of the citation; those of its chunk prove no answer."""
    cited = bundle.citation
    found = cited.found if cited is not None and cited.quote_from == "payload" else None
    return found is not None and not found.numbers_differ


def answer(view: QuestionView | None, scene: Scene | None, *, on_choose: Callable[[int], None]) -> None:
    """Show the answer with its citation marks, and behind it the citations that have none.

    While the `scene` is not ready nothing is chosen; without a `view` the record is lost.
    """
    if view is None:
        pieces = [Piece("The answer can't be read.", "muted")]
    elif view.stored is not None:
        pieces = [Piece(question_words.NO_TRACE, "muted")]
    elif view.trace.answer.strip():
        # Without the line of ids at the answer's end, which is meant for machines.
        marked = answer_words.marked_answer(view, chosen=None)
        pieces = list(takewhile(lambda piece: piece.kind != "aside", marked))
        if pieces and len(pieces) < len(marked):
            pieces[-1] = replace(pieces[-1], text=pieces[-1].text.rstrip())
    else:
        pieces = [Piece("The answer is empty.", "muted")]
    on = "text" if scene and scene.page and scene.page.text is not None else "page"
    names = spoken_names(view, scene.slide.known if scene else {}, on=on) if view else {}
    there = {piece.text for piece in pieces if piece.kind in ("number", "number-chosen")}
    missing = [Piece(str(number), "number") for number in names if str(number) not in there]
    show_marked(
        [*pieces, *([Piece("\nAlso cited: ", "aside"), *missing] if missing else [])],
        numbers=names,
        chosen=chosen_number(scene) if scene else None,
        key="walk-answer-text",
        on_choose=on_choose,
        size="stage",
    )


def chosen_number(scene: Scene) -> int | None:
    """Return the citation whose page is shown, None for a retrieved passage or nothing."""
    target = scene.page.target if scene.page else None
    return target.number if target is not None and target.kind == "cited" else None


def exhibits(scene: Scene | None, notes: Sequence[str], *, on_more: Callable[[], None]) -> None:
    """Show the bundle's attachments below the `notes`."""
    shown, hidden = (scene.exhibits, scene.hidden) if scene is not None else ((), 0)
    documents = scene.slide.bundle.documents if scene is not None else ()
    if scene is not None and scene.slide.outdated:
        notes = [*notes, f"Built just now, because {scene.slide.outdated}."]
    here = [(item.attachment, drawing) for item, drawing in shown if not item.is_beside]
    beside = [(item.attachment, drawing) for item, drawing in shown if item.is_beside]
    groups = [Group("here", "", here)] if here else []
    groups += [Group("beside", safety.BESIDE, beside)] if beside else []
    if hidden:
        groups[-1] = replace(groups[-1], more=f"Show more ({hidden:,} are not shown)")
    show_groups(
        groups,
        key="walk-exhibits",
        size="stage",
        unpaged=[document.doc_id for document in documents if not document.paged],
        note=" ".join(notes),
        on_more=lambda _: on_more(),
    )


def page(scene: Scene, *, see: str | None) -> None:
    """Show the page of the chosen passage with the attachment `see` outlined, or why it can't be shown."""
    shown = scene.page
    if shown is None:
        no_page(Problem("no_place", "There is no page to show.", "", scene.slide.bundle.level_reason))
    elif shown.problem is not None:
        no_page(shown.problem, path=shown.path)
    elif shown.text is not None:
        name = f"{shown.target.doc_id}, {question_words.place_words(shown)}"
        text_frame.show_text(shown.text, name=name, focus=shown.target.id)
    elif shown.image is not None:
        targets = scene.slide.targets
        items = (item.attachment for item in scene.slide.bundle.attachments)
        regions = (region_of(item, shown) for item in items if item.attachment_id == see)
        page_panel.drawn_page(
            shown,
            targets,
            cards=cards_of(shown, targets, answer=scene.slide.view.trace.answer),
            key="walk-viewer",
            height="stage",
            region=next(regions, None),
        )


def no_page(problem: Problem, *, path: Path | None = None) -> None:
    """Show why there is no page, and how to fix it; `path` is the document's."""
    with st.container(key="walk-no-page"):
        markup.show(
            markup.text(markup.coded(problem.message, "strong"), role="line"),
            markup.text(markup.coded(problem.fix, "muted"), role="hint"),
        )
        if background.is_worth_another_try(problem):
            st.button("Try again", key="walk-again", on_click=load.try_again, args=(path,))


def bar(scene: Scene | None, state: ViewState, playlist: Playlist, position: int) -> None:
    """Show the bar below the page: it opens another bundle or citation, and presents the page or not."""
    shown = scene.page if scene else None
    document, place = "", ""
    if shown is not None:
        document = shown.target.doc_id or ""
        if shown.document is not None:
            document = shown.document.title or shown.document.doc_id
        place = question_words.place_words(shown)
        if shown.text is None and shown.page_idx is not None:
            printed = f"printed {shown.printed}" if shown.printed else ""
            parts = (f"PDF page {shown.page_idx + 1:,}", printed, f"page_idx {shown.page_idx:,}")
            place = " · ".join(filter(None, parts))
    total = len(playlist)
    spoken = f"{position + 1:,} of {total:,}: {scene.slide.bundle.q}" if scene and position >= 0 else ""
    citations = scene.slide.bundle.citations if scene else ()
    cites = tuple(each.number for each in citations if each.number is not None)
    chosen = chosen_number(scene) if scene else None

    def act(to: int, cite: int | None, present: bool) -> None:
        view = read_view().change(present=present)
        if to != position and to >= 0:
            view = load.at(view, playlist.at(to).key)
        elif cite != chosen and cite in cites:
            view = view.change(cite=cite, chunk=None, page=None)
        write_view(view)

    show_bar(Bar(position, total, cites, chosen, state.present, document, place, spoken[:400]), on_act=act)


def nothing(state: ViewState, *, has_ids: bool) -> None:
    """Show that the playlist has no question, and the ways out."""
    with st.container(border=True, key="walk-empty"):
        if has_ids:
            message = "None of the chosen questions is in this run."
        elif state.is_filtered or state.level:
            message = "No question matches this playlist's filter."
        else:
            message = "This run holds no question yet."
        markup.note(message, "strong", role="line")
        if has_ids or state.is_filtered or state.level:
            st.button("Go through the whole run", key="walk-whole", on_click=_back_to_all)
        st.page_link("pages/triage.py", label="Back to Triage", query_params=state.as_list().params())


# The Playlist menu: questions chosen by filter or by hand.

#: Questions offered by the picker; a longer list has to be filtered first.
OFFERED = 500
FULL: tuple[Level, ...] = ("full",)


def playlist_menu(
    view: ViewState, playlist: Playlist, stored: StoredBundles, *, whole: Callable[[], Playlist]
) -> None:
    """Show the menu; its content is made only while it is open. `whole` gives the run's whole list."""
    menu = st.popover("Playlist", key="playlist", on_change="rerun", type="tertiary")
    if not menu.open:
        return
    with menu:
        markup.note(sentence(view, playlist), role="line")
        st.pills(
            "Labels",
            LABELS,
            selection_mode="multi",
            format_func=lambda label: LABEL_NAMES[label],
            default=begin("playlist-label", list(view.filter.label)),
            key="playlist-label",
            label_visibility="collapsed",
            on_change=_change_from,
            args=("playlist-label", "label"),
        )
        st.text_input(
            "Search questions and answers",
            begin("playlist-text", view.filter.text) or "",
            key="playlist-text",
            icon=":material/search:",
            placeholder="Search …",
            label_visibility="collapsed",
            on_change=_change_from,
            args=("playlist-text", "text"),
        )
        feed("playlist-full", view.level == FULL)
        st.toggle(
            "Only full evidence",
            key="playlist-full",
            disabled=not stored.levels and not view.level,
            help="By the run's stored bundles; without them, build some: proofspan bundle build WORKSPACE",
            on_change=_change_from,
            args=("playlist-full", "level"),
        )
        # Questions by name, in the order in which they are chosen.
        listed = whole().frame.head(OFFERED)
        titles: dict[str, str] = {}
        for q_id, repeat, q in zip(listed["q_id"], listed["repeat"], listed["q"], strict=True):
            named = question_name(q_id, repeat)
            titles[named] = f"{named[:24]} · {' '.join(q.split())[:90]}"
        chosen = [name for name in view.ids if name in titles]
        st.multiselect(
            "Questions",
            list(titles),
            begin("playlist-ids", chosen),
            key="playlist-ids",
            format_func=lambda name: markup.clean(titles[name]),
            placeholder="Or pick questions …",
            label_visibility="collapsed",
            max_selections=MAX_REPEATS,
            select_all=False,
            on_change=_change_from,
            args=("playlist-ids", "ids"),
        )
        if view.ids or view.level or view.is_filtered:
            st.button("Back to the whole list", key="playlist-whole", on_click=_back_to_all)
        show_copying("", name="", key="playlist-link")


def sentence(view: ViewState, playlist: Playlist) -> str:
    """Return the content of the list: `12 questions, with full evidence`."""
    count = counted(len(playlist), "question")
    if view.ids:
        return f"{count}, chosen by hand"
    described = view.filter.where().sentence
    full = "with full evidence" if view.level == FULL else " or ".join(LEVELS[each] for each in view.level)
    return ", ".join(part for part in (count, described, full) if part)


def _change_from(key: str, name: str) -> None:
    """Open the list that a widget chooses; questions chosen by hand have no level."""
    value, view = st.session_state[key], read_view()
    if name in ("ids", "level"):
        view = view.change(ids=(), level=())
    if name == "level":
        value = FULL if value else ()
    _go(view.change(**{name: tuple(value) if isinstance(value, list) else value}))


def _back_to_all() -> None:
    _go(read_view().without_filter())


def _go(view: ViewState) -> None:
    write_view(view.change(q=None, p=0, s=0, cite=None, chunk=None, page=None))
