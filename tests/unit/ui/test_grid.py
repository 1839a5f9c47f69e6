"""The table of links: what the browser gets of it, what it may say, and what is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import streamlit
from hypothesis import example, given
from hypothesis import strategies as st

from proofspan.ui.visit import links
from proofspan.ui.widgets import table
from proofspan.ui.widgets.table import Cell, Chip, Column, Grid, Row, frame_height, packed

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=40)


def made(*cells: Cell, row: Cell | None = None) -> Grid:
    columns = tuple(Column(Cell(f"R{place}", href=f"./?run=R{place}")) for place in range(len(cells)))
    return Grid("Ranks", "question", columns, (Row(row or Cell("Q1"), cells),))


def sent(shown: Grid) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(packed(shown))
    return data


def test_a_cell_sends_only_what_it_has() -> None:
    full = Cell("3", note="of 9", tip="three", tone=0.5, look="green", href="./?a=b", spoken="Q1, R0: 3")
    cells = sent(made(full, Cell("–"), Cell(chips=(Chip("Hit", "accent", "hit"),))))["rows"][0]["cells"]
    assert cells["c1"] == {
        "text": "3",
        "note": "of 9",
        "tip": "three",
        "tone": 0.5,
        "look": "green",
        "href": "./?a=b",
        "spoken": "Q1, R0: 3",
    }
    assert cells["c2"] == {"text": "–"}
    assert cells["c3"] == {"chips": [{"text": "Hit", "look": "accent", "tip": "hit"}]}


def test_a_percent_sign_stays_on_the_line_of_its_number() -> None:
    (row,) = sent(made(Cell("26 of 37, 70 %", note="54–83 % of 41")))["rows"]
    assert row["cells"]["c1"] == {"text": "26 of 37, 70\u00a0%", "note": "54–83\u00a0% of 41"}


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
@example("", "\ud800", "")
@example("\ud800", "", "\ud800")
def test_any_text_can_be_sent_and_stays_text(text: str, note: str, name: str) -> None:
    shown = Grid(name, note, (Column(Cell(text)),), (Row(Cell(note), (Cell(text, tip=name),)),))
    (row,) = sent(shown)["rows"]
    assert len(row["cells"]["c1"].get("text", "")) == len(text)


@pytest.mark.parametrize("address", ["https://example.org", "javascript:alert(1)", "//x", "/", ""])
def test_a_link_leads_nowhere_else(address: str) -> None:
    with pytest.raises(ValueError, match="no address of this dashboard"):
        Cell("x", href=address)


@pytest.mark.parametrize("tone", [-0.1, 1.1, float("nan")])
def test_a_tone_lies_between_nothing_and_all(tone: float) -> None:
    with pytest.raises(ValueError, match="tone"):
        Cell("x", tone=tone)


def test_a_row_has_a_cell_under_each_header() -> None:
    with pytest.raises(ValueError, match="2 cells under 1 headers"):
        Grid("g", "", (Column(Cell("a")),), (Row(Cell("r"), (Cell("1"), Cell("2"))),))


@pytest.mark.parametrize(("rows", "kept"), [(25, 640), (24, "content"), (0, "content")])
def test_a_frame_that_its_rows_fill_has_its_height_from_the_start(rows: int, kept: int | str) -> None:
    lines = tuple(Row(Cell(str(place)), ()) for place in range(rows))
    assert frame_height(Grid("g", "", (), lines, height=640)) == kept
    assert frame_height(Grid("g", "", (), lines)) == "content"


@pytest.mark.parametrize("sent_back", ["b", "head", 7, None, ["a"], {}])
def test_only_a_row_of_the_table_can_be_chosen(sent_back: object, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[str] = []
    monkeypatch.setattr(streamlit, "session_state", {"k": {"choose": sent_back}})
    table._received("k", "choose", {"a"}, chosen.append)
    assert chosen == []
    monkeypatch.setattr(streamlit, "session_state", {"k": {"choose": "a"}})
    table._received("k", "choose", {"a"}, chosen.append)
    assert chosen == ["a"]


def test_the_browser_is_asked_only_for_addresses_of_the_dashboard(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, dict[str, object]] = {}
    monkeypatch.setattr(streamlit, "session_state", state)
    links.follow("https://example.org")
    assert not state
    links.follow("./question?q=%3Cb%3E%232")
    (asked,) = state.values()
    assert asked["to"] == "./question?q=%3Cb%3E%232"
    links.follow("./question?q=%3Cb%3E%232")
    (again,) = state.values()
    assert again["asked"] != asked["asked"], "the same address can be asked for twice"
