"""Ids of an earlier build: read from a file, led on to chunks of today, and compared as these."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from proofspan.contracts.chunk_ids.redirects import Redirect, redirects_between
from proofspan.contracts.records.records import Chunk, GoldQuestion, Offsets, SourceLine, Trace
from proofspan.contracts.records.schemas import schema
from proofspan.traces.records.citations import citations
from proofspan.traces.records.redirects import (
    gold_of_today,
    mapped,
    of_today,
    read_redirects,
    redirect_from,
    redirects_of,
    with_redirects,
)
from proofspan.traces.records.trace_record import listed, trace_from

NOW = {
    "n1": Chunk("n1", "One.", "m", "1", page_idx=0, offsets=Offsets(0, 4), box=(0, 0, 9, 9)),
    "n2": Chunk("n2", "Two.", "m", "2", page_idx=1),
    "n3": Chunk("n3", "Three.", "m", "3", page_idx=2),
}
LED = {
    each.old_id: each
    for each in (
        Redirect("moved", "shift", ("n2",), 0.93),
        Redirect("cut", "split", ("n1", "n2"), 0.98),
        Redirect("half", "merge", ("n3",), 0.8),
        Redirect("gone", "gone", (), 1.0),
        Redirect("n1", "shift", ("n3",), 1.0),
        Redirect("older", "rev", ("moved",), 1.0),
        Redirect("oldest", "split", ("older", "half", "gone"), 0.9),
        Redirect("lost", "shift", ("nobody",), 1.0),
        Redirect("round", "shift", ("about",), 1.0),
        Redirect("about", "shift", ("round",), 1.0),
    )
}
CHUNKS = with_redirects(NOW, LED)


@pytest.mark.parametrize(
    ("old_id", "text", "page_idx", "redirect"),
    [
        ("moved", "Two.", 1, Redirect("moved", "shift", ("n2",), 0.93)),
        ("cut", "One.\n\nTwo.", 0, Redirect("cut", "split", ("n1", "n2"), 0.98)),
        ("half", "Three.", 2, Redirect("half", "merge", ("n3",), 0.8)),
        ("older", "Two.", 1, Redirect("older", "shift", ("n2",), 0.93)),
        ("oldest", "Two.\n\nThree.", 1, Redirect("oldest", "split", ("n2", "n3"), 0.6696)),
        ("n1", "One.", 0, None),  # the chunk file has it: it means the chunk of today
    ],
)
def test_a_former_id_leads_to_what_its_chunk_became(
    old_id: str, text: str, page_idx: int, redirect: Redirect | None
) -> None:
    found = CHUNKS[old_id]
    assert (found.chunk_id, found.text, found.page_idx) == (old_id, text, page_idx)
    assert redirects_of(CHUNKS).get(old_id) == redirect


@pytest.mark.parametrize("old_id", ["gone", "lost", "round", "about", "never"])
def test_what_leads_to_no_chunk_of_today_is_not_known(old_id: str) -> None:
    assert old_id not in CHUNKS
    assert CHUNKS.get(old_id) is None
    assert redirects_of(CHUNKS).get(old_id) is None


def test_only_chunks_of_today_are_listed_and_counted() -> None:
    assert (list(CHUNKS), len(CHUNKS)) == (["n1", "n2", "n3"], 3)
    assert set(redirects_of(CHUNKS)) == {"moved", "cut", "half", "older", "oldest"}
    offsets = mapped(CHUNKS, lambda chunk: chunk.offsets)
    assert dict(offsets) == {"n1": Offsets(0, 4)}
    assert "cut" not in offsets  # two parts together have no place


def test_without_redirects_the_chunks_are_what_they_were() -> None:
    assert with_redirects(NOW, {}) is NOW
    assert with_redirects(NOW, {"gone": LED["gone"]}) is NOW
    assert not redirects_of(NOW)


def trace(**more: object) -> Trace:
    source = SourceLine("t.jsonl", 1, 0, 0)
    found = trace_from({"q": "What?", "q_id": "Q1", "answer": "", **more}, source, run_id="R1", data=b"")
    assert isinstance(found, Trace)
    return found


def test_a_trace_of_an_earlier_build_is_compared_as_if_it_named_chunks_of_today() -> None:
    former = trace(
        chunks=[{"id": "moved", "score": 1.0}, {"chunk_id": "cut", "id": "cut"}, {"id": "n3"}],
        stages={"retrieved": [{"snippet_id": "half"}, {"id": "gone"}]},
        citations=[{"chunk_id": "moved", "quote": "Two."}, "cut"],
        segments=[{"seg": 1, "citations": [{"id": "older"}]}],
    )
    today = of_today(former, CHUNKS, wanted={"n2"})
    assert today.chunk_ids == ("n2", "n2", "n3")
    assert [chunk_id for _, chunk_id, _ in listed(today, "retrieved")] == ["n3", "gone"]
    assert [each.chunk_id for each in citations(today)] == ["n2", "n2"]
    assert today.raw["segments"] == [{"seg": 1, "citations": [{"id": "n2"}]}]
    assert of_today(former, CHUNKS, wanted=()).chunk_ids == ("n2", "n1", "n3")
    assert former.chunk_ids == ("moved", "cut", "n3")
    assert of_today(former, NOW, wanted=()) is former


def test_ids_in_the_answers_text_are_led_on_too() -> None:
    former = trace(answer="Two. citations: [moved, n3]", chunks=[])
    assert [each.chunk_id for each in citations(of_today(former, CHUNKS, wanted=()))] == ["n2", "n3"]


def test_gold_of_an_earlier_build_names_chunks_of_today() -> None:
    gold = {
        "Q1": GoldQuestion("Q1", "?", chunks=("cut", "n3")),
        "Q2": GoldQuestion("Q2", "?", chunks=("n1",)),
    }
    found = gold_of_today(gold, CHUNKS)
    assert found["Q1"].chunks == ("n1", "n2", "n3")
    assert found["Q2"] is gold["Q2"]
    assert gold_of_today(gold, NOW) is gold


def test_what_is_written_is_read_again_and_bad_lines_are_reported(tmp_path: Path) -> None:
    lines = [
        orjson.dumps(each)
        for each in (
            {"old_id": "a", "kind": "shift", "new_ids": ["b"], "confidence": 0.5, "more": 1},
            {"old_id": "a", "kind": "shift", "new_ids": ["c"], "confidence": 7},
            {"old_id": "g", "kind": "gone", "new_ids": []},
            {"kind": "gone", "new_ids": []},
            {"old_id": "x", "kind": "moved", "new_ids": ["b"]},
            {"old_id": "x", "kind": "shift", "new_ids": "b"},
            {"old_id": "x", "kind": "shift", "new_ids": [7]},
            {"schema_version": "9.0.0", "old_id": "x", "kind": "gone", "new_ids": []},
            ["x"],
        )
    ]
    (tmp_path / "r.jsonl").write_bytes(b"\n".join([*lines, b"{"]))
    found, issues = read_redirects(tmp_path / "r.jsonl", file="r.jsonl")
    assert found == {"a": Redirect("a", "shift", ("c",), 1.0), "g": Redirect("g", "gone", (), 0.0)}
    assert [(each.source.line, each.code) for each in issues] == [
        (2, "duplicate_old_id"),
        (4, "old_id_missing"),
        (5, "bad_kind"),
        (6, "bad_new_ids"),
        (7, "bad_new_ids"),
        (8, "schema_version_unsupported"),
        (9, "not_an_object"),
        (10, "not_json"),
    ]


def test_the_schema_names_the_fields_and_kinds_that_are_read() -> None:
    published = schema("redirect")
    assert set(published["required"]) == {"old_id", "kind", "new_ids", "confidence"}
    (example,) = published["examples"]
    assert redirect_from(example).new_ids == tuple(example["new_ids"])
    kinds = {each.kind for each in redirects_between(NOW, NOW).redirects} | {e.kind for e in LED.values()}
    assert set(published["properties"]["kind"]["enum"]) == kinds
