"""The page viewer by pointer: cards, choice, layers, zoom, drag, pinch, sharp details, copies."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.viewer import APP, box, opened, place, span, zoom

pytestmark = pytest.mark.browser

MIDDLE = 400, 300
REFUSES = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }"
SCROLLS = """frame => new Promise((done) => {
  const end = performance.now() + 5000;
  const look = () => (frame.scrollTop > 50 || performance.now() > end ? done(frame.scrollTop > 50)
    : requestAnimationFrame(look));
  look();
})"""

IS_SHARP = """picture => new Promise((done) => {
  const end = performance.now() + 20000;
  const isSharp = () => picture.naturalWidth >= picture.getBoundingClientRect().width - 1;
  const look = () => (isSharp() || performance.now() > end ? done(isSharp()) : requestAnimationFrame(look));
  look();
})"""


@pytest.fixture
def page(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> Page:
    return opened(page_at(800, 700), serve(app=APP).url, wait_for_run)


def under_pointer(page: Page, x: float, y: float) -> tuple[float, float]:
    """The point of the page at a point of the window, in 0–1."""
    rect = place(page.get_by_test_id("ps-page"))
    return (x - rect["x"]) / rect["width"], (y - rect["y"]) / rect["height"]


def scrolled(page: Page) -> tuple[int, int]:
    left, top = page.get_by_test_id("ps-viewer").evaluate("frame => [frame.scrollLeft, frame.scrollTop]")
    return left, top


def wheel(page: Page, by: float, *, with_control: bool) -> None:
    page.mouse.move(*MIDDLE)
    if with_control:
        page.keyboard.down("Control")
    page.mouse.wheel(0, by)
    page.keyboard.up("Control")


def test_hovering_says_what_a_box_is_and_a_click_chooses_it_at_once(page: Page) -> None:
    box(page, "gold:1").hover()
    card = page.get_by_test_id("ps-card")
    expect(card).to_contain_text("gold 1 exact: word for word")
    expect(card).to_contain_text("score 0.500")
    expect(card).to_contain_text("<b>long</b>")
    assert not card.locator("b").count(), "foreign text stays text"
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    chosen_at_once = box(page, "gold:1").evaluate(
        "box => { box.click(); return [box.className, box.parentElement.getAttribute('aria-current')]; }"
    )
    assert chosen_at_once == ["box gold chosen", "true"]
    expect(page.get_by_text("chosen:gold:1")).to_be_visible()
    expect(page.locator("[data-testid=ps-span][aria-current]")).to_have_count(1)


def test_a_tag_leads_to_its_span(page: Page) -> None:
    page.get_by_test_id("ps-tag").filter(has_text="retrieved 2").click()
    expect(page.get_by_text("chosen:retrieved:2")).to_be_visible()


def test_ctrl_and_wheel_zoom_about_the_pointer_and_a_plain_wheel_scrolls(page: Page) -> None:
    wheel(page, 100, with_control=False)
    assert page.get_by_test_id("ps-viewer").evaluate(SCROLLS)
    assert zoom(page) == 100
    before = under_pointer(page, *MIDDLE)
    wheel(page, -300, with_control=True)
    expect(page.get_by_test_id("ps-zoom")).not_to_have_text("100 %")
    assert zoom(page) > 115
    after = under_pointer(page, *MIDDLE)
    assert after == pytest.approx(before, abs=0.01)
    assert page.evaluate("visualViewport.scale") == 1, "the window itself is not zoomed"


def test_a_pinch_zooms_about_its_middle(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    before = under_pointer(page, *MIDDLE)

    def touch(kind: str, apart: float) -> None:
        points = [{"x": MIDDLE[0] + side * apart, "y": MIDDLE[1], "id": side + 1} for side in (-1, 1)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if apart else []})

    touch("touchStart", 50)
    for apart in (60, 80, 100):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    session.detach()
    assert zoom(page) == pytest.approx(200, abs=6)
    assert under_pointer(page, *MIDDLE) == pytest.approx(before, abs=0.02)


def test_a_drag_pans_and_is_no_click(page: Page) -> None:
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    page.get_by_test_id("ps-viewer").evaluate("frame => frame.scrollTo(0, 0)")
    start = place(box(page, "gold:1"))
    page.mouse.move(start["x"] + 3, start["y"] + 3)
    before = scrolled(page)
    page.mouse.down()
    page.mouse.move(start["x"] - 60, start["y"] - 40, steps=4)
    page.mouse.up()
    left, top = scrolled(page)
    assert left - before[0] == pytest.approx(63, abs=2)
    assert top - before[1] == pytest.approx(43, abs=2)
    expect(span(page, "gold:1")).not_to_have_attribute("aria-current", "true")
    expect(page.get_by_text("chosen:cited:0")).to_be_visible()


def test_layers_are_switches_that_last_for_the_tab(page: Page, wait_for_run: WaitForRun) -> None:
    legend = page.get_by_role("group", name="Layers")
    gold = legend.get_by_role("button", name="gold")
    expect(gold).to_have_attribute("aria-pressed", "true")
    gold.click()
    expect(gold).to_have_attribute("aria-pressed", "false")
    expect(box(page, "gold:1")).to_be_hidden()
    expect(page.locator("[data-testid=ps-outline][data-layer=gold]")).to_be_hidden()
    expect(page.get_by_test_id("ps-tag").filter(has_text="gold")).to_be_hidden()
    box(page, "retrieved:2").click()
    expect(page).to_have_url(re.compile("chosen=retrieved"))
    expect(box(page, "gold:1")).to_be_hidden()
    page.reload()
    expect(gold).to_have_attribute("aria-pressed", "false")
    expect(box(page, "gold:1")).to_be_hidden()
    page.get_by_role("button", name="Previous span").click()
    expect(page).to_have_url(re.compile("chosen=gold"))
    expect(box(page, "gold:1")).to_be_visible()
    expect(gold).to_have_attribute("aria-pressed", "true")


def test_a_page_shown_larger_than_its_picture_is_drawn_again_where_it_is_seen(page: Page) -> None:
    detail = page.get_by_test_id("ps-detail")
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    expect(detail).to_be_visible()
    assert detail.evaluate(IS_SHARP), "a pixel of the screen has one of the picture"
    assert place(detail)["height"] < place(page.get_by_test_id("ps-page"))["height"], (
        "only a part is drawn anew"
    )
    # The page itself did not run again for it: its text is unchanged.
    expect(page.get_by_text("detail:", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_text("turned:9")).to_be_visible()
    expect(page.get_by_role("group", name="made-up page 10")).to_be_visible()


def test_the_text_under_a_box_is_copied_by_key_and_by_button(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    span(page, "gold:1").focus()
    page.keyboard.press("Control+c")
    expect(page.get_by_test_id("ps-announced")).to_have_text("Copied the text of gold 1")
    assert page.evaluate("navigator.clipboard.readText()") == "<b>long</b> "
    box(page, "retrieved:2").hover()
    expect(page.get_by_test_id("ps-card")).to_contain_text("retrieved 2")
    page.get_by_role("button", name="Copy text").click()
    expect(page.get_by_test_id("ps-announced")).to_have_text("Copied the text of retrieved 2")


def test_where_the_clipboard_is_refused_the_old_way_copies(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(REFUSES)
    span(page, "gold:1").focus()
    page.keyboard.press("Control+c")
    expect(page.get_by_test_id("ps-announced")).to_have_text("Copied the text of gold 1")
    assert page.evaluate("navigator.clipboard.readText()") == "<b>long</b> "
    page.evaluate("() => { document.execCommand = () => false; }")
    page.keyboard.press("Control+c")
    expect(page.get_by_test_id("ps-announced")).to_contain_text("The browser refused to copy")


def test_2000_boxes_are_one_stop_of_tab_with_a_bounded_number_of_tags(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = opened(page_at(), f"{serve(app=APP).url}/?spans=2000&long", wait_for_run)
    spans = page.get_by_test_id("ps-span")
    expect(spans).to_have_count(2_000)
    assert spans.evaluate_all("all => all.filter((each) => each.tabIndex === 0).length") == 1
    assert 1 <= page.get_by_test_id("ps-tag").count() <= 60
    span(page, "gold:1000").focus()
    card = page.get_by_test_id("ps-card")
    expect(card).to_contain_text("gold 1000")
    assert len(card.inner_text()) < 800, "a text of 50 kB is shown in part"
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("chosen:cited:0")).to_have_count(0)


@pytest.mark.parametrize("size", ["tall", "wide"])
def test_a_page_of_any_shape_is_seen_with_its_boxes(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, size: str
) -> None:
    page = opened(page_at(), f"{serve(app=APP).url}/?size={size}", wait_for_run)
    frame, paper = place(page.get_by_test_id("ps-viewer")), place(page.get_by_test_id("ps-page"))
    assert paper["width"] <= frame["width"] + 1
    assert paper["height"] < 5_000
    assert place(box(page, "cited:0"))["width"] > 0
