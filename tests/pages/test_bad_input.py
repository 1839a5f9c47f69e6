"""Bad input on the pages: a panel with what, where and what to do, and the rest of the page alive."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.messages import next_step
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.open import WORKSPACE_VARIABLE
from proofspan.store.index.build import build_index
from proofspan.ui.visit import session
from tests.hostile.workspaces import CHUNKS, MANIFEST, TRACES, lines, trace, write_pdf, write_workspace
from tests.pages.conftest import candidates, listed, shown, table, unfold
from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

TRIAGE, QUESTION, HEALTH = "pages/triage.py", "pages/question.py", "pages/health.py"
FILES = "Artifacts of the manifest"
RUNS_WAITED_FOR = 40
CSV = "id,q,answer,text\nQ1,Which oil?,5W-30,a\n"

OpenPage = Callable[..., AppTest]


@pytest.fixture
def open_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenPage]:
    """`open_page(folder, page, **url)`: a page inside its frame, as a running server shows it.

    AppTest believes in the `pages/` folder at every run, and would run a page's script without the frame.
    """
    make = PagesManager.__init__

    def make_with_navigation(self: PagesManager, *arguments: Any, **options: Any) -> None:
        PagesManager.uses_pages_directory = False
        make(self, *arguments, **options)

    monkeypatch.setattr(PagesManager, "__init__", make_with_navigation)
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(session, "locating", lambda opened, store: None)

    def start(folder: Path, script: str = TRIAGE, /, *, indexed: bool = True, **url: str) -> AppTest:
        monkeypatch.setenv(WORKSPACE_VARIABLE, str(folder))
        if indexed:
            build_index(load_manifest(folder), cache_dir=tmp_path / "cache")
        app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=60).run()
        return app if script == TRIAGE and not url else go(app, script, **url)

    yield start
    st.cache_resource.clear()


def go(app: AppTest, script: str, /, **url: str) -> AppTest:
    """The same visit on another page."""
    app.switch_page(script)
    for name, value in url.items():
        app.query_params[name] = value
    return app.run()


def words(app: AppTest) -> str:
    """The words of the page's own elements, without our markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", shown(app)))


def panels(app: AppTest) -> list[str]:
    """Each fault panel's words."""
    found = (str(element.proto.body) for element in app.main.get("html"))
    return [html.unescape(re.sub(r"<[^>]+>", " ", body)) for body in found if ">What to do<" in body]


def has_panel(app: AppTest, *parts: str) -> None:
    """No exception, and one panel with all the parts, a place and a remedy among them."""
    assert not app.exception
    assert "Traceback" not in shown(app)
    flat = [" ".join(panel.split()) for panel in panels(app)]
    assert any(all(part in panel for part in (*parts, "Where")) for panel in flat), flat


def rows(app: AppTest) -> list[str]:
    """The questions in the Triage table."""
    return [row["question"] for row in table(app)]


def reads(app: AppTest) -> None:
    """The reading side of the Question page is there: answer, reasons, candidates, record."""
    assert "Change the oil every" in words(app)
    assert "Why this label" in words(app) or "no label" in words(app)
    assert candidates(app)["rows"]
    assert "trace.jsonl, line 1" in unfold(app, "record").text[0].value


def test_without_the_chunk_file_every_page_says_so_and_works(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "chunks.jsonl").unlink()
    parts = "The chunk file does not exist", str(folder / "chunks.jsonl"), "cp FILE"
    triage = open_page(folder)
    has_panel(triage, *parts)
    assert len(rows(triage)) == 3
    question = go(triage, QUESTION, q="Q1")
    has_panel(question, *parts)
    reads(question)
    assert "PDF page 1" in words(question)
    workspace = unfold(go(question, HEALTH), "files")
    first = listed(workspace, FILES)[0]
    assert (first["Artifact"]["text"], first["State"]["chips"][0]["text"]) == ("chunks", "missing")
    assert "cp FILE" in first["Problem"]["note"]


@pytest.mark.parametrize("spoil", ["gone", "changed"])
def test_a_question_that_triage_does_not_label_has_no_label_of_its_own(
    tmp_path: Path, open_page: OpenPage, spoil: str
) -> None:
    folder = write_workspace(tmp_path / "w")
    if spoil == "gone":
        (folder / "chunks.jsonl").unlink()
    else:
        folder = write_workspace(tmp_path / "w", chunks={"path": "chunks.jsonl", "sha256": "0" * 64})
    app = open_page(folder, QUESTION, q="Q2")
    assert "no label" in words(app)
    assert "stands nowhere" not in words(app), "without evidence no number is unsupported"
    assert not [label for label in LABELS if next_step(label, "seed") in words(app)]


def test_a_csv_named_jsonl_is_a_panel_on_an_empty_run(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "trace.jsonl").write_text(CSV)
    app = open_page(folder)
    for page in (TRIAGE, QUESTION):
        has_panel(go(app, page), "The file is CSV", "trace.jsonl:1", "one JSON object a row")
    assert "Is CSV" in listed(unfold(go(app, HEALTH), "files"), FILES)[0]["Problem"]["text"]


def test_a_csv_in_place_of_the_chunks_is_a_panel_beside_the_rows(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "chunks.jsonl").write_text(CSV)
    triage = open_page(folder)
    has_panel(triage, "The file is CSV", "chunks.jsonl")
    assert len(rows(triage)) == 3
    question = go(triage, QUESTION, q="Q1")
    has_panel(question, "The file is CSV", "chunks.jsonl")
    reads(question)


def test_lines_that_hold_no_record_are_counted_on_triage_and_listed_on_workspace(
    tmp_path: Path, open_page: OpenPage
) -> None:
    bad = [
        b"{not json",
        trace("Q7", "Why?", None),
        trace("Q8", "Why?", 42),
        b'{"q": "\\ud800", "answer": "", "chunks": []}',
    ]
    folder = write_workspace(tmp_path / "w", [*TRACES, *bad], [{"text": "nameless"}, *CHUNKS])
    triage = open_page(folder)
    assert not triage.exception
    assert len(rows(triage)) == 3
    links = [link.proto.label for link in triage.main.get("page_link")]
    assert ":red[5 lines of this run's files could not be read.]" in links
    workspace = unfold(go(triage, HEALTH), "lines")
    table = listed(workspace, "Lines that could not be read or belong to nothing")
    places = sorted((row["Line"]["note"], row["Line"]["text"]) for row in table)
    assert places == [("chunks.jsonl", "1"), *(("trace.jsonl", line) for line in "4567")]
    assert all(row["Problem"]["note"] for row in table)
    sentence = "; ".join(row["Problem"]["text"][:1].lower() + row["Problem"]["text"][1:] for row in table)
    for reason in ("not valid JSON", "answer is null", "answer is a number", "surrogate", "has no id"):
        assert reason in sentence


def web_page(pdf: Path) -> None:
    pdf.write_text("<!DOCTYPE html><title>Sign in</title>")


def locked(pdf: Path) -> None:
    write_pdf(pdf, password="secret")  # noqa: S106


def absent(pdf: Path) -> None:
    pdf.unlink()


@pytest.mark.parametrize(
    ("spoil", "expected", "in_table"),
    [
        (web_page, "The document is a web page", "is a web page, not a PDF"),
        (locked, "The document is locked with a password", "locked with a password"),
        (absent, "does not exist", "does not exist"),
    ],
)
def test_a_document_that_does_not_open_is_a_panel_in_place_of_its_page(
    tmp_path: Path, open_page: OpenPage, spoil: Callable[[Path], None], expected: str, in_table: str
) -> None:
    folder = write_workspace(tmp_path / "w")
    spoil(folder / "manual.pdf")
    question = open_page(folder, QUESTION, q="Q1")
    has_panel(question, expected, str(folder / "manual.pdf"))
    reads(question)
    assert "Change the oil every 15,000 km. Use grade 5W-30." in words(question), "the passage as text"
    assert not question.button("step-K").disabled, "the way on is open"
    workspace = unfold(go(question, HEALTH), "files")
    first = listed(workspace, FILES)[0]
    assert first["Artifact"]["text"] == "documents[manual]"
    assert in_table.lower() in first["Problem"]["text"].lower()
    assert first["Problem"]["note"]


def test_a_page_beyond_the_end_says_how_many_there_are(tmp_path: Path, open_page: OpenPage) -> None:
    elsewhere = {**CHUNKS[0], "page_idx": 41, "text": "A text that stands on no page at all."}
    folder = write_workspace(tmp_path / "w", chunks=[elsewhere, CHUNKS[1]])
    app = open_page(folder, QUESTION, q="Q1")
    has_panel(app, "PDF page 42 (page_idx 41) is beyond the end: there are 2 pages", "page_idx counts from 0")
    reads(app)
    assert "A text that stands on no page at all." in words(app)
    app.button("page-last").click().run()
    assert app.query_params["page"] == "1"
    assert not panels(app)


def test_a_citation_beyond_the_end_is_shown_where_its_text_is(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_workspace(tmp_path / "w", chunks=[{**CHUNKS[0], "page_idx": 41}, CHUNKS[1]])
    app = open_page(folder, QUESTION, q="Q1")
    assert not app.exception
    assert "PDF page 1" in words(app)
    assert "page_idx 41 is not in the document" in words(app)


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (
            'manifest_version: "1.0"\nname: x\nruns:\n\t- run_id: R1\n',
            ("A tab where YAML needs spaces", f"{MANIFEST}:4:1", "replace the tab with spaces"),
        ),
        (
            'manifest_version: "1.0"\nname: x\nruns: []\n',
            ("This workspace lists no run yet", MANIFEST, "run_id"),
        ),
    ],
)
def test_a_manifest_that_gives_no_run_is_a_panel_on_every_page(
    tmp_path: Path, open_page: OpenPage, manifest: str, expected: tuple[str, ...]
) -> None:
    (tmp_path / MANIFEST).write_text(manifest)
    app = open_page(tmp_path, indexed=False)
    for page in (TRIAGE, QUESTION, HEALTH):
        has_panel(go(app, page), *expected)


@pytest.fixture
def read_only_cache(read_only_folder: Path, monkeypatch: pytest.MonkeyPatch, open_page: OpenPage) -> Path:
    """The cache folder, on a file system that is mounted read-only."""
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(read_only_folder))
    return read_only_folder


def test_a_read_only_cache_is_a_panel_and_the_pages_work(
    tmp_path: Path, open_page: OpenPage, read_only_cache: Path
) -> None:
    folder = write_workspace(tmp_path / "w", runs=[{"run_id": "R1", "traces": {"path": "trace.jsonl.gz"}}])
    (folder / "trace.jsonl.gz").write_bytes(gzip.compress(lines(TRACES)))
    app = open_page(folder, indexed=False)
    for _ in range(RUNS_WAITED_FOR):
        if table(app):
            break
        app.run()
    has_panel(app, "The cache folder cannot be written", str(read_only_cache), "PROOFSPAN_CACHE_DIR")
    assert len(rows(app)) == 3
    app.switch_page(QUESTION).run()
    has_panel(app, "The cache folder cannot be written", str(read_only_cache))
    assert "Why this label" in words(app), "a compressed file is unpacked elsewhere, too"


def test_an_empty_run_says_so_on_every_page(tmp_path: Path, open_page: OpenPage) -> None:
    app = open_page(write_workspace(tmp_path / "w", []))
    assert "R1 holds 0 questions." in words(app)
    assert "This run has no question yet." in words(go(app, QUESTION))
    assert "as no line yet" in listed(unfold(go(app, HEALTH), "files"), FILES)[0]["Problem"]["text"]


def test_a_run_with_a_report_alone_lists_its_rows_and_says_that_there_is_no_trace(
    tmp_path: Path, open_page: OpenPage
) -> None:
    folder = write_workspace(tmp_path / "w", runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    stored = {"q_id": "Q1", "q": "Which oil?", "label": "ok", "why": "fits", "chunks": ["c1"]}
    (folder / "report.jsonl").write_bytes(lines([stored]))
    assert rows(open_page(folder)) == ["Which oil?"]
    assert "The run has only a stored report" in words(open_page(folder, QUESTION, q="Q1"))


ASKED_IN_VAIN = (
    ({"q": "Q999"}, "Question Q999 isn't in run R1"),
    ({"q": "' OR 1=1 --"}, "Question ' OR 1=1 -- isn't in run R1"),
    ({"q": "", "chunk": "<b>none</b>"}, "The workspace has no chunk <b>none</b>"),
)


def test_what_the_url_asks_for_in_vain_is_a_panel(tmp_path: Path, open_page: OpenPage) -> None:
    app = open_page(write_workspace(tmp_path / "w"))
    for url, text in ASKED_IN_VAIN:
        go(app, QUESTION, **url)
        has_panel(app, text)
        assert "<b>" not in shown(app)
    assert "Q1 has no repeat 7 in R1." in words(go(app, QUESTION, q="Q1#7", chunk=""))


def test_url_values_that_cannot_be_used_are_left_out_with_a_note(tmp_path: Path, open_page: OpenPage) -> None:
    bad = {"run": "R9", "label": "bad", "cite": "-1", "page": "x", "p": "1.5", "at": "0", "sort": "price"}
    app = open_page(write_workspace(tmp_path / "w"), QUESTION, q="Q1", **bad)
    assert not app.exception
    reads(app)
    assert 'There is no run "R9" in this workspace; showing R1.' in words(app)
    assert words(app).count("In the address, ") == 6


@pytest.mark.parametrize("url", [{"cite": "99"}, {"chunk": "none"}, {"vs": "R9"}, {"page": "999999999"}])
def test_a_choice_that_the_question_does_not_have_leaves_the_question(
    tmp_path: Path, open_page: OpenPage, url: dict[str, str]
) -> None:
    app = open_page(write_workspace(tmp_path / "w"), QUESTION, q="Q1", **url)
    assert not app.exception
    reads(app)


AWKWARD_IDS = ("a/b\\c", "\"quoted\" 'id'", "Q?&=#%00+ ;", "Ωμέγα 車 🚗", "../../etc", "Q#2")


def test_any_question_id_opens_from_the_url(tmp_path: Path, open_page: OpenPage) -> None:
    records = [TRACES[0] | {"q_id": q_id, "q": f"The oil of {q_id}?"} for q_id in AWKWARD_IDS]
    app = open_page(write_workspace(tmp_path / "w", records))
    for q_id in AWKWARD_IDS:
        go(app, QUESTION, q=f"{q_id}#1" if q_id == "Q#2" else q_id)
        assert not app.exception
        assert f"The oil of {q_id}?" in words(app)


#: A link to the glossary.
OWN_LINK = re.compile(r'<a class="ps-term" href="\./\?help=[a-z_.]+">')
HOSTILE = (
    "**b** _i_ # h\n\n- x | y | :red[c] :material/home: $x^2$ <b>bold</b> <script>alert(1)</script>"
    '<img src="http://canary.invalid/a.png" onerror=alert(1)> ![a](http://canary.invalid/b.png) '
    "[link](javascript:alert(1)) \u202eevil \x1b[31m &lt;b&gt;"
)


def test_hostile_text_stays_text_on_every_page(tmp_path: Path, open_page: OpenPage) -> None:
    cited = [{"chunk_id": HOSTILE, "doc_id": HOSTILE, "quote": HOSTILE, "page": 1}]
    record = trace("Q1", HOSTILE, HOSTILE, (HOSTILE,), citations=cited)
    chunk = {"chunk_id": HOSTILE, "doc_id": HOSTILE, "section_id": HOSTILE, "text": HOSTILE}
    folder = write_workspace(tmp_path / "w", [record], [*CHUNKS, chunk], name=HOSTILE[:150])
    app = open_page(folder)
    for page in (TRIAGE, QUESTION, HEALTH):
        go(app, page)
        assert not app.exception
        text = OWN_LINK.sub("", shown(app))
        for part in ("<script", "<img", "<b>", "<a ", "\u202e", "\x1b"):
            assert part not in text
        assert not app.markdown, "foreign words would be marked up there"
        assert not any(re.search(r"(?<!\\)(!\[|<)", button.label) for button in app.button)


def test_a_question_and_an_answer_of_200_kb_are_cut_with_the_rest_a_click_away(
    tmp_path: Path, open_page: OpenPage
) -> None:
    long = "oil " * 50_000
    folder = write_workspace(tmp_path / "w", [*TRACES, trace("long", long, long)])
    app = open_page(folder)
    assert not app.exception
    assert max(map(len, rows(app))) < 2_000
    go(app, QUESTION, q="long")
    assert not app.exception
    assert "more characters" in words(app)
    assert len(words(app)) < 120_000
    before = len(words(app))
    next(button for button in app.button if button.label == "Show more").click().run()
    assert not app.exception
    assert len(words(app)) > before + 40_000


def test_nul_and_control_characters_are_made_visible(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_workspace(tmp_path / "w", [trace("Q1", "oil\x00\x1b[31m?", "Change the oil every \x07")])
    app = open_page(folder, QUESTION, q="Q1")
    assert not app.exception
    assert "oil\ufffd\ufffd[31m?" in words(app)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", shown(app))
