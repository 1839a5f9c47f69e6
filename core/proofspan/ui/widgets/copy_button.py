"""Buttons that copy a text: a citation to be pasted, the address of the current view.

A component of our own, because only the browser can fill the clipboard.
"""

from __future__ import annotations

from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean


def show_copying(words: str, *, name: str, key: str, with_link: bool = True, shows_text: bool = True) -> None:
    """Draw a button "Copy NAME" that copies `words`, and `with_link` one that copies the page's address.

    Without `shows_text` the words are the button's tooltip, and appear where the browser refuses to copy
    them. `name` is ours: "citation", "chunk id". Without words there is only the other button.
    """
    data = {"text": clean(words), "name": name, "link": with_link, "shown": shows_text}
    component("ui/widgets/copy_button")(key=key, data=data, width="stretch" if shows_text else "content")
