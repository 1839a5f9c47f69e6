"""The answer's card: the answer with its marks, the expected answer, and the status of its citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from proofspan.diagnosis.verdicts.types import Correctness
from proofspan.display_names import CORRECT_NAMES
from proofspan.evidence.types import FoundSpan
from proofspan.services.page.target import cite_id
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView
from proofspan.ui.claims.annotated_text import show_marked
from proofspan.ui.claims.claim_list import show_claims
from proofspan.ui.viewer.claim_places import ShownClaims
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Markup, Piece
from proofspan.ui.widgets.text import sentence_start, shortened
from proofspan.ui.wording import answer as answer_words
from proofspan.ui.wording import claims as claim_words
from proofspan.ui.wording.citation import (
    FROM_TEXT,
    CitationLine,
    citation_line,
    gold_line,
    is_of_several_documents,
    spoken_names,
)
from proofspan.ui.wording.question import NO_TRACE
from proofspan.ui.wording.verdict import telling
from proofspan.wording import Labels, with_printed

#: Citations listed; the raw record has the rest.
MAX_LISTED = 30
#: Places shown at first where there are more than one or two more.
FEW_PLACES = 6
#: Characters shown of a place and of its notes, in a line of the list.
MAX_PLACE = 120
MAX_NOTES = 240
#: Characters shown of how the answer differs from the expected one.
MAX_REASON = 400


def answer(
    view: QuestionView,
    shown: PageView | None,
    found: Mapping[str, FoundSpan],
    claims: ShownClaims | None = None,
    *,
    claim: int | None = None,
    of: Markup,
    labels: Labels,
) -> None:
    """Show the answer beside the expected one, and its citations and gold as a list that chooses a place.

    `found` holds the located passages by their id; `claim` is the number of the chosen claim. What differs is
    marked in both answers. `of` marks what it is drawn for, `labels` name the pages of a document.
    """
    correctness = claims.verdict.correctness if claims else None
    unexpected = _unexpected(view.trace.answer, correctness)
    chosen = shown.target.id if shown else ""
    cite = shown.target.number if shown and shown.target.kind == "cited" else None
    on = "text" if shown is not None and shown.text is not None else "page"
    expected = (view.gold.answer or "") if view.gold else ""
    is_longer = len(expected) > len(view.trace.answer)  # the longer text has the wider column
    names = spoken_names(view, found, on=on)
    with st.container(key="compared-with-longer" if is_longer else "compared"):
        with st.container(key="answered"):
            markup.show(of, markup.text([Piece("Answer", "h2")], role="line"))
            if view.stored is not None:
                markup.note(NO_TRACE, role="text")
            elif view.trace.answer.strip():
                show_marked(
                    answer_words.marked_answer(
                        view,
                        chosen=cite,
                        claims=claims.checked.claims if claims else (),
                        unexpected=unexpected,
                    ),
                    numbers={
                        item.citation.number: with_printed(
                            names[item.citation.number], labels(item.citation.doc_id)
                        )
                        for item in view.citations
                    },
                    chosen=cite,
                    key="answer-text",
                    on_choose=lambda number: change_view(cite=number, chunk=None, page=None),
                    claims=claims.lines if claims else (),
                    chosen_claim=claim,
                    on_claim=_choose_claim,
                )
            else:
                markup.note("The answer is empty.", "muted", role="text")
        _expected(view, correctness)
    if not view.citations:
        instead = ""
        if shown is not None:
            passages = {"gold": "the gold passage", "claim": f"the evidence of {shown.target.tag}"}
            instead = f"; {passages.get(shown.target.kind, 'the closest retrieved chunk')} is shown"
        markup.note(f"{'The row' if view.stored else 'The answer'} cites nothing{instead}.", "muted")
    several, truths = is_of_several_documents(view), view.gold.spans if view.gold else ()
    choices: list[tuple[CitationLine, str, int | None]] = []
    for item in view.citations[:MAX_LISTED]:
        number = item.citation.number
        line = citation_line(item, found.get(cite_id(number)), on=on, names_document=several)
        line = replace(line, place=with_printed(line.place, labels(item.citation.doc_id)))
        choices.append((line, cite_id(number), number))
    for number, span in enumerate(truths[:MAX_LISTED], start=1):
        target, shown_number = f"gold:{number}", number if len(truths) > 1 else None
        line = gold_line(span, found.get(target), number=shown_number, on=on, names_document=several)
        line = replace(line, place=with_printed(line.place, labels(span.doc_id)))
        choices.append((line, target, None))
    with st.container(horizontal=True, gap="xxsmall", key="citations"):
        _choices(choices, chosen=chosen, key=f"all-places:{view.trace.q_id}")
        if (hidden := len(view.citations) - MAX_LISTED) > 0:
            markup.note(f"and {hidden:,} more citations", "muted")
    is_from_text = any(item.citation.origin == "answer_text" for item in view.citations)
    if is_from_text and view.stored is None:
        markup.note(FROM_TEXT, "muted")


def _unexpected(text: str, correctness: Correctness | None) -> Sequence[tuple[int, int]]:
    """Return what differs from the expected answer, by the text before the line of citations."""
    if correctness is None:
        return ()
    tail = answer_words.citation_tail(text)
    return telling(correctness, correctness.answer_marks, text[: tail[0]] if tail else text)


def _expected(view: QuestionView, correctness: Correctness | None) -> None:
    """Show what the gold expects, and in words how the answer differs; nothing where it expects nothing."""
    gold = view.gold
    if gold is None or not (gold.answerable is False or (gold.answer and gold.answer.strip())):
        return
    with st.container(key="expected"):
        markup.note("Expected", "h3", role="line")
        if gold.answer and gold.answer.strip():
            marks = telling(correctness, correctness.expected_marks, gold.answer) if correctness else ()
            pieces = answer_words.marked_expected(gold.answer, marks)
            markup.show_long(pieces, key=f"expected:{view.trace.q_id}", limit=markup.FEW)
        if gold.answerable is False:
            markup.note("None: the documents do not answer this question.", "muted")
        elif correctness is not None and correctness.reason:
            reason = shortened(correctness.reason, MAX_REASON)
            markup.note(f"{CORRECT_NAMES[correctness.value]}: {reason}", "muted")


def claims_panel(view: QuestionView, claims: ShownClaims | None, *, chosen: int | None, of: str) -> None:
    """Show the claims, the weakest first, or why there are none; nothing where none were looked for.

    `of` names the question (see `markup.place`).
    """
    if claims is None or not view.trace.answer.strip():
        return
    with st.container(border=True, key="claims", gap="xxsmall"):
        title = [Piece("Claims", "h2", term="term.claim"), Piece(" ")]
        if not claims.lines:
            title.append(Piece(claim_words.nothing_to_check(view), "muted"))
            markup.show(markup.text(title, role="line"))
            return
        title.append(Piece("weakest first · point at one to see its evidence", "muted"))
        markup.show(markup.text(title, role="line"))
        show_claims(claims.lines, chosen=chosen, key="claims-list", on_choose=_choose_claim, of=of)
        if claims.checked.note:
            markup.note(f"{sentence_start(claims.checked.note)}.", "muted")


def _choose_claim(number: int) -> None:
    change_view(at_claim=number, cite=None, chunk=None, page=None)


def _choices(choices: Sequence[tuple[CitationLine, str, int | None]], *, chosen: str, key: str) -> None:
    """Show buttons that choose a place: of a long list the first and the chosen one, and one for the rest.

    A choice is its words, the id of its passage, and the number of a citation.
    """
    is_long = len(choices) > FEW_PLACES + 2 and not st.session_state.get(key)
    for at, (line, target, cite) in enumerate(choices):
        if is_long and at >= FEW_PLACES and target != chosen:
            continue
        place = markup.label(line.place, limit=MAX_PLACE)
        notes = f" *{markup.label(' · '.join(line.notes), limit=MAX_NOTES)}*" if line.notes else ""
        colour = "red" if line.is_wrong else "green" if cite is None else "orange"
        escaped = f":{colour}-badge[{markup.label(line.badge)}] {place}{notes}"
        st.button(
            escaped,
            key=target.replace(":", "-"),
            type="secondary" if target == chosen else "tertiary",
            on_click=change_view,
            kwargs={"cite": cite, "chunk": target if cite is None else None, "page": None},
            width="stretch" if line.notes else "content",
        )
    if is_long:
        st.button(
            f"Show all {len(choices):,}",
            key="all-places",
            type="tertiary",
            on_click=st.session_state.__setitem__,
            args=(key, True),
        )
