"""Parts of a page that run alone, beside runs of the whole page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

APP = Path(__file__).parent / "apps" / "ended_run.py"


def test_what_a_run_drew_at_its_end_is_shown_though_a_fragment_is_asked_for_just_then(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APP).url)
    wait_for_run(page)
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counting")).to_be_visible()
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("counted")).to_be_visible()
