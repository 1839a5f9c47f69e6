"""A part of a passage on the page: the part is tinted, the passage around it has a thin outline."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.viewer import APP, box, focused, opened, place, span

pytestmark = pytest.mark.browser

PART, WHOLE = "cited:0", "gold:1"
#: Width and height of an outline's edge, and the width of its line, in pixels.
EDGE = """outline => {
  const edge = outline.querySelector(".edge").getBoundingClientRect();
  return [edge.width, edge.height, parseFloat(getComputedStyle(outline).strokeWidth)];
}"""


@pytest.fixture
def page(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> Page:
    return opened(page_at(1000, 900), f"{serve(app=APP).url}/?parts", wait_for_run)


def test_the_part_is_tinted_and_its_passage_is_a_thin_outline(page: Page) -> None:
    part = place(box(page, PART))
    whole = page.get_by_test_id("ps-extent").evaluate(EDGE)
    assert whole[0] > 10 * part["width"]
    assert whole[1] > part["height"]
    line = page.locator(f"[data-testid=ps-outline][data-span='{PART}']").evaluate(EDGE)[2]
    assert whole[2] < line
    ground = page.locator(f"[data-testid=ps-outline][data-span='{PART}'] .ground")
    assert float(ground.evaluate("each => getComputedStyle(each).opacity")) > 0
    expect(page.get_by_test_id("ps-extent")).to_have_count(1)


def test_a_passage_of_which_no_part_is_meant_is_outlined_and_can_be_chosen(
    page: Page, wait_for_run: WaitForRun
) -> None:
    assert box(page, WHOLE).evaluate("box => getComputedStyle(box).backgroundColor") == "rgba(0, 0, 0, 0)"
    box(page, WHOLE).click()
    wait_for_run(page)
    expect(page.get_by_text(f"chosen:{WHOLE}")).to_be_visible()
    expect(span(page, WHOLE)).to_have_attribute("aria-current", "true")
    assert focused(page) in (WHOLE, "")
