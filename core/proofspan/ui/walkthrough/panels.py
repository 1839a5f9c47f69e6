"""The panels of the Walkthrough: one bundle at a time. Each draws what it receives, fetching nothing.

Every bundle has the same elements under the same keys, whatever it holds, so that nothing jumps between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.errors import Problem
from proofspan.evidence.bundles import Bundle
from proofspan.services.bundles.walkthrough import Scene
from proofspan.services.bundles.walkthrough_best import Refusal
from proofspan.services.page.view import region_of
from proofspan.services.question.view import QuestionView
from proofspan.services.rows import plain
from proofspan.services.workspace.open import run_date
from proofspan.store.query.store import AXES
from proofspan.ui.claims.annotated_text import show_marked
from proofspan.ui.question.attachments import Group, level_name, show_groups
from proofspan.ui.status import background
from proofspan.ui.viewer import page_panel, text_frame
from proofspan.ui.viewer.span_cards import cards_of
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, read_view, write_view
from proofspan.ui.walkthrough import load
from proofspan.ui.walkthrough.bar import MOST_DOTS, Bar, show_bar
from proofspan.ui.walkthrough.load import Walk
from proofspan.ui.walkthrough.playlists.playlist import open_whole
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.wording import answer as answer_words
from proofspan.ui.wording import question as question_words
from proofspan.ui.wording import safety
from proofspan.ui.wording import verdict as verdict_words
from proofspan.ui.wording.citation import spoken_names
from proofspan.wording import Labels, counted

#: The state of the attachments of neighbouring pages: folded until they are asked for, then on every slide.
BESIDE_OPEN = "walk-beside-open"
#: Characters of a text in the speaker's window.
MAX_SPOKEN = 600


def stage(*, is_question: bool) -> tuple[DeltaGenerator, ...]:
    """Create the containers of top line, title, answer, page, exhibits and bar (see walkthrough.css).

    This is their order in a narrow window. The title and the end slide use the answer's for all they show.
    """
    with st.container(key="walk", gap=None):
        top = st.container(key="walk-top", horizontal=True)
        title = st.container(key="walk-title" if is_question else "walk-no-title")
        sides = st.container(key="walk-sides" if is_question else "walk-cover")
        bar = st.container(key="walk-below")
    answer = sides.container(key="walk-answer" if is_question else "walk-cover-text")
    if not is_question:
        return top, title, answer, answer, answer, bar
    page = sides.container(key="walk-page")
    return top, title, answer, page, sides.container(key="walk-exhibits-frame"), bar


def top_line(about: str, slide: int = 0, total: int = 0, *, chips: Sequence[Piece] = ()) -> None:
    """Show the question's position among `total`, its `chips`, and what the walkthrough is about."""
    place = f"{slide:,} of {total:,}  " if slide > 0 else f"not among the {total:,}  "
    left = [Piece(place, "muted"), *chips] if total else []
    markup.show(markup.row(left, [Piece(about, "muted")]))


def chips(row: Mapping[str, Any], refusal: Refusal | None, scene: Scene | None) -> list[Piece]:
    """Return the verdict of a row of the index, and the level of the evidence with its reason as a tip.

    A refusal has no evidence, and a level is green only if the answer has no known fault.
    """
    grounded, correct, cause = row["grounded"], row["correct"], row["cause"]
    found, is_sound = list[Piece](), True
    if correct is not None:
        chip = verdict_words.verdict_chip(grounded, correct, cause)
        tone = verdict_words.tone(grounded, correct, cause)
        found.append(Piece(chip.text, verdict_words.KINDS[tone], tip=chip.tip, term=chip.term))
        is_sound = tone in ("pass", "open")
    if scene is not None and refusal is None and scene.slide.bundle.citation_origin != "retrieved":
        bundle = scene.slide.bundle
        is_full = bundle.level == "full" and _is_quoted(bundle) and is_sound
        kind: Kind = "ok" if is_full else "badge"
        found.append(Piece(level_name(bundle), kind, tip=bundle.level_reason, term="term.bundle"))
    return found


def _is_quoted(bundle: Bundle) -> bool:
    """Return whether the page has the very words of the citation; those of its chunk prove no answer."""
    cited = bundle.citation
    found = cited.found if cited is not None and cited.quote_from == "payload" else None
    return found is not None and not found.numbers_differ


def refusal(state: Refusal, view: QuestionView | None, *, documents: Sequence[str], expected: str) -> None:
    """Show a refusal: what it means in large, and the pipeline's own words small.

    `documents` are the titles of the workspace's documents. A refusal that is wrong is never shown as right.
    """
    subject = documents[0] if len(documents) == 1 else "The documents"
    if state == "right":
        does = "does" if len(documents) == 1 else "do"
        words = f"{subject} {does} not answer this."
    elif state == "wrong":
        of = documents[0] if len(documents) == 1 else "the documents"
        words = f"The pipeline refused to answer, although the expected answer is in {of}."
    else:
        words = "The pipeline refused to answer. Whether the documents have an answer is not known."
    own = " ".join(view.trace.answer.split()) if view is not None and view.stored is None else ""
    parts = [markup.text([Piece(words)], role="verdict")]
    if state == "wrong" and expected:
        parts.append(markup.text([Piece("Expected: ", "strong"), Piece(expected)], limit=600))
    if own:
        says = [Piece("The pipeline's own words: ", "muted"), Piece(f"“{own}”", "muted")]
        parts.append(markup.text(says, role="hint", limit=400))
    with st.container(key=f"walk-refusal-{state}"):
        markup.show(*parts)


def findings(row: Mapping[str, Any], scene: Scene | None, labels: Labels) -> None:
    """Show what is wrong with an answer, or that its page proves nothing, below the answer; else nothing.

    `labels` name the pages of a document.
    """
    parts = []
    if row["cause"] not in (None, "none") and (sentence := verdict_words.cause_sentence(row, labels)):
        pieces = verdict_words.cause_words(row["cause"], sentence)
        parts.append(markup.text(pieces, role="says"))
    if scene is not None and scene.slide.bundle.citation_origin == "retrieved" and scene.page is not None:
        words = "The answer cites nothing: the page holds the closest passage that was retrieved."
        parts.append(markup.text([Piece(words, "muted")], role="hint"))
    if parts:
        markup.show(*parts)


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
    groups = [Group("here", "", here)] if here or hidden else []
    if hidden:
        groups[-1] = replace(groups[-1], more=f"Show more ({hidden:,} are not shown)")
    is_open = bool(st.session_state.get(BESIDE_OPEN))
    heading = f"{safety.BESIDE} ({len(beside):,})"
    groups += [Group("beside", heading, beside if is_open else (), is_open)] if beside else []
    show_groups(
        groups,
        key="walk-exhibits",
        size="stage",
        unpaged=[document.doc_id for document in documents if not document.paged],
        note=" ".join(notes),
        labels=_labels(scene),
        on_more=lambda _: on_more(),
        on_fold=lambda _: _fold(),
    )


def _labels(scene: Scene | None) -> Mapping[tuple[str | None, int | None], str]:
    """Return the printed page numbers of the shown document."""
    doc_id = scene.page.target.doc_id if scene is not None and scene.page is not None else None
    return {(doc_id, place): label for place, label in enumerate(scene.labels if scene else ()) if label}


def _fold() -> None:
    st.session_state[BESIDE_OPEN] = not st.session_state.get(BESIDE_OPEN)


def page(scene: Scene, *, see: str | None) -> None:
    """Show the page of the chosen passage with the attachment `see` outlined, or why it can't be shown."""
    shown = scene.page
    if shown is None:
        no_page(Problem("no_place", "There is no page to show.", "", scene.slide.bundle.level_reason))
    elif shown.problem is not None:
        no_page(shown.problem, path=shown.path)
    elif shown.text is not None:
        text_frame.show_text(shown.text, name=question_words.spoken_place(shown), focus=shown.target.id)
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


def nothing_cited() -> None:
    """Show in the page's place that a refusal cites no page."""
    with st.container(key="walk-no-page"):
        markup.note("No page is cited.", "muted", role="line")


#: Characters of a question that a dot is named by.
MAX_NAME = 90


def bar(
    walk: Walk,
    state: ViewState,
    slide: int,
    *,
    scene: Scene | None = None,
    speaker: Mapping[str, str],
) -> None:
    """Show the bar: it opens another slide or citation, and presents the page or not."""
    shown = scene.page if scene is not None else None
    document, place, tip = "", "", ""
    if shown is not None:
        document = question_words.document_name(shown)
        place = question_words.place_words(shown)
        if shown.text is None and shown.page_idx is not None:
            tip = question_words.place_tip(shown)
            place = f"p. {shown.printed}" if shown.printed else f"PDF page {shown.page_idx + 1:,}"
    playlist, total = walk.playlist, walk.slides
    citations = scene.slide.bundle.citations if scene else ()
    cites = tuple(each.number for each in citations if each.number is not None)
    chosen = chosen_number(scene) if scene else None

    def act(to: int, cite: int | None, present: bool) -> None:
        # The address may be ahead of what was drawn here: a run for a press before may have been cut short.
        view = read_view().change(present=present)
        now = load.slide_of_view(view.with_run((state.run,), state.run), walk)
        if to >= 0 and to != now:
            view = load.at(view, walk, to)
        elif to == slide and cite in cites and cite != (chosen if view.cite == state.cite else view.cite):
            view = view.change(cite=cite, chunk=None, page=None)
        write_view(view)

    titles: tuple[str, ...] = ()
    if total <= MOST_DOTS:
        questions = (f"{place + 1}: {playlist.at(place).q[:MAX_NAME]}" for place in range(len(playlist)))
        titles = ("Title", *questions, "End")
    of = f"{slide:,} of {len(playlist):,}: " if 0 < slide < total - 1 else ""
    spoken = f"{of}{speaker['title']}"
    show_bar(
        Bar(
            slide,
            total,
            cites,
            chosen,
            present=state.present,
            document=document,
            place=place,
            tip=tip,
            spoken=spoken[:400],
            titles=titles,
            speaker=speaker,
        ),
        on_act=act,
    )


def speaker_texts(
    walk: Walk, slide: int, *, title: str, expected: str = "", verdict: Sequence[Piece] = ()
) -> dict[str, str]:
    """Return what the speaker's window shows of a slide: its title, what is expected, and what comes next."""
    place = slide if slide >= 0 else 0
    if place < len(walk.playlist):
        following = walk.playlist.at(place).q
    else:
        following = "The end" if slide == walk.slides - 2 else ""
    judged = " · ".join(filter(None, (piece.tip or piece.text for piece in verdict[:1])))
    texts = {"title": title, "expected": expected, "verdict": judged, "next": following}
    return {name: text[:MAX_SPOKEN] for name, text in texts.items()}


def title_slide(opened: session.Opened, walk: Walk, state: ViewState) -> None:
    """Show what is about to be shown: workspace, playlist, run, and how to go on."""
    run = opened.run
    about = [run.run_id, run.title or "", run_date(run)]
    markup.show(
        markup.text([Piece("Evidence walkthrough", "muted")], role="line"),
        markup.text([Piece(opened.manifest.name)], role="title", limit=300),
        markup.text([Piece(playlist_name(state, walk), "strong")], role="verdict", limit=300),
        markup.text([Piece(" · ".join(filter(None, about)), "muted")], role="line", limit=400),
    )
    if walk.kind == "best":
        markup.note(BEST_MEANS, "muted")
    markup.note("→ next slide · Home and End · F full screen · Esc leaves", "muted")


BEST_MEANS = (
    "Chosen by a rule: answers with exact proof from as many pages as there are, one that was caught, "
    "and a right refusal at the end, where the run has them."
)


def playlist_name(state: ViewState, walk: Walk) -> str:
    """Return the name of the list with its number of questions: `Best of · 8 questions`."""
    described = state.filter.where().sentence or "A choice"
    own = {"best": "Best of", "whole": "All questions", "filtered": described, "chosen": "Chosen questions"}
    return f"{state.name or own[walk.kind]} · {counted(len(walk.playlist), 'question')}"


def end_slide(opened: session.Opened, walk: Walk, state: ViewState) -> None:
    """Show how many answers of the list have which verdict, and the ways on."""
    frame = walk.playlist.frame
    tally: Counter[tuple[str, markup.Kind]] = Counter()
    for values, count in Counter(zip(*(frame[name].tolist() for name in AXES), strict=True)).items():
        grounded, correct, cause = map(plain, values)
        if correct is None:
            tally["Not judged", "no-label"] += count
            continue
        kind = verdict_words.KINDS[verdict_words.tone(grounded, correct, cause)]
        tally[verdict_words.verdict_chip(grounded, correct, cause).text, kind] += count
    pieces = []
    for (words, kind), count in sorted(tally.items(), key=lambda item: (-item[1], item[0])):
        pieces += [Piece(f"{count:,}\u00a0", "strong"), Piece(words, kind), Piece(" \u2003 ")]
    markup.show(
        markup.text([Piece("What you saw", "muted")], role="line"),
        markup.text([Piece(playlist_name(state, walk))], role="title", limit=300),
        markup.text(pieces, role="verdict"),
    )
    run = opened.run.run_id
    with st.container(horizontal=True, key="walk-ways", gap="medium"):
        for script, label in (
            ("pages/triage.py", "All questions in Triage"),
            ("pages/trends.py", f"Release check of {run}"),
        ):
            params = state.as_list().params()
            st.page_link(script, label=markup.label(label), query_params=params, width="content")


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
            st.button("Go through the whole run", key="walk-whole", on_click=open_whole)
        st.page_link("pages/triage.py", label="Back to Triage", query_params=state.as_list().params())
