"""Health: the verdict, the numbers that open their lists, what to fix first, and a badge on every page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.errors import Problem, StoreFault
from proofspan.manifest.load import load_manifest
from proofspan.services.chunk_ids import audit_workspace
from proofspan.services.health.failure_modes import FailureCounts, failure_counts
from proofspan.services.health.rule_counts import HealthTable, health_table
from proofspan.store.index.build import build_index, index_folder, index_state
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from proofspan.ui.health import load
from proofspan.ui.status import background, notices
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import (
    TRACES,
    MakeWorkspace,
    Open,
    grids,
    keys,
    shown,
    tables,
    trace,
    unfold,
    write_small,
)
from tests.unit.store_workspace import ENVELOPE

pytestmark = pytest.mark.slow

PAGE = "pages/health.py"
PINNED = {"index_hash": "bm25:1", "analyzer": "lower"}
PAYLOAD = {"snippet_id": "c1", "section_id": "5.1", "doc_id": "manual"}
#: A payload with all that the contract asks for, and an answer that cites it: they break no rule.
WHOLE = {
    **PAYLOAD,
    **PINNED,
    "source_url": "https://example.org/manual",
    "offsets": {"start": 0, "end": 30, "unit": "char"},
    "tokens": 8,
    "embed_model": "none",
    "rev": "3b91f2a",
    "score_raw": 0.8,
    "k_pos": 1,
}
CITED = "Change the oil every 15,000 km. citations: [c1]"


def good(q_id: str, **more: Any) -> dict[str, Any]:
    return trace(q_id, "How often is the oil changed?", CITED, **{**ENVELOPE, "citations": [WHOLE], **more})


def rows(app: AppTest, name: str = "Findings by code") -> dict[str, list[dict[str, Any]]]:
    """The cells of each row of a table, by the row's header."""
    return {row["head"]["text"]: row["cells"] for row in grids(app)[name]["rows"]}


def badge(app: AppTest) -> tuple[str, str]:
    """The sidebar's link to Health and what its badge counts."""
    (link,) = (link for link in app.sidebar.get("page_link") if link.proto.label.startswith("Health"))
    return link.proto.label, str(link.proto.help).replace("\\", "")


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """R1 breaks nothing; R2 cites with a payload of three fields, once only in a variant, and pins another
    analyzer than it logs."""
    runs = [
        {"run_id": name, "traces": {"path": f"{name}.jsonl"}, "pinned": PINNED, "ts": f"2026-01-0{day}"}
        for day, name in enumerate(("R1", "R2"), start=1)
    ]
    folder = write_small(tmp_path_factory.mktemp("two") / "workspace", None, runs=runs)
    clean = [good("Q1", analyzer="lower"), good("Q2", analyzer="lower")]
    bad = good("Q1", citations=[PAYLOAD], analyzer="upper")
    tied = good("Q1", paraphrase=1, analyzer="lower") | {"chunks": [{"id": "c1", "rev": ""}]}
    for name, traces in (("R1", clean), ("R2", [bad, clean[1], tied])):
        (folder / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in traces))
    return folder


def test_every_number_opens_a_list_of_as_many(
    two_runs: Path, open_shared: Open, built: Callable[[Path], Path]
) -> None:
    app = unfold(open_shared(two_runs, page=PAGE), "codes", "single-fields")
    assert not app.exception
    store = Store(load_manifest(two_runs), built(two_runs))
    checked = 0
    for cells in (*rows(app).values(), *rows(app, "Single fields").values()):
        for cell in cells:
            if "href" in cell:
                asked = ViewState.parse(parse_qs(urlsplit(cell["href"]).query)).filter
                reported = cell["note"].split()[0] if "note" in cell else cell["text"]
                assert store.matching(asked) == int(reported), cell
                checked += 1
    assert checked > 8


def test_what_is_new_in_a_run_is_called_so(two_runs: Path, open_shared: Open) -> None:
    app = unfold(open_shared(two_runs, page=PAGE), "codes")
    clean, broken = rows(app)["Analyzer differs"]
    assert (clean["text"], broken["text"]) == ("–", "1")
    heads = {row["head"]["text"]: row["head"] for row in grids(app)["Findings by code"]["rows"]}
    assert heads["Analyzer differs"]["note"] == "new in R2"
    assert broken["spoken"].startswith("R2, analyzer differs: 1 of 2 questions, 50 % (9–91 %)")
    assert "Index and query configuration" in rows(app)
    earlier = unfold(open_shared(two_runs, page=PAGE, run="R1"), "codes")
    assert [cell.get("text", "") for cell in rows(earlier)["Analyzer differs"]] == ["–", "1"]


def test_many_missing_fields_are_one_row_with_the_single_ones_below(
    two_runs: Path, open_shared: Open
) -> None:
    app = unfold(open_shared(two_runs, page=PAGE), "codes", "single-fields")
    (folded,) = (name for name in rows(app) if name.endswith("fields missing"))
    single = [name for name in rows(app, "Single fields") if name.endswith(" missing")]
    assert folded == f"{len(single)} fields missing"
    assert "source_url missing" in single


def test_the_verdict_and_the_cards_name_what_is_wrong(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, page=PAGE)
    text = html.unescape(shown(app))
    stated = re.search(r": (\d+) errors and (\d+) warnings?; rules broken on 1 of 2 questions\.", text)
    assert str(two_runs) not in text, "no path of this machine is on the page"
    order = [key for key in keys(app) if key == "gate" or key.startswith(("fixes-", "fold-"))]
    assert order[0] == "gate" and order[1].startswith("fixes-")
    found = unfold(app, "fixes")
    listed = [row["head"]["tip"] for each in tables_of(found, "What to fix") for row in each]
    assert "analyzer_mismatch" in listed and len(listed) == len(set(listed)), "each is said once"
    assert stated and sum(map(int, stated.groups())) == len(listed), "the sentence counts the rows below it"
    assert "Similar, but off topic" in html.unescape(shown(unfold(app, "modes")))


def tables_of(app: AppTest, name: str) -> list[list[dict[str, Any]]]:
    """The rows of all tables of that name."""
    found = [each for each in tables(app) if each["table"] == name]
    return [[{"head": row["cells"]["finding"]} for row in each["rows"]] for each in found]


def test_a_run_without_a_finding_says_what_was_looked_at(two_runs: Path, open_shared: Open) -> None:
    app = open_shared(two_runs, page=PAGE, run="R1")
    text = html.unescape(shown(app))
    assert "R1: 1 warning." in text and "✓" not in text
    assert [len(each) for each in tables_of(app, "What to fix")] == [1]
    assert "None of the seven typical failures shows in R1." in html.unescape(shown(unfold(app, "modes")))


def test_a_workspace_without_any_finding_has_no_table(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = unfold(open_app(make_workspace([good("Q1")]), page=PAGE), "codes")
    assert "Findings by code" not in grids(app)
    assert "No data-quality issues found. Every trace of 1 run" in shown(app)


def test_the_badge_has_the_number_of_problems_that_health_showed_last(two_runs: Path, open_app: Open) -> None:
    assert badge(open_app(two_runs, run="R2"))[0] == "Health"
    open_app(two_runs, page=PAGE, run="R2")
    assert re.fullmatch(r"Health :red-badge\[\d+]", badge(open_app(two_runs, run="R2"))[0])
    assert badge(open_app(two_runs, run="R1"))[0] == "Health"


def test_a_metrics_pack_that_differs_counts_as_a_problem(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    run = {"run_id": "R1", "traces": {"path": "trace.jsonl"}, "metrics": {"path": "m.json"}}
    folder = make_workspace([good("Q1")], runs=[run])
    (folder / "m.json").write_text(json.dumps({"recall@50": 0.5}))
    app = open_app(folder, page=PAGE)
    assert "Metrics pack differs" in rows(app, "What to fix")
    assert badge(open_app(folder))[0] == "Health :red-badge[1]"


def test_written_and_read_are_side_by_side(two_runs: Path, open_shared: Open) -> None:
    app = unfold(open_shared(two_runs, page=PAGE), "parity")
    cells = rows(app, "Index and query configuration")["Analyzer"]
    assert [cell["text"] for cell in cells] == ["✗ differs", "lower", "lower × 2; upper × 1", "1"]


def test_chunk_ids_are_audited_and_documents_only_where_asked(small: Path, open_shared: Open) -> None:
    app = unfold(open_shared(small, page=PAGE), "ids")
    audits = rows(app, "Audits of the chunk file")
    assert audits["Is every id unique?"][0]["text"] == "✓ passes"
    assert "Can revisions be computed again?" not in audits
    (button,) = (button for button in app.main.button if button.key == "audit-documents")
    button.click().run()
    assert "Can revisions be computed again?" in rows(app, "Audits of the chunk file")
    assert not [button for button in app.main.button if button.key == "audit-documents"]


def test_an_audit_that_fails_is_in_the_verdict_and_counts(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([good("Q1")])
    chunks = folder / "chunks.jsonl"
    chunks.write_bytes(chunks.read_bytes() * 2)
    app = open_app(folder, page=PAGE)
    assert "1 failed audit of chunk ids." in shown(app)
    assert badge(open_app(folder)) == ("Health :red-badge[1]", "1 problem when Health was last opened")


def test_failures_are_counted_once_however_long_audits_take(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"doc_id": "manual", "offsets": {"start": 900, "end": 928, "unit": "char"}}
    spans = [{**place, "quote": "Check the brakes every year."}]
    gold = {"q_id": "Q1", "q": "How often is the oil changed?", "spans": spans}
    folder = make_workspace([good("Q1")], gold={"path": "gold.jsonl"})
    (folder / "gold.jsonl").write_bytes(orjson.dumps(gold))
    may_end, counted = Event(), []

    def late(*args: Any, **options: Any) -> tuple[Audit, ...]:
        may_end.wait(30)
        return audit_workspace(*args, **options)

    def count(*args: Any) -> FailureCounts:
        counted.append(args)
        return failure_counts(*args)

    monkeypatch.setattr(load, "audit_workspace", late)
    monkeypatch.setattr(load, "failure_counts", count)
    monkeypatch.setattr(background, "PATIENCE_S", 0.0)
    app = unfold(open_app(folder, page=PAGE), "ids", "modes")
    assert "Auditing the chunk file" in shown(app)
    monkeypatch.setattr(background, "PATIENCE_S", 60.0)
    may_end.set()
    assert "the citation misses the passage" in shown(app.run())
    assert len(counted) == 1


def test_the_index_is_read_before_anything_runs_in_the_background(
    two_runs: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def ask(*args: Any, **options: Any) -> Any:
        order.append("background")
        return ask_now(*args, **options)

    def table(*args: Any) -> HealthTable:
        order.append("index")
        return health_table(*args)

    ask_now = background.ask
    monkeypatch.setattr(background, "ask", ask)
    monkeypatch.setattr(load, "health_table", table)
    open_app(two_runs, page=PAGE)
    assert order[0] == "index"
    assert order.count("index") == 1


def test_files_are_shown_where_the_index_fails(
    two_runs: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> HealthTable:
        raise StoreFault.of("query_failed", "the query took too long", fix="try again")

    monkeypatch.setattr(load, "health_table", fail)
    app = open_app(two_runs, page=PAGE)
    assert app.exception  # the frame, which an AppTest leaves out, shows a panel instead
    app.session_state["fold-ids"] = True
    app.run()
    assert "Audits of the chunk file" in grids(app)


def test_without_runs_files_and_chunk_ids_are_shown_nevertheless(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = unfold(open_app(make_workspace(None, runs=[]), page=PAGE, indexed=False), "ids")
    assert not app.exception
    assert "This workspace lists no run yet" in shown(app)
    assert list(grids(app)) == ["Audits of the chunk file"]


def test_hostile_names_stay_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    name = "<img src=x>:red[R]"
    run = {"run_id": name, "title": "<b>t</b>", "traces": {"path": "trace.jsonl"}}
    answer = trace("Q1", "How?", "It is so.", rev="<script>", citations=[{"<b>": 1, "snippet_id": "<i>"}])
    app = unfold(open_app(make_workspace([answer], runs=[run]), page=PAGE))
    assert not app.exception
    assert "<img" not in shown(app)
    assert "<script>" not in shown(app)
    heads = [column["text"] for column in grids(app)["Findings by code"]["columns"]]
    assert heads[0] == name


@pytest.mark.parametrize("run", ["R1", "R2"])
def test_a_damaged_index_is_built_again_and_costs_no_other_run_its_page(
    two_runs: Path, open_app: Open, tmp_path: Path, run: str
) -> None:
    manifest, cache = load_manifest(two_runs), tmp_path / "cache"
    build_index(manifest, cache_dir=cache)
    for segment in index_folder(manifest, "R2", cache).glob("*.parquet"):
        segment.write_bytes(segment.read_bytes()[:99])
    drawn: list[Problem] = []
    with pytest.MonkeyPatch.context() as patch:  # where the page runs again at once, it is built by then
        panel = notices.fault_panel
        patch.setattr(notices, "fault_panel", lambda problems: (drawn.extend(problems), panel(problems)))
        app = open_app(two_runs, indexed=False, page=PAGE, run=run)
    assert not app.exception
    assert [(each.code, "'R2'" in each.message) for each in drawn] == [("index_damaged", True)]
    assert "run &#x27;R1&#x27;" not in shown(app)
    if run == "R1":
        assert "R1: 1 warning." in shown(app)
        app.query_params["run"] = "R2"
        app.run()
    job_is_done(app)
    assert index_state(manifest, "R2", cache) == "fresh"
    assert "are missing or damaged" not in shown(app)
    assert re.search(r"R2: \d+ errors", shown(app))


def job_is_done(app: AppTest) -> None:
    """Run the script again until the index is built, as the progress bar does."""
    for _ in range(60):
        app.run()
        if not app.main.get("progress"):
            return
    raise AssertionError("the index is not built")


def test_filters_of_the_address_do_not_narrow_the_table(two_runs: Path, open_shared: Open) -> None:
    app = unfold(open_shared(two_runs, page=PAGE, run="R2", label="ok", text="nothing"), "codes")
    assert rows(app)["Analyzer differs"][1]["text"] == "1"
    href = rows(app)["Analyzer differs"][1]["href"]
    asked = ViewState.parse(parse_qs(urlsplit(href).query)).filter
    assert asked == Filter("R2", code=("analyzer_mismatch",))


def test_traces_as_usual_are_judged_by_rules_that_they_break(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = unfold(open_app(make_workspace(TRACES), page=PAGE), "codes")
    assert rows(app)["No citations"][0]["text"] == "1"
