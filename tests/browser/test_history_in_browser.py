"""The browser's history: a link adds one entry, and one press of Back leads to where it was followed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

Found = Callable[[Page], Locator]

TRIAGE, QUESTION, WALKTHROUGH = (".st-key-triage-table", ".st-key-steps", ".st-key-walk-bar")
HEALTH, TRENDS, COMPARE = (".st-key-fold-codes", ".st-key-chart-retrieval", ".st-key-compare-title")


def inside(css: str) -> Found:
    """The first link of what matches."""
    return lambda page: page.locator(css).get_by_role("link").first


def in_table(name: str) -> Found:
    return lambda page: page.get_by_role("table", name=name).get_by_role("link").first


def in_cell(name: str) -> Found:
    """The first link beside the row headers."""
    return lambda page: page.get_by_role("table", name=name).get_by_role("cell").get_by_role("link").first


def named(name: str) -> Found:
    return lambda page: page.get_by_role("link", name=name, exact=True).first


def a_row(page: Page) -> Locator:
    return page.get_by_test_id("ps-row").nth(1).get_by_role("cell").first


def folded(fold: str, found: Found) -> Found:
    """The same inside of a fold, which is opened where it is closed."""

    def find(page: Page) -> Locator:
        part = page.locator(f".st-key-fold-{fold} details").first
        if part.get_attribute("open") is None:
            part.locator("summary").first.click()
        return found(page)

    return find


def to_health(page: Page) -> Locator:
    """Its name has the number of problems."""
    return page.get_by_test_id("stSidebar").get_by_role("link", name="Health")


def a_point(page: Page) -> Locator:
    return page.locator(f"{TRENDS} .point").first


#: Where it starts and what shows that page, the link, and what shows the page that it leads to.
LINKS: dict[str, tuple[str, str, Found, str]] = {
    "row of Triage": ("/?run=R002", TRIAGE, a_row, QUESTION),
    "question of Triage": ("/?run=R002", TRIAGE, inside(TRIAGE), QUESTION),
    "code of Health": ("/health?run=R001", HEALTH, folded("codes", inside(".st-key-code-cells td")), TRIAGE),
    "rank of Trends": (
        "/trends?run=R002",
        TRENDS,
        folded("ranks", in_table("Rank of the gold section")),
        QUESTION,
    ),
    "metric of Trends": (
        "/trends?run=R002",
        TRENDS,
        folded("metrics", in_cell("All metrics of R002")),
        TRIAGE,
    ),
    "point of a chart": ("/trends?run=R002", TRENDS, a_point, TRIAGE),
    "card of Trends": (
        "/trends?run=R002",
        TRENDS,
        inside(".st-key-card-of-section_match_at_1 .stPageLink"),
        TRIAGE,
    ),
    "pair of buckets": (
        "/compare?run=R002&vs=R001&outcome=section_match_at_1",
        COMPARE,
        folded("moves", inside("[class*=st-key-matrix-] td")),
        TRIAGE,
    ),
    "way to Walkthrough": ("/question?run=R002&q=Q01", QUESTION, named("Walk through"), WALKTHROUGH),
    "Health": ("/?run=R002", TRIAGE, to_health, HEALTH),
    # A page that completes its own address: with a question, with another run.
    "Question": ("/?run=R002", TRIAGE, named("Question"), QUESTION),
    "Walkthrough": ("/?run=R002", TRIAGE, named("Walkthrough"), WALKTHROUGH),
    "Compare": ("/trends?run=R002", TRENDS, named("Compare"), COMPARE),
}


def entries(page: Page) -> int:
    found: int = page.evaluate("history.length")
    return found


def press(page: Page, link: Locator) -> None:
    """A click in the middle of it; Plotly takes its events from a layer above its points."""
    link.scroll_into_view_if_needed()
    place = link.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    page.mouse.down()
    page.mouse.up()


@pytest.fixture(scope="module")
def url(serve: Serve, profile: BrowserContext) -> str:
    """A dashboard that has indexed both runs: what its pages show does not change any more."""
    url = serve().url
    page = profile.new_page()
    page.goto(f"{url}/trends?run=R002")
    expect(page.locator(f"{TRENDS} .point")).to_have_count(4)
    page.close()
    return url


@pytest.mark.parametrize(("start", "here"), dict.fromkeys(link[:2] for link in LINKS.values()))
def test_a_link_adds_one_entry_and_back_and_forward_lead_over_it(
    url: str, page_at: PageAt, wait_for_run: WaitForRun, start: str, here: str
) -> None:
    """All links of a page, each from the place where the one before was left by Back."""
    page = page_at(1400, 1000, own=True)
    page.goto(url + start)
    wait_for_run(page)
    before = entries(page)
    is_first = True
    for name, link, there in [(name, *link[2:]) for name, link in LINKS.items() if link[:2] == (start, here)]:
        expect(page.locator(here).first).to_be_visible()
        assert page.url == url + start
        link(page).wait_for()
        press(page, link(page)) if name == "point of a chart" else link(page).click()
        expect(page.locator(there).first).to_be_visible()
        wait_for_run(page)
        expect(page.locator("main h1")).to_be_focused()
        went = page.url
        assert went != url + start, name
        assert entries(page) == before + 1, name
        page.go_back()
        expect(page.locator(here).first).to_be_visible()
        expect(page.locator(there)).to_have_count(0)
        assert page.url == url + start, name
        wait_for_run(page)
        expect(page.locator("main h1")).to_be_focused()
        if is_first:  # Forward follows an entry, whichever link has added it
            page.go_forward()
            expect(page.locator(there).first).to_be_visible()
            expect(page.locator(here)).to_have_count(0)
            assert page.url == went, name
            wait_for_run(page)
            assert (page.url, entries(page)) == (went, before + 1), name
            page.go_back()
            wait_for_run(page)
        is_first = False


def test_back_leads_to_the_place_of_the_list_and_marks_the_row_that_was_opened(
    url: str, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 420, own=True)
    page.goto(f"{url}/?run=R002")
    wait_for_run(page)
    row = page.get_by_test_id("ps-row").nth(3)
    row.hover()  # and scroll to it
    scrolled = page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    assert scrolled > 0
    name = row.inner_text()
    row.click()
    expect(page.locator(QUESTION).first).to_be_visible()
    wait_for_run(page)
    page.go_back()
    expect(page.locator(TRIAGE).first).to_be_visible()
    wait_for_run(page)
    page.wait_for_function(
        "top => Math.abs(document.querySelector('[data-testid=stMain]').scrollTop - top) <= 2", arg=scrolled
    )
    expect(page.locator("tbody.visited")).to_have_count(1)
    assert page.locator("tbody.visited").inner_text() == name


@pytest.mark.parametrize(
    ("start", "here", "step"),
    [
        ("/question?run=R002&q=Q01", QUESTION, lambda page: page.keyboard.press("j")),
        ("/walkthrough?run=R002&q=Q01", WALKTHROUGH, lambda page: page.keyboard.press("ArrowRight")),
        (
            "/compare?run=R002&vs=R001&outcome=section_match_at_1",
            COMPARE,
            lambda page: page.get_by_role("link", name="both answers side by side").first.click(),
        ),
    ],
)
def test_a_step_on_a_page_adds_one_entry_too(
    url: str,
    page_at: PageAt,
    wait_for_run: WaitForRun,
    start: str,
    here: str,
    step: Callable[[Page], None],
) -> None:
    page = page_at(1400, 1000, own=True)
    page.goto(url + start)
    wait_for_run(page)
    expect(page.locator(here).first).to_be_visible()
    before = entries(page)
    step(page)
    expect(page).not_to_have_url(url + start)
    wait_for_run(page)
    assert entries(page) == before + 1
    page.go_back()
    expect(page).to_have_url(url + start)
    wait_for_run(page)
    expect(page.locator(here).first).to_be_visible()
    assert page.url == url + start


def test_the_page_at_the_root_is_found_by_its_name(
    url: str, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    page.goto(f"{url}/triage?run=R002&label=ok")
    page.wait_for_url(f"{url}/?run=R002&label=ok")
    wait_for_run(page)
    expect(page.locator(TRIAGE).first).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)


def test_the_same_page_again_and_an_old_address_add_none(
    url: str, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    page.goto(f"{url}/workspace?run=R002")
    page.wait_for_url("**/health?run=R002")
    wait_for_run(page)
    expect(page.locator(HEALTH)).to_be_visible()
    before = entries(page)
    to_health(page).click()
    wait_for_run(page)
    assert entries(page) == before
    named("Trends")(page).click()
    page.wait_for_url("**/trends?run=R002")
    page.go_back()
    page.wait_for_url("**/health?run=R002")
    expect(page.locator(HEALTH)).to_be_visible()
