"""A text as it is shown: every character once and in order, cut at the spans, bounded for big ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.text.text_document import TextDocument
from proofspan.services.page.shapes import Layer
from proofspan.services.page.text_view import MAX_CHARACTERS, MAX_LINES, TextSpan, TextView, text_view

ONE_TO_TEN = "".join(f"{number} line\n" for number in range(1, 11))


def span(
    document: TextDocument, *ranges: tuple[int, int], layer: Layer = "cited", chosen: bool = False
) -> TextSpan:
    placed = tuple(document.range(start, end) for start, end in ranges)
    return TextSpan(layer, f"{layer} 1", placed, chosen)


def shown(view: TextView) -> str:
    return "\n".join("".join(run.text for run in line.runs) for line in view.lines)


def test_a_small_text_is_shown_whole_with_its_empty_lines() -> None:
    view = text_view(TextDocument.of("one\n\nthree"), [])
    assert [(line.number, [run.text for run in line.runs]) for line in view.lines] == [
        (1, ["one"]),
        (2, []),
        (3, ["three"]),
    ]
    assert (view.line_count, view.is_whole, view.layers) == (3, True, ())


def test_a_span_over_lines_is_tagged_where_it_begins_only() -> None:
    document = TextDocument.of("one two\nthree\nfour five\n")
    view = text_view(document, [span(document, (4, 18), chosen=True)])
    runs = [(run.text, run.layers, run.tags) for line in view.lines for run in line.runs]
    assert runs == [
        ("one ", (), ()),
        ("two", ("cited",), (("cited", "cited 1"),)),
        ("three", ("cited",), ()),
        ("four", ("cited",), ()),
        (" five", (), ()),
    ]


def test_spans_that_overlap_share_their_words_and_keep_their_layers_apart() -> None:
    document = TextDocument.of("abcdef")
    spans = [
        span(document, (0, 4), layer="retrieved"),
        span(document, (2, 6), layer="gold", chosen=True),
        span(document, (2, 3), layer="retrieved"),
    ]
    (line,) = text_view(document, spans).lines
    assert [(run.text, run.layers, run.chosen) for run in line.runs] == [
        ("ab", ("retrieved",), None),
        ("c", ("gold", "retrieved"), "gold"),
        ("d", ("gold", "retrieved"), "gold"),
        ("ef", ("gold",), "gold"),
    ]


def test_of_a_long_text_the_lines_around_the_chosen_span_are_shown() -> None:
    document = TextDocument.of("".join(f"{number} line\n" for number in range(10_000)))
    at = document.text.index("7000 line")
    view = text_view(document, [span(document, (0, 6)), span(document, (at, at + 9), chosen=True)])
    assert len(view.lines) == MAX_LINES
    assert view.lines[0].number < 7001 < view.lines[-1].number
    assert (view.line_count, view.is_whole) == (10_000, False)


@pytest.mark.slow
def test_a_line_of_a_megabyte_is_cut_around_the_span() -> None:
    document = TextDocument.of("first\n" + "word " * 200_000 + "needle " + "word " * 200_000)
    at = document.text.index("needle")
    view = text_view(document, [span(document, (at, at + 6), chosen=True)])
    assert (view.lines[0].is_cut_before, view.lines[-1].is_cut_after, view.is_whole) == (True, True, False)
    assert len(shown(view)) <= MAX_CHARACTERS
    assert "needle" in [run.text for run in view.lines[0].runs]


def test_a_long_text_without_a_place_begins_at_its_beginning() -> None:
    view = text_view(TextDocument.of("line\n" * 5_000), [])
    assert (view.lines[0].number, len(view.lines)) == (1, MAX_LINES)


@given(
    st.text(alphabet="ab\n ", min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 39), st.integers(1, 10)), max_size=5),
)
def test_every_character_is_shown_once_and_in_order(text: str, places: list[tuple[int, int]]) -> None:
    document = TextDocument.of(text)
    kept = [(start, min(len(text), start + size)) for start, size in places if start < len(text)]
    layers: tuple[Layer, ...] = ("cited", "gold", "retrieved")
    spans = [span(document, each, layer=layers[n % 3]) for n, each in enumerate(kept)]
    view = text_view(document, spans)
    assert shown(view) == text.removesuffix("\n")
    marked = sum(len(run.text) for line in view.lines for run in line.runs if run.layers)
    covered = {place for start, end in kept for place in range(start, end)}
    assert marked == sum(text[place] != "\n" for place in covered)
