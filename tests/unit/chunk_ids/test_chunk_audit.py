"""Audits over a chunk file: one fault at a time fails its own audit, and no other."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.chunk_ids.audit import KEPT, Audit, audit_chunks
from proofspan.contracts.records.chunk_id import ChunkId, mint
from proofspan.contracts.records.records import Chunk, Offsets

REV = "8c1e9a02"


def chunk(block: int, *, section: str = "4.2", page: int = 42, rev: str = REV, text: str = "text") -> Chunk:
    start = page * 10_000 + block * 100
    return Chunk(
        mint(ChunkId("manual", rev, section, page, block)),
        text,
        "manual",
        section,
        page_idx=page - 1,
        order_in_section=block,
        offsets=Offsets(start, start + 90),
    )


GOOD = [chunk(1), chunk(2), chunk(3, page=43), chunk(1, section="4.10", page=43)]


def audits(chunks: list[Chunk], revs: dict[str, str] | None = None) -> dict[str, Audit]:
    found = audit_chunks(chunks, revs={"manual": REV} if revs is None else revs)
    return {audit.name: audit for audit in found}


def failing(chunks: list[Chunk]) -> dict[str, list[str]]:
    found = audits(chunks).values()
    return {each.name: [f.code for f in each.findings] for each in found if each.status == "fail"}


def test_a_good_file_passes_and_says_of_how_many() -> None:
    found = audits(GOOD)
    assert {audit.status for audit in found.values()} == {"pass"}
    assert found["unique"].message == "all 4 ids are different"
    assert found["order"].message.startswith("in 1 of 2 sections")
    assert all(audit.fix == "" for audit in found.values())


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([*GOOD, GOOD[0]], {"unique": ["duplicate_id"]}),
        ([*GOOD, replace(GOOD[0], chunk_id="c_1")], {"format": ["id_not_canonical"]}),
        ([*GOOD, replace(chunk(4), page_idx=7)], {"place": ["id_place_differs"], "order": ["chunk_order"]}),
        ([*GOOD, chunk(9, rev="0bce068b")], {"revision": ["rev_mismatch"]}),
        ([*GOOD, replace(chunk(4, page=43), offsets=Offsets(0, 9))], {"order": ["chunk_order"]}),
        ([*GOOD, replace(chunk(4, page=43), order_in_section=1)], {"order": ["chunk_order"]}),
        ([chunk(1, page=44), *GOOD[1:]], {}),
    ],
)
def test_each_fault_fails_its_own_audit(chunks: list[Chunk], expected: dict[str, list[str]]) -> None:
    assert failing(chunks) == expected


def test_a_failed_audit_has_a_next_step_and_what_passes_has_none() -> None:
    for audit in audits([*GOOD, GOOD[0], replace(GOOD[0], chunk_id="a b")]).values():
        assert bool(audit.fix) == (audit.status == "fail")


def test_one_finding_a_section_names_the_first_pair_that_is_out_of_order() -> None:
    ends = [replace(chunk(block), offsets=Offsets(900 - block, 990)) for block in range(1, 9)]
    (finding,) = audits([replace(each, order_in_section=None) for each in ends])["order"].findings
    assert "b=001 sorts before" in finding.message
    assert "b=002 but is read after it: offsets from 899 against 898" in finding.message


@pytest.mark.parametrize(
    ("boxes", "status"),
    [
        ([(40, 60, 200, 90), (40, 100, 200, 130)], "pass"),
        ([(40, 100, 200, 130), (40, 60, 200, 90)], "fail"),
        ([(40, 500, 200, 530), (220, 60, 380, 90)], "unknown"),  # two columns: nothing says
    ],
)
def test_boxes_give_the_order_in_one_column_and_where_nothing_else_does(
    boxes: list[tuple[float, float, float, float]], status: str
) -> None:
    bare = [replace(chunk(block), order_in_section=None, offsets=None) for block in (1, 2)]
    placed = [replace(each, box=box, box_space="points") for each, box in zip(bare, boxes, strict=True)]
    assert audits(placed)["order"].status == status


def test_blocks_beyond_999_sort_as_numbers_and_are_reported() -> None:
    found = audits([chunk(block) for block in (998, 999, 1000, 1001)])
    assert {audit.status for audit in found.values()} == {"pass"}
    assert [each.code for each in found["format"].findings] == ["number_beyond_999"] * 2
    assert "2 with a page or block beyond 999" in found["format"].message


def test_twelve_digits_are_a_revision_that_agrees_and_are_reported() -> None:
    found = audits([chunk(1, rev=f"{REV}4bce")])["revision"]
    assert (found.status, [each.code for each in found.findings]) == ("pass", ["rev_extended"])


@pytest.mark.parametrize(
    ("named", "status"),
    [
        (REV, "pass"),
        (f"{REV}4bce", "pass"),
        ("0bce068b", "fail"),
        ("3b91f2a", "unknown"),  # a commit
        ("v2", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_revision_is_compared_only_with_the_hash_of_a_text(named: str, status: str) -> None:
    assert audits(GOOD, {"manual": named})["revision"].status == status


def test_what_nobody_knows_is_not_known_and_no_finding() -> None:
    bare = [replace(each, order_in_section=None, offsets=None, page_idx=None) for each in GOOD]
    unknown = {audit.name for audit in audits(bare, {}).values() if audit.status == "unknown"}
    assert unknown == {"order", "revision"}
    made_up = [replace(chunk(1, rev="00000000"))]
    assert audits(made_up)["revision"].status == "unknown"
    assert {audit.status for audit in audit_chunks([], revs={})} == {"unknown"}


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_matter(random_source: random.Random) -> None:
    chunks = [*GOOD, GOOD[0], chunk(9, rev="0bce068b"), replace(chunk(5), offsets=Offsets(0, 9))]
    shuffled = random_source.sample(chunks, len(chunks))
    reported = [(audit.name, audit.status, audit.message) for audit in audits(shuffled).values()]
    assert reported == [(audit.name, audit.status, audit.message) for audit in audits(chunks).values()]


def test_of_many_findings_the_first_are_kept_and_all_are_counted() -> None:
    found = audits([replace(GOOD[0], chunk_id=f"c {number}") for number in range(KEPT + 5)])["format"]
    assert len(found.findings) == KEPT
    assert found.numbers == {"of": KEPT + 5, "wrong": KEPT + 5, "uncitable": KEPT + 5, "beyond_999": 0}
    assert len(found.examples) == 5
