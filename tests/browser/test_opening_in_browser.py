"""From a file that somebody has to a highlighted page, in the browser: an upload with its PDF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PageAt, Serve, WaitForRun, query
from tests.pdf_files import write_pages

pytestmark = pytest.mark.browser

PAGES = ["Before you drive off, adjust the seat.", "The engine holds 4.5 litres of oil, grade 5W-30."]
ROW = {
    "user_input": "How much oil?",
    "retrieved_contexts": PAGES[1:],
    "response": "It holds 5.5 litres of oil.",
}
CITED = {
    "type": "page_location",
    "cited_text": PAGES[1],
    "document_index": 0,
    "document_title": "Owner's manual",
    "start_page_number": 2,
    "end_page_number": 3,
}
RESPONSE = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "It holds 4.5 litres.", "citations": [CITED]}],
    "stop_reason": "end_turn",
}


@pytest.mark.parametrize(
    ("file", "content", "shown"),
    [
        ("ragas.jsonl", json.dumps(ROW) + "\n", "How much oil?"),
        ("response.json", json.dumps(RESPONSE, indent=1), "(the question is not in the file)"),
    ],
)
def test_an_upload_with_its_pdf_leads_to_the_highlighted_page(
    serve: Serve,
    page_at: PageAt,
    wait_for_run: WaitForRun,
    tmp_path: Path,
    file: str,
    content: str,
    shown: str,
) -> None:
    (tmp_path / file).write_text(content)
    write_pages(tmp_path / "manual.pdf", [[each] for each in PAGES])
    page = page_at(1400, 900)
    page.goto(serve().url)
    wait_for_run(page)
    page.get_by_role("link", name="Open your data").click()
    wait_for_run(page)
    page.locator("input[type=file]").set_input_files([tmp_path / file, tmp_path / "manual.pdf"])
    expect(page.get_by_test_id("stFileChip")).to_have_count(2)
    page.get_by_role("button", name="Open files").click()
    page.get_by_role("link", name="Show the first finding").click()
    expect(page.get_by_text(shown).first).to_be_visible()
    expect(page.get_by_test_id("ps-box").first).to_be_visible()
    expect(page.get_by_test_id("ps-page-field")).to_have_value("2")
    assert query(page)["run"] == ["R001"] and len(query(page)["opened"][0]) == 16
