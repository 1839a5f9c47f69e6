"""The attachments of a cited place: safety notices as text, pictures, tables and symbols as they look.

What cannot be drawn shows its words, its place and the reason. Pictures that wait behind a heading are drawn
when it is opened, and not before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from proofspan.contracts.records.records import Attachment
from proofspan.evidence.attachments import SAFETY_KINDS, Attached
from proofspan.evidence.bundles import Bundle, Level
from proofspan.manifest.types import Manifest
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.drawings import BEING_DRAWN, Drawing, draw
from proofspan.ui.status import background
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording import safety as words

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
            background.hint("Some pictures are still being drawn …", drawn.awaited)


class _Drawings:
    """Draws in the background, so that no document keeps the page waiting."""

    def __init__(self, manifest: Manifest, placer: Placer) -> None:
        self._manifest, self._placer = manifest, placer
        self._work = background.Several()

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
    opened = st.expander(markup.label(heading), key=key, on_change="rerun")
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
        st.button(
            markup.label(f"Show {more:,} more{of_all}"), key=f"{key}-more", on_click=_more, args=(state,)
        )


def _notice(attachment: Attachment, drawing: Drawing, *, key: str) -> None:
    """A banner: symbol, signal word and place, then the words of the notice."""
    with st.container(key=key, gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            markup.show(markup.text(words.signal(attachment), role="line"), width="content")
            _page_link(attachment, key=key)
        if attachment.text.strip():
            markup.show(markup.text([Piece(attachment.text.strip())], limit=TEXT_LIMIT))
        elif drawing.png is not None:
            _picture(attachment, drawing.png)
        if drawing.problem is not None and drawing.problem.severity != "note":
            markup.show(markup.text(words.not_drawn(drawing.problem), role="hint"))


def _figure(attachment: Attachment, drawing: Drawing, *, key: str) -> None:
    """A picture with its caption and its place, or its words and the reason why it is not there."""
    is_small = attachment.kind == "symbol" and drawing.png is not None
    width = SYMBOL_WIDTH if is_small else FIGURE_WIDTH
    with st.container(key=key, width=width, gap=None):
        if drawing.png is not None:
            _picture(attachment, drawing.png)
        parts = [markup.text([Piece(words.caption(attachment))], role="hint")]
        if drawing.problem is not None:
            parts += [
                markup.text([Piece(words.text_instead(attachment))], limit=TEXT_LIMIT),
                markup.text(words.not_drawn(drawing.problem), role="hint"),
            ]
        markup.show(*parts)
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if where := words.section(attachment):
                markup.show(markup.text([Piece(where, "muted")], role="hint"), width="content")
            _page_link(attachment, key=key)


def _picture(attachment: Attachment, png: bytes) -> None:
    """Our own PNG as it is: a width in numbers would make Streamlit shrink it before it is sent."""
    st.image(png, output_format="PNG", width="content", alt=markup.clean(words.alt(attachment)))


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


# What belongs to the chosen passage's place, and how much of the answer's evidence can be shown.

LEVELS: Mapping[Level, str] = {
    "full": "Full evidence",
    "safety_citation": "Safety notices and citation",
    "citation_only": "Citation only",
    "text_only": "Text only",
}
#: In place of a level where the answer cites nothing that can be shown: what is retrieved proves no answer.
NOT_CITED = "Retrieved, not cited"
LEVELS_MEAN = (
    "How much of this answer's evidence can be shown: the cited passage on its page with every notice, "
    "picture and table that belongs to it, or less."
)


#: How much of an answer's evidence can be shown, in a word or two, and why.
Judged = tuple[str, str]
Outcome = Done[Judged] | Failed | Waiting


@dataclass(frozen=True, slots=True)
class Belonging:
    """What belongs to the place of the passage `target`, and what draws it."""

    target: str
    found: tuple[Attached, ...]
    manifest: Manifest
    placer: Placer


def level_name(bundle: Bundle) -> str:
    """How much of an answer's evidence its bundle shows, as a badge says it."""
    return NOT_CITED if bundle.citation_origin == "retrieved" else LEVELS[bundle.level]


def belonging(place: Belonging) -> None:
    """The notices, pictures and tables of a place; nothing where there are none."""
    if not place.found:
        return
    markup.show(markup.text([Piece("At this place", "strong")], role="line"))
    digest = hashlib.sha1(place.target.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    show_attachments(place.found, manifest=place.manifest, placer=place.placer, key=f"attached-{digest}")


def level(asked: tuple[Outcome, Hashable] | None) -> None:
    """How much of the answer's evidence a bundle of it can show, with the reason, or that it is being judged.

    Nothing where there is no trace to make a bundle of.
    """
    if asked is None:
        return
    outcome, work = asked
    if isinstance(outcome, Waiting):
        background.hint("Checking how much of the evidence can be shown …", [work])
    elif isinstance(outcome, Failed):
        said = f"How much of the evidence can be shown is not known: {outcome.fault.problems[0].message}."
        markup.show(markup.text([Piece(said, "muted")], role="hint"))
    else:
        name, reason = outcome.value
        pieces = [Piece(name, "badge", tip=LEVELS_MEAN), Piece(f" {reason}")]
        markup.show(markup.text(pieces, role="hint", limit=600))
