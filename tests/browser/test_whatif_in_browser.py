"""The What-if page in a real browser: settings by key and address, a sweep, and a saved run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, query, wait_for_query
from tests.places import DEMO

pytestmark = pytest.mark.browser


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    page.goto(url)
    wait_for_run(page)
    expect(page.get_by_text("settings tried")).to_be_visible()


def at_rest(page: Page) -> None:
    """Wait until nothing asks for another run by itself: claims that are being checked, a sweep."""
    expect(page.get_by_text("settings tried")).to_be_visible()
    expect(page.get_by_text("are being checked")).to_have_count(0)


def test_a_setting_follows_keys_and_back_and_a_shared_address_shows_the_same(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    opened(page, f"{serve(DEMO).url}/whatif?run=R003", wait_for_run)
    k = page.get_by_role("spinbutton", name="RRF k")
    k.fill("5")
    k.press("Enter")
    wait_for_query(page, k="5")
    weight = page.get_by_role("spinbutton", name="Weight of dense")
    weight.fill("3")
    weight.press("Enter")
    wait_for_query(page, weight="dense:3")
    sentence = page.get_by_text(re.compile(r"Retrieval: .* of 37 by SectionMatch@1"))
    expect(sentence).to_contain_text("2 fixed, 3 regressed")
    wait_for_run(page)
    at_rest(page)
    shared = page.url
    page.go_back()
    expect(weight).to_have_value("1")
    assert "weight" not in query(page)

    other = page_at()
    opened(other, shared, wait_for_run)
    expect(other.get_by_text(re.compile("Retrieval: 2 fixed, 3 regressed"))).to_be_visible()
    expect(other.get_by_role("spinbutton", name="RRF k")).to_have_value("5")


def test_a_point_of_the_sweep_takes_its_value(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(width=420)
    url = f"{serve(DEMO).url}/whatif?run=R003&sweep=weight&sweep_of=dense"
    opened(page, url, wait_for_run)
    figure = page.locator(".st-key-chart-sweep .js-plotly-plot")
    expect(figure).to_be_visible()
    expect(figure.get_by_text("Weight of dense (1 is the usual weight)")).to_be_visible()
    expect(page.get_by_text("12 settings tried")).to_be_visible()
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 420
    page.get_by_text("As a table").click()
    page.get_by_role("link", name="Weight of dense 0: take this value").click()
    wait_for_query(page, weight="dense:0")
    expect(page.get_by_role("spinbutton", name="Weight of dense")).to_have_value("0")
