"""Health in a real browser: from the old address to a number, by keys, and on to its questions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

CELLS = ".st-key-code-cells"


def in_sight(page: Page) -> None:
    """Assert that nothing extends over the right edge of the page."""
    wider = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
    assert wider <= 0


def test_a_number_of_health_leads_to_as_many_questions(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 1000)
    page.goto(f"{serve().url}/workspace?run=R001")
    page.wait_for_url("**/health?run=R001")
    wait_for_run(page)
    expect(page.get_by_text("what is missing comes by itself")).to_have_count(0)
    grids = page.get_by_test_id("ps-grid")
    expect(grids).to_have_count(0)  # nothing that is folded was sent
    for name in ("codes", "runs", "files"):
        page.locator(f".st-key-fold-{name} summary").click()
        wait_for_run(page)
    first, last = page.locator(".st-key-gate"), page.locator(".st-key-fold-codes")
    assert first.bounding_box()["y"] < last.bounding_box()["y"]  # type: ignore[index]
    for width in (1400, 1100, 900, 420):
        page.set_viewport_size({"width": width, "height": 1000})
        in_sight(page)
    runs = page.get_by_role("table", name="Runs of this workspace")
    assert runs.evaluate("table => table.offsetWidth <= table.closest('.frame').clientWidth")
    expect(runs.locator(".below > .in-traces").first).to_be_visible()  # on a phone a run is a card
    numbers = page.locator(f"{CELLS} td a")
    assert all(number.is_visible() for number in numbers.all()), "the runs' numbers are there on a phone"
    page.set_viewport_size({"width": 900, "height": 1000})
    expect(page.get_by_test_id("stDataFrame")).to_have_count(0)  # its download keeps formulas
    badge = page.get_by_test_id("stSidebar").get_by_role("link", name=re.compile("Health"))
    expect(badge).to_have_text(re.compile(r"Health\s*\d+"))
    number = page.locator(f"{CELLS} td a").first
    count = int(number.inner_text())
    number.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?*code=*")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-row")).to_have_count(count)
