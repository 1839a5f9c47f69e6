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
from pathlib import Path
from typing import Final

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

_INLINE_SCRIPT: Final = re.compile(
    r"<script(?![^>]*\bsrc\s*=)[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE
)


def inline_script_hashes(html: str) -> tuple[str, ...]:
    """Return the CSP source (`'sha256-…'`) of each inline script of a page, in order."""
    digests = (hashlib.sha256(text.encode()).digest() for text in _INLINE_SCRIPT.findall(html))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def content_security_policy(script_hashes: Iterable[str]) -> str:
    """Return the policy: everything from this server alone, and no script but Streamlit's own.

    `blob:` in `script-src` is how Streamlit loads components given as text; WebAssembly is allowed for its
    table and chart code. `'self'` in `connect-src` covers the websocket, which has this server's host and
    port.
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
    """Return the headers for the installed Streamlit: the hash of its inline script is computed."""
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
    """Return the middleware that `app.py` passes to `streamlit.starlette.App`, the outermost first."""
    return [Middleware(SecurityHeaders), Middleware(OwnRequestsOnly)]


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
        self._names = tuple(map(_as_sent, config.get_option("server.allowedHosts")))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif not is_own(scope, self._names):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close"})  # before it was accepted, which is answered with 403
            else:
                await PlainTextResponse(_REFUSED, 403)(scope, receive, send)
        elif is_for_metrics(scope["path"]):
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_own(scope: Scope, names: Iterable[str]) -> bool:
    """Return whether a request asks for this server, by `names` too, and comes from its own page or none."""
    hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
    if len(hosts) != 1 or not scope["path"].startswith("/"):  # `GET http://other/ HTTP/1.1`
        return False
    host, scheme = hosts[0], _scheme(scope)
    is_here = host in _own_hosts(scope, scheme) or any(_is_named(host, name) for name in names)
    return is_here and origins in ([], [f"{scheme}://{host}"])


def is_for_metrics(path: str) -> bool:
    parts = [part for part in map(str.strip, path.split("/")) if part]
    return parts[-2:] == ["_stcore", "metrics"]


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _scheme(scope: Scope) -> str:
    """Return the scheme of the page; a websocket has that of its page."""
    scheme: str = scope["scheme"]
    return {"ws": "http", "wss": "https"}.get(scheme, scheme)


def _own_hosts(scope: Scope, scheme: str) -> list[str]:
    """Return `LOOPBACK` with the port that was connected to, which browsers leave out where it is usual."""
    port = (scope.get("server") or ("", None))[1]
    if port is None:  # a Unix socket
        return []
    return list(LOOPBACK) if port == _USUAL_PORTS.get(scheme) else [f"{name}:{port}" for name in LOOPBACK]


def _as_sent(name: str) -> str:
    """Return a name of `server.allowedHosts` as a Host header has it."""
    name = name.strip().lower().rstrip(".")
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _is_named(host: str, name: str) -> bool:
    """Return whether `host`, whatever its port, goes by `name`, which may be `*` or begin with `*.`."""
    found = _HOST.fullmatch(host)
    if found is None or name in LOOPBACK:
        return False
    return name in ("*", found[1]) or (name.startswith("*.") and found[1].endswith(name[1:]))
