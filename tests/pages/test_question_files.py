"""Question by AppTest where files are lost, locked, packed or changed: what is left is shown."""

from __future__ import annotations

import gzip
import html
import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import SourceLine, TraceKey
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.ui.question import load
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import MakeWorkspace, Open, shown, unfold
from tests.pages.manual import CITED, DOCUMENTS, PAGE, PAGED, labels, manual

pytestmark = pytest.mark.slow


def not_a_pdf(folder: Path) -> None:
    (folder / "manual.pdf").write_text("<!doctype html><title>404</title>")


def locked(folder: Path) -> None:
    manual(folder, password="secret")  # noqa: S106


def absent(folder: Path) -> None:
    """Nothing is written."""


@pytest.mark.parametrize("make_document", [not_a_pdf, locked, absent])
def test_a_document_that_cannot_be_shown_has_its_panel_and_the_text_stays(
    make_workspace: MakeWorkspace, open_app: Open, make_document: Callable[[Path], None]
) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS)
    make_document(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    words = shown(app)
    assert "manual.pdf" in words
    assert "What to do" in words
    assert "Why this label" in words
    assert "Change the oil every 15,000 km." in words


def test_a_page_beyond_the_end_says_how_many_there_are(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    app.query_params["page"] = "99"
    assert "is beyond the end: there are 2 pages" in shown(app.run())


def test_an_unlisted_document_leaves_its_passage(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace([CITED]), page=PAGE, q="Q1")
    assert "The workspace has no document manual" in shown(app)
    assert "Change the oil every 15,000 km." in shown(app)


def test_without_chunks_the_answer_and_its_record_are_still_there(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS)
    manual(folder)
    (folder / "chunks.jsonl").unlink()
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "chunks.jsonl" in shown(app)
    assert ": the quote is on the page" in shown(app)


REPORT = {
    "q_id": "Q1",
    "q": "How often is the oil changed?",
    "label": "ok",
    "why": "it looked right",
    "chunks": ["c1", "c9"],
    "citations_in_answer": ["c1"],
    "llm_summary": "All is <b>well</b>.",
}


@pytest.mark.parametrize("as_array", [False, True])
def test_a_run_with_a_report_alone_shows_its_row(
    make_workspace: MakeWorkspace, open_app: Open, as_array: bool
) -> None:
    runs = [{"run_id": "R1", "report": {"path": "report.jsonl"}}]
    folder = make_workspace(None, documents=DOCUMENTS, runs=runs)
    (folder / "chunks.jsonl").write_bytes(b"\n".join(orjson.dumps(chunk) for chunk in PAGED) + b"\n")
    other = {**REPORT, "q_id": "Q2", "label": "splendid", "citations_in_answer": []}
    rows = [orjson.dumps(REPORT), orjson.dumps(other)]
    (folder / "report.jsonl").write_bytes(
        b"[" + b",".join(rows) + b"]" if as_array else b"\n".join(rows) + b"\n"
    )
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    words = shown(app)
    assert "it looked right (as stored)" in words
    assert "The run has only a stored report" in words
    assert "2 ids, 1 with a chunk in this workspace" in words
    assert "All is &lt;b&gt;well&lt;/b&gt;." in words
    assert "PDF page 1" in words
    assert ":orange-badge[1 · exact] PDF page 1" in labels(app)
    assert not app.json and not app.text, "the record is sent when it is opened"
    place = unfold(app, "record").text[0].value
    assert place.startswith("report.jsonl, entry 1" if as_array else "report.jsonl, line 1")

    app.query_params["q"] = "Q2"
    words = shown(app.run())
    assert "splendid" in words
    assert "is not one of Proofspan's labels" in html.unescape(words)


def test_a_row_that_left_its_report_says_how_to_read_it_again(make_workspace: MakeWorkspace) -> None:
    folder = make_workspace(None, runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    (folder / "report.jsonl").write_bytes(orjson.dumps(REPORT) + b"\n")
    manifest = load_manifest(folder)
    (run,) = manifest.runs
    gone = SourceLine("report.jsonl", 9, 400, 80)
    with pytest.raises(InputFault, match=r"report\.jsonl: the report no longer has this row at line 9"):
        load.question(
            session.Opened(manifest, ViewState(), run), TraceKey("R1", "Q1"), gone, is_labelled=True
        )


def test_packed_chunks_serve_the_page_as_they_serve_the_index(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS, chunks={"path": "chunks.jsonl.gz"})
    manual(folder)
    plain = folder / "chunks.jsonl"
    (folder / "chunks.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "citations present and answer grounded" in shown(app)
    assert ": the quote is on the page word for word." in shown(app)


def test_packed_gold_serves_the_page_as_it_serves_the_index(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl.gz"})
    manual(folder)
    gold = {"q_id": "Q1", "q": "?", "spans": [{"doc_id": "manual", "page_idx": 1, "quote": "fuse F12"}]}
    (folder / "gold.jsonl.gz").write_bytes(gzip.compress(json.dumps(gold).encode()))
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert ":green-badge[gold · exact] PDF page 2" in labels(app)
    assert "The prompt has 1 chunk" in shown(app)
