"""The attachments of a cited place: safety notices as text, pictures, tables and symbols as they look.

What cannot be drawn shows its words, its place and the reason. Pictures that wait behind a heading are drawn
when it is opened, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from proofspan.contracts.records import Attachment
from proofspan.evidence.attachments import SAFETY_KINDS, Attached
from proofspan.manifest.types import Manifest
from proofspan.services.desk import Done, Failed
from proofspan.services.drawings import BEING_DRAWN, Drawing, draw
from proofspan.services.placer import Placer
from proofspan.ui import attachment_words as words
from proofspan.ui import safe, waiting
from proofspan.ui.safe import Piece
from proofspan.ui.state import change_view

Draw = Callable[[str | None], Drawing]

#: So many pictures stand open; more of them wait behind their heading.
FEW = 3
#: Attachments shown at once; a button brings as many again.
AT_ONCE = 12
#: Widths of a picture and of a symbol with their captions, in CSS pixels.
FIGURE_WIDTH, SYMBOL_WIDTH = 250, 140
#: Characters of a notice or of a text that stands for a picture; the page has the rest.
TEXT_LIMIT = 1_200


def show_attachments(attached: Sequence[Attached], *, manifest: Manifest, placer: Placer, key: str) -> None:
    """What belongs to a cited place; nothing where nothing does. `key` tells one place from another.

    Notices of the place come first, then its pictures, then what lies on the pages beside it.
    """
    if not attached:
        return
    unpaged = manifest.unpaged
    here = words.arranged(
        _without_page(each) if each.attachment.doc_id in unpaged else each for each in attached
    )
    drawn = _Drawings(manifest, placer)
    with st.container(key=key, gap="small"):
        _show(here.notices, drawn, key=f"{key}-notices")
        if len(here.media) <= FEW:
            _show(here.media, drawn, key=f"{key}-media")
        else:
            _behind(words.heading_of_media(here.media), here.media, drawn, key=f"{key}-media")
        if here.beside:
            heading = f"On the pages before and after ({len(here.beside):,})"
            _behind(heading, here.beside, drawn, key=f"{key}-beside")
        if drawn.awaited:
            waiting.hint("Some pictures are still being drawn …", drawn.awaited)


class _Drawings:
    """Draws in the background, so that no document keeps the page waiting."""

    def __init__(self, manifest: Manifest, placer: Placer) -> None:
        self._manifest, self._placer = manifest, placer
        self._work = waiting.Several()

    @property
    def awaited(self) -> Sequence[Hashable]:
        """The keys of what is still being drawn."""
        return self._work.awaited

    def __call__(self, render_ref: str | None) -> Drawing:
        """The picture, why there is none, or that it is being drawn."""
        make = partial(draw, render_ref, manifest=self._manifest, placer=self._placer)
        outcome = self._work.ask(("drawing", str(self._manifest.folder), render_ref), make)
        if isinstance(outcome, Failed):
            return Drawing(problem=outcome.fault.problems[0])
        return outcome.value if isinstance(outcome, Done) else BEING_DRAWN


def _without_page(item: Attached) -> Attached:
    """The same in a document without pages: the 0 that its record may have is no PDF page."""
    return replace(item, attachment=replace(item.attachment, page_idx=None))


def _behind(heading: str, items: Sequence[Attached], drawn: Draw, *, key: str) -> None:
    opened = st.expander(safe.label(heading), key=key, on_change="rerun")
    if opened.open:
        with opened:
            _show(items, drawn, key=f"{key}-in")


def _show(items: Sequence[Attached], drawn: Draw, *, key: str) -> None:
    """The first of the items, notices one below the other and pictures side by side, and a way to more."""
    state = f"shown:{key}"
    shown = items[: AT_ONCE * int(st.session_state.get(state, 1))]
    notices = [item.attachment for item in shown if item.attachment.kind in SAFETY_KINDS]
    media = [item.attachment for item in shown if item.attachment.kind not in SAFETY_KINDS]
    for number, attachment in enumerate(notices):
        _notice(attachment, drawn(attachment.render_ref), key=f"{key}-notice-{attachment.kind}-{number}")
    if media:
        with st.container(horizontal=True, gap="small", key=f"{key}-figures"):
            for number, attachment in enumerate(media):
                _figure(attachment, drawn(attachment.render_ref), key=f"{key}-figure-{number}")
    if hidden := len(items) - len(shown):
        more = min(hidden, AT_ONCE)
        of_all = f" of {hidden:,}" if hidden > more else ""
        st.button(safe.label(f"Show {more:,} more{of_all}"), key=f"{key}-more", on_click=_more, args=(state,))


def _notice(attachment: Attachment, drawing: Drawing, *, key: str) -> None:
    """A banner: symbol, signal word and place, then the words of the notice."""
    with st.container(key=key, gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            safe.show(safe.text(words.signal(attachment), role="line"), width="content")
            _page_link(attachment, key=key)
        if attachment.text.strip():
            safe.show(safe.text([Piece(attachment.text.strip())], limit=TEXT_LIMIT))
        elif drawing.png is not None:
            _picture(attachment, drawing.png)
        if drawing.problem is not None and drawing.problem.severity != "note":
            safe.show(safe.text(words.not_drawn(drawing.problem), role="hint"))


def _figure(attachment: Attachment, drawing: Drawing, *, key: str) -> None:
    """A picture with its caption and its place, or its words and the reason why it is not there."""
    is_small = attachment.kind == "symbol" and drawing.png is not None
    width = SYMBOL_WIDTH if is_small else FIGURE_WIDTH
    with st.container(key=key, width=width, gap=None):
        if drawing.png is not None:
            _picture(attachment, drawing.png)
        parts = [safe.text([Piece(words.caption(attachment))], role="hint")]
        if drawing.problem is not None:
            parts += [
                safe.text([Piece(words.text_instead(attachment))], limit=TEXT_LIMIT),
                safe.text(words.not_drawn(drawing.problem), role="hint"),
            ]
        safe.show(*parts)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if where := words.section(attachment):
                safe.show(safe.text([Piece(where, "muted")], role="hint"), width="content")
            _page_link(attachment, key=key)


def _picture(attachment: Attachment, png: bytes) -> None:
    """Our own PNG as it is: a width in numbers would make Streamlit shrink it before it is sent."""
    st.image(png, output_format="PNG", width="content", alt=safe.clean(words.alt(attachment)))


def _page_link(attachment: Attachment, *, key: str) -> None:
    """Outlines the attachment on its page, beside the answer."""
    page_idx = attachment.page_idx
    if page_idx is None:
        return
    st.button(
        f"PDF page {page_idx + 1:,}",
        key=f"{key}-page-link",
        type="tertiary",
        help=f"Show it on its page (page_idx {page_idx:,})",
        on_click=change_view,
        kwargs={"page": page_idx, "see": attachment.attachment_id},
    )


def _more(state: str) -> None:
    st.session_state[state] = int(st.session_state.get(state, 1)) + 1
