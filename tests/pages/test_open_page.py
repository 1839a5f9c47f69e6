"""Open your data: what a page makes of files, which it may read, and that every page then shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.services.opening.uploads import FROM_VARIABLE
from tests.pages.conftest import Open, shown
from tests.pdf_files import write_pages

PAGE = "pages/open.py"
ROW = {
    "user_input": "How much oil?",
    "retrieved_contexts": ["The engine holds 4.5 litres of oil."],
    "response": "It holds 5.5 litres.",
    "colour": "red",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pages may open files of, with an export and a PDF."""
    path = tmp_path / "mine"
    path.mkdir()
    (path / "ragas.jsonl").write_text(json.dumps(ROW) + "\n")
    (path / "broken.jsonl").write_text('{"user_input": \n')
    monkeypatch.setenv(FROM_VARIABLE, str(path))
    return path


def open_path(app: AppTest, text: str) -> AppTest:
    app.text_input(key="opening-path").input(text)
    return app.button(key="opening-by-path").click().run()


def test_a_path_is_opened_and_shown_on_every_page(open_app: Open, folder: Path) -> None:
    app = open_path(open_app(page=PAGE), "ragas.jsonl")
    assert not app.exception and "recognized as Ragas" in shown(app) and "1 question, 1 passage" in shown(app)
    assert "not understood: colour 1" in shown(app)
    key = "".join(app.query_params["opened"])
    links = {link.proto.label: link.proto.query_string for link in app.main.get("page_link")}
    assert f"opened={key}&run=R001&q=" in links["Show the first finding"]
    assert f"opened={key}" in links["Show all questions"]
    inside = [link.proto for link in app.sidebar.get("page_link") if link.proto.label != "Open your data"]
    assert all(f"opened={key}" in link.query_string for link in inside)
    triage = open_app(opened=key, run="R001")
    assert not triage.exception and "1 question" in shown(triage)


def test_an_upload_is_opened_with_its_pdf(open_app: Open, folder: Path) -> None:
    write_pages(folder / "manual.pdf", [["Cover"], ROW["retrieved_contexts"]])
    app = open_app(page=PAGE)
    files = [("ragas.jsonl", "ragas.jsonl"), ("../manual.pdf", "manual.pdf")]
    app.file_uploader(key="opening-files").set_value(
        [(name, (folder / file).read_bytes(), "application/octet-stream") for name, file in files]
    )
    app.button(key="opening-upload").click().run()
    assert not app.exception and "1 of 1 document" in shown(app)


def test_an_upload_that_is_not_recognized_is_named_without_its_folder(open_app: Open, folder: Path) -> None:
    app = open_app(page=PAGE)
    app.file_uploader(key="opening-files").set_value([("odd.json", b'{"some": "thing"}', "application/json")])
    app.button(key="opening-upload").click().run()
    assert "not recognized" in shown(app) and "odd.json" in shown(app) and "/odd.json" not in shown(app)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/etc/hostname", "outside the folder"),
        ("gone.json", "no such file"),
        ("broken.jsonl", "not valid JSON"),
    ],
)
def test_what_cannot_be_opened_is_a_panel(open_app: Open, folder: Path, path: str, message: str) -> None:
    app = open_path(open_app(page=PAGE), path)
    assert not app.exception and message in shown(app) and "opened" not in app.query_params


def test_no_path_is_asked_for_where_others_may_use_the_dashboard(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FROM_VARIABLE, raising=False)
    app = open_app(page=PAGE)
    assert not app.exception and not app.text_input and app.file_uploader


def test_an_address_of_what_is_gone_says_so(open_app: Open) -> None:
    app = open_app(opened="0123456789abcdef")
    assert not app.exception and "opened elsewhere, or the cache was emptied" in shown(app)
    (link,) = app.sidebar.get("page_link")
    assert link.proto.label == "Open your data"
    assert "showing" not in shown(open_app(opened="../../etc"))
