"""The headers that every response of the dashboard carries, above all its Content-Security-Policy.

What the dashboard shows was written by others. Each panel keeps untrusted text from becoming markup; this
policy is the net below: even markup that slipped through could load nothing from elsewhere, send nothing
away and run no script.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from proofspan.ui.app.index_page import IndexPage, index_html

_INLINE_SCRIPT: Final = re.compile(
    r"<script(?![^>]*\bsrc\s*=)[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE
)


def inline_script_hashes(html: str) -> tuple[str, ...]:
    """Return the CSP source (`'sha256-…'`) of each inline script of a page, in order."""
    digests = (hashlib.sha256(text.encode()).digest() for text in _INLINE_SCRIPT.findall(html))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


@lru_cache(maxsize=1)
def response_headers() -> dict[str, str]:
    """Return the headers for the installed Streamlit.

    The policy allows everything from this server alone, and no script but Streamlit's own, with the hashes of
    the inline scripts of the page. `blob:` in `script-src` is how Streamlit loads components given as text;
    WebAssembly is allowed for its table and chart code. `'self'` in `connect-src` covers the websocket, which
    has this server's host and port.
    """
    hashes = inline_script_hashes(index_html())
    directives = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *hashes]),
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
    return {
        "Content-Security-Policy": "; ".join(f"{name} {source}" for name, source in directives.items()),
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
    """Return the middleware that `app.py` passes to `streamlit.starlette.App`, the outermost first."""
    return [Middleware(SecurityHeaders), Middleware(OwnRequestsOnly), Middleware(IndexPage)]


# Refuse requests for another host and requests that another site's page sends, before Streamlit sees them.
#
# Streamlit checks the Origin of its websocket only. It accepts pages from other ports, and for an Origin that
# it does not know it looks up this machine's external address on the event loop: the server calls out, and
# every visitor waits for the answer. Here two headers are compared as text, for every path.

#: What this machine calls itself.
LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
#: A host as a browser writes it: in lower case, with nothing before it and no dot at its end.
_HOST: Final = re.compile(r"([a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?")
_USUAL_PORTS: Final = {"http": 80, "https": 443}
_METRICS: Final = ["_stcore", "metrics"]
_REFUSED: Final = "The dashboard answers only at its own address, and only to its own pages.\n"


class OwnRequestsOnly:
    """ASGI middleware: answer 403 to another host or another page, and 404 where metrics are asked for.

    The host is one of `LOOPBACK` with the server's own port, or a name in Streamlit's `server.allowedHosts`
    with any port, since the port of a proxy in front is not known here; `*` is every name. An Origin, if
    there is one, must be the scheme and exactly the host of the request: whatever the port, only a page that
    came from this dashboard is let in.

    A proxy has to pass Host unchanged, and X-Forwarded-Proto where browsers reach it over https.
    `server.corsAllowedOrigins` has no effect. Streamlit's metrics describe all sessions and are never served.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        names = (name.strip().lower().rstrip(".") for name in config.get_option("server.allowedHosts"))
        # As a Host header has them: an IPv6 address in brackets.
        self._names = tuple(f"[{name}]" if ":" in name and name[0] != "[" else name for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not is_own(scope, self._names):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close"})  # before it was accepted, which is answered with 403
            else:
                await PlainTextResponse(_REFUSED, 403)(scope, receive, send)
        elif [part for part in map(str.strip, scope["path"].split("/")) if part][-2:] == _METRICS:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_own(scope: Scope, names: Iterable[str]) -> bool:
    """Return whether a request asks for this server, by `names` too, and comes from its own page or none."""
    hosts, origins = (
        [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
        for name in (b"host", b"origin")
    )
    if len(hosts) != 1 or not scope["path"].startswith("/"):  # `GET http://other/ HTTP/1.1`
        return False
    host = hosts[0]
    scheme = scope["scheme"].replace("ws", "http")  # a websocket has that of its page
    port = (scope.get("server") or ("", None))[1]
    suffix = "" if port == _USUAL_PORTS.get(scheme) else f":{port}"
    is_here = port is not None and host in [name + suffix for name in LOOPBACK]  # no port: a Unix socket
    # By `names`, which may be `*` or begin with `*.`, a host goes whatever its port.
    found = _HOST.fullmatch(host)
    is_named = found is not None and any(
        name in ("*", found[1]) or (name.startswith("*.") and found[1].endswith(name[1:]))
        for name in names
        if name not in LOOPBACK
    )
    return (is_here or is_named) and origins in ([], [f"{scheme}://{host}"])
