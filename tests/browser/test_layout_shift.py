"""The visible part of a page stays in place while the rest arrives, and nothing is asked for by the clock."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import ARRIVING, PageAt, Serve, WaitForRun
from tests.places import DEMO

pytestmark = pytest.mark.browser

#: The sum of layout shifts of a load; the web calls 0.1 good.
MOST = 0.1
WATCH = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
PAGES = ("", "question", "walkthrough", "trends", "compare", "report", "whatif", "health", "sprint", "open")


def test_nothing_moves_while_a_page_arrives_and_no_part_is_polled(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    url = serve(DEMO).url
    page = page_at(1400, 900, own=True)
    page.add_init_script(WATCH)
    clocks = list[str]()

    def note(sent: str | bytes) -> None:
        if isinstance(sent, bytes) and ForwardMsg.FromString(sent).WhichOneof("type") == "auto_rerun":
            clocks.append(page.url)

    page.on("websocket", lambda websocket: websocket.on("framereceived", note))
    moved = {}
    for path in PAGES:
        for _ in range(2):  # a first visit may wait for what is built for all, and grows by it
            page.goto(f"{url}/{path}?run=R006")
            wait_for_run(page)
            moved[path or "triage"] = page.evaluate("window.shifts")
            if moved[path or "triage"] <= MOST:
                break
    assert clocks == [], "a part of a page that runs again every few seconds"
    assert {path: by for path, by in moved.items() if by > MOST} == {}


def test_nothing_moves_in_a_browser_that_takes_long_to_draw(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    url = serve(DEMO).url
    page = page_at(1400, 900, own=True)
    page.add_init_script(WATCH)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 5})
    for path in ("question", "compare"):
        page.goto(f"{url}/{path}?run=R006")
        wait_for_run(page)
        page.wait_for_selector(ARRIVING, state="detached")
        page.evaluate("new Promise((resolve) => requestIdleCallback(resolve))")
        assert page.evaluate("window.shifts") <= MOST, path
