"""The citations of an answer, from the payload or its text, and the source of their page."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.field_values import span_of
from proofspan.contracts.records.records import Box, Chunk, Citation, Offsets, Trace
from proofspan.services.question.view import span_query
from proofspan.traces.records.citations import (
    citation_ids_in_text,
    citations,
    cited_record,
    filled_from,
    recorded_citations,
)
from tests.made_traces import made_trace

CHUNK_ID = "manual|r=8c1e9a02|s=4.2|p=042|b=003"


def trace(**fields: Any) -> Trace:
    return made_trace({"q": "x", "answer": "", "chunks": [], **fields})


def only(*payload: Any, **fields: Any) -> Citation:
    (citation,) = citations(trace(citations=list(payload), **fields))
    return citation


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("", ()),
        ("no citations here", ()),
        ("X is Y. citations: [p1#1, p2#3]", ("p1#1", "p2#3")),
        ("CITATIONS : [a,b c\n d]", ("a", "b", "c", "d")),
        ("citations: []", ()),
        ("citations: [a] citations: [b]", ("a",)),
        ("citations: [a, a]", ("a", "a")),
        ("citations: [never closed", ()),
        ("citations: [opened citations: [again]", ("opened", "citations:", "[again")),
        ("] citations: [closed before", ()),
        ("ſ citationſ: [a]", ("a",)),
        (f"citations: [{CHUNK_ID}]", (CHUNK_ID,)),
    ],
)
def test_ids_in_the_answers_text(answer: str, ids: tuple[str, ...]) -> None:
    assert citation_ids_in_text(answer) == ids


@pytest.mark.parametrize(
    "answer", ["citations:[" * 200_000 + ".", "]" + "citations: [" * 200_000, "citations " * 200_000]
)
def test_an_answer_that_only_opens_lists_takes_no_time(answer: str) -> None:
    started = time.process_time()
    assert citation_ids_in_text(answer) == ()
    assert time.process_time() - started < 5


def test_a_payload_is_read_with_its_place() -> None:
    found = only(
        {
            "snippet_id": "hb24-sec-keys-0007",
            "doc_id": "handbook_2024",
            "section_id": "policies/security/keys",
            "offsets": {"start": 2310, "end": 2688, "unit": "token"},
            "page": 14,
            "bbox": [72, 140, 320.5, 260],
            "bbox_space": "points",
            "quote": "Hardware keys are required",
        }
    )
    assert (found.number, found.chunk_id, found.doc_id) == (1, "hb24-sec-keys-0007", "handbook_2024")
    assert (found.page_idx, found.page_from, found.page_note) == (13, "record", None)
    assert found.offsets == Offsets(2310, 2688, "token")
    assert (found.box, found.box_space) == ((72.0, 140.0, 320.5, 260.0), "points")
    assert (found.quote, found.origin) == ("Hardware keys are required", "payload")


@pytest.mark.parametrize(
    ("place", "page_idx", "note"),
    [
        ({"page": 1}, 0, None),
        ({"page": 14.0}, 13, None),
        ({"page": 0}, None, "page_below_one"),
        ({"page": -2}, None, "page_below_one"),
        ({"page": "14"}, None, "page_unreadable"),
        ({"page": True}, None, "page_unreadable"),
        ({"page": None}, None, None),
        ({"page_idx": 0}, 0, None),
        ({"page_idx": 0, "page": 1}, 0, None),
        ({"page_idx": 4, "page": 4}, 4, "pages_disagree"),
        ({"page_idx": -1}, None, "page_unreadable"),
        ({}, None, None),
    ],
)
def test_pages_become_page_idx_and_odd_ones_are_noted(
    place: Any, page_idx: int | None, note: str | None
) -> None:
    found = only({"id": "c", **place})
    assert (found.page_idx, found.page_note) == (page_idx, note)


@pytest.mark.parametrize(
    ("item", "is_suspect"),
    [
        ({"id": "c", "page": 0}, True),
        ({"id": "c", "page": 0, "page_idx": 0}, False),
        ({"id": "c", "page": 1}, False),
        ({"id": "c", "page": False}, False),
        ("c", False),
    ],
)
def test_page_zero_is_noticed_when_the_trace_is_read(item: Any, is_suspect: bool) -> None:
    assert ("citation_page_zero" in trace(citations=[item]).suspicions) is is_suspect


@pytest.mark.parametrize(
    ("given", "offsets"),
    [
        ([320, 480], Offsets(320, 480)),
        ({"start": 1, "end": 2}, Offsets(1, 2)),
        ({"start": 1, "end": 2, "unit": "line"}, Offsets(1, 2, "line")),
        ({"start": 1, "end": 2, "unit": "furlong"}, None),
        ({"start": 1}, None),
        ({"start": 1, "end": 2, "unit": ["char"]}, None),
        ([1], None),
        ("1-2", None),
    ],
)
def test_offsets_are_a_pair_or_an_object(given: Any, offsets: Offsets | None) -> None:
    assert only({"id": "c", "offsets": given}).offsets == offsets


@pytest.mark.parametrize(
    ("bbox", "space", "box"),
    [
        ([1, 2, 3], "points", None),
        ([1, 2, 3, "4"], "points", None),
        ([0, 0, 1, 1], "0-1", (0.0, 0.0, 1.0, 1.0)),
        ([0, 0, 1, 1], ["points"], (0.0, 0.0, 1.0, 1.0)),
    ],
)
def test_a_box_needs_four_numbers_and_its_space_is_never_guessed(
    bbox: Any, space: Any, box: Box | None
) -> None:
    found = only({"id": "c", "bbox": bbox, "bbox_space": space})
    assert found.box == box
    assert found.box_space == ("unit" if space == "0-1" else None)


def test_the_page_comes_from_the_candidate_before_the_id() -> None:
    from_entry = only({"id": CHUNK_ID}, chunks=[{"id": CHUNK_ID, "page_idx": 40, "section_id": "4.3"}])
    assert (from_entry.page_idx, from_entry.page_from, from_entry.section_id) == (40, "record", "4.3")
    from_id = only({"id": CHUNK_ID})
    assert (from_id.page_idx, from_id.page_from, from_id.section_id) == (41, "chunk_id", "4.2")


def test_an_id_without_pages_gives_none() -> None:
    assert only("notes|r=8c1e9a02|s=1|p=000|b=001").page_idx is None


def test_evidence_follows_the_payload_where_text_and_payload_differ() -> None:
    found = citations(trace(answer="citations: [b]", citations=[{"id": "a"}]))
    assert [(each.chunk_id, each.origin) for each in found] == [("a", "payload")]


@pytest.mark.parametrize("payload", [None, []])
def test_the_text_counts_where_there_is_no_payload(payload: Any) -> None:
    found = citations(trace(answer="citations: [a, b]", citations=payload))
    assert [(each.number, each.chunk_id, each.origin) for each in found] == [
        (1, "a", "answer_text"),
        (2, "b", "answer_text"),
    ]


def test_segments_bring_their_own_citations() -> None:
    found = citations(trace(segments=[{"citations": [{"id": "a"}]}, {"text": "none"}, {"citations": ["b"]}]))
    assert [(each.number, each.chunk_id) for each in found] == [(1, "a"), (2, "b")]


def test_entries_that_point_at_nothing_leave_a_gap_in_the_numbers() -> None:
    found = citations(trace(citations=[None, 7, {"id": "c"}, []]))
    assert [(each.number, each.chunk_id) for each in found] == [(3, "c")]


def test_a_citation_without_id_keeps_its_place() -> None:
    found = only({"doc_id": "d", "page_idx": 0, "quote": "…"})
    assert (found.chunk_id, found.doc_id, found.page_idx) == (None, "d", 0)


def test_the_chunks_record_fills_what_the_citation_leaves_open() -> None:
    chunk = Chunk(
        "c", "its text", doc_id="d", page_idx=0, offsets=Offsets(1, 9), box=(0, 0, 1, 1), box_space="unit"
    )
    filled = filled_from(only({"id": "c"}), chunk)
    assert (filled.quote, filled.doc_id, filled.page_idx, filled.page_from) == ("its text", "d", 0, "record")
    assert (filled.offsets, filled.box_space) == (Offsets(1, 9), "unit")


def test_the_chunks_page_counts_before_the_ids_but_not_before_the_payloads() -> None:
    chunk = Chunk(CHUNK_ID, "text", page_idx=9)
    assert filled_from(only({"id": CHUNK_ID}), chunk).page_idx == 9
    assert filled_from(only({"id": CHUNK_ID, "page_idx": 3, "quote": "q"}), chunk).page_idx == 3


def test_a_printed_label_is_kept_as_it_is_and_is_no_index() -> None:
    payload = only({"doc_id": "d", "page_label": 41, "quote": "q"})
    assert (payload.page_label, payload.page_idx) == ("41", None)
    chunk = Chunk("c", "text", box=(0.0, 0.0, 1.0, 1.0), box_space="unit", page_label="iv")
    filled = filled_from(only({"id": "c"}), chunk)
    assert (filled.page_label, filled.page_idx, filled.box) == ("iv", None, chunk.box)
    other = filled_from(only({"id": "c", "page_label": "v", "quote": "q"}), chunk)
    assert (other.page_label, other.box) == ("v", None)
    assert span_query(filled).cited_label == "iv"
    assert span_query(replace(filled, page_idx=3)).cited_label is None


def test_the_box_of_a_chunk_says_nothing_of_a_quote_on_another_page() -> None:
    chunk = Chunk("c", "its text", doc_id="d", page_idx=9, box=(0.0, 0.0, 1.0, 1.0), box_space="unit")
    assert filled_from(only({"id": "c", "page_idx": 9, "quote": "q"}), chunk).box == chunk.box
    beside = filled_from(only({"id": "c", "page_idx": 10, "quote": "q"}), chunk)
    assert (beside.box, beside.box_space) == (None, None)


@pytest.mark.parametrize(
    ("span", "offsets"),
    [
        ({"line_start": 4, "line_end": 5}, Offsets(4, 6, "line")),
        ([4, 4], Offsets(4, 5, "line")),
        ([4, 2**53], None),
        ([4, None], None),
        ("4-5", None),
    ],
    ids=repr,
)
def test_a_span_holds_both_of_its_lines(span: object, offsets: Offsets | None) -> None:
    assert span_of({"span": span}) == offsets


_IDS = st.sampled_from([CHUNK_ID, "a", "b", 7])
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("id", "chunk_id", "snippet_id"), _IDS),
        **dict.fromkeys(("doc_id", "section_id", "page_label"), st.sampled_from(["d", " ", 4, None])),
        **dict.fromkeys(("page", "page_idx"), st.sampled_from([0, 1, 4, 2.5, "x", None])),
        "text": st.just("a text"),
    },
)
_ENTRIES = st.lists(_ENTRY | _IDS | st.none(), max_size=4)


@given(
    citations_=_ENTRIES | st.none(),
    chunks=_ENTRIES,
    fused=_ENTRIES,
    segments=st.lists(st.fixed_dictionaries({"citations": _ENTRIES}), max_size=2),
    answer=st.sampled_from(["", "x. citations: [a, b]", '{"citations": ["a", {"id": "b"}], "answer": "x"}']),
)
def test_what_an_index_keeps_of_a_record_gives_the_same_citations(
    citations_: Any, chunks: Any, fused: Any, segments: Any, answer: str
) -> None:
    stages = {"fused": [entry for entry in fused if isinstance(entry, dict)]}
    entries = [entry for entry in chunks if isinstance(entry, dict)]
    read = trace(citations=citations_, chunks=entries, stages=stages, segments=segments, answer=answer)
    kept = cited_record(read)
    assert (recorded_citations(kept) if kept is not None else ()) == citations(read)
