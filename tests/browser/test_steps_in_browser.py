"""Steps from question to question: no page of another one is ever shown, and no press is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.browser.held_wire import HeldWire

pytestmark = pytest.mark.browser

#: Notes, on every change of the document and in every frame, what is seen of question, page, finding, verdict
#: and the panels beside the page; an invisible part is noted as null.
WATCH = """() => {
  const seen = (root, found) => {
    const each = root?.querySelector(found);
    return each?.checkVisibility({ opacityProperty: true, visibilityProperty: true }) ? each : null;
  };
  const viewer = () => [...document.querySelectorAll(".st-key-page-side *")]
    .map((each) => each.shadowRoot).find((root) => root?.querySelector(".viewer"));
  const shadow = (part, found) => [...document.querySelectorAll(`${part} *`)]
    .map((each) => each.shadowRoot && seen(each.shadowRoot, found)).find(Boolean)?.textContent ?? null;
  window.watched = [];
  const note = () => {
    const page = seen(viewer(), ".page");
    const now = [
      seen(document, ".stMain [data-testid=ps-title]")?.textContent ?? null,
      (page && seen(viewer(), ".picture") && page.dataset.id) || null,
      seen(document, ".st-key-finding .ps-hint:has(.ps-strong)")?.textContent ?? null,
      seen(document, "[class*=st-key-verdict-] .ps-line")?.textContent ?? null,
      shadow(".st-key-claims", "[data-testid=ps-claim-row]"),
      seen(document, ".st-key-trail .ps-hint")?.textContent ?? null,
      shadow(".st-key-reading", "[data-testid=ps-row] .chunk .words"),
    ];
    if (String(now) !== String(window.watched.at(-1))) window.watched.push(now);
  };
  // After the page's own observers, and before anything is painted.
  const all = { childList: true, subtree: true, attributes: true };
  new MutationObserver(() => queueMicrotask(note)).observe(document.body, all);
  const frame = () => { note(); requestAnimationFrame(frame); };
  frame();
}"""
#: Whether nothing of a question is invisible.
ALL_THERE = """title => {
  const now = window.watched.at(-1);
  return now[0] === title && !now.includes(null);
}"""
#: What is shown of a question: picture, finding, verdict, first claim, gold passage and first candidate.
Shown = tuple[str | None, ...]


TITLE = ".stMain [data-testid=ps-title]"


def watched(page: Page) -> list[tuple[str | None, ...]]:
    return [tuple(each) for each in page.evaluate("window.watched")]


def settled(page: Page, title: str, wait_for_run: WaitForRun) -> Shown:
    """Wait until all of a question is there."""
    expect(page.locator(TITLE)).to_have_text(title)
    wait_for_run(page)
    page.wait_for_function(ALL_THERE, arg=title)
    return watched(page)[-1][1:]


def is_block(name: str) -> Callable[[ForwardMsg], bool]:
    """Return whether a message begins the container of that key."""
    return lambda message: message.delta.add_block.id.endswith(name)


def test_no_page_of_another_question_is_shown(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900, own=True)
    wire = HeldWire(page)
    page.goto(f"{serve().url}/question?run=R002&q=Q01")
    page.locator(TITLE).wait_for()
    page.evaluate(WATCH)
    titles, truth = list[str](), dict[str, Shown]()
    for _ in range(4):
        title = page.locator(TITLE).inner_text()
        truth[title] = settled(page, title, wait_for_run)
        titles.append(title)
        page.keyboard.press("j")
        expect(page.locator(TITLE)).not_to_have_text(title)
    assert len(set(truth.values())) == 4, "pages that differ, else nothing is tested"
    wait_for_run(page)
    for title, name in zip(reversed(titles), ("judged", "page-side", "trail", "page-side"), strict=True):
        wire.hold_from(is_block(name))
        page.keyboard.press("k")
        expect(page.locator(TITLE)).to_have_text(title)
        wire.release_received()
        assert settled(page, title, wait_for_run) == truth[title]
    for title, *parts in watched(page):
        for part, true in zip(parts, truth.get(title or "", ()), strict=False):
            assert part is None or unpaged(part) == unpaged(true or ""), title


def unpaged(text: str) -> str:
    """Return a text without its page: the printed number is known once the document is open."""
    return re.sub(r"p\. \S+?(?: \(PDF \d+\)|, PDF \d+)|PDF page \d+", "PAGE", text)


#: Whether a part of the page side is seen.
IS_SEEN = """side => [...side.children].some(
  (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true })
)"""


def test_a_page_is_hidden_from_the_press_on_that_leaves_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900, own=True)
    wire = HeldWire(page)
    page.goto(f"{serve().url}/question?run=R002&q=Q01")
    wait_for_run(page)
    side, rows = page.locator(".st-key-page-side"), page.get_by_test_id("ps-row")
    for target, leaves in (
        (rows.nth(4), True),
        (page.locator(".st-key-cite-1 button"), True),
        (page.get_by_test_id("ps-marked").get_by_role("button", name="citation 1").first, False),
        (page.locator(".st-key-step-J button"), True),
        (page.locator(".st-key-run-R001 button").first, True),
    ):
        page.wait_for_function(f"side => ({IS_SEEN})(side)", arg=side.element_handle())
        wire.hold()
        target.click()
        assert side.evaluate(IS_SEEN) is not leaves
        wire.release()
        wire.release_received()
        wait_for_run(page)


def test_no_quick_press_is_lost_or_counts_twice(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve().url}/question?run=R002&q=Q01&sort=question")
    wait_for_run(page)
    position = page.locator(".st-key-steps .ps-hint")
    start = int(position.inner_text().split()[0])
    for _ in range(5):
        page.keyboard.press("j")
    expect(position).to_contain_text(f"{start + 5} of")
    wait_for_run(page)
    page.keyboard.press("K")
    page.keyboard.press("k")
    page.locator(".st-key-step-J button").click(click_count=2, delay=1)
    page.locator(".st-key-step-K button").click()
    expect(position).to_contain_text(f"{start + 4} of")
    wait_for_run(page)
    expect(position).to_contain_text(f"{start + 4} of")
