"""Question on a document without pages, by AppTest: its lines as text, spans marked, problems shown."""

from __future__ import annotations

import html
import re
from pathlib import Path

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.ui.viewer import text_frame
from tests.pages.conftest import MakeWorkspace, Open, trace
from tests.pages.conftest import shown as raw

pytestmark = pytest.mark.slow

PAGE = "pages/question.py"
BULLETIN = """# Bulletin 07 <b>bold</b> ![x](http://example.invalid/x.png)

Diesel engines take **5W-30** oil from now on.
Change it every 20,000 km
or 24 months.
"""
QUOTE = "Change it every 20,000 km or 24 months."
DOCUMENTS = [{"doc_id": "bulletin", "path": "bulletin.md", "paged": False}]
CITED = trace(
    "Q1",
    "How often is the oil changed?",
    f"{QUOTE} citations: [c1]",
    citations=[
        {"chunk_id": "c1", "doc_id": "bulletin", "quote": QUOTE},
        {"chunk_id": "c2", "doc_id": "bulletin", "quote": "Diesel engines take 0W-20 oil from now on."},
    ],
)


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    made = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    (made / "bulletin.md").write_text(BULLETIN, encoding="utf-8")
    gold = '{"q_id": "Q1", "q": "?", "spans": [{"doc_id": "bulletin", "page_idx": 0, "quote": "20,000 km"}]}'
    (made / "gold.jsonl").write_text(gold + "\n")
    return made


def words(app: AppTest) -> str:
    """The page's text without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", raw(app)))


def marks(page: str, layer: str) -> list[str]:
    """Return the text of the marks of a layer, without the marks inside."""
    frame = page[page.index('data-testid="ps-frame"') : page.index('data-testid="ps-text-legend"')]
    found = re.findall(rf'<mark class="ps-span-{layer}[^>]*>(?:<mark[^>]*>)*([^<]*)</mark>', frame)
    return [str(text) for text in found]


def test_the_text_is_shown_with_numbers_marks_and_the_status(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    text, page = words(app), raw(app)
    assert "Exact: the quote is in the text word for word. It is on lines 4–5." in text
    assert "lines 4–5 of 5" in text
    assert marks(page, "cited") == [
        "Diesel engines take **5W-30** oil from now on.",
        "Change it every ",
        "20,000 km",
        "or 24 months.",
    ]
    assert 'class="ps-span-cited ps-chosen"' in page
    assert [int(n) for n in re.findall(r'data-line="(\d+)"', page)] == [1, 2, 3, 4, 5]
    labels = [each.label for each in app.button]
    assert ":orange-badge[1 · exact] section 5\\.1 · lines 4–5 · bulletin" in labels
    assert any("says 0W\\-20\\, text says" in label for label in labels if label.startswith(":red-badge[2"))
    assert ":green-badge[gold · exact] line 4 · bulletin" in labels


def test_markup_in_the_text_is_text(folder: Path, open_app: Open) -> None:
    page = raw(open_app(folder, page=PAGE, q="Q1"))
    assert "# Bulletin 07 &lt;b&gt;bold&lt;/b&gt; ![x](http://example.invalid/x.png)" in page
    assert "<b>" not in page and "<img" not in page


def test_gold_is_chosen_by_its_badge(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    app.button("gold-1").click().run()
    assert "Exact: the gold quote is in the text word for word. It is on line 4." in words(app)
    assert "ps-span-gold ps-chosen" in raw(app)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, "bulletin.md"),
        (b"", "holds no text"),
        (b"\xff\xfea", "UTF-16"),
        (b"caf\xe9", "not text in UTF-8: byte 4 (line 1)"),
        (b"a\0b", "zero bytes"),
        (b"%PDF-1.7", "is a PDF"),
    ],
)
def test_a_text_that_cannot_be_read_is_reported_and_its_passage_shown(
    folder: Path, open_app: Open, data: bytes | None, expected: str
) -> None:
    (folder / "bulletin.md").unlink()
    if data is not None:
        (folder / "bulletin.md").write_bytes(data)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert expected in words(app)
    assert "cited 1:" in words(app)


def test_a_text_of_200_mb_is_not_read(folder: Path, open_app: Open) -> None:
    with (folder / "bulletin.md").open("r+b") as file:
        file.truncate(200 << 20)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "The document has 200 MiB" in words(app)


def test_a_web_page_is_shown_as_its_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    documents = [{"doc_id": "bulletin", "path": "b.html", "paged": False}]
    made = make_workspace([CITED], documents=documents)
    (made / "b.html").write_text("<h1>Oil</h1><p>Change it <b>every</b> 20,000 km<br>or 24 months.</p>")
    app = open_app(made, page=PAGE, q="Q1")
    assert not app.exception
    assert "Exact: the quote is in the text word for word. It is on lines 3–4." in words(app)
    assert text_frame.EXTRACTED in words(app)
    assert marks(raw(app), "cited") == ["Change it every 20,000 km", "or 24 months."]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"offsets": {"start": 4, "end": 6, "unit": "line"}}, "lines 4–5"),
        ({"span": {"line_start": 4, "line_end": 5}}, "lines 4–5"),
        ({"span": [4, 5]}, "lines 4–5"),
        ({"offsets": [BULLETIN.index("Change"), BULLETIN.index("\nor 24")]}, "line 4"),
    ],
)
def test_offsets_without_a_quote_are_shown_and_prove_nothing(
    make_workspace: MakeWorkspace, open_app: Open, where: dict[str, object], expected: str
) -> None:
    cited = trace("Q1", "q?", "a", citations=[{"doc_id": "bulletin", **where}])
    made = make_workspace([cited], documents=DOCUMENTS)
    (made / "bulletin.md").write_text(BULLETIN)
    app = open_app(made, page=PAGE, q="Q1")
    assert not app.exception
    assert f"nothing can confirm that it means {expected}, where its offsets point." in words(app)
    assert "cited 1, unverified" in words(app)
    assert "ps-unverified" in raw(app)


def test_a_long_text_says_which_lines_are_shown(folder: Path, open_app: Open) -> None:
    (folder / "bulletin.md").write_text("line\n" * 5_000 + BULLETIN)
    app = open_app(folder, page=PAGE, q="Q1")
    assert "It is on lines 5,004–5,005." in words(app)
    assert "shown is lines 4,504–5,005 of 5,005" in words(app)


def test_a_quote_of_50_kb_and_one_with_a_lone_surrogate_are_answered(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    long = "word " * 10_240
    made = make_workspace(
        [trace("Q1", "q?", "a", citations=[{"doc_id": "bulletin", "quote": long}])], documents=DOCUMENTS
    )
    (made / "bulletin.md").write_text(BULLETIN)
    app = open_app(made, page=PAGE, q="Q1")
    assert not app.exception
    assert "Only the first 20,000 characters of the quote were searched for" in words(app)


def test_a_chunk_of_a_text_opens_without_a_question(folder: Path, open_app: Open) -> None:
    chunk = {"chunk_id": "b1", "doc_id": "bulletin", "text": "Header of the chunker\n\n" + BULLETIN[60:]}
    (folder / "chunks.jsonl").write_bytes(orjson.dumps(chunk) + b"\n")
    app = open_app(folder, page=PAGE, chunk="b1", page_idx="7")
    assert not app.exception
    assert "Partial: " in words(app)
    assert "It is on lines 3–5." in words(app)
    assert marks(raw(app), "retrieved")[-1] == "or 24 months."


def test_a_document_of_another_revision_says_so_and_is_shown(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    cited = {"doc_id": "bulletin", "quote": QUOTE, "rev": "e1d0aa91"}
    documents = [DOCUMENTS[0] | {"rev": "8c1e9a02", "sha256": "ab" * 32}]
    made = make_workspace([trace("Q1", "q?", QUOTE, citations=[cited])], documents=documents)
    (made / "bulletin.md").write_text(BULLETIN)
    app = open_app(made, page=PAGE, q="Q1")
    assert not app.exception
    assert "The file of bulletin is not the one that the manifest names" in words(app)
    assert "Cited is revision e1d0aa91 of bulletin, and the workspace has revision 8c1e9a02" in words(app)
    assert marks(raw(app), "cited")
