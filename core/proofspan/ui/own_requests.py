"""Refuse requests for another host and requests that another site's page sends, before Streamlit sees them.

Streamlit checks the Origin of its websocket only. It accepts pages from other ports, and for an Origin that
it does not know it looks up this machine's external address on the event loop: the server calls out, and
every visitor waits for the answer. Here two headers are compared as text, for every path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config

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
    """Return whether a path, below any `server.baseUrlPath`, may be that of Streamlit's metrics."""
    parts = [part for part in map(str.strip, path.split("/")) if part]
    return parts[-2:] == ["_stcore", "metrics"]


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _scheme(scope: Scope) -> str:
    """Return the scheme of a page's address: a websocket has that of the page too."""
    scheme: str = scope["scheme"]
    return {"ws": "http", "wss": "https"}.get(scheme, scheme)


def _own_hosts(scope: Scope, scheme: str) -> list[str]:
    """Return `LOOPBACK` with the port that was connected to, which browsers leave out where it is usual."""
    port = (scope.get("server") or ("", None))[1]
    if port is None:  # a Unix socket
        return []
    return list(LOOPBACK) if port == _USUAL_PORTS.get(scheme) else [f"{name}:{port}" for name in LOOPBACK]


def _as_sent(name: str) -> str:
    """Return a name of `server.allowedHosts` as it would stand in a Host header."""
    name = name.strip().lower().rstrip(".")
    return f"[{name}]" if ":" in name and not name.startswith("[") else name


def _is_named(host: str, name: str) -> bool:
    """Return whether `host`, whatever its port, goes by `name`, which may be `*` or begin with `*.`."""
    found = _HOST.fullmatch(host)
    if found is None or name in LOOPBACK:
        return False
    return name in ("*", found[1]) or (name.startswith("*.") and found[1].endswith(name[1:]))
