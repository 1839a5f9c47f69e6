"""A text whose citations can be chosen: what the browser gets, and what it may say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st

from proofspan.ui.claims import annotated_text
from proofspan.ui.claims.annotated_text import packed
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=80)
NUMBERS = {1: "citation 1, exact, PDF page 42", 2: "citation 2"}
PIECES = [
    Piece("rosin flux", "phrase", cite=1),
    Piece("1", "number"),
    Piece(" or "),
    Piece("2", "number-chosen", tip="c2"),
    Piece("9", "number"),
]


def sent(pieces: list[Piece] = PIECES, *, chosen: int | None = None) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(packed(pieces, numbers=NUMBERS, chosen=chosen))
    return data


def test_known_numbers_are_buttons_with_their_names_and_others_are_marks() -> None:
    data = sent()
    assert [(piece["text"], piece["number"]) for piece in data["pieces"]] == [
        ("rosin flux", None),
        ("1", 1),
        (" or ", None),
        ("2", 2),
        ("9", None),
    ]
    assert data["numbers"] == {"1": "citation 1, exact, PDF page 42", "2": "citation 2"}


def test_what_is_chosen_changes_no_piece_so_that_the_focus_stays() -> None:
    marked = [Piece("1", "number-chosen"), Piece("2", "number")]
    other = [Piece("1", "number"), Piece("2", "number-chosen")]
    assert sent(marked, chosen=1)["pieces"] == sent(other, chosen=2)["pieces"]
    assert (sent(marked, chosen=1)["chosen"], sent(other)["chosen"]) == (1, None)


def test_words_of_a_citation_that_cannot_be_chosen_are_no_target() -> None:
    (piece,) = sent([Piece("flux", "phrase", cite=7)])["pieces"]
    assert piece["cite"] is None


@given(st.lists(st.tuples(ANY_TEXT, st.sampled_from(get_args(markup.Kind)), ANY_TEXT), max_size=4))
def test_any_text_can_be_sent_and_only_our_tags_and_kinds_are(
    parts: list[tuple[str, markup.Kind, str]],
) -> None:
    pieces = [Piece(text, kind, tip) for text, kind, tip in parts]
    got = sent(pieces)["pieces"]
    assert [piece["text"] for piece in got] == [markup.clean(piece.text) for piece in pieces]
    assert {piece["tag"] for piece in got} <= {
        *("span", "mark", "strong", "code", "kbd", "del", "ins"),
        *("h1", "h2", "h3"),
    }
    assert {piece["kind"] for piece in got} <= set(get_args(markup.Kind))


def test_an_unknown_kind_is_a_defect_and_is_not_sent() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        sent([Piece("x", "script")])  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", [1, 2])
def test_a_citation_that_is_there_can_be_chosen(choice: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_after(choice, monkeypatch) == [choice]


@pytest.mark.parametrize(
    "choice",
    [None, 0, 3, -1, True, 1.0, 2.5, "1", [1], {"number": 1}, 10**30],
    ids=lambda choice: repr(choice),
)
def test_what_else_a_browser_says_is_no_choice(choice: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_after(choice, monkeypatch) == []


def chosen_after(choice: object, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the citations that are chosen by a value from the browser."""
    monkeypatch.setattr(streamlit, "session_state", {"text": {"choose": choice}})
    chosen: list[int] = []
    annotated_text._chosen("text", NUMBERS, chosen.append)
    return chosen


def test_no_part_of_the_component_fetches_or_makes_markup() -> None:
    folder = Path(annotated_text.__file__).parents[1]
    for part in (
        "claims/annotated_text.html",
        "claims/annotated_text.css",
        "css/pieces.css",
        "claims/annotated_text.js",
    ):
        text = (folder / part).read_text(encoding="utf-8")
        assert "\n" in text.strip()
        assert not re.search(r"innerHTML|insertAdjacent|outerHTML|url\(|@import|https?:|eval\(", text)
