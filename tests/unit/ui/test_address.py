"""A request that was on its way when the address changed must not undo the change."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from proofspan.ui.visit import query_params
from tests.pages.conftest import packages_scanned_once

__all__ = ["packages_scanned_once"]


def script() -> None:
    """Shows its address, and has a button for each of two addresses."""
    import streamlit as st

    from proofspan.ui.visit import query_params

    def go(to: str) -> None:
        query_params.write({**query_params.read(), "cite": [to]})

    for to in ("1", "2"):
        st.button(to, key=to, on_click=go, args=(to,))
    st.text(str(query_params.read()))


def shown(app: AppTest) -> str:
    assert not app.exception
    return str(app.text[0].value)


@pytest.fixture
def app() -> AppTest:
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params["q"] = "Q1"
    return app.run()


def asks_with(app: AppTest, **params: str) -> AppTest:
    """A run whose browser still has another address in its bar."""
    app.query_params.clear()
    for name, value in params.items():
        app.query_params[name] = value
    return app.run()


def test_a_request_from_before_sees_the_new_address(app: AppTest) -> None:
    app.button("2").click().run()
    assert shown(asks_with(app, q="Q1")) == "{'cite': ['2'], 'q': ['Q1']}"
    assert app.query_params["cite"] == "2"


def test_so_it_does_after_several_changes(app: AppTest) -> None:
    app.button("1").click().run()
    app.button("2").click().run()
    for old in ({"q": "Q1"}, {"q": "Q1", "cite": "1"}):
        assert shown(asks_with(app, **old)) == "{'cite': ['2'], 'q': ['Q1']}"


def test_a_second_click_from_before_adds_to_the_first(app: AppTest) -> None:
    app.button("1").click().run()
    app.query_params.clear()
    app.query_params["q"] = "Q1"
    app.button("2").click().run()
    assert shown(app) == "{'cite': ['2'], 'q': ['Q1']}"


def test_there_and_back_again_is_here(app: AppTest) -> None:
    for to in ("1", "2", "1"):
        app.button(to).click().run()
    assert shown(asks_with(app, q="Q1", cite="1")) == "{'cite': ['1'], 'q': ['Q1']}"
    assert shown(asks_with(app, q="Q1", cite="2")) == "{'cite': ['1'], 'q': ['Q1']}"


def test_an_address_never_left_is_the_browsers_own(app: AppTest) -> None:
    app.button("2").click().run()
    assert shown(asks_with(app, q="Q7")) == "{'q': ['Q7']}"


def test_so_it_does_after_a_run_that_took_long(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a fragment's request waits for the run before it."""
    app.button("2").click().run()
    monkeypatch.setattr(query_params, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 30))
    assert shown(asks_with(app, q="Q1")) == "{'cite': ['2'], 'q': ['Q1']}"


def test_later_the_browser_knows_best(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    app.button("2").click().run()
    monkeypatch.setattr(query_params, "LATE_S", -1.0)
    assert shown(asks_with(app, q="Q1")) == "{'q': ['Q1']}"


def test_who_goes_back_is_back_for_good(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    app.button("2").click().run()

    def context(**options: bool) -> ScriptRunContext | None:
        """As in a run that the browser's own Back asks for."""
        context = get_script_run_ctx(**options)
        if context is not None:
            context.is_history_navigation = True
        return context

    with monkeypatch.context() as went_back:
        went_back.setattr(query_params, "get_script_run_ctx", context)
        assert shown(asks_with(app, q="Q1")) == "{'q': ['Q1']}"
    assert shown(app.run()) == "{'q': ['Q1']}"
    app.button("1").click().run()
    assert shown(app) == "{'cite': ['1'], 'q': ['Q1']}"
