"""The Export menu: every row of what is shown as a file, made only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import streamlit as st

from proofspan.services.export import EXPORTS
from proofspan.services.rows import Export, Frames
from proofspan.ui.widgets.markup import clean
from proofspan.wording import counted


class Download(NamedTuple):
    """A file that the menu offers beside the rows: its title, suffix, media type, and what makes it."""

    title: str
    suffix: str
    mime: str
    write: Callable[[], bytes]


def export_menu(
    rows: Callable[[], Frames],
    *,
    matching: int,
    name: str,
    stem: str = "triage",
    exports: Mapping[str, Export] = EXPORTS,
    sets: Mapping[str, Download] | None = None,
) -> None:
    """Draw a download per kind of file. `rows` reads the filtered list in the download's own thread.

    The file is named after `stem` and `name`. `sets` are the same questions for other tools.
    """
    kept = "".join(character if character.isalnum() else "-" for character in clean(name))[:60].strip("-")
    file_name = f"{stem}-{kept}" if kept else stem

    def write(export: Export) -> bytes:
        return "".join(export.pieces(rows())).encode("utf-8", "replace")

    def offer(kind: str, each: Download) -> None:
        st.download_button(
            each.title,
            data=each.write,
            file_name=f"{file_name}.{each.suffix}",
            mime=each.mime,
            key=f"export-{kind}",
            icon=":material/download:",
            on_click="ignore",
            width="stretch",
        )

    with st.popover(f"Export {counted(matching, 'row')}", key="export", disabled=not matching):
        for kind, export in exports.items():
            offer(kind, Download(export.title, export.suffix, export.mime, partial(write, export)))
        if sets:
            st.caption("Sets for other tools")  # outside the app, where only Streamlit knows the theme
            for kind, each in sets.items():
                offer(kind, each)
