"""Sizes of an open page at four widths: small text and targets, inner scroll boxes, cut content."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.conftest import AT_REST, IDLE

WIDTHS = (1400, 1100, 900, 420)
#: CSS pixels of the smallest text that is read and of the smallest target (WCAG 2.5.8).
TEXT, TARGET = 14, 24
LOOK = (Path(__file__).parent / "sizes.js").read_text("utf-8").partition("\n")[2].strip()


def flaws(page: Page) -> list[str]:
    """Texts and targets that are too small, boxes that scroll and what is cut, at each of the widths."""
    before = page.viewport_size
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(IDLE).wait_for(state="attached")
        page.evaluate(AT_REST)
        found += [f"{width}: {flaw}" for flaw in page.evaluate(LOOK, [TEXT, TARGET])]
    if before:
        page.set_viewport_size(before)
    return found
