"""The headers that every response of the dashboard carries, above all its Content-Security-Policy.

What the dashboard shows was written by others. Each panel keeps untrusted text from becoming markup; this
policy is the net below: even markup that slipped through could load nothing from elsewhere, send nothing
away and run no script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proofspan.ui.own_requests import OwnRequestsOnly


class _InlineScripts(HTMLParser):
    """Collects the text of every `<script>` that names no file."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and "src" not in dict(attrs):
            self._inside = True
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False


def inline_script_hashes(html: str) -> tuple[str, ...]:
    """The CSP source (`'sha256-…'`) of each inline script of a page, in the page's order."""
    parser = _InlineScripts()
    parser.feed(html)
    parser.close()
    digests = (hashlib.sha256(text.encode()).digest() for text in parser.texts)
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_security_policy(script_hashes: Iterable[str]) -> str:
    """The policy: everything from this server alone, and no script but Streamlit's own.

    `blob:` in `script-src` is how Streamlit loads a component that was given as text, such as the page
    viewer; WebAssembly is allowed for its table and chart code. `'self'` in `connect-src` covers the
    websocket, which has this server's host and port.
    """
    directives = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *script_hashes]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "media-src": "'self' blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'none'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


@lru_cache(maxsize=1)
def response_headers() -> dict[str, str]:
    """The headers for the Streamlit that is installed: its inline script's hash is computed, not pinned."""
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    return {
        "Content-Security-Policy": content_security_policy(
            inline_script_hashes(index.read_text(encoding="utf-8"))
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


class SecurityHeaders:
    """ASGI middleware that sets `response_headers` on every HTTP response, errors and files included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = response_headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def middleware() -> list[Middleware]:
    """What `app.py` hands to `streamlit.starlette.App`, the outermost first."""
    return [Middleware(SecurityHeaders), Middleware(OwnRequestsOnly)]
