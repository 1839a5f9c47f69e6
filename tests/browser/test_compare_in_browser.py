"""Compare in a real browser: from a cell to its questions, from a flip to the highlighted pages."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import PageAt, Serve, WaitForRun, query, wait_for_query
from tests.browser.held_wire import HeldWire
from tests.places import DEMO

pytestmark = pytest.mark.browser

TO_HIT = re.compile(r"Ranking miss in R003, Hit in R004: 6 questions\.")
KEPT = re.compile(r"Ranking miss in R003, Ranking miss in R004: 7 questions\.")


def opened(page: Page, url: str, wait_for_run: WaitForRun) -> None:
    page.goto(url)
    wait_for_run(page)


def pictures(page: Page, side: str) -> Locator:
    """The cited words of one side that are in sight."""
    boxes = page.locator(f".st-key-page-{side}").get_by_test_id("ps-box")
    return boxes.and_(page.locator("[data-layer=cited].chosen")).first


def test_a_cell_opens_as_many_questions_as_it_counts_by_click_and_by_key(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, f"{serve(DEMO).url}/compare?run=R004", wait_for_run)
    wait_for_query(page, vs="R003")
    page.locator(".st-key-fold-moves summary").click()
    wait_for_run(page)
    link = page.get_by_role("link", name=TO_HIT)
    link.hover()
    page.mouse.down()
    link.evaluate("link => { link.getRootNode().host.style.marginTop = '9rem'; }")
    page.mouse.up()  # what arrives meanwhile moves the page: the press is a click all the same
    wait_for_run(page)
    expect(page.get_by_test_id("ps-row")).to_have_count(6)
    assert {name: query(page)[name] for name in ("vs", "was_bucket", "bucket")} == {
        "vs": ["R003"],
        "was_bucket": ["score_policy"],
        "bucket": ["hit"],
    }
    page.go_back()
    wait_for_run(page)
    page.get_by_role("link", name=TO_HIT).focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("link", name=KEPT)).to_be_focused()
    page.keyboard.press("Enter")
    wait_for_run(page)
    expect(page.get_by_test_id("ps-row")).to_have_count(7)


def test_a_flip_opens_both_answers_and_both_pages_and_the_url_brings_it_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900, dark=True)
    opened(page, f"{serve(DEMO).url}/compare?run=R006&vs=R004", wait_for_run)
    page.get_by_role("link", name=re.compile("^Q97, both answers side by side")).click()
    wait_for_run(page)
    wait_for_query(page, q="Q97", flip="regressed")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    for side in ("was", "now"):
        expect(pictures(page, side)).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-answer-was del").first).to_have_css("text-decoration-line", "line-through")
    expect(page.locator(".st-key-answer-now ins").first).to_have_css("text-decoration-line", "underline")
    page.keyboard.press("k")
    wait_for_run(page)
    wait_for_query(page, q="Q108")
    title = page.get_by_test_id("ps-title").nth(2)
    expect(title).to_contain_text("How many litres of engine oil")
    page.reload()
    wait_for_run(page)
    expect(title).to_contain_text("How many litres of engine oil")
    expect(page.locator(".st-key-steps")).to_contain_text("1 of 2 regressed")
    expect(pictures(page, "was")).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-no-page-now mark.ps-chosen").first).to_be_in_viewport()  # of a text


#: Notes, on every change of the document and in every frame, the question and what is seen of it on both
#: sides: answers, findings, pictures. What is hidden is noted as "".
WATCH = """() => {
  const isSeen = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const seen = (css) => [...document.querySelectorAll(css)].filter(isSeen)
    .map((each) => each.textContent).join("|");
  const pictures = () => [...document.querySelectorAll(".st-key-compare-pages *")]
    .flatMap((each) => [...(each.shadowRoot?.querySelectorAll(".page") ?? [])])
    .filter((page) => isSeen(page) && isSeen(page.querySelector(".picture")))
    .map((page) => page.dataset.id).join("|");
  window.watched = [];
  const note = () => {
    const now = [
      seen("[data-testid=ps-title] h2"), seen(".st-key-compare-answers .ps-text"),
      seen(".st-key-compare-pages [class*=st-key-finding] .ps-hint"), pictures(),
    ];
    if (JSON.stringify(now) !== JSON.stringify(window.watched.at(-1))) window.watched.push(now);
  };
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true, attributes: true });
  const frame = () => { note(); requestAnimationFrame(frame); };
  frame();
}"""


def is_answers(message: ForwardMsg) -> bool:
    return message.delta.add_block.id.endswith("compare-answers")


def test_a_flipped_question_is_never_seen_with_the_sides_of_another_and_no_step_is_lost(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 900, own=True)
    wire = HeldWire(page)
    opened(page, f"{serve(DEMO).url}/compare?run=R006&vs=R004&q=Q97", wait_for_run)
    expect(page.get_by_test_id("ps-picture")).to_have_count(2)
    tops = [
        box["y"]
        for key in ("answer-was", "answer-now", "page-was", "page-now")
        if (box := page.locator(f".st-key-{key}").bounding_box())
    ]
    assert len(tops) == 4 and tops == sorted(set(tops)), "in a narrow window below one another"
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") == 0
    page.evaluate(WATCH)
    title, position = page.locator("[data-testid=ps-title] h2"), page.locator(".st-key-steps .ps-hint")

    def settled() -> list[str]:
        """The parts of a question that are seen, once all of it is there."""
        expect(page.locator(".stMain [data-behind]")).to_have_count(0)
        expect(page.locator("[class*=st-key-wait-]")).to_have_count(0)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        now: list[str] = page.evaluate("window.watched.at(-1)")
        return now

    truth: dict[str, list[str]] = {}
    for number in (8, 7, 6):
        expect(position).to_contain_text(f"{number} of 8")
        name, *sides = settled()
        truth[name] = sides
        if number > 6:
            page.keyboard.press("k")
            expect(title).not_to_have_text(name)
            wait_for_run(page)
    assert len(truth) == 3
    for number in (7, 8):
        wire.hold_from(is_answers)
        page.keyboard.press("j")
        expect(position).to_contain_text(f"{number} of 8")
        wire.release_received()
        wait_for_run(page)
        name, *sides = settled()
        assert sides == truth[name]
    for name, *sides in page.evaluate("window.watched"):
        for seen, true in zip(sides, truth.get(name, sides), strict=True):
            assert not seen or set(seen.split("|")) <= set(true.split("|")), name
    for _ in range(5):
        page.keyboard.press("k")
    expect(position).to_contain_text("3 of 8")
    wait_for_run(page)
    page.locator(".st-key-step-J button").click(click_count=2, delay=1)
    expect(position).to_contain_text("5 of 8")


#: Whether no table scrolls sideways.
ALL_IN_SIGHT = "tables => tables.every((each) => each.scrollWidth <= each.clientWidth)"


def test_the_last_column_of_every_table_is_in_sight(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(900, 900)
    opened(page, f"{serve(DEMO).url}/compare?run=R006&vs=R004", wait_for_run)
    for fold in page.locator("[class*=st-key-fold-] summary").all():
        fold.click()
        wait_for_run(page)
    tables = page.get_by_test_id("ps-grid").or_(page.get_by_test_id("ps-rows"))
    for name in ("Buckets: rows", "Metrics of", "Configuration changes"):
        expect(page.get_by_role("table", name=re.compile(f"^{name}"))).to_have_count(1)
    for window in (1400, 1100, 900, 420):
        page.set_viewport_size({"width": window, "height": 900})
        page.wait_for_function(ALL_IN_SIGHT, arg=tables.element_handles())
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth <= main.clientWidth"), window
