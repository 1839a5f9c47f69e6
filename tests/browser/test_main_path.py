"""The main path in a real browser: from the list to the highlighted words, and back by the URL."""

from __future__ import annotations

import io
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, query
from tests.places import DEMO

pytestmark = pytest.mark.browser


def cited_boxes(page: Page) -> Locator:
    return page.get_by_test_id("ps-box").and_(page.locator("[data-layer=cited]"))


def pixels(page: Page, box: Locator) -> list[tuple[int, int, int]]:
    """Return the screenshot of a box."""
    place = box.bounding_box()
    assert place is not None
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    x, y = round(place["x"]), round(place["y"])
    inside = image.crop((x, y, x + round(place["width"]), y + round(place["height"])))
    flat = inside.tobytes()
    return [(flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3)]


def is_amber(pixel: tuple[int, int, int]) -> bool:
    """Paper under the amber layer: bright, and clearly less blue than red."""
    red, green, blue = pixel
    return red > 200 and green > 160 and red - blue > 40


def is_ink(pixel: tuple[int, int, int]) -> bool:
    return max(pixel) < 110


def top_of_rows(page: Page) -> float:
    """Return where the table begins in the window."""
    return float(page.get_by_test_id("ps-rows").evaluate("frame => frame.getBoundingClientRect().top"))


def open_one_of(label: str, page: Page, url: str, wait_for_run: WaitForRun) -> None:
    """Triage, narrowed to one label, by question id; then the second row of the table, which cites once."""
    page.goto(f"{url}/?label={label}&sort=q_id")
    wait_for_run(page)
    page.get_by_test_id("ps-row").nth(1).click()
    wait_for_run(page)
    page.wait_for_url("**/question?*")


def test_from_the_list_to_the_highlighted_words_and_back_by_url(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_one_of("ok", page, serve(DEMO).url, wait_for_run)
    expect(page.get_by_test_id("ps-title").nth(1)).to_contain_text("?")
    first = query(page)["q"]

    page.locator("[class*=st-key-cite-] button").first.click()
    wait_for_run(page)
    page.wait_for_url(lambda url: "cite=1" in url)
    box = cited_boxes(page).first
    expect(box).to_be_in_viewport(ratio=1)
    layers = page.get_by_role("group", name="Layers").get_by_role("button")
    others = layers.filter(has_not_text="cited").all()  # they lie over the cited passage
    for layer in others:
        layer.click()
    seen = pixels(page, box)
    for layer in others:
        layer.click()
    assert sum(map(is_amber, seen)) > len(seen) * 2 / 5, "the box is not amber"
    assert sum(map(is_ink, seen)) > len(seen) / 50, "the box lies over no words"

    title_then = page.get_by_test_id("ps-title").nth(1).inner_text()
    page.keyboard.press("j")
    expect(page.get_by_test_id("ps-title").nth(1)).not_to_have_text(title_then)
    wait_for_run(page)
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query)["q"] != first)
    second = query(page)
    assert second["q"] != first
    assert second["label"] == ["ok"]
    assert "cite" not in second

    title = page.get_by_test_id("ps-title").nth(1).inner_text()
    places = [box.get_attribute("style") for box in page.get_by_test_id("ps-box").all()]
    page.reload()
    wait_for_run(page)
    assert query(page) == second
    expect(page.get_by_test_id("ps-title").nth(1)).to_have_text(title)
    # What had not been located yet when the page was first looked at may be there as well.
    expect(page.get_by_test_id("ps-box").nth(len(places) - 1)).to_be_attached()
    assert set(places) <= {box.get_attribute("style") for box in page.get_by_test_id("ps-box").all()}


def test_a_candidate_shows_its_place_without_moving_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900, dark=True)
    page.goto(f"{serve().url}/question?run=R002&q=Q01")
    wait_for_run(page)
    cited_boxes(page).first.wait_for()  # a first visit shows progress, then the answer, then its page
    main, row = page.get_by_test_id("stMain"), page.get_by_test_id("ps-row").nth(1)
    row.scroll_into_view_if_needed()  # answer, claims and reasons leave room for one row
    before = main.evaluate("main => main.scrollTop"), top_of_rows(page)
    row.get_by_role("cell").first.click()
    wait_for_run(page)
    page.wait_for_url(lambda url: "chunk=" in url)
    box = page.locator("[data-testid=ps-box].retrieved.chosen").first
    expect(box).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("ps-legend")).to_contain_text("retrieved")
    expect(row.get_by_role("button")).to_have_attribute("aria-current", "true")
    assert (main.evaluate("main => main.scrollTop"), top_of_rows(page)) == before
