"""While a run's claims are checked and its citations located, the answers that Triage shows come first."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import check_runs
from proofspan.services.passes.locating import place_runs
from proofspan.services.workspace.index_job import IndexJob
from proofspan.ui.status import background
from proofspan.ui.visit import session
from tests.pages.conftest import Open, shown, strip, table
from tests.places import HANDBOOK

STEP = '{"event": "checking", "run_id": "R002", "done": 0, "total": 3, "rows": 0}'


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexJob]:
    """A job that has the whole run before it."""
    job = IndexJob([sys.executable, "-c", f"import time; print('''{STEP}''', flush=True); time.sleep(60)"])
    monkeypatch.setattr(session, "locating", lambda opened, store: job)
    yield job
    job._process.kill()
    job.wait(10)


def cells(app: AppTest) -> dict[str, tuple[str, ...]]:
    """Return the cells that claims and citations fill, by question."""
    names = ("verdict", "cause", "answer", "cited", "issues")
    return {row["question"]: tuple(row.get(name, "") for name in names) for row in table(app)}


def test_the_rows_shown_are_as_they_will_be_once_the_run_is_done(
    open_app: Open, checking: IndexJob, tmp_path: Path, pdf_pool: PdfPool
) -> None:
    view: dict[str, Any] = {"run": "R002", "columns": ["issues", "cited"]}
    app = open_app(**view)
    while background.tasks()._tasks:
        time.sleep(0.005)
    app.run()
    assert "Claims: being checked" in shown(app)
    first = cells(app)
    counts = Counter(verdict for verdict, *_ in first.values())
    counted_above = {group: int(re.findall(r"\d+", words)[0]) for group, words in strip(app).items()}
    assert sum(counted_above.values()) == len(first) == sum(counts.values())
    assert counted_above["correct"] == counts["✓ Correct"]
    manifest, cache = load_manifest(HANDBOOK), tmp_path / "cache"
    list(check_runs(manifest, ["R002"], cache_dir=cache))
    list(place_runs(manifest, ["R002"], cache_dir=cache, pool=pdf_pool, workers=1))
    app = open_app(**view)
    assert "being checked" not in shown(app)
    assert first == cells(app)
    assert len({verdict for verdict, *_ in first.values()}) > 1
    assert any(issues for *_, issues in first.values())
