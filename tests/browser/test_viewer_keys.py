"""The page viewer by keyboard, on the real Question page: pages, spans, zoom, and a focus that survives."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.viewer import APP, QUESTION, focused, opened, span, zoom

pytestmark = pytest.mark.browser


@pytest.fixture
def page(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> Page:
    return opened(page_at(1400, 900), serve().url + QUESTION, wait_for_run)


def url_has(page: Page, part: str) -> None:
    expect(page).to_have_url(re.compile(re.escape(part)))


def test_up_and_down_go_through_the_spans_on_whatever_page_and_the_url_follows(page: Page) -> None:
    page.get_by_test_id("ps-viewer").focus()
    expect(page.get_by_test_id("ps-span-at")).to_have_text("span 1 of 7")
    page.keyboard.press("ArrowDown")
    url_has(page, "chunk=meridian-2026")
    expect(page.get_by_test_id("ps-page-field")).to_have_value("9")
    expect(page.locator("[data-testid=ps-span][aria-current]")).to_have_attribute(
        "data-span", re.compile("p=009")
    )
    assert focused(page) == "ps-viewer", "the focus survives the run that brought another page"
    page.keyboard.press("ArrowUp")
    url_has(page, "cite=1")
    expect(page.get_by_test_id("ps-page-field")).to_have_value("15")
    expect(page.get_by_role("button", name="Previous span")).to_have_attribute("aria-disabled", "true")


def test_a_box_is_reached_by_tab_and_its_focus_goes_with_the_choice(page: Page) -> None:
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("Tab")
    assert focused(page) == "cite:1", "of all boxes the chosen one is reached by Tab"
    page.keyboard.press("ArrowDown")
    url_has(page, "chunk=meridian-2026")
    chosen = page.locator("[data-testid=ps-span][aria-current]")
    expect(chosen).to_have_attribute("data-span", re.compile("p=009"))
    expect(chosen).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(span(page, "cite:1")).to_be_focused()


def test_enter_on_a_box_chooses_it_and_the_lists_follow(page: Page) -> None:
    span(page, "gold:1").focus()
    page.keyboard.press("Enter")
    url_has(page, "chunk=gold%3A1")
    expect(page.locator(".st-key-finding")).to_contain_text("the gold quote is on the page word for word")
    expect(span(page, "gold:1")).to_have_attribute("aria-current", "true")
    assert focused(page) == "gold:1"


def test_pages_are_turned_by_keys_and_typed_as_pdf_pages(page: Page) -> None:
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("PageUp")
    url_has(page, "page=13")
    field = page.get_by_role("textbox", name="PDF page")
    field.fill("3")
    field.press("Enter")
    url_has(page, "page=2")
    expect(page.get_by_title("page_idx 2 · PDF page 3 of 15")).to_be_visible()
    for nonsense in ("16", "0", "-1", "one", "1e1"):
        field.fill(nonsense)
        field.press("Enter")
        expect(page.get_by_test_id("ps-announced")).to_have_text("There is no such page: type 1 to 15")
        expect(field).to_have_value("3")
    url_has(page, "page=2")


def test_a_held_key_ends_where_it_was_let_go(page: Page) -> None:
    page.get_by_test_id("ps-viewer").focus()
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    url_has(page, "page=8")
    expect(page.get_by_role("group", name=re.compile(r"PDF (page )?9\b"))).to_be_visible()


def test_zoom_by_keys_stays_within_its_bounds(page: Page) -> None:
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("+")
    assert zoom(page) == 125
    for _ in range(20):
        page.keyboard.press("+")
    assert zoom(page) == 800
    expect(page.get_by_role("button", name="Zoom in")).to_have_attribute("aria-disabled", "true")
    for _ in range(40):
        page.keyboard.press("-")
    assert zoom(page) == 25
    page.keyboard.press("0")
    assert zoom(page) == 100
    page.keyboard.press("f")
    assert zoom(page) > 100
    expect(span(page, "cite:1")).to_be_in_viewport(ratio=1)


def test_the_toolbar_is_one_stop_of_tab(page: Page) -> None:
    bar = page.get_by_role("toolbar", name="Page, span and zoom")
    stops = bar.locator("button, input").evaluate_all(
        "all => all.filter((each) => each.tabIndex === 0).length"
    )
    assert stops == 1
    bar.get_by_role("button", name="Zoom out").focus()
    page.keyboard.press("ArrowRight")
    assert focused(page) == "zoom-in"
    page.keyboard.press("Enter")
    assert zoom(page) == 125
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "to-span"


def test_on_a_stage_left_and_right_belong_to_the_page_around(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = opened(page_at(), f"{serve(app=APP).url}/?height=stage", wait_for_run)
    page.evaluate(
        "addEventListener('keydown', (event) => { window.heard = [event.key, event.defaultPrevented]; })"
    )
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("window.heard") == ["ArrowRight", False]
    page.keyboard.press("PageDown")
    expect(page.get_by_text("turned:9")).to_be_visible()
    assert page.evaluate("window.heard") == ["PageDown", True]


def test_the_page_field_follows_the_browsers_way_back_while_nobody_types(page: Page) -> None:
    field = page.get_by_test_id("ps-page-field")
    for number in ("3", "5"):
        field.fill(number)
        field.press("Enter")
        url_has(page, f"page={int(number) - 1}")
    expect(page.get_by_test_id("ps-picture")).to_have_attribute("alt", re.compile(r"PDF (page )?5\b"))
    page.go_back()
    expect(page.get_by_test_id("ps-picture")).to_have_attribute("alt", re.compile(r"PDF (page )?3\b"))
    expect(field).to_have_value("3")
    expect(field).to_be_focused()


def test_what_the_viewer_says_moves_nothing_below_it(page: Page) -> None:
    strip = page.get_by_test_id("ps-strip")
    before = strip.bounding_box()
    field = page.get_by_test_id("ps-page-field")
    field.fill("99")
    field.press("Enter")
    expect(page.get_by_test_id("ps-announced")).to_have_text("There is no such page: type 1 to 15")
    assert strip.bounding_box() == before
    field.fill("5")
    field.press("Enter")
    expect(page.get_by_test_id("ps-announced")).to_be_empty()
