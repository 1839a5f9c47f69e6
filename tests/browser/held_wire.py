"""A page's websocket whose messages a test holds back."""

from __future__ import annotations

import time
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

#: Longer than a message takes on a busy machine.
WAIT_S = 120


class HeldWire:
    """The websocket of a page that is opened later, with messages that can be held back both ways."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._is_held = {"sent": False, "received": False}
        self._waiting: dict[str, list[str | bytes]] = {"sent": [], "received": []}
        self._to: dict[str, Callable[[str | bytes], None]] = {}
        self._held_from: Callable[[ForwardMsg], bool] | None = None
        page.route_web_socket("**/_stcore/stream", self._route)

    def hold(self) -> None:
        """Hold back every message from now on."""
        self._is_held = dict.fromkeys(self._is_held, True)

    def hold_from(self, is_first: Callable[[ForwardMsg], bool]) -> None:
        """Hold back what the page is sent from the next message on that `is_first` names."""
        self._held_from = is_first

    def release_sent(self) -> None:
        """Send what the page has sent so far, once there is something."""
        self._flush("sent")

    def wait_for_received(self, kind: str) -> None:
        """Wait until a message of this kind is held back from the page."""
        deadline = time.monotonic() + WAIT_S
        while not any(_kind(message) == kind for message in self._waiting["received"]):
            assert time.monotonic() < deadline, f"no {kind} came"
            self._page.wait_for_timeout(10)

    def release_received(self) -> None:
        """Let the page have what it was sent so far and from now on."""
        self._flush("received")
        self._is_held["received"] = False

    def release(self) -> None:
        """Send what the page has sent, and hold nothing back any more."""
        self._flush("sent")
        self._is_held["sent"] = False

    def _flush(self, way: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not self._waiting[way]:
            assert time.monotonic() < deadline, f"nothing was {way}"
            self._page.wait_for_timeout(10)
        while self._waiting[way]:
            self._to[way](self._waiting[way].pop(0))

    def _route(self, route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        self._to = {"sent": server.send, "received": route.send}
        route.on_message(lambda message: self._pass("sent", message))
        server.on_message(lambda message: self._pass("received", message))

    def _pass(self, way: str, message: str | bytes) -> None:
        is_watched = way == "received" and isinstance(message, bytes)
        if is_watched and self._held_from and self._held_from(ForwardMsg.FromString(message)):
            self._is_held[way], self._held_from = True, None
        if self._is_held[way]:
            self._waiting[way].append(message)
        else:
            self._to[way](message)


def _kind(message: str | bytes) -> str | None:
    return ForwardMsg.FromString(message).WhichOneof("type") if isinstance(message, bytes) else None
