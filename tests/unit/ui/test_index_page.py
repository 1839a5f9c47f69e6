"""The page that loads the dashboard is Streamlit's with our additions; no other response is touched."""

from __future__ import annotations

import gzip

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit import config

from proofspan.ui.app import security
from proofspan.ui.app.index_page import IndexPage, index_html
from proofspan.ui.app.titles import NAME, SIDEBAR_PIXELS
from tests.unit.ui.asgi_calls import scope_of, sent_by


def answer(path: str = "/question", *, query: bytes = b"", encoding: bytes = b"") -> tuple[Headers, bytes]:
    def theirs(_: Request) -> Response:
        return HTMLResponse("theirs", headers={"etag": "x", "cache-control": "no-cache"})

    app = IndexPage(Starlette(routes=[Route("/{path:path}", theirs)]))
    scope = scope_of(path=path, query_string=query, headers=[(b"accept-encoding", encoding)])
    start, *parts = sent_by(app, scope)
    return Headers(raw=start["headers"]), b"".join(part["body"] for part in parts)


@pytest.mark.parametrize("encoding", [b"", b"gzip, br"])
def test_every_page_is_ours(encoding: bytes) -> None:
    headers, body = answer(encoding=encoding)
    assert headers["content-length"] == str(len(body)) and headers["cache-control"] == "no-cache"
    assert "etag" not in headers
    assert ("content-encoding" in headers) == bool(encoding)
    html = (gzip.decompress(body) if encoding else body).decode()
    assert f"<title>{NAME}</title>" in html and ".ps-title{" in html and '<div id="root">' in html


def test_only_a_page_with_a_sidebar_reserves_its_room() -> None:
    room = f"margin-left: {SIDEBAR_PIXELS}px".encode()
    assert room in answer()[1] and room not in answer(query=b"run=R1&present=1")[1]


def test_a_download_is_left_as_it_is() -> None:
    headers, body = answer("/media/0a1b.html")
    assert body == b"theirs" and headers["etag"] == "x"


@pytest.mark.parametrize(
    ("base", "path", "query", "to"),
    [
        ("", "/a/b", b"", "../no-page?address=a%2Fb"),
        ("", "/health/R5/x.html", b"run=R5", "../../no-page?address=health%2FR5%2Fx.html&run=R5"),
        ("proof/span", "/proof/span/a/b", b"", "../no-page?address=a%2Fb"),
        ("proof/span", "/proof/span/media/0a1b.html", b"", None),
        ("proof/span", "/proof/span/health", b"", None),
        ("proof/span", "/proof/span", b"", None),
    ],
)
def test_an_address_of_several_parts_leads_to_the_page_that_names_it(
    base: str, path: str, query: bytes, to: str | None
) -> None:
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", base)
    try:
        headers, body = answer(path, query=query)
    finally:
        config.set_option("server.baseUrlPath", before)
    assert headers.get("location") == to
    assert bool(body) == (to is None)


def test_the_policy_allows_our_script() -> None:
    hashes = security.inline_script_hashes(index_html())
    assert len(hashes) == 3
    assert all(each in security.response_headers()["Content-Security-Policy"] for each in hashes)
