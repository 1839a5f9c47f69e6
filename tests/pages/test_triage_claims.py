"""Verdicts and claims on Triage: order, strip, filters, columns, and what is shown before they are made."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import check_runs
from proofspan.services.workspace.index_job import IndexJob
from proofspan.store.index.build import build_index
from proofspan.ui.status.documents import placer
from proofspan.ui.triage import filters
from proofspan.ui.visit import session
from tests.pages.conftest import TRACES, MakeWorkspace, Open, grids, menu, shown, strip, table, tables, trace
from tests.pages.manual import PAGED
from tests.span_pages import lines, write

pytestmark = pytest.mark.slow

OIL, GRADE, FUSE = (
    "How often is the oil changed?",
    "Which oil grade is used?",
    "Which fuse protects the lamps?",
)
WRONG = trace("Q4", "When is the oil changed?", "Change the oil every 25,000 km. citations: [c1]")
HOSTILE = '<img src=x onerror=alert(1)> ![a](http://canary/x.png) **b** "\u202e'


@pytest.fixture
def make_checked(make_workspace: MakeWorkspace, tmp_path: Path) -> MakeWorkspace:
    """Make a workspace whose claims are checked."""

    def make(*args: Any, gold: list[dict[str, Any]] | None = None, **manifest: Any) -> Path:
        if gold is not None:
            manifest["gold"] = {"path": "gold.jsonl"}
        folder = make_workspace(*args, **manifest)
        if gold is not None:
            write_lines(folder / "gold.jsonl", gold)
        check(folder, tmp_path / "cache")
        return folder

    return make


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records))


def check(folder: Path, cache: Path) -> None:
    """Index the runs of a workspace and check their claims."""
    loaded = load_manifest(folder)
    build_index(loaded, cache_dir=cache)
    list(check_runs(loaded, [run.run_id for run in loaded.runs], cache_dir=cache))


@pytest.fixture
def checked(make_checked: MakeWorkspace) -> Path:
    """A run with a right answer, one that contradicts its evidence and one that declines rightly."""
    gold = [
        {"q_id": "Q1", "q": OIL, "answer": "Every 15,000 km."},
        {"q_id": "Q3", "q": FUSE, "answerable": False},
        {"q_id": "Q4", "q": WRONG["q"], "answer": "Every 15,000 km."},
    ]
    return make_checked([TRACES[0], TRACES[2], WRONG], gold=gold)


def questions(app: AppTest) -> list[str]:
    return [row["question"] for row in table(app)]


def test_a_run_that_is_not_checked_says_so_and_is_listed_by_label(
    open_app: Open, make_workspace: MakeWorkspace
) -> None:
    folder = make_workspace()
    app = open_app(folder)
    assert "sorted by label until the claims are checked" in shown(app)
    assert "Claims: not checked yet." in shown(app)
    assert f"proofspan index {folder}" in shown(app)
    assert [row["label"] for row in table(app)] == ["generation_drift", "refusal_suspect", "ok"]
    assert all("verdict" not in row for row in table(app))
    for asked in ({"contradictions": "no"}, {"cause": "none"}, {"correct": "wrong"}, {"grounded": "yes"}):
        app = open_app(folder, **asked)
        assert "Nothing matches the filter on claims until they are checked." in shown(app)
        assert table(app) == []
        app.button("show-all").click().run()
        assert len(table(app)) == 3


def test_each_cause_names_the_printed_page_of_its_own_document(
    open_app: Open, make_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    """Two PDFs with numbers of their own; an answer that cites one may lack a passage of the other."""
    documents = [{"doc_id": name, "path": f"{name}.pdf"} for name in ("manual", "bulletin")]
    traces = [WRONG, trace("Q5", "What does the bulletin change?", "Use grade 5W-30. citations: [c1]")]
    folder = make_workspace(traces, documents=documents, gold={"path": "gold.jsonl"})
    write_lines(folder / "chunks.jsonl", PAGED)
    span = {"doc_id": "bulletin", "page_idx": 1, "quote": "The tyres are changed every 40,000 km."}
    write_lines(
        folder / "gold.jsonl",
        [{"q_id": "Q5", "q": traces[1]["q"], "answer": "The tyres, every 40,000 km.", "spans": [span]}],
    )
    for place, name in enumerate(("manual", "bulletin"), start=1):
        numbers = [{"startpage": 0, "prefix": "", "style": "D", "firstpagenum": 100 * place}]
        write(folder / f"{name}.pdf", lines("One."), lines("Two."), labels=numbers)
    check(folder, tmp_path / "cache")
    app = open_app(folder)
    assert not app.exception
    for name in ("manual", "bulletin"):  # opened meanwhile in the background
        placer().document(folder / f"{name}.pdf")
    causes = {row["question"]: row["cause"] for row in table(app.run())}
    assert "(p. 100, PDF 1)" in causes[WRONG["q"]]
    assert "p. 201 (PDF 2)" in causes[traces[1]["q"]]
    assert not app.exception
    for q_id, place in (("Q4", "(p. 100, PDF 1)"), ("Q5", "p. 201 (PDF 2)")):
        app = open_app(folder, page="pages/walkthrough.py", q=q_id)
        assert not app.exception
        assert place in shown(app), q_id


def test_the_most_harmful_comes_first_with_its_cause_and_what_is_expected(
    open_app: Open, checked: Path
) -> None:
    app = open_app(checked)
    assert "3 of 3 questions · most harmful first" in shown(app)
    assert [row["verdict"] for row in table(app)] == ["✕ Contradicted", "✓ Correct", "✓ Refused"]
    first = table(app)[0]
    assert (first["question"], first["expected"]) == (WRONG["q"], "Every 15,000 km.")
    assert first["answer"] == "Change the oil every 25,000 km."
    assert "25,000 km" in first["cause"] and "15,000 km" in first["cause"]
    (grid,) = (each for each in tables(app) if each["table"] == "Questions of this run")
    (marks,) = [row["cells"]["answer"]["marks"] for row in grid["rows"] if "marks" in row["cells"]["answer"]]
    assert [first["answer"][start:end] for start, end in marks] == ["25,000 km"]
    assert [column["name"] for column in grid["columns"]] == [
        *("verdict", "cause", "question", "answer", "expected", "section")
    ]


def test_sorting_by_label_stays_available(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    app.session_state["more-filters"] = True
    app.run().selectbox("order").select("label").run()
    assert app.query_params["sort"] == "label"
    assert "worst label first" in shown(app)
    assert questions(app)[0] == FUSE


def test_the_strip_counts_causes_and_keeps_one_of_them(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    assert strip(app) == {
        "contradicted": "Contradicts its evidence 1",
        "declined": "Correct refusal 1",
        "correct": "Correct 1",
    }
    assert 'class="ps-part-contradicted" style="flex-grow: 1"' in shown(app)
    app.button("group-correct").click().run()
    assert dict(app.query_params) | {"cause": "none", "correct": "correct"} == dict(app.query_params)
    assert questions(app) == [OIL]
    assert strip(app)["correct"].startswith("*✓*")
    app.button("group-contradicted").click().run()
    assert app.query_params["cause"] == "contradicted" and "correct" not in app.query_params
    assert questions(app) == [WRONG["q"]]
    assert "1 of 3 questions: cause: Contradicts its evidence · most harmful first" in shown(app)
    app.button("group-contradicted").click().run()
    assert not app.query_params.keys() & {"cause", "correct"}
    assert len(table(app)) == 3


def test_a_cause_can_be_chosen_among_others_in_the_bar(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    causes = menu(app, "cause")
    assert causes.options == ["No failure found · 2", "Contradicts its evidence · 1"]
    causes.set_value(["none", "contradicted"]).run()
    assert app.query_params["cause"] == ["none", "contradicted"]
    assert len(table(app)) == 3
    assert strip(app)["contradicted"].startswith("*✓*")
    assert menu(app, "cause").value == ["none", "contradicted"], "its menu stays open"


def test_every_filter_is_in_the_bar_or_in_the_menu(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    app.session_state["more-filters"] = True
    app.run()
    menu(app, "section")
    for name in ("cause", "evidence"):
        app.session_state[f"facet-{name}"] = True
    app.run()
    widgets = [*app.multiselect, *app.selectbox, *app.button_group]
    found = {str(each.key).partition(":")[0].removeprefix("filter-") for each in widgets}
    assert found >= {"cause", "section", "label", "correct", "grounded", "gold", "claim", "order"}
    assert found >= {"unsupported", "contradictions", "support"}
    assert menu(app, "label").options == ["Possible over-refusal · 1", "Grounded · 2"]
    menu(app, "claim").set_value(["supported"]).run()
    assert questions(app) == [OIL]
    assert app.query_params["claim"] == "supported"
    assert "claims: Supported" in shown(app)


def test_labels_claims_and_rules_are_columns_that_can_be_chosen(open_app: Open, checked: Path) -> None:
    app = open_app(checked, columns=["label", "support"])
    rows = {row["question"]: (row["label"], row["support"]) for row in table(app)}
    assert rows[OIL] == ("ok", "1.00")
    assert rows[FUSE] == ("refusal_suspect", "–")
    app.session_state["columns-menu"] = True
    app.run().checkbox("column-contradictions").check().run()
    assert app.query_params["columns"] == ["label", "support", "contradictions"]
    assert table(app)[0]["contradictions"] == "1"


def test_an_address_filters_and_sorts_by_claims(open_app: Open, checked: Path) -> None:
    assert questions(open_app(checked, support="0.9-1")) == [OIL]
    app = open_app(checked, sort="support")
    assert questions(app)[:2] == [WRONG["q"], OIL]
    assert "weakest support first" in shown(app)
    app = open_app(checked, support="2-1")
    assert "support &quot;2-1&quot; is not two numbers from 0 to 1" in shown(app)
    assert len(table(app)) == 3


def test_the_menu_offers_ranges_of_support(
    open_app: Open, checked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "SUPPORTS", ("0-0.5", "0.9-1"))
    app = open_app(checked, support="0.2-1", contradictions="no")
    app.session_state["more-filters"] = True
    app = app.run()
    assert app.selectbox("filter-support").options == ["at most 0.50", "at least 0.90", "at least 0.20"]
    assert app.selectbox("filter-contradictions").options == ["some claims differ", "no claim differs"]
    app = app.selectbox("filter-support").select("0.9-1").run()
    assert app.query_params["support"] == "0.9-1"


def test_where_it_fails_is_by_cause(open_app: Open, checked: Path) -> None:
    assert "1 of 3 questions" in shown(open_app(checked))
    app = open_app(checked, fails="yes")
    assert questions(app) == [WRONG["q"]], "a label would say that a refusal fails, and no wrong number"


def test_the_next_step_is_that_of_the_first_causes(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    assert "Contradicts its evidence 1" in shown(app)
    assert "copy figures and conditions" in shown(app)


def test_another_run_shows_which_causes_there_are_more_of(
    open_app: Open, make_checked: MakeWorkspace
) -> None:
    runs = [{"run_id": f"R{n}", "traces": {"path": f"R{n}.jsonl"}} for n in (1, 2)]
    folder = make_checked(None, runs=[])
    better = {**WRONG, "answer": TRACES[0]["answer"]}
    for run, traces in (("R1", [better, TRACES[2]]), ("R2", [WRONG, TRACES[2]])):
        (folder / f"{run}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in traces))
    manifest = folder / "pipeline_manifest.yaml"
    manifest.write_text(manifest.read_text().replace("runs: []", f"runs: {json.dumps(runs)}"))
    loaded = load_manifest(folder)
    cache = folder.parent / "cache"
    build_index(loaded, cache_dir=cache)
    list(check_runs(loaded, ["R1", "R2"], cache_dir=cache))
    app = open_app(folder, run="R2", vs="R1")
    assert strip(app)["contradicted"] == "Contradicts its evidence 1 (+1)"
    assert table(app)[0]["was"] == "was ? Not known"
    app = open_app(folder, run="R2", vs="R1", was_cause="none", cause="contradicted")
    assert questions(app) == [WRONG["q"]]
    chip = next(button for button in app.button if button.key == "chip-was_cause")
    assert "was No failure found in R1" in chip.label.replace("\\", "")


def test_that_a_run_cites_nothing_is_shown_once_and_not_in_every_row(
    open_app: Open, make_checked: MakeWorkspace
) -> None:
    answers = ("Change the oil every 15,000 km.", "Change the oil every 25,000 km.", "Use grade 5W-30.")
    traces = [trace(f"Q{n}", f"{OIL} {n}", answer) for n, answer in enumerate(answers, start=1)]
    gold = [{"q_id": f"Q{n}", "q": OIL, "answer": answer} for n, answer in enumerate(answers, start=1)]
    app = open_app(make_checked(traces, gold=gold), columns="issues")
    assert shown(app).count("No answer of this run follows the template") == 1
    assert [row["verdict"] for row in table(app)] == ["✕ Contradicted", "✓ Correct", "✓ Correct"]
    for row in table(app):
        assert "template" not in row["cause"].lower()
        assert "issues" not in row, "a column without a value is left out"


def test_hostile_text_in_a_cause_is_text(open_app: Open, make_checked: MakeWorkspace, tmp_path: Path) -> None:
    answer = f"{HOSTILE} Change the oil every 25,000 km. citations: [c1]"
    folder = make_checked(
        [trace("Q1", HOSTILE, answer)], gold=[{"q_id": "Q1", "q": HOSTILE, "answer": HOSTILE}]
    )
    (part,) = (tmp_path / "cache").rglob("claims/*.arrow")
    table_of = ipc.open_file(str(part)).read_all()
    hostile = pa.array([HOSTILE] * len(table_of))
    place = table_of.schema.get_field_index("cause_sentence")
    changed = table_of.set_column(place, "cause_sentence", hostile)
    with ipc.new_file(str(part), changed.schema) as file:
        file.write_table(changed)
    app = open_app(folder)
    assert not app.exception
    (row,) = table(app)
    shown_text = HOSTILE.replace("\u202e", "\ufffd")
    assert (row["cause"], row["question"], row["expected"]) == (shown_text, shown_text, shown_text)
    assert "<img" not in shown(app)


def test_numbers_of_a_run_are_counted_again_when_its_claims_are_checked(
    open_app: Open, make_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    folder = make_workspace()
    before = grids(open_app(folder, page="pages/trends.py"))
    manifest = load_manifest(folder)
    list(check_runs(manifest, ["R1"], cache_dir=tmp_path / "cache"))
    after = grids(open_app(folder, page="pages/trends.py"))
    assert before != after


def test_how_far_the_check_is_can_be_seen(
    open_app: Open, make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = '{"event": "checking", "run_id": "R1", "done": 3, "total": 10, "rows": 3}'
    job = IndexJob([sys.executable, "-c", f"import time; print('''{step}''', flush=True); time.sleep(60)"])
    try:
        while job.progress is None and job.is_running:
            time.sleep(0.02)
        monkeypatch.setattr(session, "locating", lambda opened, store: job)
        words = shown(open_app(make_workspace()))
        assert "sorted by label until the claims are checked" in words
        assert "Claims: being checked … 30 %" in words
    finally:
        job._process.kill()
        job.wait(10)
