"""Journeys of an analyst and a reviewer, counted in clicks and screens."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, query
from tests.places import DEMO

pytestmark = pytest.mark.browser


def test_a_wrong_number_is_three_clicks_away_and_the_address_shares_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(serve(DEMO).url)
    wait_for_run(page)

    page.get_by_test_id("stSidebar").get_by_test_id("stSelectbox").click()  # 1
    page.get_by_role("option", name=re.compile("^R005")).click()  # 2
    wait_for_run(page)
    wrong = page.get_by_test_id("ps-row").filter(has_text="54 seconds").first
    expect(wrong).to_contain_text("Wrong number")
    wrong.click()  # 3
    wait_for_run(page)

    expect(page.get_by_role("heading", level=1)).to_contain_text("How long do I have to open a door")
    expect(page.locator("[class*=st-key-verdict-]")).to_contain_text("the answer says 54 seconds")
    box = page.get_by_test_id("ps-box").and_(page.locator("[data-layer=cited]")).first
    expect(box).to_be_in_viewport()
    assert {name: query(page)[name] for name in ("run", "q")} == {"run": ["R005"], "q": ["Q78"]}


def test_whether_a_run_may_be_released_is_answered_on_the_first_screen_of_one_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve(DEMO).url}/trends?run=R006")
    wait_for_run(page)
    check = page.locator(".st-key-gate")
    expect(check.get_by_text("Not ready")).to_be_in_viewport(ratio=1)
    reasons = check.get_by_test_id("ps-grid").first.locator("tbody")
    expect(reasons).to_have_count(4)
    cards = page.locator("[class*=st-key-card-of-]")
    expect(cards).to_have_count(4)
    for part in (*reasons.all(), *cards.all()):
        expect(part).to_be_in_viewport(ratio=1)
