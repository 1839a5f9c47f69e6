"""Trends by AppTest: what it says of several runs, of one, of none with gold, and of no question at all."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.services.gate import release_verdict
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.store.query.store import Store
from proofspan.ui.widgets import in_view
from tests.pages.conftest import TRACES, MakeWorkspace, Open, grids, keys, shown, trace, unfold, write_small

pytestmark = pytest.mark.slow

PAGE = "pages/trends.py"
GOLD = [
    {"q_id": "Q1", "q": "How often?", "type": "limit", "chunks": ["c1"]},
    {"q_id": "Q2", "q": "Which grade?", "type": "figure", "chunks": ["c2"]},
    {"q_id": "Q3", "q": "Which fuse?", "answerable": False},
]
RUNS = [
    {"run_id": "R1", "ts": "2026-02-23T10:00:00Z", "title": "first", "traces": {"path": "trace.jsonl"}},
    {"run_id": "R2", "ts": "2026-02-24T10:00:00Z", "title": "second", "traces": {"path": "second.jsonl"}},
]


def figures(app: AppTest) -> list[str]:
    """The accessible names of the figures, in order."""
    return [str(element.proto.alt) for element in app.main.get("plotly_chart")]


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of three questions with gold: in the second, Q2's passage has become the first."""
    folder = tmp_path_factory.mktemp("two") / "workspace"
    write_small(folder, gold={"path": "gold.jsonl"}, cohorts={"path": "cohorts.jsonl"}, runs=RUNS)
    (folder / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in GOLD))
    better = [
        TRACES[0],
        trace("Q2", "Which oil grade is used?", "Use grade 5W-30. citations: [c2]", ("c2",)),
        TRACES[2],
    ]
    (folder / "second.jsonl").write_text("".join(json.dumps(line) + "\n" for line in better))
    return folder


@pytest.fixture
def own_runs(two_runs: Path, tmp_path: Path) -> Path:
    """The same runs for a test that changes them."""
    return copytree(two_runs, tmp_path / "workspace")


def test_the_last_run_is_shown_against_the_one_before_with_its_verdict(
    two_runs: Path, open_shared: Open
) -> None:
    app = open_shared(two_runs, page=PAGE)
    assert not app.exception
    text = html.unescape(shown(app))
    assert "R2 · 3 questions · 2 runs · compared with R1" in text
    assert "Release check:" in text
    assert "2 of 2 · 34–100 %" in text
    assert "From R1 (50 %): +50 pts (0 to +100), paired over 2 questions, not significant." in text
    assert figures(app)[0].startswith("Retrieval over 2 runs; R2: SectionMatch@1 2 of 2, 100 % (34–100 %)")
    assert set(grids(app)) == {"Reasons for R2"}, "everything else is behind a fold"


def test_what_is_below_the_first_figures_waits_until_it_is_seen_and_no_title_is_there_twice(
    two_runs: Path, open_shared: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_shared(two_runs, page=PAGE)
    assert [element.proto.id.rpartition("-")[2] for element in app.main.get("plotly_chart")] == [
        "retrieval",
        "answers",
    ]
    monkeypatch.setattr(in_view, "is_in_view", lambda key: True)
    unfold(app, "charts")
    titles = [name.partition(" over ")[0] for name in figures(app)]
    assert titles[:3] == ["Retrieval", "Answers", "Buckets"] and len(titles) == len(set(titles))
    boxes = [key for key in keys(app) if key.startswith("figure-")]
    assert len(boxes) == len(set(boxes)) >= 8


def test_page_and_commands_show_the_same_numbers(
    two_runs: Path, open_shared: Open, built: Callable[[Path], Path]
) -> None:
    app = unfold(open_shared(two_runs, page=PAGE), "metrics", "checks")
    manifest = load_manifest(two_runs)
    store = Store(manifest, built(two_runs))
    counted = run_metrics(store, manifest, "R2")
    rows = {row["head"]["text"]: row["cells"] for row in grids(app)["All metrics of R2"]["rows"]}
    for value in counted.values.values():
        assert (rows[value.metric.name][0]["text"] == "–") == (value.value is None)
    checks = release_verdict(store, manifest, "R2").checks
    assert [row["head"]["text"] for row in grids(app)["Checks of R2"]["rows"]] == [
        check.title for check in checks
    ]


def test_trends_and_compare_show_the_same_differences(own_runs: Path, open_app: Open) -> None:
    """R2 leaves out a question, so the difference of the runs' numbers is not that of their questions."""
    traces = (own_runs / "second.jsonl").read_text().splitlines(keepends=True)
    (own_runs / "second.jsonl").write_text("".join(traces[1:]))
    trends = grids(unfold(open_app(own_runs, page=PAGE, vs="R1"), "metrics"))["All metrics of R2"]
    app = unfold(open_app(own_runs, page="pages/compare.py", run="R2", vs="R1"), "metrics")
    compare = grids(app)["Metrics of R1 and R2"]
    place = [column["text"] for column in trends["columns"]].index("Difference")
    assert compare["columns"][2] == trends["columns"][place]
    of_trends = {row["head"]["text"]: row["cells"][place : place + 1] for row in trends["rows"]}
    of_compare = {row["head"]["text"]: row["cells"][2] for row in compare["rows"]}
    assert of_compare
    for name, cell in of_compare.items():
        assert of_trends[name] == [cell], name
    assert of_compare["SectionMatch@1"]["text"].startswith("+100 pts")


def test_ranks_are_sorted_and_searched_by_the_address(two_runs: Path, open_shared: Open) -> None:
    name = "Rank of the gold section by question and run"
    app = open_shared(two_runs, page=PAGE, order="climbs")
    rows = grids(app)[name]["rows"]
    assert [row["head"]["text"].split()[0] for row in rows] == ["Q2", "Q1"]
    assert [cell["text"] for cell in rows[0]["cells"]] == ["–", "1", "▲ 1"]
    app.text_input("rank-find").set_value("how often").run()
    assert app.query_params["find"] == "how often"
    assert [row["head"]["text"].split()[0] for row in grids(app)[name]["rows"]] == ["Q1"]
    app.text_input("rank-find").set_value("zebra").run()
    assert "No judged question holds these words." in shown(app)


def test_metrics_can_be_sliced(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, page=PAGE, by="type")
    rows = grids(app)["Metrics of R2 by type"]["rows"]
    assert sorted(row["head"]["text"] for row in rows) == ["figure", "limit"]
    assert "miss=section_match_at_1" in rows[0]["cells"][0]["href"]
    assert "type=" in rows[0]["cells"][0]["href"]


def test_a_bucket_becomes_a_cohort_and_is_counted_from_then_on(own_runs: Path, open_app: Open) -> None:
    app = unfold(open_app(own_runs, page=PAGE, run="R1"), "cohorts")
    assert "No cohort is frozen yet." in shown(app)
    assert app.button("freeze-now").disabled
    app.text_input("freeze-name").set_value("GAP").run()
    assert "Adds one line to cohorts.jsonl in the workspace: 1 question of Recall miss in R1" in shown(app)
    app.button("freeze-now").click().run()
    assert "Frozen: 1 question as GAP." in shown(app)
    assert json.loads((own_runs / "cohorts.jsonl").read_text())["q_ids"] == ["Q2"]
    (row,) = grids(app)["Cohorts and how many of their questions converted"]["rows"]
    assert [cell["text"] for cell in row["cells"]] == ["0 of 1", "1 of 1"]
    app.button("freeze-now").click().run()
    assert "cohort 'GAP' of 1 question from R1" in html.unescape(shown(app))


def test_a_workspace_without_a_file_for_cohorts_says_which_line_to_add(
    open_app: Open, own_runs: Path
) -> None:
    manifest = yaml.safe_load((own_runs / MANIFEST_NAME).read_text())
    del manifest["cohorts"]
    (own_runs / MANIFEST_NAME).write_text(yaml.safe_dump(manifest))
    app = unfold(open_app(own_runs, page=PAGE), "cohorts")
    assert "cohorts: {path: cohorts.jsonl}" in shown(app)
    assert "freeze-now" not in [button.key for button in app.button]


def test_one_run_without_gold_says_what_is_missing_and_draws_no_empty_axes(
    small: Path, open_shared: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_view, "is_in_view", lambda key: True)
    app = unfold(open_shared(small, page=PAGE))
    assert not app.exception
    text = html.unescape(shown(app))
    assert "The workspace names no gold set" in text
    assert "This is the only run" in text
    assert "nothing to count" in text and "no gold question (3)" in text
    assert figures(app) == [
        "Labels over 1 run; R1: 1 Grounded, 1 Possible over-refusal, 1 Unsupported answer"
    ]
    assert "Rank of the gold section by question and run" not in grids(app)


def test_without_the_chunk_file_a_figure_is_not_available(own_runs: Path, open_app: Open) -> None:
    manifest = yaml.safe_load((own_runs / MANIFEST_NAME).read_text())
    del manifest["chunks"]
    (own_runs / MANIFEST_NAME).write_text(yaml.safe_dump(manifest))
    app = unfold(open_app(own_runs, page=PAGE), "metrics")
    assert not app.exception
    rows = {row["head"]["text"]: row["cells"] for row in grids(app)["All metrics of R2"]["rows"]}
    for name in ("Citation match", "Over-refusal", "Section coverage"):
        assert [cell["text"] for cell in rows[name][:2]] == ["–", "not available"]
    reasons = [row["head"]["text"] for row in grids(app)["Reasons for R2"]["rows"]]
    assert any("the manifest names no chunks" in reason for reason in reasons)
    assert re.search("Not available for R2: .*Citation match", html.unescape(shown(app)))


def test_a_run_without_a_question_says_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace([]), page=PAGE)
    assert not app.exception
    assert "R1 holds 0 questions." in shown(app)
    assert figures(app) == []


def test_what_the_address_gets_wrong_is_reported(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, page=PAGE, by="price", order="up", leaf="0", vs="R9")
    assert not app.exception
    assert shown(app).count("In the address,") == 3
    assert "compared with R1" in shown(app)


def test_ids_and_titles_of_runs_stay_text_in_figures_and_tables(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_view, "is_in_view", lambda key: True)
    hostile = "<a href=x>R1</a>%{x}"
    run = {"run_id": hostile, "title": "<img src=x>", "traces": {"path": "trace.jsonl"}}
    app = unfold(open_app(make_workspace(runs=[run]), page=PAGE))
    assert not app.exception
    assert "<img" not in shown(app)
    (labels,) = (json.loads(element.proto.spec) for element in app.main.get("plotly_chart"))
    assert labels["layout"]["xaxis"]["ticktext"] == ["<b>&lt;a href=x&gt;R1&lt;/a&gt;%{x}</b>"]
    assert all("<img" not in text for trace in labels["data"] for text in trace["hovertext"])
    assert grids(app)["Labels"]["rows"][0]["head"]["text"] == hostile
