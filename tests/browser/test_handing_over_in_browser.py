"""From an answer that nobody has seen to a verdict, its gold, an exported set, and a pack with all of it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from proofspan.cli import group
from tests.browser.conftest import PageAt, Serve, WaitForRun
from tests.pages.manual import CITED, reviewable

pytestmark = pytest.mark.browser

QUOTE = "Change the oil every 15,000 km."


def test_from_an_unseen_answer_to_a_set_and_a_pack(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, chromium: Browser, tmp_path: Path
) -> None:
    workspace, cache = reviewable(tmp_path / "workspace"), tmp_path / "cache"
    page = page_at(1400, 900, own=True)
    page.goto(f"{serve(workspace, PROOFSPAN_CACHE_DIR=str(cache)).url}/?run=R1&review=unseen")
    wait_for_run(page)
    rows = page.get_by_test_id("ps-row")
    expect(rows).to_have_count(3)
    rows.filter(has_text=CITED["q"]).get_by_role("link").first.click()
    page.get_by_test_id("ps-picture").wait_for()
    page.locator(".st-key-review-agree button").first.wait_for()
    page.keyboard.press("a")
    name = page.get_by_label("Your name")
    name.fill("Ada")
    name.press("Enter")
    expect(page.locator(".st-key-review-own")).to_contain_text("Saved")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("g")
    page.locator(".st-key-review-gold-done").wait_for()

    page.go_back()
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text=CITED["q"])).to_have_count(0)
    page.goto(page.url.replace("review=unseen", "review=agreed"))
    expect(rows).to_have_count(1)
    wait_for_run(page)
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Ragas").click()
    (sample,) = [orjson.loads(line) for line in download.value.path().read_bytes().splitlines()]
    assert (sample["user_input"], sample["response"]) == (CITED["q"], CITED["answer"])
    assert sample["reference"] == QUOTE and QUOTE in sample["reference_contexts"][0]
    (verdict,) = sample["review"]["verdicts"]
    assert (verdict["author"], verdict["agrees"]) == ("Ada", True)

    file = tmp_path / "pack.html"
    arguments = ["pack", str(workspace), "--run", "R1", "-o", str(file), "--cache-dir", str(cache)]
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code == 0, result.output
    context = chromium.new_context(offline=True)
    pack, asked = context.new_page(), list[str]()
    pack.on("request", lambda request: asked.append(request.url))
    pack.on("console", lambda message: asked.append(message.text))
    pack.goto(f"{file.as_uri()}#{CITED['q_id']}")
    one = pack.locator("details.q[open]")
    expect(one).to_contain_text("Ada")
    expect(one).to_contain_text("agrees")
    expect(one.locator("svg.page").first).to_be_visible()
    expect(one.locator("svg.page", has_text="gold").first).to_be_visible()
    assert asked == [file.as_uri()]
    context.close()
