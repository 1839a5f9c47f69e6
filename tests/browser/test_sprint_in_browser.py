"""Sprint in a real browser: written with a preview, by two people at once, linked and exported."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, expect

from proofspan.journal.sprint import SprintEntry, append_all, read_sprint
from proofspan.manifest.load import load_manifest
from proofspan.services.sprint.draft import drafted
from tests.browser.conftest import IDLE, PageAt, Serve, WaitForRun, wait_for_query

pytestmark = pytest.mark.browser

FILE = "sprint.jsonl"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace without runs: its record is all that the page waits for."""
    folder = tmp_path_factory.mktemp("sprint")
    manifest = {"manifest_version": "1.0", "name": "Small car", "sprint": {"path": FILE}, "runs": []}
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")

    def log(number: int) -> SprintEntry:
        fields = {"title": f"Entry {number}", "text": "Line\n" * 6}
        return drafted("log", "", at=f"2026-02-23T10:{number:02}:00Z", author="Ada", fields=fields)

    def decision(number: int) -> SprintEntry:
        fields = {"title": f"Choice {number}", "state": "PENDING"}
        return drafted("decision", f"D{number}", at="2026-02-23", author="Ada", fields=fields)

    append_all(load_manifest(folder), [*map(log, range(12)), *map(decision, range(1, 25))])
    return folder


def written(folder: Path) -> list[SprintEntry]:
    return [*read_sprint(load_manifest(folder))[0]]


def begin(page: Page, kind: str, name: str, wait_for_run: WaitForRun) -> None:
    """Open the form of an entry of that kind, and sign it."""
    page.get_by_role("button", name="Add entry").click()
    wait_for_run(page)
    page.get_by_role("radio", name=kind).click()
    expect(page.get_by_role("radio", name=kind)).to_be_checked()
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    page.locator(IDLE).wait_for(state="attached")


def test_a_decision_is_written_by_keys_with_a_preview(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, folder: Path
) -> None:
    before = written(folder)
    page = page_at(1400, 900)
    page.goto(f"{serve(folder).url}/sprint")
    wait_for_run(page)
    begin(page, "Decision", "Cleo Ray", wait_for_run)
    page.get_by_label("Id", exact=True).fill("D90")
    page.keyboard.press("Tab")
    page.keyboard.type("Titles first")
    page.get_by_label("Pros", exact=True).fill("<b>Fixes</b> Q97\nFixes Q108")
    page.get_by_role("button", name="Preview").focus()
    page.keyboard.press("Enter")
    preview = page.locator(".st-key-preview")
    expect(preview).to_contain_text("D90 · Titles first")
    expect(preview).to_contain_text("• <b>Fixes</b> Q97")
    assert written(folder) == before
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".st-key-saved")).to_contain_text("Decision D90 by Cleo Ray")
    wait_for_query(page, item="decision:D90")
    expect(page.locator(".st-key-opened")).to_contain_text("D90 · Titles first")
    (entry,) = written(folder)[len(before) :]
    assert (entry.key, entry.author) == ("D90", "Cleo Ray")
    assert entry.fields["pros"] == ["<b>Fixes</b> Q97", "Fixes Q108"]


def test_two_people_at_once_lose_nothing(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, folder: Path
) -> None:
    before, url = len(written(folder)), f"{serve(folder).url}/sprint"
    first, second = page_at(1100, 900, own=True), page_at(1100, 900, own=True)
    for page, name in ((first, "Ann"), (second, "Bob")):
        page.goto(url)
        wait_for_run(page)
        begin(page, "Log entry", name, wait_for_run)
        page.get_by_label("Check-in as it was given").fill(f"From {name}")
    for page in (second, first):
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".st-key-preview")).to_be_visible()
        meanwhile = page.get_by_text("1 entry was added meanwhile")
        expect(meanwhile).to_have_count(0 if page == second else 1)
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".st-key-saved")).to_be_visible()
    assert [entry.fields["text"] for entry in written(folder)[before:]] == ["From Bob", "From Ann"]
    expect(first.locator(".st-key-figure-log")).to_contain_text("From Bob")


def test_a_link_to_an_item_shows_it_and_back_closes_it_and_returns_to_its_row(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, folder: Path
) -> None:
    page = page_at(1100, 700, own=True)
    page.goto(f"{serve(folder).url}/sprint?item=decision:D20")
    wait_for_run(page)
    opened = page.locator(".st-key-opened")
    expect(opened).to_contain_text("D20 · Choice 20")
    expect(opened).to_be_in_viewport()
    row = page.get_by_role("link", name="Decision D21 · Choice 21")
    row.press("Enter")
    wait_for_query(page, item="decision:D21")
    expect(opened).to_contain_text("D21 · Choice 21")
    wait_for_run(page)
    page.go_back()
    wait_for_run(page)
    expect(opened).to_contain_text("D20 · Choice 20")
    opened.get_by_role("link", name="Close").click()
    page.wait_for_url(lambda url: "item=" not in url)
    expect(opened).to_have_count(0)
    row = page.get_by_role("link", name="Decision D20 · Choice 20")
    expect(row).to_be_focused()
    row.press("Enter")
    expect(opened).to_contain_text("D20 · Choice 20")
    expect(opened).to_be_focused()
    page.go_back()
    expect(opened).to_have_count(0)
    expect(row).to_be_focused()


def test_the_record_is_exported_whole(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, folder: Path
) -> None:
    page = page_at(420, 800)
    page.goto(f"{serve(folder).url}/sprint?find=Choice")
    wait_for_run(page)
    assert page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON lines").click()
    assert download.value.suggested_filename == "sprint-Small-car.jsonl"
    assert download.value.path().read_bytes() == (folder / FILE).read_bytes()
