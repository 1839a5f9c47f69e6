"""Citations against gold passages and the anchor."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan, Label, Offsets, Trace
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.metrics.gold_eval import (
    NO_CHUNK_FILE,
    NOT_COUNTED,
    ChunkFile,
    Cited,
    Judge,
    Judged,
    cited_against,
    cited_spans,
    words_of,
)
from proofspan.metrics.ranked import LEFT_OUT
from proofspan.traces.records.chunks import Place
from proofspan.traces.records.citations import citations
from tests.made_traces import made_trace

TEXTS = {
    "a": "The engine oil is changed every 15,000 km. Check the level when the engine is cold.",
    "b": "Add oil in small steps and never above the upper mark.",
    "c": "Winter tyres\nneed 4 mm.",
    "bare": "Nothing is known of where this stands.",
}
KNOWN = ChunkFile(
    places={
        "a": Place("manual", "7.3", 57),
        "b": Place("manual", "7.3.2", 57),
        "c": Place("bulletin", "7.3", 0),
        "bare": Place(None, None, None),
    },
    texts=TEXTS,
    offsets={"a": Offsets(100, 184), "b": Offsets(184, 240), "c": Offsets(1, 3, "line")},
)


def trace_of(*citations: object, answer: str = "It holds 4 litres.", q_id: str = "Q") -> Trace:
    record = {"q_id": q_id, "q": "How much?", "answer": answer, "chunks": [], "citations": list(citations)}
    return made_trace(record, run_id="R")


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q", "How much?", **more)  # type: ignore[arg-type]


def span(
    quote: str = "", *, page_idx: int | None = 57, offsets: Offsets | None = None, doc_id: str = "manual"
) -> GoldSpan:
    return GoldSpan(doc_id, page_idx, quote, offsets)


def verdict(label: Label = "ok", *suspicions: str) -> ReportRow:
    return ReportRow("q", label, "", (), (), Signals(), suspicions)


def judged(
    trace: Trace, known: GoldQuestion, row: ReportRow | None = None, chunk_file: ChunkFile = KNOWN
) -> Judged:
    return Judge({"Q": known}, chunk_file).judged(trace, row or verdict())


def shares(trace: Trace, known: GoldQuestion) -> tuple[float | None, float | None]:
    cited = judged(trace, known).cited
    return cited.citation_precision, cited.citation_recall


def at(start: int, end: int, **more: object) -> dict[str, object]:
    return {"doc_id": "manual", "offsets": [start, end]} | more


BY_OFFSETS = gold(spans=(span(offsets=Offsets(110, 120)),))


@pytest.mark.parametrize(
    ("citation", "points"),
    [
        (at(100, 115), True),
        (at(119, 300), True),
        (at(112, 113), True),
        (at(0, 500), True),
        (at(90, 110), False),  # they touch
        (at(120, 130), False),
        (at(110, 120, doc_id="bulletin"), False),
        ({"doc_id": "manual", "page_idx": 57, "offsets": {"start": 0, "end": 9, "unit": "byte"}}, True),
        (at(115, 115, page_idx=56), False),  # an empty range does not count, and the page is another
        ({"chunk_id": "a"}, True),  # as its chunk is
        ({"chunk_id": "b"}, False),
        ({"chunk_id": "a", "offsets": [150, 160]}, False),
        ({"chunk_id": "c"}, False),
    ],
    ids=str,
)
def test_offsets_of_one_document_and_unit_have_to_overlap(
    citation: Mapping[str, object], points: bool
) -> None:
    assert shares(trace_of(citation), BY_OFFSETS) == (float(points), float(points))


CHANGED = gold(spans=(span("The engine oil is CHANGED every 15,000 km", page_idx=None),))


@pytest.mark.parametrize(
    ("citation", "points"),
    [
        ({"chunk_id": "a"}, True),
        ({"quote": "the engine oil is changed\nevery 15,000 km; never later"}, True),
        ({"quote": "oil is chan-\nged every 15,000 km"}, True),  # a part of the gold quote
        ({"quote": "oil is"}, False),  # two words are in every text
        ({"quote": "The engine oil is changed every 15,500 km"}, False),
        ({"chunk_id": "b"}, False),
        ({"chunk_id": "a", "quote": "Check the level when the engine is cold."}, False),
        ({"chunk_id": "invented"}, False),
        ({"quote": "…"}, False),
    ],
    ids=str,
)
def test_without_offsets_one_text_has_to_contain_the_other(
    citation: Mapping[str, object], points: bool
) -> None:
    assert shares(trace_of(citation), CHANGED) == (float(points), float(points))


@pytest.mark.parametrize(
    ("known", "citation", "points"),
    [
        (gold(chunks=("a",)), {"chunk_id": "a"}, True),
        (gold(chunks=("a",)), {"chunk_id": "b"}, False),
        (gold(chunks=("a",)), {"doc_id": "manual", "page_idx": 57}, True),
        (gold(chunks=("a",)), {"doc_id": "manual", "page": 57}, False),
        (gold(chunks=("a",), spans=(span("no text of ours"),)), {"chunk_id": "a"}, True),
        (gold(chunks=("a",), spans=(span("no text of ours"),)), {"chunk_id": "b"}, False),  # on its page
        (gold(sections=("7.3",)), {"chunk_id": "a"}, True),
        (gold(sections=("§ 7.3.",)), {"section_id": "Section 7.3"}, True),
        (gold(sections=("7.3",)), {"chunk_id": "b"}, False),
        (gold(sections=("7.3",), spans=(span("no text of ours"),)), {"chunk_id": "a"}, True),
        (gold(sections=("7.3",), spans=(span("no text of ours"),)), {"chunk_id": "c"}, False),
        (gold(sections=("7.3",), spans=(span("none"),)), {"doc_id": "manual", "page_idx": 57}, True),
        (gold(spans=(span("no text of ours"),)), {"chunk_id": "b"}, True),
        (gold(spans=(span("no text of ours"),)), {"doc_id": "manual", "page_idx": 56}, False),
        (gold(spans=(span("no text of ours"),)), {"page_idx": 57}, False),
        (gold(spans=(span("none", page_idx=None),)), {"doc_id": "manual"}, False),
    ],
    ids=str,
)
def test_what_else_both_sides_name_decides_from_narrow_to_wide(
    known: GoldQuestion, citation: Mapping[str, object], points: bool
) -> None:
    assert shares(trace_of(citation), known) == (float(points), float(points))


TWO = gold(spans=(span(offsets=Offsets(110, 120)), span(offsets=Offsets(150, 160))))


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ([], (None, 0.0)),
        ([at(110, 111)], (1.0, 0.5)),
        ([at(110, 111), at(155, 160)], (1.0, 1.0)),
        ([at(110, 155)], (1.0, 1.0)),
        ([at(110, 111), at(1, 2), at(3, 4)], (1 / 3, 0.5)),
        ([at(110, 111), at(110, 111), at(1, 2)], (0.5, 0.5)),  # the same citation twice is one
        ([5, None, {}], (0.0, 0.0)),
    ],
    ids=str,
)
def test_precision_counts_citations_and_recall_gold_passages(
    citations: list[object], expected: tuple[float | None, float]
) -> None:
    assert shares(trace_of(*citations), TWO) == expected


@pytest.mark.parametrize(
    ("anchor", "quotes", "coverage"),
    [
        ("oil is changed every", ["The engine oil is changed every 15,000 km."], 1.0),
        ("Oil  is CHANGED, every!", ["engine oil is changed every 15,000 km."], 1.0),
        ("oil is changed every winter", ["The engine oil is changed every 15,000 km."], 4 / 5),
        ("oil is changed in every car", ["oil is changed", "every car"], 3 / 6),  # two words are no run
        ("one two three four five six", ["one two three", "four five six"], 1.0),
        ("one two three four", ["one two", "three four"], 0.0),  # a run is in one passage
        ("one two three four", ["one two three", "two three four"], 1.0),
        ("one one one one", ["one one one"], 1.0),
        ("a b c x a b c", ["a b c"], 6 / 7),
        ("4 mm", ["winter tyres need 4 mm."], 1.0),
        ("4 mm", ["winter tyres need 14 mm."], 0.0),
        ("litre", ["litres"], 0.0),
        ("litre", ["1.0 litre"], 1.0),
        ("Größe ﬁnden", ["grösse", "GRÖSSE FINDEN"], 1.0),
        ("one two three", [], 0.0),
    ],
)
def test_an_anchor_is_covered_by_words_in_a_row(anchor: str, quotes: list[str], coverage: float) -> None:
    trace = trace_of(*({"quote": quote} for quote in quotes))
    assert judged(trace, gold(anchor=anchor)).cited == Cited(None, None, pytest.approx(coverage))


def test_an_anchor_is_looked_for_in_the_cited_chunk_where_there_is_no_quote() -> None:
    known = gold(anchor="need 4 mm and Add oil in small")
    assert judged(trace_of("c", "b", "invented"), known).cited.anchor_coverage == 7 / 8
    assert judged(trace_of("invented"), known).cited.anchor_coverage == 0.0
    assert judged(trace_of("c"), known, chunk_file=NO_CHUNK_FILE).cited.anchor_coverage is None
    assert judged(trace_of(), known, chunk_file=NO_CHUNK_FILE).cited.anchor_coverage == 0.0


@pytest.mark.parametrize("anchor", [None, "", " … "])
def test_without_an_anchor_nothing_is_covered(anchor: str | None) -> None:
    assert judged(trace_of("a"), gold(anchor=anchor, chunks=("a",))).cited == Cited(1.0, 1.0, None)


@pytest.mark.parametrize(
    ("row", "refused", "cited"),
    [
        (verdict("ok"), False, Cited(1.0, 1.0, None)),
        (verdict("refusal_suspect"), True, NOT_COUNTED),
        (verdict("refusal_ok"), True, NOT_COUNTED),
        (verdict("generation_drift", "refusal_other_wording"), False, Cited(1.0, 1.0, None)),
    ],
)
def test_a_declining_answer_is_not_judged_by_what_it_cites(
    row: ReportRow, refused: bool, cited: Cited
) -> None:
    found = judged(trace_of("a"), gold(chunks=("a",), type="figure"), row)
    assert (found.refused, found.cited, found.q_type, found.answerable) == (refused, cited, "figure", True)


def test_an_answer_without_a_verdict_may_decline_so_what_it_cites_does_not_count() -> None:
    """Without the chunk file a refusal would count as an answer that covers nothing."""
    judge = Judge({"Q": gold(chunks=("a",), anchor="engine oil is")}, NO_CHUNK_FILE)
    for trace in (trace_of(), trace_of({"chunk_id": "a", "quote": "The engine oil is changed"})):
        found = judge.judged(trace, None)
        assert (found.refused, found.cited) == (None, NOT_COUNTED)


def test_where_the_documents_hold_no_answer_nothing_can_be_cited_rightly() -> None:
    found = judged(trace_of("a"), gold(answerable=False, chunks=("a",), anchor="engine oil is"))
    assert (found.answerable, found.ranked.unranked, found.cited) == (False, "unanswerable", NOT_COUNTED)


def test_a_trace_without_a_gold_question_says_so_and_whether_it_declines() -> None:
    judge = Judge({"Q": gold(chunks=("a",))}, KNOWN)
    trace = trace_of("a", q_id="Q2")
    assert judge.judged(trace, verdict("refusal_ok")) == Judged(None, None, True, LEFT_OUT["no_gold"])
    assert judge.judged(trace, None).refused is None


def test_gold_without_a_place_still_has_passages_to_cite() -> None:
    found = judged(trace_of("a"), CHANGED)
    assert (found.ranked.unranked, found.cited.citation_recall) == ("gold_unplaced", 1.0)


def test_of_several_gold_chunks_a_span_is_in_those_that_hold_its_quote() -> None:
    spans = (span("engine oil is changed", page_idx=None), span("Add oil in small steps", page_idx=None))
    known = gold(chunks=("a", "b"), spans=spans)
    other = {"chunk_id": "a", "quote": "Check the level when the engine is cold."}
    assert shares(trace_of(other), known) == (1.0, 0.5)
    unlike = gold(chunks=("a", "b"), spans=(span("no text of ours"), span("nor this")))
    assert shares(trace_of(other), unlike) == (1.0, 1.0)


NUMBERS = st.lists(st.integers(0, 3).map(str), min_size=1, max_size=7)


@given(NUMBERS, st.lists(NUMBERS, max_size=3))
def test_coverage_is_the_share_of_words_in_runs(anchor: list[str], quotes: list[list[str]]) -> None:
    """By the definition: a word counts if three words in a row around it (or all) are in one quote."""
    run = min(3, len(anchor))
    counted = [
        any(
            anchor[start : start + run] == quote[place : place + run]
            for start in range(max(0, word - run + 1), min(word, len(anchor) - run) + 1)
            for quote in quotes
            for place in range(len(quote) - run + 1)
        )
        for word in range(len(anchor))
    ]
    trace = trace_of(*({"quote": " ".join(quote)} for quote in quotes))
    spans = cited_spans(citations(trace), NO_CHUNK_FILE)
    found = cited_against(spans, (), words_of(" ".join(anchor))).anchor_coverage
    assert found == sum(counted) / len(anchor)


RANGES = st.tuples(st.integers(0, 30), st.integers(0, 30))


@given(st.lists(RANGES, max_size=5), st.lists(RANGES, min_size=1, max_size=4))
def test_shares_lie_between_none_and_all(cited: list[tuple[int, int]], spans: list[tuple[int, int]]) -> None:
    known = gold(spans=tuple(span(page_idx=None, offsets=Offsets(*each)) for each in spans))
    precision, recall = shares(trace_of(*(at(*each) for each in cited)), known)
    assert recall is not None
    assert (precision is None) == (not cited)
    assert 0 <= recall <= 1
    assert 0 <= (precision or 0) <= 1
    assert ((precision or 0) > 0) == (recall > 0)
