"""The Question page in a real browser: the places of its parts, and the look of its boxes and cells."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import IDLE, PageAt, Serve, WaitForRun
from tests.places import DEMO

pytestmark = pytest.mark.browser


def place(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    page.goto(url)
    wait_for_run(page)
    page.get_by_test_id("ps-picture").wait_for()


def test_a_narrow_window_puts_the_page_between_answer_and_reasons(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    answer, side, reading = (place(page, f".st-key-{key}") for key in ("answer", "page-side", "reading"))
    assert answer["x"] == side["x"] == reading["x"]
    assert answer["width"] == side["width"] == reading["width"]
    assert answer["y"] + answer["height"] <= side["y"]
    assert side["y"] + side["height"] <= reading["y"]
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") == 0


def test_a_wide_window_puts_the_page_beside_them(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    answer, side, reading = (place(page, f".st-key-{key}") for key in ("answer", "page-side", "reading"))
    assert answer["x"] + answer["width"] < side["x"]
    assert answer["y"] == side["y"]
    assert reading["x"] == answer["x"]
    assert reading["y"] < side["y"] + side["height"], "the reading waits for the page's end"


def test_the_reading_is_where_it_stays_while_the_page_is_not_there_yet(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    there = place(page, ".st-key-reading")
    page.locator(".st-key-sides > *").filter(has=page.locator(".st-key-page-side")).or_(
        page.locator(".st-key-sides > .st-key-page-side")
    ).first.evaluate("side => side.remove()")
    without = place(page, ".st-key-reading")
    assert (without["x"], without["width"]) == (there["x"], there["width"])


def test_the_page_is_drawn_from_top_to_bottom(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    expect(page.locator(".st-key-level .ps-badge")).to_be_visible()  # nothing is pending now
    names: dict[tuple[int, ...], str] = {}
    drawn: list[tuple[int, ...]] = []
    ended: list[ForwardMsg] = []

    def note(sent: str | bytes) -> None:
        message = ForwardMsg.FromString(sent) if isinstance(sent, bytes) else ForwardMsg()
        path = tuple(message.metadata.delta_path)
        if message.WhichOneof("type") == "script_finished":
            ended.append(message)
        if message.WhichOneof("type") != "delta" or ended:  # what follows is drawn by fragments
            return
        if message.delta.WhichOneof("type") == "add_block":
            names[path] = message.delta.add_block.id.rpartition("-")[2]
        elif path[0] == 0:
            drawn.append(path)

    page.on("websocket", lambda websocket: websocket.on("framereceived", note))
    page.reload()
    wait_for_run(page)
    apart = [path for path, name in names.items() if name in ("level", "ahead")]
    assert {"answer", "reading", "why"} <= {*names.values()}
    # The level's height is reserved, the wire takes no room.
    in_place = [path for path in drawn if not any(path[: len(each)] == each for each in apart)]
    late = [path for before, path in pairwise(in_place) if path < before]
    assert late == [], "it moves what is below it"


#: Where what can be clicked begins, and how far the page is scrolled.
TOPS = """names => [
  document.querySelector('[data-testid=stMain]').scrollTop,
  ...names.map(name => document.querySelector(`.st-key-${name}`).getBoundingClientRect().top)
]"""


def test_what_is_clicked_moves_neither_the_answer_nor_the_reading(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 1400)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    expect(page.locator(".st-key-level .ps-badge")).to_be_visible()
    names = ["answer-text", "citations", "claims-list", "why", "stage", "candidates"]
    before = page.evaluate(TOPS, names)
    candidate = page.get_by_test_id("ps-row").nth(1)
    for target, parameter in (
        (candidate.get_by_role("cell").first, "chunk="),
        (page.locator(".st-key-cite-1 button"), "cite=1"),
        (page.get_by_test_id("ps-claim-row").first, "at_claim="),
        (page.get_by_test_id("ps-marked").get_by_role("button", name="citation 1").first, "cite=1"),
        (page.locator("[class*=st-key-gold-] button").first, "chunk=gold"),
    ):
        target.click()
        wait_for_run(page)
        page.wait_for_url(lambda url, wanted=parameter: wanted in url)
        expect(chosen_box(page)).to_be_in_viewport()
        assert page.evaluate(TOPS, names) == before, parameter


def test_a_retrieved_table_is_a_region_and_the_cited_row_stays_its_words(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01&cite=1", wait_for_run)
    boxes = page.get_by_test_id("ps-box")
    table = boxes.and_(page.locator("[data-layer=retrieved][data-span*='s=8.1|p=015|b=001']"))
    assert 1 <= table.count() <= 2, "a table of seven rows is a region, its last row a stub of it"
    cited = boxes.and_(page.locator("[data-layer=cited]"))
    assert cited.count() == 3, "one box a cell that the misquoted row was found in"


def test_arrow_keys_turn_the_page_and_a_button_leads_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve().url}/question?run=R002&q=Q01", wait_for_run)
    finding = page.locator(".st-key-finding")
    at = finding.inner_text()
    side = page.locator(".st-key-page-side")
    start = side.locator(".ps-hint").first.inner_text()
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("ArrowLeft")
    expect(finding).to_contain_text("not on this page.")
    expect(page.get_by_test_id("ps-box").and_(page.locator(".chosen"))).to_have_count(0)
    opened(page, page.url, wait_for_run)
    expect(finding).to_contain_text("not on this page.")
    page.get_by_test_id("ps-viewer").focus()
    page.keyboard.press("ArrowRight")
    expect(side.locator(".ps-hint").first).to_have_text(start, use_inner_text=True)
    expect(finding).to_have_text(at, use_inner_text=True)
    page.keyboard.press("ArrowLeft")
    expect(finding).to_contain_text("not on this page.")
    page.locator(IDLE).wait_for(state="attached")
    page.get_by_role("button", name="Back to the passage").click()
    expect(finding).to_have_text(at, use_inner_text=True)
    assert "page=" not in page.url


def test_the_other_runs_are_there_at_once_and_get_their_sign_without_a_reload(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(FRESH='other runs').url}/question?run=R002&q=Q01", wait_for_run)
    other = page.locator(".st-key-run-R001")
    expect(other).to_contain_text("R001")
    expect(other).not_to_contain_text("…")
    other.get_by_role("button").click()
    expect(page).to_have_url(re.compile("run=R001"))


def test_a_citation_is_chosen_in_the_answer_and_everything_follows(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(DEMO).url}/question?run=R004&q=Q76", wait_for_run)
    answer, chosen_row = page.get_by_test_id("ps-marked"), page.get_by_test_id("ps-row")
    second = answer.get_by_role("button", name=re.compile(r"^citation 2, exact, p\. \d+ \(PDF 44\)"))
    second.first.click()
    expect(page).to_have_url(re.compile(r"[?&]cite=2"))
    expect(second.first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name=re.compile(r"^2 · exact"))).to_have_css("border-style", "solid")
    expect(chosen_row.and_(page.locator(".chosen"))).to_contain_text("cited 2")
    expect(chosen_box(page)).to_have_attribute("data-span", "cite:2")
    answer.get_by_text("In several situations").click()
    expect(page).to_have_url(re.compile(r"[?&]cite=1"))
    expect(chosen_box(page)).to_have_attribute("data-span", "cite:1")
    expect(chosen_row.and_(page.locator(".chosen"))).to_contain_text("cited 1")
    expect(second.first).to_have_attribute("aria-pressed", "false")


def test_a_candidate_is_chosen_by_mouse_and_key_and_keeps_the_focus(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(DEMO).url}/question?run=R004&q=Q76", wait_for_run)
    candidates = page.get_by_test_id("ps-row")
    candidates.nth(1).get_by_role("cell").first.click()
    expect(page).to_have_url(re.compile(r"[?&]chunk="))
    expect(page).not_to_have_url(re.compile(r"[?&]cite="))
    expect(chosen_box(page)).to_have_attribute("data-layer", "retrieved")
    button = candidates.nth(1).get_by_role("button")
    expect(button).to_have_attribute("aria-current", "true")
    button.focus()
    page.keyboard.press("ArrowDown")
    third = candidates.nth(2).get_by_role("button")
    expect(third).to_be_focused()
    page.keyboard.press("Enter")
    expect(third).to_have_attribute("aria-current", "true")
    expect(third).to_be_focused()
    assert (
        candidates.get_by_role("button").evaluate_all("all => all.map(each => each.tabIndex)").count(0) == 1
    )


def test_scores_are_shown_for_all_candidates_when_asked_for(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(DEMO).url}/question?run=R004&q=Q76&cite=2", wait_for_run)
    scores = page.get_by_test_id("ps-rows").get_by_text(re.compile("^keywords "))
    expect(scores.and_(page.locator(":visible"))).to_have_count(1)
    more = page.get_by_role("button", name="Show all scores")
    more.click()
    expect(more).to_have_attribute("aria-pressed", "true")
    expect(scores.and_(page.locator(":visible"))).to_have_count(5)
    frame = page.get_by_test_id("ps-rows")
    assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") == 0


#: Whether a cell has more than half the width of its frame, which does not scroll sideways.
MOSTLY_TEXT = """cell => {
  const frame = cell.closest("[data-testid=ps-rows]");
  return frame.scrollWidth === frame.clientWidth
    && cell.offsetWidth / cell.closest(".frame").offsetWidth > 0.5;
}"""
#: Whether the page does not scroll sideways, and the buttons hold their words.
NOTHING_CUT = """buttons => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth === main.clientWidth
    && buttons.every((each) => each.scrollWidth <= each.clientWidth + 1);
}"""


def test_a_candidates_text_has_most_of_a_narrow_row(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1100, 900)
    opened(page, f"{serve(DEMO).url}/question?run=R005&q=Q77", wait_for_run)
    frame = page.get_by_test_id("ps-rows")
    text = frame.locator("tbody td.chunk").first
    for width in (1100, 420):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(MOSTLY_TEXT, arg=text.element_handle())
        expect(text).to_contain_text("Score 0.817")


def test_a_warning_that_may_be_left_out_is_outlined_on_its_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(DEMO).url}/question?run=R006&q=Q89", wait_for_run)
    outline = page.locator(".region")
    expect(outline).to_be_hidden()
    page.get_by_role("button", name=re.compile(r"WARNING on .*69")).click()
    expect(outline).to_be_visible()
    expect(outline).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"[?&]see=w-"))
    page.reload()
    expect(outline).to_be_in_viewport()
    page.get_by_test_id("ps-marked").get_by_role("button", name="citation 2").first.click()
    expect(outline).to_be_hidden()
    expect(page).not_to_have_url(re.compile("see="))


def test_a_line_that_could_not_be_read_is_reported_where_its_question_is_missing(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve(DEMO).url}/question?run=R005&q=Q98")
    wait_for_run(page)
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("Question Q98 isn't in run R005")
    expect(main).to_contain_text("A line that names Q98 could not be read: the line is not valid JSON")
    expect(main).to_contain_text("runs/R005/trace.jsonl:25")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_reaches_over_the_edge_and_no_button_is_cut(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, dark: bool
) -> None:
    page = page_at(1400, 900, dark)
    opened(page, f"{serve(DEMO).url}/question?run=R005&q=Q78", wait_for_run)
    expect(page.get_by_test_id("ps-claim-row").first).to_be_in_viewport()
    expect(page.get_by_test_id("ps-stops")).to_be_in_viewport()
    expect(page.locator(".st-key-next")).to_be_in_viewport(ratio=1)
    buttons = page.locator(".st-key-steps button, .st-key-citations button, .st-key-other-runs button")
    for width in (1400, 900):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.locator(".st-key-level .ps-badge")).to_be_visible()
        page.wait_for_function(NOTHING_CUT, arg=buttons.element_handles())


def chosen_box(page: Page) -> Locator:
    return page.get_by_test_id("ps-box").and_(page.locator(".chosen")).first
