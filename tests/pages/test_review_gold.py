"""The shown passage becomes the gold of its question by one key, and can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.traces.records.gold import read_gold
from tests.pages.conftest import TRACES, MakeWorkspace, Open, shown
from tests.pages.manual import CITED, DOCUMENTS, PAGE, PAGED, manual

OLD = {
    "q_id": "Q1",
    "q": "How often is the oil changed?",
    "answer": "Never.",
    "sections": ["9"],
    "anchor": "x",
}


@pytest.fixture
def workspace(make_workspace: MakeWorkspace) -> Path:
    folder = make_workspace([CITED, *TRACES[1:]], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    manual(folder)
    (folder / "chunks.jsonl").write_bytes(b"\n".join(map(orjson.dumps, PAGED)))
    (folder / "gold.jsonl").write_bytes(orjson.dumps(OLD) + b"\n")
    return folder


def lines(workspace: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (workspace / "gold.jsonl").read_bytes().splitlines()]


def make(app: AppTest) -> AppTest:
    return app.button("review-make-gold").click().run()


def test_answer_page_and_span_become_the_gold_and_are_taken_back(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, run="R1", q="Q1")
    assert "replaces “Never.”" in shown(app)
    app = make(app)
    assert lines(workspace) == [OLD]  # it waits for a name
    app.text_input("review-gold-author").set_value("Ada").run()
    record = lines(workspace)[-1]
    assert record["answer"] == "Change the oil every 15,000 km."
    assert record["spans"] == [
        {"doc_id": "manual", "page_idx": 0, "quote": "Change the oil every 15,000 km."}
    ]
    assert record["chunks"] == ["c1"]
    assert (record["q"], record["revised"]["by"]) == (OLD["q"], "Ada")
    assert "anchor" not in record
    assert record["sections"] != ["9"]
    assert "✓ Saved" in shown(app)
    assert app.button("review-make-gold").disabled  # it is the gold now

    app = app.button("review-gold-undo").click().run()
    known, issues = read_gold(workspace / "gold.jsonl", file="gold.jsonl")
    assert known["Q1"].answer == "Never."
    assert issues == []
    assert len(lines(workspace)) == 3
    assert not app.exception


def test_a_question_without_gold_gets_its_first_record(workspace: Path, open_app: Open) -> None:
    (workspace / "gold.jsonl").write_bytes(b"")
    app = open_app(workspace, page=PAGE, run="R1", q="Q1")
    app.session_state["author"] = "Ada"
    app = make(app)
    assert lines(workspace)[-1]["q"] == OLD["q"]
    app.button("review-gold-undo").click().run()
    assert read_gold(workspace / "gold.jsonl", file="gold.jsonl")[0] == {}


def test_what_is_not_verified_or_not_allowed_says_why(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, run="R1", q="Q2", chunk="c2")
    assert not app.button("review-make-gold").disabled  # a retrieved chunk at its place
    (workspace / "trace.jsonl").write_bytes(
        orjson.dumps({**CITED, "citations": [{"doc_id": "manual", "page": 1, "quote": "Never change it."}]})
        + b"\n"
    )
    app = open_app(workspace, page=PAGE, run="R1", q="Q1")
    assert app.button("review-make-gold").disabled
    assert "Not possible" in shown(app)
    manifest = workspace / "pipeline_manifest.yaml"
    manifest.write_text(
        manifest.read_text().replace("path: gold.jsonl", f"path: gold.jsonl\n  sha256: '{'0' * 64}'")
    )
    app = open_app(workspace, page=PAGE, run="R1", q="Q1")
    assert app.button("review-make-gold").disabled
    assert "sha256" in shown(app)
