"""Canonical ids for records that name their place."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.chunk_ids.minting import mint_chunks
from proofspan.contracts.records.chunk_id import doc_uid_of_url, parse
from proofspan.contracts.records.records import Chunk, Offsets

REVS = {"manual": "8c1e9a02", "odd": "v2"}


def chunk(name: str, **more: object) -> Chunk:
    return replace(Chunk(name, "text", "manual"), **more)  # type: ignore[arg-type]


def test_an_id_is_made_of_document_revision_section_page_and_order() -> None:
    chunks = [
        chunk("a", section_id="4.2", page_idx=41, order_in_section=3),
        chunk("b", section_id="4.2", page_idx=42, order_in_section=7),
        chunk("c", page_idx=41),
        chunk("d"),
        chunk("e", doc_id="my notes", section_id="1, 2"),
        chunk("f", doc_id=None, raw={"source_url": "HTTP://Example.com/a?x=1&v=2#s"}),
        chunk("g", doc_id=None),
        chunk("h", doc_id=None, raw={"source_url": "http://["}),
        chunk("i", doc_id="odd"),
    ]
    uid = doc_uid_of_url("https://example.com/a?v=2")
    assert mint_chunks(chunks, REVS) == [
        "manual|r=8c1e9a02|s=4.2|p=042|b=003",
        "manual|r=8c1e9a02|s=4.2|p=043|b=007",
        "manual|r=8c1e9a02|s=p042|p=042|b=001",
        "manual|r=8c1e9a02|s=p000|p=000|b=001",
        "my_notes-47fe48a4|r=00000000|s=1_2-4b8b9514|p=000|b=001",
        f"{uid}|r=00000000|s=p000|p=000|b=001",
        None,
        None,
        "odd|r=00000000|s=p000|p=000|b=001",
    ]


def test_without_an_order_of_their_own_blocks_are_counted_as_they_are_read() -> None:
    chunks = [
        chunk("later", section_id="1", page_idx=3),
        chunk("second", section_id="1", page_idx=2, offsets=Offsets(50, 60)),
        chunk("first", section_id="1", page_idx=2, offsets=Offsets(5, 6), order_in_section=None),
    ]
    assert [str(each)[-3:] for each in mint_chunks(chunks, REVS)] == ["003", "002", "001"]
    twice = [replace(each, order_in_section=1) for each in chunks]
    assert [str(each)[-3:] for each in mint_chunks(twice, REVS)] == ["003", "002", "001"]


places = st.builds(
    chunk,
    st.text("abc|r=", max_size=6),
    doc_id=st.sampled_from(["manual", "a b", "c,d]"]),
    section_id=st.sampled_from([None, "1", "1.10", "x y"]),
    page_idx=st.none() | st.integers(0, 2000) | st.just(1 << 40),
    order_in_section=st.none() | st.integers(0, 3) | st.sampled_from([-1, 1 << 40]),
    offsets=st.none() | st.builds(Offsets, st.integers(0, 9), st.integers(10, 20)),
)


@given(st.lists(places, max_size=12))
def test_minted_ids_are_canonical_distinct_and_minted_the_same_again(chunks: list[Chunk]) -> None:
    minted = [each for each in mint_chunks(chunks, REVS) if each is not None]
    assert len(set(minted)) == len(minted) == len(chunks)
    assert all(parse(each) is not None for each in minted)
    again = [replace(each, chunk_id=new_id) for each, new_id in zip(chunks, minted, strict=True)]
    assert mint_chunks(again, REVS) == minted
