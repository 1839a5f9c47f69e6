"""Citations are located behind the dashboard's back: nobody waits for it, and how far it is can be seen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import check_runs
from proofspan.services.passes.locating import place_runs
from proofspan.services.workspace.index_job import IndexJob, IndexJobs
from proofspan.ui.visit import session
from proofspan.ui.visit.session import locating
from tests.pages.conftest import Open, shown, table
from tests.places import HANDBOOK

pytestmark = pytest.mark.slow

STEP = '{"event": "locating", "run_id": "R002", "done": 3, "total": 10, "rows": 4}'
Started = dict[Hashable, Sequence[str]]


@pytest.fixture
def job() -> Iterator[Callable[[str], IndexJob]]:
    """`job(program)`: a job that runs this Python program, ended with the test."""
    running: list[IndexJob] = []

    def start(program: str) -> IndexJob:
        running.append(IndexJob([sys.executable, "-c", program]))
        return running[-1]

    yield start
    for each in running:
        each._process.kill()
        each.wait(10)


@pytest.fixture
def started(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Started:
    """The jobs that would be started, by key and command; none is."""
    found: Started = {}

    def note(self: IndexJobs, key: Hashable, command: Callable[[], Sequence[str] | None]) -> None:
        if arguments := command():
            found[key] = arguments

    monkeypatch.setattr(session, "locating", locating)
    monkeypatch.setattr(IndexJobs, "ensure", note)
    monkeypatch.setattr(IndexJobs, "once", note)
    return found


def test_the_table_is_there_and_says_how_far_it_is(
    open_app: Open, job: Callable[[str], IndexJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = job(f"import time; print('''{STEP}''', flush=True); time.sleep(60)")
    while at_work.progress is None and at_work.is_running:
        time.sleep(0.02)
    monkeypatch.setattr(session, "locating", lambda opened, store: at_work)
    app = open_app()
    assert table(app)
    assert "Cited text: being located … 30 %" in shown(app)


def test_an_index_that_is_being_built_again_moves_nothing(
    open_app: Open, job: Callable[[str], IndexJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that changes its place is shown twice while the browser replaces the page."""
    place, index = place_of_table(open_app()), session.index
    at_work = job("import time; time.sleep(60)")
    monkeypatch.setattr(session, "index", lambda opened: (index(opened)[0], at_work))
    app = open_app()
    assert app.main.get("progress")
    assert place_of_table(app) == place


def place_of_table(app: AppTest) -> int:
    """Return the place of the Triage table's container among the page's parts."""
    parts = app.main.children.items()
    blocks = {at: str(part.proto) for at, part in parts if part.type.endswith("container")}
    (place,) = (at for at, proto in blocks.items() if "-triage-table" in proto)
    return place


def test_what_went_wrong_is_reported_with_the_command(
    open_app: Open, job: Callable[[str], IndexJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = job("import sys; print('error: no room left'); sys.exit(2)")
    failed.wait(20)
    monkeypatch.setattr(session, "locating", lambda opened, store: failed)
    app = open_app()
    assert table(app)
    assert "Cited text: not located: error: no room left" in shown(app)
    assert f"proofspan index {HANDBOOK}" in shown(app)


def test_the_shown_run_is_located_first_on_one_core(open_app: Open, started: Started, tmp_path: Path) -> None:
    open_app(run="R001")
    commands = [command for key, command in started.items() if "locate" in key]  # type: ignore[operator]
    assert commands
    for command in commands:
        assert command[command.index("--run") + 1 :] == ["R001"]
        assert "--locate" in command and command[command.index("--workers") + 1] == "1"


def test_then_the_others_and_nothing_when_all_are(open_app: Open, started: Started, tmp_path: Path) -> None:
    open_app(run="R001")
    manifest = load_manifest(HANDBOOK)
    with PdfPool(workers=1) as pool:
        cache = tmp_path / "cache"
        checks = check_runs(manifest, ["R001", "R002"], cache_dir=cache)
        runs = place_runs(manifest, ["R001", "R002"], cache_dir=cache, pool=pool, workers=1)
        next(runs)
        started.clear()
        open_app(run="R001")
        assert [command[-2:] for command in started.values()] == [["--run", "R001"]], "claims come too"
        next(checks)
        started.clear()
        open_app(run="R001")
        assert [command[-2:] for command in started.values()] == [["--run", "R002"]]
        next(runs)
        started.clear()
        open_app(run="R001")
        assert [command[-2:] for command in started.values()] == [["--run", "R002"]]
        next(checks)
    started.clear()
    open_app(run="R001")
    assert started == {}
