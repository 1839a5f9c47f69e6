"""Gold that a person changes: earlier lines stay, the last counts, and everything else is refused."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.journal.gold import restore, revise
from proofspan.manifest.types import Artifact, Manifest
from proofspan.traces.records.gold import read_gold

WHO: dict[str, str] = {"author": "Ada", "at": "2026-02-27T10:00:00.000Z"}
Q1: dict[str, Json] = {"q_id": "Q1", "q": "How far?", "answer": "30 km", "x-ours": [1]}
SPAN: dict[str, Json] = {"doc_id": "manual", "page_idx": 4, "quote": "no farther than 30 km"}


def workspace(folder: Path, data: bytes | None = None, name: str = "gold.jsonl", **known: str) -> Manifest:
    if data is not None:
        (folder / name).write_bytes(data)
    return Manifest("W", folder, gold=Artifact("gold", name, kind="table", **known))  # type: ignore[arg-type]


def gold_of(manifest: Manifest) -> tuple[dict[str, tuple[str | None, int]], list[str]]:
    """Answer and number of spans of each question, and the codes of issues."""
    known, issues = read_gold(manifest.folder / "gold.jsonl", file="gold.jsonl")
    return {q_id: (each.answer, len(each.spans)) for q_id, each in known.items()}, [
        each.code for each in issues
    ]


def test_a_revision_changes_what_it_names_and_can_be_undone(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, orjson.dumps(Q1))  # without its line end
    earlier, record = revise(manifest, "Q1", {"spans": [SPAN]}, **WHO)
    assert earlier == Q1
    assert record == {**Q1, "spans": [SPAN], "revised": {"by": "Ada", "at": WHO["at"]}}
    assert gold_of(manifest) == ({"Q1": ("30 km", 1)}, [])
    restore(manifest, "Q1", earlier, **WHO)
    assert gold_of(manifest) == ({"Q1": ("30 km", 0)}, [])
    assert len((tmp_path / "gold.jsonl").read_bytes().splitlines()) == 3


def test_a_question_without_gold_gets_it_and_loses_it(tmp_path: Path) -> None:
    manifest = workspace(tmp_path)
    change: dict[str, Json] = {"q": "Up to what age?", "answer": "15 months", "spans": [SPAN]}
    earlier, _ = revise(manifest, "Q2", change, **WHO)
    assert (earlier, gold_of(manifest)) == (None, ({"Q2": ("15 months", 1)}, []))
    restore(manifest, "Q2", None, **WHO)
    assert gold_of(manifest) == ({}, [])
    again, _ = revise(manifest, "Q2", change, **WHO)
    assert (again, gold_of(manifest)[0]) == (None, {"Q2": ("15 months", 1)})


def test_a_repeat_that_is_not_meant_stays_an_issue(tmp_path: Path) -> None:
    manifest = workspace(tmp_path, orjson.dumps(Q1) + b"\n" + orjson.dumps({**Q1, "answer": "3 km"}))
    assert gold_of(manifest) == ({"Q1": ("3 km", 0)}, ["duplicate_q_id"])


@pytest.mark.parametrize(
    ("made", "change", "code"),
    [
        ({"data": b"[]", "name": "gold.json"}, Q1, "gold_not_lines"),
        ({"data": b"[]"}, Q1, "gold_not_lines"),
        ({"data": b"", "sha256": "0" * 64}, Q1, "journal_pinned"),
        ({"data": b""}, {"answer": "no question"}, "missing_q"),
        ({"data": b""}, {"q": "\ud800"}, "entry_not_json"),
        ({"data": b""}, {"q": "q", "spans": [{"quote": "no document"}]}, "missing_doc_id"),
    ],
)
def test_what_cannot_be_gold_is_refused(
    tmp_path: Path, made: dict[str, bytes], change: dict[str, Json], code: str
) -> None:
    manifest = workspace(tmp_path, **made)  # type: ignore[arg-type]
    with pytest.raises(InputFault) as refused:
        revise(manifest, "Q1", change, **WHO)
    assert refused.value.problems[0].code == code
    (file,) = tmp_path.iterdir()
    assert file.read_bytes() == made["data"]


def test_without_a_gold_file_the_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"add the line: gold: \{path: goldset.jsonl\}"):
        revise(Manifest("W", tmp_path), "Q1", Q1, **WHO)
