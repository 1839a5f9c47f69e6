"""A browser that draws a widget late, from what a second run sent, begins with the address's value."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import packages_scanned_once

__all__ = ["packages_scanned_once"]


def script() -> None:
    import streamlit as st

    from proofspan.ui.widgets.controls import begin, feed, search_field

    feed("run", "R2")
    st.selectbox("Run", ["R1", "R2"], key="run")
    st.multiselect("Labels", ["ok", "bad"], begin("labels", ["ok"]), key="labels")
    search_field("Search", key="search", value="oil", placeholder="", width=200, on_search=print)


def test_what_any_run_sends_says_the_value() -> None:
    app = AppTest.from_function(script, default_timeout=60)
    for _ in range(3):
        app.run()
        run, labels, search = app.selectbox("run"), app.multiselect("labels"), app.text_input("search")
        assert (run.value, labels.value, search.value) == ("R2", ["ok"], "oil")
        assert run.proto.set_value
        assert labels.proto.set_value or [labels.options[at] for at in labels.proto.default] == ["ok"]
        assert search.proto.set_value or search.proto.default == "oil"


def test_what_somebody_is_typing_or_picking_is_not_overwritten() -> None:
    app = AppTest.from_function(script, default_timeout=60).run().run()
    assert not app.multiselect("labels").proto.set_value
    assert not app.text_input("search").proto.set_value
