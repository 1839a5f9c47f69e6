"""Whether a place of a page has come into view, so that what is drawn there can wait until then."""

from __future__ import annotations

from proofspan.ui.component import component


def is_in_view(key: str) -> bool:
    """Return whether the place of this call has been in or near the window; the page runs again when it is.

    The element takes no room. Once seen, it stays seen until the page is left.
    """
    state = component("ui/widgets/in_view")(
        key=key, default={"seen": False}, on_seen_change=_nothing, height="content"
    )
    return state.get("seen") is True


def _nothing() -> None:
    """Do nothing: Streamlit keeps the state of a component that has a callback for it."""
