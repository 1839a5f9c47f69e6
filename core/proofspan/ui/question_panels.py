"""The Question page's panels: each takes what it shows and draws it, and fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.contracts.records import StageName, TraceKey
from proofspan.diagnosis.advice import suspicion_text
from proofspan.diagnosis.verdict import QUESTION_UNKNOWN
from proofspan.evidence.types import FoundSpan
from proofspan.services.questions import QuestionView
from proofspan.traces.reports import StoredRow
from proofspan.ui import answer_words, question_words, safe, safety_panel, why_words
from proofspan.ui.candidate_table import show_candidates
from proofspan.ui.gold_words import Ranking
from proofspan.ui.inputs import feed
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, change_view, question_name, read_view
from proofspan.ui.steps import Neighbour, show_steps
from proofspan.ui.words import variant

STAGE_NAMES = {
    "chunks": "seen by the answerer",
    "reranked": "reranked",
    "fused": "fused",
    "retrieved": "retrieved",
}
STAGE_KEY = "stage"
#: A record longer than this many characters is cut: the whole line stands in its file.
RAW_CHARS = safe.LIMIT


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
        show_steps(position, previous=previous, following=following, walk=_walkthrough(view))
    if view.is_question_known:
        safe.show(safe.text(answer_words.marked_question(view), role="title", limit=1_000))


def _walkthrough(view: QuestionView) -> ViewState:
    """The same question, citation and list on the Walkthrough page."""
    shown = read_view()
    return shown.change(
        run=view.trace.run_id or shown.run, chunk=None, page=None, stage=None, ids=shown.ids, at=1
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


def why(view: QuestionView, *, stored_label: str | None = None, ranking: Ranking | None = None) -> None:
    """Why this label: the signals with their values, and each suspicion in a sentence.

    `stored_label` is what the run's stored report says of the question, `ranking` what the index has of it.
    """
    row = view.row
    if view.stored is not None:
        _stored_why(view, view.stored)
        return
    if row is None:
        told = "Without usable chunks there is no evidence to judge by, and so no label and no signals."
        if not view.is_question_known:
            told = suspicion_text(QUESTION_UNKNOWN)
        safe.show(safe.text([Piece(told, "muted")], role="hint"))
        return
    safe.show(
        safe.text(
            [
                Piece("Why this label ", "strong"),
                Piece(f"profile: template {view.profile.template}", "muted", tip=_profile_words(view)),
            ],
            role="line",
        ),
        safe.facts(why_words.signal_rows(view, row, stored_label=stored_label, ranking=ranking)),
    )
    safety_panel.show_ways(view)


def _profile_words(view: QuestionView) -> str:
    """What a profile is, and the whole of this one."""
    return f"How answers are read here: {view.profile.describe()}. The manifest's triage part sets it."


def next_step(view: QuestionView, found: Mapping[str, FoundSpan]) -> None:
    """What to do about this answer, once its citations have been looked at; nothing where it has no label."""
    if view.row is not None and view.stored is None:
        safe.show(safe.text([Piece(f"Next step: {why_words.step(view, view.row, found)}")], role="hint"))


def _stored_why(view: QuestionView, stored: StoredRow) -> None:
    """A report's row without its trace: nothing is judged anew."""
    safe.show(
        safe.text([Piece("As stored ", "strong"), Piece(stored.source.file, "muted")], role="line"),
        safe.facts(why_words.stored_rows(view, stored)),
    )


def candidates(view: QuestionView, *, chosen: str | None, stage: StageName | None) -> None:
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
    feed(STAGE_KEY, name)
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
    show_candidates(
        stages[name],
        chosen=chosen,
        on_choose=lambda chunk_id: change_view(chunk=chunk_id, cite=None, page=None),
    )


def _choose_stage(usual: StageName) -> None:
    chosen = st.session_state[STAGE_KEY]
    change_view(stage=None if chosen == usual else chosen)


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
