"""Figures: numbers in, traces out, our colours, and foreign text that stays text."""

from __future__ import annotations

import tomllib
from typing import Any, get_args

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.charts.figures import Line, Point, Rule, line_figure, stack_figure
from proofspan.charts.sweep import SweepMark, sweep_figure
from proofspan.charts.theme import (
    DARK,
    FONT,
    LIGHT,
    MAX_CHARS,
    MOST_NAMES,
    Hue,
    Palette,
    contrast,
    hover,
    plain,
    run_axis,
)
from tests.places import CHECKOUT

HOSTILE = [
    "<a href='https://canary.example'>R1</a>",
    "<b>bold</b>",
    "<span style='background:url(https://canary.example)'>x</span>",
    "a<br>b",
    "R1 & &lt;b&gt;",
    "%{customdata[0]}",
    "\u202eevil\u0000",
    "\ud800",
]
SCHEMES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


def point(count: int, **more: Any) -> Point:
    return Point(count / 40, label=f"{count:,}", **more)


def lines(names: list[str], *, palette: Palette = LIGHT) -> go.Figure:
    points = tuple(
        Point(0.5, 0.4, 0.6, lines=(name, "1 of 2, 50 % (9–91 %)"), target=f"./?run={place}")
        for place, name in enumerate(names)
    )
    return line_figure(names, [Line(names[0], "accent", points)], rules=[Rule(0.7)], palette=palette, shown=0)


@pytest.mark.parametrize("foreign", HOSTILE)
def test_foreign_text_enters_every_part_of_a_figure_escaped(foreign: str) -> None:
    band = Line(foreign, "red", (Point(0.5, lines=(foreign,), target="./?label=ok", label="1"),))
    for figure in (lines([foreign]), stack_figure([foreign], [band], palette=LIGHT)):
        texts = [
            *figure.layout.xaxis.ticktext,
            *(trace.name for trace in figure.data),
            *(text for trace in figure.data for text in trace.hovertext),
        ]
        assert texts
        for text in texts:
            bare = text.removeprefix("<b>").removesuffix("</b>").replace("<br>", "")
            assert "<" not in bare and ">" not in bare
            assert not any(character in bare for character in "\u202e\u0000\ud800")
        assert all(trace.hoverinfo == "text" and trace.hovertemplate is None for trace in figure.data)
        figure.to_json()


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_becomes_one_short_line_without_markup(text: str) -> None:
    made = plain(text)
    assert not set(made) & set("<>\"'\n\r\t\u2028\u202e")
    assert len(plain("x" * 1_000)) == MAX_CHARS
    assert hover([text, text]).count("<br>") == 1
    made.encode("utf-8")


@SCHEMES
def test_a_line_holds_values_intervals_targets_and_its_goal(palette: Palette) -> None:
    points = (
        Point(0.25, 0.1, 0.5, lines=("R1", "1 of 4"), target="./?run=R1"),
        Point(None, lines=("R2", "nothing to count")),
        Point(1.0, target="./?run=R3"),
    )
    figure = line_figure(
        ["R1", "R2", "R3"],
        [Line("match", "accent", points)],
        rules=[Rule(0.7), Rule(0.5, is_goal=False)],
        palette=palette,
        shown=2,
    )
    (trace,) = figure.data
    assert list(trace.y) == [0.25, None, 1.0]
    assert trace.connectgaps is False
    assert list(trace.error_y.array) == [0.25, 0, 0]
    assert list(trace.error_y.arrayminus) == [0.15, 0, 0]
    assert [data[0] for data in trace.customdata] == ["./?run=R1", "", "./?run=R3"]
    assert trace.hovertext[0] == "R1<br>1 of 4"
    assert trace.line.color == palette.accent
    assert figure.layout.xaxis.ticktext == ("R1", "R2", "<b>R3</b>")
    assert [(shape.y0, shape.line.dash) for shape in figure.layout.shapes] == [(0.7, "dash"), (0.5, "dot")]
    assert figure.layout.margin.r <= 16, "no room is left empty beside the runs"
    assert figure.layout.height == 250


def test_several_lines_differ_in_more_than_colour_and_have_a_legend() -> None:
    one = (Point(0.5, 0.4, 0.6),)
    two = [Line("a", "accent", one), Line("b", "orange", one)]
    figure = line_figure(["R1"], two, palette=LIGHT)
    first, second = figure.data
    assert first.line.dash != second.line.dash and first.marker.symbol != second.marker.symbol
    assert figure.layout.showlegend
    assert first.error_y.array and first.x[0] < second.x[0], "intervals do not lie on each other"
    (third, *_) = line_figure(["R1"], [*two, Line("c", "blue", one)], palette=LIGHT).data
    assert third.error_y.array is None and third.x[0] == 0


def test_a_long_legend_is_beside_the_bars_and_leaves_them_their_height() -> None:
    bands = [Line(str(place), "red", (point(1),)) for place in range(9)]
    assert stack_figure(["R1"], bands[:3], palette=LIGHT).layout.legend.orientation == "h"
    assert stack_figure(["R1"], bands, palette=LIGHT).layout.legend.orientation == "v"


def test_an_axis_that_is_no_share_reaches_over_the_largest_number_and_goal() -> None:
    def top(*values: float, goal: float) -> float:
        points = tuple(Point(value) for value in values)
        figure = line_figure(
            [str(value) for value in values],
            [Line("ΔS", "violet", points)],
            rules=[Rule(goal)],
            palette=LIGHT,
            form="number",
        )
        return float(figure.layout.yaxis.range[1])

    assert top(0.3, 0.2, goal=0.6) == pytest.approx(0.672)
    assert top(0.9, 0.2, goal=0.6) == pytest.approx(1.008)


def test_a_stack_holds_shares_and_shows_counts_where_they_fit() -> None:
    figure = stack_figure(
        ["R1", "R2"],
        [
            Line("ok", "green", (point(30, lines=("30 of 40",), target="./?label=ok"), point(0))),
            Line("drift", "red", (point(1), point(0))),
        ],
        palette=DARK,
    )
    good, bad = figure.data
    assert list(good.y) == [0.75, 0] and list(good.text) == ["30", ""]
    assert list(bad.text) == ["", ""], "one of forty is too narrow for its number"
    assert good.customdata[0][0] == "./?label=ok"
    assert figure.layout.barmode == "stack"
    assert good.width == 0.36, "of few runs the bars stay slim"
    assert figure.layout.yaxis.range == (0, 1)


@pytest.mark.parametrize("runs", [0, 1, 12, 13, 30, 500])
def test_of_many_runs_some_are_named_and_the_last_always(runs: int) -> None:
    names = [f"R{place}" for place in range(runs)]
    axis = run_axis(names, LIGHT, shown=runs - 1 if runs else None)
    assert len(axis["tickvals"]) <= MOST_NAMES
    assert axis["ticktext"][-1:] == [f"<b>R{runs - 1}</b>"] * bool(runs)


def test_the_colours_are_those_of_the_pages() -> None:
    theme = tomllib.loads((CHECKOUT / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
    assert theme["font"] == FONT
    for scheme, palette in (("light", LIGHT), ("dark", DARK)):
        named = theme[scheme]
        assert (palette.ground, palette.text) == (named["backgroundColor"], named["textColor"])
        assert (palette.grid, palette.accent) == (named["borderColor"], named["primaryColor"])
        for name in get_args(Hue):
            if name != "accent":
                assert palette.hue(name) == named[f"{name}Color"], name


@SCHEMES
def test_what_is_written_in_a_figure_can_be_read(palette: Palette) -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast(palette.text, palette.ground) > 7
    assert contrast(palette.small, palette.ground) > 4.5
    for name in get_args(Hue):
        assert contrast(palette.ink(name), palette.hue(name)) > 4.4, name
        assert contrast(palette.hue(name), palette.ground) > 2.3, name


def mark(x: float, y: float | None, **more: Any) -> SweepMark:
    return SweepMark(
        x, y, None if y is None else y - 0.1, None if y is None else y + 0.1, (f"{x:g}",), f"./{x:g}", **more
    )


def test_a_sweep_has_its_band_and_marks_what_is_beyond_chance_by_shape_and_word() -> None:
    marks = [mark(1, 0.5), mark(5, None), mark(20, 0.7, is_clear=True, is_better=True), mark(60, 0.5)]
    figure = sweep_figure(
        marks, palette=LIGHT, x_title="k <b>", y_title="S<i>, of 37", is_share=True, logged=60, now=20
    )
    band, line, clear = figure.data
    assert list(band.x) == [1, 20, 60, 60, 20, 1] and band.fill == "toself"
    assert list(line.y) == [0.5, None, 0.7, 0.5] and line.customdata[0][0] == "./1"
    assert (list(clear.x), list(clear.text), clear.marker.symbol) == ([20], ["better"], "diamond")
    assert clear.name == "better, beyond chance"
    assert figure.layout.xaxis.type == "log" and list(figure.layout.xaxis.tickvals) == [1, 5, 20]
    assert [each.text for each in figure.layout.annotations] == ["logged 60", "now 20"]
    assert "<" not in figure.layout.xaxis.title.text + figure.layout.yaxis.title.text + line.name


def test_a_sweep_from_zero_has_an_even_axis_and_room_above_its_numbers() -> None:
    figure = sweep_figure(
        [mark(0, 3), mark(1, 4)], palette=LIGHT, x_title="w", y_title="ms", is_share=False, logged=1, now=1
    )
    assert figure.layout.xaxis.type is None and figure.layout.yaxis.range[1] > 4.1
    assert [each.text for each in figure.layout.annotations] == ["logged 1"]
