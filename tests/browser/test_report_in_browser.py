"""The release report in a real browser: one screen, its pictures, its files and its ways on."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query
from tests.places import DEMO

pytestmark = pytest.mark.browser

#: The height and the width of what scrolls, and of what is in sight.
SIZES = """() => {
  const main = document.querySelector(".stMain");
  return [main.scrollHeight, main.clientHeight, main.scrollWidth, main.clientWidth];
}"""

#: Whether all pictures are there.
DRAWN = """() => [...document.querySelectorAll("[data-testid=ps-crop] img")].every(
  (each) => each.complete && each.naturalWidth > 300
)"""

#: The types of what is in the clipboard, and its text.
COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  return [item.types, await (await item.getType("text/plain")).text()];
}"""


def test_the_report_is_one_screen_and_hands_itself_over(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve(DEMO).url}/report?run=R006")
    wait_for_run(page)
    wait_for_query(page, vs="R004")
    pictures = page.get_by_test_id("ps-crop").locator("img")
    expect(pictures).not_to_have_count(0)
    page.wait_for_function(DRAWN)
    height, room, width, across = page.evaluate(SIZES)
    assert height <= room and width <= across
    with page.expect_download() as download:
        page.locator(".st-key-report-pdf").get_by_role("button").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF-")
    page.set_viewport_size({"width": 420, "height": 900})
    page.wait_for_function("() => document.querySelector('.stMain').clientWidth <= 420")
    _, _, width, across = page.evaluate(SIZES)
    assert width <= across
    page.get_by_role("link", name="Q108", exact=True).last.click()
    page.wait_for_url("**/compare?*")
    wait_for_query(page, q="Q108", run="R006", vs="R004")


def test_a_card_is_copied_with_its_text(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = page_at(1400, 900)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{serve(DEMO).url}/question?run=R006&q=Q92")
    wait_for_run(page)
    page.locator(".st-key-copy-card").get_by_role("button").click()
    card = page.get_by_test_id("ps-copy-card-picture")
    expect(card).to_be_visible(timeout=60_000)
    wait_for_run(page)
    assert card.evaluate("image => image.naturalWidth") == 1120
    page.get_by_test_id("ps-copy-card-copy").click()
    expect(page.get_by_test_id("ps-copy-card-status")).to_have_text("Copied")
    types, text = page.evaluate(COPIED)
    assert {*types} == {"image/png", "text/plain"} and "Q92 · R006" in text
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('refused')); }")
    with page.expect_download() as download:
        page.get_by_test_id("ps-copy-card-copy").click()
    assert download.value.suggested_filename == "Q92.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
