"""Boxes against the ink: on rotated and cropped pages the box holds what is coloured, and hardly more."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.viewer import opened, place
from tests.hostile.workspaces import trace, write_workspace

pytestmark = pytest.mark.browser

#: Left, top, right and bottom in the window, in pixels.
Edges = tuple[float, float, float, float]
#: Pixels by which a letter's soft edge may reach over its box.
EDGE = 1.5
QUOTE = "The quick heron waits beside the silver lake"
#: Name of a document → rotation, and the crop box of its page of 500 × 700 points.
PAGES = {
    "plain": (0, (0, 0, 500, 700)),
    "turned-90": (90, (0, 0, 500, 700)),
    "turned-180": (180, (0, 0, 500, 700)),
    "turned-270": (270, (0, 0, 500, 700)),
    "cropped": (0, (60, 90, 460, 560)),
    "turned-and-cropped": (90, (60, 90, 460, 560)),
}
#: Name of a document of one page without text → width and height of it in points.
SIZES = {"huge": (14_400, 14_400), "strip": (10, 1_000), "empty": (300, 300)}
HIDE_LOOKS = """page => {
  const root = page.getRootNode();
  root.append(Object.assign(document.createElement("style"), {
    textContent: ".outlines, .names, .card { visibility: hidden; } .box { background: none !important; }",
  }));
}"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document for each kind of page, with one red sentence or none, and a question that cites it."""
    folder = tmp_path_factory.mktemp("positions") / "w"
    names = [*PAGES, *SIZES]
    chunks = [
        {"chunk_id": name, "doc_id": name, "section_id": "1", "page_idx": 0, "text": QUOTE} for name in names
    ]
    traces = [
        trace(name, "Which bird waits?", f"{QUOTE}. citations: [{name}]", ()) | _cites(name) for name in names
    ]
    documents = [{"doc_id": name, "path": f"{name}.pdf"} for name in names]
    write_workspace(folder, traces, chunks, documents=documents)
    for name, (rotation, crop) in PAGES.items():
        _write_page(folder / f"{name}.pdf", rotation, crop)
    for name, (width, height) in SIZES.items():
        with pymupdf.open() as document:
            document.new_page(width=width, height=height)
            document.save(folder / f"{name}.pdf")
    return folder


def _cites(name: str) -> dict[str, object]:
    return {
        "chunks": [{"id": name, "doc_id": name}],
        "citations": [{"chunk_id": name, "doc_id": name, "page": 1}],
    }


def _write_page(path: Path, rotation: int, crop: tuple[int, int, int, int]) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=500, height=700)
        for number in range(18):
            page.insert_text((80, 120 + 24 * number), f"Grey words of line {number}", color=(0.6, 0.6, 0.6))
        page.insert_text((80, 330), QUOTE, color=(1, 0, 0), fontsize=13)
        page.set_cropbox(pymupdf.Rect(crop))
        page.set_rotation(rotation)
        document.save(path)


def frame(page: Page) -> Edges:
    """Return the part of the page that the viewer's frame shows, without its scroll bars."""
    found = page.get_by_test_id("ps-viewer")
    rect = place(found)
    width, height = found.evaluate("frame => [frame.clientWidth, frame.clientHeight]")
    return rect["x"] + 1, rect["y"] + 1, rect["x"] + 1 + width, rect["y"] + 1 + height


def in_sight(page: Page, rect: FloatRect) -> Edges:
    """The part of a box that lies in the frame."""
    left, top, right, bottom = frame(page)
    ends = rect["x"] + rect["width"], rect["y"] + rect["height"]
    return max(left, rect["x"]), max(top, rect["y"]), min(right, ends[0]), min(bottom, ends[1])


def red_ink(page: Page) -> Edges:
    """The smallest rectangle around all red pixels of the page."""
    page.get_by_test_id("ps-page").evaluate(HIDE_LOOKS)
    left, top, right, bottom = map(int, frame(page))
    picture = page.screenshot(clip={"x": left, "y": top, "width": right - left, "height": bottom - top})
    pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))
    is_red = (pixels[:, :, 0] > 150) & (pixels[:, :, 1] < 120) & (pixels[:, :, 2] < 120)
    rows, columns = np.nonzero(is_red)
    assert rows.size > 100, "the red sentence is in sight"
    return left + columns.min(), top + rows.min(), left + columns.max() + 1, top + rows.max() + 1


@pytest.mark.parametrize("name", PAGES)
def test_the_box_holds_the_ink_and_hardly_more(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path, name: str
) -> None:
    page = opened(page_at(1400, 1400), f"{serve(workspace).url}/question?q={name}", wait_for_run)
    boxes = page.locator("[data-testid=ps-box][data-layer=cited]")
    expect(boxes).to_have_count(1)
    for keys in ("", "f", "++"):
        page.get_by_test_id("ps-viewer").focus()
        for key in keys:
            page.keyboard.press(key)
        if keys == "++":  # a slow layout may have brought a detail before
            expect(page.get_by_test_id("ps-detail")).to_be_visible()
        box = in_sight(page, place(boxes))
        ink = red_ink(page)
        spare = 0.35 * min(box[2] - box[0], box[3] - box[1]) + 2
        for side, (of_box, of_ink) in enumerate(zip(box, ink, strict=True)):
            beyond = of_box - of_ink if side < 2 else of_ink - of_box
            assert -spare < beyond <= EDGE, (name, keys, box, ink)


def test_pages_of_extreme_sizes_and_without_text_are_shown(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    for name, (width, height) in SIZES.items():
        opened(page, f"{serve(workspace).url}/question?q={name}", wait_for_run)
        paper = place(page.get_by_test_id("ps-page"))
        assert paper["width"] / paper["height"] == pytest.approx(width / height, rel=0.05)
        assert page.get_by_test_id("ps-picture").evaluate("picture => picture.naturalWidth") > 0
        expect(page.get_by_test_id("ps-span")).to_have_count(0)
        expect(page.get_by_test_id("ps-page-text")).to_contain_text("no text")
