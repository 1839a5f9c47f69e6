"""A document without pages in a real browser: the chosen span is visible, and the text is only text."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.hostile.workspaces import trace, write_workspace

pytestmark = pytest.mark.browser

FIRST, SECOND = "The filter of the cabin is changed with every second service.", "Wipers last one year."
CITED = [{"chunk_id": f"c{n}", "doc_id": "notes", "quote": quote} for n, quote in enumerate((FIRST, SECOND))]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of 600 lines with two cited sentences far apart."""
    folder = write_workspace(
        tmp_path_factory.mktemp("texts") / "w",
        [{**trace("Q1", "When is the cabin filter changed?", FIRST), "citations": CITED}],
        documents=[{"doc_id": "notes", "path": "notes.md", "paged": False}],
    )
    lines = [f"Line {number} says nothing of interest." for number in range(1, 601)]
    lines[299] = FIRST.replace("changed with", "changed\nwith")
    lines[549] = f"<img src=x onerror=alert(1)> **{SECOND}**"
    (folder / "notes.md").write_text("\n".join(lines), encoding="utf-8")
    return folder


def scrolled_beyond(page: Page, at: float) -> float:
    """Return where the frame has scrolled to beyond `at`, in pixels; `at` or less after five seconds."""
    return float(
        page.get_by_test_id("ps-frame").evaluate(
            """async (frame, at) => {
                for (let left = 100; left && frame.scrollTop <= at; left--)
                    await new Promise(resolve => setTimeout(resolve, 50));
                return frame.scrollTop;
            }""",
            at,
        )
    )


def is_in_sight(page: Page) -> bool:
    """Whether the chosen span lies inside what the frame shows."""
    return bool(
        page.get_by_test_id("ps-frame").evaluate(
            """frame => {
                const mark = frame.querySelector("mark.ps-chosen").getBoundingClientRect();
                const box = frame.getBoundingClientRect();
                return mark.height > 0 && mark.top >= box.top && mark.bottom <= box.bottom;
            }"""
        )
    )


@pytest.mark.parametrize("width", [900, 1400])
def test_the_chosen_span_is_scrolled_into_sight_inside_the_frame(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path, width: int
) -> None:
    page = page_at(width, 900)
    page.goto(f"{serve(workspace).url}/question?q=Q1")
    wait_for_run(page)
    frame = page.get_by_test_id("ps-frame")
    frame.wait_for()
    at = scrolled_beyond(page, 0)
    assert at > 0
    assert is_in_sight(page)
    chosen = frame.locator("mark.ps-chosen")
    expect(chosen).to_have_text(["The filter of the cabin is changed", "with every second service."])
    line = frame.locator("[data-line='7']")
    assert line.inner_text() == "Line 7 says nothing of interest.", "its number is no part of what is copied"
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollTop") == 0, "the page itself does not move"
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    page.locator(".st-key-cite-2 button").click()
    expect(chosen).to_have_text([SECOND])
    assert scrolled_beyond(page, at) > at
    assert is_in_sight(page)
    assert frame.locator("img, strong").count() == 0
    expect(frame.locator("[data-line='551']")).to_contain_text("<img src=x onerror=alert(1)> **")


def test_a_frame_that_is_drawn_again_or_gets_its_size_later_shows_the_chosen_span_too(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve(workspace).url}/question?q=Q1")
    wait_for_run(page)
    frame = page.get_by_test_id("ps-frame")
    assert scrolled_beyond(page, 0) > 0
    frame.evaluate("frame => frame.replaceWith(frame.cloneNode(true))")
    assert scrolled_beyond(page, 0) > 0
    assert is_in_sight(page)
    frame.evaluate("""frame => {
      const copy = frame.cloneNode(true);
      copy.style.maxHeight = "none";
      frame.replaceWith(copy);
      setTimeout(() => copy.style.maxHeight = "", 100);
    }""")
    assert scrolled_beyond(page, 0) > 0
    assert is_in_sight(page)
