"""The Question page beside the answer: the level, the stored label, the outlined spans."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli.workspace.export_cmd import command
from tests.pages.conftest import MakeWorkspace, Open, candidates, marked_texts, send, shown
from tests.pages.manual import CITED, DOCUMENTS, PAGE, manual

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    """A manual whose first page is cited and bears a warning; the stored report says another label."""
    made = make_workspace(
        [CITED],
        documents=DOCUMENTS,
        catalogue={"path": "catalogue.jsonl"},
        runs=[{"run_id": "R1", "traces": {"path": "trace.jsonl"}, "report": {"path": "report.jsonl"}}],
    )
    manual(made)
    warning = {
        "attachment_id": "w",
        "kind": "warning",
        "doc_id": "manual",
        "section_id": "5.1",
        "page_idx": 0,
    }
    place = {"render_ref": "pdf:manual#page_idx=0&bbox=40,100,200,140", "text": "Hot oil burns the skin."}
    (made / "catalogue.jsonl").write_bytes(orjson.dumps(warning | place))
    report = {
        "q_id": "Q1",
        "q": CITED["q"],
        "label": "retrieval_drift",
        "why": "",
        "chunks": [],
        "citations": [],
    }
    (made / "report.jsonl").write_text(json.dumps(report) + "\n")
    return made


def test_the_level_is_a_badge_with_its_reason_above_the_page(folder: Path, open_app: Open) -> None:
    words = shown(open_app(folder, page=PAGE, q="Q1"))
    assert ">Full evidence</span>" in words
    assert "on PDF page 1 (exact)" in words


def test_a_stored_label_is_reported_where_it_is_another_one(folder: Path, open_app: Open) -> None:
    words = shown(open_app(folder, page=PAGE, q="Q1"))
    assert "<dt>Stored report</dt>" in words
    assert ">Retrieval miss</strong>" in words
    (folder / "report.jsonl").write_text(
        (folder / "report.jsonl").read_text().replace("retrieval_drift", "ok")
    )
    assert "<dt>Stored report</dt>" not in shown(open_app(folder, page=PAGE, q="Q1"))


def test_a_summary_by_a_model_is_shown_as_auxiliary_and_exported(
    folder: Path, open_app: Open, tmp_path: Path
) -> None:
    assert "Summary by a model" not in shown(open_app(folder, page=PAGE, q="Q1"))
    file = folder / "report.jsonl"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"llm_summary": "All is <b>well</b>."}) + "\n")
    words = shown(open_app(folder, page=PAGE, q="Q1"))
    assert "<dt>Summary by a model</dt>" in words and "All is &lt;b&gt;well&lt;/b&gt;." in words
    assert "(auxiliary, decides nothing)" in words
    arguments = ["jsonl", str(folder), "-o", str(tmp_path / "out.jsonl"), "--cache-dir", str(tmp_path / "c")]
    assert CliRunner().invoke(command, arguments).exit_code == 0
    (row,) = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (row["llm_summary"], row["label"]) == ("All is <b>well</b>.", "ok")


def test_a_question_leads_to_its_walkthrough_in_the_same_list(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1", label="ok")
    (link,) = [each.proto for each in app.main.get("page_link") if each.proto.label == "Walk through"]
    assert link.query_string == "run=R1&q=Q1&label=ok"
    app = open_app(folder, page=PAGE, q="Q1")
    (link,) = [each.proto for each in app.main.get("page_link") if each.proto.label == "Walk through"]
    assert link.query_string == "run=R1&q=Q1&whole=yes"


def test_an_attachment_is_outlined_where_it_is_on_the_page(folder: Path, open_app: Open) -> None:
    note = "is no attachment of this page"
    app = open_app(folder, page=PAGE, q="Q1", cite="1", see="w")
    assert not app.exception
    assert note not in shown(app)
    app.query_params["see"] = "elsewhere"
    assert "see &quot;elsewhere&quot; is no attachment of this page: left out." in shown(app.run())


def test_a_citation_chosen_in_the_answer_goes_into_the_address(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1", see="w")
    (text,) = marked_texts(app)
    assert text["numbers"] == {"1": "citation 1, exact, PDF page 1"}
    send(app, "choose", 1, key="answer-text")
    assert (app.query_params["cite"], "see" in app.query_params) == ("1", False)
    send(app, "choose", 7, key="answer-text")
    assert app.query_params["cite"] == "1"


def test_a_candidate_that_is_chosen_goes_into_the_address(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1", cite="1")
    table = candidates(app)
    assert table["chosen"] == table["rows"][0]["key"]
    send(app, "choose", table["rows"][0]["key"], key="candidates")
    assert (app.query_params["chunk"], "cite" in app.query_params) == ("c1", False)


def test_the_citation_line_at_an_answers_end_is_small_print(folder: Path, open_app: Open) -> None:
    (text,) = marked_texts(open_app(folder, page=PAGE, q="Q1"))
    assert [(piece["kind"], piece["text"]) for piece in text["pieces"][-3:]] == [
        ("aside", "citations: ["),
        ("number", "1"),
        ("aside", "]"),
    ]
