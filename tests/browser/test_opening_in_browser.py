"""From a file that somebody has to a highlighted page, by the README's commands and by an upload, filmed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from proofspan.cli import group
from proofspan.cli.workspace import open_cmd
from proofspan.services.workspace.open import WORKSPACE_VARIABLE
from tests.browser.conftest import Dashboard, PageAt, Serve, WaitForRun, query
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


def span(kind: str, start: int, end: int, parent: str = "None", **attributes: Any) -> dict[str, Any]:
    """Return a span as Phoenix writes a row of its JSONL, with LangChain's metadata of documents."""
    day = "2024-08-07 23:32:"
    return {
        "name": kind,
        "span_kind": kind.upper(),
        "parent_id": parent,
        "start_time": f"{day}{start:02}.000000+00:00",
        "end_time": f"{day}{end:02}.000000+00:00",
        "status_code": "OK",
        "events": [],
        "context": {"span_id": f"{kind}0", "trace_id": "d665c93f"},
        "attributes": {"openinference": {"span": {"kind": kind}}, **attributes},
    }


def document(page: int) -> dict[str, Any]:
    metadata = {"source": "docs/manual.pdf", "page": page, "total_pages": len(PAGES)}
    return {"document.content": PAGES[page], "document.metadata": json.dumps(metadata), "document.score": 0.5}


SPANS = [
    span("retriever", 1, 2, "chain0", retrieval={"documents": [document(1), document(0)]}),
    span("llm", 2, 3, "chain0", output={"value": "It holds 5.5 litres."}),
    span("chain", 1, 4, input={"value": "How much oil?"}, output={"value": "It holds 5.5 litres."}),
]


@contextmanager
def filmed(page: Page, folder: Path) -> Iterator[None]:
    """Film what a window shows as numbered pictures in a folder."""
    folder.mkdir()
    session = page.context.new_cdp_session(page)

    def keep(frame: dict[str, Any]) -> None:
        number = len(list(folder.iterdir())) + 1
        (folder / f"{number:04}.jpg").write_bytes(base64.b64decode(frame["data"]))
        session.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send(
        "Page.startScreencast", {"format": "jpeg", "quality": 60, "maxWidth": 700, "everyNthFrame": 5}
    )
    yield
    session.send("Page.stopScreencast")
    session.detach()
    assert list(folder.iterdir())


def address_by_command(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, *things: Path | str) -> str:
    """Run `proofspan open` on things, and return the address of its first finding on `dashboard`."""
    shown: list[str] = []

    def show(_server: object, environment: dict[str, str], *_: object, page: str, **__: object) -> None:
        shown.append(f"{page}&opened={Path(environment[WORKSPACE_VARIABLE]).parent.name}")

    @contextmanager
    def no_server(_command: object) -> Iterator[None]:
        yield None

    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(dashboard.output.parent / "cache"))
    monkeypatch.setattr(open_cmd, "loading_server", no_server)
    monkeypatch.setattr(open_cmd, "run_dashboard", show)
    result = CliRunner().invoke(group, ["open", "--no-browser", *map(str, things)])
    assert result.exit_code == 0, result.output
    return f"{dashboard.url}/{shown[0]}"


def expect_the_page(page: Page, question: str) -> None:
    expect(page.get_by_text(question).first).to_be_visible()
    expect(page.get_by_test_id("ps-box").first).to_be_visible()
    expect(page.get_by_test_id("ps-page-field")).to_have_value("2")
    assert query(page)["run"] == ["R001"] and len(query(page)["opened"][0]) == 16


@pytest.mark.parametrize(
    ("file", "content", "is_beside", "shown"),
    [
        ("response.json", json.dumps(RESPONSE), True, "(the question is not in the file)"),
        ("phoenix_spans.jsonl", "".join(f"{json.dumps(each)}\n" for each in SPANS), False, "How much oil?"),
    ],
    ids=["anthropic", "phoenix"],
)
def test_a_command_leads_to_the_highlighted_page(
    serve: Serve,
    page_at: PageAt,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    content: str,
    is_beside: bool,
    shown: str,
) -> None:
    source, pdf = tmp_path / file, tmp_path / "pdfs" / "manual.pdf"
    source.write_text(content)
    pdf.parent.mkdir()
    write_pages(pdf, [[each] for each in PAGES])
    things = [source, pdf] if is_beside else [source, "--documents", pdf.parent]
    page = page_at(1400, 900)
    with filmed(page, tmp_path / "film"):
        page.goto(address_by_command(serve(), monkeypatch, *things))
        expect_the_page(page, shown)


def test_an_upload_with_its_pdf_leads_to_the_highlighted_page(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, tmp_path: Path
) -> None:
    (tmp_path / "ragas.jsonl").write_text(json.dumps(ROW) + "\n")
    write_pages(tmp_path / "manual.pdf", [[each] for each in PAGES])
    page = page_at(1400, 900)
    with filmed(page, tmp_path / "film"):
        page.goto(serve().url)
        wait_for_run(page)
        page.get_by_role("link", name="Open your data").click()
        wait_for_run(page)
        page.locator("input[type=file]").set_input_files([tmp_path / "ragas.jsonl", tmp_path / "manual.pdf"])
        expect(page.get_by_test_id("stFileChip")).to_have_count(2)
        page.get_by_role("button", name="Open files").click()
        page.get_by_role("link", name="Show the first finding").click()
        expect_the_page(page, "How much oil?")
