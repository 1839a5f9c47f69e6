"""The Export menu: every row of what is shown as a file, made only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from proofspan.services.export import EXPORTS
from proofspan.services.rows import Export, Frames
from proofspan.ui.widgets.markup import clean
from proofspan.wording import counted


def export_menu(
    rows: Callable[[], Frames],
    *,
    matching: int,
    name: str,
    stem: str = "triage",
    exports: Mapping[str, Export] = EXPORTS,
) -> None:
    """Draw a download per kind of file. `rows` reads the filtered list in the download's own thread.

    The file is named after `stem` and `name`.
    """
    kept = "".join(character if character.isalnum() else "-" for character in clean(name))[:60].strip("-")
    file_name = f"{stem}-{kept}" if kept else stem

    def write(export: Export) -> bytes:
        return "".join(export.pieces(rows())).encode("utf-8", "replace")

    with st.popover(f"Export {counted(matching, 'row')}", key="export", disabled=not matching):
        for kind, export in exports.items():
            st.download_button(
                export.title,
                data=partial(write, export),
                file_name=f"{file_name}.{export.suffix}",
                mime=export.mime,
                key=f"export-{kind}",
                icon=":material/download:",
                on_click="ignore",
                width="stretch",
            )
