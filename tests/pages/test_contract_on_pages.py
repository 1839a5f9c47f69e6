"""Rules of the contract on Triage and Question: counted, filtered, shown with their fix, without markup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.rules.catalogue import rule_of
from tests.pages.conftest import MakeWorkspace, Open, shown, table, trace
from tests.unit.store_workspace import ENVELOPE

RUNS = [{"run_id": "R1", "traces": {"path": "trace.jsonl"}, "pinned": {"analyzer": "lowercase"}}]
TEMPLATE = "{} citations: [c1]"
EVIL = "![x](http://evil.example/x.png) <b>stem</b>"


def answered(q_id: str, answer: str, **more: Any) -> dict[str, Any]:
    return trace(q_id, f"What does {q_id} ask?", TEMPLATE.format(answer), **{**ENVELOPE, **more})


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    """Two questions read with another analyzer, one of them of another memory too, and one in order."""
    return make_workspace(
        [
            answered("Q1", "Change the oil.", analyzer=EVIL),
            answered("Q2", "Use grade 5W-30.", analyzer="stem", mem_rev="r2"),
            answered("Q3", "Change the oil every 15,000 km.", analyzer="lowercase"),
        ],
        runs=RUNS,
    )


def test_a_question_shows_the_rules_that_it_breaks_with_their_next_step(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page="pages/question.py", q="Q1")
    words = shown(app)
    assert "1 rule broken: 1 error" in words
    assert f"Next step: {rule_of('analyzer_mismatch').fix}" in words
    assert "analyzer is" in words
    assert "<b>stem" not in words
    assert "&lt;b&gt;stem" in words
    (link,) = [each.proto for each in app.main.get("page_link") if "analyzer" in each.proto.label]
    assert link.label.startswith("2 analyzer differs")
    assert "code=analyzer_mismatch" in link.query_string


def test_a_question_in_order_has_no_such_panel(folder: Path, open_app: Open) -> None:
    assert "broken:" not in shown(open_app(folder, page="pages/question.py", q="Q3"))


def test_triage_counts_broken_rules_and_a_link_narrows_to_one(folder: Path, open_app: Open) -> None:
    app = open_app(folder, code="memory_desync", columns="rules")
    assert not app.exception
    (row,) = table(app)
    assert (row["question"], row["rules"]) == ("What does Q2 ask?", "2")
    assert row["broken"] == "memory changed within the run; analyzer differs"
    (chip,) = [button for button in app.button if button.key == "chip-code"]
    assert chip.label == "✕ breaks\\: memory changed within the run"
    chip.click().run()
    assert sorted(row["rules"] for row in table(app)) == ["1", "2", "–"]
    assert "code" not in app.query_params


def test_the_menu_offers_rules_by_their_titles_and_codes(folder: Path, open_app: Open) -> None:
    app = open_app(folder, code="no_such_code")
    assert "R1 has no question that breaks &quot;no_such_code&quot;." in shown(app)
    app.session_state["more-filters"] = True
    (choice,) = [each for each in app.run().multiselect if each.label == "Contract rule"]
    assert "analyzer differs (analyzer_mismatch) · 2" in choice.options
