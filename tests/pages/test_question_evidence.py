"""Question by AppTest: the status of each citation, attachments of its place, and single chunks."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson
import pymupdf
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.ui.question import load
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import CHUNKS, MakeWorkspace, Open, shown, trace
from tests.unit.passes.placing_room import place_run

pytestmark = pytest.mark.slow

PAGE = "pages/question.py"
DOCUMENTS = [{"doc_id": "manual", "path": "manual.pdf"}, {"doc_id": "annex", "path": "annex.pdf"}]
HOSTILE = "<img src=x onerror=alert(1)> ![x](http://127.0.0.1:9/x.png) :red[y] \u202e"


def document(path: Path, *texts: str) -> None:
    with pymupdf.open() as made:
        for text in texts:
            made.new_page(width=400, height=300).insert_text((40, 60), text, fontsize=10)
        made.save(path)


def cited(*citations: dict[str, Any], answer: str = "Every 15,000 km. citations: [c1]") -> dict[str, Any]:
    return trace("Q1", "How often is the oil changed?", answer, citations=list(citations))


def workspace(make_workspace: MakeWorkspace, line: dict[str, Any], **manifest: Any) -> Path:
    folder = make_workspace([line], documents=DOCUMENTS, **manifest)
    document(folder / "manual.pdf", *(chunk["text"] for chunk in CHUNKS))
    document(folder / "annex.pdf", "The filter is changed with the oil.")
    return folder


def labels(app: AppTest) -> list[str]:
    return [each.label.replace("\\", "") for each in app.button]


def words(app: AppTest) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown(app)))


def copied(app: AppTest) -> list[dict[str, Any]]:
    """Return the data of the copy buttons."""
    found = [element.proto for element in app.main.get("bidi_component")]
    return [orjson.loads(each.json) for each in found if each.component_name.endswith("copy_button")]


def test_each_citation_says_what_is_odd_about_it(make_workspace: MakeWorkspace, open_app: Open) -> None:
    line = cited(
        {"chunk_id": "c1", "doc_id": "manual", "page": 0, "quote": "Change the oil every 15,000 km."},
        {"chunk_id": "c2", "doc_id": "manual", "page": 1, "quote": "The fuse F12 protects"},
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 18,000 km."},
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Nothing of this stands in the manual."},
        answer="Change it every 18,000 km. citations: [c1]",
    )
    app = open_app(workspace(make_workspace, line), page=PAGE, q="Q1")
    reported = labels(app)
    assert (
        ":orange-badge[1 · exact] section 5.1 · PDF page 1 *its page is below 1, yet such pages count from 1*"
        in reported
    )
    assert ":red-badge[2 · exact · other page +1] PDF page 2, cited PDF page 1 *not retrieved*" in reported
    assert any(
        label.startswith(":red-badge[3 · fuzzy") and label.endswith("*says 18,000, page says 15,000*")
        for label in reported
    )
    assert ":red-badge[4 · not found] section 5.1 · PDF page 1" in reported
    assert "Check the cited page first: that of citation 2" in words(app)
    app.button("cite-3").click().run()
    assert "The answer says 18,000 km, the page says 15,000 km." in words(app)
    assert 'class="ps-says"' in shown(app)


def test_citations_of_the_answers_text_say_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    line = trace("Q1", "How often?", "Change the oil every 15,000 km. citations: [c1]")
    app = open_app(workspace(make_workspace, line), page=PAGE, q="Q1")
    assert "Read from the ids in the answer's text: the trace has no citation payload." in words(app)


def test_a_citation_of_another_document_has_the_status_that_the_index_knows(
    make_workspace: MakeWorkspace, open_app: Open, tmp_path: Path
) -> None:
    line = cited(
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."},
        {"chunk_id": "c9", "doc_id": "annex", "page": 1, "quote": "The filter is changed with the oil."},
    )
    folder = workspace(make_workspace, line)
    app = open_app(folder, page=PAGE, q="Q1")
    assert ":red-badge[2] PDF page 1 · annex *not retrieved*" not in labels(app)
    assert ":orange-badge[2] PDF page 1 · annex *not retrieved*" in labels(app)
    with PdfPool() as pool:
        place_run(load_manifest(folder), "R1", cache_dir=tmp_path / "cache", pool=pool, workers=1)
    assert ":orange-badge[2 · exact] PDF page 1 · annex *not retrieved*" in labels(app.run())


def test_what_belongs_to_the_place_and_the_level_are_shown(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    line = cited(
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."}
    )
    folder = workspace(make_workspace, line, catalogue={"path": "catalogue.jsonl"})
    notice = {
        "attachment_id": "w1",
        "kind": "warning",
        "doc_id": "manual",
        "page_idx": 0,
        "text": "Hot oil burns.",
    }
    table = {"attachment_id": "t1", "kind": "table", "doc_id": "manual", "page_idx": 0, "caption": HOSTILE}
    (folder / "catalogue.jsonl").write_bytes(orjson.dumps(notice) + b"\n" + orjson.dumps(table) + b"\n")
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "At this place" in words(app)
    assert "Hot oil burns." in words(app)
    assert "<img" not in shown(app)
    assert not any("![" in label for label in (each.label for each in app.button))
    assert re.search("Full evidence|Safety notices and citation|Citation only", words(app))


def test_a_lost_catalogue_leaves_the_page_standing(make_workspace: MakeWorkspace, open_app: Open) -> None:
    line = cited({"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil"})
    app = open_app(workspace(make_workspace, line, catalogue={"path": "gone.jsonl"}), page=PAGE, q="Q1")
    assert not app.exception
    assert "Exact: the quote is on the page" in words(app)


def test_a_citation_can_be_copied(make_workspace: MakeWorkspace, open_app: Open) -> None:
    line = cited(
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."}
    )
    app = open_app(workspace(make_workspace, line), page=PAGE, q="Q1")
    assert [each for each in copied(app) if each["name"] == "citation"] == [
        {
            "text": "manual, section 5.1, PDF page 1, page_idx 0",
            "name": "citation",
            "link": True,
            "shown": False,
        }
    ]


IDS = ["manual|r=1|s=4.2|p=001|b=003", "a b%20c", "100 % + 1 = ?&x=1#y", "ü/..\\π", HOSTILE]


@pytest.mark.parametrize("chunk_id", IDS)
def test_a_chunk_opens_by_whatever_id_it_has(
    make_workspace: MakeWorkspace, open_app: Open, chunk_id: str
) -> None:
    line = cited({"chunk_id": chunk_id, "doc_id": "manual", "quote": "The fuse F12 protects"})
    folder = workspace(make_workspace, line)
    chunk = {"chunk_id": chunk_id, "doc_id": "manual", "page_idx": 1, "text": CHUNKS[1]["text"]}
    (folder / "chunks.jsonl").write_bytes(orjson.dumps(chunk) + b"\n")
    app = open_app(folder, page=PAGE, chunk=chunk_id)
    assert not app.exception
    assert "PDF page 2" in words(app)
    assert copied(app)[0]["name"] == "chunk id"
    assert copied(app)[0]["text"] == chunk_id.replace("\u202e", "\ufffd")
    assert "<img" not in shown(app)


ALIAS = "#s04-02#p001-b003"
OF_ALIAS = ["manual|r=8c1e9a02|s=4.2|p=001|b=003", "notes|r=9af03bcd|s=4.2|p=001|b=003"]


def aliased(make_workspace: MakeWorkspace, *chunk_ids: str) -> Path:
    folder = workspace(make_workspace, cited({"chunk_id": "c2", "doc_id": "manual", "quote": "The fuse F12"}))
    chunks = [
        {"chunk_id": each, "doc_id": "manual", "section_id": "4.2", "page_idx": 0, "text": CHUNKS[1]["text"]}
        for each in ("c2", *chunk_ids)
    ]
    (folder / "chunks.jsonl").write_bytes(b"\n".join(map(orjson.dumps, chunks)) + b"\n")
    return folder


def test_an_alias_opens_its_chunk_and_both_can_be_copied(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(aliased(make_workspace, OF_ALIAS[0]), page=PAGE, chunk="#s4.2#p1-b3")
    assert not app.exception
    assert [(each["name"], each["text"]) for each in copied(app)[:2]] == [
        ("chunk id", OF_ALIAS[0]),
        ("alias", ALIAS),
    ]


@pytest.mark.parametrize("q", [None, "Q1"])
def test_an_alias_of_several_chunks_offers_them_and_opens_none(
    make_workspace: MakeWorkspace, open_app: Open, q: str | None
) -> None:
    asked = {"q": q} if q else {}
    app = open_app(aliased(make_workspace, *reversed(OF_ALIAS)), page=PAGE, chunk=ALIAS, **asked)
    assert not app.exception
    assert f"{ALIAS} is the alias of 2 chunks: choose one." in words(app)
    links = [each.proto for each in app.main.get("page_link") if "chunk=" in each.proto.query_string]
    assert [link.label.partition(" · ")[0] for link in links] == ["manual", "manual"]
    assert [unquote(link.query_string.partition("chunk=")[2]) for link in links] == OF_ALIAS
    assert all(each["name"] != "chunk id" for each in copied(app))
    assert "is no chunk of this workspace" not in words(app)


def test_an_alias_on_a_question_chooses_the_chunk(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(aliased(make_workspace, OF_ALIAS[0]), page=PAGE, q="Q1", chunk=ALIAS)
    assert not app.exception
    assert "In the address" not in words(app)
    (citation,) = [each["text"] for each in copied(app) if each["name"] == "citation"]
    assert citation.startswith("manual, section 4.2, PDF page 2")


def test_an_alias_of_no_chunk_is_left_out(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(aliased(make_workspace), page=PAGE, q="Q1", chunk=ALIAS)
    assert f'In the address, chunk "{ALIAS}" is no chunk of this workspace: left out.' in words(app)


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ({"doc_id": "elsewhere", "page_idx": 0}, "The workspace has no document elsewhere"),
        ({"doc_id": "manual"}, "PDF page 2"),
        ({}, "names no document"),
    ],
)
def test_a_chunk_without_a_usable_place_shows_its_text(
    make_workspace: MakeWorkspace, open_app: Open, chunk: dict[str, Any], expected: str
) -> None:
    folder = workspace(make_workspace, cited())
    record = {"chunk_id": "x", "text": CHUNKS[1]["text"], **chunk}
    (folder / "chunks.jsonl").write_bytes(orjson.dumps(record) + b"\n")
    app = open_app(folder, page=PAGE, chunk="x")
    assert not app.exception
    assert expected.lower() in words(app).lower()
    assert CHUNKS[1]["text"] in words(app)


def test_a_chunk_that_is_not_there_says_where_to_look(make_workspace: MakeWorkspace) -> None:
    manifest = load_manifest(workspace(make_workspace, cited()))
    (run,) = manifest.runs
    with pytest.raises(InputFault, match=r"no chunk manual\|p=009 .*open the question from Triage"):
        load.chunk_view(session.Opened(manifest, ViewState(), run), "manual|p=009", page=None)


def test_a_chunk_leads_to_the_answers_that_cite_it(
    make_workspace: MakeWorkspace, open_app: Open, tmp_path: Path
) -> None:
    line = cited({"chunk_id": "c2", "doc_id": "manual", "quote": "The fuse F12 protects the interior lamps."})
    folder = workspace(make_workspace, line)
    app = open_app(folder, page=PAGE, chunk="c2")
    assert "Cited by" not in words(app)
    with PdfPool() as pool:
        place_run(load_manifest(folder), "R1", cache_dir=tmp_path / "cache", pool=pool, workers=1)
    assert "Cited by 1 answer of this run:" in words(app.run())
    (link,) = app.main.get("page_link")
    assert (link.proto.label, link.proto.query_string) == ("Q1", "run=R1&q=Q1&cite=1")


def test_a_workspace_without_runs_shows_its_chunks(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = workspace(make_workspace, cited(), runs=[])
    app = open_app(folder, page=PAGE, indexed=False, chunk="c2")
    assert not app.exception
    assert "Exact: the chunk's text is on the page word for word." in words(app)
