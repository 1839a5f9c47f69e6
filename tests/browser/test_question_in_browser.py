"""The Question page in a real browser: where its parts stand, and what its boxes and cells look like."""

from __future__ import annotations

import pytest
from playwright.sync_api import FloatRect, Page

from tests.browser.conftest import PageAt, Serve, WaitForRun

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
