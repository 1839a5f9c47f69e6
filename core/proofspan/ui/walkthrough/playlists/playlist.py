"""The Playlist menu: which questions are shown, in which order, and what the list is called.

All of it is in the address, so that a link shares it: ids in their order and a name, else a filter.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence

import orjson
import streamlit as st

from proofspan.contracts.records.records import LABELS
from proofspan.display_names import LABEL_NAMES
from proofspan.evidence.bundles import Level
from proofspan.evidence.types import Picture
from proofspan.services.bundles.walkthrough import Playlist
from proofspan.ui.component import component
from proofspan.ui.question.attachments import LEVELS
from proofspan.ui.status import background
from proofspan.ui.visit.view_state import MAX_REPEATS, ViewState, question_name, read_view, write_view
from proofspan.ui.walkthrough.bar import is_count
from proofspan.ui.walkthrough.load import MOST_THUMBNAILS, Walk
from proofspan.ui.walkthrough.playlists.kept import MAX_NAME, show_kept
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin, feed, select
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.wording import counted

#: Questions offered by the picker; a longer list has to be filtered first.
OFFERED = 500
FULL: tuple[Level, ...] = ("full",)
ORDER_KEY = "playlist-order"


def playlist_menu(
    view: ViewState,
    walk: Walk,
    *,
    folder: str,
    whole: Callable[[], Playlist],
    pictures: Callable[[], tuple[Sequence[Picture | None], Sequence[Hashable]]],
) -> None:
    """Show the menu; its content is made only while it is open.

    The saved playlists are those of the workspace in `folder`. `whole` gives the run's whole list, `pictures`
    the pages of the playlist and the keys of unfinished tasks.
    """
    menu = st.popover("Playlist", key="playlist", on_change="rerun", type="tertiary")
    if not menu.open:
        return
    playlist = walk.playlist
    names = names_of(playlist) if len(playlist) <= MOST_THUMBNAILS else []
    with menu:
        markup.note(sentence(view, walk), "strong", role="line")
        with st.container(horizontal=True, key="playlist-kinds", gap="small"):
            if walk.kind != "best":
                st.button("Best of", key="playlist-best", on_click=_open_best)
            if walk.kind != "whole":
                st.button("All questions", key="playlist-whole", on_click=open_whole)
            show_copying("", name="", key="playlist-link")
        show_kept(folder, view, names)
        st.text_input(
            "Name",
            begin("playlist-name", view.name) or "",
            key="playlist-name",
            max_chars=MAX_NAME,
            placeholder="Name of this playlist …",
            label_visibility="collapsed",
            on_change=_rename,
            args=(names,),
        )
        if names:
            drawn, awaited = pictures()
            show_order(playlist, names, drawn)
            if awaited:
                background.hint("Some pages are still being drawn …", awaited)
        _picker(names, whole())
        markup.note("Or by a filter", "muted")
        _filters(view, has_levels=bool(walk.materials.stored.levels))


def names_of(playlist: Playlist) -> list[str]:
    """Return the names of the questions as the address has them."""
    keys = list(playlist.places)
    return [question_name(key.q_id, key.repeat) for key in keys[:MAX_REPEATS]]


def sentence(view: ViewState, walk: Walk) -> str:
    """Return the content of the list: `12 questions, with full evidence`."""
    count = counted(len(walk.playlist), "question")
    if walk.kind == "best":
        return f"Best of: {count}, chosen by a rule"
    if view.ids:
        return f"{view.name}: {count}" if view.name else f"{count}, chosen by hand"
    described = view.filter.where().sentence
    full = "with full evidence" if view.level == FULL else " or ".join(LEVELS[each] for each in view.level)
    return ", ".join(part for part in (count, described, full) if part)


def _picker(names: Sequence[str], whole: Playlist) -> None:
    """Offer the questions that are not in the list; one that is chosen goes to its end, or begins a list."""
    listed = whole.frame.head(OFFERED)
    titles: dict[str, str] = {}
    for q_id, repeat, q in zip(listed["q_id"], listed["repeat"], listed["q"], strict=True):
        named = question_name(q_id, repeat)
        if named not in names:
            titles[named] = f"{named[:24]} · {' '.join(q.split())[:90]}"
    if len(names) < MAX_REPEATS:
        select(
            "Add a question",
            titles,
            None,
            key="playlist-add",
            on_choose=lambda name: _choose([*names, name]) if name else None,
            placeholder="Add a question …" if names else "Begin a playlist with a question …",
            is_clearable=True,
        )


def _filters(view: ViewState, *, has_levels: bool) -> None:
    st.pills(
        "Labels",
        LABELS,
        selection_mode="multi",
        format_func=lambda label: LABEL_NAMES[label],
        default=begin("playlist-label", list(view.filter.label)),
        key="playlist-label",
        label_visibility="collapsed",
        on_change=_filter_by,
        args=("playlist-label", "label"),
    )
    st.text_input(
        "Search questions and answers",
        begin("playlist-text", view.filter.text) or "",
        key="playlist-text",
        icon=":material/search:",
        placeholder="Search …",
        label_visibility="collapsed",
        on_change=_filter_by,
        args=("playlist-text", "text"),
    )
    feed("playlist-full", view.level == FULL)
    st.toggle(
        "Only full evidence",
        key="playlist-full",
        disabled=not has_levels and not view.level,
        help="By the run's stored bundles; without them, build some: proofspan bundle build WORKSPACE",
        on_change=_filter_by,
        args=("playlist-full", "level"),
    )


# The order of the list, with its pages as pictures.


def show_order(playlist: Playlist, names: Sequence[str], pictures: Sequence[Picture | None]) -> None:
    """Draw the questions in their order with their pages; the browser sends all names in another order."""
    # Counted, so that the browser knows which move was answered.
    moves = int(st.session_state.get("walk-moves", 0))

    def acted() -> None:
        wanted = order_from(st.session_state[ORDER_KEY].get("order"), names)
        if wanted is not None:
            chosen, st.session_state["walk-moves"] = wanted
            _choose(chosen)

    data = packed(names, playlist.frame["q"].tolist(), pictures, moves=moves)
    component("ui/walkthrough/playlists/playlist")(key=ORDER_KEY, data=data, on_order_change=acted)


def packed(
    names: Sequence[str], questions: Sequence[str], pictures: Sequence[Picture | None], *, moves: int = 0
) -> bytes:
    """Return the length of a JSON header (4 bytes, big endian), the header, and the pictures in its order.

    `moves` is the number of the last move that was answered.
    """
    items = [
        {
            "name": name,
            "q": markup.clean(" ".join(q.split())[:200]),
            "bytes": len(picture.data) if picture else 0,
            "mime": picture.mime if picture else "",
        }
        for name, q, picture in zip(names, questions, pictures, strict=True)
    ]
    header = orjson.dumps({"items": items, "moves": moves})
    return b"".join((struct.pack(">I", len(header)), header, *(each.data for each in pictures if each)))


def order_from(sent: object, names: Sequence[str]) -> tuple[list[str], int] | None:
    """Return the names that a browser sends, some of `names` and each once, and the number of the move."""
    if not isinstance(sent, dict):
        return None
    wanted, moves = sent.get("names"), sent.get("moves")
    if not isinstance(wanted, list) or not wanted or not all(isinstance(name, str) for name in wanted):
        return None
    is_known = set(wanted) <= set(names) and len(set(wanted)) == len(wanted)
    return (wanted, moves) if is_known and is_count(moves, 1) else None


# What a choice does to the address.


def _choose(names: Sequence[str]) -> None:
    view = read_view()
    is_there = view.q is None or view.q in names
    _go(view.without_filter().change(ids=tuple(names), name=view.name), stays=is_there)


def _rename(names: Sequence[str]) -> None:
    """Name the list; it becomes one that is chosen by hand."""
    name, view = str(st.session_state["playlist-name"]).strip(), read_view()
    ids = view.ids or tuple(names)
    _go(view.change(name=name, ids=ids) if name else view.change(name=""), stays=True)


def _filter_by(key: str, name: str) -> None:
    """Open the list that a widget chooses; one that is filtered has no ids."""
    value, view = st.session_state[key], read_view().change(ids=(), name="", whole=False)
    if name == "level":
        _go(view.change(level=FULL if value else ()))
    else:
        _go(view.change(**{name: tuple(value) if isinstance(value, list) else value}))


def _open_best() -> None:
    _go(read_view().without_filter())


def open_whole() -> None:
    """Open the run's whole list at its title."""
    _go(read_view().without_filter().change(whole=True))


def _go(view: ViewState, *, stays: bool = False) -> None:
    """Open a list at its title, or with `stays` at the question that is shown."""
    place = {"q": None, "p": 0, "s": 0, "end": False}
    write_view(view.change(**({} if stays else place), cite=None, chunk=None, page=None))
