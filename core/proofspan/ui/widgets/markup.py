"""Untrusted text on a page: escaped pieces, marks of fixed kinds, and labels that stay plain.

Everything that Proofspan shows was written by somebody else, and Streamlit's Markdown fetches a remote image
on view even from escaped text. So text with marks is a list of `Piece`s, each escaped whole and wrapped in a
tag from a closed table; this module is the only caller of `st.html`, and `Markup` is made nowhere else. A
widget's label is Markdown too: foreign words enter it through `label`.
"""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args
from urllib.parse import urlencode

import streamlit as st

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.verdicts.types import Holding
from proofspan.display_names import LABEL_NAMES, NO_LABEL
from proofspan.evidence.types import Mime, Picture
from proofspan.resources import PACKAGE, text_of
from proofspan.services.page.shapes import Layer, Percent
from proofspan.services.page.text_view import TextRun, TextView
from proofspan.wording import clean as clean

Kind = Literal[
    "plain",
    "h1",
    "h2",
    "h3",
    "strong",
    "muted",
    "aside",
    "code",
    "key",
    "phrase",
    "unsupported",
    "claimed",
    "unexpected",
    "expected",
    "differs",
    "removed",
    "added",
    "removed-number",
    "added-number",
    "number",
    "number-chosen",
    "generation_drift",
    "retrieval_drift",
    "refusal_suspect",
    "refusal_ok",
    "ok",
    "no-label",
    "badge",
    "pass",
    "warn",
    "fail",
    "signal-warning",
    "signal-caution",
    "signal-note",
]
Width = Literal["stretch", "content"]
#: In a panel of a page, or as large as the window allows.
Size = Literal["panel", "stage"]
Role = Literal["title", "heading", "text", "line", "hint", "quote", "says", "verdict"]

#: Whether the page that is being drawn has its title, the heading of the first level.
HAS_TITLE: ContextVar[bool] = ContextVar("HAS_TITLE", default=False)

#: Characters shown at once; what lies beyond waits behind "Show more".
LIMIT = 50_000
#: Characters shown at first where other things wait below, about 30 lines of a panel.
FEW = 2_000

_MARKS = ("phrase", "unsupported", "claimed", "unexpected", "expected", "differs")
_TAGS = dict.fromkeys(_MARKS, "mark") | {"strong": "strong", "code": "code", "key": "kbd"}
#: Headings in a line look as the words around them do: the page's title, a panel's, and that of a part of it.
_TAGS |= {"h1": "h1", "h2": "h2", "h3": "h3"}
_TAGS |= {"removed": "del", "removed-number": "del", "added": "ins", "added-number": "ins"}
#: Words of a sentence that lead to the glossary.
_EXPLAINED = re.compile(r"\{([^{}]+)\}")
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text and its meaning, with a tooltip.

    `term` is the entry of the glossary that explains it (see `proofspan.ui.help.glossary`), `href` an address
    that `ViewState.link` made; both make the run a link. `cite` is the number of the run's citation and
    `claim` that of its claim, in a text in which they can be chosen.
    """

    text: str
    kind: Kind = "plain"
    tip: str = ""
    cite: int | None = None
    claim: int | None = None
    term: str = ""
    href: str = ""


class Stop(NamedTuple):
    """A stage that something passes, and how much of it is there in `words`, which the dot repeats."""

    name: str
    words: str
    holding: Holding


@dataclass(frozen=True, slots=True)
class Markup:
    """HTML made by this module, and nowhere else, which makes `show` safe."""

    html: str


def keep_percent(text: str) -> str:
    """Return the words with each percent sign on the line of its number; as many characters as before."""
    return text.replace(" %", "\u00a0%")


def label(text: str, *, limit: int = 80) -> str:
    """Return foreign text as a widget's label: one line, at most `limit` characters, without Markdown."""
    line = " ".join(clean(text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return _MARKDOWN.sub(r"\\\1", line)


def chip(name: Label | None) -> Piece:
    """Return a label as a chip: the name carries the meaning, the colour repeats it."""
    return (
        Piece(LABEL_NAMES[name], name, tip=name, term=f"label.{name}")
        if name
        else Piece(NO_LABEL, "no-label")
    )


def coded(message: str, kind: Kind = "plain") -> list[Piece]:
    """Return a message with its words between backticks as code, the rest as `kind`."""
    parts = message.split("`")
    return [Piece(part, "code" if place % 2 else kind) for place, part in enumerate(parts) if part]


def explained(sentence: str, *terms: str, kind: Kind = "plain") -> list[Piece]:
    """Return a sentence of ours whose words in braces lead to `terms` of the glossary, in their order."""
    parts = _EXPLAINED.split(sentence)
    if len(parts) != 2 * len(terms) + 1:
        raise ValueError(f"{len(terms)} terms for {sentence!r}"[:200])
    return [
        Piece(part, kind, term=terms[place // 2] if place % 2 else "")
        for place, part in enumerate(parts)
        if part
    ]


def also(terms: Iterable[str]) -> Markup:
    """Return a mark that Help reads: the page uses these terms where no link can be, as in a figure."""
    return Markup("".join(f'<span data-term="{_escape(term)}" hidden></span>' for term in terms))


def text(pieces: Iterable[Piece], *, role: Role = "text", limit: int = LIMIT) -> Markup:
    """Return a block of pieces, cut after `limit` characters with the number of those hidden."""
    kept, hidden = cut(pieces, limit=limit)
    if hidden:
        kept = (*kept, Piece(f" … {hidden:,} more characters", "muted"))
    return _block(role, _inline(kept))


def facts(rows: Sequence[tuple[str, Sequence[Piece]]]) -> Markup:
    """Return a short table without a grid: names on the left, values on the right."""
    cells = (
        f"<dt>{_escape(name)}</dt><dd>{_inline(cut(pieces, limit=2_000)[0])}</dd>" for name, pieces in rows
    )
    return Markup(f'<dl class="ps-facts" data-testid="ps-facts">{"".join(cells)}</dl>')


def bar(
    parts: Sequence[tuple[str, int, str]],
    *,
    grows: bool = False,
    terms: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """Return counts as the parts of a bar, by names of our own, which the stylesheet colours.

    `terms` explain the parts: name → term. The words of each part go into its button, whose key is `group-`
    and the name, and here once more without being seen: buttons are drawn later than text, and have their
    room below the bar from the start. With `grows` more parts are expected, and there is room for them too.
    """
    if not all(name.isidentifier() and isinstance(count, int) for name, count, _ in parts):
        raise ValueError(f"names of our own and counts: {parts!r}"[:200])
    drawn = "".join(
        f'<span class="ps-part-{name}" style="flex-grow: {count}"></span>'
        for name, count, _ in parts
        if count
    )
    about = {
        name: f' data-term="{_escape(term)}" data-of="group-{name}"' for name, term in terms.items() if term
    }
    room = "".join(f"<span{about.get(name, '')}>{_escape(words)}</span>" for name, _, words in parts)
    kind = "ps-room ps-grows" if grows else "ps-room"
    return Markup(
        f'<div class="ps-bar" data-testid="ps-bar" aria-hidden="true">{drawn}</div>'
        f'<div class="{kind}" aria-hidden="true">{room}</div>'
    )


def gauge(value: float, low: float | None, high: float | None, goal: float) -> Markup:
    """Return a share as a bar, with its interval as a line over it and its goal as a tick, all in 0–1.

    Numbers beside it say the same, so that it is hidden from screen readers.
    """
    shares = [min(max(float(share), 0.0), 1.0) for share in (value, low or 0.0, high or 0.0, goal)]
    filled, start, end, tick = (f"{100 * share:.1f}%" for share in shares)
    sure = f'<i style="left: {start}; right: calc(100% - {end})"></i>' if low is not None else ""
    drawn = f'<span style="width: {filled}"></span>{sure}<b style="left: {tick}"></b>'
    return Markup(f'<div class="ps-gauge" data-testid="ps-gauge" aria-hidden="true">{drawn}</div>')


def place(part: str, name: str, **counts: int) -> Markup:
    """Return an invisible mark of what a part of the page was drawn for, by which `ui/question/steps.js`
    hides one that is behind the others. All names are our own letters and digits.
    """
    if not all(each.isalnum() for each in (part, name, *counts)):
        raise ValueError(f"letters and digits: {part!r}, {name!r}, {counts!r}"[:200])
    numbers = "".join(f' data-{key}="{int(value)}"' for key, value in counts.items())
    return Markup(f'<span data-testid="ps-place" data-part="{part}" data-of="{name}"{numbers} hidden></span>')


def crop(picture: Picture, boxes: Iterable[tuple[Layer, Percent, bool]], *, alt: str) -> Markup:
    """Return a picture with boxes over it: layers, places in percent, and whether each is an outline."""
    if picture.mime not in get_args(Mime):
        raise ValueError(f"unknown kind of picture: {picture.mime!r}")
    drawn = []
    for layer, rect, is_extent in boxes:
        if layer not in get_args(Layer):
            raise ValueError(f"unknown layer: {layer!r}")
        left, top, width, height = (f"{float(each):.3f}%" for each in rect)
        kind = f"ps-box-{layer}{' ps-extent' if is_extent else ''}"
        place = f"left: {left}; top: {top}; width: {width}; height: {height}"
        drawn.append(f'<i class="{kind}" style="{place}"></i>')
    data = b64encode(picture.data).decode("ascii")
    image = f'<img src="data:{picture.mime};base64,{data}" alt="{_escape(alt)}">'
    return Markup(f'<div class="ps-crop" data-testid="ps-crop">{image}{"".join(drawn)}</div>')


def row(left: Iterable[Piece], right: Iterable[Piece] = ()) -> Markup:
    """Return a line with something at each end; the right end wraps below where the width is short."""
    return _block("row", f"<span>{_inline(left)}</span><span>{_inline(right)}</span>")


def stops(passed: Sequence[Stop], *, name: str) -> Markup:
    """Return stages as a list of dots in their order; `name` is the list's name for screen readers."""
    for stop in passed:
        if stop.holding not in get_args(Holding):
            raise ValueError(f"unknown holding: {stop.holding!r}")
    items = (
        f'<li class="ps-stop ps-stop-{stop.holding}"><span>{_escape(stop.name)}</span> '
        f"<strong>{keep_percent(_escape(stop.words))}</strong></li>"
        for stop in passed
    )
    listed = f'<ol class="ps-stops" role="list" aria-label="{_escape(name)}">{"".join(items)}</ol>'
    return Markup(f'<div class="ps-way" data-testid="ps-stops">{listed}</div>')


def numbered(view: TextView, *, name: str, focus: str) -> Markup:
    """Return lines of a document with their numbers and spans as marks, in a frame that scrolls.

    `name` is the frame's name for screen readers. By `focus`, our own letters and
    digits, `proofspan.ui.viewer.text_frame` finds the marks to scroll to.
    """
    if not focus.isalnum():
        raise ValueError(f"focus is letters and digits: {focus!r}")
    lines = "".join(
        f'<div class="ps-numbered" data-line="{line.number}">{"… " if line.is_cut_before else ""}'
        f"{''.join(map(_run, line.runs))}{' …' if line.is_cut_after else ''}</div>"
        for line in view.lines
    )
    legend = "".join(f'<span class="ps-legend-{layer}">{layer}</span>' for layer in view.layers)
    return Markup(
        f'<div class="ps-frame" data-testid="ps-frame" data-focus="{focus}" tabindex="0" role="group" '
        f'aria-label="{_escape(name)}">{lines}</div>'
        f'<div class="ps-legend" data-testid="ps-text-legend">{legend}</div>'
    )


def cut(pieces: Iterable[Piece], *, limit: int) -> tuple[tuple[Piece, ...], int]:
    """Return the first `limit` characters of the pieces, and how many were left out."""
    kept: list[Piece] = []
    room, hidden = limit, 0
    for piece in pieces:
        part = piece.text[:room]
        hidden += len(piece.text) - len(part)
        room -= len(part)
        if part:
            kept.append(replace(piece, text=part))
    return tuple(kept), hidden


def show(*parts: Markup, width: Width = "stretch") -> None:
    """Put the parts on the page as one element."""
    drawn = "".join(part.html for part in parts)
    if "<h1" in drawn:
        HAS_TITLE.set(True)
    st.html(drawn, width=width)


def note(
    words: str, kind: Kind = "plain", *, role: Role = "hint", tip: str = "", width: Width = "stretch"
) -> None:
    """Draw a line of a single piece."""
    show(text([Piece(words, kind, tip)], role=role), width=width)


def titled(
    title: str,
    about: str,
    *,
    level: Kind = "h2",
    role: Role = "line",
    tip: str = "",
    term: str = "",
    width: Width = "stretch",
) -> None:
    """Draw a heading with muted words after it; `tip` is theirs, `term` explains the heading."""
    show(text([Piece(title, level, term=term), Piece(about, "muted", tip)], role=role), width=width)


def page_title(title: str, about: str = "", *, width: Width = "stretch") -> None:
    """Draw the page's title, its one heading of the first level, with muted words after it."""
    titled(title, about, level="h1", role="title", width=width)


def show_long(pieces: Sequence[Piece], *, key: str, role: Role = "text", limit: int = LIMIT) -> None:
    """Draw a text of any length: `limit` characters, and a button that shows up to `LIMIT` more."""
    show(text(pieces, role=role, limit=shown_limit(key, limit=limit)))
    show_more(pieces, key=key, limit=limit)


def shown_limit(key: str, *, limit: int = LIMIT) -> int:
    """Return how many characters of a long text are currently shown."""
    return limit + LIMIT * int(st.session_state.get(f"shown:{key}", 0))


def show_more(pieces: Sequence[Piece], *, key: str, limit: int = LIMIT) -> None:
    """Draw the button below a long text that has more characters than `shown_limit`."""

    def more() -> None:
        st.session_state[f"shown:{key}"] = int(st.session_state.get(f"shown:{key}", 0)) + 1

    if sum(len(piece.text) for piece in pieces) > shown_limit(key, limit=limit):
        st.button("Show more", key=f"more:{key}", on_click=more)


@cache
def common_css() -> str:
    """Return the rules of all pages, which the page that loads the dashboard has in it."""
    return "\n".join(
        text_of(f"ui/css/{name}.css") for name in ("style", "pieces", "frame", "attached", "help")
    )


def stylesheet() -> None:
    """Add the rules of all pages to a page that was loaded without them."""
    st.html(f"<style>{common_css()}</style>")


def page_stylesheet(page: str, state: str = "") -> None:
    """Add the rules of a page by its address, where it has any: `ui/trends/trends.css` for trends.

    With a `state`, add those of what it looks like in that state: `ui/walkthrough/presenting.css`.
    """
    if css := page_css(page, state):
        st.html(f"<style>{css}</style>")


def page_css(page: str, state: str = "") -> str:
    """Return the rules that `page_stylesheet` adds; "" where there are none."""
    page = page or "triage"  # which is at the root
    own = f"ui/{page}/{state or page}.css"
    return text_of(own) if (PACKAGE / own).exists() else ""


def _escape(raw: str) -> str:
    return html.escape(clean(raw), quote=True)


def tag_of(kind: Kind) -> str:
    """Return the element of a kind of piece; its class is `ps-` and the kind."""
    if kind not in get_args(Kind):
        raise ValueError(f"unknown kind of piece: {kind!r}")
    return _TAGS.get(kind, "span")


def _inline(pieces: Iterable[Piece]) -> str:
    parts = []
    for piece in pieces:
        tag, words = tag_of(piece.kind), keep_percent(_escape(piece.text))
        tip = f' title="{_escape(piece.tip)}"' if piece.tip else ""
        is_bare = piece.kind == "plain" and not tip
        ending = words[len(words.rstrip()) :] if piece.term or piece.href else ""  # no line under a space
        words = words.removesuffix(ending)
        inner = words if is_bare else f'<{tag} class="ps-{piece.kind}"{tip}>{words}</{tag}>'
        parts.append(f"{_linked(piece, inner)}{ending}")
    return "".join(parts)


def term_address(term: str) -> str:
    """Return the address of a term of the glossary, which a click opens over the page."""
    return f"./?{urlencode({'help': term})}"


def _linked(piece: Piece, inner: str) -> str:
    """Return a piece as a link to its explanation or its page, which the browser follows in place."""
    if piece.term:
        return f'<a class="ps-term" href="{term_address(piece.term)}">{inner}</a>'
    if not piece.href:
        return inner
    if not piece.href.startswith("./"):
        raise ValueError(f"an address of our own: {piece.href!r}"[:200])
    return f'<a class="ps-link" href="{_escape(piece.href)}">{inner}</a>'


def _run(run: TextRun) -> str:
    """Return a run with a mark per layer, the cited one innermost, after the tags that begin there."""
    marked = _escape(run.text)
    for layer in run.layers:
        chosen = " ps-chosen" if layer == run.chosen else ""
        chosen += "" if run.is_verified else " ps-unverified"
        chosen += " ps-extent" if layer in run.extents else ""
        marked = f'<mark class="ps-span-{layer}{chosen}" data-testid="ps-span">{marked}</mark>'
    tags = "".join(f'<span class="ps-tag ps-tag-{layer}">{_escape(tag)}</span>' for layer, tag in run.tags)
    return tags + marked


def _block(role: str, inner: str) -> Markup:
    return Markup(f'<div class="ps-{role}" data-testid="ps-{role}">{inner}</div>')
