"""The visible part of a page stays in place while the rest arrives."""

from __future__ import annotations

import pytest

from tests.browser.conftest import PageAt, Serve, WaitForRun
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
PAGES = ("", "question", "walkthrough", "trends", "compare", "whatif", "health", "sprint", "open")


def test_nothing_moves_while_a_page_arrives(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    url = serve(DEMO).url
    page = page_at(1400, 900, own=True)
    page.add_init_script(WATCH)
    moved = {}
    for path in PAGES:
        for _ in range(2):  # a first visit may wait for what is built for all, and grows by it
            page.goto(f"{url}/{path}?run=R006")
            wait_for_run(page)
            moved[path or "triage"] = page.evaluate("window.shifts")
            if moved[path or "triage"] <= MOST:
                break
    assert {path: by for path, by in moved.items() if by > MOST} == {}
