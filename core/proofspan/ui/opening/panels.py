"""The page that opens what other tools and model APIs write: uploaded, or by a path on this machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from proofspan.errors import Fault
from proofspan.manifest.load import load_manifest
from proofspan.services.opening import summary as summaries
from proofspan.services.opening.first_finding import first_finding
from proofspan.services.opening.make import Choices, made
from proofspan.services.opening.place import opened_folder
from proofspan.services.opening.things import is_workspace, things_of
from proofspan.services.opening.uploads import MOST_FILES, MOST_MEGABYTES, named_path, open_from, put
from proofspan.traces.formats.types import PageBase
from proofspan.traces.registry import formats
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, read_view, write_view
from proofspan.ui.widgets import markup

#: The ways in which a source may count pages, where it does not say so.
_BASES: dict[str, PageBase | None] = {"look at the pages": None, "from 0": 0, "from 1": 1}
_FAILED = "opening:failed"


def heading() -> None:
    """Draw the title, and which formats are opened."""
    markup.page_title("Open your data")
    names = sorted((each.title for each in formats()), key=str.casefold)
    markup.note(
        f"Traces, exports and responses in {len(names)} formats, recognized by their content. "
        "Add the PDFs that the answers are about.",
        "muted",
    )
    with st.expander("Which formats"):
        markup.note(", ".join(names))
    fault_panel(st.session_state.pop(_FAILED, ()))


def upload_form() -> None:
    """Draw the form for files, and open what was chosen."""
    with st.form("upload", border=True):
        files = st.file_uploader(
            "Traces, exports or responses, and PDFs",
            accept_multiple_files=True,
            max_upload_size=MOST_MEGABYTES,
            key="opening-files",
        )
        base = st.radio(
            "If a source does not say how it counts pages", list(_BASES), horizontal=True, key="opening-base"
        )
        is_sent = st.form_submit_button("Open files", type="primary", key="opening-upload")
    if not is_sent:
        return
    if not files or len(files) > MOST_FILES:
        markup.note(f"Choose between 1 and {MOST_FILES} files.", "strong")
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = put(((each.name, each.getvalue()) for each in files), Path(folder))
        _open(paths, _BASES[base], uploaded_to=folder)


def path_form() -> None:
    """Draw the form for a path, where this dashboard may read files of this machine."""
    folder = open_from()
    if folder is None:
        return
    with st.form("path", border=True):
        text = st.text_input(
            "Or a file or folder on this machine", placeholder=markup.clean(str(folder)), key="opening-path"
        )
        is_sent = st.form_submit_button("Open path", key="opening-by-path")
    if is_sent and text.strip():
        try:
            path = named_path(text, folder)
        except Fault as fault:
            fault_panel(fault.problems)
        else:
            _open([path], None)


def _open(things: Sequence[Path], base: PageBase | None, *, uploaded_to: str | None = None) -> None:
    """Make the workspace of these and show it from now on; a problem is shown above the forms.

    The folder of uploads says nothing to a reader, so problems leave it out.
    """
    if any(map(is_workspace, things)):
        markup.note("This is a workspace. Open it from the command line: proofspan open FOLDER", "strong")
        return
    cache = session.cache_dir().path
    try:
        with st.spinner("Reading the files …"):
            place = st.empty()

            def show(doing: str, done: int, total: int | None) -> None:
                place.progress(done / total if total else 0.0, text=markup.label(doing, limit=200))

            choices = Choices(page_base=base, on_progress=show)
            result = made(things_of(things), to=None, cache_dir=cache, choices=choices)
            manifest = load_manifest(result.workspace)
            first_finding(
                manifest,
                cache_dir=cache,
                on_progress=lambda step: show(f"indexing {manifest.name}", step.done, step.total),
            )
    except Fault as fault:
        problems = list(fault.problems)
        if uploaded_to is not None:
            problems = [
                replace(each, where=each.where.replace(uploaded_to + os.sep, "")) for each in problems
            ]
        st.session_state[_FAILED] = problems
    else:
        write_view(ViewState(opened=result.summary.key))
    st.rerun()


def opened_before() -> None:
    """Draw the summary of what is shown, and the link to its first finding."""
    view, cache = read_view(), session.cache_dir().path
    if view.opened is None:
        return
    folder = opened_folder(view.opened, cache)
    summary = summaries.read(folder)
    with st.container(border=True, key="opened"):
        markup.note("Opened", "h2", role="line")
        for line in summaries.lines_of(summary, lists_all=True) if summary else ():
            markup.note(line)
        first = session.cached(
            "first finding", str(folder), lambda: first_finding(load_manifest(folder), cache_dir=cache)
        )
        if first:
            shown = {"opened": view.opened, **first}
            st.page_link("pages/question.py", label="Show the first finding", query_params=shown)
        all_of = {"opened": view.opened}
        st.page_link("pages/triage.py", label="Show all questions", query_params=all_of)
