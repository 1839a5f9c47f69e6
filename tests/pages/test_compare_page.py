"""Compare by AppTest: what the demo's runs come to beside each other, and input that leaves little to say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from tests.pages import conftest
from tests.pages.conftest import TRACES, MakeWorkspace, Open, keys, shown, trace, unfold
from tests.places import DEMO

pytestmark = pytest.mark.slow

PAGE = "pages/compare.py"
Compare = Callable[..., AppTest]


@pytest.fixture
def compare(open_shared: Open) -> Compare:
    """`compare(run=…, vs=…)`: the page on the demo."""
    return lambda **url: open_shared(DEMO, page=PAGE, **url)


def grids(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data sent to the browser for each table, by the beginning of its name."""
    return {name.partition(":")[0].partition(" of ")[0]: grid for name, grid in conftest.grids(app).items()}


def cells(grid: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for row in grid["rows"] for cell in row["cells"]]


def asked(href: str) -> ViewState:
    return ViewState.parse(parse_qs(urlsplit(href).query))


def heads(grid: dict[str, Any]) -> list[str]:
    return [row["head"]["note"] for row in grid["rows"]]


def test_a_run_is_held_against_its_baseline(compare: Compare) -> None:
    app = compare(run="R004")
    assert not app.exception
    assert (app.query_params["vs"], app.query_params["outcome"]) == ("R003", "section_match_at_1")
    words = shown(app)
    assert "6 fixed, 3 regressed of 37 by SectionMatch@1: p = 0.508, not statistically significant." in words
    assert "About 173 questions are needed (you have 37), with about 42 flips" in words
    assert "4 of 41 are left out" in words
    tables = grids(app)
    fixed, regressed = (
        tables[f"Questions that {kind} in R004 compared with R003"] for kind in ("were fixed", "regressed")
    )
    assert (len(fixed["rows"]), heads(regressed)) == (6, ["Q76", "Q79", "Q89"])
    assert [row["cells"][0]["text"] for row in regressed["rows"]] == ["1 → 2", "1 → 3", "1 → 2"]


def test_every_cell_of_the_matrices_opens_as_many_questions_as_it_says(
    compare: Compare, built: Callable[[Path], Path]
) -> None:
    store = Store(load_manifest(DEMO), built(DEMO))
    tables = grids(unfold(compare(run="R006", vs="R004", flip="fixed"), "moves"))
    counted = 0
    for name in ("Labels", "Buckets"):
        for cell in cells(tables[name]):
            if "href" in cell:
                counted += 1
                assert store.matching(asked(cell["href"]).filter) == int(cell["text"])
                assert f"{cell['text']} question" in cell["spoken"]
    assert counted >= 8
    assert tables["Labels"]["rows"][-1]["cells"][-1]["text"] == "41"


def test_a_metric_opens_the_questions_that_count_against_it(
    compare: Compare, built: Callable[[Path], Path]
) -> None:
    store = Store(load_manifest(DEMO), built(DEMO))
    metrics = grids(unfold(compare(run="R006", vs="R004"), "metrics"))["Metrics"]
    there, here, difference = metrics["rows"][0]["cells"]
    assert metrics["rows"][0]["head"]["text"] == "SectionMatch@1"
    assert (there["text"], here["text"]) == ("57 %", "68 %")
    assert (there["note"], here["note"]) == ("41\u2060–\u206071 %, 21 of 37", "51\u2060–\u206080 %, 25 of 37")
    assert difference["text"] == "+11 pts" and "look" not in difference and "p = 0.289" in difference["note"]
    (clear,) = (row["cells"][2] for row in metrics["rows"] if row["head"]["text"] == "MRR")
    assert (clear["text"], clear["look"]) == ("+0.118 · better", "green")
    assert store.matching(asked(there["href"]).filter) == 37 - 21
    assert store.matching(asked(here["href"]).filter) == 37 - 25


def test_what_was_fixed_is_named_and_counted_for_retrieval_grounding_and_correctness(
    open_app: Open, tmp_path: Path, checked: Callable[[Path], Path]
) -> None:
    copytree(checked(DEMO), tmp_path / "cache")
    app = unfold(open_app(DEMO, page=PAGE, run="R006", vs="R004"), "moves")
    store = Store(load_manifest(DEMO), tmp_path / "cache")
    table = next(grid for name, grid in conftest.grids(app).items() if name.startswith("Changes from R004"))
    assert [row["head"]["text"] for row in table["rows"]] == ["Grounding", "Correctness"]
    _, correctness = ([cell["text"] for cell in row["cells"]] for row in table["rows"])
    assert int(correctness[0]) + int(correctness[1]) > 0
    moved, causes = grids(app)["Correctness"], grids(app)["Causes"]
    assert "Labels" not in grids(app), "causes are in their place"
    assert all(" → " in row["head"]["text"] for row in causes["rows"])
    counted = [cell for grid in (table, moved, causes) for cell in cells(grid) if "href" in cell]
    assert len(counted) >= 7
    for cell in counted:
        assert store.matching(asked(cell["href"]).filter) == int(cell["text"])
    words = shown(app)
    assert words.count("6 fixed, 2 regressed of 37") == 1
    assert words.count("p = 0.289") == 1, "the metrics are folded"
    (link,) = (each for each in app.main.get("page_link") if "flip=fixed" in each.proto.query_string)
    assert link.proto.label == "List in Triage"
    assert "not first in R004, gold section first in R006" in words
    (fixed,) = (grid for name, grid in conftest.grids(app).items() if "were fixed" in name)
    answers = {row["head"]["note"]: row["cells"][1] for row in fixed["rows"]}
    assert answers["Q99"]["text"] == "Declined, wrongly"  # what retrieval fixed, the answer still refuses


def test_what_was_pinned_differently_is_reported_and_the_rest_in_a_line(compare: Compare) -> None:
    app = unfold(compare(run="R004", vs="R003"), "pins")
    pinned = grids(app)["Configuration changes from R003 to R004"]
    assert [row["head"]["text"] for row in pinned["rows"]][:1] == ["reranker.model"]
    assert [cell["text"] for cell in pinned["rows"][0]["cells"]] == ["not pinned", "maxsim-1"]
    assert "Unchanged: analyzer, bm25" in shown(app)


def test_different_question_sets_are_compared_on_what_both_have(compare: Compare) -> None:
    words = shown(compare(run="R005", vs="R004"))
    assert (
        "Retrieval: none fixed, 4 regressed of 36 by SectionMatch@1: p = 0.125, not statistically significant"
        in words
    )
    assert "Compared on the 39 questions of both; 2 only in R004." in words


def test_a_run_compared_with_itself_shows_nothing_else(compare: Compare) -> None:
    app = compare(run="R004", vs="R004")
    assert "R004 is compared with itself." in shown(app)
    assert not grids(app)


def test_the_other_run_is_compared_with_another_one_when_it_is_chosen_itself(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R006", vs="R004")  # the sidebar is on every page
    app.selectbox("run-switcher").set_value("R004").run()
    assert app.query_params["run"] == "R004" and "vs" not in app.query_params


def test_the_first_run_and_an_unknown_one_ask_for_another(compare: Compare) -> None:
    app = compare(run="R001", vs="R9")
    words = shown(app)
    assert "There is no run &quot;R9&quot; in this workspace to compare with." in words
    assert "No run precedes R001." in words
    app.selectbox("compare-with").set_value("R002").run()
    assert app.query_params["vs"] == "R002"
    assert "fixed" in shown(app)


def test_another_outcome_can_be_chosen_and_is_in_the_address(compare: Compare) -> None:
    app = compare(run="R006", vs="R001")
    app.selectbox("compare-by").set_value("citation_match").run()
    assert app.query_params["outcome"] == "citation_match"
    assert "9 fixed, 1 regressed of 33 by citation match: p = 0.021, statistically" in shown(app)


def test_a_filter_on_answers_is_not_applied_and_one_on_questions_is(compare: Compare) -> None:
    words = shown(compare(run="R006", vs="R004", label="ok"))
    assert "6 fixed, 2 regressed of 37" in words
    assert "The filter on Grounded is not applied here" in words
    app = unfold(compare(run="R006", vs="R004", type="figure"), "moves")
    assert "Only questions type figure." in shown(app)
    assert all(
        asked(cell["href"]).filter.type == ("figure",)
        for cell in cells(grids(app)["Labels"])
        if "href" in cell
    )
    app.button("compare-all").click().run()
    assert "6 fixed, 2 regressed of 37" in shown(app)


def test_flips_are_sorted_by_their_headers(compare: Compare) -> None:
    app = compare(run="R004", vs="R003")
    for way in ("ascending", "descending", None):
        conftest.send(app, "sort", "section_rank", key="grid-fixed")
        (fixed,) = (each for each in conftest.tables(app) if each["table"].startswith("Questions that were"))
        rows = [row["cells"]["section_rank"]["text"] for row in fixed["rows"]]
        ranks = [int(text.partition(" ")[0]) for text in rows]
        assert [each.get("sorted") for each in fixed["columns"]] == [None, way, None]
        if way:
            assert ranks == sorted(ranks, reverse=way == "descending")


def test_the_answer_comes_first_details_are_folded_and_a_row_has_one_target(compare: Compare) -> None:
    app = compare(run="R006", vs="R004")
    first, *others = (key for key in keys(app) if key in ("verdict", "compare-flips") or "fold-" in key)
    assert (first, others) == ("verdict", ["compare-flips", "fold-moves", "fold-metrics", "fold-pins"])
    words = shown(app)
    assert words.count("Release check:") == words.count("6 fixed, 2 regressed") == 1
    fixed = grids(app)["Questions that were fixed in R006 compared with R004"]
    assert [sum("href" in cell for cell in (row["head"], *row["cells"])) for row in fixed["rows"]] == [1] * 6
    one_side = compare(run="R005", vs="R004")
    assert "flips-regressed" in keys(one_side) and "flips-fixed" not in keys(one_side)


def test_a_question_is_shown_side_by_side_and_the_keys_step_through_the_flipped(compare: Compare) -> None:
    app = compare(run="R006", vs="R004", q="Q97", flip="regressed")
    assert not app.exception
    words = shown(app)
    assert "Numbers differ: " not in words and "-number" not in words  # they are in two other sentences
    assert '<del class="ps-removed">' in words and '<ins class="ps-added">' in words
    words_of_one = shown(compare(run="R005", vs="R004", q="Q78"))
    assert "R004 says 45 seconds; R005 says 54 seconds." in words_of_one
    assert '<del class="ps-removed-number">45</del>' in words_of_one
    assert '<ins class="ps-added-number">54</ins>' in words_of_one
    assert "(PDF 73)" in words and "(PDF 62)" in words
    rows = grids(app)["Candidates"]["rows"]
    ranks = [[cell["text"] for cell in row["cells"][:3]] for row in rows]
    assert ranks[:2] == [["7", "1", "↑6"], ["1", "2", "↓1"]]
    assert ranks[-1][1:] == ["–", "gone"]
    assert rows[1]["cells"][3]["text"] == "gold · cited in R004"
    there, here = (link.proto for link in app.main.get("page_link") if "Question page" in link.proto.label)
    assert asked(f"?{there.query_string}").filter == Filter("R004")
    assert (asked(f"?{here.query_string}").vs, asked(f"?{here.query_string}").filter.flip) == (
        "R004",
        "regressed",
    )
    assert "2 of 2 regressed" in words and app.button("step-J").disabled
    app.button("step-K").click().run()
    assert app.query_params["q"] != "Q97"
    assert "1 of 2 regressed" in shown(app)


def test_a_citation_and_a_chunk_of_the_address_are_shown_on_both_sides(compare: Compare) -> None:
    words = shown(compare(run="R006", vs="R004", q="Q97", chunk="gold:1"))
    assert words.count("gold Meridian") + words.count("gold ") >= 2
    assert words.count("(PDF 73)") >= 2


def test_a_citation_of_a_text_names_lines_and_no_page(compare: Compare) -> None:
    words = shown(compare(run="R006", vs="R004", q="Q85"))
    assert "line 17 · bulletin-07" in words
    assert "PDF page" not in words


def test_a_question_that_one_run_does_not_hold_says_so(compare: Compare) -> None:
    words = shown(compare(run="R005", vs="R004", q="Q98"))
    assert "R005 does not hold this question." in words
    assert "not among the 4 flipped" in words


def second_run(folder: Path, traces: list[dict[str, Any]]) -> dict[str, Any]:
    """A second run beside R1."""
    (folder / "second.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in traces))
    return {"run_id": "R2", "traces": {"path": "second.jsonl"}}


def two_runs(make_workspace: MakeWorkspace, traces: list[dict[str, Any]]) -> Path:
    first = {"run_id": "R1", "traces": {"path": "trace.jsonl"}}
    folder = make_workspace(runs=[first, {"run_id": "R2", "traces": {"path": "second.jsonl"}}])
    second_run(folder, traces)
    return folder


def test_without_gold_questions_the_labels_decide(make_workspace: MakeWorkspace, open_app: Open) -> None:
    better = trace("Q2", "Which oil grade is used?", "Use grade 5W-30. citations: [c1]")
    folder = two_runs(make_workspace, [TRACES[0], better, TRACES[2]])
    app = unfold(open_app(folder, page=PAGE, run="R2"))
    assert not app.exception
    assert (app.query_params["vs"], app.query_params["outcome"]) == ("R1", "answered_ok")
    words = shown(app)
    assert (
        "1 fixed, none regressed of 3 by answers that do not fail: p = 1, not statistically significant."
        in words
    )
    assert "3 questions cannot be enough." in words
    assert set(grids(app)) >= {"Labels", "Metrics"} and "Buckets" not in grids(app)
    words = shown(open_app(folder, page=PAGE, run="R2", outcome="section_match_at_1"))
    assert "Nothing can be judged by SectionMatch@1: the workspace names no gold questions." in words


def test_a_run_without_questions_and_one_alone_are_no_end(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(two_runs(make_workspace, []), page=PAGE, run="R2")
    assert not app.exception
    assert "R2 has no question." in shown(app)


def test_one_run_alone_says_what_is_missing(small: Path, open_shared: Open) -> None:
    app = open_shared(small, page=PAGE)
    assert not app.exception
    assert "There is only one run." in shown(app)


def test_a_run_that_is_being_indexed_is_waited_for(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = two_runs(make_workspace, TRACES)
    build_index(load_manifest(folder), runs=["R2"], cache_dir=tmp_path / "cache")
    monkeypatch.setattr(session, "others_are_indexed", lambda opened: True)
    app = open_app(folder, page=PAGE, indexed=False, run="R2")
    assert "R1 is not indexed yet. It is being read; the comparison appears by itself." in shown(app)
    build_index(load_manifest(folder), runs=["R1"], cache_dir=tmp_path / "cache")
    assert "No flip among 3 questions" in shown(app.run())


def test_hostile_questions_stay_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    q = "<img src=x onerror=alert(1)> ![x](http://e.example/x) \u202e"
    was, now = (
        trace("<b>1</b>", q, f"{tag} Change the oil every 15,000 km.{end}")
        for tag, end in (("<i>", " citations: [c1]"), ("<u>", ""))
    )
    first = {"run_id": "R1", "traces": {"path": "trace.jsonl"}}
    folder = make_workspace([was], runs=[first, {"run_id": "R2", "traces": {"path": "second.jsonl"}}])
    second_run(folder, [now])
    app = open_app(folder, page=PAGE, run="R2", q="<b>1</b>")
    assert not app.exception
    words = shown(app)
    assert "<img" not in words and "<b>" not in words and "<i>" not in words
    assert "\u202e" not in words
