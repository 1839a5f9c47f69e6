"""The What-if page by AppTest: settings in the address, results, sweeps, saving, runs that log too little."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.index_job import IndexJobs
from proofspan.ui.whatif import load, save
from tests.pages.conftest import MakeWorkspace, Open, grids, send, shown, tables, trace, unfold
from tests.places import DEMO

pytestmark = pytest.mark.slow

PAGE = "pages/whatif.py"
HOSTILE = "<img src=x onerror=alert(1)> **b** [l](http://evil) %{x} =1+1"
WhatIfPage = Callable[..., AppTest]


@pytest.fixture
def whatif(open_shared: Open) -> WhatIfPage:
    """`whatif(run=…, k=…)`: the page on the demo, on R003, which fuses two lists and has no reranker."""
    return lambda **url: open_shared(DEMO, page=PAGE, **{"run": "R003", **url})


@pytest.fixture(autouse=True)
def sweeps_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw a sweep only where the address asks for it."""
    monkeypatch.setattr(load, "SWEPT_AT_ONCE", 0)


def words(app: AppTest) -> str:
    """Return the page's own text without markup, a line for each element."""
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:div|dt|dd)>", "\n", shown(app))))


def moved(app: AppTest) -> list[dict[str, Any]]:
    """Return the cells of the listed questions."""
    return [
        row["cells"] for each in tables(app) if each["table"].endswith("that move") for row in each["rows"]
    ]


def labels(app: AppTest) -> list[str]:
    """Return the labels of all widgets."""
    found = (app.number_input, app.selectbox, app.slider, app.button, app.text_input)
    return [element.label for kind in found for element in kind]


def test_a_run_as_it_was_logged_moves_nothing_and_says_how_far_it_is_reproduced(whatif: WhatIfPage) -> None:
    app = whatif()
    assert not app.exception
    text = words(app)
    assert "✓ Reproduced 41 of 41 questions come out in their logged order" in text
    assert "These are the numbers of R003 as logged." in text
    assert "move" not in text and "Save run" not in labels(app) and "Reset all" not in labels(app)
    assert app.number_input(key="field-k").value == 60
    assert "49 %18 of 37" in text


def test_a_typed_setting_is_in_the_address_marked_and_can_be_reset(whatif: WhatIfPage) -> None:
    app = whatif()
    app.number_input(key="field-k").set_value(5.0).run()
    assert app.query_params["k"] == "5" or app.query_params["k"] == ["5"]
    text = words(app)
    assert (
        "● changed" in text
        and app.button(key="reset-k").label == "Reset to 60"
        and "With RRF k 5 (logged 60)." in text
    )
    assert app.slider(key="slider-k").value == 5
    app.number_input(key="field-weight-1").set_value(2.0).run()
    assert "weight of dense 2 (logged 1)" in words(app)
    app.button(key="reset-k").click().run()
    assert "k" not in app.query_params and app.number_input(key="field-k").value == 60
    assert app.query_params["weight"] in ("dense:2", ["dense:2"])
    app.button(key="reset-all").click().run()
    assert "weight" not in app.query_params and "● changed" not in words(app)


def test_a_shared_address_shows_the_same_and_what_is_the_runs_own_counts_as_logged(
    whatif: WhatIfPage,
) -> None:
    app = whatif(k="60", weight="dense:0", rerank="bm25:1", prompt="3", relabel="none")
    text = words(app)
    assert "Settings 4 changed" in text  # k is the run's own
    assert "weight of dense 0 (logged 1)" in text.lower() and "rerank by bm25" in text
    assert app.selectbox(key="field-rerank").value == "one"
    assert app.selectbox(key="field-rerank-by").value == "bm25"
    assert app.number_input(key="field-prompt").value == 3
    assert "field-support" not in [element.key for element in app.number_input]
    assert "The claims of the answers are not checked, so their support cannot be changed." in text
    assert app.selectbox(key="field-profile").value == "none"


def test_what_cannot_be_used_is_left_out_with_a_note(whatif: WhatIfPage) -> None:
    app = whatif(k="-1", weight="nope:2", depth="1.5", sweep="moon", moved="x", least="7")
    assert not app.exception
    text = words(app)
    for name in ("k=-1", "depth=1.5", "sweep=moon", "moved=x", "least=7"):
        assert f"In the address, {name} is not used" in text, name
    assert "R003 logs no list or score 'nope'" in text
    assert "These are the numbers of R003 as logged." in text


def test_the_questions_that_move_open_in_the_logged_run_and_regressed_ones_come_first(
    whatif: WhatIfPage,
) -> None:
    app = whatif(k="1", weight="dense:3")
    counts = re.search(r"Retrieval: (\w+) fixed, (\w+) regressed of 37", words(app))
    assert counts
    fixed, regressed = (0 if each == "none" else int(each) for each in counts.groups())
    assert fixed + regressed
    first = [row["rank"].get("note", "") for row in moved(app)][: regressed + fixed]
    assert first == ["Regressed"] * regressed + ["Fixed"] * fixed
    query = parse_qs(urlsplit(moved(app)[0]["question"]["href"]).query)
    assert query["run"] == ["R003"] and query["q"]
    only = whatif(k="1", weight="dense:3", moved="fixed")
    assert len(moved(only)) == fixed and all(row["rank"]["note"] == "Fixed" for row in moved(only))


def test_a_change_lists_as_many_questions_as_it_counts(whatif: WhatIfPage, open_shared: Open) -> None:
    app = whatif(k="1", weight="dense:3")
    (row, *_) = grids(app)["Buckets: changes from logged to computed"]["rows"]
    query = parse_qs(urlsplit(row["cells"][0]["href"]).query)
    listed = open_shared(DEMO, page=PAGE, **query)
    assert len(moved(listed)) == int(row["cells"][0]["text"])
    assert {one["bucket"]["text"] for one in moved(listed)} == {row["head"]["text"]}


def test_a_header_sorts_then_reverses_then_returns(whatif: WhatIfPage) -> None:
    app = whatif(k="1", weight="dense:3")
    usual = [row["question"]["text"] for row in moved(app)]
    found = []
    for _ in range(3):
        send(app, "sort", "question", key="grid-moved")
        found.append([row["question"]["text"] for row in moved(app)])
    assert found[0] == sorted(found[0]) and found[1] == sorted(found[1], reverse=True) and found[2] == usual


def test_a_sweep_says_how_many_settings_were_tried_and_its_values_are_links(
    whatif: WhatIfPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Choose a setting to try its values." in words(whatif())
    monkeypatch.setattr(load, "SWEPT_AT_ONCE", 41)
    app = whatif()
    (chart,) = app.main.get("plotly_chart")
    assert chart.proto.alt.startswith("SectionMatch@1 by RRF k.")
    assert re.search(r"1[0-9] settings tried: .* chance \(Holm-corrected, 95 %\)", words(app))
    rows = grids(unfold(app, "chart-sweep-table"))["SectionMatch@1 by RRF k"]["rows"]
    assert [row["head"]["text"] for row in rows][:3] == ["1", "2", "3"]
    assert "60 (logged)" in [row["head"]["text"] for row in rows]
    assert parse_qs(urlsplit(rows[0]["head"]["href"]).query)["k"] == ["1"]
    figure = json.loads(chart.proto.spec)["layout"]
    assert figure["xaxis"]["type"] == "log" and "constant" in figure["xaxis"]["title"]["text"]
    assert "of 37 questions" in figure["yaxis"]["title"]["text"]
    assert [each["text"] for each in figure["annotations"]] == ["logged 60"]


def test_a_sweep_of_a_lists_weight_takes_range_and_metric_from_the_address(whatif: WhatIfPage) -> None:
    url = {"sweep": "weight", "sweep_of": "dense", "from": "0", "to": "1", "metric": "mrr"}
    rows = grids(unfold(whatif(**url), "chart-sweep-table"))["MRR by Weight of dense"]["rows"]
    assert rows[0]["head"]["text"] == "0" and rows[-1]["head"]["text"] == "1 (logged)"
    assert parse_qs(urlsplit(rows[0]["head"]["href"]).query)["weight"] == ["dense:0"]
    lost = whatif(sweep="weight", sweep_of="gone")
    assert "This sweep does not apply to R003 with these settings: weight gone." in words(lost)


def ranked(names: dict[str, list[int]]) -> list[dict[str, Any]]:
    """Return two traces whose first stage logs ranks in the lists of these names."""
    chunks = ("c1", "c2")
    made = [trace("Q1", "How often?", "Every 15,000 km.", chunks), trace("Q2", "Which?", "5W-30.", chunks)]
    for each in made:
        each["stages"] = {
            "retrieved": [
                {
                    "id": chunk,
                    "section_id": "5.1",
                    "features": {f"{name}_rank": ranks[place] for name, ranks in names.items()},
                }
                for place, chunk in enumerate(chunks)
            ]
        }
        each["stages"]["fused"] = each["stages"]["retrieved"]
    return made


def test_hostile_names_stay_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    traces = ranked({HOSTILE: [1, 2], "b": [2, 1]})
    traces[0]["q_id"] = traces[0]["q"] = HOSTILE
    for each in traces[0]["stages"]["retrieved"]:
        each["features"][f"s{HOSTILE}"] = 0.5
    app = open_app(
        make_workspace(traces),
        page=PAGE,
        weight=f"{HOSTILE}:9",
        rerank=f"s{HOSTILE}:1",
        sweep="weight",
        sweep_of=HOSTILE,
    )
    assert not app.exception
    assert "<img" not in shown(app) and "onerror" in words(app)
    assert not any(re.search(r"(?<!\\)[<*\[]", label) for label in labels(app))
    (chart,) = app.main.get("plotly_chart")
    assert "<img" not in chart.proto.spec


def test_without_gold_the_page_says_what_moves_and_judges_nothing(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(ranked({"a": [1, 2], "b": [1, 2]})), page=PAGE, prompt="1")
    assert not app.exception
    assert "2 questions of 2 move; without gold questions nobody knows whether for the better." in words(app)


def test_runs_that_log_too_little_say_what_to_do(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace(), page=PAGE)
    assert not app.exception
    text = words(app)
    assert "R1 does not log two ranked lists, so there is nothing to fuse." in text
    assert "R1 logs no scores of its candidates" in text
    assert "field-k" not in [element.key for element in app.number_input]
    assert app.number_input(key="field-prompt").value == 1


def test_a_run_with_a_report_alone_has_no_lists(make_workspace: MakeWorkspace, open_app: Open) -> None:
    row = {"q": "How?", "label": "ok", "why": "", "chunks": ["c1"], "citations_in_answer": []}
    folder = make_workspace(None, runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    (folder / "report.jsonl").write_text(json.dumps(row) + "\n")
    app = open_app(folder, page=PAGE)
    assert not app.exception
    assert "R1 has a stored report and no traces" in words(app) and not app.number_input


@pytest.fixture
def fused(make_workspace: MakeWorkspace) -> Path:
    """Return a workspace of a run that logs two lists."""
    return make_workspace(ranked({"a": [1, 2], "b": [2, 1]}))


def test_a_what_if_is_saved_as_a_run_of_the_list_and_again_without_a_change(
    fused: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IndexJobs, "once", lambda self, key, command: None)  # the saved run stays unread
    app = open_app(fused, page=PAGE, weight="b:3")
    assert "trace.jsonl" in words(app) and app.text_input[0].value == "R1-b3"
    app.text_input[1].set_value("more of b")
    app.button(key="save-run").click().run()
    assert not app.exception
    text = words(app)
    assert "✓ Saved as the run R1-b3." in text and app.query_params["saved"] in ("R1-b3", ["R1-b3"])
    assert [run.run_id for run in load_manifest(fused).runs] == ["R1", "R1-b3"]
    assert [link.proto.label for link in app.main.get("page_link")][:2] == [
        r"Compare R1\-b3 with R1",
        r"R1\-b3 in Triage",
    ]
    files = {file: file.read_bytes() for file in sorted(fused.rglob("*")) if file.is_file()}
    assert b"more of b" in files[fused / "pipeline_manifest.yaml"]
    assert "R1-b3 exists already." in words(app)
    app.text_input[1].set_value("more of b").run()
    app.button(key="save-run").click().run()
    assert "✓ Saved as the run R1-b3." in words(app)
    assert files == {file: file.read_bytes() for file in sorted(fused.rglob("*")) if file.is_file()}


def test_a_run_id_that_cannot_be_is_refused_before_anything_is_written(fused: Path, open_app: Open) -> None:
    app = open_app(fused, page=PAGE, weight="b:3")
    app.text_input[0].set_value("../up").run()
    assert "A run id has 1 to 100 letters" in words(app)
    assert app.button(key="save-run").disabled
    app.text_input[0].set_value("R1").run()
    app.button(key="save-run").click().run()
    assert "choose another run id" in words(app).lower()
    assert [file.name for file in sorted(fused.iterdir())] == [
        "chunks.jsonl",
        "pipeline_manifest.yaml",
        "trace.jsonl",
    ]


def test_a_workspace_that_cannot_be_written_says_so_before_the_form(
    fused: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save.os, "access", lambda path, mode: Path(path) != fused)
    app = open_app(fused, page=PAGE, weight="b:3")
    assert "This workspace cannot be written to" in words(app)
    assert not app.text_input and "Save run" not in labels(app)


def test_how_answers_are_read_is_no_part_of_a_run(fused: Path, open_app: Open) -> None:
    app = open_app(fused, page=PAGE, weight="b:3", least="0.9")
    assert "reset label template and least support" in words(app) and not app.text_input


def test_the_words_of_the_page(whatif: WhatIfPage, golden: Callable[[str, str], None]) -> None:
    as_logged, changed = words(whatif()), words(whatif(k="1", weight="dense:3", rerank="bm25:1"))
    golden("whatif/page", f"{as_logged}\n\n== changed ==\n{changed}")


def test_questions_that_do_not_come_out_as_logged_are_named(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    traces = ranked({"a": [1, 2], "b": [1, 2]})
    traces[1]["stages"]["fused"] = traces[1]["stages"]["retrieved"][::-1]
    app = open_app(make_workspace(traces), page=PAGE)
    text = words(app)
    assert "! Reproduced in part 1 of 2 questions come out in their logged order" in text
    (row,) = grids(app)["Questions that are not reproduced"]["rows"]
    assert row["head"]["text"] == "Q2" and parse_qs(urlsplit(row["head"]["href"]).query)["q"] == ["Q2"]
