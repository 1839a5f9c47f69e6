"""The displayed lines of a document without pages, cut where spans begin and end.

A short text is shown whole, a long one around the chosen span. Nothing here depends on markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from proofspan.evidence.text.text_document import TextDocument
from proofspan.evidence.types import TextRange
from proofspan.services.page.shapes import Layer

#: A longer text is shown in part, of which a quarter is before the chosen span.
MAX_LINES = 2_000
MAX_CHARACTERS = 200_000
#: Tags shown where spans begin together; overlapping chunks may be many.
MAX_TAGS = 4


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A located span, `ranges` in order; the view is about the `chosen` one.

    `is_verified` False: only offsets name these ranges, and no quote confirms them. `is_extent`: the passage
    that another span is a part of; it has no tag.
    """

    layer: Layer
    tag: str
    ranges: tuple[TextRange, ...]
    chosen: bool = False
    is_verified: bool = True
    is_extent: bool = False


@dataclass(frozen=True, slots=True)
class TextRun:
    """Characters of one line that lie in the same spans.

    `layers` are those of the spans, each once; `tags` name the spans that begin here, `chosen` is the layer
    of the chosen one if it is among them. `is_verified` False: no quote confirms any of them. `extents` are
    the layers of which only the passage around a span is here.
    """

    text: str
    layers: tuple[Layer, ...] = ()
    chosen: Layer | None = None
    tags: tuple[tuple[Layer, str], ...] = ()
    is_verified: bool = True
    extents: tuple[Layer, ...] = ()


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line with its number from 1, without its line feed; a long one may be cut at either end."""

    number: int
    runs: tuple[TextRun, ...]
    is_cut_before: bool = False
    is_cut_after: bool = False


@dataclass(frozen=True, slots=True)
class TextView:
    """The displayed lines, of `line_count` in all, and the layers with a span among them.

    `is_extracted` as in `TextDocument`.
    """

    lines: tuple[TextLine, ...]
    line_count: int
    layers: tuple[Layer, ...] = ()
    is_extracted: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether every line is shown from its beginning to its end."""
        is_cut = any(line.is_cut_before or line.is_cut_after for line in self.lines)
        return len(self.lines) == self.line_count and not is_cut


def text_view(document: TextDocument, spans: Sequence[TextSpan]) -> TextView:
    """Return the lines of a text with its spans marked, around the chosen span if the text is long."""
    chosen = next((span for span in spans if span.chosen and span.ranges), None)
    start, end = _window(document, chosen.ranges[0].start if chosen else 0)
    shown = [span for span in spans if any(r.start < end and r.end > start for r in span.ranges)]
    lines = []
    for number in range(document.line_of(start), document.line_of(end - 1) + 1):
        first, last = document.line_range(number)
        begin, stop = max(first, start), min(last, end)
        runs = tuple(_runs(document.text, begin, stop, shown))
        lines.append(TextLine(number, runs, is_cut_before=begin > first, is_cut_after=stop < last))
    layers = tuple(layer for layer in get_args(Layer) if any(span.layer == layer for span in shown))
    return TextView(tuple(lines), document.line_count, layers, document.is_extracted)


def _window(document: TextDocument, at: int) -> tuple[int, int]:
    """The displayed characters (half open): all of them, or a bounded stretch around `at`."""
    length = len(document.text)
    if document.line_count <= MAX_LINES and length <= MAX_CHARACTERS:
        return 0, length
    first = max(1, document.line_of(at) - MAX_LINES // 4)
    last = min(document.line_count, first + MAX_LINES - 1)
    start = max(document.line_range(first)[0], at - MAX_CHARACTERS // 4)
    return start, max(start + 1, min(document.line_range(last)[1], start + MAX_CHARACTERS))


def _runs(text: str, begin: int, stop: int, spans: Sequence[TextSpan]) -> Iterator[TextRun]:
    here = [(span, each) for span in spans for each in span.ranges if each.start < stop and each.end > begin]
    edges = {begin, stop} | {place for _, each in here for place in (each.start, each.end)}
    for start, end in pairwise(sorted(edge for edge in edges if begin <= edge <= stop)):
        holding = [span for span, each in here if each.start <= start and end <= each.end]
        opening = [span for span in holding if span.tag and span.ranges[0].start == start]
        layers = {span.layer for span in holding}
        yield TextRun(
            text[start:end],
            tuple(layer for layer in get_args(Layer) if layer in layers),
            next((span.layer for span in holding if span.chosen), None),
            tuple((span.layer, span.tag) for span in opening[:MAX_TAGS]),
            is_verified=not holding or any(span.is_verified for span in holding),
            extents=tuple(sorted(layers - {span.layer for span in holding if not span.is_extent})),
        )
