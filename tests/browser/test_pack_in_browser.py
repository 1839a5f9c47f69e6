"""An evidence pack in a browser: from disk, without network, with and without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, expect

from proofspan.evidence.pdf.pool import PdfPool
from tests.unit.reports.pack_room import Room

#: A run of the demo with a picture that two questions share, and those two: whose it is comes first.
RUN, SHARED = "R005", ("Q97", "Q79")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, checked: Callable[[Path], Path], pool: PdfPool) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    room = Room.of(folder / "cache", checked, pool)
    (folder / "pack.html").write_text(room.pack(run=RUN)[0], encoding="utf-8")
    return folder / "pack.html"


@pytest.fixture
def context(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A profile without a network; its parameter says whether it has JavaScript."""
    context = chromium.new_context(java_script_enabled=request.param, offline=True)
    yield context
    context.close()


def opened(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    """A page, and all that it asks for or complains about from then on, itself first."""
    page, heard = context.new_page(), list[str]()

    def asked(request: Request) -> None:
        if not request.url.startswith("data:"):
            heard.append(request.url)

    page.on("request", asked)
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(address)
    return page, heard


def darkness(picture: Locator) -> float:
    """The share of a picture that is as dark as print, which no box and no name is."""
    greys = Image.open(BytesIO(picture.screenshot())).convert("L").histogram()
    return sum(greys[:70]) / sum(greys)


@pytest.mark.parametrize("context", [True], indirect=True)
def test_it_is_searched_filtered_and_linked_from_disk(context: BrowserContext, file: Path) -> None:
    page, heard = opened(context, f"{file.as_uri()}#Q78")
    whole = page.locator("details.q").count()
    shown = page.locator("details.q:not([hidden])")
    expect(page.locator("details.q[open] .id")).to_have_text("Q78")
    expect(page.locator("details.q[open] rect.mark")).not_to_have_count(0)

    words = page.get_by_role("searchbox")
    page.locator("select[name=cause]").select_option("contradicted")
    expect(shown.locator(".id")).to_have_text(["Q78", "Q84"])
    words.fill("door UNLOCKING")
    expect(shown.locator(".id")).to_have_text(["Q78"])
    expect(page.locator("[id='search:count']")).to_have_text(f"1 of {whole}")
    words.fill("no such words")
    expect(page.locator("[id='search:none']")).to_be_visible()

    page.evaluate("(name) => { location.hash = name }", SHARED[1])  # shows what a filter hides
    expect(shown).to_have_count(whole)
    words.fill(SHARED[1])
    expect(shown.locator(".id")).to_have_text([SHARED[1]])  # and not the one that has the picture
    assert darkness(shown.locator("svg.page:has(use)")) > 0.003
    assert heard == [file.as_uri()]


@pytest.mark.parametrize("context", [False], indirect=True)
def test_it_is_read_without_javascript(context: BrowserContext, file: Path) -> None:
    page, heard = opened(context, f"{file.as_uri()}#{SHARED[1]}")
    page.set_viewport_size({"width": 420, "height": 900})
    linked = page.locator("details.q[open]")
    expect(linked.locator(".id")).to_have_text(SHARED[1])  # the browser unfolds what a link names
    assert darkness(linked.locator("svg.page:has(use)")) > 0.003
    page.locator("details.q summary").first.click()
    expect(page.locator("details.q").first.locator(".words")).to_be_visible()
    expect(page.locator("[id='search:tools']")).to_be_hidden()
    assert heard == [file.as_uri()]
