"""The attachments of a cited place, and the level of an answer's evidence.

Safety notices are text; pictures, tables and symbols are drawn. What cannot be drawn shows its text, its
place and the reason. One component in the browser draws all of them at once with known sizes, so that nothing
moves while pictures arrive: in a panel on the Question page and at stage size on the Walkthrough.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import orjson
import streamlit as st

from proofspan.contracts.records.records import Attachment, TraceKey
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, attached
from proofspan.evidence.bundles import Bundle, Level
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Sources, bundle_of
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.document_set import Shelf
from proofspan.services.documents.drawings import BEING_DRAWN, Drawing, draw
from proofspan.services.page.view import PageView, place_of
from proofspan.ui.component import component
from proofspan.ui.question import load
from proofspan.ui.status import background, documents
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece, Size, clean
from proofspan.ui.widgets.text import shortened
from proofspan.ui.wording import safety as words
from proofspan.wording import Labels, no_labels, page_words, printed_on, with_printed

#: An attachment and its picture; None where its text is enough.
Drawn = tuple[Attachment, Drawing | None]

#: More pictures than this are folded.
FEW = 3
#: Attachments shown at once; a button shows as many more.
AT_ONCE = 12
#: Characters shown of a notice, or of a text instead of a picture; the page has the rest.
TEXT_LIMIT = 1_200
#: Bytes of pictures sent together.
MAX_BYTES: Mapping[Size, int] = {"panel": 8_000_000, "stage": 1_500_000}
TOO_LARGE = "Not drawn here: these pictures are too large together. Its page shows it."


@dataclass(frozen=True, slots=True)
class Group:
    """Attachments under a heading. `is_open` is None for a group that is always open; `more` is the label of
    the button that shows more, "" without one."""

    name: str
    heading: str
    items: Sequence[Drawn]
    is_open: bool | None = None
    more: str = ""


def show_groups(
    groups: Sequence[Group],
    *,
    key: str,
    size: Size,
    unpaged: Iterable[str | None],
    note: str = "",
    labels: Mapping[tuple[str | None, int | None], str] = {},
    on_more: Callable[[str], None],
    on_fold: Callable[[str], None] = lambda name: None,
) -> None:
    """Draw groups of attachments below a `note`; documents in `unpaged` have no pages to link to.

    `labels` are the printed numbers of pages, by document and page_idx, where they are known. `on_more` and
    `on_fold` receive the name of a group.
    """

    def acted(event: str, call: Callable[[str], None]) -> None:
        if (name := str(st.session_state[key].get(event))) in {group.name for group in groups}:
            call(name)

    def see() -> None:  # outlines the attachment on its page
        name = str(st.session_state[key].get("see"))
        items = (item for group in groups for item, _ in group.items)
        item = next((item for item in items if clean(item.attachment_id) == name), None)
        if item is not None:
            change_view(page=item.page_idx, see=item.attachment_id)

    component("ui/question/attachments", css=("ui/css/pieces.css",))(
        key=key,
        data=packed(groups, size=size, unpaged=unpaged, note=note, labels=labels),
        on_see_change=see,
        on_more_change=lambda: acted("more", on_more),
        on_fold_change=lambda: acted("fold", on_fold),
    )


def packed(
    groups: Sequence[Group],
    *,
    size: Size,
    unpaged: Iterable[str | None],
    note: str = "",
    labels: Mapping[tuple[str | None, int | None], str] = {},
) -> bytes:
    """Return the length of a JSON header (4 bytes, big endian), the header, and the pictures in its order.

    `id` is a hash of all: the browser draws nothing while it stays the same.
    """
    room, pictures, without_pages = MAX_BYTES[size], [], set(unpaged)
    sections = []
    for group in groups:
        entries = []
        for item, drawing in group.items:
            data = (drawing.png if drawing else None) or b""
            problem = drawing.problem if drawing else None
            if len(data) > room:
                data, reason = b"", TOO_LARGE
            elif problem is None or (item.kind in SAFETY_KINDS and problem.severity == "note"):
                reason = ""  # a notice needs no picture
            else:
                reason = clean(words.not_drawn(problem))
            room -= len(data)
            pictures.append(data)
            texts = words.described(item, is_drawn=bool(data))
            entries.append(
                {
                    **{name: clean(text) for name, text in texts.items()},
                    "id": clean(item.attachment_id),
                    "kind": item.kind,
                    "text": clean(texts["text"][:TEXT_LIMIT]),
                    "bytes": len(data),
                    "mime": drawing.mime if drawing else "",
                    "width": drawing.width if drawing else 0,
                    "height": drawing.height if drawing else 0,
                    "page_idx": None if item.doc_id in without_pages else item.page_idx,
                    "page": _page(item, labels, size),
                    "problem": reason,
                }
            )
        section = {"name": group.name, "heading": clean(group.heading), "open": group.is_open}
        sections.append({**section, "items": entries, "more": group.more})
    header = {"size": size, "note": clean(note), "groups": sections}
    whole = hashlib.sha1(b"".join((orjson.dumps(header), *pictures)), usedforsecurity=False)
    json = orjson.dumps({**header, "id": whole.hexdigest()})
    return b"".join((struct.pack(">I", len(json)), json, *pictures))


def _page(item: Attachment, labels: Mapping[tuple[str | None, int | None], str], size: Size) -> str:
    """Return how the link to an attachment's page is called; on a stage the printed number alone."""
    if item.page_idx is None:
        return ""
    printed = clean(labels.get((item.doc_id, item.page_idx), "")[:20]).strip()
    return f"p. {printed}" if printed and size == "stage" else page_words(item.page_idx, printed)


def show_belonging(opened: session.Opened, shown: PageView) -> None:
    """Show the notices, pictures and tables of the chosen passage's place; nothing if there are none."""
    items = attached(place_of(shown), load.catalogue(opened))
    if not items:
        return
    markup.note("At this place", "h2", role="line")
    target = shown.target.id.encode("utf-8", "replace")
    key = f"attached-{hashlib.sha1(target, usedforsecurity=False).hexdigest()[:12]}"
    labels = documents.PageLabels(opened.manifest)
    show_attachments(items, manifest=opened.manifest, placer=documents.placer(), key=key, labels=labels)


def show_attachments(
    items: Sequence[Attached], *, manifest: Manifest, placer: Placer, key: str, labels: Labels = no_labels
) -> None:
    """Show the attachments of a cited place under `key`: its notices, its pictures, and those beside it.

    Many pictures, and those of other pages, are folded, and drawn when their heading is opened. Pictures are
    drawn in the background, so that no document blocks the page.
    """
    work = background.Several()

    def drawn(item: Attachment) -> Drawing | None:
        if item.kind in SAFETY_KINDS and item.text.strip():
            return None
        make = partial(draw, item.render_ref, manifest=manifest, placer=placer)
        outcome = work.ask(("drawing", str(manifest.folder), item.render_ref), make)
        if isinstance(outcome, Failed):
            return Drawing(problem=outcome.fault.problems[0])
        return outcome.value if isinstance(outcome, Done) else BEING_DRAWN

    def group(name: str, heading: str, members: Sequence[Attached], *, folds: bool = True) -> Group:
        is_open = bool(st.session_state.get(f"{key}-open-{name}")) if folds else None
        count = AT_ONCE * int(st.session_state.get(f"{key}-shown-{name}", 1)) if is_open is not False else 0
        shown = [(each.attachment, drawn(each.attachment)) for each in members[:count]]
        hidden = len(members) - len(shown) if count else 0
        of_all = f" of {hidden:,}" if hidden > AT_ONCE else ""
        more = f"Show {min(hidden, AT_ONCE):,} more{of_all}" if hidden else ""
        return Group(name, heading, shown, is_open, more)

    notices, media, beside = words.arranged(items)
    heading = words.heading_of_media(media) if len(media) > FEW else ""
    groups = [group("notices", "", notices, folds=False)] if notices else []
    groups += [group("media", heading, media, folds=bool(heading))] if media else []
    groups += [group("beside", f"{words.BESIDE} ({len(beside):,})", beside)] if beside else []

    def more(name: str) -> None:
        state = f"{key}-shown-{name}"
        st.session_state[state] = int(st.session_state.get(state, 1)) + 1

    def fold(name: str) -> None:
        state = f"{key}-open-{name}"
        st.session_state[state] = not st.session_state.get(state)

    places = {(each.doc_id, each.page_idx) for group in groups for each, _ in group.items}
    show_groups(
        groups,
        key=key,
        size="panel",
        unpaged=manifest.unpaged,
        labels={(doc, page): printed_on(page, labels(doc)) for doc, page in places if page is not None},
        on_more=more,
        on_fold=fold,
    )
    if work.awaited:
        background.hint("Some pictures are still being drawn …", work.awaited)


# How much of the answer's evidence can be shown.

LEVELS: Mapping[Level, str] = {
    "full": "Full evidence",
    "safety_citation": "Safety notices and citation",
    "citation_only": "Citation only",
    "text_only": "Text only",
}
#: Characters of the reason for a level.
MOST_REASON = 600
#: Instead of a level if no citation can be shown: a retrieved passage proves no answer.
NOT_CITED = "Retrieved, not cited"
LEVELS_MEAN = (
    "How much of this answer's evidence can be shown: the cited passage on its page with every notice, "
    "picture and table that belongs to it, or less."
)


def level_name(bundle: Bundle) -> str:
    """Return the level of a bundle as a badge."""
    return NOT_CITED if bundle.citation_origin == "retrieved" else LEVELS[bundle.level]


def show_level(opened: session.Opened, loaded: load.Loaded, key: TraceKey) -> None:
    """Show the level of an answer's evidence with its reason, once it is known; nothing without a trace.

    A bundle is built for it: the level depends on every citation being located and every attachment drawn.
    """
    if loaded.view.stored is not None:
        return
    shelf = Shelf(opened.manifest, session.pdf_pool(), placer=documents.placer())
    sources = Sources(shelf, loaded.chunks, load.catalogue(opened))
    task = ("level", *session.run_state(opened, key.run_id), key)
    outcome = background.ask(task, partial(bundle_of, key, loaded.view, sources))
    if isinstance(outcome, Waiting):
        background.hint("Checking evidence …", [task])
    elif isinstance(outcome, Failed):
        markup.note(f"The level of the evidence is not known: {outcome.fault.problems[0].message}.", "muted")
    else:
        bundle = outcome.value
        docs = {each.citation.doc_id for each in loaded.view.citations} - {None}
        labels = documents.PageLabels(opened.manifest)(docs.pop()) if len(docs) == 1 else ()
        reason = with_printed(bundle.level_reason, labels)
        tip = f"{shortened(reason, MOST_REASON)} {LEVELS_MEAN}"
        badge = Piece(level_name(bundle), "badge", tip=tip, term="term.bundle")
        markup.show(markup.text([badge], role="hint"), width="content")
