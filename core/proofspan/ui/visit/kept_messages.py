"""Messages that the browser keeps, and that the server then only names: no older than the browser keeps them.

A request for a run names what the browser keeps, and the run names of that what it would send again. But the
browser drops what no run has used for a while whenever one ends, and a request that waits for the end of
another run is then out of date. A message that is named and not there ends the connection: what was clicked
is lost until it is made again, which may take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from streamlit import config, runtime
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext


@dataclass(frozen=True, slots=True)
class _Sent:
    """When a message was sent last: how many runs there were, and how many of the whole page."""

    runs: int
    pages: int
    is_of_part: bool


@dataclass(slots=True)
class Kept:
    """The messages that a browser certainly keeps, by how many runs ago they were sent."""

    most: int
    _runs: int = 0
    _pages: int = 0
    _sent: dict[str, _Sent] = field(default_factory=dict)

    def begin(self, *, is_part: bool) -> None:
        """Note that a run of the page, or of a part of it, begins."""
        self._runs += 1
        self._pages += not is_part
        self._sent = {name: sent for name, sent in self._sent.items() if self._is_there(sent)}

    def send(self, name: str, *, is_of_part: bool) -> None:
        """Note that a message is sent, or named, in this run."""
        self._sent[name] = _Sent(self._runs, self._pages, is_of_part)

    def of(self, names: frozenset[str]) -> frozenset[str]:
        """Return which of these messages are still there."""
        return names & self._sent.keys()

    def _is_there(self, sent: _Sent) -> bool:
        # The end of a part's run takes only messages of that part away.
        is_of_last_page = not sent.is_of_part and self._pages - sent.pages <= 1
        return self._runs - sent.runs <= self.most or is_of_last_page


_kept: WeakKeyDictionary[AppSession, Kept] = WeakKeyDictionary()


def browser_session(context: ScriptRunContext) -> AppSession | None:
    """Return the session of the browser that a run is for; None outside of the server."""
    session = runtime.get_instance().get_app_session(context.session_id) if runtime.exists() else None
    return session if isinstance(session, AppSession) else None


def _kept_by(context: ScriptRunContext) -> Kept | None:
    if (session := browser_session(context)) is None:
        return None
    if session not in _kept:
        _kept[session] = Kept(int(config.get_option("global.maxCachedMessageAge")))
    return _kept[session]


@cache
def correct_kept_messages() -> None:
    """Change Streamlit's class for this process, once, to name only what is still there."""
    reset_now, enqueue_now = ScriptRunContext.reset, ScriptRunContext.enqueue

    def reset(self: ScriptRunContext, *args: Any, **kwargs: Any) -> None:
        reset_now(self, *args, **kwargs)
        if (kept := _kept_by(self)) is not None:
            kept.begin(is_part=bool(self.fragment_ids_this_run))
            self.cached_message_hashes = kept.of(self.cached_message_hashes)

    def enqueue(self: ScriptRunContext, msg: ForwardMsg) -> None:
        enqueue_now(self, msg)
        if msg.metadata.cacheable and msg.hash and (kept := _kept_by(self)) is not None:
            kept.send(msg.hash, is_of_part=bool(msg.delta.fragment_id))

    ScriptRunContext.reset = reset  # type: ignore[method-assign]
    ScriptRunContext.enqueue = enqueue  # type: ignore[method-assign]
