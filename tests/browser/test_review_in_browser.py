"""A review by keys in a real browser: a verdict in one key or two, the gold by one, and both taken back.

Then rows of Triage are chosen by keys and pointer and get a verdict together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.browser import sizes
from tests.browser.conftest import PageAt, Serve, WaitForRun, wait_for_query
from tests.pages.manual import reviewable

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reviewable(tmp_path_factory.mktemp("review") / "workspace")


def lines(workspace: Path, name: str) -> list[dict[str, Any]]:
    file = workspace / f"{name}.jsonl"
    return [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def test_verdicts_and_gold_are_saved_and_taken_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900, own=True)
    asked: list[Any] = []

    def sent(payload: str | bytes) -> None:
        message = BackMsg.FromString(payload) if isinstance(payload, bytes) else BackMsg()
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.fragment_id:
            asked.append(message)

    page.on("websocket", lambda socket: socket.on("framesent", sent))
    page.goto(f"{serve(workspace).url}/question?run=R1&q=Q1")
    wait_for_run(page)
    page.get_by_test_id("ps-picture").wait_for()
    own = page.locator(".st-key-review-own")

    page.keyboard.press("a")
    name = page.get_by_label("Your name")
    name.fill("Ada")
    name.press("Enter")
    expect(own).to_contain_text("Saved")
    expect(name).to_have_count(0)
    assert [each["agrees"] for each in lines(workspace, "annotations")] == [True]

    press_outside(page, "d")
    page.locator(".st-key-review-choices").wait_for()
    page.get_by_label("Note", exact=True).press_sequentially("1 d a")  # keys of a field are its own
    page.locator("h1").first.click()
    wait_for_run(page)
    page.keyboard.press("2")
    expect(own).to_contain_text("Declined, wrongly")
    last = lines(workspace, "annotations")[-1]
    assert (last["agrees"], last["correct"], last["text"]) == (False, "declined_wrongly", "1 d a")
    page.keyboard.press("u")
    expect(own).to_contain_text("agrees")
    assert lines(workspace, "annotations")[-1]["withdraws"] == last["entry_id"]
    assert "q=Q1" in page.url

    page.keyboard.press("g")
    page.locator(".st-key-review-gold-done").wait_for()
    record = lines(workspace, "gold")[-1]
    assert record["spans"][0]["quote"] == "Change the oil every 15,000 km."
    page.locator(".st-key-review-gold-done").get_by_role("button", name="Undo").click()
    expect(page.locator(".st-key-review-gold-done")).to_have_count(0)
    assert lines(workspace, "gold")[-1]["answer"] == "Never."

    page.reload()
    expect(own).to_contain_text("agrees", timeout=60_000)  # the browser keeps the name

    page.get_by_test_id("stSidebar").get_by_role("link", name="Triage").click()
    rows = page.locator(".st-key-triage-table tbody")
    expect(rows.first.locator("td.reviewed")).to_be_visible()
    wait_for_run(page)
    # By question: by verdict they are in another order once they are judged by the gold that changed above.
    page.locator(".st-key-triage-table").get_by_role("button", name="Question").click()
    wait_for_query(page, sort="question")
    wait_for_run(page)
    ticked = [rows.nth(each).get_by_role("link").inner_text() for each in (0, 1)]
    asked.clear()
    link, box = rows.nth(1).get_by_role("link"), rows.nth(0).get_by_role("checkbox")
    expect(box).to_have_accessible_name(f"Choose: {rows.nth(0).get_by_role('link').inner_text()}")
    link.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")  # from the last one on
    page.keyboard.press("Space")
    expect(rows.nth(2).get_by_role("checkbox")).not_to_be_checked()
    box.click()
    whole = page.get_by_role("checkbox", name="Choose all rows that are shown")
    assert whole.evaluate("one => one.indeterminate")
    for each, is_chosen in enumerate((True, True, False)):
        expect(rows.nth(each).get_by_role("checkbox")).to_be_checked(checked=is_chosen)
    chosen = page.locator(".picked")
    expect(chosen.get_by_role("status")).to_have_text("2 chosen")
    assert sizes.flaws(page) == []
    assert asked == []  # the page ran for none of it
    before = len(lines(workspace, "annotations"))
    chosen.get_by_role("button", name="Review 2 …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save for 2 answers").click()
    undo = dialog.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    added = lines(workspace, "annotations")[before:]
    assert {(each["author"], each["agrees"]) for each in added} == {("Ada", True)}
    assert len({each["q_id"] for each in added}) == 2
    undo.click()
    expect(undo).to_have_count(0)
    assert {each["withdraws"] for each in lines(workspace, "annotations")[before + 2 :]} == {
        each["entry_id"] for each in added
    }
    dialog.get_by_role("button", name="Save for 2 answers").click()
    expect(undo).to_be_visible()
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    expect(chosen.get_by_role("status")).not_to_contain_text("chosen")
    for question in ticked:
        expect(rows.filter(has_text=question).locator("td.reviewed")).to_contain_text("Ada agrees")


def press_outside(page: Page, key: str) -> None:
    """Press a key while no field has the focus."""
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press(key)
