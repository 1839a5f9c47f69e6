"""What belongs to a bundle's place, large: safety notices as banners, then pictures and tables.

A component of our own, so that everything changes at once with its sizes known: with elements of their own,
pictures would come one after the other and push the rest about. Its parts are files beside this module.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import cache

import orjson
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.contracts.records.records import Attachment
from proofspan.evidence.attachments import SAFETY_KINDS
from proofspan.resources import text_of
from proofspan.services.bundles.walkthrough import Exhibit, Scene
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece, clean
from proofspan.ui.wording import safety as words

_NAME = "proofspan_walk_exhibits"
KEY = "walk-exhibits"
#: Bytes of pictures that are sent with one bundle; the page shows the others.
MOST_BYTES = 1_500_000
#: Characters of a notice, or of a text that stands for a picture.
TEXT_LIMIT = 1_200
TOO_LARGE = "Not drawn here: the pictures of this bundle are too large together. Its page shows it."


def show_exhibits(
    scene: Scene | None,
    *,
    told: str,
    on_see: Callable[[Attachment], None],
    on_more: Callable[[], None],
) -> None:
    """Draws the scene's exhibits, below what is `told` of the bundle. `on_see` opens the page of one of them.

    Where the component cannot be mounted, the words of the notices stand there all the same.
    """
    exhibits = scene.exhibits if scene is not None else ()
    data = packed(scene, told=told)
    try:
        _component()(
            key=KEY,
            data=data,
            on_see_change=lambda: _see(exhibits, on_see),
            on_more_change=on_more,
        )
    except (StreamlitAPIException, TypeError):
        for exhibit in exhibits:
            markup.show(markup.text([Piece(exhibit.item.attachment.text)], limit=TEXT_LIMIT))


def packed(scene: Scene | None, *, told: str) -> bytes:
    """The header's length (4 bytes, big endian), the header as JSON, the pictures in the order of `figures`.

    `id` is a hash of all: while it stays the same nothing is drawn anew.
    """
    exhibits, hidden = (scene.exhibits, scene.hidden) if scene is not None else ((), 0)
    documents = scene.slide.bundle.documents if scene is not None else ()
    unpaged = {document.doc_id for document in documents if not document.paged}
    notices = [each for each in exhibits if each.item.attachment.kind in SAFETY_KINDS]
    media = [each for each in exhibits if each.item.attachment.kind not in SAFETY_KINDS]
    pictures = _pictures(media)
    header: dict[str, object] = {
        "told": clean(told),
        "notices": [_notice(each, unpaged) for each in notices],
        "figures": [_figure(each, data, unpaged) for each, data in zip(media, pictures, strict=True)],
        "more": f"Show more ({hidden:,} are not shown)" if hidden else "",
    }
    whole = hashlib.sha1(orjson.dumps(header), usedforsecurity=False)
    for data in pictures:
        whole.update(data)
    json = orjson.dumps({**header, "id": whole.hexdigest()})
    return b"".join((struct.pack(">I", len(json)), json, *pictures))


def _pictures(media: Sequence[Exhibit]) -> list[bytes]:
    """The picture of each, empty where there is none or no room for it."""
    room, pictures = MOST_BYTES, []
    for each in media:
        data = (each.drawing.png if each.drawing else None) or b""
        pictures.append(data if len(data) <= room else b"")
        room -= len(pictures[-1])
    return pictures


def _notice(each: Exhibit, unpaged: set[str]) -> dict[str, object]:
    item = each.item.attachment
    signal, _ = words.SIGNALS[item.kind]
    caption = " ".join((item.caption or "").split())
    is_told = each.drawing is not None and each.drawing.problem is not None
    return {
        "kind": item.kind,
        "signal": signal,
        "title": "" if caption.casefold() in ("", item.kind) else clean(caption)[: words.ATTACHMENT_EXCERPT],
        "words": clean(item.text.strip()[:TEXT_LIMIT]),
        **_place(item, unpaged),
        "beside": each.item.is_beside,
        "problem": _problem(each) if is_told else "",
    }


def _figure(each: Exhibit, data: bytes, unpaged: set[str]) -> dict[str, object]:
    item, drawing = each.item.attachment, each.drawing
    is_too_large = not data and drawing is not None and drawing.png is not None
    return {
        "caption": clean(words.caption(item)),
        "alt": clean(words.alt(item)),
        "words": "" if data else clean(words.text_instead(item)[:TEXT_LIMIT]),
        "bytes": len(data),
        "mime": drawing.mime if drawing else "",
        "width": drawing.width if drawing else 0,
        "height": drawing.height if drawing else 0,
        **_place(item, unpaged),
        "beside": each.item.is_beside,
        "problem": TOO_LARGE if is_too_large else _problem(each),
    }


def _place(item: Attachment, unpaged: set[str]) -> dict[str, object]:
    page_idx = None if item.doc_id in unpaged else item.page_idx
    return {"id": clean(item.attachment_id), "place": clean(words.section(item)), "page": page_idx}


def _problem(each: Exhibit) -> str:
    problem = each.drawing.problem if each.drawing else None
    return clean("".join(piece.text for piece in words.not_drawn(problem))) if problem else ""


def _see(exhibits: Sequence[Exhibit], on_see: Callable[[Attachment], None]) -> None:
    """Opens the page of an exhibit, by the id that the browser sends; what else it may send is none."""
    sent = st.session_state[KEY].get("see")
    for each in exhibits:
        if clean(each.item.attachment.attachment_id) == sent:
            on_see(each.item.attachment)
            return


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, signs, js = (
        text_of(f"ui/{name}")
        for name in (
            "walkthrough/exhibits.html",
            "walkthrough/exhibits.css",
            "css/pieces.css",
            "walkthrough/exhibits.js",
        )
    )
    return st.components.v2.component(_NAME, html=html, css=f"{signs}\n{css}", js=js)
