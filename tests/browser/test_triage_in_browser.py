"""Triage in a real browser: what only a browser shows of typing, clicking, the URL and the history."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

HEADER = 17  # pixels: the middle of the table's header line
ROW = 34


def query(page: Page) -> dict[str, list[str]]:
    """The URL's parameters."""
    return parse_qs(urlsplit(page.url).query)


def open_triage(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    page.goto(url)
    wait_for_run(page)
    table(page).locator("canvas").first.wait_for(state="visible", timeout=45_000)


def table(page: Page) -> Locator:
    return page.locator(".st-key-triage-table [data-testid=stDataFrame]")


def sentence(page: Page) -> str:
    return page.locator(".st-key-sentence .ps-line").inner_text()


def test_typing_searches_without_losing_a_letter_and_the_url_brings_it_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    search = page.get_by_placeholder("Search questions and answers …")
    search.press_sequentially("engine oil", delay=90)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("“engine oil”")
    expect(search).to_have_value("engine oil")
    assert query(page)["text"] == ["engine oil"]
    shown = sentence(page)
    page.reload()
    wait_for_run(page)
    expect(page.locator(".st-key-sentence .ps-line")).to_have_text(shown)
    expect(search).to_have_value("engine oil")


def test_the_browsers_back_takes_a_filter_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    everything = sentence(page)
    page.locator(".st-key-card-ok button").click()
    wait_for_run(page)
    assert query(page)["label"] == ["ok"]
    assert sentence(page) != everything
    page.go_back()
    wait_for_run(page)
    expect(page.locator(".st-key-sentence .ps-line")).to_have_text(everything)
    assert "label" not in query(page)


def test_a_click_on_a_header_sorts_all_rows(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    table(page).click(position={"x": 300, "y": HEADER})
    wait_for_run(page)
    assert query(page)["sort"] == ["question"]
    assert "questions A to Z" in sentence(page)
    table(page).click(position={"x": 300, "y": HEADER})
    wait_for_run(page)
    assert query(page)["desc"] == ["yes"]


def test_a_row_opens_its_question_and_back_finds_the_same_list(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002&label=ok", wait_for_run)
    shown = sentence(page)
    table(page).click(position={"x": 300, "y": ROW + HEADER})
    wait_for_run(page)
    page.wait_for_url("**/question?*")
    assert query(page)["label"] == ["ok"]
    assert "q" in query(page)
    page.go_back()
    wait_for_run(page)
    expect(page.locator(".st-key-sentence .ps-line")).to_have_text(shown)


def test_the_export_holds_every_row_that_is_shown(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, tmp_path: Path
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002&label=ok", wait_for_run)
    page.locator(".st-key-export button").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    target = tmp_path / "out.csv"
    download.value.save_as(target)
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert {row["label"] for row in rows} == {"ok"}
    assert sentence(page).startswith(f"{len(rows)} of ")
    assert download.value.suggested_filename == "triage-Meridian-owner-s-manual-R002.csv"


@pytest.mark.parametrize("dark", [False, True])
def test_at_900_pixels_nothing_runs_out_of_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, dark: bool
) -> None:
    page = page_at(900, 900, dark)
    open_triage(page, f"{serve().url}/?run=R001", wait_for_run)
    width = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= page.evaluate("() => document.querySelector('[data-testid=stMain]').clientWidth")
    cards = page.locator("[class*=st-key-card-] button")
    assert cards.count() == 5
    for card in cards.all():
        assert card.evaluate("button => button.scrollWidth <= button.clientWidth"), "a card cuts its words"
    expect(page.get_by_text("1 line of this run could not be read.")).to_be_visible()


def test_the_tables_own_menu_is_away(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    """It would save the rows of one page, with cells that a spreadsheet runs."""
    page = page_at(1400, 900)
    open_triage(page, serve().url, wait_for_run)
    table(page).hover()
    expect(page.locator(".st-key-triage-table [data-testid=stElementToolbar]")).not_to_be_visible()
