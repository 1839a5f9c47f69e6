"""Each fragment has a container of its own, so that none is drawn over what follows it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element, Node

from tests.pages.conftest import packages_scanned_once

__all__ = ["packages_scanned_once"]


def script() -> None:
    import streamlit as st

    from proofspan.ui.status.fragments import fragment

    @fragment(run_every=60, place="clock")
    def clock(words: str) -> None:
        st.text(words)

    st.text("before")
    clock("ticks")
    st.text("after")


def texts_of(node: Node) -> list[object]:
    """The texts below a node, a list for each container."""
    assert isinstance(node, Block)
    return [
        str(child.value) if isinstance(child, Element) else texts_of(child)
        for child in node.children.values()
    ]


def test_a_fragment_is_alone_in_its_container() -> None:
    app = AppTest.from_function(script, default_timeout=60).run()
    assert not app.exception
    assert texts_of(app.main) == ["before", [["ticks"]], "after"]


def nested() -> None:
    import streamlit as st

    from proofspan.ui.status.fragments import fragment

    @fragment()
    def inner() -> None:
        st.text("alone")

    @fragment()
    def outer() -> None:
        try:
            inner()
        except RuntimeError as error:
            st.text(str(error))

    inner()
    outer()


def test_no_fragment_is_drawn_inside_another() -> None:
    app = AppTest.from_function(nested, default_timeout=60).run()
    assert [text.value for text in app.text] == ["alone", "the fragment inner is drawn inside another"]
