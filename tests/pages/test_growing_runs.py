"""A run that is still being read, or still being written, is shown as far as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.index_job import IndexJob
from proofspan.store.files.types import Progress
from proofspan.store.index import build
from proofspan.store.query.store import Store
from proofspan.ui.visit import session
from tests.pages.conftest import Open, shown, table, trace, write_small

pytestmark = pytest.mark.slow

TRACES = [trace(f"Q{number}", f"Which fuse is number {number}?", "not in context") for number in range(30)]
STEP = '{"event": "progress", "run_id": "R1", "done": 20, "total": 60, "rows": 10}'


@pytest.fixture
def job() -> Iterator[IndexJob]:
    """A job that has read a third of the file and reads on."""
    running = IndexJob(
        [sys.executable, "-c", f"import time; print('''{STEP}''', flush=True); time.sleep(60)"]
    )
    while running.progress is None and running.is_running:
        running.wait(0.05)
    yield running
    running._process.kill()
    running.wait(10)


@pytest.fixture
def index_a_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Path, int], None]:
    """`index_a_part(workspace, rows)`: read at least that number of traces, and stop."""
    monkeypatch.setattr(build, "segment_bytes", lambda size: 500)

    class StoppedError(Exception):
        pass

    def start(workspace: Path, rows: int) -> None:
        def stop(step: Progress) -> None:
            if step.rows >= rows:
                raise StoppedError

        with pytest.raises(StoppedError):
            build.build_index(load_manifest(workspace), cache_dir=tmp_path / "cache", on_progress=stop)

    return start


def test_the_first_part_is_a_list_that_says_so(
    open_app: Open,
    tmp_path: Path,
    job: IndexJob,
    index_a_part: Callable[[Path, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = write_small(tmp_path / "small", TRACES)
    index_a_part(workspace, 12)
    store_of = session.store_of
    monkeypatch.setattr(session, "index", lambda opened: (store_of(opened), job))
    app = open_app(workspace, indexed=False)
    (bar,) = app.main.get("progress")
    first = Store(load_manifest(workspace), tmp_path / "cache").run_facts("R1").traces
    assert f"10 of about 30 traces. What you see, numbers included, are the first {first:,}." in str(
        bar.proto
    )
    assert table(app) and f"{first} of {first} questions" in shown(app)
    assert "read in part" not in shown(app)  # the bar says it
    index_a_part(workspace, 25)
    app.run()
    assert f"{first} of {first} questions" not in shown(app) and "index-more" not in str(app.main)


def test_a_file_that_grows_is_followed_until_it_rests(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = write_small(tmp_path / "small", TRACES[:3])
    app = open_app(workspace)
    assert "is being written" not in shown(app) and "3 of 3 questions" in shown(app)
    with (workspace / "trace.jsonl").open("ab") as file:
        file.write(b"".join(orjson.dumps(each) + b"\n" for each in TRACES[3:5]))
    app.run()
    while app.main.get("progress"):  # the process that reads on has not ended yet
        app.run()
    assert "R1 is being written" in shown(app) and "5 of 5 questions" in shown(app)
    monkeypatch.setattr(session, "_GROWN_S", 0)
    app.run()
    assert "is being written" not in shown(app) and "5 of 5 questions" in shown(app)
