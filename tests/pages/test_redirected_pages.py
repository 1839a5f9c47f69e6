"""Question and Chunk of a run with older chunk ids: the replacing chunks are shown, and the page says so."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.pages.conftest import MakeWorkspace, Open, candidates, shown, trace
from tests.pages.manual import PAGE, labels

OLD = trace(
    "Q1", "How often is the oil changed?", "Change the oil every 15,000 km. citations: [was1]", ("was1", "c2")
)


def redirect(folder: Path, *redirects: dict[str, object]) -> None:
    (folder / "redirects.jsonl").write_bytes(b"\n".join(map(orjson.dumps, redirects)))


def test_citation_candidate_and_chunk_say_that_they_were_redirected(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([OLD], redirects={"path": "redirects.jsonl"})
    redirect(folder, {"old_id": "was1", "kind": "shift", "new_ids": ["c1"], "confidence": 0.93})
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    sentence = "redirected from was1 (shift, 0.93)"
    assert any(sentence in label.replace("\\", "") for label in labels(app))
    assert "a redirect leads to its chunk" in shown(app)
    first, second = candidates(app)["rows"]
    assert first["cells"]["chunk"]["text"].startswith("Change the oil every 15,000 km")
    assert sentence in first["details"]
    assert "redirected" not in second.get("details", "")

    (folder / "redirects.jsonl").unlink()
    redirect(folder, {"old_id": "was1", "kind": "gone", "new_ids": [], "confidence": 1.0})
    again = open_app(folder, page=PAGE, q="Q1")
    assert candidates(again)["rows"][0]["cells"]["chunk"]["text"] == "(no such chunk: was1)"
    assert "redirected" not in shown(again)


def test_a_chunk_opens_by_its_old_id(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace([OLD], redirects={"path": "redirects.jsonl"})
    redirect(folder, {"old_id": "was1", "kind": "split", "new_ids": ["c1", "c2"], "confidence": 0.9})
    app = open_app(folder, page=PAGE, chunk="was1")
    assert not app.exception
    assert "An id of an earlier build: it leads to c1 and c2 (split, 0.90)." in shown(app)
    assert "The fuse F12 protects" in shown(app)
