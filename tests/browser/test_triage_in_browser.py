"""Triage in a real browser: what only a browser shows of typing, clicking, the URL and the history."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import IDLE, PageAt, Serve, WaitForRun, wait_for_query
from tests.hostile.workspaces import lines, trace, write_workspace
from tests.places import DEMO

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)> ![a](http://canary.test/x.png) **b** \u202eabc"
#: Lists that no other workspace has, each as a run of one; the last opens where no run is named.
LISTS = {
    "many": [trace(f"Q{n:03}", f"oil question {n:03}?", "not in context") for n in range(60)],
    "longer": [trace(f"Q{n}", f"How often is the oil {'really ' * n}changed?", "Use it.") for n in range(16)],
    "ten": [trace(f"Q{n}", "How often?", "Use it.") for n in range(10)],
    "hostile": [
        trace("<b>&q=evil#1", HOSTILE, "Change it. citations: [c1]"),
        trace("javascript:alert(1)", "oil?", f"{HOSTILE} 77"),
    ],
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run for each of the lists."""
    folder = tmp_path_factory.mktemp("lists") / "w"
    runs = [{"run_id": name, "traces": {"path": f"{name}.jsonl"}} for name in LISTS]
    write_workspace(folder, runs=runs)
    for name, traces in LISTS.items():
        (folder / f"{name}.jsonl").write_bytes(lines(traces))
    return folder


def open_triage(page: Page, url: str, wait_for_run: WaitForRun, *, at_rest: bool = True) -> None:
    """Triage with its rows; `at_rest` when they are drawn with all that is found out in the background."""
    page.goto(url)
    wait_for_run(page)
    rows(page).first.wait_for(state="visible")
    if at_rest:
        pending = re.compile("Claims: being checked|Cited text: being located")
        expect(page.get_by_text(pending)).to_have_count(0, timeout=60_000)
        page.locator(IDLE).wait_for(state="attached")


def rows(page: Page) -> Locator:
    return page.get_by_test_id("ps-row")


def link(page: Page, row: int) -> Locator:
    """The question of a row, 0-based."""
    return rows(page).nth(row).get_by_role("link")


def header(page: Page, title: str) -> Locator:
    return page.get_by_role("columnheader", name=title)


def focused(page: Page) -> str:
    """The text of what has the focus, inside the table's shadow tree."""
    text: str = page.evaluate("() => document.activeElement.shadowRoot?.activeElement?.textContent ?? ''")
    return text


def sentence(page: Page) -> str:
    return page.locator(".st-key-sentence .ps-line").inner_text()


def test_typing_searches_without_losing_a_letter_and_the_url_brings_it_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    search = page.get_by_placeholder("Search …")
    search.press_sequentially("engine oil", delay=90)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("“engine oil”")
    expect(search).to_have_value("engine oil")
    wait_for_query(page, text="engine oil")
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
    page.locator(".st-key-group-correct button:visible").click()
    wait_for_run(page)
    wait_for_query(page, cause="none", correct="correct")
    expect(page.locator(".st-key-sentence .ps-line")).not_to_have_text(everything)
    page.go_back()
    wait_for_run(page)
    expect(page.locator(".st-key-sentence .ps-line")).to_have_text(everything)
    page.wait_for_url(lambda url: "cause=" not in url, wait_until="commit")
    page.locator(".st-key-group-over_refusal button:visible").click()
    wait_for_query(page, cause="over_refusal")


def test_a_click_on_a_header_sorts_all_rows(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    expect(header(page, "Verdict")).to_have_attribute("aria-sort", "other")
    header(page, "Question").get_by_role("button").click()
    wait_for_run(page)
    wait_for_query(page, sort="question")
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("questions A to Z")
    expect(header(page, "Question")).to_have_attribute("aria-sort", "ascending")
    assert header(page, "Verdict").get_attribute("aria-sort") is None
    assert focused(page) == "Question↑", "the header keeps its focus"
    page.keyboard.press("Enter")
    wait_for_run(page)
    wait_for_query(page, desc="yes")
    expect(header(page, "Question")).to_have_attribute("aria-sort", "descending")


@pytest.mark.parametrize("column", [0, 5])
def test_a_row_opens_its_question_and_back_finds_the_same_list(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, column: int
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002&label=ok", wait_for_run)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("most harmful first")  # as it stays
    shown, question = sentence(page), link(page, 1).inner_text()
    rows(page).nth(1).get_by_role("cell").nth(column).click()
    wait_for_run(page)
    page.wait_for_url("**/question?*")
    wait_for_query(page, label="ok")
    expect(page.get_by_test_id("ps-title").nth(1)).to_contain_text(question)
    page.go_back()
    wait_for_run(page)
    expect(page.locator(".st-key-sentence .ps-line")).to_have_text(shown)


def test_a_rows_link_opens_the_same_question_in_another_tab(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002&label=ok", wait_for_run)
    before, question = page.url, link(page, 2).inner_text()
    with page.context.expect_page() as opened:
        link(page, 2).click(modifiers=["Control"])
    other = opened.value
    expect(other.get_by_test_id("ps-title").nth(1)).to_contain_text(question)
    wait_for_query(other, label="ok")
    assert page.url == before


def test_arrow_keys_move_and_only_enter_opens(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    before, last = page.url, rows(page).count() - 1
    header(page, "Verdict").get_by_role("button").focus()
    page.keyboard.press("ArrowRight")
    assert focused(page) == "Cause"
    page.keyboard.press("Tab")
    assert focused(page) == link(page, 0).inner_text(), "one Tab from the headers to the rows"
    for key, row in (
        ("ArrowDown", 1),
        ("End", last),
        ("ArrowDown", last),
        ("ArrowUp", last - 1),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert focused(page) == link(page, row).inner_text(), key
        expect(link(page, row)).to_be_in_viewport(ratio=1)
    for _ in range(2):  # some rows may be out of sight
        page.keyboard.press("PageDown")
    assert focused(page) == link(page, last).inner_text()
    for _ in range(2):
        page.keyboard.press("PageUp")
    page.keyboard.press("ArrowDown")
    assert page.url == before, "nothing opens by moving"
    question = link(page, 1).inner_text()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert focused(page) == question, "Tab comes back to the row that was left"
    page.keyboard.press("Enter")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-title").nth(1)).to_contain_text(question)


def test_marking_words_in_a_row_opens_nothing(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002", wait_for_run)
    before, box = page.url, link(page, 3).bounding_box()
    assert box is not None
    middle = box["y"] + 8  # of its first line
    page.mouse.move(box["x"] + 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, middle, steps=5)
    page.mouse.up()
    marked = page.evaluate("() => String(getSelection())")
    assert len(marked) > 3
    assert marked in link(page, 3).inner_text()
    assert page.url == before


def test_the_list_stays_in_place_when_it_is_sorted_by_harm(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    url = serve(DEMO, FRESH="its claims are checked meanwhile").url
    open_triage(page, f"{url}/?run=R005", wait_for_run, at_rest=False)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("sorted by label until")
    page.locator(IDLE).wait_for(state="attached")
    box = page.get_by_test_id("ps-rows").bounding_box()
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("most harmful first", timeout=60_000)
    expect(rows(page).first).to_contain_text("✕ Contradicted")
    expect(rows(page).first.locator("td.answer mark")).to_have_text("54 seconds")
    page.locator(IDLE).wait_for(state="attached")
    now = page.get_by_test_id("ps-rows").bounding_box()
    assert box is not None and now is not None
    assert (now["x"], now["y"], now["width"]) == (box["x"], box["y"], box["width"])


#: Mark the words of an element and return them; none if the element has left the page.
MARK_WORDS = """element => {
  getSelection().selectAllChildren(element);
  return String(getSelection());
}"""


def test_words_stay_marked_while_citations_are_located(
    serve: Serve,
    page_at: PageAt,
    wait_for_run: WaitForRun,
    checked: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    page = page_at(1400, 900)
    url = serve(DEMO, PROOFSPAN_CACHE_DIR=str(copytree(checked(DEMO), tmp_path / "cache"))).url
    open_triage(page, f"{url}/?run=R005", wait_for_run, at_rest=False)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text("most harmful first", timeout=60_000)
    marked = ""
    while not marked:  # the rows may be drawn again between finding the link and marking it
        marked = link(page, 3).evaluate(MARK_WORDS)
        page.wait_for_timeout(25)
    assert len(marked) > 3
    expect(page.get_by_text("Cited text: being located")).to_have_count(0, timeout=60_000)
    page.locator(IDLE).wait_for(state="attached")
    assert page.evaluate("() => String(getSelection())") == marked


def test_foreign_text_stays_text(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900, own=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_triage(page, serve(workspace).url, wait_for_run)
    hostile = rows(page).get_by_role("link").filter(has_text="<img src=x")
    expect(hostile).to_have_text(HOSTILE.replace("\u202e", "\ufffd"))
    assert page.locator(".st-key-triage-table").locator("img, b, script").count() == 0
    addresses = [one.get_attribute("href") or "" for one in rows(page).get_by_role("link").all()]
    assert all(address.startswith("./question?") for address in addresses)
    assert not [url for url in asked if "canary" in url or url.endswith("/x")]
    hostile.click()
    wait_for_run(page)
    wait_for_query(page, q="<b>&q=evil#1#1")


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
    frame = page.get_by_test_id("ps-rows")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth"), "the table scrolls sideways"
    expect(rows(page).first.locator(".in-answer")).to_be_visible()
    width = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= page.evaluate("() => document.querySelector('[data-testid=stMain]').clientWidth")
    groups = page.locator("[class*=st-key-group-] button:visible")
    box = page.locator(".st-key-strip").bounding_box()
    assert groups.count() > 5 and box is not None
    for group in groups.all():
        assert group.evaluate("button => button.scrollWidth <= button.clientWidth"), "a group cuts its words"
        place = group.bounding_box()
        assert place is not None and place["y"] + place["height"] <= box["y"] + box["height"]
    expect(page.get_by_text("1 line of this run's files could not be read.")).to_be_visible()


#: Whether an element scrolls by itself, of those that hold the list.
SCROLLS_INSIDE = """frame => {
  const main = document.querySelector("[data-testid=stMain]");
  for (let each = frame; each && each !== main; each = each.parentElement ?? each.getRootNode().host) {
    const { overflowY } = getComputedStyle(each);
    if (each.scrollHeight > each.clientHeight + 1 && /auto|scroll/.test(overflowY)) return true;
  }
  return false;
}"""


def test_the_list_is_a_part_of_the_page_whose_header_stays_in_sight(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve(workspace).url}/?run=many", wait_for_run)
    frame = page.get_by_test_id("ps-rows")
    assert rows(page).count() == 25
    assert not frame.evaluate(SCROLLS_INSIDE)
    rows(page).nth(24).scroll_into_view_if_needed()
    expect(header(page, "Question")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Next page").locator("visible=true").last.click()
    wait_for_query(page, at="2")
    expect(rows(page).first.get_by_role("link")).to_have_text("oil question 025?")


def test_a_chosen_filters_value_can_be_read(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve().url}/?run=R002&cause=over_refusal", wait_for_run)
    cause = page.locator(".st-key-facet-cause button:visible")
    expect(cause).to_have_text(re.compile("^Cause: Over-refusal"))
    words = cause.locator("p")
    assert words.evaluate("words => words.clientWidth / words.scrollWidth") > 0.8
    cause.click()
    page.get_by_role("button", name=re.compile("^Not extracted · ")).click()
    wait_for_run(page)
    expect(cause).to_have_text(re.compile("^Cause: 2"))
    page.get_by_role("button", name=re.compile("^Over-refusal · ")).click()  # the menu is still open
    wait_for_query(page, cause="not_extracted")


def test_a_filter_by_cited_text_lands_in_the_url_and_brings_its_rows_without_a_jump(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve(DEMO).url}/?run=R005&evidence=page_mismatch&columns=issues", wait_for_run)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text(
        re.compile("^1 of 39 questions: cited text: Other page"), timeout=60_000
    )
    expect(rows(page)).to_have_count(1)
    expect(rows(page).first).to_contain_text("Cited page is one too high")
    page.reload()
    wait_for_run(page)
    expect(page.locator(".st-key-facet-evidence button:visible")).to_have_text(re.compile(": Other page"))
    link(page, 0).click()
    wait_for_run(page)
    wait_for_query(page, q="Q77")
    wait_for_query(page, evidence="page_mismatch")


#: Faults of the layout: something is cut, filters on several lines, the first row below the limit.
FAULTS = """limit => {
  const place = (each) => each.getBoundingClientRect();
  const places = (all) => [...all].filter((each) => each.checkVisibility()).map(place);
  const main = document.querySelector("[data-testid=stMain]");
  const host = [...document.querySelectorAll(".st-key-triage-table *")].find((each) => each.shadowRoot);
  const frame = host.shadowRoot.querySelector("[data-testid=ps-rows]");
  const strip = place(document.querySelector(".st-key-strip"));
  const cards = places(document.querySelectorAll("[class*=st-key-group-] button"));
  const bar = places(document.querySelectorAll(".st-key-filters :is(button, input)"));
  const end = place(frame).right + 1;
  const faults = {
    "no cards": cards.length < 6,
    "a card is cut": cards.some((each) => each.right > strip.right + 1 || each.bottom > strip.bottom + 1),
    "filters wrap": new Set(bar.map((each) => Math.round((each.top + each.bottom) / 16))).size > 1,
    "a filter is cut": bar.some((each) => each.right > place(main).right),
    "the page is too wide": main.scrollWidth > main.clientWidth,
    "the table is too wide": frame.scrollWidth > frame.clientWidth,
    "a column is cut": places(frame.querySelectorAll("th, td")).some((each) => each.right > end),
    "the first row is low": place(frame.querySelector("tbody")).top > limit,
  };
  return Object.keys(faults).filter((each) => faults[each]).join(", ");
}"""


def test_at_every_width_nothing_is_cut_and_the_first_row_is_high_up(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    open_triage(page, f"{serve(DEMO).url}/?run=R005", wait_for_run)
    page.get_by_role("button", name="Dismiss").click()  # the welcome of the demo
    wait_for_run(page)
    for width, limit in ((1400, 420), (1100, 420), (900, 420), (420, 560)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"limit => ({FAULTS})(limit) === ''", arg=limit)
    page.get_by_role("button", name="More filters").click()
    for name in (
        "Document",
        "Top section",
        "Order",
        "Label",
        "Correctness",
        "Gold passage",
        "Safety warnings",
    ):
        expect(page.get_by_label(name, exact=True).locator("visible=true").first).to_be_visible()


def test_a_cause_is_chosen_by_keyboard_and_fixed_questions_are_listed_against_another_run(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 900)
    open_triage(page, f"{serve(DEMO).url}/?run=R006", wait_for_run)
    cause = page.locator(".st-key-group-not_extracted button:visible")
    count = int(cause.inner_text().rpartition(" ")[2])
    cause.focus()
    page.keyboard.press("Enter")
    wait_for_query(page, cause="not_extracted")
    expect(rows(page)).to_have_count(count)
    expect(cause).to_be_focused()
    expect(cause).to_contain_text("✓")
    expect(page.locator(".st-key-next-step")).to_contain_text("Not extracted")
    walk = page.locator(".st-key-next-step .stPageLink").get_by_role("link")
    assert "cause=not_extracted" in (walk.get_attribute("href") or "")
    page.get_by_role("combobox", name="Compare with").click()
    page.get_by_role("option", name="R004").click()
    wait_for_query(page, vs="R004", cause="not_extracted")
    cause.click()
    fixed = page.get_by_role("button", name="6 fixed")
    fixed.click()
    wait_for_query(page, vs="R004", flip="fixed")
    expect(rows(page)).to_have_count(6)
    expect(page.locator(".st-key-sentence .ps-line")).to_contain_text(re.compile("^6 of 41 questions: "))
    compare = page.locator(".st-key-toggles-flip").get_by_role("link", name="Compare")
    assert "vs=R004" in (compare.get_attribute("href") or "")
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth") <= 900
