"""The panel of attachments by AppTest: notices as text, pictures once they are open, reasons."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
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
from tests.pages.conftest import send, shown
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
    """Show the panel with the items that the test put into the session."""
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


def groups(app: AppTest) -> list[dict[str, Any]]:
    """The groups that the browser receives."""
    protos = [each.proto for each in app.main.get("bidi_component")]
    (data,) = (bytes(each.bytes) for each in protos if each.component_name.endswith("attachments"))
    found: list[dict[str, Any]] = orjson.loads(data[4 : 4 + int.from_bytes(data[:4], "big")])["groups"]
    return found


def shown_items(app: AppTest) -> list[dict[str, Any]]:
    return [each for group in groups(app) for each in group["items"]]


def test_a_notice_is_text_with_its_sign_and_its_page(run: Run, source: Source) -> None:
    app = run([item("w-1", "warning", caption="WARNING", text="Never reach under the car.")])
    assert not app.exception
    (notice,) = shown_items(app)
    assert (notice["signal"], notice["title"], notice["place"]) == ("WARNING", "", "section 5.4")
    assert (notice["text"], notice["page_idx"]) == ("Never reach under the car.", 4)
    assert source.clipped == []
    send(app, "see", "w-1", key="a")
    assert (app.query_params["page"], app.query_params["see"]) == ("4", "w-1")


def test_a_notice_of_a_text_has_no_pdf_page(run: Run) -> None:
    notice = Attachment("n-1", "note", "bulletin", page_idx=0, section_id="B2", text="Oil is hot.")
    (shown,) = shown_items(run([Attached(notice, "section", None)]))
    assert (shown["text"], shown["page_idx"]) == ("Oil is hot.", None)


def test_a_few_pictures_are_open_with_caption_and_alternative_text(run: Run, source: Source) -> None:
    app = run([item("Figure 1"), item("Table 1", "table", page=5)])
    assert source.clipped == [4, 5]
    assert [each["alt"] for each in shown_items(app)] == [
        "Picture: Figure 1 Figure 1 in words",
        "Table: Table 1 Table 1 in words",
    ]
    assert [each["title"] for each in shown_items(app)] == ["Figure 1", "Table 1"]
    assert all(each["bytes"] == len(PNG) and not each["text"] for each in shown_items(app))


def test_many_pictures_are_folded_and_not_drawn_before_they_are_opened(run: Run, source: Source) -> None:
    count = attachments.AT_ONCE + 3
    app = run([item(f"Symbol {n}", "symbol", page=n % 9) for n in range(count)])
    (group,) = groups(app)
    assert (group["heading"], group["open"], group["items"]) == (f"Symbols ({count})", False, [])
    assert source.clipped == []
    app = send(app, "fold", "media", key="a")
    (group,) = groups(app)
    assert (group["open"], len(group["items"]), group["more"]) == (True, attachments.AT_ONCE, "Show 3 more")
    (group,) = groups(send(app, "more", "media", key="a"))
    assert (len(group["items"]), group["more"]) == (count, "")


def test_what_lies_on_other_pages_is_folded(run: Run, source: Source) -> None:
    near = item("w-1", "warning")
    (group,) = groups(run([Attached(near.attachment, "page", 1)]))
    assert (group["heading"], group["items"]) == ("On the pages before and after (1)", [])


@pytest.mark.parametrize("ref", ["pdf:manual#page_idx=9&bbox=1,2,30,40", "file:../secret.svg", None])
def test_what_cannot_be_drawn_shows_text_place_and_reason(run: Run, ref: str | None) -> None:
    (shown,) = shown_items(run([item("Figure 1", render_ref=ref)]))
    assert (shown["bytes"], shown["text"], shown["place"]) == (0, "Figure 1 in words", "section 5.4")
    assert shown["problem"].startswith("Not drawn: ")
    assert shown["page_idx"] == 4


def test_a_notice_without_words_shows_its_picture_and_one_without_a_picture_its_words(run: Run) -> None:
    app = run([item("w-1", "warning", text=""), item("c-1", "caution", render_ref=None)])
    assert [(each["bytes"] > 0, each["text"]) for each in shown_items(app)] == [
        (True, ""),
        (False, "c-1 in words"),
    ]
    assert not any(each["problem"] for each in shown_items(app)), "a notice needs no picture"


def test_pictures_that_are_too_large_together_are_left_to_their_pages(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "MAX_BYTES", {"panel": len(PNG) + 1})
    first, second = shown_items(run([item("Figure 1"), item("Figure 2")]))
    assert (first["problem"], second["problem"], second["bytes"]) == ("", attachments.TOO_LARGE, 0)


def test_nothing_attached_shows_nothing(run: Run) -> None:
    assert groups(run([])) == []


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
    slow, quick = shown_items(app)
    assert (slow["bytes"], slow["text"], slow["problem"]) == (0, "slow in words", "Being drawn …")
    assert quick["bytes"]
    assert "Some pictures are still being drawn …" in shown(app)
    gate.set()
    monkeypatch.setattr(background, "PATIENCE_S", 20.0)
    app.run()
    assert all(each["bytes"] for each in shown_items(app))
    assert "being drawn" not in shown(app).lower()
