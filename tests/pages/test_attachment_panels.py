"""The panel of attachments by AppTest: notices as text, pictures when they are looked at, reasons told."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.contracts.records.records import Attachment, AttachmentKind, Box
from proofspan.errors import EvidenceFault
from proofspan.evidence.attachments import Attached
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, Picture, SpanQuery
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.ui.question import attachments
from proofspan.ui.status import background
from tests.pages.conftest import shown
from tests.pictures import saved, two_colours

pytestmark = pytest.mark.slow

PNG = saved(two_colours(), "PNG")
Run = Callable[[Sequence[Attached]], AppTest]


class Source:
    """A document of nine pages, of which every region is the same picture."""

    def __init__(self) -> None:
        self.clipped: list[int] = []

    def document(self, path: Path) -> DocumentInfo:
        return DocumentInfo(9)

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        raise AssertionError("nothing is placed here")

    def look(
        self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool
    ) -> tuple[list[FoundSpan], PageImage | None]:
        raise AssertionError("nothing is placed here")

    def show(self, path: Path, page_idx: int, *, with_words: bool) -> PageImage:
        raise AssertionError("no page is drawn here")

    def clip(self, path: Path, page_idx: int, box: Box) -> Picture:
        if page_idx > 8:
            raise EvidenceFault.of("page_out_of_range", "there are 9 pages", where="x", fix="count from 0")
        self.clipped.append(page_idx)
        return Picture(PNG, 40, 20)

    def picture(self, path: Path) -> Picture:
        raise AssertionError("no file is named here")


def page_script() -> None:
    """What AppTest runs: the panel with what the test put into the session."""
    import streamlit as st

    from proofspan.ui.question.attachments import show_attachments

    state = st.session_state
    show_attachments(state["items"], manifest=state["manifest"], placer=state["placer"], key="a")


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def run(tmp_path: Path, source: Source) -> Run:
    (tmp_path / "manual.pdf").write_bytes(b"%PDF-1.7")
    paged = Document("manual", Artifact("documents[0]", "manual.pdf"))
    text = Document("bulletin", Artifact("documents[1]", "bulletin.md"), paged=False)
    manifest = Manifest("m", tmp_path, documents=(paged, text))

    def start(items: Sequence[Attached]) -> AppTest:
        app = AppTest.from_function(page_script, default_timeout=60)
        app.session_state["items"] = items
        app.session_state["manifest"] = manifest
        app.session_state["placer"] = Placer(source)
        return app.run()

    return start


def item(name: str, kind: AttachmentKind = "image", *, page: int | None = 4, **more: str | None) -> Attached:
    ref = f"pdf:manual#page_idx={page or 0}&bbox=1,2,30,40"
    fields = {"render_ref": ref, "caption": name, "text": f"{name} in words", "section_id": "5.4", **more}
    return Attached(Attachment(name, kind, "manual", page_idx=page, **fields), "section", 0)  # type: ignore[arg-type]


def words(app: AppTest) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", shown(app)))


def test_a_notice_is_text_with_its_sign_and_its_page(run: Run) -> None:
    app = run([item("w-1", "warning", caption="WARNING", text="Never reach under the car.")])
    assert not app.exception
    assert 'class="ps-signal-warning">WARNING<' in shown(app)
    assert "section 5.4" in words(app)
    assert "Never reach under the car." in words(app)
    assert app.main.get("image") == []
    app.button(key="a-notices-notice-warning-0-page-link").click().run()
    assert app.query_params["page"] == "4"


def test_a_notice_of_a_text_has_no_pdf_page(run: Run) -> None:
    notice = Attachment("n-1", "note", "bulletin", page_idx=0, section_id="B2", text="Oil is hot.")
    app = run([Attached(notice, "section", None)])
    assert "Oil is hot." in words(app)
    assert len(app.button) == 0


def test_a_few_pictures_stand_open_with_caption_and_words_for_the_blind(run: Run, source: Source) -> None:
    app = run([item("Figure 1"), item("Table 1", "table", page=5)])
    assert source.clipped == [4, 5]
    pictures = app.main.get("image")
    assert [picture.proto.imgs[0].alt for picture in pictures] == [
        "Picture: Figure 1 Figure 1 in words",
        "Table: Table 1 Table 1 in words",
    ]
    assert "Figure 1" in words(app)
    assert [button.label for button in app.button] == ["PDF page 5", "PDF page 6"]


def test_many_pictures_wait_behind_their_heading_and_are_not_drawn_before(run: Run, source: Source) -> None:
    count = attachments.AT_ONCE + 3
    app = run([item(f"Symbol {n}", "symbol", page=n % 9) for n in range(count)])
    assert [expander.label for expander in app.expander] == [rf"Symbols \({count}\)"]
    assert source.clipped == []
    app.session_state["a-media"] = True
    app.run()
    assert len(app.main.get("image")) == attachments.AT_ONCE
    app.button(key="a-media-in-more").click().run()
    assert len(app.main.get("image")) == count


def test_what_lies_on_other_pages_waits(run: Run, source: Source) -> None:
    near = item("w-1", "warning")
    app = run([Attached(near.attachment, "page", 1)])
    assert [expander.label for expander in app.expander] == [r"On the pages before and after \(1\)"]
    assert "w-1 in words" not in words(app)


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("pdf:manual#page_idx=9&bbox=1,2,30,40", "there are 9 pages. Count from 0."),
        ("file:../secret.svg", "the picture's path is refused"),
        ("pdf:other#page_idx=0&bbox=1,2,3,4", "the workspace has no document other"),
        (None, "the catalogue names nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_shows_text_place_and_reason(run: Run, ref: str | None, reason: str) -> None:
    app = run([item("Figure 1", render_ref=ref)])
    assert app.main.get("image") == []
    said = " ".join(words(app).split())
    for part in ("Figure 1", "Figure 1 in words", "section 5.4", "Not drawn:", reason):
        assert part in said, part
    assert [button.label for button in app.button] == ["PDF page 5"]


def test_a_notice_without_words_shows_its_picture_and_one_without_a_picture_its_words(run: Run) -> None:
    app = run([item("w-1", "warning", text=""), item("c-1", "caution", render_ref=None)])
    assert len(app.main.get("image")) == 1
    assert "c-1 in words" in words(app)
    assert "Not drawn" not in words(app), "a notice needs no picture"


def test_foreign_words_stay_words(run: Run) -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](http://example.invalid/x.png) **b**"
    app = run(
        [
            item(hostile, "warning", text=hostile, section_id=hostile),
            item(hostile, "image", text=hostile, render_ref=hostile),
        ]
    )
    assert not app.exception
    assert "<img" not in shown(app)
    assert words(app).count(hostile) >= 4


def test_nothing_attached_shows_nothing(run: Run) -> None:
    app = run([])
    assert shown(app) == ""
    assert not app.expander


def test_a_picture_that_takes_long_is_awaited_beside_its_words(
    run: Run, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    draw = source.clip

    def clip(path: Path, page_idx: int, box: Box) -> Picture:
        assert page_idx != 4 or gate.wait(20)
        return draw(path, page_idx, box)

    monkeypatch.setattr(source, "clip", clip)
    monkeypatch.setattr(background, "PATIENCE_S", 0.05)
    monkeypatch.setattr(background, "LEAST_S", 0.5)
    app = run([item("slow"), item("quick", page=5)])
    assert not app.exception
    assert len(app.main.get("image")) == 1
    assert "Being drawn …" in words(app)
    assert "slow in words" in words(app)
    assert "Some pictures are still being drawn …" in words(app)
    gate.set()
    monkeypatch.setattr(background, "PATIENCE_S", 20.0)
    app.run()
    assert len(app.main.get("image")) == 2
    assert "being drawn" not in words(app).lower()
