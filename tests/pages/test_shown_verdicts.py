"""While the claims of a run are being checked, the answers that Triage shows are checked first."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.services.checking import check_runs
from proofspan.services.workspace.index_job import IndexJob
from proofspan.ui.status import background
from proofspan.ui.visit import session
from tests.pages.conftest import MakeWorkspace, Open, shown, table

STEP = '{"event": "checking", "run_id": "R1", "done": 0, "total": 3, "rows": 0}'


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexJob]:
    """A job that has the claims of a whole run before it."""
    job = IndexJob([sys.executable, "-c", f"import time; print('''{STEP}''', flush=True); time.sleep(60)"])
    monkeypatch.setattr(session, "locating", lambda opened, store: job)
    yield job
    job._process.kill()
    job.wait(10)


def when_done(app: AppTest) -> AppTest:
    """Return the page as it runs again after its background tasks."""
    while background.tasks()._tasks:
        time.sleep(0.005)
    return app.run()


def test_the_rows_shown_get_their_verdicts_first(
    open_app: Open, make_workspace: MakeWorkspace, checking: IndexJob, tmp_path: Path
) -> None:
    folder = make_workspace()
    app = when_done(open_app(folder))
    assert "Claims: being checked" in shown(app)
    judged = {row["question"]: (row["verdict"], row["cause"], row["answer"]) for row in table(app)}
    list(check_runs(load_manifest(folder), ["R1"], cache_dir=tmp_path / "cache"))
    app = open_app(folder)
    assert "Claims: being checked" not in shown(app)
    assert judged == {row["question"]: (row["verdict"], row["cause"], row["answer"]) for row in table(app)}
    assert len({verdict for verdict, _, _ in judged.values()}) > 1
