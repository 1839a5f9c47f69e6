"""Every page in its main states: no barrier in either theme, and nothing too small, cut or in a box.

Each label, cause, code and metric has a way to its entry in the glossary.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import sizes
from tests.browser.conftest import AT_REST, FOLLOW, IDLE, PageAt, Serve, WaitForRun
from tests.browser.explained import unexplained
from tests.places import DEMO

pytestmark = pytest.mark.browser

#: A state's address and its tab's title, without the program's name.
STATES = {
    "?run=R005&claim=figure_differs": "R005 · Triage",
    "question?run=R006&q=Q82": "Q82 · R006 · Question",
    "question?run=R006&q=Q89": "Q89 · R006 · Question",
    "walkthrough?run=R006&q=Q82": "Q82 · R006 · Walkthrough",
    "trends?run=R006": "R006 · Trends",
    "compare?run=R006&vs=R004": "R006 against R004 · Compare",
    "compare?run=R006&vs=R004&q=Q99": "Q99 · R006 against R004 · Compare",
    "report?run=R006&vs=R004": "R006 against R004 · Release report",
    "whatif?run=R006": "R006 · What-if",
    "health?run=R005": "R005 · Health",
    "sprint?run=R006": "R006 · Sprint",
    "open?run=R006": "Open your data",
    "question?run=R006&q=NOPE": "NOPE · R006 · Question",
}
#: The rules that depend on the theme; it changes colours alone.
OF_COLOURS = ["color-contrast", "link-in-text-block"]
AXE = "async (options) => (await axe.run(options)).violations"
#: The levels of the page's headings in their order, those of components included.
LEVELS = """() => {
  const found = [];
  const look = (root) => root.querySelectorAll("*").forEach((each) => {
    if (/^H[1-6]$/.test(each.tagName)) found.push(Number(each.tagName[1]));
    if (each.shadowRoot) look(each.shadowRoot);
  });
  look(document.querySelector("main"));
  return found;
}"""


def test_no_page_has_a_barrier(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = page_at(1400, 900, own=True)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    url = serve(DEMO).url
    page.goto(f"{url}/nothing/at/all?run=R005")
    wait_for_run(page)
    expect(page.locator("main code")).to_have_text("/nothing/at/all")
    axe = Axe().axe_script
    page.evaluate(axe)
    found = {"nothing": barriers(page)}
    page.get_by_role("link", name="Back to Triage").click()
    expect(page.locator(".st-key-triage-table")).to_be_visible()
    expect(page).to_have_url(f"{url}/?run=R005")
    page.evaluate(axe)  # the way back from an unknown address may load the document again
    for address, title in STATES.items():
        page.evaluate(FOLLOW, f"./{address}")
        wait_for_run(page)
        expect(page).to_have_title(f"{title} · Proofspan")
        found[address] = [*unexplained(page), *barriers(page), *sizes.flaws(page)]
    assert {state: each for state, each in found.items() if each} == {}
    assert errors == []


def barriers(page: Page) -> list[str]:
    """Barriers that axe-core finds, of colours in both themes, and headings that are not in order."""
    levels = page.evaluate(LEVELS)
    found = [] if levels.count(1) == 1 else [f"headings of the first level: {levels.count(1)}"]
    found += [f"{was} → {now}" for was, now in pairwise(levels) if now > was + 1]
    for scheme, rules in (("light", None), ("dark", OF_COLOURS)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)
        for violation in violations(page, rules):
            found += [f"{scheme}: {violation['id']}: {node['html'][:200]}" for node in violation["nodes"]]
    return found


def violations(page: Page, rules: list[str] | None) -> list[Any]:
    """The violations of these rules, or of all, on a page at rest.

    Streamlit dims old elements while a page is drawn again. What is found once may be half of a change of the
    theme; what is found twice stays.
    """
    options = {"resultTypes": ["violations"], **({} if rules is None else {"runOnly": rules})}
    found: list[Any] = []
    for _ in range(2):
        page.locator(IDLE).wait_for(state="attached")
        expect(page.locator("[data-stale=true]")).to_have_count(0)
        page.evaluate(AT_REST)
        if not (found := page.evaluate(AXE, options)):
            break
    return found


def test_the_focus_goes_where_the_reader_goes(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900, own=True)
    page.goto(f"{serve(DEMO).url}/?run=R006")
    wait_for_run(page)
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("stSkipToContent")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-triage-table")).to_be_focused()

    page.get_by_test_id("stSidebar").get_by_role("link", name="Question").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    wait_for_run(page)
    expect(page).to_have_title(re.compile(r"^Q\d+ · R006 · Question · Proofspan$"))
    title = page.title()
    page.keyboard.press("j")
    expect(page).not_to_have_title(title)

    link = page.get_by_test_id("stSidebar").get_by_role("link", name="Trends")
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(link).to_have_css("outline-width", "2px")
    expect(link).to_have_css("outline-style", "solid")

    page.get_by_test_id("stMainMenu").locator("button").click()
    menu = page.get_by_test_id("stMainMenuPopover")
    expect(menu.get_by_text("Print")).to_be_visible()
    expect(menu.get_by_text("Record screen")).to_be_hidden()
    expect(menu.get_by_text("Made with Streamlit")).to_be_hidden()
