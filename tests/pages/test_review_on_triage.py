"""The list of answers that nobody has looked at yet: its filter, its progress, and the way through it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.contracts.records.records import TraceKey
from proofspan.journal.annotations import Annotation, Target, answer_id, append, read_annotations
from proofspan.manifest.load import load_manifest
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.pages.conftest import MakeWorkspace, Open, menu, send, shown, table, tables


@pytest.fixture
def workspace(make_workspace: MakeWorkspace) -> Path:
    return make_workspace(annotations={"path": "annotations.jsonl"})


def give(workspace: Path, q_id: str, author: str, correct: str, run_id: str = "R1") -> None:
    verdict = Annotation("verdict", Target(run_id, q_id), author, agrees=False, correct=correct)
    append(load_manifest(workspace), verdict)


def listed(app: AppTest) -> set[str]:
    return {row["address"].partition("q=")[2][:2] for row in table(app)}


def test_a_list_is_filtered_by_what_people_did(workspace: Path, open_app: Open) -> None:
    give(workspace, "Q1", "Ada", "wrong")
    give(workspace, "Q1", "Ben", "correct")
    give(workspace, "Q2", "Ben", "wrong")
    give(workspace, "Q3", "Ada", "wrong", run_id="R2")  # another run's
    append(load_manifest(workspace), Annotation("assignment", Target("R1", "Q2"), "Ada", assignee="Ben"))
    app = open_app(workspace, run="R1", review="unseen", reviewer="Ada")
    assert listed(app) == {"Q2", "Q3"}
    for asked, wanted in (
        ({"review": "unseen"}, {"Q3"}),
        ({"review": "seen"}, {"Q1", "Q2"}),
        ({"review": "seen", "reviewer": "Ada"}, {"Q1"}),
        ({"review": "disagreed", "reviewer": "Ben"}, {"Q1", "Q2"}),
        ({"review": "agreed"}, set()),
        ({"review": "disputed"}, {"Q1"}),
        ({"assigned": "Ben"}, {"Q2"}),
        ({"assigned": "Eve"}, set()),
    ):
        app.query_params.clear()
        app.query_params.update({"run": "R1", **asked})
        assert listed(app.run()) == wanted, asked
        assert not app.exception


def test_the_menu_counts_and_the_progress_follows(workspace: Path, open_app: Open) -> None:
    give(workspace, "Q1", "Ada", "wrong")
    app = open_app(workspace, run="R1")
    app.session_state["author"] = "Ada"
    app.run()
    assert "1 of 3 looked at by you" in shown(app)
    choice = menu(app, "review")
    assert [each.rpartition(" ")[2] for each in choice.options] == ["2", "1", "0", "1", "0"]
    choice.select("unseen").run()
    assert app.query_params["review"] in ("unseen", ["unseen"])
    assert app.query_params["reviewer"] in ("Ada", ["Ada"])
    give(workspace, "Q2", "Ada", "wrong")  # by another process
    assert listed(app.run()) == {"Q3"}
    assert "2 of 3 looked at by you" in shown(app)


def test_the_next_question_follows_one_that_has_left_the_list(workspace: Path, open_app: Open) -> None:
    open_app(workspace, run="R1")
    folder = workspace.parent / "cache"
    store = Store(load_manifest(workspace), folder)
    sort, unseen = Sort("q_id"), Filter("R1", review="unseen")
    give(workspace, "Q2", "Ada", "wrong")
    beside = store.neighbours(unseen, sort, TraceKey("R1", "Q2"))
    assert beside.position is None
    assert beside.total == 2
    assert beside.previous == TraceKey("R1", "Q1")
    assert beside.next == TraceKey("R1", "Q3")


def test_a_workspace_without_reviews_has_no_menu_of_them(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(), run="R1")
    assert "looked at" not in shown(app)


def test_all_answers_of_a_list_get_one_verdict_and_lose_it_again(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, run="R1")
    app.session_state["author"] = "Ada"
    menu(app, "review")
    app.button("bulk-prepare").click().run()
    assert not (workspace / "annotations.jsonl").exists()  # nothing before it is confirmed
    app.button("bulk-save").click().run()
    verdicts = read_annotations(load_manifest(workspace)).verdicts
    assert {each.q_id for each in verdicts} == {"Q1", "Q2", "Q3"}
    (first,) = verdicts[Target("R1", "Q1")].values()
    assert (first.agrees, first.rules["label"]) == (True, "ok")
    assert first.answer == answer_id("Change the oil every 15,000 km. citations: [c1]")
    assert "3 of 3 looked at by you" in shown(app)
    app.button("bulk-undo").click().run()
    assert read_annotations(load_manifest(workspace)).verdicts == {}
    assert "0 of 3 looked at by you" in shown(app)

    app.session_state["facet-review"] = True
    app.run()
    app.selectbox("bulk-kind").set_value("assign").run()
    app.text_input("bulk-words").set_value(" Ben  Ode ").run()
    app.button("bulk-prepare").click().run()
    app.button("bulk-save").click().run()
    assert {*read_annotations(load_manifest(workspace)).assignees.values()} == {"Ben Ode"}
    assert not app.exception


def reviewed(app: AppTest) -> dict[str, tuple[str, str]]:
    """Return what the column of reviews says of each question: its chip or text, and its small print."""
    (grid,) = (each for each in tables(app) if each["table"] == "Questions of this run")
    cells = {row["cells"]["question"]["href"].partition("q=")[2][:2]: row["cells"] for row in grid["rows"]}
    found = {}
    for q_id, row in cells.items():
        cell = row["reviewed"]
        chips = "".join(chip["text"] for chip in cell.get("chips", ()))
        found[q_id] = (chips or cell.get("text", ""), cell.get("note", ""))
    return found


def test_a_column_says_what_people_say_and_sorts(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, run="R1")
    assert "reviewed" not in table(app)[0]
    assert "column-reviewed" not in {each.key for each in app.checkbox}
    app.session_state["columns-menu"] = True
    app.run()
    app.checkbox("column-reviewed").check().run()
    assert {*reviewed(app).values()} == {("–", "")}
    app.checkbox("column-reviewed").uncheck().run()
    give(workspace, "Q2", "Ada", "wrong")
    give(workspace, "Q2", "Ben", "correct")
    give(workspace, "Q3", "Eve", "partly")
    give(workspace, "Q9", "Ada", "wrong")  # of no answer
    rules = {"correct": None, "cause": None, "label": "ok"}
    append(
        load_manifest(workspace), Annotation("verdict", Target("R1", "Q1"), "Eve", agrees=True, rules=rules)
    )
    wanted = {"Q1": ("Eve agrees", ""), "Q2": ("Disputed", "Ada: Wrong · Ben: Correct")}
    wanted["Q3"] = ("Eve: Partly correct", "")
    assert reviewed(app.run()) == wanted
    assert "column-reviewed" not in {each.key for each in app.checkbox}  # it is there anyway
    send(app, "sort", "reviewed")
    assert [*reviewed(app)] == ["Q2", "Q3", "Q1"]
    give(workspace, "Q3", "Ada", "wrong")
    first = read_annotations(load_manifest(workspace)).verdicts[Target("R1", "Q1")]["Eve"]
    back = Annotation("withdrawal", first.target, "Eve", withdraws=first.entry_id)
    append(load_manifest(workspace), back)
    assert reviewed(app.run()) == {
        "Q2": wanted["Q2"],
        "Q3": ("Disputed", "Ada: Wrong · Eve: Partly correct"),
        "Q1": ("–", ""),
    }
    send(app, "sort", "reviewed")
    assert next(iter(reviewed(app))) == "Q1"
    assert not app.exception


def ticks_of(app: AppTest) -> dict[str, Any]:
    (grid,) = (each for each in tables(app) if each["table"] == "Questions of this run")
    ticks: dict[str, Any] = grid["ticks"]
    return ticks


def test_chosen_rows_alone_get_a_verdict_and_lose_it_again(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, run="R1")
    app.session_state["author"] = "Ada"
    (grid,) = (each for each in tables(app) if each["table"] == "Questions of this run")
    keys = {row["cells"]["question"]["href"].partition("q=")[2][:2]: row["key"] for row in grid["rows"]}
    send(app, "ticked", {"keys": [keys["Q1"], keys["Q3"]], "acts": True})
    app.run()
    app.button("chosen-save").click().run()
    verdicts = read_annotations(load_manifest(workspace)).verdicts
    assert {each.q_id for each in verdicts} == {"Q1", "Q3"}
    assert all(each["Ada"].agrees for each in verdicts.values())
    assert (ticks_of(app)["known"], bool(ticks_of(app)["cleared"])) == ([keys["Q1"], keys["Q3"]], True)
    app.button("bulk-undo").click().run()
    assert read_annotations(load_manifest(workspace)).verdicts == {}
    assert ticks_of(app)["cleared"] == ""

    app.selectbox("chosen-kind").set_value("wrong").run()
    app.button("chosen-save").click().run()
    app.button("bulk-done").click().run()
    assert {*reviewed(app).values()} == {("Ada: Wrong", ""), ("–", "")}
    assert ticks_of(app)["known"] == []
    assert "chosen-save" not in {each.key for each in app.button}
    assert not app.exception


def test_the_menu_acts_on_the_chosen_rows_that_the_list_has(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, run="R1", text="oil")
    app.session_state["author"] = "Ada"
    menu(app, "review")
    assert ticks_of(app)["asks"]
    assert app.button("bulk-prepare").label == "Prepare for 2"  # Q1 and Q2 are the list
    for sent in ({"keys": 3}, [], {"keys": [None, "x", "0:0:Q9"], "acts": "yes"}):
        send(app, "ticked", sent)
        assert not app.exception
    send(app, "ticked", {"keys": ["0:0:Q2", "0:0:Q3"], "acts": False})
    assert app.button("bulk-prepare").label == "Prepare for 1"
    assert "1 of 2 chosen answers" in shown(app)
    app.button("bulk-prepare").click().run()
    app.button("bulk-save").click().run()
    assert {each.q_id for each in read_annotations(load_manifest(workspace)).verdicts} == {"Q2"}
    assert not app.exception


def test_rows_cannot_be_chosen_where_nothing_can_be_saved(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(annotations={"path": "annotations.jsonl", "sha256": "0" * 64}), run="R1")
    assert ticks_of(app) is None
    assert not app.exception


def test_a_save_that_fails_says_why_and_can_be_repeated(
    workspace: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(workspace, run="R1")
    app.session_state["author"] = "Ada"
    send(app, "ticked", {"keys": ["0:0:Q1"], "acts": True})
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        app.button("chosen-save").click().run()
    assert "bulk-undo" not in {each.key for each in app.button}
    assert "journal_not_written" in str(app)
    assert ticks_of(app)["cleared"] == ""
    app.button("chosen-save").click().run()
    app.button("bulk-undo").click().run()
    assert read_annotations(load_manifest(workspace)).verdicts == {}
    assert not app.exception


def refuse(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
