"""The page viewer for everybody: names and roles, contrast, reduced motion."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.viewer import APP, QUESTION, opened, span

pytestmark = pytest.mark.browser

#: Colour and background of every text of the viewer, as painted: numbers 0–255.
COLOURS = """root => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const painted = (colours) => {
    pen.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const behind = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      found.unshift(getComputedStyle(at).backgroundColor);
    }
    return found;
  };
  const shown = [...root.querySelectorAll("*")].filter((each) => each.checkVisibility()
    && (each.value || [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    && each.getAttribute("aria-disabled") !== "true");
  return shown.map((each) => [
    each.textContent.trim() || each.value,
    painted([...behind(each), getComputedStyle(each).color]), painted(behind(each)),
  ]);
}"""


def luminance(colour: list[int]) -> float:
    """Relative luminance as WCAG 2.2 has it."""
    linear = [each / 255 / 12.92 if each <= 10 else ((each / 255 + 0.055) / 1.055) ** 2.4 for each in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[int], other: list[int]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def tree(page: Page) -> set[tuple[str, str]]:
    """Return role and name of everything that Chromium exposes to a screen reader."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    seen = (node for node in nodes if not node["ignored"])
    return {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in seen}


def test_every_part_has_its_role_and_name(serve: Serve, page_at: PageAt, wait_for_run: WaitForRun) -> None:
    page = opened(page_at(1400, 900), serve().url + QUESTION, wait_for_run)
    nodes = tree(page)
    assert {
        ("group", "Page viewer"),
        ("toolbar", "Page, span and zoom"),
        ("button", "Previous page"),
        ("textbox", "PDF page"),
        ("button", "Next page"),
        ("button", "Previous span"),
        ("button", "Next span"),
        ("button", "Zoom out"),
        ("button", "Zoom in"),
        ("button", "Fit width"),
        ("button", "To the span"),
        ("group", "Layers"),
    } <= nodes
    names = [name for role, name in nodes if role == "button"]
    text = "cited 1, fuzzy: 86 % agrees, The answer says 4.8 litres, the page says 4.3 litres."
    assert any(name.startswith(text) for name in names)
    assert any(name.startswith("rank 2, exact: word for word") for name in names)
    (gold,) = (name for name in names if name.startswith("gold 1, exact: word for word, section 8.1, "))
    assert "litres" in gold
    place = "Meridian owner's manual, p. 11 (PDF 15)"
    assert {("image", place), ("group", place), ("region", f"Text of {place}")} <= nodes
    text = page.get_by_role("region", name=f"Text of {place}")
    assert "4.3 litres" in text.inner_text() and text.locator("p").count() > 3
    assert text.evaluate("each => each.closest('[aria-live], [role=status]')") is None
    assert (
        page.get_by_test_id("ps-picture").evaluate(
            "each => each.getRootNode().getElementById(each.getAttribute('aria-details')).dataset.testid"
        )
        == "ps-page-text"
    )
    page.get_by_role("button", name="Previous page").click()
    before = page.get_by_role("region", name="Text of Meridian owner's manual, p. 10 (PDF 14)")
    expect(before.locator("p").first).to_be_attached()
    assert "4.3 litres" not in before.inner_text()


def test_a_description_goes_with_the_focused_box(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = opened(page_at(1400, 900), serve().url + QUESTION, wait_for_run)
    span(page, "gold:1").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    focused = page.locator("[data-testid=ps-span]:focus")
    expect(focused).to_have_accessible_description(re.compile("litres"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy text")).to_be_focused()


@pytest.mark.parametrize("dark", [False, True])
def test_words_and_focus_differ_from_what_is_behind_them(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, dark: bool
) -> None:
    page = opened(page_at(dark=dark), f"{serve(app=APP).url}/", wait_for_run)
    page.get_by_role("group", name="Layers").get_by_role("button", name="gold").click()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_test_id("ps-card")).to_be_visible()
    found = page.get_by_test_id("ps-page-viewer").evaluate(COLOURS)
    assert len(found) > 12
    for words, colour, behind in found:
        assert contrast(colour, behind) >= 4.5, (words, colour, behind)
    for name in ("ps-viewer", "ps-page-field"):
        page.get_by_test_id(name).focus()
        page.keyboard.press("Shift")
        style = page.get_by_test_id(name).evaluate(
            "each => [getComputedStyle(each).outlineStyle, getComputedStyle(each).outlineColor]"
        )
        ring = [int(part) for part in re.findall(r"\d+", style[1])[:3]]
        around = [251, 251, 249] if not dark else [22, 25, 28]
        assert style[0] == "solid" and contrast(ring, around) >= 3


def test_nothing_moves_for_who_asks_for_less_motion(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at()
    page.emulate_media(reduced_motion="reduce")
    opened(page, f"{serve(app=APP).url}/?region=1", wait_for_run)
    region = page.get_by_test_id("ps-region")
    expect(region).to_be_visible()
    assert region.evaluate("each => getComputedStyle(each).animationName") == "none"
    page.emulate_media(reduced_motion="no-preference")
    assert region.evaluate("each => getComputedStyle(each).animationName") == "found"
