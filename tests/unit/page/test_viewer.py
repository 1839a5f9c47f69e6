"""The data sent to the page viewer, and validation of what the browser sends back."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.types import PageImage, PageInfo, Picture
from proofspan.services.page.shapes import PageSpan
from proofspan.services.page.text_under import MAX_PARAGRAPHS, MAX_SPOKEN
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.viewer.viewer import (
    MAX_WIDTH,
    NEAR,
    DetailRequest,
    ViewerPage,
    chosen_span,
    packed,
    packed_detail,
    requested_detail,
    turned_to,
)

PICTURE = b"\x89PNG bytes"
IMAGE = PageImage(PICTURE, 600, 800, PageInfo(8, 450.0, 600.0, 0, None), (1, 0, 0, 1, 0, 0))
SPAN = PageSpan("cite:1", "cited", (("cited", "cited 1"),), ((1.0, 2.0, 3.0, 4.0),), True)
PAGE = ViewerPage(
    IMAGE,
    (SPAN,),
    {"cite:1": SpanCard("cited 1", "exact", ("score 0.5",), "text")},
    alt="manual, page 9",
    focus="cite:1@8",
    page_count=97,
    order=("cite:1", "gold:1", "chunk:a\ud800b"),
    chosen="cite:1",
)

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5),
)


def unpacked(data: bytes) -> tuple[dict[str, object], bytes]:
    (length,) = struct.unpack(">I", data[:4])
    return orjson.loads(data[4 : 4 + length]), data[4 + length :]


def test_the_picture_goes_along_as_it_is_and_only_where_it_is_wanted() -> None:
    header, picture = unpacked(packed(PAGE, key="page", height="panel"))
    assert picture == PICTURE
    assert (header["id"], header["page_idx"], header["natural"]) == (PAGE.picture_id, 8, 600.0)
    again, nothing = unpacked(packed(PAGE, key="page", height="panel", with_picture=False))
    assert (again, nothing) == ({name: value for name, value in header.items() if name != "text"}, b"")


def test_the_text_of_the_page_goes_with_its_picture_up_to_a_limit() -> None:
    lines = [((10.0, y, 40.0, y + 10.0), f"w{y:.0f}") for y in (10.0, 21.0, 60.0)]
    long = [*lines, ((10.0, 100.0, 40.0, 110.0), "x" * MAX_SPOKEN)]
    many = [((10.0, 40.0 * n, 40.0, 40.0 * n + 10), "y") for n in range(2 * MAX_PARAGRAPHS)]
    for words, paragraphs, left_out in (
        ((), [], 0),
        (lines, ["w10\nw21", "w60"], 0),
        (long, ["w10\nw21", "w60", "x" * (MAX_SPOKEN - 14)], 14),
    ):
        page = replace(PAGE, image=replace(IMAGE, words=tuple(words)))
        header, _ = unpacked(packed(page, key="page", height="panel"))
        assert header["text"] == {"paragraphs": paragraphs, "left_out": left_out}
    header, _ = unpacked(
        packed(replace(PAGE, image=replace(IMAGE, words=tuple(many))), key="k", height="panel")
    )
    text = header["text"]
    assert isinstance(text, dict) and len(text["paragraphs"]) == MAX_PARAGRAPHS
    assert "".join(text["paragraphs"]).count("y") == 2 * MAX_PARAGRAPHS


def test_the_passages_around_the_chosen_one_are_named_and_no_more() -> None:
    order = tuple(f"chunk:{number}" for number in range(5_000))
    header, _ = unpacked(packed(replace(PAGE, order=order, chosen="chunk:1000"), key="k", height="panel"))
    near = header["near"]
    assert isinstance(near, list) and len(near) == 2 * NEAR + 1
    assert near[int(str(header["near_at"]))] == "chunk:1000"
    assert (header["span_at"], header["span_count"]) == (1_000, 5_000)
    unknown, _ = unpacked(packed(replace(PAGE, chosen="elsewhere"), key="k", height="panel"))
    assert (unknown["span_at"], unknown["near_at"], unknown["near"]) == (
        -1,
        -1,
        ["cite:1", "gold:1", "chunk:a�b"],
    )


def test_foreign_text_that_cannot_be_written_as_json_is_made_visible() -> None:
    odd = replace(PAGE, alt="a\ud800", spans=(replace(SPAN, id="chunk:a\ud800b"),), focus="\x00")
    header, _ = unpacked(packed(odd, key="page", height="stage"))
    assert (header["alt"], header["focus"]) == ("a�", "�")


@pytest.mark.parametrize(("sent", "meant"), [(0, 0), (96, 96), (8, None), (97, None), (-1, None)])
def test_a_turn_goes_to_another_page_of_the_document(sent: int, meant: int | None) -> None:
    assert turned_to(sent, PAGE) == meant
    assert turned_to(sent, replace(PAGE, page_count=None)) is None


@pytest.mark.parametrize("sent", [True, "3", 3.0, None, [3], {"page": 3}])
def test_what_is_no_page_turns_none(sent: object) -> None:
    assert turned_to(sent, PAGE) is None


def test_a_choice_is_a_span_of_the_page_or_of_the_order() -> None:
    assert chosen_span("gold:1", PAGE) == "gold:1"
    assert chosen_span("chunk:a�b", PAGE) == "chunk:a\ud800b", "the id that was shown means the true one"
    for nothing in ("cite:2", "", 1, None, ["cite:1"]):
        assert chosen_span(nothing, PAGE) is None


def ask(**changes: object) -> dict[str, object]:
    return {"id": PAGE.picture_id, "asked": "a", "region": [0, 10.5, 50, 20], "width": 900, **changes}


def test_a_detail_is_requested_detail_of_the_very_picture_within_the_page() -> None:
    assert requested_detail(ask(), PAGE) == DetailRequest("a", PAGE.picture_id, (0.0, 10.5, 50.0, 20.0), 900)
    wrong: list[dict[str, object]] = [
        {"id": "another"},
        {"asked": 1},
        {"asked": "a" * 500},
        {"width": 0},
        {"width": MAX_WIDTH + 1},
        {"width": True},
        {"width": 1.5},
        {"region": [0, 0, 101, 10]},
        {"region": [-1, 0, 10, 10]},
        {"region": [0, 0, 0, 10]},
        {"region": [0, 0, math.nan, 10]},
        {"region": [0, 0, 10]},
        {"region": ["0", 0, 10, 10]},
        {"region": None},
    ]
    for changes in wrong:
        assert requested_detail(ask(**changes), PAGE) is None, changes


@pytest.mark.slow
@given(ANYTHING)
def test_nothing_that_a_browser_may_send_raises(sent: object) -> None:
    turned = turned_to(sent, PAGE)
    assert turned is None or 0 <= turned < 97
    chosen = chosen_span(sent, PAGE)
    assert chosen is None or chosen in PAGE.order
    assert requested_detail(sent, PAGE) is None


def test_the_wire_answers_what_was_asked_even_where_there_is_no_picture() -> None:
    asked = DetailRequest("a", "id", (0.0, 0.0, 50.0, 50.0), 900)
    header, picture = unpacked(packed_detail(key="page", requested=asked, picture=Picture(PICTURE, 880, 700)))
    assert (header["asked"], header["wanted"], header["width"], picture) == ("a", 900, 880, PICTURE)
    header, picture = unpacked(packed_detail(key="page", requested=asked))
    assert (header["asked"], header["width"], picture) == ("a", 0, b"")
    header, _ = unpacked(packed_detail(key="page"))
    assert header == {"key": "page"}
