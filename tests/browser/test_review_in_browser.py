"""A review by keys in a real browser: a verdict in one key or two, the gold by one, and both taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.pages.conftest import TRACES, write_small
from tests.pages.manual import CITED, DOCUMENTS, PAGED, manual

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {name: {"path": f"{name}.jsonl"} for name in ("gold", "annotations")}
    folder = write_small(
        tmp_path_factory.mktemp("review") / "workspace", [CITED, *TRACES[1:]], documents=DOCUMENTS, **files
    )
    manual(folder)
    (folder / "chunks.jsonl").write_bytes(b"\n".join(map(orjson.dumps, PAGED)))
    (folder / "gold.jsonl").write_bytes(
        orjson.dumps({"q_id": "Q1", "q": CITED["q"], "answer": "Never."}) + b"\n"
    )
    return folder


def lines(workspace: Path, name: str) -> list[dict[str, Any]]:
    file = workspace / f"{name}.jsonl"
    return [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.exists() else []


def test_keys_save_a_verdict_and_the_gold_and_take_them_back(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, workspace: Path
) -> None:
    page = page_at(1400, 900, own=True)
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


def press_outside(page: Page, key: str) -> None:
    """Press a key while no field has the focus."""
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press(key)
