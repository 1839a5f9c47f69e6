"""The HTML page that loads the dashboard, with its stylesheet: nothing moves when the rest arrives.

Streamlit sends a stylesheet as an element of the page, which the browser draws after the words around it.
This page is Streamlit's own with the rules of all pages in it, the room of the sidebar, our title, and the
server's address: without it Streamlit's script tries the page's own first, and waits when that fails.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from proofspan.ui.app.titles import NAME, SIDEBAR_PIXELS
from proofspan.ui.visit.routes import NO_PAGE_ADDRESS, NO_PAGE_PATH, PAGES
from proofspan.ui.widgets.markup import common_css, page_css

#: The server is where the page's scripts are, which have relative addresses too.
_SERVER: Final = (
    "<script>window.__streamlit = { BACKEND_BASE_URL: new URL('.', location.href).href }</script>"
)
#: The first page appears as a whole: once its script has ended and no part of it is a placeholder. Until then
#: what is drawn from top to bottom would move under the reader's eyes. The script is waited for until
#: `_LATEST_MS` after the first part was there; a placeholder, whose code a slow browser has yet to read,
#: until `_LONGEST_MS`. Charts have their room, and are not waited for.
_LATEST_MS: Final = 1_500
_LONGEST_MS: Final = 6_000
#: How long nothing is added to it by then: the browser draws what the script sent a little later.
_REST_MS: Final = 80
_ARRIVAL: Final = """<script>(() => {
  const root = document.documentElement;
  root.classList.add("ps-arriving");
  const MISSING = "[data-testid=stSkeleton]:not([class*=st-key-plot-] *)";
  // A component of ours draws in a tree of its own, which is not watched. A table has no header before.
  const isEmpty = ({ shadowRoot }) => !shadowRoot?.firstChild || shadowRoot.querySelector("thead tr:empty");
  const isWhole = (app) => !app.querySelector(MISSING)
    && ![...app.querySelectorAll("[data-testid=stBidiComponentIsolated]")].some(isEmpty);
  let latest = null;
  let longest = null;
  let rest = null;
  let isLate = false;
  const look = () => {
    const app = document.querySelector("[data-testid=stApp]");
    if (!app?.querySelector(".stMainBlockContainer .stElementContainer")) return;
    latest ??= setTimeout(() => { isLate = true; look(); }, %d);
    longest ??= setTimeout(arrive, %d);
    const isDone = isLate || app.dataset.testScriptState === "notRunning";
    clearTimeout(rest);
    if (isDone) rest = setTimeout(isWhole(app) ? arrive : look, %d);
  };
  const watch = new MutationObserver(look);
  const arrive = () => {
    watch.disconnect();
    [latest, longest, rest].forEach(clearTimeout);
    root.classList.remove("ps-arriving");
  };
  watch.observe(root, { childList: true, subtree: true, attributeFilter: ["data-test-script-state"] });
  setTimeout(arrive, 10000);
})()</script>"""
_CURTAIN: Final = (
    "html.ps-arriving :is(.stMainBlockContainer, [data-testid=stSidebarContent]) { visibility: hidden }"
)
#: A font that the theme does not use.
_FONT: Final = re.compile(r"<link\s+rel=\"preload\"[^>]*woff2[^>]*>", re.DOTALL)
_TITLE: Final = re.compile(r"<title>[^<]*</title>")
#: The room of the sidebar before it is there; in a narrow window it lies over the page.
_ROOM: Final = (
    "@media (min-width: 769px) { .stAppViewContainer:not(:has([data-testid=stSidebar], .st-key-frame))"
    " > div:has(.stMain) { margin-left: %dpx } }"
)


#: Parts of Streamlit's script that every page needs, and that it would fetch one after the other, each when
#: the first such element is there: until then a placeholder of another height is shown.
_NEEDED: Final = ("Html", "BidiComponent", "PageLink", "Button", "StreamlitMarkdown", "Tooltip")


def _preloads(static: Path) -> str:
    """Return links to the files of `_NEEDED`; Streamlit names them by their contents."""
    files = (file for part in _NEEDED for file in sorted((static / "static" / "js").glob(f"{part}.*.js")))
    return "".join(f'<link rel="modulepreload" href="./static/js/{file.name}">' for file in files)


@lru_cache(maxsize=1)
def index_html() -> str:
    """Return Streamlit's page with our additions."""
    static = Path(streamlit.__file__).parent / "static"
    html = (static / "index.html").read_text(encoding="utf-8")
    scripts = f"{_SERVER}\n    {_ARRIVAL % (_LATEST_MS, _LONGEST_MS, _REST_MS)}"
    ours = f"<title>{NAME}</title>\n    {scripts}\n    {_preloads(static)}"
    html = _TITLE.sub(ours, _FONT.sub("", html), count=1)
    # Behind Streamlit's own rules, which are added to the head, and before those of a single page.
    return html.replace("<body>", f"<body>\n    <style>{_CURTAIN}\n{common_css()}</style>", 1)


#: The pages' addresses; a page that is opened by its own comes with its rules.
_PAGES: Final = frozenset(path for group in PAGES.values() for _, _, path in group)


@lru_cache(maxsize=4 * len(_PAGES))
def _body(page: str, *, is_framed: bool, is_compressed: bool) -> bytes:
    html = index_html().replace("</style>", f"\n{page_css(page)}</style>", 1)
    if is_framed:
        html = html.replace("</style>", f"\n{_ROOM % SIDEBAR_PIXELS}</style>", 1)
    return gzip.compress(html.encode(), mtime=0) if is_compressed else html.encode()


#: What Streamlit serves files under, which may be HTML too; all else is the address of a page, or of none.
_FILES: Final = ("_stcore", "app", "component", "media", "static")


class IndexPage:
    """ASGI middleware: where Streamlit answers with its HTML page, answer with ours.

    The addresses of scripts are relative to the page's, and every page is at the root of the dashboard: an
    address of several parts is redirected to the page that says it is unknown.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        base = (config.get_option("server.baseUrlPath") or "").strip("/")
        self._depth = len(base.split("/")) if base else 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts = scope.get("path", "").split("/")[1 + self._depth :]
        if scope["type"] != "http" or (len(parts) > 1 and parts[0] in _FILES):
            await self._app(scope, receive, send)
            return
        is_compressed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        page = parts[0] if parts and parts[0] in _PAGES else ""
        body = _body(page, is_framed=b"present=" not in scope["query_string"], is_compressed=is_compressed)
        is_ours = False

        async def send_ours(message: Message) -> None:
            nonlocal is_ours
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_ours = message["status"] == 200 and headers.get("content-type", "").startswith("text/html")
                if is_ours and len(parts) > 1:
                    query = scope["query_string"].decode("latin-1")
                    await _to_no_page(parts, query)(scope, receive, send)
                    return
                if is_ours:
                    for name in ("etag", "last-modified", "accept-ranges", "content-encoding"):
                        del headers[name]
                    headers["content-length"] = str(len(body))
                    headers.update({"content-encoding": "gzip"} if is_compressed else {})
            elif is_ours and message["type"] == "http.response.body":
                if len(parts) > 1 or message.get("more_body"):
                    return
                message = {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body}
            await send(message)

        await self._app(scope, receive, send_ours)


def _to_no_page(parts: Sequence[str], query: str) -> RedirectResponse:
    """Return the redirect to that page; relative, as a proxy may serve the dashboard below a path."""
    asked = urlencode({NO_PAGE_ADDRESS: "/".join(parts)})
    return RedirectResponse(f"{'../' * (len(parts) - 1)}{NO_PAGE_PATH}?{asked}{'&' * bool(query)}{query}")
