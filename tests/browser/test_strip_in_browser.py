"""The evidence strip in a real browser: its words, its keys, its places to go to, on a page and for a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, query, wait_for_query
from tests.places import DEMO

pytestmark = pytest.mark.browser

APP = Path(__file__).parent / "apps" / "strip.py"


@pytest.fixture
def page(page_at: PageAt) -> Page:
    return page_at(1400, 900)


@pytest.fixture
def open_strip(serve: Serve, page: Page, wait_for_run: WaitForRun) -> Page:
    page.goto(serve(app=APP).url)
    wait_for_run(page)
    strip(page).wait_for()
    return page


def strip(page: Page) -> Locator:
    return page.get_by_test_id("ps-strip")


def cells(page: Page) -> Locator:
    return strip(page).get_by_role("button")


def words(page: Page) -> Locator:
    return strip(page).locator(".words")


def focused(page: Page) -> str:
    """The name of what has the focus in the strip, "" where nothing has."""
    name: str = page.evaluate(
        "() => document.activeElement.shadowRoot?.activeElement?.getAttribute('aria-label') ?? ''"
    )
    return name


def test_marked_pages_have_roles_and_names_and_the_shown_one_is_announced(open_strip: Page) -> None:
    assert strip(open_strip).get_attribute("role") == "group"
    expect(strip(open_strip)).to_have_accessible_name(
        "All pages: 97 pages: cited on p. <img src=x onerror=alert(1)>8 (PDF 9), "
        "gold on p. <img src=x onerror=alert(1)>41 (PDF 42), retrieved on 3 pages"
    )
    labels = [cell.get_attribute("aria-label") for cell in cells(open_strip).all()]
    assert labels == [
        "p. <img src=x onerror=alert(1)>8 (PDF 9) (shown): cited 1, 2, rank 1",
        "p. <img src=x onerror=alert(1)>41 (PDF 42): gold, rank 3",
        "p. <img src=x onerror=alert(1)>96 (PDF 97): ranks 1, 2, 3, 4, 5, 6 and 23 more",
    ]
    assert [cell.get_attribute("aria-current") for cell in cells(open_strip).all()] == ["page", None, None]
    assert strip(open_strip).locator("img").count() == 0


def test_a_pointer_names_any_page_and_a_click_goes_there(open_strip: Page, wait_for_run: WaitForRun) -> None:
    page = open_strip
    at_rest = words(page).inner_text()
    cells(page).nth(1).hover()
    expect(words(page)).to_contain_text("(PDF 42)")
    box = strip(page).locator(".track").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 60.5 / 97, box["y"] + 20)
    expect(words(page)).to_have_text("p. <img src=x onerror=alert(1)>60 (PDF 61)")
    page.mouse.move(5, 5)
    expect(words(page)).to_have_text(at_rest)
    page.mouse.click(box["x"] + box["width"] * 60.5 / 97, box["y"] + 20)
    wait_for_run(page)
    expect(page.get_by_text("shown:60")).to_be_visible()
    shown = "p. <img src=x onerror=alert(1)>60 (PDF 61) (shown)"
    expect(strip(page).locator("[aria-current]")).to_have_attribute("aria-label", shown)


def test_a_pointer_beside_a_marked_page_means_that_one(open_strip: Page, wait_for_run: WaitForRun) -> None:
    page = open_strip
    box = cells(page).nth(1).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] + 4, box["y"] + 15)
    wait_for_run(page)
    expect(page.get_by_text("shown:41")).to_be_visible()


def test_arrow_keys_go_from_mark_to_mark_and_the_focus_outlives_a_run(
    open_strip: Page, wait_for_run: WaitForRun
) -> None:
    page = open_strip
    assert [cell.get_attribute("tabindex") for cell in cells(page).all()] == ["0", "-1", "-1"]
    cells(page).first.focus()
    page.keyboard.press("ArrowRight")
    assert "(PDF 42)" in focused(page)
    expect(words(page)).to_contain_text("(PDF 42)")
    page.keyboard.press("Enter")
    wait_for_run(page)
    expect(page.get_by_text("shown:41")).to_be_visible()
    assert "(PDF 42)" in focused(page)
    page.keyboard.press("End")
    assert "(PDF 97)" in focused(page)
    page.keyboard.press("ArrowRight")
    assert "(PDF 97)" in focused(page)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    wait_for_run(page)
    expect(page.get_by_text("shown:8")).to_be_visible()


def test_ten_thousand_marked_pages_are_a_bounded_line_that_still_goes_everywhere(
    serve: Serve, page: Page, wait_for_run: WaitForRun
) -> None:
    page.goto(f"{serve(app=APP).url}/?pages=10000&all=1&page=0")
    wait_for_run(page)
    strip(page).wait_for()
    assert strip(page).evaluate("one => one.querySelectorAll('*').length") < 1_000
    last = cells(page).last
    last.hover()
    expect(words(page)).to_contain_text("PDF pages 9,918–10,000")
    last.click()
    wait_for_run(page)
    expect(page.get_by_text("shown:9917")).to_be_visible()


def test_what_a_cell_holds_is_shown_by_height_and_shape_as_well(open_strip: Page) -> None:
    def box(cell: int, kind: str) -> tuple[float, float, bool]:
        bar = cells(open_strip).nth(cell).locator(f".{kind}")
        found = bar.bounding_box()
        return (0, 0, False) if found is None else (found["height"], found["y"], bar.is_visible())

    cited, retrieved, gold = box(0, "cited"), box(0, "retrieved"), box(1, "gold")
    assert cited[2] and retrieved[2] and gold[2]
    assert cited[0] > retrieved[0] > gold[0] - 4
    assert gold[1] < cited[1] < retrieved[1]
    assert not box(0, "gold")[2] and not box(1, "cited")[2]


def test_the_strip_below_a_page_turns_to_it_and_is_followed_by_the_address(
    serve: Serve, page: Page, wait_for_run: WaitForRun
) -> None:
    page.goto(f"{serve(DEMO).url}/question?run=R004&q=Q74")
    wait_for_run(page)
    gold = strip(page).get_by_role("button", name="p. 35 (PDF 43): gold")
    gold.wait_for()
    gold.click()
    wait_for_run(page)
    wait_for_query(page, page="42")
    expect(page.get_by_title("page_idx 42 · PDF page 43 of 97")).to_be_visible()
    expect(strip(page).locator("[aria-current]")).to_have_count(1)
    expect(strip(page).get_by_role("button", name="p. 35 (PDF 43) (shown): gold")).to_have_count(1)


def test_a_runs_failures_open_their_list_and_one_of_its_questions(
    serve: Serve, page: Page, wait_for_run: WaitForRun
) -> None:
    page.goto(f"{serve(DEMO).url}/?run=R001")
    wait_for_run(page)
    worst = strip(page).get_by_role("button", name="fails on 3 of").first
    worst.hover()
    expect(words(page)).to_contain_text("fails on 3 of")
    worst.click()
    wait_for_run(page)
    wait_for_query(page, fails="yes")
    expect(page.get_by_test_id("ps-row")).to_have_count(3)
    page.get_by_test_id("ps-row").first.get_by_role("link").click()
    wait_for_run(page)
    expect(page.get_by_text("1 of 3 shown")).to_be_visible()
    wait_for_query(page, fails="yes")


def test_the_worst_places_are_reached_by_keyboard_and_taken_away_again(
    serve: Serve, page: Page, wait_for_run: WaitForRun
) -> None:
    page.goto(f"{serve(DEMO).url}/?run=R001")
    wait_for_run(page)
    page.get_by_role("button", name="section 7 Maintenance and fluids").focus()
    page.keyboard.press("Enter")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-row")).to_have_count(5)
    page.get_by_role("button", name="✕ about section 7 of meridian-2026").click()
    wait_for_run(page)
    assert "about" not in query(page)
    page.get_by_role("button", name="✕ fails").click()
    wait_for_run(page)
    assert "fails" not in query(page)
