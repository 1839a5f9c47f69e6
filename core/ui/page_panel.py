"""The page side: which page, what the locator says of the chosen passage, the page, a citation to copy."""

from __future__ import annotations

import streamlit as st

from core.services.questions import QuestionView
from core.services.spans import PageView
from core.ui import finding_words, question_words, safe, shell, textframe, viewer
from core.ui.citation_words import reference
from core.ui.copying import show_copying
from core.ui.safe import Piece
from core.ui.state import change_view


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


def chunk_alone(shown: PageView) -> None:
    """The place of a chunk that was asked for without a question."""
    page_header(shown)
    _page(shown, answer="", quote_from="chunk")


def _page(shown: PageView, *, answer: str, quote_from: str | None) -> None:
    shell.fault_panel(shown.revision)
    if shown.problem is not None:
        shell.fault_panel([shown.problem])
        _passage(shown)
        return
    _finding(shown, answer=answer, quote_from=quote_from)
    if shown.text is not None:
        textframe.show_text(shown.text, name=_named(shown), focus=shown.target.id)
    elif shown.image is not None:
        viewer.show_page(
            shown.image,
            shown.spans,
            alt=_named(shown),
            focus=f"{shown.target.id}@{shown.page_idx}",
            on_turn=lambda by: _turn_by(shown, by),
        )
    else:
        _passage(shown)
    show_copying(reference(shown), name="citation", key="citation")


def _finding(shown: PageView, *, answer: str, quote_from: str | None) -> None:
    """What the locator says: first the figures that differ, then how well the rest agrees."""
    for pieces in finding_words.figure_pieces(shown, answer=answer, quote_from=quote_from):
        safe.show(safe.text(pieces, role="says"))
    finding = finding_words.finding_pieces(shown, answer=answer, quote_from=quote_from)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="finding"):
        safe.show(safe.text(finding, role="hint"))
        if finding_words.is_elsewhere(shown):
            st.button("Back to the passage", key="page-back", on_click=change_view, kwargs={"page": None})


def _named(shown: PageView) -> str:
    """What the viewer shows, for a reader who does not see it."""
    return f"{shown.target.doc_id}, {question_words.place_words(shown)}"


def _passage(shown: PageView) -> None:
    """The passage as text, where no page can be shown."""
    quote = shown.target.query.quote
    if quote:
        safe.show(safe.text([Piece(f"{shown.target.tag}:", "muted")], role="hint"))
        safe.show_long([Piece(quote)], key=f"passage:{shown.target.id}", role="quote")
