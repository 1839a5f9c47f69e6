"""The window of the speaker's notes: what is shown in another window, what is expected, what comes next.

It follows the presentation by messages within the browser and asks the server for nothing.
"""

from __future__ import annotations

from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean

KEY = "walk-speaker"


def show_speaker(presentation: str, *, about: str) -> None:
    """Draw the notes of the presentation with this id; `about` names workspace and run."""
    component("ui/walkthrough/speaker")(key=KEY, data={"id": presentation, "about": clean(about)})
