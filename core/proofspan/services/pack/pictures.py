"""A page of a question as HTML: its picture with the boxes over it, or the lines of a text without pages."""

from __future__ import annotations

import hashlib
import html
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field

from proofspan.display_names import CLAIM_NAMES, EVIDENCE_NAMES
from proofspan.evidence.types import FoundSpan, Picture
from proofspan.services.pack.crops import PagePart
from proofspan.services.pack.ink import Ink
from proofspan.services.page.shapes import PageSpan, Percent
from proofspan.services.page.text_view import TextLine, TextRun, TextView
from proofspan.services.question.claims import Judged

#: The width of a letter of a tag, its height, and the room between two, in pixels of the picture.
LETTER, HEIGHT, ROOM = 8.0, 20, 8
#: Lines around a passage of a document without pages, and how many are shown in all.
AROUND, MOST_LINES = 2, 80


@dataclass(slots=True)
class Pictures:
    """The pictures that a file has already: an equal one is stored once, and used again by its id."""

    _ids: dict[bytes, str] = field(default_factory=dict)

    def element(self, picture: Picture) -> str:
        """Return the SVG element that shows a picture."""
        print_ = hashlib.sha256(picture.data).digest()
        if print_ in self._ids:
            return f'<use href="#{self._ids[print_]}"/>'
        # No question's id has a colon: it is written as %3A there.
        name = self._ids[print_] = f"picture:{len(self._ids) + 1}"
        size = f'width="{picture.width}" height="{picture.height}"'
        mime = html.escape(picture.mime)  # the worker's, which a document may have taken over
        data = b64encode(picture.data).decode("ascii")
        return f'<image id="{name}" {size} href="data:{mime};base64,{data}"/>'


def crop_html(crop: PagePart, ink: Ink, judged: Judged | None, pictures: Pictures) -> str:
    """Return a page as a figure: its picture or lines, or the reason why not, with its name and its spans."""
    page = crop.page
    title = page.document.title or page.document.doc_id if page.document is not None else page.target.doc_id
    name = ink.text(", ".join(filter(None, (title, ink.page(page.target.doc_id, page.page_idx)))), 300)
    if crop.problem is not None:
        why = ink.text(crop.problem.message)
        return f'<figure><p class="lost">Not shown: {why}.</p><figcaption>{name}</figcaption></figure>'
    if crop.is_redacted:
        shown = '<p class="lost">This page is redacted.</p>'
    elif crop.picture is not None:
        shown = f'<div class="sheet">{_svg(crop, crop.picture, name, ink, pictures)}</div>'
    elif page.text is not None:
        shown = f'<div class="lines">{"".join(_lines(page.text, ink))}</div>'
    else:
        shown = '<p class="lost">There is nothing to show.</p>'
    keys = "".join(_keys(crop, judged, ink))
    return f"<figure>{shown}<figcaption>{name}<ul>{keys}</ul></figcaption></figure>"


def _svg(crop: PagePart, picture: Picture, name: str, ink: Ink, pictures: Pictures) -> str:
    """Return the part of a page with its boxes; those are in percent of the whole page, as the viewer's."""
    left, top, across, down = crop.region
    width, height = picture.width * 100 / across, picture.height * 100 / down
    place = f'x="{-left * width / 100:.2f}" y="{-top * height / 100:.2f}"'
    boxes = "".join(
        _rect(box, f"{_look(span)}{' extent' if box in span.extent else ''}", ink.text(span.id))
        for span in crop.page.spans
        for box in (*span.rects, *span.extent)
    )
    for spot in crop.spots:
        boxes += "".join(_rect(box, "claim", f"claim:{spot.number}") for box in spot.rects)
        boxes += "".join(_rect(box, "mark", f"mark:{spot.number}") for box in spot.marks)
    whole = f'{place} width="{width:.2f}" height="{height:.2f}"'
    gutter, tags = _tags(crop, picture, ink)
    size = f'width="{picture.width}" height="{picture.height}"'
    return (
        f'<svg class="page" viewBox="{-gutter} 0 {picture.width + gutter} {picture.height}" role="img" '
        f'aria-label="{name}"><svg {size}>{pictures.element(picture)}<svg class="boxes" {whole}>{boxes}</svg>'
        f"</svg>{tags}</svg>"
    )


def _look(span: PageSpan) -> str:
    return " ".join([span.layer, *["chosen"] * span.chosen, *["unverified"] * (not span.is_verified)])


def _rect(box: Percent, look: str, name: str) -> str:
    x, y, width, height = box
    return f'<rect class="{look}" data-span="{name}" x="{x}%" y="{y}%" width="{width}%" height="{height}%"/>'


def _tags(crop: PagePart, picture: Picture, ink: Ink) -> tuple[int, str]:
    """Return the spans' names left of the picture, each where its span begins or below another.

    With them the width that they take, in pixels of the picture.
    """
    _, top, _, down = crop.region
    named = (
        ((span.rects or span.extent)[0][1], layer if span.is_verified else "unverified", words)
        for span in crop.page.spans
        for layer, words in span.tags
    )
    free, tags = 0.0, list[tuple[float, str, str]]()
    for start, look, words in sorted(named, key=lambda each: each[0]):
        at = (start - top) * picture.height / down
        if 0 <= at < picture.height:
            y = max(free, min(at, picture.height - HEIGHT))
            free = y + HEIGHT + 1
            tags.append((y, look, words))
    gutter = max((round(len(words) * LETTER) + 2 * ROOM for _, _, words in tags), default=0)
    return gutter, "".join(_tag(y, look, words, gutter, ink) for y, look, words in tags)


def _tag(y: float, look: str, words: str, gutter: int, ink: Ink) -> str:
    width = len(words) * LETTER
    ground = f'<rect x="{-gutter + 2}" y="{y:.1f}" width="{width + ROOM:.1f}" height="{HEIGHT}" rx="2"/>'
    fitted = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
    text = f'<text x="{-gutter + 2 + ROOM // 2}" y="{y + HEIGHT - 5:.1f}" {fitted}>{ink.text(words)}</text>'
    return f'<g class="tag {look}">{ground}{text}</g>'


def _keys(crop: PagePart, judged: Judged | None, ink: Ink) -> Iterator[str]:
    """Yield what is marked on the page, and how it compares with the page's own text."""
    page = crop.page
    spans = {span.id: span for span in page.spans}
    if page.target.id not in spans and page.target.kind != "claim" and page.text is None:
        yield _key("none", page.target.tag, _state(page.chosen), ink)
    named = {id_: words for span in page.spans for id_, words in [(span.id, _own_tag(span, page.spans))]}
    for id_, span in spans.items():
        if named[id_]:
            yield _key(_look(span), named[id_], _state(page.found.get(id_)), ink)
    if page.text is not None:
        for layer, words in dict.fromkeys(
            tag for line in page.text.lines for run in line.runs for tag in run.tags
        ):
            yield _key(layer, words, "", ink)
    for spot in crop.spots:
        status = judged.checked.claims[spot.number - 1].status if judged is not None else None
        yield _key("claim", f"claim {spot.number}", CLAIM_NAMES.get(status or "", ""), ink)


def _own_tag(span: PageSpan, spans: tuple[PageSpan, ...]) -> str:
    """Return a span's own name, "" if unknown: of those that begin together one has the names of all."""
    kind, _, rest = span.id.partition(":")
    wanted = {"cite": f"cited {rest}", "gold": f"gold {rest}"}.get(kind)
    every = [words for each in spans for layer, words in each.tags if layer == span.layer]
    exact = next((words for words in every if wanted and words.partition(",")[0] == wanted), None)
    return exact or next((words for layer, words in span.tags if layer == span.layer), wanted or "")


def _state(found: FoundSpan | None) -> str:
    if found is None:
        return ""
    state = "numbers_differ" if found.numbers_differ else found.status
    states = [EVIDENCE_NAMES[state], *([EVIDENCE_NAMES["page_mismatch"]] if found.page_mismatch else [])]
    return " · ".join(states)


def _key(look: str, words: str, state: str, ink: Ink) -> str:
    compared = f": {ink.text(state)}" if state else ""
    return f'<li class="key {look}"><b>{ink.text(words)}</b>{compared}</li>'


def _lines(text: TextView, ink: Ink) -> Iterator[str]:
    """Yield the lines around the passages of a document without pages."""
    marked = [place for place, line in enumerate(text.lines) if any(run.layers for run in line.runs)]
    near = sorted({n for place in marked for n in range(place - AROUND, place + AROUND + 1)})
    shown = [n for n in near if 0 <= n < len(text.lines)] or list(range(len(text.lines)))
    last = None
    for place in shown[:MOST_LINES]:
        line = text.lines[place]
        if last is not None and line.number > last + 1:
            yield '<p class="gap">…</p>'
        last = line.number
        yield _line(line, ink)
    if len(shown) > MOST_LINES:
        yield '<p class="gap">…</p>'


def _line(line: TextLine, ink: Ink) -> str:
    runs = "".join(_run(run, ink) for run in line.runs)
    return f'<p><span class="no">{line.number}</span>{runs}</p>'


def _run(run: TextRun, ink: Ink) -> str:
    tags = "".join(f'<span class="tag {layer}">{ink.text(words)}</span>' for layer, words in run.tags)
    layers = " ".join([*run.layers, *["unverified"] * (not run.is_verified)])
    text = ink.text(run.text)
    return f'{tags}<mark class="{layers}">{text}</mark>' if run.layers else tags + text
