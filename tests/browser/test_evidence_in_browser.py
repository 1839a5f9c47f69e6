"""The evidence in a real browser: distinct layers, tags beside the words, a citation in the clipboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.test_question_in_browser import opened, place
from tests.browser.viewer import span
from tests.places import DEMO

pytestmark = pytest.mark.browser

QUESTION = "/question?run=R002&q=Q01&cite=1"
#: The line of each layer as it is painted: colour, dashes, and how far out it lies.
LINES = """outlines => Object.fromEntries(outlines.map((outline) => {
  const style = getComputedStyle(outline);
  const edge = outline.querySelector(".edge").getBoundingClientRect();
  const box = outline.getRootNode().querySelector(`.box[data-span="${CSS.escape(outline.dataset.span)}"]`);
  const gap = box.getBoundingClientRect().left - edge.left;
  return [outline.dataset.layer, [style.stroke, style.strokeDasharray, gap]];
}))"""
#: The share of ink under each tag, read from the picture itself.
INK = """tags => tags.map((tag) => {
  const picture = tag.getRootNode().querySelector("img");
  const [page, place] = [picture.getBoundingClientRect(), tag.getBoundingClientRect()];
  const scale = picture.naturalWidth / page.width;
  const [width, height] = [Math.floor(place.width * scale), Math.floor(place.height * scale)];
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  pen.drawImage(picture, -(place.left - page.left) * scale, -(place.top - page.top) * scale);
  const pixels = pen.getImageData(0, 0, width, height).data;
  let edges = 0;
  for (let at = 4; at < pixels.length; at += 4) edges += Math.abs(pixels[at + 1] - pixels[at - 3]) > 80;
  return edges / (width * height);
})"""


def test_layers_are_distinguished_by_colour_dashes_and_place(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, serve().url + QUESTION, wait_for_run)
    expect(page.get_by_test_id("ps-legend")).to_have_text("citedgoldretrievedclaim")
    lines = page.get_by_test_id("ps-outline").evaluate_all(LINES)
    assert set(lines) == {"cited", "gold", "retrieved", "claim"}
    colours, dashes, gaps = zip(*lines.values(), strict=True)
    assert len(set(colours)) == len(set(dashes)) == len(lines)
    assert lines["cited"][1] == "none", "what is cited has the only unbroken line"
    assert lines["cited"][2] < lines["gold"][2] < lines["retrieved"][2]
    assert min(gaps) > 0, "a line never stands on the words"
    legend = page.get_by_test_id("ps-legend")
    expect(legend).to_have_text("citedgoldretrievedclaim", use_inner_text=False)
    assert (
        legend.locator("line.gold").evaluate("line => getComputedStyle(line).strokeDasharray")
        == lines["gold"][1]
    )


@pytest.mark.parametrize("width", [1400, 900])
def test_no_tag_covers_a_word_or_another_tag(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, width: int
) -> None:
    page = page_at(width, 900)
    opened(page, serve().url + QUESTION, wait_for_run)
    tags = page.get_by_test_id("ps-tag")
    assert tags.count() >= 3
    assert max(tags.evaluate_all(INK)) < 0.01
    places = [box for box in (tag.bounding_box() for tag in tags.all()) if box]
    for one in places:
        others = [other for other in places if other is not one]
        assert not any(_overlap(one, other) for other in others)


def _overlap(one: FloatRect, other: FloatRect) -> bool:
    beside = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
    below = one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
    return not (beside or below)


def test_the_misquoted_figure_comes_first_beside_the_page_and_in_the_list(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, serve().url + QUESTION, wait_for_run)
    text = "The answer says 4.8 litres, the page says 4.3 litres."
    expect(page.get_by_test_id("ps-says")).to_have_text(text)
    assert place(page, "[data-testid=ps-says]")["y"] < place(page, ".st-key-finding")["y"]
    line = page.locator(".st-key-cite-1 button")
    expect(line).to_contain_text("1 · fuzzy 86 % section 8.1 · p. 11 (PDF 15) says 4.8, page says 4.3")


def test_gold_and_page_are_one_press_away_and_two_lines_are_above_the_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 620)
    opened(page, f"{serve(DEMO).url}/question?run=R006&q=Q80", wait_for_run)
    expect(page.locator(".st-key-level .ps-badge")).to_have_attribute("title", re.compile("p. 19"))
    assert place(page, "[data-testid=ps-viewer]")["y"] - place(page, ".st-key-page-side")["y"] < 80
    jump, gold = page.get_by_test_id("ps-jump"), span(page, "gold:1")
    for name, there, back in (("Gold", gold, "Cited"), ("Cited", span(page, "cite:1"), "Gold")):
        expect(jump).to_contain_text(name)
        jump.click()
        expect(there).to_be_focused()
        expect(there).to_be_in_viewport(ratio=0.9)
        expect(jump).to_contain_text(back)
    page.set_viewport_size({"width": 420, "height": 900})
    page.get_by_role("button", name="See the page").click()
    expect(page.locator(".st-key-page-side")).to_be_focused()
    expect(gold).to_be_in_viewport()


def test_a_citation_and_the_view_are_copied_by_keyboard(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, serve().url + QUESTION, wait_for_run)
    copying = page.locator(".st-key-citation")
    copying.get_by_test_id("ps-copy").focus()
    page.keyboard.press("Enter")
    expect(copying.get_by_test_id("ps-copy-status")).to_have_text("Copied")
    citation = clipboard(page)
    assert re.fullmatch(r".+, section 8\.1, PDF page 15, page_idx 14(, printed .+)?", citation)
    assert citation == copying.get_by_test_id("ps-copied-text").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(copying.get_by_test_id("ps-copy-status")).to_have_text("Copied")
    assert clipboard(page) == page.url
    page.get_by_role("button", name="Copy for an LLM").click()
    expect(page.locator(".st-key-copy-for-llm").get_by_test_id("ps-copy-status")).to_have_text("Copied")
    pasted = clipboard(page)
    assert "## Claims of the answer" in pasted and "## Passages that the model saw" in pasted


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_the_page_stays_in_sight_while_one_reads_on(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 700)
    opened(page, serve().url + QUESTION, wait_for_run)
    before = place(page, ".st-key-page-side")
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    after = place(page, ".st-key-page-side")
    assert place(page, ".st-key-answer")["y"] < before["y"] - 100, "nothing was scrolled"
    assert after["y"] >= 0
    assert page.get_by_test_id("ps-viewer").is_visible()


def test_a_chunk_with_bars_in_its_id_is_one_link_away(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    opened(page, serve().url + QUESTION, wait_for_run)
    span = page.locator("[data-testid=ps-box][data-layer=retrieved]").first.get_attribute("data-span")
    assert span is not None
    chunk_id = span.removeprefix("chunk:")
    assert "|" in chunk_id
    address = page.evaluate("id => new URLSearchParams({run: 'R002', chunk: id}).toString()", chunk_id)
    opened(page, f"{serve().url}/question?{address}", wait_for_run)
    expect(page.get_by_test_id("ps-copied-text").first).to_have_text(chunk_id)
    expect(page.get_by_test_id("ps-tag")).to_have_text("chunk")
