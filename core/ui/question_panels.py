"""The Question page's panels: each takes what it shows and draws it, and fetches nothing."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.contracts.records import GoldSpan, StageName, TraceKey
from core.evidence.types import FoundSpan
from core.services.questions import CitationView, QuestionView, StageView
from core.services.spans import PageView
from core.traces.reports import StoredRow
from core.triage.advice import step_for
from core.ui import (
    answer_words,
    citation_words,
    finding_words,
    question_words,
    safe,
    shell,
    textframe,
    viewer,
    why_words,
)
from core.ui.candidate_table import show_candidates
from core.ui.safe import Piece
from core.ui.state import change_view, question_name, read_view
from core.ui.words import variant

#: More badges than this say nothing that the raw record does not say better.
MAX_BADGES = 30
STAGE_NAMES = {
    "chunks": "seen by the answerer",
    "reranked": "reranked",
    "fused": "fused",
    "retrieved": "retrieved",
}
STAGE_KEY = "stage"
#: A record longer than this many characters is cut: the whole line stands in its file.
RAW_CHARS = safe.LIMIT


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The previous or next question of the list: its place in the URL."""

    q: str
    p: int = 0
    s: int = 0


def header(
    view: QuestionView,
    *,
    repeat: int,
    position: str,
    previous: Neighbour | None,
    following: Neighbour | None,
) -> None:
    """Which question, its label and why; where it stands in the list, and the way to its neighbours."""
    name = question_words.name_piece(view.trace, repeat)
    chip, reason = why_words.verdict(view)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        safe.show(safe.text([name, chip, Piece(reason, "muted")], role="line"))
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            wrap=False,
            width="content",
            gap="small",
            key="steps",
        ):
            safe.show(safe.text([Piece(position, "muted")], role="hint"), width="content")
            _step("← Previous", "K", previous)
            _step("Next →", "J", following)
    safe.show(safe.text(answer_words.marked_question(view), role="title", limit=1_000))


def _step(words: str, key: str, to: Neighbour | None) -> None:
    place = {"q": to.q, "p": to.p, "s": to.s} if to else {}
    st.button(
        safe.label(words),
        key=f"step-{key}",
        shortcut=key,
        disabled=to is None,
        on_click=change_view,
        kwargs={**place, "cite": None, "chunk": None, "page": None},
    )


def sides() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Where answer, page and the rest of the reading go: the page stands beside both, in a narrow window
    between them, so that a chosen citation's place is never far from it (see style.css)."""
    both = st.container(key="sides")
    return (
        both.container(border=True, key="answer"),
        both.container(key="page-side"),
        both.container(key="reading"),
    )


def answer(view: QuestionView, shown: PageView | None) -> None:
    """The answer with its marks, and its citations as badges that choose a place."""
    chosen = shown.target.id if shown else ""
    cite = next((n for n in _numbers(view) if f"cite:{n}" == chosen), None)
    pieces = answer_words.marked_answer(view, chosen=cite)
    if view.stored is not None:
        safe.show(safe.text([Piece(question_words.NO_TRACE)], role="text"))
    elif view.trace.answer.strip():
        safe.show_long(pieces, key=f"answer:{view.trace.q_id}")
    else:
        safe.show(safe.text([Piece("The answer is empty.", "muted")]))
    if view.gold and view.gold.answer and view.gold.answer.strip():
        safe.show(safe.text([Piece("Expected answer")], role="heading"))
        safe.show_long([Piece(view.gold.answer)], key=f"expected:{view.trace.q_id}")
    if not view.citations:
        what = "The row" if view.stored else "The answer"
        layer = shown.target.layer if shown else ""
        instead = "the gold passage" if layer == "gold" else "the closest retrieved chunk"
        words = f"{what} cites nothing; {instead} is shown."
        safe.show(safe.text([Piece(words, "muted")], role="hint"))
    with st.container(horizontal=True, gap="xxsmall", key="citations"):
        for item in view.citations[:MAX_BADGES]:
            found = shown.found.get(f"cite:{item.citation.number}") if shown else None
            on = "text" if shown and shown.text is not None else "page"
            _badge(item, found, is_chosen=item.citation.number == cite, on=on)
        truths = view.gold.spans if view.gold else ()
        for number, span in enumerate(truths[:MAX_BADGES], start=1):
            found = shown.found.get(f"gold:{number}") if shown else None
            _gold_badge(number, span, found, is_chosen=chosen == f"gold:{number}", of=len(truths))
    hidden = len(view.citations) - MAX_BADGES
    if hidden > 0:
        safe.show(safe.text([Piece(f"and {hidden:,} more citations", "muted")], role="hint"))


def _numbers(view: QuestionView) -> list[int]:
    return [item.citation.number for item in view.citations]


def _badge(item: CitationView, found: FoundSpan | None, *, is_chosen: bool, on: str) -> None:
    number = item.citation.number
    escaped = safe.label(citation_words.badge(item, found, on=on))
    is_wrong = (
        found is None
        or found.status == "not_found"
        or found.page_mismatch
        or any(d.kind == "number" for d in found.differences)
    )
    st.button(
        f":red-badge[{escaped}]" if is_wrong else f":orange-badge[{escaped}]",
        key=f"cite-{number}",
        type="secondary" if is_chosen else "tertiary",
        on_click=change_view,
        kwargs={"cite": number, "chunk": None, "page": None},
    )


def _gold_badge(number: int, span: GoldSpan, found: FoundSpan | None, *, is_chosen: bool, of: int) -> None:
    told = citation_words.gold_badge(span, found, number=number if of > 1 else None)
    escaped = safe.label(told, limit=60)
    st.button(
        f":green-badge[{escaped}]",
        key=f"gold-{number}",
        type="secondary" if is_chosen else "tertiary",
        on_click=change_view,
        kwargs={"chunk": f"gold:{number}", "cite": None, "page": None},
    )


def why(view: QuestionView) -> None:
    """Why this label: the signals with their values, each suspicion in a sentence, and what to do next."""
    row = view.row
    if view.stored is not None:
        _stored_why(view, view.stored)
        return
    if row is None:
        told = "Without usable chunks there is no evidence to judge by, and so no label and no signals."
        safe.show(safe.text([Piece(told, "muted")], role="hint"))
        return
    safe.show(
        safe.text(
            [Piece("Why this label ", "strong"), Piece(f"profile: {view.profile.describe()}", "muted")],
            role="line",
        ),
        safe.facts(why_words.signal_rows(view, row)),
        safe.text(
            [Piece(f"Next step: {step_for(row, view.profile.template, view.gold_outcome)}")], role="hint"
        ),
    )


def _stored_why(view: QuestionView, stored: StoredRow) -> None:
    """A report's row without its trace: nothing is judged anew."""
    safe.show(
        safe.text([Piece("As stored ", "strong"), Piece(stored.source.file, "muted")], role="line"),
        safe.facts(why_words.stored_rows(view, stored)),
    )


def candidates(view: QuestionView, *, chosen: str | None, asked: str | None, stage: StageName | None) -> None:
    """The ranked lists, one stage at a time; a click on a row shows the chunk's place.

    `stage` is the one that the URL names; without it the last one is shown.
    """
    if not view.stages:
        safe.show(
            safe.text([Piece("The trace lists no candidates, so there is nothing to compare.")], role="hint")
        )
        return
    stages = {each.name: each for each in reversed(view.stages)}
    usual = next(iter(stages))
    name = stage if stage in stages else usual
    if st.session_state.get(STAGE_KEY) != name:
        st.session_state[STAGE_KEY] = name
    st.segmented_control(
        "Stage",
        list(stages),
        required=True,
        format_func=lambda name: f"{STAGE_NAMES[name]} · {len(stages[name].candidates)}",
        label_visibility="collapsed",
        key=STAGE_KEY,
        on_change=_choose_stage,
        args=(usual,),
    )
    _table(view, stages[name], chosen, asked)


def _choose_stage(usual: StageName) -> None:
    chosen = st.session_state[STAGE_KEY]
    change_view(stage=None if chosen == usual else chosen)


def _table(view: QuestionView, stage: StageView, chosen: str | None, asked: str | None) -> None:
    show_candidates(
        stage,
        chosen=chosen,
        asked=asked,
        key=f"candidates:{stage.name}:{view.trace.q_id}",
        on_choose=lambda chunk_id: change_view(chunk=chunk_id, cite=None, page=None),
    )


def raw_record(view: QuestionView) -> None:
    """The record as its file has it, with the place of the line."""
    source = view.trace.source
    with st.expander("Raw record"):
        st.text(safe.clean(question_words.source_words(source)))
        text = orjson.dumps(view.trace.raw, option=orjson.OPT_INDENT_2).decode("utf-8", "replace")
        if len(text) <= RAW_CHARS:
            st.json(safe.clean(text), expanded=1)
        else:
            st.code(safe.clean(text[:RAW_CHARS]), language=None, wrap_lines=True, height=400)
            st.caption(f"{len(text) - RAW_CHARS:,} more characters stand in the file.")


def page_header(shown: PageView) -> None:
    """Which document and page, and the way to the pages before and after."""
    document = shown.document
    title = (document.title or document.doc_id) if document else shown.target.doc_id or "No document"
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small"):
        safe.show(
            safe.text(
                [Piece(f"{title}  ", "strong"), Piece(question_words.place_words(shown), "muted")],
                role="hint",
            )
        )
        if shown.page_idx is not None and shown.page_count:
            with st.container(horizontal=True, wrap=False, width="content", gap="xxsmall", key="pages"):
                _turn("‹", "Previous page", min(shown.page_idx, shown.page_count) - 1, shown.page_count)
                _turn("›", "Next page", shown.page_idx + 1, shown.page_count)


def _turn(sign: str, words: str, page_idx: int, page_count: int) -> None:
    """A button to another page of the document; at its ends it is there and does nothing."""
    st.button(
        safe.label(sign),
        key=f"page{sign}",
        help=safe.label(words),
        on_click=change_view,
        kwargs={"page": min(max(page_idx, 0), page_count - 1)},
        disabled=not 0 <= page_idx < page_count,
    )


def _turn_by(shown: PageView, by: int) -> None:
    """To the page before or after the shown one, where there is one."""
    page_idx = (shown.page_idx or 0) + by
    if 0 <= page_idx < (shown.page_count or 0):
        change_view(page=page_idx)


def page(shown: PageView | None, *, view: QuestionView) -> None:
    """The page of the chosen passage and what the locator says; a panel in its place where there is none."""
    if shown is None:
        safe.show(
            safe.text(
                [Piece("No citation, candidate or gold span names a document.", "strong")], role="line"
            ),
            safe.text([Piece("There is no page to show for this question.")], role="hint"),
        )
        return
    page_header(shown)
    _page(shown, answer=view.trace.answer, quote_from=finding_words.origin(view, shown.target))


def chunk_alone(shown: PageView, *, chunk_id: str) -> None:
    """The place of a chunk that was asked for without a question."""
    safe.show(safe.text([Piece("Chunk "), Piece(chunk_id, "code")], role="line"))
    text, place, _ = sides()
    with text:
        safe.show_long([Piece(shown.target.query.quote)], key=f"chunk:{chunk_id}")
    with place:
        page_header(shown)
        _page(shown, answer="", quote_from="chunk")


def no_such_variant(missing: TraceKey, instead: TraceKey) -> None:
    """The question is there, the trace that the URL names is not: says so, with the way to `instead`."""
    is_variant = bool(missing.paraphrase or missing.seed)
    parts = [f"paraphrase {missing.paraphrase} with seed {missing.seed}"] if is_variant else []
    parts += [f"repeat {missing.repeat}"] if missing.repeat > 1 else []
    q_id = question_words.short_id(missing.q_id)
    told = f"{q_id} has no {', '.join(parts) or 'first trace'} in {missing.run_id}."
    name = question_name(instead.q_id, instead.repeat)
    with st.container(border=True, key="no-variant"):
        safe.show(safe.text([Piece(told, "strong", tip=missing.q_id)], role="line"))
        st.page_link(
            "pages/question.py",
            label=safe.label(f"Open {' · '.join([q_id, *variant(instead)])}"),
            query_params=read_view()
            .change(run=instead.run_id, q=name, p=instead.paraphrase, s=instead.seed)
            .params(),
            width="content",
        )


def nothing_to_open(*, is_filtered: bool) -> None:
    """An empty list, and the way on."""
    words = "No question matches the filter." if is_filtered else "This run holds no question yet."
    safe.show(safe.text([Piece(words, "strong")], role="line"))
    st.page_link("pages/triage.py", label="Back to Triage")


def _page(shown: PageView, *, answer: str, quote_from: str | None) -> None:
    shell.fault_panel(shown.revision)
    if shown.problem is not None:
        shell.fault_panel([shown.problem])
        _passage(shown)
        return
    finding = finding_words.finding_pieces(shown, answer=answer, quote_from=quote_from)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="finding"):
        safe.show(safe.text(finding, role="hint"))
        if finding_words.is_elsewhere(shown):
            st.button("Back to the passage", key="page-back", on_click=change_view, kwargs={"page": None})
    if shown.text is not None:
        textframe.show_text(shown.text, name=_named(shown), focus=shown.target.id)
        return
    if shown.image is None:
        _passage(shown)
        return
    viewer.show_page(
        shown.image,
        shown.spans,
        alt=_named(shown),
        focus=f"{shown.target.id}@{shown.page_idx}",
        on_turn=lambda by: _turn_by(shown, by),
    )


def _named(shown: PageView) -> str:
    """What the viewer shows, for a reader who does not see it."""
    return f"{shown.target.doc_id}, {question_words.place_words(shown)}"


def _passage(shown: PageView) -> None:
    """The passage as text, where no page can be shown."""
    quote = shown.target.query.quote
    if quote:
        safe.show(safe.text([Piece(f"{shown.target.tag}:", "muted")], role="hint"))
        safe.show_long([Piece(quote)], key=f"passage:{shown.target.id}", role="quote")
