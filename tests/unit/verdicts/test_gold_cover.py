"""Citation match: gold offsets against the offsets of the chunks that are expected for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofspan.contracts.chunk_ids.audit import REBUILD, TIGHTEN
from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan, Offsets
from proofspan.metrics.gold_cover import Matched, match_audit, match_gold

TEXT = "Loosen the bolts by half a turn. Then lift the car."
CHUNK = Chunk("c1", TEXT, "manual", "4.2", page_idx=4, offsets=Offsets(100, 100 + len(TEXT)))
SPAN = GoldSpan("manual", 4, "Then lift the car.", Offsets(133, 151))
GOLD = GoldQuestion("Q1", "What then?", chunks=("c1",), spans=(SPAN,))
UNNAMED = replace(GOLD, chunks=())


def reasons(gold: GoldQuestion, *chunks: Chunk) -> list[str]:
    found = match_gold([gold], {chunk.chunk_id: chunk for chunk in chunks})
    return [reason for _, reason in found.spans]


@pytest.mark.parametrize(
    ("gold", "chunks", "expected"),
    [
        (GOLD, [CHUNK], "matched"),
        (GOLD, [replace(CHUNK, offsets=Offsets(0, len(TEXT)))], "outside"),
        (GOLD, [replace(CHUNK, offsets=Offsets(101, 101 + len(TEXT)))], "other_text"),
        (GOLD, [replace(CHUNK, offsets=None)], "no_offsets"),
        (GOLD, [replace(CHUNK, offsets=Offsets(100, 200, "byte"))], "no_offsets"),
        (UNNAMED, [CHUNK], "matched"),
        (UNNAMED, [replace(CHUNK, offsets=Offsets(0, len(TEXT)))], "outside"),
        (UNNAMED, [replace(CHUNK, text=TEXT[:40])], "in_no_chunk"),
        (UNNAMED, [replace(CHUNK, doc_id="bulletin")], "in_no_chunk"),
        (UNNAMED, [replace(CHUNK, page_idx=9)], "in_no_chunk"),
        (replace(GOLD, chunks=("gone",)), [CHUNK], "matched"),
    ],
)
def test_a_span_is_matched_where_its_chunk_covers_it(
    gold: GoldQuestion, chunks: list[Chunk], expected: str
) -> None:
    assert reasons(gold, *chunks) == [expected]


def test_two_gold_chunks_cover_a_span_together_that_runs_from_one_into_the_other() -> None:
    first, second = TEXT[:40], TEXT[40:]
    halves = [
        replace(CHUNK, text=first, offsets=Offsets(100, 140)),
        replace(CHUNK, chunk_id="c2", text=second, offsets=Offsets(140, 151)),
    ]
    assert reasons(replace(GOLD, chunks=("c1", "c2")), *halves) == ["matched"]
    apart = [halves[0], replace(halves[1], offsets=Offsets(141, 152))]
    assert reasons(replace(GOLD, chunks=("c1", "c2")), *apart) == ["outside"]


def many(wrong: int, total: int, chunk: Chunk = CHUNK) -> Matched:
    gold = [
        replace(GOLD, q_id=f"Q{n}", spans=(replace(SPAN, offsets=Offsets(0, 9)),) if n < wrong else (SPAN,))
        for n in range(total)
    ]
    return match_gold(gold, {"c1": chunk})


@pytest.mark.parametrize(("wrong", "status"), [(0, "pass"), (10, "pass"), (11, "fail")])
def test_nine_of_ten_are_enough(wrong: int, status: str) -> None:
    audit = match_audit(many(wrong, 100), "citation_match")
    assert audit.status == status
    assert audit.message.startswith(f"{100 - wrong} of 100 gold spans, {100 - wrong} % (")
    assert audit.fix == (REBUILD if status == "fail" else "")
    assert {each.code for each in audit.findings} <= {"gold_not_covered"}


def test_spans_that_no_chunk_holds_whole_ask_for_other_block_boundaries() -> None:
    found = match_gold([UNNAMED], {"c1": replace(CHUNK, text=TEXT[:40])})
    assert match_audit(found, "citation_match").fix == TIGHTEN


def test_the_sample_is_the_same_wherever_it_is_drawn_and_another_with_another_seed() -> None:
    everything = many(30, 100)
    turned = replace(everything, spans=everything.spans[::-1])
    drawn = everything.sample(7)
    assert len(drawn.spans) == 20
    assert drawn == turned.sample(7)
    assert {span.q_id for span, _ in drawn.spans} != {span.q_id for span, _ in everything.sample(8).spans}
    assert len(many(0, 3).sample(7).spans) == 3


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ([], "there is no gold span"),
        ([replace(GOLD, spans=(replace(SPAN, offsets=None),))], "no gold span has offsets"),
        ([replace(GOLD, spans=(replace(SPAN, offsets=Offsets(9, 9)),))], "no gold span has offsets"),
    ],
)
def test_without_gold_offsets_nothing_is_known(gold: list[GoldQuestion], expected: str) -> None:
    audit = match_audit(match_gold(gold, {"c1": CHUNK}), "citation_match")
    assert (audit.status, audit.message.split(",")[0]) == ("unknown", expected)
