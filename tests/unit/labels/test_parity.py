"""Written against read: the values that traces log, beside those that the manifest pins."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from proofspan.manifest.types import Artifact, Document, Manifest, Run
from proofspan.services.health.parity import MOST_VALUES, Logged, logged_of_run, parity_rows
from proofspan.store.files.columns import parse_setting, settings_of
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from tests.places import DEMO
from tests.unit.store_workspace import RUN as INDEXED
from tests.unit.store_workspace import trace, write_workspace

RUN = Run("R1", None, pinned={"index_hash": "faiss:2f7d", "embed_model": "bge:mean", "analyzer": "lower"})
DOCUMENT = Document("d1", Artifact("documents[d1]", "d.pdf"), rev="3b91f2a")
MANIFEST = Manifest("w", DEMO, documents=(DOCUMENT,), runs=(RUN,))


def logged(*traces: dict[str, Any]) -> Logged:
    """Return what these traces log, the most frequent value first."""
    counted = Counter(setting for raw in traces for setting in settings_of(raw))
    found: dict[tuple[str, str], dict[str, int]] = {}
    for text, count in counted.most_common():
        field, doc_id, value = parse_setting(text)
        found.setdefault((field, doc_id), {})[value] = count
    return found


def test_values_are_counted_once_a_trace_wherever_they_are() -> None:
    found = logged(
        {"analyzer": "lower", "citations": [{"analyzer": "lower"}, {"analyzer": "other"}]},
        {"segments": [{"citations": [{"analyzer": "other"}]}], "chunks": [{"index_hash": "faiss:2f7d"}]},
        {"store": "faiss", "index_hash": "2f7d", "embed": "bge", "citations": "none", "segments": [1]},
        {"analyzer": 5, "chunks": [1, "analyzer", {"analyzer": " "}]},
    )
    assert found == {
        ("analyzer", ""): {"lower": 1, "other": 2},
        ("index_hash", ""): {"faiss:2f7d": 2},
        ("embed_model", ""): {"bge": 1},
    }


def test_the_index_keeps_what_traces_log(tmp_path: Path, cache: Path) -> None:
    records = [trace(f"Q{number}", analyzer=f"a{number}") for number in range(MOST_VALUES + 9)]
    cited = {"citations": [{"chunk_id": "c1", "doc_id": "d1", "rev": "7"}]}
    records += [trace("again", analyzer="a0", **cited), trace("none"), trace("last", analyzer="a0")]
    manifest = write_workspace(tmp_path, {INDEXED: records})
    build_index(manifest, cache_dir=cache)
    found = logged_of_run(Store(manifest, cache), INDEXED)
    assert len(found["analyzer", ""]) == MOST_VALUES
    assert next(iter(found["analyzer", ""].items())) == ("a0", 3)
    assert found["rev", "d1"] == {"7": 1}


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
