"""Following a link of ours inside the dashboard: the visit goes on, without the page being loaded anew."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import streamlit as st

from proofspan.ui.shell import PAGES


def script_of(address: str) -> str | None:
    """The script of the page that a relative address (`./question?…`) shows; None where there is none."""
    path = urlsplit(address).path.removeprefix("./")
    return next(
        (script for group in PAGES.values() for script, _, url_path in group if url_path == path), None
    )


def follow(address: str) -> None:
    """Shows what an address as `ViewState.link` makes it names. The page stays where there is none."""
    script = script_of(address)
    if script is not None:
        st.switch_page(script, query_params=parse_qs(urlsplit(address).query, keep_blank_values=True))
