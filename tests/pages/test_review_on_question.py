"""A person's review on the Question page: saved only once it is in the file, and never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.errors import InputFault
from proofspan.journal.annotations import Annotation, Target, append, read_annotations
from proofspan.manifest.load import load_manifest
from proofspan.ui.review import drafts
from tests.pages.conftest import MakeWorkspace, Open, shown

FILE = {"annotations": {"path": "annotations.jsonl"}}
Q1 = Target("R1", "Q1")


def lines(workspace: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (workspace / "annotations.jsonl").read_bytes().splitlines()]


def click(app: AppTest, name: str) -> AppTest:
    return app.button(f"review-{name}").click().run()


def has(app: AppTest, name: str) -> bool:
    return any(button.key == f"review-{name}" for button in app.button)


def named(app: AppTest) -> AppTest:
    app.session_state["author"] = "Ada"
    return app


def test_a_verdict_takes_one_key_or_two_and_can_be_taken_back(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    workspace = make_workspace(**FILE)
    app = click(open_app(workspace, page="pages/question.py", run="R1", q="Q1"), "agree")
    assert not (workspace / "annotations.jsonl").exists()  # without a name it waits for one
    assert "✓ Saved" not in shown(app)
    app.text_input("review-author").set_value(" Ada  Lovelace ").run()
    (first,) = lines(workspace)
    assert (first["author"], first["agrees"], first["q_id"]) == ("Ada Lovelace", True, "Q1")
    assert first["rules"]["label"] == "ok"
    assert "✓ Saved" in shown(app)
    assert app.query_params["q"] == "Q1"

    app = click(click(app, "disagree"), "correct-3")
    second = lines(workspace)[-1]
    assert (second["agrees"], second["correct"]) == (False, "partly")
    app = click(app, "undo")
    assert lines(workspace)[-1]["withdraws"] == second["entry_id"]
    own = read_annotations(load_manifest(workspace)).verdicts[Q1]["Ada Lovelace"]
    assert own.agrees  # the verdict before counts again
    app = click(app, "undo")
    assert not has(app, "undo")
    assert not app.exception


def test_cause_label_tags_and_note_are_saved_with_it(make_workspace: MakeWorkspace, open_app: Open) -> None:
    workspace = make_workspace(**FILE)
    app = click(named(open_app(workspace, page="pages/question.py", run="R1", q="Q2")), "disagree")
    (cause,) = (each for each in app.selectbox if str(each.key).startswith("review-cause"))
    (tags,) = (each for each in app.text_input if str(each.key).startswith("review-tags"))
    (text,) = (each for each in app.text_area if str(each.key).startswith("review-text"))
    tags.set_value("oil, , grade,oil")
    text.set_value("<b>5W-30</b>\r\nis right. ").run()
    click(app, "save")
    (note,) = lines(workspace)
    assert note["kind"] == "note"
    assert note["tags"] == ["oil", "grade"]
    assert note["text"] == "<b>5W-30</b>\nis right."
    assert "<b>5W" not in shown(app)

    app = click(app, "disagree")
    (cause,) = (each for each in app.selectbox if str(each.key).startswith("review-cause"))
    cause.set_value("gold_suspect").run()
    click(app, "save")
    assert [lines(workspace)[-1].get(name) for name in ("kind", "agrees", "cause")] == [
        "verdict",
        False,
        "gold_suspect",
    ]
    assert not app.exception


def test_the_fields_close_and_keep_what_was_typed_since_their_button_was_drawn(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    workspace = make_workspace(**FILE)
    app = click(named(open_app(workspace, page="pages/question.py", run="R1", q="Q1")), "disagree")
    app.session_state["review:drafts"] = {Q1: drafts.Draft(is_open=True, text="Typed since.")}
    app = click(app, "disagree")
    kept = app.session_state["review:drafts"][Q1]
    assert (kept.is_open, kept.text) == (False, "Typed since.")


def test_what_cannot_be_saved_is_shown_with_its_remedy_and_kept(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = make_workspace(**FILE)
    app = click(named(open_app(workspace, page="pages/question.py", run="R1", q="Q1")), "disagree")
    (text,) = (each for each in app.text_area if str(each.key).startswith("review-text"))
    text.set_value("Keep this.").run()

    def full(*given: object) -> None:
        raise InputFault.of(
            "journal_not_written", "no room", where="annotations.jsonl", fix="Free some room."
        )

    monkeypatch.setattr(drafts, "append", full)
    app = click(app, "correct-1")
    assert "Free some room." in shown(app)
    assert "✓ Saved" not in shown(app)
    app.query_params["q"] = "Q2"
    app.run()
    app.query_params["q"] = "Q1"
    app.run()
    monkeypatch.undo()
    monkeypatch.setenv("PROOFSPAN_WORKSPACE", str(workspace))
    app = click(app, "again")
    (line,) = lines(workspace)
    assert (line["correct"], line["text"]) == ("wrong", "Keep this.")
    assert "✓ Saved" in shown(app)


def test_what_others_write_meanwhile_is_shown(make_workspace: MakeWorkspace, open_app: Open) -> None:
    workspace = make_workspace(**FILE)
    app = named(open_app(workspace, page="pages/question.py", run="R1", q="Q1"))
    manifest = load_manifest(workspace)
    append(
        manifest,
        Annotation("verdict", Q1, "Ben <i>", agrees=False, correct="wrong", text="<script>no</script>"),
        Annotation("note", Target("R0", "Q1"), "Eve", text="In an older run.", answer="0" * 16),
        Annotation("assignment", Q1, "Eve", assignee="Ada"),
    )
    with (workspace / "annotations.jsonl").open("ab") as file:
        file.write(b"{broken\n")
    text = shown(app.run())
    for words in ("Ben &lt;i&gt;", "In an older run.", "another answer", "assigned to", "1 line of"):
        assert words in text
    assert "<script>" not in text
    assert not has(app, "undo")


def test_a_workspace_begins_to_keep_reviews_by_one_button(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    workspace = make_workspace()
    app = open_app(workspace, page="pages/question.py", run="R1", q="Q1")
    assert not has(app, "agree")
    app = click(app, "keep")
    assert load_manifest(workspace).annotations is not None
    assert has(app, "agree")
    click(named(app), "agree")
    assert len(lines(workspace)) == 1


def test_a_file_whose_hash_is_stated_is_only_read(make_workspace: MakeWorkspace, open_app: Open) -> None:
    workspace = make_workspace(annotations={"path": "annotations.jsonl", "sha256": "0" * 64})
    (workspace / "annotations.jsonl").touch()
    app = open_app(workspace, page="pages/question.py", run="R1", q="Q1")
    assert not has(app, "agree")
    assert "sha256" in shown(app)
