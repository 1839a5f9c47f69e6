"""Triage gives the outcomes of the reference: of committed goldens, and of the live script where at hand."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile
from tests.made_traces import made_trace
from tests.places import CHECKOUT

GOLDENS = CHECKOUT / "tests" / "golden" / "triage"
CASES = json.loads((GOLDENS / "cases.json").read_text(encoding="utf-8"))
OUTCOME = ("q", "label", "why", "chunks", "citations_in_answer")

Record = dict[str, Any]


def trace_of(record: Record) -> Trace:
    return made_trace(record, run_id=None)


def outcome(record: Record, chunks: dict[str, str]) -> Record:
    row = reflect(trace_of(record), Corpus(chunks), Profile())
    return {
        "q": row.q,
        "label": row.label,
        "why": row.why,
        "chunks": list(row.chunks),
        "citations_in_answer": list(row.citations_in_answer),
    }


@pytest.fixture(scope="module")
def reflect_one(reference: Path) -> Callable[[Record, dict[str, str]], Record]:
    spec = importlib.util.spec_from_file_location("reflect_reference", reference)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reflect_one


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_outcome_equals_the_committed_golden(case: Record) -> None:
    assert outcome(case["trace"], CASES["chunks"] | case.get("chunks", {})) == case["outcome"]


@pytest.mark.reference
def test_goldens_are_what_the_reference_says(reflect_one: Callable[..., Record]) -> None:
    for case in CASES["cases"]:
        chunks = CASES["chunks"] | case.get("chunks", {})
        assert reflect_one(case["trace"], chunks) == case["outcome"], case["name"]


# Pieces in which lower-casing, word borders, white space or case-blind matching go wrong easily.
PIECES = st.sampled_from(
    [
        *(
            "ΟΔΟΣ",
            "οδος",
            "οδοσ",
            "Σ",
            "ς",
            "σ",
            "ΑΣ\u0301Α",
            "ΑΣ\u00adb",
            "İstanbul",
            "i̇stanbul",
            "ısı",
            "K",
        ),
        *("\u212a", "ſ", "citationſ", "cıtatıons", "CİTATIONS", "ß", "ẞ", "ﬁnd", "Straße", "STRASSE", "café"),
        *("cafe\u0301", "_", "snake_case", "__", "-", "--", "a-b", "re-\ntry", "٣٤٥", "12,645", "²", "½"),
        *("\u00a0", "\u2003", "\u2028", "\x1c", "\x1f", "\x85", "\u200b", "\ufeff", "\n\n", "\n", "\t", " "),
        *(
            ":",
            "[",
            "]",
            "[]",
            ",",
            "[[",
            "citations",
            "citations:",
            "Citations :",
            "CITATIONS:[",
            "citations :[",
        ),
        *(
            "not in context",
            "NOT IN CONTEXT",
            "Not  in context",
            "not in contexſt",
            "notin",
            "c1",
            "c2",
            "c3",
        ),
        *(
            "alpha",
            "beta gamma",
            "delta",
            "abcde",
            "abcd",
            "ab",
            "Alpha Beta",
            "end",
            "start",
            "👍",
            "漢字仮名",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join) | st.lists(PIECES, max_size=12).map(
    " ".join
)
IDS = st.sampled_from(["c1", "c2", "c3", "gone", "ſ", "a,b", "", "citations"])
ENTRIES = st.builds(lambda chunk_id: {"id": chunk_id}, IDS)
ANSWERS = TEXTS | st.builds(
    lambda text, ids, close: f"{text} citations: [{', '.join(ids)}{close}", TEXTS, st.lists(IDS), st.just("]")
)
RECORDS = st.fixed_dictionaries(
    {"q": TEXTS, "chunks": st.lists(ENTRIES | st.just({"score": 1}), max_size=5)},
    optional={"answer": ANSWERS, "ok": st.booleans()},
)
CHUNKS = st.dictionaries(IDS, TEXTS, max_size=5)


@pytest.mark.reference
@settings(max_examples=500, deadline=None)
@given(record=RECORDS, chunks=CHUNKS)
@example(record={"q": "ΟΔΟΣ", "chunks": [{"id": "c1"}]}, chunks={"c1": "οδος"})
@example(
    record={"q": "end start", "chunks": [{"id": "c1"}, {"id": "c2"}], "answer": "end\n\nstart citations:"},
    chunks={"c1": "at the end", "c2": "start of it"},
)
@example(
    record={"q": "gone", "chunks": [{"id": "c1"}, {"id": "gone"}], "answer": "alpha\n\n\ncitations:"},
    chunks={"c1": "some alpha", "c2": ""},
)
def test_outcome_equals_the_live_reference(
    reflect_one: Callable[..., Record], record: Record, chunks: dict[str, str]
) -> None:
    assert outcome(record, chunks) == reflect_one(record, chunks)


@pytest.mark.reference
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_answers_cut_from_the_evidence_are_judged_alike(
    reflect_one: Callable[..., Record], data: st.DataObject
) -> None:
    chunks = data.draw(st.fixed_dictionaries({"c1": TEXTS, "c2": TEXTS, "c3": TEXTS}))
    joined = "\n\n".join(chunks.values())
    start = data.draw(st.integers(0, len(joined)))
    claim = joined[start : data.draw(st.integers(start, len(joined)))]
    change = data.draw(st.sampled_from([str.upper, str.lower, str.title, str.swapcase, str]))
    record = {
        "q": data.draw(TEXTS),
        "chunks": [{"id": name} for name in chunks],
        "answer": f"{change(claim)}\ncitations: [c1]",
    }
    assert outcome(record, chunks) == reflect_one(record, chunks)


@pytest.mark.reference
@pytest.mark.real_data
@pytest.mark.parametrize("suffix", ["", "\ncitations: [0]", "\ncitations: []", " Not in context."])
def test_real_answers_over_real_text_are_judged_alike(
    reflect_one: Callable[..., Record], real_data: Path, suffix: str
) -> None:
    lines = (real_data / "financebench" / "rag_traces.jsonl").read_bytes().splitlines()
    for found in map(orjson.loads, lines):
        texts = [chunk["page_content"] for chunk in found["result"]["retrieved_chunks"]]
        chunks = {str(place): text for place, text in enumerate(texts)}
        for shown in (chunks, dict(list(chunks.items())[:3]), {}):
            record = {
                "q": found["sample"]["question"],
                "answer": found["result"]["prediction"] + suffix,
                "chunks": [{"id": name} for name in shown],
            }
            assert outcome(record, shown) == reflect_one(record, shown)
