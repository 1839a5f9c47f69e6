"""The codes of a trace are those of its problems, whatever the record holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.traces.contract import trace_codes, trace_problems
from proofspan.traces.records.trace_record import trace_from
from tests.unit.contract_lines import block, found, line
from tests.unit.contracts.citation_payloads import JSON, PINS, odd_payloads, payload

STOP = '{"error": "rev", "fix": "x"}'
_IDS = st.sampled_from(["a", "b", "hb-0007", "d|r=00000000|s=1|p=001|b=001", 7, None])
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "id": _IDS,
        "section_id": st.sampled_from(["1", "2", "", None, 3]),
        "score": st.sampled_from([0.5, 1, 1.0, True, "1", None]),
        "page_idx": st.sampled_from([0, 3, -1, "3", None, True]),
        "page": st.sampled_from([0, 1, 4]),
        "analyzer": st.sampled_from(["icu", "lowercase+ascii_fold"]),
    },
)
_SCORED = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b", "c"]), "section_id": st.sampled_from(["1", "2"])},
    optional={"score": st.sampled_from([0.5, 1]), "page_idx": st.sampled_from([0, 1])},
)
_LISTS = st.lists(_SCORED, max_size=4) | st.lists(_ENTRY, max_size=3)
_CITED = st.lists(st.just(payload()) | odd_payloads() | st.just("a"), max_size=3)


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {"q": st.just("Who?")},
        optional={
            "chunks": st.lists(_SCORED, max_size=4),
            "answer": st.sampled_from(
                ["", "A.", "A. citations: [a, b]", "A. citations: [hb-0007]", STOP, block(), block(tokens=0)]
            ),
            "citations": _CITED | JSON,
            "segments": st.lists(
                st.fixed_dictionaries({"text": st.just("a"), "citations": _CITED}), max_size=2
            )
            | JSON,
            "stages": st.dictionaries(st.sampled_from(["retrieved", "fused", "reranked"]), _LISTS) | JSON,
            "λ": st.sampled_from(["convergent", "→", "?", 4]),
            "metrics": st.just({"λ": "?"}) | JSON,
            "analyzer": st.sampled_from(["lowercase+ascii_fold", "icu", 7]),
            "index_hash": st.sampled_from(["2f7d", "beef"]),
            "error": JSON,
            "citations_from": st.sampled_from(["log", "cited_chunks"]),
        },
    ),
    st.sampled_from(
        [
            PINS,
            NO_CONTEXT,
            Context(corpus={"a", "hb-0007"}, revs={"d": "11111111"}),
            Context(allow_cross=True),
        ]
    ),
    st.booleans(),
)
@settings(max_examples=300)
def test_the_codes_are_those_of_the_problems(obj: dict[str, Any], context: Context, declines: bool) -> None:
    record = trace_from(obj, SourceLine("t.jsonl", 1, 0, 0), run_id=None)
    if isinstance(record, LineIssue):
        return
    findings = trace_problems(record, context, declines=declines)
    assert list(trace_codes(record, context, declines=declines)) == in_order(each.code for each in findings)


def test_a_chunk_that_is_cited_with_another_score_may_still_be_tied_with_the_next() -> None:
    scored = {"score_norm": 0.7, "k_pos": 2}
    tied = [
        payload(**scored, score_raw=0.7),
        payload(**scored | {"k_pos": 1}, score_raw=0.7, snippet_id="hb-0008"),
        payload(**scored, score_raw=0.5),
    ]
    assert ("tie_order", "citations[2]") in found(line(citations=tied))
