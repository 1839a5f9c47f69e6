"""Spans in any order as questions: trees, stages, joined by time, hostile links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.traces.formats.spans import questions as spans_module
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.traced import Span, SpanKind
from proofspan.traces.formats.types import Asked, Passage, Reading


def span(id_: str, parent: str | None = None, kind: SpanKind = "chain", at: float = 0, **more: Any) -> Span:
    """Return a span of trace "t" that takes a tenth of a second."""
    return Span(
        **{
            "place": id_,
            "trace": "t",
            "id": id_,
            "parent": parent,
            "kind": kind,
            "start": at,
            "end": at + 0.1,
        }
        | more
    )


def passages(*ids: str) -> list[Passage]:
    return [Passage(id=each, text=f"Text {each}") for each in ids]


def read(*spans: Span) -> tuple[list[Asked], Reading]:
    reading = Reading("file")
    return list(questions(spans, reading)), reading


def lists_of(asked: Asked) -> dict[str, list[str | None]]:
    return {name: [each.id for each in found] for name, found in asked.lists.items()}


PIPELINE = (
    span("root", at=0, end=9, question="How much oil?", answer="4.5 litres.", fields={"user": "u"}),
    span("search", "root", "retriever", 1, question="oil", documents=passages("a", "b", "c")),
    span("rank", "root", "reranker", 2, documents=passages("c", "a"), candidates=passages("a", "b", "c")),
    span("write", "root", "llm", 3, question="Context … oil?", answer="4.5 litres", fields={"model": "m"}),
    span("judge", "root", "evaluator", 8, scores={"faithful": 1.0}),
    span("judging", "judge", "llm", 8, question="Is it faithful?", answer="yes"),
)


@given(st.permutations(PIPELINE))
def test_spans_of_a_trace_are_one_question_in_any_order(spans: list[Span]) -> None:
    (asked,), reading = read(*spans)
    assert (asked.q, asked.answer, asked.place) == ("How much oil?", "4.5 litres.", "trace t")
    assert lists_of(asked) == {
        "retrieved": ["a", "b", "c"],
        "reranked": ["c", "a"],
        "chunks": ["c", "a"],
    }
    assert asked.fields == {"user": "u", "model": "m"} | {
        "trace_id": "t",
        "ts": "1970-01-01T00:00:00.000+00:00",
        "latency_ms": 9000.0,
    }
    assert asked.scores == {"faithful": 1.0} and not reading.problems


def test_without_a_root_the_retriever_asks_and_the_last_model_answers() -> None:
    (asked,), reading = read(
        span("write", "gone", "llm", 5, question="Context", answer="final"),
        span("plan", "gone", "llm", 1, question="Context", answer="search"),
        span("search", "gone", "retriever", 2, question="How much oil?", documents=passages("a")),
    )
    assert (asked.q, asked.answer) == ("How much oil?", "final")
    assert lists_of(asked) == {"chunks": ["a"]}
    assert [(each.code, each.message[0]) for each in reading.problems] == [("spans_no_parent", "3")]
    assert reading.lost == 0


def test_a_root_without_texts_takes_the_question_of_the_chain_below_it() -> None:
    (asked,), _ = read(
        span("root"),
        span("query", "root", question="How much oil?", at=1),
        span("search", "query", "retriever", 2, question="oil amount", documents=passages("a")),
        span("write", "query", "llm", 3, answer="4.5"),
    )
    assert (asked.q, asked.answer) == ("How much oil?", "4.5")


def test_retrievers_in_a_retriever_are_fused_by_it() -> None:
    (asked,), _ = read(
        span("outer", None, "retriever", 0, end=9, question="oil", documents=passages("b", "a")),
        span("one", "outer", "retriever", 1, documents=passages("a")),
        span("two", "outer", "retriever", 2, documents=passages("b", "c")),
    )
    assert lists_of(asked) == {"retrieved": ["a", "b", "c"], "fused": ["b", "a"], "chunks": ["b", "a"]}


def test_a_reranker_in_a_retriever_and_searches_one_after_the_other() -> None:
    (asked,), _ = read(
        span("root", question="oil", answer="4.5", end=9),
        span("first", "root", "retriever", 1, end=3, documents=passages("b")),
        span("inner", "first", "retriever", 1.1, documents=passages("a", "b")),
        span("rank", "first", "reranker", 2, documents=passages("b")),
        span("second", "root", "retriever", 4, documents=passages("c", "d")),
        span("rank again", "root", "reranker", 5, documents=passages("d", "c")),
        span("rank more", "root", "reranker", 6, documents=passages("d")),
    )
    assert lists_of(asked) == {
        "retrieved": ["a", "b", "c", "d"],
        "reranked": ["b", "d"],
        "chunks": ["b", "d"],
    }


def test_a_run_over_questions_is_as_many_questions() -> None:
    asked, reading = read(
        span("run", fields={"model": "m"}),
        *(
            each
            for name in ("oil", "fuse")
            for each in (
                span(name, "run", question=name, answer=f"{name}!"),
                span(f"{name} search", name, "retriever", documents=passages(name)),
            )
        ),
        span("left", "run"),
    )
    assert sorted((each.q, each.answer, each.fields["model"]) for each in asked) == [
        ("fuse", "fuse!", "m"),
        ("oil", "oil!", "m"),
    ]
    assert [each.code for each in reading.problems] == ["spans_outside"]


def test_links_that_cannot_be_are_named_and_lose_nothing() -> None:
    (asked,), reading = read(
        span("a", "b", question="q", answer="x"),
        span("b", "a", "retriever", 1, documents=passages("p")),
        span("self", "self", "llm", 2, answer="y"),
        span("b", "a", "retriever", 1, documents=passages("p")),
        span("b", "a", "retriever", 1, documents=passages("r")),
    )
    assert (asked.q, asked.answer, lists_of(asked)) == ("q", "x", {"chunks": ["p", "r"]})
    assert {each.code for each in reading.problems} == {
        "spans_cycle",
        "spans_other_repeated",
        "spans_repeated",
    }
    assert reading.lost == 0


def lone(id_: str, kind: SpanKind, start: float, end: float, **more: Any) -> Span:
    return span(id_, None, kind, start, end=end, trace=id_, **more)


def test_spans_that_nothing_links_are_joined_by_their_times() -> None:
    asked, reading = read(
        lone("search 1", "retriever", 1, 2, documents=passages("a")),
        lone("one", "chain", 1, 5, question="oil", answer="4.5"),
        lone("write 1", "llm", 3, 4, answer="4.5"),
        lone("two", "chain", 6, 9, question="fuse", answer="F1"),
        lone("three", "chain", 6, 9.5, question="tyre", answer="R16"),
        lone("search 2", "retriever", 7, 8, question="fuse", documents=passages("b")),
        lone("search 3", "retriever", 7, 8, question="tyre", documents=passages("c")),
        lone("unclear", "retriever", 7, 8, documents=passages("d")),
    )
    assert [(each.q, lists_of(each)) for each in asked] == [
        ("oil", {"chunks": ["a"]}),
        ("fuse", {"chunks": ["b"]}),
        ("tyre", {"chunks": ["c"]}),
    ]
    assert [(each.code, each.message[0]) for each in reading.problems] == [
        ("no_question", "i"),
        ("spans_by_time", "4"),
    ]
    assert reading.lost == 1


def test_a_deep_trace_and_a_spool_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans_module, "_IN_MEMORY", 100)
    deep = [span(str(n), str(n - 1) if n else None, at=n) for n in range(3_000)]
    deep[0] = replace(deep[0], question="q", answer="a")
    asked, reading = read(*reversed(deep), span("x", trace="u", question="other"))
    assert [each.q for each in asked] == ["q", "other"] and not reading.problems


links = st.one_of(st.none(), st.sampled_from("abcdef"))


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), links, st.sampled_from(("t", "u", "")), links), max_size=8)
)
def test_any_links_lose_no_span_silently(rows: list[tuple[str, str | None, str, str | None]]) -> None:
    spans = [span(id_, parent, trace=trace, question=q) for id_, parent, trace, q in rows]
    asked, reading = read(*spans)
    assert len(asked) + reading.lost >= len({each.trace for each in spans})
    assert all(each.q for each in asked)
    assert (reading.lost > 0) == any(each.code == "no_question" for each in reading.problems)
