"""Help in a browser: the drawer, the palette, the keys, the welcome and the tour of the demo."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query
from tests.places import DEMO

pytestmark = pytest.mark.browser

#: Counts shifts of the layout once half a second has passed without one: a busy browser draws a page late.
SHIFTS = """() => new Promise((done) => {
  let rest = null;
  const begin = () => { rest = null; window.shifted = 0; done(); };
  const wait = () => { clearTimeout(rest); rest = setTimeout(() => requestIdleCallback(begin), 500); };
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) window.shifted += each.value;
    if (rest) wait();
  }).observe({ type: "layout-shift" });
  wait();
})"""


def violations(page: Page) -> list[str]:
    """The ids of all that axe finds in Help."""
    return [each["id"] for each in Axe().run(page, context=".st-key-help").response["violations"]]


@pytest.fixture(scope="module")
def url(serve: Serve) -> str:
    return serve(DEMO).url


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_drawer_and_palette_by_keys(url: str, page_at: PageAt, wait_for_run: WaitForRun, dark: bool) -> None:
    """Neither moves the page, and Escape gives the focus back."""
    page = page_at(1400, 900, dark=dark)
    page.goto(f"{url}/question?run=R005&q=Q84")
    following = page.locator(".st-key-step-J button")
    expect(following).to_be_enabled()
    wait_for_run(page)
    following.focus()
    page.evaluate(SHIFTS)
    page.keyboard.press("?")
    assert page.evaluate("window.shifted") == 0
    assert violations(page) == []
    page.keyboard.type("refusal_suspect J")  # no key of the page
    expect(page.locator(".entry:visible")).to_have_count(0)
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(page.locator(".entry:visible")).to_have_count(2)  # a label, and the metric that counts it
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_query(page, help="label.refusal_suspect")
    page.get_by_role("tab", name="Keys").click()
    expect(page.locator("#keys kbd", has_text="Ctrl+K")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog.drawer")).to_be_hidden()
    expect(following).to_be_focused()
    page.evaluate("window.shifted = 0")
    page.keyboard.press("Control+k")
    assert page.evaluate("window.shifted") == 0
    assert violations(page) == []
    page.keyboard.type("no such words")
    expect(page.get_by_role("option")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("dialog.palette")).to_be_hidden()
    expect(following).to_be_focused()
    expect(page).to_have_url(f"{url}/question?run=R005&q=Q84")


def test_the_ways_of_keys_and_words(url: str, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    """One page load: an entry by its address and by a word, a question, a page and the search by keys."""
    page = page_at(1400, 900)
    page.goto(f"{url}/question?run=R005&q=Q84&help=rule.missing_rev")
    expect(page.locator(".entry.chosen code")).to_have_text("missing_")
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{url}/question?run=R005&q=Q84")
    expect(page.locator(".st-key-step-J button")).to_be_enabled()
    page.get_by_role("link", name="Contradicted").click()
    expect(page.locator(".entry.chosen code")).to_have_text("contradicted")
    assert page.get_by_role("searchbox").input_value() == ""
    page.keyboard.press("Escape")
    page.locator(".st-key-claims button.claim").first.focus()
    page.keyboard.press("?")
    expect(page.locator(".entry.chosen code")).to_have_text("differs")
    page.locator(".here").get_by_role("link", name="Number", exact=True).click()
    expect(page.locator(".entry.chosen code")).to_have_text("number")
    page.keyboard.press("Control+k")
    page.keyboard.type("Q97")
    page.keyboard.press("Enter")
    wait_for_query(page, run="R005", q="Q97")
    page.keyboard.press("Control+k")  # while the page loads
    page.keyboard.type("trends")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{url}/trends?run=R005")
    page.locator(".st-key-figure-retrieval").get_by_role("link", name="first 20").click()
    expect(page.locator(".entry.chosen code")).to_have_text("gt_in_top_20")
    page.keyboard.press("Escape")
    reason = page.locator(".st-key-reason-cells tbody a.term").first
    reason.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".entry.chosen code")).to_have_text("analyzer_mismatch")
    page.keyboard.press("Escape")
    expect(reason).to_be_focused()
    page.keyboard.press("/")
    search = page.locator(".st-key-search input")
    expect(search).to_be_focused()
    page.keyboard.type("?/")
    expect(search).to_have_value("?/")
    expect(page.locator("dialog.drawer")).to_be_hidden()
    wait_for_run(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("dark theme")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.stApp')]"  # none while the theme is changed
        ".some((app) => getComputedStyle(app).colorScheme === 'dark')"
    )
    page.wait_for_function("() => getComputedStyle(document.body).colorScheme === 'dark'")  # menus are there


def test_welcome_and_tour(url: str, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    """Back leads to the step before, Escape leaves; a dismissed welcome stays away from this browser."""
    page = page_at(1400, 900, own=True)
    page.goto(f"{url}/")
    page.get_by_role("link", name="Start the 60-second tour").click()
    wait_for_query(page, tour="1")
    step = page.locator(".tour .step")
    expect(step).to_have_text("1 of 6")
    page.keyboard.press("Enter")
    wait_for_query(page, tour="2", q="Q84")
    expect(step).to_have_text("2 of 6")
    page.go_back()
    expect(step).to_have_text("1 of 6")
    expect(page.locator(".st-key-triage-table")).to_be_visible()
    page.keyboard.press("Enter")
    expect(step).to_have_text("2 of 6")
    page.keyboard.press("Escape")
    expect(step).to_be_hidden()
    expect(page).to_have_url(f"{url}/question?run=R005&q=Q84")
    page.evaluate("history.pushState({}, '', '?run=R005&q=Q84&cite=1&tour=2')")  # as Streamlit does, late
    expect(page).to_have_url(f"{url}/question?run=R005&q=Q84&cite=1")
    page.goto(f"{url}/")
    page.locator(".st-key-welcome-dismiss button").click()
    expect(page.locator(".st-key-welcome")).to_have_count(0)
    page.reload()
    expect(page.locator(".st-key-triage-table")).to_be_visible()
    wait_for_run(page)
    expect(page.locator(".st-key-welcome")).to_have_count(0)
    # What is a button or a link to something else is explained by the key of Help.
    page.locator("[class*=st-key-group-] button").first.focus()
    page.keyboard.press("?")
    expect(page.locator(".entry.chosen code")).to_have_text("unsafe_omission")
    page.keyboard.press("Escape")
    page.locator(".st-key-triage-rows tbody a").first.focus()
    page.keyboard.press("?")
    expect(page.locator(".entry.chosen code")).to_have_text("unsafe_omission")
    expect(page.locator(".here").get_by_role("link", name="Not extracted")).to_be_visible()
