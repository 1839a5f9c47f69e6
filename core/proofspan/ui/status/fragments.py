"""Parts of a page that run again by themselves, each in a container of its own.

Streamlit sends what a fragment drew in a full run only if the fragment's own next run has not begun
meanwhile. Where it has, the browser takes the fragment's old elements away at the end of the full run, moves
those after them up, and then draws the fragment over the first of them. In a container with nothing else
there is no such element.

A fragment inside another is sent without the container that the outer one drew for it, and the browser gives
up the whole page over that. So fragments are never nested.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec
from weakref import ReferenceType, WeakKeyDictionary, WeakSet, ref

import streamlit as st
from streamlit import runtime
from streamlit.delta_generator_singletons import context_dg_stack, get_dg_singleton_instance
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequests,
    ScriptRequestType,
    _is_full_app_rerun,
)
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    RunLocation,
    ScriptRunContext,
    ThreadState,
)

from proofspan.services.workspace.changes import Changes
from proofspan.ui.visit.kept_messages import browser_session

P = ParamSpec("P")

_is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)


def fragment(
    *, run_every: float | None = None, place: str | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorate a function like `st.fragment`: it runs again alone, every `run_every` seconds if given.

    `place` is the key of its container, for a stylesheet. Raises RuntimeError where it is drawn inside
    another fragment.
    """
    correct_fragment_requests()

    def decorated(function: Callable[P, None]) -> Callable[P, None]:
        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> None:
            before = _is_inside.set(True)
            try:
                function(*args, **kwargs)
            finally:
                _is_inside.reset(before)

        drawn = st.fragment(inside, run_every=run_every)  # noqa: TID251

        @wraps(function)
        def in_its_place(*args: P.args, **kwargs: P.kwargs) -> None:
            if _is_inside.get():
                raise RuntimeError(f"the fragment {function.__name__} is drawn inside another")
            with st.container(key=place):
                drawn(*args, **kwargs)

        return in_its_place

    return decorated


# A page that runs again when something elsewhere has happened, without asking for it over and over.


#: Seconds from a run of a fragment that was woken to the next.
PART_S = 0.5


class _Woken(NamedTuple):
    """A page to run again, by Streamlit's hash of it, for one of its fragments, or that fragment alone."""

    page: str
    fragment_id: str
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Waker:
    """Runs a waiting fragment, named by its session and itself, or its page. Thread-safe.

    It runs as soon as the session is at rest, unless the fragment is gone by then, or the reader has left the
    page or the dashboard; where the connection broke off, as soon as it is there again.
    """

    name: tuple[str, str]
    _session: ReferenceType[AppSession]
    _page: str
    _drawn: float

    def wake(self) -> None:
        """Run the page."""
        self._wake(_Woken(self._page, self.name[1]), 0.0)

    def wake_part(self, after: float = PART_S) -> None:
        """Run the fragment alone, not before `after` seconds from its last run."""
        self._wake(_Woken(self._page, self.name[1], is_alone=True), self._drawn + after)

    def _wake(self, woken: _Woken, not_before: float) -> None:
        if (session := self._session()) is not None:
            with suppress(RuntimeError):  # the server has ended
                session._event_loop.call_soon_threadsafe(_wake_at, self._session, woken, not_before)


def waker() -> Waker | None:
    """Return the waker of the fragment that is being drawn; None outside of a browser's session."""
    context = get_script_run_ctx(suppress_warning=True)
    session = browser_session(context) if context is not None else None
    fragment_id = ThreadState.get().fragment_id
    if context is None or session is None or fragment_id is None:
        return None
    name = (context.session_id, fragment_id)
    return Waker(name, ref(session), context.page_script_hash, time.monotonic())


def run_again_after(changes: Changes, seen: int) -> None:
    """Have the fragment that is being drawn run again, alone, at the next change after the `seen` first."""
    if (found := waker()) is not None:
        changes.at_next(found.name, seen, found.wake_part)


def _wake_at(known: ReferenceType[AppSession], woken: _Woken, not_before: float) -> None:
    if (session := known()) is not None:
        wait = max(0.0, not_before - time.monotonic())
        session._event_loop.call_later(wait, _wake, known, woken)


def _wake(known: ReferenceType[AppSession], woken: _Woken) -> None:
    """Run what is woken. While a run is under way nobody knows which page is shown."""
    session = known()
    if session is None or session._state == AppSessionState.SHUTDOWN_REQUESTED:
        return
    asked = _sessions.setdefault(session, _Asked())
    if session._scriptrunner is not None or asked.waiting:
        session._event_loop.call_later(_LOOK_AGAIN_S, _wake, known, woken)
        return
    state = session._client_state
    if not session.has_fragment(woken.fragment_id) or state.page_script_hash != woken.page:
        return
    if not runtime.get_instance().is_active_session(session.id):
        asked.missed.add(woken)
        return
    session._create_scriptrunner(
        RerunData(
            query_string=state.query_string,
            # Without any, Streamlit would also send again what the last runs gave to widgets, and the browser
            # would overwrite what somebody has typed meanwhile.
            widget_states=WidgetStates(),
            page_script_hash=woken.page,
            fragment_id=woken.fragment_id if woken.is_alone else None,
            is_auto_rerun=woken.is_alone,
            context_info=state.context_info if state.HasField("context_info") else None,
        )
    )


# Eight faults in how Streamlit runs fragments and pages, corrected.
#
# Each needs a request at an unlucky moment, which a busy machine has often:
#
# - It comes just as a run of the page ends. Streamlit then starts another script runner and drops what the
#   ended one had drawn and not yet sent: a click was answered, and its answer is never shown. Here a new
#   runner waits until all messages of the ended one are on their way.
# - It comes from a page that the reader has just left. Streamlit then announces a run of the old page, and
#   the browser takes the new page's content away, or it runs the old page again. Here such a request is
#   ignored.
# - It ends just as the page is asked for. The page's run follows in the same thread and draws inside the
#   fragment, until the browser cannot place an element and gives up the whole page. Here every run begins
#   at the top of the page.
# - It calls `st.rerun` just after the reader asked for another page. Streamlit then runs the old page and
#   forgets the new one. Here the reader's request stays as it is: the whole page runs anyway.
# - The reader asks for another page, and before that page's run is announced to the browser, a component of
#   the page that is still shown asks for a run of it (what came into view, for instance). Streamlit then
#   runs the old page and forgets the new one; after Back, under the new one's address. Here such a request is
#   ignored.
# - It comes while a widget's callback runs. Streamlit then ends the callback at the first message that it
#   sends, the new address for instance, and does not call it again: a choice, or half of what was to be
#   saved, is lost. Here a callback runs to its end.
# - It is a press in a fragment that the page has just been drawn without. Streamlit then drops the press, or
#   calls its callback and draws nothing. Here the page runs for it.
# - It comes while the script answers the press of a button without a callback. Streamlit then ends the
#   script, and the press with it. Here that run goes on to its end, or to its own `st.rerun`.

#: How long a new runner waits before it looks again whether the one before it has ended.
_LOOK_AGAIN_S = 0.005


@dataclass(slots=True)
class _Asked:
    #: The page of the run that was announced to the browser last; hashes of Streamlit's.
    announced: str | None = None
    #: The page that the reader asked for last, while no run of another page than the one left is announced.
    awaited: str | None = None
    #: The page that was shown before that.
    left: str | None = None
    #: Runs that wait for the end of a script runner, the oldest first.
    waiting: list[RerunData] = field(default_factory=list)
    #: What was woken while the browser was not connected.
    missed: set[_Woken] = field(default_factory=set)


_sessions: WeakKeyDictionary[AppSession, _Asked] = WeakKeyDictionary()


@cache
def correct_fragment_requests() -> None:
    """Change Streamlit's classes for this process, once, to correct these faults."""
    request_now = AppSession.request_rerun
    announce_now = AppSession._create_new_session_message
    create_now = AppSession._create_scriptrunner
    connected_now = AppSession.register_file_watchers
    reset_now = ScriptRunContext.reset
    merge_now = ScriptRequests._request_rerun_locked
    yield_now = ScriptRunner._maybe_handle_execution_control_request
    run_now = ScriptRunner._run_script
    #: Of the scripts that have asked for a run themselves, and go on until they notice.
    ended: WeakSet[ScriptRequests] = WeakSet()

    def request_rerun(self: AppSession, client_state: ClientState | None) -> None:
        asked = _sessions.setdefault(self, _Asked())
        page = client_state.page_script_hash if client_state is not None else ""
        # Known where no run is under way: a run may turn out to show another page than was asked for.
        shown = self._client_state.page_script_hash if self._scriptrunner is None else None
        if client_state is not None and client_state.fragment_id:
            if page == asked.left != shown:
                return
            is_press = (
                not client_state.is_auto_rerun and page in (asked.announced, shown) and not asked.awaited
            )
            if is_press and not self.has_fragment(client_state.fragment_id):
                client_state.fragment_id = ""
        elif client_state is not None and page and page != (asked.awaited or asked.announced):
            if asked.awaited and page == asked.left and not client_state.is_history_navigation:
                return
            before = asked.announced or shown or asked.awaited
            if before != page:  # the first run of a page is not announced by its hash
                asked.left, asked.awaited = before, page
        request_now(self, client_state)

    def announce(self: AppSession, page_script_hash: str, *args: Any, **kwargs: Any) -> ForwardMsg:
        asked = _sessions.setdefault(self, _Asked())
        # The first run is announced before anyone knows its page, by the script's own hash.
        is_known = page_script_hash != self._pages_manager.main_script_hash
        asked.announced = page_script_hash if is_known else None
        if page_script_hash != asked.left:
            asked.awaited = None
        return announce_now(self, page_script_hash, *args, **kwargs)

    def create_scriptrunner(self: AppSession, initial_rerun_data: RerunData) -> None:
        waiting = _sessions.setdefault(self, _Asked()).waiting
        if self._scriptrunner is None and not waiting:
            create_now(self, initial_rerun_data)
            return
        waiting.append(initial_rerun_data)
        if len(waiting) == 1:
            self._event_loop.call_soon(begin_waiting, self, waiting)

    def request_run(session: AppSession, request: RerunData) -> None:
        runner = session._scriptrunner
        if runner is None or not runner.request_rerun(request):
            create_scriptrunner(session, request)

    def begin_waiting(self: AppSession, waiting: list[RerunData]) -> None:
        if self._state == AppSessionState.SHUTDOWN_REQUESTED:
            waiting.clear()
        elif self._scriptrunner is not None:
            self._event_loop.call_later(_LOOK_AGAIN_S, begin_waiting, self, waiting)
        else:
            first, *others = waiting
            waiting.clear()
            create_now(self, first)
            for request in others:
                request_run(self, request)

    def connected(self: AppSession) -> None:
        """Run what was woken meanwhile: Streamlit calls this for each new connection of a session."""
        connected_now(self)
        asked = _sessions.setdefault(self, _Asked())
        for woken in asked.missed:
            self._event_loop.call_soon(_wake, ref(self), woken)
        asked.missed.clear()

    def reset(self: ScriptRunContext, *args: Any, **kwargs: Any) -> None:
        context_dg_stack.set((get_dg_singleton_instance().main_dg,))
        reset_now(self, *args, **kwargs)

    def merge(self: ScriptRequests, new_data: RerunData) -> bool:
        if new_data.widget_states is None:  # from the script
            ended.add(self)
            waiting = self._rerun_data
            is_readers = waiting.widget_states is not None and _is_full_app_rerun(waiting)
            if self._state == ScriptRequestType.RERUN and is_readers:
                return True
        return merge_now(self, new_data)

    def yield_to_request(self: ScriptRunner) -> None:
        if self._execing and self._is_in_script_thread():
            has_ended = self._requests in ended
            ended.discard(self._requests)
            if ThreadState.get().run_location is RunLocation.CALLBACK:
                return
            if self._requests._state is ScriptRequestType.RERUN and not has_ended and is_answering(self):
                return
        yield_now(self)

    def is_answering(runner: ScriptRunner) -> bool:
        """Return whether a button was pressed that has no callback."""
        states = runner._session_state._state._new_widget_state
        return any(
            metadata.value_type == "trigger_value" and metadata.callback is None and states.get(widget)
            for widget, metadata in states.widget_metadata.items()
        )

    def run_script(self: ScriptRunner, rerun_data: RerunData) -> None:
        asked_for, known = rerun_data.fragment_id_queue, self._fragment_storage
        if not rerun_data.is_auto_rerun and not all(map(known.contains, asked_for)):
            rerun_data = replace(rerun_data, fragment_id_queue=[], is_fragment_scoped_rerun=False)
        run_now(self, rerun_data)

    ScriptRunner._run_script = run_script  # type: ignore[method-assign]
    ScriptRunner._maybe_handle_execution_control_request = yield_to_request  # type: ignore[method-assign]
    AppSession.register_file_watchers = connected  # type: ignore[method-assign]
    ScriptRequests._request_rerun_locked = merge  # type: ignore[method-assign]
    ScriptRunContext.reset = reset  # type: ignore[method-assign]
    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    AppSession._create_new_session_message = announce  # type: ignore[method-assign]
    AppSession._create_scriptrunner = create_scriptrunner  # type: ignore[method-assign]
