"""Trends in a real browser: from a chart's point to the words on a page, by keys, in both schemes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from proofspan.charts.theme import contrast
from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query

pytestmark = pytest.mark.browser

#: The first chart, with two numbers of both runs of the handbook.
FIGURE = ".st-key-chart-retrieval"
#: Of every link and number in a grid: the colour of its words and of what is behind them, as #rrggbb.
COLOURS = """grid => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const hex = (colours) => {
    canvas.globalCompositeOperation = "source-over";
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    const data = canvas.getImageData(0, 0, 1, 1).data;
    return "#" + [...data.slice(0, 3)].map((part) => part.toString(16).padStart(2, "0")).join("");
  };
  return [...grid.querySelectorAll(".words, small")].filter((words) => words.textContent).map((words) => {
    const behind = getComputedStyle(words.closest("td, th")).backgroundColor;
    return [words.textContent, hex([getComputedStyle(words).color]), hex([behind])];
  });
}"""


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    """Trends with both runs: the other one is indexed meanwhile."""
    page.goto(url)
    wait_for_run(page)
    expect(page.locator(f"{FIGURE} .point")).to_have_count(4, timeout=60_000)


def missed(page: Page) -> int:
    """How many questions the first card says that SectionMatch@1 misses."""
    link = page.locator(".st-key-card-of-section_match_at_1 .stPageLink").get_by_role("link")
    found = re.match(r"View (\d+) failing", link.inner_text())
    assert found, link.inner_text()
    return int(found[1])


def press(page: Page, point: Locator) -> None:
    """A click in the middle of a point; Plotly takes its events from a layer above it."""
    place = point.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    expect(page.locator(f"{FIGURE} .hoverlayer .hovertext")).to_be_visible()
    page.mouse.down()
    page.mouse.up()


def test_a_point_of_a_chart_leads_to_its_questions_and_on_to_the_words_on_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 1000)
    opened(page, f"{serve().url}/trends?run=R001", wait_for_run)
    count = missed(page)
    press(page, page.locator(f"{FIGURE} .point").first)
    wait_for_query(page, run="R001", miss="section_match_at_1")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-row")).to_have_count(count)
    page.get_by_test_id("ps-row").first.get_by_role("link").click()
    page.wait_for_url("**/question?*")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-box").first).to_be_in_viewport()


def test_ranks_are_walked_by_keys_and_everything_has_a_name(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 1000)
    opened(page, f"{serve().url}/trends?run=R002&order=question", wait_for_run)
    ranks = page.get_by_role("table", name="Rank of the gold section by question and run")
    first = ranks.get_by_role("link").first
    expect(first).to_have_accessible_name(re.compile(r"^\S+ in R001: gold section .+; open the question$"))
    first.focus()
    page.keyboard.press("ArrowRight")
    second = ranks.locator("a:focus")
    expect(second).to_have_accessible_name(re.compile(r"^\S+ in R002: "))
    assert ranks.locator("a[tabindex='0']").count() == 1, "one of them is reached by Tab"
    page.keyboard.press("Enter")
    page.wait_for_url("**/question?*")
    wait_for_query(page, run="R002")
    wait_for_run(page)
    page.go_back()
    wait_for_run(page)
    expect(page.get_by_role("figure", name="Retrieval over 2 runs; R002: ")).to_be_visible()


def test_a_chart_is_sent_when_it_comes_into_view_and_nothing_moves(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 420)
    opened(page, f"{serve().url}/trends?run=R002", wait_for_run)
    assert page.locator(".stPlotlyChart").count() == 2, "those of the first row"
    boxes = page.locator("[class*=st-key-figure-]")
    expect(boxes).to_have_count(4)
    heights = [box.bounding_box() for box in boxes.all()]
    place = page.locator(".st-key-plot-buckets")
    place.scroll_into_view_if_needed()
    expect(page.locator(".st-key-chart-buckets .point").first).to_be_visible()
    after = [box.bounding_box() for box in boxes.all()]
    assert [box and box["height"] for box in after] == [box and box["height"] for box in heights]
    folds = page.locator("[class*=st-key-fold-] summary")
    expect(page.get_by_test_id("ps-grid")).to_have_count(1)  # the reasons alone: folds are not sent
    for width in (1400, 1100, 900, 420):
        page.set_viewport_size({"width": width, "height": 900})
        main = page.locator("[data-testid=stMain]")
        assert main.evaluate("main => main.scrollWidth <= main.clientWidth"), width
        cards = [card.bounding_box() for card in page.locator("[class*=st-key-card-of-]").all()]
        rows = [box["y"] for box in cards if box]
        assert len({rows.count(row) for row in rows}) == 1, f"each row of cards is full at {width}"
    folds.filter(has_text="All metrics").click()
    expect(page.get_by_role("table", name="All metrics of R002")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_can_be_read_in_both_schemes_and_nothing_runs_out_of_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, dark: bool
) -> None:
    page = page_at(900, 1000, dark)
    opened(page, f"{serve().url}/trends?run=R002&order=question&by=type", wait_for_run)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")
    for name in ("Rank of the gold section by question and run", "Metrics of R002 by type"):
        for words, colour, behind in page.get_by_role("table", name=name).evaluate(COLOURS):
            assert contrast(colour, behind) >= 4.5, (name, words, colour, behind)
    label = page.locator(f"{FIGURE} .xtick text").first
    for text in (label, page.locator(f"{FIGURE} .legendtext").first):
        colour = text.evaluate("text => getComputedStyle(text).fill")
        assert colour == ("rgb(228, 230, 227)" if dark else "rgb(31, 35, 40)")
