"""A person's review of the shown answer: a verdict by one or two keys, a note, and what others say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.verdicts.types import CORRECT, Verdict
from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, LABEL_NAMES
from proofspan.errors import Fault, Problem
from proofspan.journal.annotations import Annotation, Annotations, Target, answer_id, refusal
from proofspan.manifest.edit import add_file
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.types import Manifest
from proofspan.services.question.view import QuestionView
from proofspan.services.review import verdict_words
from proofspan.ui.keys import AGREE, DISAGREE, UNDO
from proofspan.ui.review import drafts
from proofspan.ui.review.drafts import About, Draft
from proofspan.ui.review.name import ask_author
from proofspan.ui.review.words import pieces_of
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.author import MAX_NAME, author, keep_author
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin, feed
from proofspan.ui.widgets.markup import Piece
from proofspan.wording import counted

#: The file that people's reviews are written to where the manifest names none.
FILE = "annotations.jsonl"
#: How many verdicts and notes of others are shown, those of this answer and those of other runs each.
MOST = 12
_REFUSED = "review:refused"


def about(key: TraceKey, view: QuestionView, verdict: Verdict | None) -> About:
    """Return the answer that is reviewed with what the rules say of it."""
    rules = {
        "correct": verdict.correctness.value if verdict is not None else None,
        "cause": verdict.cause if verdict is not None else None,
        "label": view.row.label if view.row is not None else None,
    }
    target = Target(key.run_id, key.q_id, key.paraphrase, key.seed)
    return About(target, answer_id(view.trace.answer), rules)


def review(opened: session.Opened, about: About, gold: Callable[[], None]) -> None:
    """Draw the review of the shown answer; where the workspace keeps none, the button that begins it.

    `gold` draws the line that makes the shown passage the gold, which needs no file of reviews.
    """
    with st.container(border=True, key="review", gap="xsmall"):
        if opened.manifest.annotations is None:
            _begin(opened.manifest)
            gold()
        else:
            try:
                known = session.reviews(opened)
            except Fault as fault:
                fault_panel(fault.problems)
                return
            _verdict(opened.manifest, about, known)
            gold()
            _others(about, known, opened.view)
            if known.issues:
                first = known.issues[0]
                words = f"{counted(len(known.issues), 'line')} of {opened.manifest.annotations.path} left out"
                markup.note(words, "muted", tip=f"line {first.source.line}: {first.message}")
        keep_author()


def _begin(manifest: Manifest) -> None:
    """Draw the button that names a file for reviews in the manifest, and what it writes."""
    name = (manifest.file or manifest.folder / MANIFEST_NAME).name
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review-begin"):
        markup.note("Review", "h2", role="line", width="content")
        st.button(
            "Keep reviews in this workspace",
            key="review-keep",
            type="tertiary",
            help=markup.label(
                f"Adds one line to {name}, annotations: {{path: {FILE}}}. "
                f"Each verdict and note becomes a line of {FILE} beside it.",
                limit=400,
            ),
            on_click=_keep,
            args=(manifest,),
        )
    fault_panel(st.session_state.get(_REFUSED, ()))


def _keep(manifest: Manifest) -> None:
    try:
        add_file(manifest.file or manifest.folder / MANIFEST_NAME, "annotations", FILE)
    except Fault as fault:
        st.session_state[_REFUSED] = tuple(fault.problems)
    except OSError as error:
        message = f"the manifest cannot be changed: {error.strerror or error}"
        fix = "make the folder writable, or open a copy of the workspace"
        st.session_state[_REFUSED] = (Problem("not_writable", message, str(manifest.folder), fix),)
    else:
        st.session_state.pop(_REFUSED, None)


def _verdict(manifest: Manifest, about: About, known: Annotations) -> None:
    """Draw the person's verdict with its keys; why nothing can be written where the manifest refuses it."""
    target, draft = about.target, drafts.draft_of(about.target)
    own = known.verdicts.get(target, {}).get(author()) if author() else None
    refused = refusal(manifest)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review-line"):
        markup.note("Review", "h2", role="line", width="content")
        if refused is None:
            _keys(manifest, about, draft)
        if (assignee := known.assignees.get(target)) is not None:
            markup.show(
                markup.text([Piece("assigned to ", "muted"), Piece(assignee)], role="line"), width="content"
            )
    if refused is not None:
        fault_panel([refused])
        return
    if draft.waiting is not None:
        _waiting(manifest, target, draft)
    if own is not None:
        _own(manifest, about, own)
    if draft.is_open:
        _form(manifest, about, draft, known.assignees.get(target, ""))


def _keys(manifest: Manifest, about: About, draft: Draft) -> None:
    is_ruled = any(about.rules.values())
    says = "With what Proofspan says of it" if is_ruled else "Proofspan has no verdict on this answer"
    st.button(
        "Agree",
        key="review-agree",
        shortcut=AGREE,
        disabled=not is_ruled or draft.waiting is not None,
        help=markup.label(says),
        on_click=drafts.agree,
        args=(manifest, about),
    )
    st.button(
        "Close" if draft.is_open else "Disagree …",
        key="review-disagree",
        shortcut=DISAGREE,
        help="Choose another correctness by its digit, another cause or label, or write a note",
        on_click=drafts.toggle,
        args=(about.target,),
    )


def _form(manifest: Manifest, about: About, draft: Draft, assignee: str) -> None:
    """Draw the choice of another correctness, each with its digit, and the fields of the rest."""
    target = about.target
    name = sha1_8(repr(target))
    with st.container(horizontal=True, gap="xsmall", key="review-choices"):
        for digit, correct in enumerate(CORRECT, start=1):
            is_same = correct == about.rules["correct"] and not draft.cause and not draft.label
            st.button(
                CORRECT_NAMES[correct],
                key=f"review-correct-{digit}",
                shortcut=str(digit),
                disabled=is_same or draft.waiting is not None,
                help="Proofspan says this" if is_same else None,
                on_click=drafts.choose,
                args=(manifest, about, correct),
            )
    with st.container(key="review-fields"):
        _choice(target, "cause", "Another cause", CAUSE_NAMES, draft.cause)
        _choice(target, "label", "Another label", LABEL_NAMES, draft.label)
        tags = f"review-tags-{name}"
        st.text_input(
            "Tags",
            begin(tags, draft.tags) or "",
            key=tags,
            max_chars=800,
            placeholder="With commas between them",
            on_change=lambda: _typed(target, tags=st.session_state[tags]),
        )
        assigned = f"review-assigned-{name}"
        st.text_input(
            "Assigned to",
            begin(assigned, assignee) or "",
            key=assigned,
            max_chars=MAX_NAME,
            placeholder="A name, saved by Enter",
            on_change=lambda: drafts.assign(manifest, about, st.session_state[assigned]),
        )
    text = f"review-text-{name}"
    st.text_area(
        "Note",
        begin(text, draft.text) or "",
        key=text,
        height=96,
        max_chars=20_000,
        on_change=lambda: _typed(target, text=st.session_state[text]),
    )
    st.button(
        "Save verdict" if draft.cause or draft.label else "Save note",
        key="review-save",
        help="Another correctness by its button or digit saves all of it at once",
        on_click=drafts.save_typed,
        args=(manifest, about),
    )


def _choice(target: Target, field: str, title: str, names: Mapping[str, str], chosen: str) -> None:
    key = f"review-{field}-{sha1_8(repr(target))}"
    feed(key, chosen)
    st.selectbox(
        title,
        ["", *names],
        key=key,
        format_func=lambda value: names.get(value, "–"),
        on_change=lambda: _typed(target, **{field: st.session_state[key]}),
    )


def _typed(target: Target, **fields: str) -> None:
    drafts.change(target, **{name: value or "" for name, value in fields.items()})


def _waiting(manifest: Manifest, target: Target, draft: Draft) -> None:
    """Draw what could not be saved yet with its remedy: the person's name, or another attempt."""

    def save() -> None:
        if not drafts.draft_of(target).problems:
            drafts.save_waiting(manifest, target)

    fault_panel(draft.problems)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="review-waiting"):
        if draft.waiting is not None and not draft.waiting.author:
            ask_author("review-author", "Asked once, written with each review", save)
        if draft.problems:
            st.button(
                "Try again",
                key="review-again",
                type="primary",
                on_click=drafts.save_waiting,
                args=(manifest, target),
            )
        st.button(
            "Discard",
            key="review-discard",
            type="tertiary",
            on_click=drafts.discard,
            args=(target,),
        )


def _own(manifest: Manifest, about: About, own: Annotation) -> None:
    """Draw the person's verdict that counts; it is called saved once its line is in the file."""
    is_new = own.entry_id in drafts.saved()
    lead = [Piece("✓ Saved", "pass"), Piece(" ")] if is_new else []
    other = _of_another(own, about.answer)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review-own"):
        markup.show(
            markup.text([*lead, Piece("You: ", "muted"), *pieces_of(own), *other], role="line"),
            width="content",
        )
        st.button(
            "Undo",
            key="review-undo",
            type="tertiary",
            shortcut=UNDO,
            help=f"Adds a line that withdraws it: {markup.label(verdict_words(own), limit=200)}",
            on_click=drafts.withdraw,
            args=(manifest, own),
        )


def _others(about: About, known: Annotations, shown: ViewState) -> None:
    """Draw what others say of this answer, every note on it, and what they wrote of it in other runs."""
    target = about.target
    here: list[Annotation] = [
        each for name, each in known.verdicts.get(target, {}).items() if name != author()
    ]
    here += known.notes.get(target, ())
    here.sort(key=lambda each: each.order, reverse=True)
    elsewhere = known.of_question(target.q_id, but=target)
    rows = [(each.author, [*pieces_of(each), *_of_another(each, about.answer)]) for each in here[:MOST]]
    rows += [(each.author, [*_place(each, about, shown), *pieces_of(each)]) for each in elsewhere[:MOST]]
    if rows:
        markup.show(markup.facts(rows))
    left_out = max(0, len(here) - MOST) + max(0, len(elsewhere) - MOST)
    if left_out:
        markup.note(f"and {left_out:,} more", "muted")


def _of_another(each: Annotation, answer: str) -> Sequence[Piece]:
    """Return a mark of what was written about another answer: the run's file has changed since."""
    if each.answer in (None, answer):
        return ()
    return (
        Piece("  on an earlier answer", "warn", tip="The run's answer has changed since this was written"),
    )


def _place(each: Annotation, about: About, shown: ViewState) -> Sequence[Piece]:
    """Return the link to the other answer that a line is about, and whether it is the same as this one."""
    of = each.target
    words = "same answer" if each.answer == about.answer else "another answer"
    if each.answer is None:
        words = "answer not recorded"
    place = {"q": question_name(of.q_id), "p": of.paraphrase, "s": of.seed}
    link = shown.change(run=of.run_id, **place, cite=None, chunk=None, page=None)
    variant = f" p{of.paraphrase} s{of.seed}" if of.paraphrase or of.seed else ""
    return (
        Piece(f"{of.run_id}{variant}", href=link.link("question")),
        Piece(f" {words}  ", "muted"),
    )
