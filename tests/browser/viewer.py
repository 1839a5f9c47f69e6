"""Helpers for tests of the page viewer: opening it, the focused element, the place of a box."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page

from tests.browser.conftest import WaitForRun

APP = Path(__file__).parent / "apps" / "viewer.py"
#: A question of the handbook whose citation, gold and candidates lie on several pages.
QUESTION = "/question?run=R002&q=Q01&cite=1"


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> Page:
    """The viewer at an address, once it is drawn and heard of, so that no run is under way."""
    page.goto(url)
    wait_for_run(page)
    page.locator("[data-testid=ps-page][data-id]").wait_for()
    return page


def focused(page: Page) -> str:
    """The span, the control or the part of the viewer that has the keyboard's focus."""
    return str(
        page.evaluate(
            """() => {
              const active = document.activeElement?.shadowRoot?.activeElement;
              return active?.dataset.span ?? active?.dataset.do ?? active?.dataset.testid ?? "";
            }"""
        )
    )


def span(page: Page, name: str) -> Locator:
    return page.locator(f"[data-testid=ps-span][data-span='{name}']")


def box(page: Page, name: str) -> Locator:
    return page.locator(f"[data-testid=ps-box][data-span='{name}']").first


def place(found: Locator) -> FloatRect:
    rect = found.bounding_box()
    assert rect is not None
    return rect


def zoom(page: Page) -> int:
    """Return the zoom that the toolbar shows, in percent."""
    return int(page.get_by_test_id("ps-zoom").inner_text().removesuffix(" %"))
