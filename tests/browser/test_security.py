"""The dashboard works under its own Content-Security-Policy, and nothing on a page reaches another server."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect

from proofspan.ui.app import security
from tests.browser.conftest import Dashboard, PageAt, Serve, WaitForRun

pytestmark = pytest.mark.browser

EVERYTHING = Path(__file__).parent / "apps" / "everything.py"


class Canary:
    """A server on another port that remembers every path it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    server = Canary()
    yield server
    server.close()


def console_of(page: Page) -> list[ConsoleMessage]:
    messages: list[ConsoleMessage] = []
    page.on("console", lambda message: messages.append(message))
    return messages


def refusals(messages: list[ConsoleMessage]) -> list[str]:
    return [message.text for message in messages if "Content Security Policy" in message.text]


def test_table_chart_picture_component_and_style_work_without_a_violation(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    messages = console_of(page)
    page.goto(serve(app=EVERYTHING).url)
    wait_for_run(page)

    expect(page.get_by_test_id("stDataFrame").locator("canvas").first).to_be_visible()
    expect(page.locator(".js-plotly-plot .bars path").first).to_be_visible()
    expect(page.get_by_text("own style")).to_have_css("letter-spacing", "3px")
    picture = page.get_by_test_id("stImage").locator("img")
    page.wait_for_function(
        "image => image.complete && image.naturalWidth === 40", arg=picture.element_handle()
    )
    button = page.get_by_role("button", name="drawn by the component")
    expect(button).to_have_css("color", "rgb(1, 2, 3)")
    button.click()
    wait_for_run(page)
    expect(page.get_by_text("pressed: yes")).to_be_visible()

    assert refusals(messages) == []


def test_no_picture_from_elsewhere_is_fetched(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, canary: Canary
) -> None:
    page = page_at(own=True)
    messages = console_of(page)
    page.goto(serve(app=EVERYTHING, CANARY=canary.url).url)
    wait_for_run(page)
    expect(page.get_by_text("the end")).to_be_visible()
    page.wait_for_load_state("networkidle")

    assert any(canary.url in refusal for refusal in refusals(messages)), (
        "the page tried nothing: no test at all"
    )
    assert canary.asked == []


def test_the_canary_hears_a_page_that_has_no_policy(page_at: PageAt, canary: Canary) -> None:
    page = page_at(own=True)
    page.set_content(f"<img src='{canary.url}/control.png'>")
    page.wait_for_load_state("networkidle")
    assert canary.asked.pop() == "/control.png"


@pytest.mark.parametrize("path", ["/", "/question?run=R1&q=Q1", "/_stcore/health", "/static/none.js"])
def test_every_response_carries_the_headers(serve: Serve, path: str) -> None:
    request = urllib.request.Request(serve(app=EVERYTHING).url + path)  # noqa: S310
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        sent = dict(answer.headers.items())
    lower = {name.lower(): value for name, value in sent.items()}
    assert {
        name: lower.get(name.lower()) for name in security.response_headers()
    } == security.response_headers()


def test_the_dashboards_own_pages_need_nothing_that_the_policy_refuses(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(own=True)
    messages = console_of(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    dashboard = serve()
    for path in ("/", "/question", "/health"):
        page.goto(dashboard.url + path)
        wait_for_run(page)
        page.wait_for_load_state("networkidle")
        assert refusals(messages) == [], path
    foreign = [url for url in asked if not url.startswith((dashboard.url, f"blob:{dashboard.url}", "data:"))]
    assert foreign == []


HANDSHAKE = """GET /_stcore/stream HTTP/1.1
Host: {host}
Origin: {origin}
Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

"""


#: Runs in a page: whether it can talk to the dashboard at this address.
REACH = """async (url) => {
  const websocket = await new Promise((done) => {
    const opened = new WebSocket(url.replace("http", "ws") + "/_stcore/stream");
    opened.onopen = () => { opened.close(); done("open"); };
    opened.onerror = () => done("refused");
  });
  const fetched = await fetch(url + "/_stcore/health").then((answer) => `${answer.status}`, () => "refused");
  return {websocket, fetch: fetched};
}"""


def status_of(dashboard: Dashboard, request: str) -> int:
    """Return the status that the server answers a raw request with."""
    address = urlsplit(dashboard.url)
    with socket.create_connection(("127.0.0.1", address.port), timeout=30) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode())
        return int(connection.recv(4096).split()[1])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_only_the_own_page_opens_the_websocket(serve: Serve, host: str) -> None:
    """That the server looks up no address meanwhile is for the plugin `no_network` to find."""
    dashboard = serve()
    own = f"{host}:{urlsplit(dashboard.url).port}"
    assert status_of(dashboard, HANDSHAKE.format(host=own, origin=f"http://{own}")) == 101
    for origin in ("http://elsewhere.example", "http://localhost:1", f"https://{own}", "null"):
        assert status_of(dashboard, HANDSHAKE.format(host=own, origin=origin)) == 403
    foreign = HANDSHAKE.format(host="attacker.example", origin="http://attacker.example")
    assert status_of(dashboard, foreign) == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_page_of_another_port_neither_opens_the_websocket_nor_reads_anything(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, canary: Canary, host: str
) -> None:
    page = page_at(own=True)
    dashboard = serve()
    here = dashboard.url.replace("localhost", host)
    page.goto(here)
    wait_for_run(page)
    assert page.evaluate(REACH, here) == {"websocket": "open", "fetch": "200"}
    page.goto(f"{canary.url}/page")
    assert page.evaluate(REACH, here) == {"websocket": "refused", "fetch": "refused"}
