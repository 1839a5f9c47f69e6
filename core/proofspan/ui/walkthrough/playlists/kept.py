"""The playlists that a browser keeps: saved under a name, opened, renamed and removed in the Playlist menu.

They are one person's own and never reach the server; the address of one shares it. The browser stores them
for a workspace, so that the runs of a workspace share them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from proofspan.ui.component import component
from proofspan.ui.visit.view_state import MAX_CHARS, MAX_REPEATS, ViewState
from proofspan.ui.widgets import markup

#: Playlists that a browser keeps for a workspace, and characters of a name.
MOST, MAX_NAME = 50, 80


def show_kept(folder: str, view: ViewState, names: Sequence[str]) -> None:
    """Draw the saved playlists of the workspace in `folder`; `names` are the questions of the shown one.

    Without names the shown list cannot be saved: it is longer than an address may be.
    """
    address = view.without_filter().change(q=None, p=0, s=0, cite=None, chunk=None, page=None, end=False)
    data = {
        "workspace": hashlib.sha1(folder.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16],
        "address": address.link("walkthrough"),
        "name": markup.clean(view.name),
        "ids": list(names),
        "most": MOST,
        "mostChars": MAX_NAME,
        "mostIds": MAX_REPEATS,
        "mostIdChars": MAX_CHARS,
    }
    component("ui/walkthrough/playlists/kept", scripts=("ui/visit/links.js",))(key="playlist-kept", data=data)
