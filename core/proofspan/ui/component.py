"""Register the dashboard's own browser components from the files beside the code that uses them.

Streamlit counts HTML, CSS and scripts that hold line breaks as inline, so that nothing is fetched.
"""

from __future__ import annotations

from functools import cache

import streamlit as st

from proofspan.resources import PACKAGE, text_of


@cache
def component(
    path: str, *, css: tuple[str, ...] = (), scripts: tuple[str, ...] = ()
) -> st.components.v2.types.ComponentRenderer:
    """Return the component made of `path`.html, .css and .js where they exist; registered once a process.

    `css` and `scripts` name stylesheets and scripts that come before its own. Paths begin in the package:
    `ui/widgets/table`.
    """
    styles = (*css, *([f"{path}.css"] if (PACKAGE / f"{path}.css").exists() else []))
    html = text_of(f"{path}.html") if (PACKAGE / f"{path}.html").exists() else None
    return st.components.v2.component(
        "proofspan_" + path.replace("/", "_"),
        html=html,
        css="\n".join(map(text_of, styles)) or None,
        js="\n".join(map(text_of, (*scripts, f"{path}.js"))),
    )
