"""The Question page prefetches what is probably shown next."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, PageImage, SpanQuery
from tests.hostile.workspaces import CHUNKS, PAGES, write_pdf, write_workspace
from tests.pages.conftest import Open, shown
from tests.pdf_files import form_bomb

pytestmark = pytest.mark.slow

QUESTION = "pages/question.py"
Drawn = list[int]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """The pages that the workers draw."""
    pages: Drawn = []
    show, look = PdfPool.show, PdfPool.look

    def noting_show(self: PdfPool, path: Path, page_idx: int, *, with_words: bool = False) -> PageImage:
        pages.append(page_idx)
        return show(self, path, page_idx, with_words=with_words)

    def noting_look(
        self: PdfPool, path: Path, queries: list[SpanQuery], page_idx: int, *, with_words: bool = False
    ) -> tuple[list[FoundSpan], PageImage | None]:
        pages.append(page_idx)
        return look(self, path, queries, page_idx, with_words=with_words)

    monkeypatch.setattr(PdfPool, "show", noting_show)
    monkeypatch.setattr(PdfPool, "look", noting_look)
    return pages


def until(pages: Drawn, wanted: Drawn) -> None:
    deadline = time.monotonic() + 60
    while sorted(pages) != wanted:
        assert time.monotonic() < deadline, pages
        time.sleep(0.02)


def test_the_page_behind_is_drawn_before_it_is_asked_for(
    tmp_path: Path, open_app: Open, drawn: Drawn
) -> None:
    folder = write_workspace(tmp_path / "w")
    app = open_app(folder, page=QUESTION, q="Q1")
    until(drawn, [0, 1])
    app.query_params["page"] = "1"
    app.run()
    assert "page_idx 1 · PDF page 2 of 2" in shown(app)
    assert drawn == [0, 1]


def test_the_question_behind_is_drawn_before_it_is_asked_for(
    tmp_path: Path, open_app: Open, drawn: Drawn
) -> None:
    folder = write_workspace(tmp_path / "w", chunks=[CHUNKS[0], {**CHUNKS[1], "page_idx": 2}])
    write_pdf(folder / "manual.pdf", [PAGES[0], "A page between.", PAGES[1]])
    app = open_app(folder, page=QUESTION, q="Q2")
    until(drawn, [0, 1, 2])
    app.button("step-J").click().run()
    assert "page_idx 2 · PDF page 3 of 3" in shown(app)
    assert sorted(drawn) == [0, 1, 2]


def test_nothing_is_made_ready_behind_a_page_that_hangs(
    tmp_path: Path, open_app: Open, drawn: Drawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofspan.ui.status.background.PATIENCE_S", 0.05)
    folder = write_workspace(tmp_path / "w")
    (folder / "manual.pdf").write_bytes(form_bomb())
    app = open_app(folder, page=QUESTION, q="Q1")
    assert "locating the passage" in shown(app)
    assert drawn in ([], [0])
