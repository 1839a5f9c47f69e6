"""The Walkthrough in a real browser: keys wherever the focus is, the address, presenting, and what fits."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.hostile.workspaces import trace, write_workspace
from tests.pdf_files import form_bomb
from tests.places import DEMO

pytestmark = pytest.mark.browser

ANSWER = "Change the oil every 15,000 km. The fuse F12 protects the interior lamps."
CITATIONS = [
    {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."},
    {"chunk_id": "c2", "doc_id": "manual", "page": 2, "quote": "The fuse F12 protects the interior lamps."},
]
COUNT = 9
#: The line below the page ends where the window ends, but for its margin.
BAR_AT_THE_END = """() => {
  const { bottom } = document.querySelector('.st-key-walk-below').getBoundingClientRect();
  return bottom <= innerHeight && bottom > innerHeight - 40; }"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine questions, the third with a question and an answer that are far too long."""
    traces = [
        trace(f"Q{n}", f"Question {n}?", ANSWER, ("c1", "c2"), citations=CITATIONS)
        for n in range(1, COUNT + 1)
    ]
    traces[2] |= {"q": "Why is this question so long? " * 40, "answer": f"{ANSWER} " * 200}
    return write_workspace(tmp_path_factory.mktemp("walk"), traces)


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    """Open a question."""
    begun(page, url, wait_for_run)
    page.get_by_test_id("ps-picture").wait_for()


def begun(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    """Open any slide."""
    page.goto(url)
    wait_for_run(page)
    expect(count(page)).not_to_be_empty()  # the bar's script runs: keys are heard


def count(page: Page) -> Locator:
    return page.get_by_test_id("ps-walk-count")


def aside(page: Page) -> int:
    found: int = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
    return found


def parameter(page: Page, name: str) -> str | None:
    return parse_qs(urlsplit(page.url).query).get(name, [None])[0]


def title(page: Page, words: str) -> None:
    expect(page.get_by_test_id("ps-title").filter(has_text=words)).to_be_visible()


def box_in_sight(page: Page) -> None:
    """Until the chosen box lies in the window and in the page's frame."""
    page.wait_for_function(
        """box => { const frame = box.closest('.frame').getBoundingClientRect();
          const { top, bottom } = box.getBoundingClientRect();
          return top >= Math.max(0, frame.top) && bottom <= Math.min(innerHeight, frame.bottom); }""",
        arg=page.get_by_test_id("ps-box").first.element_handle(),
    )


def overflow(page: Page) -> int:
    found: int = page.get_by_test_id("stMain").evaluate("main => main.scrollHeight - main.clientHeight")
    return found


def test_keys_lead_through_the_list_wherever_the_focus_is(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    begun(page, f"{serve(workspace).url}/walkthrough?whole=yes&sort=question", wait_for_run)
    expect(count(page)).to_have_text("Title")
    page.keyboard.press("ArrowRight")
    title(page, "Question 1?")
    page.keyboard.press("ArrowRight")
    title(page, "Question 2?")
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("End")
    expect(count(page)).to_have_text("End")
    expect(page.get_by_role("link", name="Release check")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    title(page, "Why is this question so long?")
    page.get_by_test_id("ps-marked").get_by_role("button").first.focus()
    page.keyboard.press("Home")
    expect(count(page)).to_have_text("Title")
    page.wait_for_url(lambda url: "q=" not in url)
    page.go_back()
    title(page, "Why is this question so long?")
    # The slides are buttons large enough for a finger.
    dots = page.get_by_role("group", name="Slides").get_by_role("button")
    expect(dots).to_have_count(COUNT + 2)
    box = dots.nth(1).bounding_box()
    assert box is not None and min(box["width"], box["height"]) >= 24
    page.get_by_role("button", name="1: Question 1?").click()
    title(page, "Question 1?")


def test_no_quick_press_is_lost_or_counts_twice_and_the_ends_are_ends(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    begun(page, f"{serve(workspace).url}/walkthrough?whole=yes&sort=question", wait_for_run)
    back, on = (page.get_by_role("button", name=name, exact=True) for name in ("Previous", "Next"))
    expect(back).to_be_disabled()
    page.keyboard.press("ArrowLeft")
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".st-key-walk-top")).to_contain_text(f"6 of {COUNT}")
    wait_for_run(page)
    expect(page.locator(".st-key-walk-top")).to_contain_text(f"6 of {COUNT}")
    on.click(click_count=2, delay=1)
    expect(page.locator(".st-key-walk-top")).to_contain_text(f"8 of {COUNT}")
    page.keyboard.press("End")
    expect(on).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(count(page)).to_have_text("End")


def test_a_chosen_citation_moves_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?q=Q1", wait_for_run)
    place = page.get_by_test_id("ps-walk-place")
    expect(place).to_have_text("PDF page 1")
    page.get_by_test_id("ps-marked").get_by_role("button", name="citation 2").first.click()
    expect(place).to_have_text("PDF page 2")
    expect(page.get_by_test_id("ps-box")).to_have_attribute("data-span", "cite:2")
    page.keyboard.press("ArrowUp")
    expect(place).to_have_text("PDF page 1")
    page.keyboard.press("2")
    expect(place).to_have_text("PDF page 2")
    assert parameter(page, "cite") == "2"


def test_presenting_hides_all_but_the_evidence_and_escape_leaves(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?q=Q1", wait_for_run)
    size = page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)")
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.get_by_role("button", name="Exit")).to_be_visible()
    assert parameter(page, "present") == "yes"
    assert page.evaluate("() => parseFloat(getComputedStyle(document.documentElement).fontSize)") > size
    page.evaluate("() => document.exitFullscreen()")  # what a browser does with Escape
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    assert parameter(page, "present") is None


def test_a_shared_presentation_is_left_by_escape_too(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?q=Q1&present=yes", wait_for_run)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


@pytest.mark.parametrize("question", ["Q1", "Q3"])
@pytest.mark.parametrize("present", ["", "&present=yes"])
def test_everything_is_in_sight_without_scrolling(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path, question: str, present: str
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?q={question}{present}", wait_for_run)
    assert overflow(page) == 0
    for test_id in ("ps-title", "ps-marked", "ps-walk-bar"):
        place = page.locator(".st-key-walk").get_by_test_id(test_id).bounding_box()
        assert place is not None
        assert place["y"] >= 0 and place["y"] + min(place["height"], 40) <= 900
    box_in_sight(page)


def test_nothing_moves_from_a_short_bundle_to_a_long_one(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?ids=Q1&ids=Q3&q=Q1", wait_for_run)
    parts = (".st-key-walk-title", ".st-key-walk-answer", ".st-key-walk-page", ".st-key-walk-below")
    before = [page.locator(part).bounding_box() for part in parts]
    page.keyboard.press("ArrowRight")
    title(page, "Why is this question so long?")
    after = [page.locator(part).bounding_box() for part in parts]
    places = [[(box["x"], box["y"], box["width"]) for box in boxes if box] for boxes in (before, after)]
    assert places[0] == places[1]


def test_a_narrow_window_stacks_answer_page_and_notices_and_the_way_on_stays_in_sight(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(900, 900)
    opened(page, f"{serve(workspace).url}/walkthrough?q=Q1", wait_for_run)
    tops = []
    for part in ("title", "answer", "page", "exhibits-frame"):
        place = page.locator(f".st-key-walk-{part}").bounding_box()
        assert place is not None
        tops.append(place["y"])
    assert tops == sorted(tops)
    page.wait_for_function(BAR_AT_THE_END)
    answer = page.locator(".st-key-walk-answer")  # however late the answer comes
    answer.evaluate("answer => { answer.style.minHeight = `${answer.offsetHeight + 60}px` }")
    page.wait_for_function(BAR_AT_THE_END)
    box_in_sight(page)


@pytest.mark.parametrize("present", ["", "&present=yes"])
def test_no_width_needs_scrolling_to_the_side(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path, present: str
) -> None:
    page = page_at(1400, 900)
    for slide in ("q=Q3&whole=yes", "whole=yes", "end=yes&whole=yes"):
        begun(page, f"{serve(workspace).url}/walkthrough?{slide}{present}", wait_for_run)
        for width in (1400, 1100, 900, 420):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_function(BAR_AT_THE_END)
            assert aside(page) == 0
            for name in ("Previous", "Next"):
                box = page.get_by_role("button", name=name, exact=True).bounding_box()
                assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
                assert box["y"] + box["height"] <= 900


def test_keys_are_left_to_a_field_that_somebody_types_in(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    begun(page, f"{serve(workspace).url}/walkthrough?whole=yes&sort=question", wait_for_run)
    page.get_by_role("button", name="Playlist").click()
    field = page.get_by_label("Search questions and answers")
    field.press_sequentially("F12 pf")
    page.keyboard.press("ArrowLeft")
    expect(field).to_have_value("F12 pf")
    expect(count(page)).to_have_text("Title")
    assert parameter(page, "present") is None


#: A name that is text and nothing else.
HOSTILE = "<img src=x onerror=alert(1)> f1 [a](b) **c**"


def test_a_playlist_is_edited_ordered_named_shared_by_its_address_and_saved(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900)
    begun(page, f"{serve(workspace).url}/walkthrough?ids=Q5&ids=Q2&ids=Q4", wait_for_run)
    page.get_by_role("button", name="Playlist").click()
    rows = page.get_by_test_id("ps-order").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.first.locator("img")).to_have_count(1)  # its page
    rows.nth(2).get_by_role("button", name="Move up").click()
    page.wait_for_url(re.compile("ids=Q5&ids=Q4&ids=Q2"))
    page.keyboard.press("Alt+ArrowUp")  # the focus went with the row
    page.wait_for_url(re.compile("ids=Q4&ids=Q5&ids=Q2"))
    rows.nth(1).get_by_role("button", name="Remove").click()
    page.wait_for_url(re.compile("ids=Q4&ids=Q2($|&)"))
    page.get_by_label("Add a question").fill("Question 7")
    page.get_by_role("option", name="Q7 · Question 7?").click()
    page.wait_for_url(re.compile("ids=Q4&ids=Q2&ids=Q7"))
    page.get_by_label("Name", exact=True).fill("For Ada & Bob")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("name=For"))
    shared = page.url
    page.keyboard.press("Escape")
    begun(page, shared, wait_for_run)
    expect(page.locator(".st-key-walk")).to_contain_text("For Ada & Bob · 3 questions")
    for name in ("Question 4?", "Question 2?", "Question 7?"):
        page.keyboard.press("ArrowRight")
        title(page, name)
    page.get_by_role("button", name="Playlist").click()
    kept = page.locator(".st-key-playlist-kept")
    saved = kept.get_by_role("link")
    words = page.get_by_test_id("ps-kept-words")
    expect(saved).to_have_count(0)
    page.get_by_role("button", name="Save this playlist").click()
    expect(saved).to_have_text(["For Ada & Bob"])
    expect(saved).to_be_focused()
    page.get_by_role("button", name="All questions").click()
    page.wait_for_url(lambda url: "ids=" not in url and "name=" not in url)
    expect(page.get_by_role("group", name="Slides").get_by_role("button")).to_have_count(COUNT + 2)
    kept.get_by_role("button", name="Rename").click()
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    expect(saved).to_have_text([HOSTILE])
    kept.get_by_role("button", name="Remove").click()
    expect(saved).to_have_count(0)
    words.get_by_role("button", name="Undo").press("Enter")
    expect(saved).to_have_text([HOSTILE])
    page.keyboard.press("Escape")
    begun(page, page.url, wait_for_run)  # of a run that has none of the questions, or with anything stored
    page.evaluate(
        """() => {
          const key = Object.keys(localStorage).find((each) => each.startsWith("proofspan:playlists:"));
          const gone = { name: "Gone", ids: ["X1", "X2"] };
          localStorage.setItem(key, JSON.stringify([...JSON.parse(localStorage[key]), gone, { name: 1 }, 7]));
        }"""
    )
    page.get_by_role("button", name="Playlist").click()
    expect(saved).to_have_text([HOSTILE, "Gone"])
    saved.first.click()
    page.wait_for_url(re.compile("ids=Q4&ids=Q2&ids=Q7&name="))
    expect(page.locator(".st-key-walk")).to_contain_text(f"{HOSTILE} · 3 questions")
    saved.last.click()
    page.wait_for_url(re.compile("ids=X1&ids=X2&name=Gone"))
    expect(page.locator(".stMain")).to_contain_text("X1")
    assert page.locator("img[src=x]").count() == 0


def test_the_speakers_window_follows_and_leads(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900, own=True)
    begun(page, f"{serve(workspace).url}/walkthrough?ids=Q5&ids=Q2", wait_for_run)
    with page.context.expect_page() as opening:
        page.get_by_role("link", name="Notes").click()
    notes = opening.value
    expect(notes.get_by_test_id("ps-speaker-count")).to_have_text("Title")
    expect(notes.get_by_test_id("ps-speaker-next")).to_have_text("Question 5?")
    page.keyboard.press("ArrowRight")
    expect(notes.get_by_test_id("ps-speaker-title")).to_have_text("Question 5?")
    expect(notes.get_by_test_id("ps-speaker-next")).to_have_text("Question 2?")
    expect(notes.get_by_test_id("ps-speaker-elapsed")).to_have_text(re.compile(r"^\d+:\d\d$"))
    notes.keyboard.press("ArrowRight")
    title(page, "Question 2?")
    expect(notes.get_by_test_id("ps-speaker-count")).to_have_text("2 / 2")
    assert notes.get_by_test_id("stSidebar").count() == 0
    notes.close()


def test_the_demo_opens_on_the_best_with_no_refusal_among_the_first_five(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    begun(page, f"{serve(DEMO).url}/walkthrough", wait_for_run)
    expect(page.locator(".st-key-walk")).to_contain_text("Best of · 8 questions")
    refusal = page.locator("[class*=st-key-walk-refusal]")
    for number in range(1, 9):
        page.keyboard.press("ArrowRight")
        expect(count(page)).to_have_text(f"{number} / 8")
        wait_for_run(page)
        assert refusal.count() == (number == 8)
        if number == 1:  # what belongs to the page; its neighbours' notices are folded
            expect(page.get_by_test_id("ps-walk-place")).to_have_text(re.compile(r"^p\. \d+$"))
            fold = page.get_by_role("button", name="On the pages before and after")
            more = page.get_by_role("button", name=re.compile(r"^Show (\d+ )?more$"))
            expect(fold.or_(more).first).to_be_visible()
            if more.is_visible():  # a slide has room for some
                more.click()
            expect(fold).to_have_attribute("aria-expanded", "false")
            shown = page.get_by_test_id("ps-notice").count()
            fold.click()
            wait_for_run(page)
            assert page.get_by_test_id("ps-notice").count() > shown
        if number == 7:  # an answer that was caught: nothing about it is green
            expect(page.locator(".st-key-walk-top .ps-fail")).to_have_count(1)
            expect(page.locator(".st-key-walk-top :is(.ps-ok, .ps-pass)")).to_have_count(0)
            expect(page.locator(".st-key-walk-answer").get_by_test_id("ps-says")).to_be_visible()
    expect(refusal).to_contain_text("The documents do not answer this.")
    page.keyboard.press("ArrowRight")
    expect(count(page)).to_have_text("End")
    # Many slides have a slider in place of dots: one key is one slide there too.
    page.get_by_role("button", name="Playlist").click()
    page.get_by_role("button", name="All questions").click()
    slider = page.get_by_role("slider", name="Slide")
    expect(slider).to_have_attribute("aria-valuetext", "Title")
    page.keyboard.press("Escape")
    slider.focus()
    for number in (1, 2):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".st-key-walk-top")).to_contain_text(f"{number} of 41")
    expect(count(page)).to_have_text("2 / 41")


def test_a_hanging_document_leaves_the_way_on_open(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, tmp_path: Path
) -> None:
    stuck = [{"chunk_id": "c9", "doc_id": "bomb", "page": 1, "quote": "Never to be found."}]
    folder = write_workspace(
        tmp_path / "stuck",
        [
            trace("Q1", "Question 1?", "Never to be found.", (), citations=stuck),
            trace("Q2", "Question 2?", ANSWER, ("c1", "c2"), citations=CITATIONS),
        ],
        documents=[{"doc_id": "manual", "path": "manual.pdf"}, {"doc_id": "bomb", "path": "bomb.pdf"}],
    )
    (folder / "bomb.pdf").write_bytes(form_bomb())
    page = page_at(1400, 900)
    page.goto(f"{serve(folder).url}/walkthrough?whole=yes&sort=question&q=Q1")
    expect(page.get_by_text("Opening the page …")).to_be_visible()
    title(page, "Question 1?")
    expect(page.get_by_test_id("ps-marked")).to_contain_text("Never to be found.")
    page.get_by_test_id("ps-walk-bar").wait_for()
    page.keyboard.press("ArrowRight")
    title(page, "Question 2?")
    expect(page.get_by_test_id("ps-walk-place")).to_have_text("PDF page 1")
    page.keyboard.press("ArrowLeft")
    title(page, "Question 1?")
