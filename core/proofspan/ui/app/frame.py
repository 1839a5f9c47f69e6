"""Where the keyboard is: on the heading of a page that was just opened, and past the filters on request."""

from __future__ import annotations

from proofspan.ui.component import component


def show_frame(page: str) -> None:
    """Mount the component that moves the focus, once a page; `page` is its address."""
    component("ui/app/frame")(key="frame", data={"page": page})
