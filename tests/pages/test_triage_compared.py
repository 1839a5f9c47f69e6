"""Triage by bucket, type, state and cohort, and against another run."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import MakeWorkspace, Open, menu, send, shown, strip, table, trace, write_small

pytestmark = pytest.mark.slow

OIL, LAMPS = "How often is the oil changed?", "Which fuse protects the lamps?"
GOLD: list[dict[str, Any]] = [
    {"q_id": "Q1", "q": OIL, "sections": ["5.1"], "type": "interval"},
    {"q_id": "Q2", "q": LAMPS, "sections": ["6.2"], "type": "figure"},
    {"q_id": "Q3", "q": "Which oil?", "sections": ["9"], "type": "figure"},
    {"q_id": "Q4", "q": "Who sold it?", "answerable": False},
]


def asked(q_id: str, q: str, answer: str, *sections: str, **more: Any) -> dict[str, Any]:
    """A trace whose candidates lie in these sections, best first."""
    chunks = [
        {"id": name, "section_id": section, "doc_id": "manual"}
        for name, section in zip(("c1", "c2"), sections, strict=False)
    ]
    return {**trace(q_id, q, answer), "chunks": chunks, **more}


GROUNDED = "Change the oil every 15,000 km. citations: [c1]"
NOW = [
    asked("Q1", OIL, GROUNDED, "5.1", "6.2", λ="convergent"),
    asked("Q2", LAMPS, "not in context", "5.1", "6.2", λ="divergent"),
    asked("Q3", "Which oil?", GROUNDED, "5.1", "6.2"),
    asked("Q4", "Who sold it?", "not in context", "5.1"),
]
BEFORE = [
    asked("Q1", OIL, "not in context", "6.2", "5.1"),
    asked("Q2", LAMPS, "The fuse F12 protects the interior lamps. citations: [c2]", "6.2", "5.1"),
    asked("Q3", "Which oil?", "Any will do.", "5.1", "6.2"),
]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """R2 after R1, with gold and a cohort: Q1 is ranked better, Q2 worse, Q3 as before, Q4 is new."""
    runs = [{"run_id": f"R{n}", "traces": {"path": f"R{n}.jsonl"}} for n in (1, 2)]
    folder = tmp_path_factory.mktemp("two") / "workspace"
    write_small(folder, None, gold={"path": "g.jsonl"}, cohorts={"path": "cohorts.jsonl"}, runs=runs)
    cohort = [{"name": "gap", "q_ids": ["Q3", "Q1"], "run_id": "R1", "bucket": "retrieval_gap"}]
    files: dict[str, list[dict[str, Any]]] = {"R1": BEFORE, "R2": NOW, "g": GOLD, "cohorts": cohort}
    for name, lines in files.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


def toggles(app: AppTest, kind: str) -> list[str]:
    """The toggles of a line as they read."""
    return [button.label for button in app.button if str(button.key).startswith(f"{kind}-")]


def chips(app: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in app.button if str(button.key).startswith("chip-")]


def questions(app: AppTest) -> set[str]:
    return {row["question"] for row in table(app)}


def test_buckets_filter_and_have_their_next_steps(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2")
    assert menu(app, "bucket").options == ["Hit · 1", "Ranking miss · 1", "Recall miss · 1"]
    assert "Rerank: let a pinned" in shown(app)
    assert "Hybrid recall: fuse" in shown(app)
    menu(app, "bucket").set_value(["retrieval_gap"]).run()
    assert app.query_params["bucket"] == "retrieval_gap"
    assert questions(app) == {"Which oil?"}
    assert "Rerank: let a pinned" not in shown(app)
    assert "Hybrid recall: fuse" in shown(app)
    assert "1 of 4 questions: Recall miss · " in shown(app)


def test_the_gold_sections_rank_is_in_the_rows_and_sorts_them(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2", columns="gold_rank")
    assert {row["question"]: row["gold_rank"] for row in table(app)} == {
        OIL: "1",
        LAMPS: "2",
        "Which oil?": "none",
        "Who sold it?": "–",
    }
    send(app, "sort", "gold_rank")
    assert [row["gold_rank"] for row in table(app)] == ["1", "2", "none", "–"]
    send(app, "sort", "gold_rank")
    assert [row["gold_rank"] for row in table(app)] == ["none", "2", "1", "–"]
    assert "worst rank of the gold section first" in shown(app)


def test_the_menu_narrows_by_type_state_and_cohort(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2")
    assert menu(app, "type").options == ["figure · 2", "interval · 1"]
    assert menu(app, "state").options == ["convergent · 1", "divergent · 1"]
    menu(app, "type").set_value(["figure"]).run()
    assert questions(app) == {LAMPS, "Which oil?"}
    menu(app, "cohort").set_value("gap").run()
    assert (app.query_params["type"], app.query_params["cohort"]) == ("figure", "gap")
    assert questions(app) == {"Which oil?"}
    assert "type figure, of cohort gap" in shown(app)
    menu(app, "cohort").set_value(None).run()
    menu(app, "type").set_value([]).run()
    menu(app, "state").set_value(["divergent"]).run()
    assert questions(app) == {LAMPS}


def test_a_choice_is_another_where_its_counts_change(two_runs: Path, open_shared: Open) -> None:
    """A browser would send the old run's words as a value: they hold a count."""
    app = open_shared(two_runs, run="R2", doc="manual")
    before = str(menu(app, "doc").key)
    app.query_params["run"] = "R1"
    app.run()
    after = menu(app, "doc")
    assert after.value == ["manual"]
    assert str(after.key) != before


def test_what_a_link_asks_for_is_named_and_removed_piece_by_piece(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2", vs="R1", miss="section_match_at_1", refused="yes", was="ok")
    assert chips(app) == ["✕ SectionMatch@1 missed", "✕ declines", "✕ was Grounded in R1"]
    assert questions(app) == {LAMPS}
    for name in ("miss", "refused", "was"):
        app.button(f"chip-{name}").click().run()
    assert chips(app) == []
    assert not app.query_params.keys() & {"miss", "refused", "was"}
    assert app.query_params["vs"] == "R1"
    assert len(table(app)) == 4


def test_another_run_shows_what_the_rows_were_and_which_were_fixed(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2")
    assert toggles(app, "flip") == []
    app.selectbox("compared-with").set_value("R1").run()
    assert app.query_params["vs"] == "R1"
    assert {row["question"]: row["was"] for row in table(app)} == {
        OIL: "was Possible over-refusal · Ranking miss",
        LAMPS: "was Grounded · Hit",
        "Which oil?": "was Unsupported answer",
        "Who sold it?": "",
    }
    assert toggles(app, "flip") == ["**1** fixed", "**1** regressed"]
    assert "of 3 by" in shown(app)
    assert "1 cannot be judged" not in shown(app)
    assert any("1 only in R2" in title for title in html.unescape(shown(app)).splitlines())
    app.button("flip-fixed").click().run()
    assert questions(app) == {OIL}
    assert "fixed compared with R1 by SectionMatch@1" in shown(app)
    assert chips(app) == [], "the toggle says it"
    app.selectbox("flip-outcome").set_value("answered_ok").run()
    assert app.query_params["outcome"] == "answered_ok"
    app.selectbox("compared-with").set_value(None).run()
    assert not app.query_params.keys() & {"vs", "flip", "outcome"}
    assert toggles(app, "flip") == []


def test_groups_say_how_many_more_there_are_than_in_the_other_run(two_runs: Path, open_shared: Open) -> None:
    groups = strip(open_shared(two_runs, run="R2", vs="R1"))
    assert groups["ok"] == "Grounded 2 (+1)"
    assert groups["generation_drift"] == "Unsupported answer 0 (−1)"
    assert groups["retrieval_drift"] == "Retrieval miss 0"


def test_a_run_that_cannot_be_compared_with_is_reported(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, run="R2", vs="R7", flip="fixed")
    assert not app.exception
    assert "Run R7 is not indexed" in shown(app)
    assert table(app) == []
    assert chips(app) == ["✕ fixed compared with R7 by SectionMatch@1"]
    app.button("chip-flip").click().run()
    assert len(table(app)) == 4


def test_without_gold_runs_are_compared_by_their_answers(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    runs = [{"run_id": name, "traces": {"path": "trace.jsonl"}} for name in ("R1", "R2")]
    app = open_app(make_workspace(runs=runs), run="R2", vs="R1")
    assert app.selectbox("flip-outcome").options == ["supported claims", "answers that do not fail"]
    assert toggles(app, "flip") == ["**0** fixed", "**0** regressed"]
    app.button("flip-regressed").click().run()
    assert app.query_params["outcome"] == "answered_ok"
    assert {row["gold_rank"] for row in table(app)} <= {"–"}
