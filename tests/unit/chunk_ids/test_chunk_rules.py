"""Chunk ids against the records that carry them, in order, and the revisions that they hold."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.chunk_ids.audit import id_problems
from proofspan.contracts.chunk_ids.minting import revisions_of
from proofspan.contracts.records.chunk_id import ChunkId, is_citable, mint, parse, sort_key
from proofspan.contracts.records.names import revision
from proofspan.contracts.records.records import Chunk
from proofspan.traces.records.citations import citation_ids_in_text

GOOD = Chunk("manual|r=8c1e9a02|s=4.2|p=042|b=003", "text", "manual", "4.2", page_idx=41)
#: Two texts whose sha1 begin with the same eight digits (found by trying 91,000).
TWINS = ("text 72345", "text 90975")


def codes(chunk: Chunk) -> list[tuple[str, str]]:
    return [(finding.code, finding.where) for finding in id_problems(chunk)]


@pytest.mark.parametrize(
    "chunk",
    [
        GOOD,
        replace(GOOD, doc_id=None, section_id=None, page_idx=None),
        replace(GOOD, section_id="§ 4.2."),
        replace(GOOD, section_id="four-two", section_number="4.2"),
        replace(GOOD, chunk_id="manual|r=8c1e9a02|s=p042|p=042|b=003"),
        replace(GOOD, chunk_id="manual|r=8c1e9a02|s=4.2|p=000|b=003", page_idx=0),
        replace(GOOD, chunk_id="manual|r=8c1e9a02|s=4.2|p=001|b=003", page_idx=0),
    ],
)
def test_an_id_that_says_where_its_chunk_is_is_good(chunk: Chunk) -> None:
    assert codes(chunk) == []


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (replace(GOOD, chunk_id="c_17"), [("id_not_canonical", "chunk_id")]),
        (
            replace(GOOD, chunk_id="page 4, block 2"),
            [("uncitable_id", "chunk_id"), ("id_not_canonical", "chunk_id")],
        ),
        (replace(GOOD, doc_id="bulletin"), [("id_place_differs", "doc_id")]),
        (replace(GOOD, section_id="4.20"), [("id_place_differs", "section_id")]),
        (replace(GOOD, page_idx=42), [("id_place_differs", "page_idx")]),
        (replace(GOOD, page_idx=0), [("id_place_differs", "page_idx")]),
        (
            replace(GOOD, chunk_id="manual|r=8c1e9a02|s=4.2|p=042|b=1000"),
            [("number_beyond_999", "chunk_id")],
        ),
        (
            replace(GOOD, chunk_id="manual|r=8c1e9a02|s=4.2|p=1042|b=003", page_idx=1041),
            [("number_beyond_999", "chunk_id")],
        ),
    ],
)
def test_an_id_that_misleads_is_reported(chunk: Chunk, expected: list[tuple[str, str]]) -> None:
    assert codes(chunk) == expected


def test_a_finding_shows_at_most_the_beginning_of_an_id() -> None:
    assert all(len(finding.message) < 200 for finding in id_problems(Chunk("x y" * 10_000, "text")))


@given(st.text(max_size=8).map(lambda text: text.replace("\\", "")))
def test_a_citable_id_is_read_again_where_an_answer_cites_it(chunk_id: str) -> None:
    assert is_citable(chunk_id) == (citation_ids_in_text(f"citations: [{chunk_id}]") == (chunk_id,))


def test_ids_sort_as_they_are_read_and_not_as_text() -> None:
    read = [
        ChunkId("m", "8c1e9a02", section, page, block)
        for section in ("2", "4.2", "4.10", "4.10.1", "A", "A.1")
        for page, block in ((7, 1), (999, 2), (999, 10), (1000, 1), (1000, 1000))
    ]
    ids = [mint(each) for each in read]
    shuffled = random.Random(7).sample([*ids, "c10", "c2"], len(ids) + 2)
    assert sorted(shuffled, key=sort_key) == [*ids, "c10", "c2"]
    assert sorted(ids) != ids


def test_texts_that_share_eight_digits_get_twelve_and_a_warning() -> None:
    documents = [("m", TWINS[0]), ("n", TWINS[1]), ("m", "another")]
    apart, none = revisions_of(documents)
    assert none == ()
    assert apart == tuple(revision(text) for _, text in documents)

    together = [*documents, ("m", TWINS[1])]
    revs, warnings = revisions_of(together)
    assert revs == ("e86cf3db68b2", "e86cf3db", apart[2], "e86cf3dbd1df")
    assert [(each.code, each.severity, each.record_id) for each in warnings] == [
        ("rev_extended", "warning", "m")
    ]
    assert revisions_of(reversed(together))[0] == tuple(reversed(revs))
    assert parse(mint(ChunkId("m", revs[0], "1", 1, 1))) is not None


def test_the_same_text_twice_is_no_collision() -> None:
    revs, warnings = revisions_of([("m", "one  text"), ("m", "one text")])
    assert revs[0] == revs[1]
    assert (len(revs[0]), warnings) == (8, ())


def test_a_page_that_differs_is_reported_as_both_count_it() -> None:
    (finding,) = id_problems(replace(GOOD, page_idx=1203))
    assert "PDF page 1,204 (page_idx 1,203), its id PDF page 42" in finding.message
