"""Visitors of a Streamlit page without a browser: sessions that speak its protocol, many in one process."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

#: Nothing takes that long unless it hangs.
RUN_SECONDS = 120


@dataclass
class Visit:
    """One open page: it asks for runs as a browser does, and again where the page asks for that.

    `received` are bytes, `errors` the exceptions that the page showed, `looks` the runs that a part of the
    page asked for by itself.
    """

    connection: ClientConnection
    received: int = 0
    looks: int = 0
    errors: list[str] = field(default_factory=list)
    #: Streamlit's hash of each page by its path.
    pages: dict[str, str] = field(default_factory=dict)
    #: The ids of the page's components and buttons by the key that the script gave them.
    widgets: dict[str, str] = field(default_factory=dict)
    _page: str = ""
    _query: str = ""
    _ended: asyncio.Event = field(default_factory=asyncio.Event)
    _timers: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def go(self, path: str, query: str = "") -> float:
        """Follow a link inside the dashboard, or open the first page; return seconds until the run ended."""
        page = self.pages.get(path, "")
        self._query = query
        return await self._ask(page, path, is_link=bool(page))

    async def choose(self, key: str, event: str, value: object) -> float:
        """Send a component's event, such as a chosen row; return seconds until the run has ended."""
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"{self.widgets[key]}__events"
        state.json_trigger_value = orjson.dumps([{"event": event, "value": value}]).decode()
        return await self._ask(self._page, "", message=message)

    async def press(self, key: str) -> float:
        """Press a button; return seconds until the run has ended."""
        message = BackMsg()
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = self.widgets[key], True
        return await self._ask(self._page, "", message=message)

    async def _ask(
        self, page: str, path: str, *, is_link: bool = False, message: BackMsg | None = None
    ) -> float:
        message = message or BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash = self._query, page
        asked.page_name = path if not page else ""
        asked.is_history_navigation = is_link
        self._ended.clear()
        started = time.monotonic()
        await self.connection.send(message.SerializeToString())
        await asyncio.wait_for(self._ended.wait(), RUN_SECONDS)
        return time.monotonic() - started

    async def listen(self) -> None:
        """Receive what the server sends until the connection ends."""
        async for data in self.connection:
            assert isinstance(data, bytes)
            self.received += len(data)
            self._receive(ForwardMsg.FromString(data))

    def _receive(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            if not message.metadata.run.fragment_ids:
                self._page = message.new_session.page_script_hash
                for timer in self._timers.values():
                    timer.cancel()
                self._timers.clear()
        elif kind == "navigation":
            self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
            self._page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            asked = message.auto_rerun
            if asked.fragment_id not in self._timers:
                self._timers[asked.fragment_id] = asyncio.create_task(self._again(asked))
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self._ended.set()
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._element(message.delta.new_element)

    def _element(self, element: Any) -> None:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind in ("bidi_component", "button"):
            widget = getattr(element, kind).id  # `$$ID-HASH-KEY`
            self.widgets[widget.split("-", 2)[-1]] = widget

    async def _again(self, asked: Any) -> None:
        while True:
            await asyncio.sleep(asked.interval)
            message = BackMsg()
            again = message.rerun_script
            again.query_string, again.page_script_hash = self._query, self._page
            again.fragment_id, again.is_auto_rerun = asked.fragment_id, True
            self.looks += 1
            await self.connection.send(message.SerializeToString())


@asynccontextmanager
async def visit(url: str) -> AsyncIterator[Visit]:
    """Connect to the server at `url` as a new browser tab; it leaves at the end of the block."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    async with connect(
        address, max_size=None, subprotocols=[Subprotocol("streamlit")], origin=Origin(url)
    ) as connection:
        visitor = Visit(connection)
        listening = asyncio.create_task(visitor.listen())
        try:
            yield visitor
        finally:
            for timer in visitor._timers.values():
                timer.cancel()
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listening


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process so far, all its threads, also those that have ended; Linux only."""
    return time.clock_gettime((~pid) << 3 | 2)
