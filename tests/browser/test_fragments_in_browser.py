"""Parts of a page that run alone, beside runs of the whole page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

APPS = Path(__file__).parent / "apps"


def test_what_a_run_drew_at_its_end_is_shown_though_a_fragment_is_asked_for_just_then(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "ended_run.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counting")).to_be_visible()
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("counted")).to_be_visible()


def test_a_fragments_request_from_a_page_that_was_left_takes_nothing_away(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    parts: list[str] = []

    def note(sent: str | bytes) -> None:
        if isinstance(sent, bytes):
            message = ForwardMsg.FromString(sent)
            if message.WhichOneof("type") == "new_session":
                parts.extend(message.metadata.run.fragment_ids)

    page.on("websocket", lambda websocket: websocket.on("framereceived", note))
    page.goto(serve(app=APPS / "left_page.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Part").click()
    page.get_by_role("link", name="Onwards").click()
    expect(page.get_by_text("page two")).to_be_visible()
    page.get_by_role("button", name="Again").click()
    expect(page.get_by_text("counted")).to_be_visible()
    expect(page.get_by_text("page two")).to_be_visible()
    assert parts == [], "no run of the first page's fragment is announced"


def test_a_fragment_is_run_that_is_asked_for_during_a_pages_first_run(serve: Serve, page_at: PageAt) -> None:
    page = page_at()
    page.goto(f"{serve(app=APPS / 'first_run.py').url}/beside")
    expect(page.get_by_text("drawn")).to_be_visible()
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("counted")).to_be_visible()


def test_a_page_that_is_asked_for_while_its_fragment_runs_is_not_drawn_inside_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.goto(serve(app=APPS / "during_fragment.py").url)
    wait_for_run(page)
    page.get_by_role("button", name="Part").click()
    expect(page.get_by_text("waiting")).to_be_visible()
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_text("counted")).to_be_visible()
    wait_for_run(page)
    expect(page.get_by_text("whole page")).to_have_count(1)
    expect(page.locator(".st-key-part").get_by_text("whole page")).to_have_count(0)
