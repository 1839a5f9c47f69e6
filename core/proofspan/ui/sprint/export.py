"""The whole record as a file: Markdown in the structure of the sprint plan, or the lines as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import orjson
import streamlit as st

from proofspan.journal.sprint import line_of
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.types import SprintRecord
from proofspan.ui.widgets.markup import clean
from proofspan.wording import counted


def _json_lines(record: SprintRecord) -> str:
    lines = (orjson.dumps(line_of(entry), option=orjson.OPT_SORT_KEYS).decode() for entry in record.entries)
    return "".join(f"{line}\n" for line in lines)


def _written(write: Callable[[SprintRecord], str], record: SprintRecord) -> bytes:
    return write(record).encode("utf-8", "replace")


#: Title → suffix, media type, and what writes the file.
_FILES: Mapping[str, tuple[str, str, Callable[[SprintRecord], str]]] = {
    "Markdown": ("md", "text/markdown", markdown_of),
    "JSON lines": ("jsonl", "application/x-ndjson", _json_lines),
}


def export_popover(manifest: Manifest, record: SprintRecord) -> None:
    """Draw a download of the whole record in each form, made when somebody asks for it."""
    kept = "".join(character if character.isalnum() else "-" for character in clean(manifest.name))[:60]
    stem = f"sprint-{kept}".rstrip("-")
    title = f"Export {counted(len(record.entries), 'entry', 'entries')}"
    with st.popover(title, key="export", disabled=not record.entries):
        for title, (suffix, mime, write) in _FILES.items():
            st.download_button(
                title,
                data=partial(_written, write, record),
                file_name=f"{stem}.{suffix}",
                mime=mime,
                key=f"export-{suffix}",
                icon=":material/download:",
                on_click="ignore",
                width="stretch",
            )
