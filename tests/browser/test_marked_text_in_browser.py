"""A text whose citations can be chosen, in a real browser: by mouse, by key, and with the focus kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

APP = Path(__file__).parent / "apps" / "marked.py"


@pytest.fixture
def page(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> Page:
    opened = page_at(900, 900, own=True)
    opened.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    opened.goto(serve(app=APP).url)
    wait_for_run(opened)
    opened.get_by_test_id("ps-marked").locator("button").first.wait_for()
    return opened


def number(page: Page, name: str) -> Locator:
    return page.get_by_test_id("ps-marked").get_by_role("button", name=name)


def test_hostile_words_do_nothing_and_numbers_have_names_and_say_which_is_chosen(page: Page) -> None:
    text = page.get_by_test_id("ps-marked")
    expect(text).to_contain_text("<img src=x onerror=alert(1)> \ufffd${1} ![x](y)")
    assert text.locator("img").count() == 0
    expect(number(page, "citation 2 <img src=x onerror=alert(1)>")).to_have_count(1)
    assert set(text.evaluate("text => [...text.children].map(each => each.tagName)")) <= {
        *("SPAN", "MARK", "STRONG", "BUTTON"),
    }
    first = number(page, "citation 1, exact, PDF page 42")
    expect(first).to_have_count(2)
    expect(first.first).to_have_attribute("aria-pressed", "false")
    first.first.click()
    expect(page.get_by_text("chosen: 1")).to_be_visible()
    for each in first.all():
        expect(each).to_have_attribute("aria-pressed", "true")
    expect(number(page, "citation 3")).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_test_id("ps-marked").get_by_role("button")).to_have_count(4)


def test_keys_choose_and_the_focus_stays_through_the_rerun(page: Page) -> None:
    number(page, "citation 1").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("chosen: 2")).to_be_visible()
    expect(number(page, "citation 2")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_text("chosen: 1")).to_be_visible()
    expect(number(page, "citation 1").first).to_be_focused()


def test_the_words_of_a_citation_choose_it_by_mouse_and_are_emphasised(page: Page) -> None:
    page.get_by_test_id("ps-marked").get_by_text("rosin flux").click()
    expect(page.get_by_text("chosen: 1")).to_be_visible()
    expect(page.get_by_test_id("ps-marked").locator(".chosen")).to_have_text(["rosin flux"])
    page.get_by_test_id("ps-marked").get_by_text("1/16").click()
    expect(page.get_by_text("chosen: 2")).to_be_visible()
    expect(page.get_by_test_id("ps-marked").locator(".chosen")).to_have_text(["1/16", " inch"])


def test_marking_words_with_the_mouse_chooses_nothing(page: Page) -> None:
    words = page.get_by_test_id("ps-marked").get_by_text("rosin flux").bounding_box()
    assert words is not None
    middle = words["y"] + words["height"] / 2
    page.mouse.move(words["x"] + 3, middle)
    page.mouse.down()
    page.mouse.move(words["x"] + words["width"] - 3, middle, steps=4)
    page.mouse.up()
    assert page.evaluate("() => document.getSelection().toString()") != ""
    page.get_by_role("button", name="Third").click()
    expect(page.get_by_text("chosen: 3")).to_be_visible()


def test_a_long_text_ends_early_until_the_rest_is_asked_for_or_chosen(page: Page) -> None:
    text, more = page.get_by_test_id("ps-marked"), page.locator(".rest")
    expect(text).to_have_attribute("role", "group")
    expect(text).to_have_attribute("aria-label", "Answer")
    assert text.evaluate("text => getComputedStyle(text).overflowY") == "clip"
    assert text.evaluate("text => text.clientHeight") < 500
    expect(more).to_have_attribute("aria-expanded", "false")
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    assert text.evaluate("text => text.clientHeight") > 1500
    more.click()
    assert text.evaluate("text => text.clientHeight") < 500
    page.get_by_role("button", name="Third").click()
    expect(number(page, "citation 3")).to_have_attribute("aria-pressed", "true")
    expect(more).to_have_attribute("aria-expanded", "true")


def test_no_line_ends_inside_the_brackets_around_a_number(page: Page) -> None:
    text = page.get_by_test_id("ps-marked")
    held = text.locator(".held", has_text="[")
    expect(held).to_have_text("[1]")
    assert text.inner_text().endswith("citations: [1]")
    heights = set()
    for width in range(40, 300, 2):
        text.evaluate("(text, width) => { text.style.width = `${width / 10}ch`; }", width)
        heights.add(held.evaluate("held => held.getClientRects().length"))
    assert heights == {1}
