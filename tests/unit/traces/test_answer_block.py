"""The auditable block inside an answer's text, and what a trace takes from it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.traces.records.citations import auditable_block, citations, line_payload
from proofspan.traces.records.trace_record import measures
from tests.made_traces import made_trace

ITEM = {
    "snippet_id": "hb24-sec-keys-0007",
    "section_id": "policies/security/keys",
    "source_url": "https://example.org/handbook#security-keys",
    "offsets": {"start": 2310, "end": 2688, "unit": "char"},
    "tokens": 188,
}
BLOCK: dict[str, Any] = {"citations": [ITEM], "answer": "Hardware keys.", "ΔS": 0.37, "λ": "convergent"}
TEXT = json.dumps(BLOCK, ensure_ascii=False, indent=2)


def trace(**fields: Any) -> Trace:
    return made_trace({"q": "x", "chunks": [], **fields})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("Here it is:\n```json\n", "\n```\nAsk for more."),
        ('He said "so", and {this: is} no JSON; ', " { and this"),
        ('A 12" pipe {"holds ', ""),
        ('{"note": "not it"} ', ""),
        ('{"citations": [NaN], "answer": ""} ', ""),
        ('{"citations": "none", "answer": ""} ', ""),
    ],
)
def test_a_block_is_found_in_a_fence_and_among_prose(before: str, after: str) -> None:
    block = auditable_block(before + TEXT + after)
    assert block is not None
    assert (block.start, block.end) == (len(before), len(before + TEXT))
    assert (block.citations, block.answer) == ((ITEM,), "Hardware keys.")
    assert (block.delta_s, block.lambda_state) == (0.37, "convergent")
    assert block.keys == ("citations", "answer", "ΔS", "λ")


def test_the_first_whole_block_wins_and_keeps_the_order_of_its_keys() -> None:
    first = '{"answer": "a", "citations": ["x"], "lambda": "→"}'
    block = auditable_block(f"{first} {TEXT}")
    assert block is not None
    assert (block.keys, block.citations) == (("answer", "citations", "lambda"), ("x",))
    assert (block.lambda_state, block.delta_s) == ("convergent", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words. citations: [a]",
        '"citations" are asked for',
        '{"citations": ["a"]}',
        '{"citations": {"id": "a"}, "answer": ""}',
        '{"citations": ["a"], "answer": null}',
        TEXT[:-1],
        '{"begun and not ended": ' + TEXT,
        '{"citations": [' + "[" * 70 + "]" * 70 + '], "answer": ""}',
        '{"citations": [' + "[" * 9_000 + "]" * 9_000 + '], "answer": ""}',
        '{"citations": [1' + "0" * 9_000 + '], "answer": ""}',
        '{"citations": ["\ud800"], "answer": ""}',
    ],
)
def test_what_is_no_whole_block_is_not_parsed(text: str) -> None:
    assert auditable_block(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "{" * 1_000_000,
        '{"' * 500_000,
        '{"a":' * 200_000,
        '{ "a" : "{" ' * 80_000,
        '{"a":' * 500 + "1," * 400_000,
        '{"' + '\\"' * 400_000,
        '{"a":[' + '{"b":1},' * 100_000,
        "{ " * 400_000 + '"',
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.process_time()
    assert auditable_block('"citations"' + text) is None
    assert time.process_time() - started < 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(_JSON, max_size=3), st.text(max_size=9), st.text('{}[]"\\:, a\n', max_size=12))
def test_whatever_a_block_holds_it_is_found_again(items: list[Any], answer: str, behind: str) -> None:
    text = json.dumps({"citations": items, "answer": answer}).encode("utf-8", "ignore").decode()
    block = auditable_block(text + behind)
    assert block is not None
    assert (list(block.citations), block.answer, block.end) == (items, answer, len(text))


@given(st.text('{}[]":,\\ nac', max_size=60))
def test_any_text_gives_an_answer(text: str) -> None:
    block = auditable_block('{"citations" ' + text)
    assert block is None or json.loads(('{"citations" ' + text)[block.start : block.end])


def test_a_trace_takes_payload_and_measures_from_its_block() -> None:
    found = trace(answer=f"As follows.\n{TEXT}")
    assert list(found.payload) == [ITEM]
    (cited,) = citations(found)
    assert (cited.chunk_id, cited.origin) == ("hb24-sec-keys-0007", "payload")
    assert measures(found).delta_s == 0.37
    assert measures(found).lambda_state == "convergent"


def test_what_the_trace_says_itself_counts_before_its_block() -> None:
    found = trace(answer=TEXT, citations=["own"], ΔS=0.1, λ="×")
    assert list(found.payload) == ["own"]
    assert measures(found)[1:3] == (0.1, "chaotic")
    assert line_payload({"answer": TEXT, "segments": [{"citations": ["part"]}]}) == ["part"]
