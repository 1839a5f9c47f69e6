"""Call an ASGI application without a server."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from starlette.types import ASGIApp, Message, Scope


def scope_of(kind: str = "http", path: str = "/", **more: object) -> Scope:
    """Return a request to `localhost:8501`; `more` are other entries of its scope."""
    return {
        "type": kind,
        "method": "GET",
        "scheme": {"http": "http", "websocket": "ws"}[kind],
        "server": ("127.0.0.1", 8501),
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost:8501")],
        "subprotocols": [],
    } | more


def sent_by(app: ASGIApp, scope: Scope) -> list[Message]:
    """Return what `app` sends to a request without a body, or to a handshake that is closed then."""
    sent: list[Message] = []
    received = {
        "http": [{"type": "http.request", "body": b"", "more_body": False}],
        "websocket": [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}],
    }[scope["type"]]

    async def receive() -> Message:
        return received.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    # In a thread of its own: a browser test before this one may have left a running loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    return sent
