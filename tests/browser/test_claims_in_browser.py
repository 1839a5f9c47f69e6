"""Claims in a real browser: pointing at one lights its evidence, and the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

APP = Path(__file__).parent / "apps" / "claims.py"


@pytest.fixture
def page(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> Page:
    opened = page_at(1200, 800, own=True)
    opened.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    opened.goto(serve(app=APP).url)
    wait_for_run(opened)
    box(opened, 1).wait_for()
    return opened


def sentence(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=ps-claim][data-claim='{number}']")


def sign(page: Page, number: int) -> Locator:
    return sentence(page, number).get_by_test_id("ps-claim-sign")


def row(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=ps-claim-row][data-claim='{number}']")


def box(page: Page, number: int) -> Locator:
    return page.locator(f"[data-testid=ps-box][data-span='claim:{number}']")


def lit(found: Locator) -> bool:
    return bool(found.evaluate("each => each.classList.contains('lit')"))


def expect_lit(found: Locator, *, on: bool = True) -> None:
    handle = found.element_handle()
    found.page.wait_for_function("([each, on]) => each.classList.contains('lit') === on", arg=[handle, on])


def test_status_is_a_line_style_and_a_sign_and_not_its_colour_alone(page: Page) -> None:
    styles = [
        sentence(page, number).evaluate("each => getComputedStyle(each).textDecorationStyle")
        for number in (1, 2, 3, 4)
    ]
    assert styles == ["solid", "dotted", "dashed", "wavy"]
    signs = [sign(page, number).get_attribute("data-sign") for number in (1, 2, 3, 4)]
    assert signs == ["✕", "✓", "=", "?"]
    assert "claim 1, differs from the evidence, number: answer 64" in (
        sign(page, 1).get_attribute("aria-label") or ""
    )


def test_the_mouse_on_a_sentence_lights_its_evidence_and_shows_the_difference(page: Page) -> None:
    sentence(page, 1).hover(position={"x": 4, "y": 6})
    expect_lit(box(page, 1))
    expect_lit(row(page, 1))
    expect(page.get_by_test_id("ps-mark")).to_have_count(1)
    line = page.get_by_test_id("ps-says-line")
    expect(line).to_contain_text("number: answer 64 · page 46")
    evidence, words = box(page, 1).bounding_box(), line.bounding_box()
    assert evidence and words
    assert words["y"] >= evidence["y"] + evidence["height"], "the line covers the evidence"
    expect(page.get_by_test_id("ps-claim-line")).to_contain_text("number: answer 64")
    page.mouse.move(5, 5)
    expect_lit(box(page, 1), on=False)
    expect(line).to_be_hidden()


def test_evidence_out_of_sight_is_scrolled_to_inside_its_frame_only(page: Page) -> None:
    frame = page.get_by_test_id("ps-viewer")
    assert frame.evaluate("each => each.scrollTop") == 0
    row(page, 2).hover()
    expect_lit(box(page, 2))
    expect(box(page, 2)).to_be_in_viewport()
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTop") == 0


@pytest.mark.parametrize("width", [1200, 800, 560, 420])
def test_pointing_at_a_claim_moves_nothing(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 860})
    row(page, 1).scroll_into_view_if_needed()
    page.mouse.move(5, 5)
    before = row(page, 1).bounding_box()
    for number in (1, 2):
        row(page, number).hover()
        expect_lit(row(page, number))
        assert row(page, 1).bounding_box() == before


def test_pointing_at_a_box_lights_the_sentences_that_rest_on_it(page: Page) -> None:
    box(page, 1).hover()
    expect_lit(sentence(page, 1))
    expect_lit(row(page, 1))
    assert not lit(sentence(page, 2))
    # The cited passage holds the evidence of claim 1.
    page.locator("[data-testid=ps-box][data-span='cite:1']").hover(position={"x": 8, "y": 40})
    expect_lit(sentence(page, 1))


def test_keys_point_and_choose_and_tab_reaches_one_of_each(page: Page) -> None:
    sign(page, 1).focus()
    expect_lit(box(page, 1))
    page.keyboard.press("ArrowRight")
    expect(sign(page, 2)).to_be_focused()
    expect_lit(box(page, 2))
    expect_lit(box(page, 1), on=False)
    page.keyboard.press("Enter")
    expect(page.get_by_text("claim:2")).to_be_visible()
    expect(sign(page, 2)).to_be_focused()
    expect(row(page, 2)).to_have_attribute("aria-pressed", "true")
    row(page, 1).focus()
    page.keyboard.press("End")
    expect(row(page, 4)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    expect(page.get_by_text("claim:3")).to_be_visible()
    for name in ("ps-claim-sign", "ps-claim-row"):
        stops = page.get_by_test_id(name).evaluate_all(
            "all => all.filter(each => each.tabIndex === 0).length"
        )
        assert stops == 1, name


def test_resting_on_a_claim_of_another_page_chooses_it_and_passing_over_it_does_not(page: Page) -> None:
    sentence(page, 3).hover(position={"x": 8, "y": 6})
    sentence(page, 1).hover(position={"x": 4, "y": 6})
    page.wait_for_timeout(700)
    expect(page.get_by_text("claim:None")).to_be_visible()
    sentence(page, 3).hover(position={"x": 8, "y": 6})
    expect(page.get_by_text("claim:3")).to_be_visible()


def test_a_click_on_the_words_chooses_the_claim_and_one_on_a_phrase_its_citation(page: Page) -> None:
    page.get_by_test_id("ps-marked").get_by_text("64", exact=True).click()
    expect(page.get_by_text("claim:1")).to_be_visible()
    page.get_by_test_id("ps-marked").get_by_text("It holds", exact=True).click()
    expect(page.get_by_text("cite:1")).to_be_visible()


def test_a_click_on_a_phrase_is_not_undone_by_the_claim_below_the_pointer(page: Page) -> None:
    """Its claim has its evidence on another page, and the pointer stays on it."""
    page.get_by_test_id("ps-marked").get_by_text("The fuse", exact=True).click()
    expect(page.get_by_text("cite:2")).to_be_visible()
    page.wait_for_timeout(700)
    expect(page.get_by_text("claim:None")).to_be_visible()


def test_a_click_on_a_box_chooses_its_claim_and_its_layer_can_be_switched_off(page: Page) -> None:
    box(page, 1).click()
    expect(page.get_by_text("claim:1")).to_be_visible()
    page.get_by_test_id("ps-legend").get_by_role("button", name="claim").click()
    expect(box(page, 1)).to_be_hidden()
    expect(page.get_by_test_id("ps-mark")).to_be_hidden()


def test_a_tap_chooses(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 860})
    place = row(page, 1).bounding_box()
    assert place is not None
    fingers = page.context.new_cdp_session(page)
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    point = {"x": place["x"] + 40, "y": place["y"] + 10}
    fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(page.get_by_text("claim:1")).to_be_visible()
    expect(page.get_by_test_id("ps-claim-line")).to_contain_text("number: answer 64")


def test_hostile_words_are_shown_and_do_nothing(page: Page) -> None:
    assert page.locator("img[src=x]").count() == 0
    expect(row(page, 1)).to_contain_text("<img src=x onerror=alert(1)>")
    sentence(page, 1).hover(position={"x": 4, "y": 6})
    expect(page.get_by_test_id("ps-says-line")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("img[src=x]").count() == 0
