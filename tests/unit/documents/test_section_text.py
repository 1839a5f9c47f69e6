"""The text of a section: three sections of the demo's manual, and what must hold for any chunks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Chunk, Offsets
from proofspan.services.rerank.section_text import section_text
from proofspan.traces.records.chunks import read_chunks
from tests.places import CHECKOUT, DEMO

GOLDENS = CHECKOUT / "tests" / "golden" / "section_text"
SECTIONS = {"cruise_control": "5.4.2", "door_locks": "3.2.1", "engine_oil": "7.3.2"}

CHUNKS = st.lists(
    st.builds(
        Chunk,
        chunk_id=st.sampled_from("abcdef"),
        text=st.text(alphabet="ab \n", max_size=40),
        page_idx=st.none() | st.integers(0, 2),
        order_in_section=st.none() | st.integers(0, 3),
        offsets=st.none() | st.builds(Offsets, start=st.integers(0, 9), end=st.just(10)),
    ),
    max_size=8,
)


def _chunk(text: str, chunk_id: str = "c", *, page_idx: int | None = 0, order: int | None = None) -> Chunk:
    return Chunk(chunk_id, text, page_idx=page_idx, order_in_section=order)


@pytest.mark.parametrize("name", SECTIONS)
def test_three_sections_of_the_manual(name: str) -> None:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    section = [chunk for chunk in chunks.values() if chunk.section_id == SECTIONS[name]]
    expected = (GOLDENS / f"{name}.txt").read_text(encoding="utf-8")
    assert section_text(reversed(section)) + "\n" == expected


def test_page_comes_before_order_and_order_before_id() -> None:
    chunks = [
        _chunk("fourth", "a", page_idx=2, order=1),
        _chunk("third", "d", page_idx=1, order=2),
        _chunk("second", "c", page_idx=1, order=1),
        _chunk("first", "b", page_idx=1, order=1),
    ]
    assert section_text(chunks) == "first\nsecond\nthird\nfourth"


def test_page_0_is_a_page_and_a_missing_one_comes_last() -> None:
    chunks = [_chunk("nowhere", page_idx=None), _chunk("second", page_idx=1), _chunk("first", page_idx=0)]
    assert section_text(chunks) == "first\nsecond\nnowhere"


def test_a_missing_order_falls_back_to_offsets_then_to_the_id() -> None:
    chunks = [
        _chunk("fifth", "b"),
        _chunk("fourth", "a"),
        replace(_chunk("third", "y"), offsets=Offsets(20, 30)),
        replace(_chunk("second", "z"), offsets=Offsets(0, 10)),
        _chunk("first", "x", order=9),
    ]
    assert section_text(chunks) == "first\nsecond\nthird\nfourth\nfifth"


def test_the_cut_is_at_a_word() -> None:
    assert section_text([_chunk("one two three")], max_chars=9, min_fragment=0) == "one two"
    assert section_text([_chunk("one two three")], max_chars=7, min_fragment=0) == "one two"
    assert section_text([_chunk("one two three")], max_chars=6, min_fragment=0) == "one"


def test_a_text_of_a_script_that_parts_no_words_is_cut_where_the_room_ends() -> None:
    assert section_text([Chunk("a", "押" * 2_000)]) == "押" * 1_500


def test_a_word_that_is_longer_than_the_room_is_left_out() -> None:
    assert section_text([_chunk("x" * 20)], max_chars=10, min_fragment=0) == ""


def test_a_fragment_below_the_minimum_is_left_out_and_nothing_follows_it() -> None:
    chunks = [_chunk("a" * 90, order=1), _chunk("bb " * 30, order=2), _chunk("c", order=3)]
    assert section_text(chunks, max_chars=140) == "a" * 90
    assert section_text(chunks, max_chars=141) == "a" * 90 + "\n" + ("bb " * 17).rstrip()


def test_a_short_chunk_that_fits_whole_is_no_fragment() -> None:
    assert section_text([_chunk("a" * 90, order=1), _chunk("short", order=2)], max_chars=96) == (
        "a" * 90 + "\nshort"
    )


def test_no_chunks_give_no_text() -> None:
    assert section_text([]) == ""


@pytest.mark.parametrize("limits", [{"max_chars": -1}, {"min_fragment": -1}])
def test_a_negative_limit_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="count from 0"):
        section_text([], **limits)


@given(CHUNKS, st.randoms(use_true_random=False))
def test_the_order_in_which_chunks_come_does_not_matter(chunks: list[Chunk], random: object) -> None:
    shuffled = list(chunks)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert section_text(shuffled, max_chars=60) == section_text(chunks, max_chars=60)


@given(CHUNKS, st.integers(0, 90), st.integers(0, 20))
def test_it_is_a_beginning_of_all_the_text_and_never_too_long(
    chunks: list[Chunk], max_chars: int, min_fragment: int
) -> None:
    text = section_text(chunks, max_chars=max_chars, min_fragment=min_fragment)
    assert len(text) <= max_chars
    assert section_text(chunks, max_chars=10_000).startswith(text)


@given(CHUNKS, st.integers(0, 90))
def test_it_ends_where_a_word_ends(chunks: list[Chunk], max_chars: int) -> None:
    text = section_text(chunks, max_chars=max_chars, min_fragment=0)
    rest = section_text(chunks, max_chars=10_000)[len(text) :]
    assert not text or not rest or text[-1].isspace() or rest[0].isspace()


@given(CHUNKS)
def test_the_chunks_are_left_as_they_are(chunks: list[Chunk]) -> None:
    before = [replace(chunk) for chunk in chunks]
    section_text(chunks, max_chars=30)
    assert chunks == before
