"""Written against read: the values that traces log, beside those that the manifest pins."""

from __future__ import annotations

from typing import Any

import orjson

from proofspan.manifest.types import Artifact, Document, Manifest, Run
from proofspan.services.health.parity import MOST_VALUES, logged_values, parity_rows
from tests.places import DEMO

RUN = Run("R1", None, pinned={"index_hash": "faiss:2f7d", "embed_model": "bge:mean", "analyzer": "lower"})
DOCUMENT = Document("d1", Artifact("documents[d1]", "d.pdf"), rev="3b91f2a")
MANIFEST = Manifest("w", DEMO, documents=(DOCUMENT,), runs=(RUN,))


def logged(*traces: Any, most: int = 1_000) -> Any:
    lines = [trace if isinstance(trace, bytes) else orjson.dumps(trace) for trace in traces]
    return logged_values(lines, most=most)


def test_values_are_counted_once_a_trace_wherever_they_stand() -> None:
    found = logged(
        {"analyzer": "lower", "citations": [{"analyzer": "lower"}, {"analyzer": "other"}]},
        {"segments": [{"citations": [{"analyzer": "other"}]}], "chunks": [{"index_hash": "faiss:2f7d"}]},
        {"store": "faiss", "index_hash": "2f7d", "embed": "bge", "citations": "none", "segments": [1]},
    )
    assert found.values == {
        ("analyzer", ""): {"lower": 1, "other": 2},
        ("index_hash", ""): {"faiss:2f7d": 2},
        ("embed_model", ""): {"bge": 1},
    }
    assert (found.traces, found.is_all) == (3, True)


def test_lines_without_a_record_are_passed_over_and_the_rest_is_left_when_it_is_enough() -> None:
    found = logged(b"{torn", b"[1]", {"analyzer": 5}, {"analyzer": " "}, {"analyzer": "a"}, most=2)
    assert (found.traces, found.is_all, dict(found.values)) == (2, False, {})


def test_a_run_with_a_value_a_trace_does_not_fill_the_memory() -> None:
    found = logged(*({"analyzer": f"a{number}"} for number in range(MOST_VALUES + 9)), {"analyzer": "a0"})
    assert len(found.values["analyzer", ""]) == MOST_VALUES
    assert found.values["analyzer", ""]["a0"] == 2


def test_each_row_says_whether_what_is_read_is_what_was_written() -> None:
    found = parity_rows(
        MANIFEST,
        RUN,
        logged(
            {"store": "faiss", "index_hash": "2F7D", "embed_model": "bge", "analyzer": "lower"},
            {"analyzer": "upper", "citations": [{"doc_id": "d1", "rev": "3b91f2a"}]},
            {"analyzer": "upper", "citations": [{"doc_id": "d2", "rev": "1"}, {"rev": "9"}]},
        ),
    )
    assert [(row.name, row.written, row.is_same) for row in found] == [
        ("index", "faiss:2f7d", True),
        ("embedding model", "bge:mean", True),
        ("analyzer", "lower", False),
        ("revision of d1", "3b91f2a", True),
        ("revision of d2", "", None),
    ]
    assert [(read.value, read.traces, read.is_same) for read in found[2].read] == [
        ("upper", 2, False),
        ("lower", 1, True),
    ]


def test_what_nobody_names_is_no_row() -> None:
    assert parity_rows(Manifest("w", DEMO), Run("R1", None), logged({"q": "?"})) == ()
    assert [row.is_same for row in parity_rows(MANIFEST, RUN, logged())] == [None] * 4
