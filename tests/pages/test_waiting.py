"""A document that hangs or crashes costs its own page: the rest of the question is there at once."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.ui.status import background
from proofspan.ui.visit import session
from tests.hostile.workspaces import write_pdf, write_workspace
from tests.pages.conftest import Open, shown
from tests.pdf_files import form_bomb, text_bomb

pytestmark = pytest.mark.slow

QUESTION = "pages/question.py"
LIMIT_S = 1.0
GAVE_UP = "The document gave no answer within 1 s"
#: A time limit that no test waits for: what is served meanwhile did not wait for the document.
NEVER_S = 600.0


def words(app: AppTest) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown(app)))


def run_until(app: AppTest, holds: Callable[[AppTest], bool]) -> AppTest:
    """Runs the page again, as its placeholder does, until something holds."""
    deadline = time.monotonic() + 60
    while not holds(app):
        assert time.monotonic() < deadline, words(app)
        time.sleep(0.1)
        app.run()
        assert not app.exception
    return app


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[PdfPool]:
    """Workers with little memory and all the time that they want."""
    with PdfPool(timeout_s=NEVER_S, memory_bytes=512 * 1024**2) as pool:
        monkeypatch.setattr(session, "pdf_pool", lambda: pool)
        monkeypatch.setattr(background, "PATIENCE_S", 0.1)
        yield pool


def open_question(folder: Path, open_app: Open, pool: PdfPool, *, limit_s: float = NEVER_S) -> AppTest:
    """The question page of a workspace, opened once all that is not the document is warm.

    From then on a document is given up after `limit_s`.
    """
    write_pdf(folder / "warm.pdf")
    pool.document(folder / "warm.pdf")
    open_app(folder)
    limit(pool, limit_s)
    return open_app(folder, page=QUESTION, q="Q1")


def limit(pool: PdfPool, seconds: float) -> None:
    """Set the time limit of requests: on a busy machine a good document may take a while."""
    pool._timeout_s = seconds


def reads(app: AppTest) -> None:
    """Answer, reason, candidates and the way on are there."""
    assert not app.exception
    assert "Why this label" in words(app)
    assert "How often is the oil changed?" in words(app)
    assert not app.button("step-K").disabled


def test_while_a_document_hangs_all_else_is_there_at_once(
    tmp_path: Path, open_app: Open, pool: PdfPool
) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(form_bomb())
    app = open_question(folder, open_app, pool)
    reads(app)
    assert "Opening PDF page 1 and locating the passage" in words(app)
    app.button("step-K").click().run()
    app.button("step-J").click().run()
    reads(app)
    assert "Opening PDF page 1 and locating the passage" in words(app), "it hangs on"


def test_it_is_given_up_once_and_tried_again_when_somebody_says_so(
    tmp_path: Path, open_app: Open, pool: PdfPool
) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(form_bomb())
    app = open_question(folder, open_app, pool, limit_s=LIMIT_S)
    run_until(app, lambda app: GAVE_UP in words(app))
    reads(app)
    assert "Opening PDF page" not in words(app)
    assert "Change the oil every 15,000 km. Use grade 5W-30." in words(app), "the passage as text"
    run_until(app, lambda app: "Checking how much" not in words(app))
    workers = pool.process_ids()
    app.button("step-K").click().run()
    app = run_until(app, lambda app: GAVE_UP in words(app) and "Checking" not in words(app))
    assert pool.process_ids() == workers, "the same words were not looked for again"
    limit(pool, NEVER_S)
    app.button("page-again").click().run()
    assert GAVE_UP not in words(app)
    assert "locating the passage" in words(app)


def test_a_file_put_in_its_place_is_opened(tmp_path: Path, open_app: Open, pool: PdfPool) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(form_bomb())
    app = open_question(folder, open_app, pool, limit_s=LIMIT_S)
    run_until(app, lambda app: GAVE_UP in words(app))
    limit(pool, NEVER_S)
    write_pdf(folder / "manual.pdf")
    app.run()
    run_until(app, lambda app: "PDF page 1" in words(app))
    assert GAVE_UP not in words(app)


def test_a_document_that_eats_all_memory_is_reported_beside_the_rest(
    tmp_path: Path, open_app: Open, pool: PdfPool
) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(text_bomb(60))
    app = open_question(folder, open_app, pool, limit_s=LIMIT_S)
    reads(app)
    run_until(app, lambda app: "What to do" in shown(app))
    reads(app)
    assert re.search("memory|no answer within", words(app))


def test_a_chunk_alone_does_not_wait_either(tmp_path: Path, open_app: Open, pool: PdfPool) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(form_bomb())
    open_question(folder, open_app, pool)
    app = open_app(folder, page=QUESTION, chunk="c2")
    assert not app.exception
    assert "Opening PDF page 2" in words(app)
    assert "The fuse F12 protects the interior lamps." in words(app)
