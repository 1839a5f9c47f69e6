"""Scores of other tools on Triage and Question."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.contracts.records.chunk_id import sha1_8
from tests.pages.conftest import MakeWorkspace, Open, shown, table, tables, trace

pytestmark = pytest.mark.slow

#: A name and a label that would be markup, a formula or SQL.
HOSTILE = "<img src=x onerror=alert(1)> \"' ; DROP = 1"
ANSWER = "Every 15,000 km. citations: [c1]"


@pytest.fixture
def scored(make_workspace: MakeWorkspace) -> Any:
    """Three questions: rated by two people, by one, and by nobody."""
    people = [{"score": 1, "label": "good", "by": "ann"}, {"score": 0, "label": "bad", "by": "bob"}]
    faithful = {"score": 0.2, "explanation": f"Not so: {HOSTILE}", "by": "Ragas"}
    return make_workspace(
        [
            trace("Q1", "First?", ANSWER, scores={"helpful": people, "faithfulness": faithful}),
            trace("Q2", "Second?", ANSWER, scores={"helpful": "good", "faithfulness": 0.9, HOSTILE: HOSTILE}),
            trace("Q3", "Third?", ANSWER),
        ]
    )


def test_a_list_is_narrowed_and_sorted_by_scores(open_app: Open, scored: Any) -> None:
    app = open_app(
        scored, score=["faithfulness>=0.1", "faithfulness="], sort="score:helpful", scores="helpful"
    )
    assert [row["question"] for row in table(app)] == ["First?", "Second?", "Third?"]
    assert "3 of 3 questions: faithfulness: at least 0.1 or no score · lowest helpful first" in shown(app)
    (grid,) = (each for each in tables(app) if each["table"] == "Questions of this run")
    assert [column["head"]["text"] for column in grid["columns"][-2:]] == ["helpful", "faithfulness"]
    app.session_state["scores-menu"] = True
    app.run().number_input(f"score:{sha1_8('faithfulness')}<=").set_value(0.5).run()
    assert app.query_params["score"] == ["faithfulness>=0.1", "faithfulness=", "faithfulness<=0.5"]
    assert [row["question"] for row in table(app)] == ["First?", "Third?"]
    next(each for each in app.button if each.label == "Highest first").click().run()
    assert (app.query_params["sort"], app.query_params["desc"]) == ("score:helpful", "yes")
    app.multiselect("chosen-scores").set_value(["faithfulness"]).run()
    assert "sort" not in app.query_params and app.query_params["scores"] == "faithfulness"


def test_labels_are_counted_and_names_of_others_stay_text(open_app: Open, scored: Any) -> None:
    app = open_app(scored, scores=["helpful", HOSTILE])
    app.session_state["scores-menu"] = True
    app.run()
    names, helpful, hostile = app.multiselect[-3:] if app.multiselect[-1].key.startswith("score:") else []
    assert names.options == ["faithfulness · 2", "helpful · 2", f"{HOSTILE} · 1"]
    assert helpful.options == ["good · 2", "bad · 1", "no score · 1"]
    assert hostile.options == [f"{HOSTILE} · 1", "no score · 2"]
    hostile.set_value([HOSTILE]).run()
    assert [row["question"] for row in table(app)] == ["Second?"]
    assert "<img" not in shown(app)
    assert "DROP = 1" in shown(app)


def test_a_run_without_scores_has_no_menu_and_notes_what_a_link_asks_for(
    open_app: Open, make_workspace: MakeWorkspace
) -> None:
    folder = make_workspace()
    app = open_app(folder)
    assert "scores-menu" not in app.session_state
    app = open_app(folder, score=["faithfulness>=0.5", "nonsense"])
    assert "R1 has no score &quot;faithfulness&quot;." in shown(app)
    assert "a condition such as faithfulness" in shown(app)
    assert table(app) == []


def test_a_question_shows_its_scores_with_who_gave_them_and_why(open_app: Open, scored: Any) -> None:
    app = open_app(scored, page="pages/question.py", q="Q1", run="R1")
    assert [each.label for each in app.expander if "Scores" in each.label] == ["Scores of other tools · 3"]
    text = shown(app)
    for part in (
        '<strong class="ps-strong">good (1)</strong>',
        " by ann",
        "bad (0)",
        " by bob",
        "0.2",
        "by Ragas",
    ):
        assert part in text
    assert "Not so: &lt;img src=x" in text and "<img" not in text
    app = open_app(scored, page="pages/question.py", q="Q3", run="R1")
    assert not [each for each in app.expander if "Scores" in each.label]
