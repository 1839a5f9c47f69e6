"""Values that a browser still shows because it has not drawn yet what the server replaced them with.

A request carries what every widget shows. Where a run has given a widget another value that the browser has
not drawn, Streamlit takes the difference for a choice of the reader and calls the widget's callback. Pressing
something on a page that is just being drawn would then choose the run that was left.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import _has_active_trigger_value
from streamlit.runtime.state import SessionState
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata

from proofspan.ui.visit.kept_messages import browser_session

#: Of each widget with a callback that is no button, by its id: what it last showed and was given since.
_shown: WeakKeyDictionary[AppSession, dict[str, list[Any]]] = WeakKeyDictionary()
#: Whether the request that is being read was sent for another reason than a widget's value.
_has_other_reason: ContextVar[bool] = ContextVar("has_other_reason", default=False)


@cache
def correct_stale_values() -> None:
    """Change Streamlit's class for this process, once: call no callback for what a widget showed before.

    Where a request has no other reason, such as a pressed button or a new value of another widget, somebody
    has chosen that value again.
    """
    call_now, changed_now = SessionState._call_callbacks, SessionState._widget_changed
    register_now = SessionState.register_widget

    def call_callbacks(self: SessionState, **kwargs: Any) -> None:
        shown = _shown_by_browser()
        for gone in shown.keys() - self._old_state.keys():
            del shown[gone]
        sent = self._current_interaction_widget_states
        is_other = any(
            _has_active_trigger_value(state) or (state.HasField("json_value") and changed_now(self, state.id))
            for state in (sent.widgets if sent is not None else ())
        ) or any(
            changed_now(self, name) and self._new_widget_state.get(name) not in values
            for name, values in shown.items()
        )
        before = _has_other_reason.set(is_other)
        try:
            call_now(self, **kwargs)
        finally:
            _has_other_reason.reset(before)

    def changed(self: SessionState, widget_id: str) -> bool:
        shown, value = _shown_by_browser(), self._new_widget_state.get(widget_id)
        is_earlier = value in shown.get(widget_id, ())
        if widget_id in shown:
            shown[widget_id] = [value]
        return changed_now(self, widget_id) and not (is_earlier and _has_other_reason.get())

    def register(
        self: SessionState, metadata: WidgetMetadata[Any], user_key: str | None
    ) -> RegisterWidgetResult[Any]:
        registered = register_now(self, metadata, user_key)
        if metadata.callback is not None and not metadata.value_type.endswith("trigger_value"):
            given = _shown_by_browser().setdefault(metadata.id, [])
            if registered.value not in given:
                given.append(registered.value)
        return registered

    SessionState._call_callbacks = call_callbacks  # type: ignore[method-assign]
    SessionState._widget_changed = changed  # type: ignore[method-assign]
    SessionState.register_widget = register  # type: ignore[method-assign]


def _shown_by_browser() -> dict[str, list[Any]]:
    context = get_script_run_ctx(suppress_warning=True)
    session = browser_session(context) if context is not None else None
    return _shown.setdefault(session, {}) if session is not None else {}
