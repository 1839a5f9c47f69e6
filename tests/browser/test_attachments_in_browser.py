"""The attachments of a cited place in a real browser: pictures are seen, notices lead to their page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query
from tests.hostile.workspaces import write_workspace
from tests.pictures import saved, two_colours

pytestmark = pytest.mark.browser

INDEX_MS = 120_000
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken"</script></svg>'
PLACE = {"doc_id": "manual", "section_id": "5"}
CATALOGUE = [
    {"attachment_id": "w", "kind": "warning", "text": "<b>Hot</b> oil.", "page_idx": 1, **PLACE},
    {"attachment_id": "r", "kind": "table", "page_idx": 0, "caption": "Region", **PLACE}
    | {"render_ref": "pdf:manual#page_idx=0&bbox=10,10,150,60"},
    {"attachment_id": "f", "kind": "image", "caption": "File", "render_ref": "file:a.png", **PLACE},
    {"attachment_id": "s", "kind": "image", "caption": "Plan", "render_ref": "file:plan.svg", **PLACE},
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manual whose catalogue names a notice, a region, a picture file and an SVG."""
    folder = write_workspace(
        tmp_path_factory.mktemp("attached") / "w",
        catalogue={"path": "catalogue.jsonl"},
        attachments_root="media",
    )
    (folder / "media").mkdir()
    (folder / "media/a.png").write_bytes(saved(two_colours(2_000, 500), "PNG"))
    (folder / "media/plan.svg").write_bytes(SVG)
    lines = (json.dumps(record) for record in CATALOGUE)
    (folder / "catalogue.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> Page:
    """The question's page, once its run has been indexed."""
    page.goto(f"{url}/question?q=Q1")
    page.get_by_alt_text("Table: Region").wait_for(timeout=INDEX_MS)
    wait_for_run(page)
    return page


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_seen_and_what_is_not_drawn_says_why(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path, dark: bool
) -> None:
    window = page_at(1400, 900, dark, own=True)
    refused: list[str] = []
    window.on("console", lambda message: refused.append(message.text) if _is_refusal(message) else None)
    page = opened(window, serve(workspace).url, wait_for_run)
    for name in ("Table: Region", "Picture: File"):
        picture = page.get_by_alt_text(name)
        expect(picture).to_be_visible()
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 200
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("<b>Hot</b> oil.")
    expect(main).to_contain_text("Not drawn: the picture is an SVG")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    assert page.title() != "taken"
    assert refused == []


def test_in_a_narrow_window_the_page_that_a_notice_leads_to_comes_into_sight(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = opened(page_at(900, 500), serve(workspace).url, wait_for_run)
    notice = page.get_by_test_id("ps-notice").filter(has_text="Hot").first
    viewer = page.get_by_test_id("ps-viewer")
    notice.scroll_into_view_if_needed()
    expect(viewer).not_to_be_in_viewport()
    notice.get_by_role("button", name="PDF page 2").click()
    expect(viewer).to_be_in_viewport()
    expect(page.get_by_title("page_idx 1 · PDF page 2")).to_be_in_viewport()


def test_a_notice_leads_to_its_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = opened(page_at(), serve(workspace).url, wait_for_run)
    notice = page.get_by_test_id("ps-notice").filter(has_text="Hot").first
    sign = "word => getComputedStyle(word, '::before').clipPath"
    assert "polygon" in notice.locator(".ps-signal-warning").evaluate(sign)
    notice.get_by_role("button", name="PDF page 2").click()
    wait_for_run(page)
    wait_for_query(page, page="1")
    expect(page.get_by_test_id("stMain")).to_contain_text(re.compile(r"PDF (page )?2\b"))


def _is_refusal(message: ConsoleMessage) -> bool:
    return message.type == "error" and "Content Security Policy" in message.text
