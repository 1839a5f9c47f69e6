"""The Question page in a real browser: where its parts stand, and what its boxes and cells look like."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.hostile.workspaces import trace, write_workspace

pytestmark = pytest.mark.browser


def place(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    page.goto(url)
    wait_for_run(page)
    page.get_by_test_id("ps-picture").wait_for()


def test_a_narrow_window_puts_the_page_between_answer_and_reasons(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    answer, side, reading = (place(page, f".st-key-{key}") for key in ("answer", "page-side", "reading"))
    assert answer["x"] == side["x"] == reading["x"]
    assert answer["width"] == side["width"] == reading["width"]
    assert answer["y"] + answer["height"] <= side["y"]
    assert side["y"] + side["height"] <= reading["y"]
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") == 0


def test_a_wide_window_puts_the_page_beside_them(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    answer, side, reading = (place(page, f".st-key-{key}") for key in ("answer", "page-side", "reading"))
    assert answer["x"] + answer["width"] < side["x"]
    assert answer["y"] == side["y"]
    assert reading["x"] == answer["x"]
    assert reading["y"] < side["y"] + side["height"], "the reading waits for the page's end"


def test_the_reading_stands_where_it_stays_while_the_page_is_not_there_yet(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    there = place(page, ".st-key-reading")
    page.locator(".st-key-sides > *").filter(has=page.locator(".st-key-page-side")).or_(
        page.locator(".st-key-sides > .st-key-page-side")
    ).first.evaluate("side => side.remove()")
    without = place(page, ".st-key-reading")
    assert (without["x"], without["width"]) == (there["x"], there["width"])


def test_a_retrieved_table_is_a_region_and_the_cited_row_stays_its_words(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01&cite=1", wait_for_run)
    boxes = page.get_by_test_id("ps-box")
    table = boxes.and_(page.locator("[data-layer=retrieved][data-span*='s=8.1|p=015|b=001']"))
    assert 1 <= table.count() <= 2, "a table of seven rows is a region, its last row a stub of it"
    cited = boxes.and_(page.locator("[data-layer=cited]"))
    assert cited.count() == 3, "one box a cell that the misquoted row was found in"


def test_arrow_keys_turn_the_page_and_a_button_leads_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    said = page.locator(".st-key-finding")
    at = said.inner_text()
    side = page.locator(".st-key-page-side")
    start = side.locator(".ps-hint").first.inner_text()
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("not on this page.")
    expect(page.get_by_test_id("ps-box").and_(page.locator(".chosen"))).to_have_count(0)
    page.reload()
    expect(said).to_contain_text("not on this page.")
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("ArrowRight")
    expect(side.locator(".ps-hint").first).to_have_text(start, use_inner_text=True)
    expect(said).to_have_text(at, use_inner_text=True)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Back to the passage").click()
    expect(said).to_have_text(at, use_inner_text=True)
    assert "page=" not in page.url


def test_the_other_runs_are_there_at_once_and_get_their_label_without_a_reload(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(FRESH='other runs').url}/question?run=R002&q=Q01", wait_for_run)
    other = page.locator(".st-key-run-R001")
    expect(other).to_contain_text("R001")
    expect(other).not_to_contain_text("indexed", timeout=30_000)
    other.get_by_role("button").click()
    expect(page).to_have_url(re.compile("run=R001"))


def test_a_long_answer_scrolls_in_its_own_box(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, tmp_path: Path
) -> None:
    answer = "\n".join(f"Line {n} of the answer." for n in range(200))
    folder = write_workspace(tmp_path / "w", [trace("Q1", "How?", answer)])
    page = page_at(1400, 900)
    page.goto(f"{serve(folder).url}/question?q=Q1")
    wait_for_run(page)
    box = page.locator(".st-key-answer .ps-text")
    assert place(page, ".st-key-answer .ps-text")["height"] < 800
    assert box.evaluate("box => box.scrollHeight > box.clientHeight + 1000")
