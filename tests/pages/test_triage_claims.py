"""Claims on Triage: their toggles, columns and filters, and what is shown while they are not checked."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.services.checking import check_runs
from proofspan.services.workspace.index_job import IndexJob
from proofspan.store.index.build import build_index
from proofspan.ui.triage import filters
from proofspan.ui.visit import session
from tests.pages.conftest import MakeWorkspace, Open, grids, shown, table

pytestmark = pytest.mark.slow

NAMES = {"Q1": "How often is the oil changed?", "Q2": "Which oil grade is used?"}


@pytest.fixture
def checked(make_workspace: MakeWorkspace, tmp_path: Path) -> Path:
    """A workspace whose claims are checked."""
    folder = make_workspace()
    manifest = load_manifest(folder)
    build_index(manifest, cache_dir=tmp_path / "cache")
    list(check_runs(manifest, ["R1"], cache_dir=tmp_path / "cache"))
    return folder


def questions(app: AppTest) -> list[str]:
    return [row["question"] for row in table(app)]


def test_a_run_that_is_not_checked_says_so_and_shows_no_numbers(
    open_app: Open, make_workspace: MakeWorkspace
) -> None:
    folder = make_workspace()
    app = open_app(folder)
    assert "Claims: not checked yet." in shown(app)
    assert f"proofspan index {folder}" in shown(app)
    assert all("support" not in row for row in table(app))
    app = open_app(folder, contradictions="no")
    assert "Nothing matches the filter on claims until they are checked." in shown(app)
    assert table(app) == []


def test_a_checked_run_has_support_and_a_toggle_for_each_status(open_app: Open, checked: Path) -> None:
    app = open_app(checked)
    rows = {row["question"]: row["support"] for row in table(app)}
    assert rows[NAMES["Q1"]] == "1.00"
    assert 0 <= float(rows[NAMES["Q2"]]) < 1
    assert rows["Which fuse protects the lamps?"] == "–"
    (supported,) = (button for button in app.button if button.key == "claim-supported")
    assert supported.label == "**1** Supported"
    app = supported.click().run()
    assert questions(app) == [NAMES["Q1"]]
    assert app.query_params["claim"] == "supported"
    assert "claims: Supported" in shown(app)


def test_numbers_of_a_run_are_counted_again_when_its_claims_are_checked(
    open_app: Open, make_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    folder = make_workspace()
    before = grids(open_app(folder, page="pages/trends.py"))
    manifest = load_manifest(folder)
    list(check_runs(manifest, ["R1"], cache_dir=tmp_path / "cache"))
    after = grids(open_app(folder, page="pages/trends.py"))
    assert before != after


def test_an_address_filters_and_sorts_by_claims(open_app: Open, checked: Path) -> None:
    assert questions(open_app(checked, support="0.9-1")) == [NAMES["Q1"]]
    app = open_app(checked, sort="support")
    assert questions(app)[:2] == [NAMES["Q2"], NAMES["Q1"]]
    assert "weakest support first" in shown(app)
    app = open_app(checked, support="2-1")
    assert "support &quot;2-1&quot; is not two numbers from 0 to 1" in shown(app)
    assert len(table(app)) == 3


def test_the_menu_offers_them(open_app: Open, checked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "SUPPORTS", ("0-0.5", "0.9-1"))
    app = open_app(checked, support="0.2-1", contradictions="no")
    app.session_state["more-filters"] = True
    app = app.run()
    (support,) = (box for box in app.selectbox if box.key == "filter-support")
    assert support.options == ["at most 0.50", "at least 0.90", "at least 0.20"]
    (contradictions,) = (box for box in app.selectbox if box.key == "filter-contradictions")
    assert contradictions.options == ["some claims differ", "no claim differs"]
    app = support.select("0.9-1").run()
    assert app.query_params["support"] == "0.9-1"


def test_how_far_the_check_is_can_be_seen(
    open_app: Open, make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = '{"event": "checking", "run_id": "R1", "done": 3, "total": 10, "rows": 3}'
    job = IndexJob([sys.executable, "-c", f"import time; print('''{step}''', flush=True); time.sleep(60)"])
    try:
        while job.progress is None and job.is_running:
            time.sleep(0.02)
        monkeypatch.setattr(session, "locating", lambda opened, store: job)
        assert "Claims: being checked … 30 %" in shown(open_app(make_workspace()))
    finally:
        job._process.kill()
        job.wait(10)
