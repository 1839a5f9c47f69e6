"""Save a what-if as a run of its own: its name, what is written, and the way to it afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from proofspan.errors import Fault, Problem
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.types import Manifest
from proofspan.services.derived_runs import RUN_ID
from proofspan.services.whatif.save import save
from proofspan.services.whatif.types import WhatIf
from proofspan.store.query.store import Store
from proofspan.ui.status import notices
from proofspan.ui.visit import session
from proofspan.ui.whatif.asked import Asked, change_asked
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording import whatif
from proofspan.wording import counted

MAX_TITLE = 200


def saved(opened: session.Opened, asked: Asked) -> None:
    """Draw the links to the run that was saved last, once the manifest names it."""
    view, run_id = opened.view, asked.saved
    if not run_id or opened.manifest.run(run_id) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="saved"):
        markup.show(
            markup.text([Piece("✓ Saved", "pass"), Piece(f" as the run {run_id}.")], role="line"),
            width="content",
        )
        there = view.as_list().without_filter().change(run=run_id, vs=view.run, what_if=())
        st.page_link(
            "pages/compare.py",
            label=markup.label(f"Compare {run_id} with {view.run}"),
            query_params=there.params(),
            width="content",
        )
        st.page_link(
            "pages/triage.py",
            label=markup.label(f"{run_id} in Triage"),
            query_params=there.change(vs=None).params(),
            width="content",
        )


def popover(opened: session.Opened, store: Store, result: WhatIf, asked: Asked) -> None:
    """Draw the button and its form: run id, title, what is written, and the confirmation."""
    with st.popover("Save as run …", key="save"):
        if problem := unwritable(opened.manifest):
            notices.fault_panel([problem])
            return
        if result.settings.profile is not None or result.settings.support is not None:
            message = (
                "A run holds lists, not how its answers are read: reset label template and least support."
            )
            markup.note(message, "strong")
            return
        parent, logged = opened.run, result.logged
        markup.titled("Save as run ", f"computed from {parent.run_id}, beside it in this workspace")
        suggested = whatif.suggested_id(result.settings, logged)
        words = whatif.in_words(result.settings, logged)
        # Other settings suggest other words: then the fields are others, too.
        run_id = st.text_input("Run id", suggested, key=f"save-id:{suggested}", max_chars=100).strip()
        title = st.text_input(
            "Title",
            markup.clean(whatif.title_of(result.settings, logged))[:MAX_TITLE],
            key=f"save-title:{words}",
            max_chars=MAX_TITLE,
        ).strip()
        reason = _refused(opened.manifest, run_id)
        if reason:
            markup.note(reason, "strong")
        else:
            _preview(opened.manifest, run_id, parent.run_id, words, result)
        if st.button("Save run", key="save-run", type="primary", disabled=bool(reason)):
            _save(opened, store, asked, run_id=run_id, title=title)


def _refused(manifest: Manifest, run_id: str) -> str:
    if RUN_ID.fullmatch(run_id) is None:
        return "A run id has 1 to 100 letters of a–z, digits, dots, _, + and -, a letter or digit first."
    return ""


def _preview(manifest: Manifest, run_id: str, parent: str, words: str, result: WhatIf) -> None:
    if manifest.run(run_id) is not None:
        message = f"{run_id} exists already. The same settings again change nothing; others need another id."
        markup.note(message, "strong")
    name = (manifest.file or Path(MANIFEST_NAME)).name
    questions = counted(result.logged.questions, "question")
    rows = [
        ("Settings", [Piece(words)]),
        ("Parent", [Piece(f"{parent}, which is also what it is compared with")]),
        (
            "Traces",
            [
                Piece(f"runs/{run_id}/trace.jsonl", "code"),
                Piece(f" new lists for {questions}, answers as logged"),
            ],
        ),
        (
            "Pinning",
            [Piece(f"pinning/{run_id}.json", "code"), Piece(" the parent's record with these settings")],
        ),
        (
            "Manifest",
            [Piece(name, "code"), Piece(" gets one entry at the end of its runs, and nothing else changes")],
        ),
    ]
    markup.show(markup.facts(rows))


def _save(opened: session.Opened, store: Store, asked: Asked, *, run_id: str, title: str) -> None:
    try:
        with st.spinner("Writing the run …"):
            save(opened.manifest, opened.run.run_id, store, asked.settings, save_as=run_id, title=title)
    except Fault as fault:
        notices.fault_panel(fault.problems)
        return
    # The saved run is the workspace's newest, which an address without a run would show.
    change_asked(asked.change(saved=run_id), run=opened.run.run_id)
    st.rerun()


def unwritable(manifest: Manifest) -> Problem | None:
    """Return why no run can be added to the workspace, None where its folders and manifest can be written."""
    folder = manifest.folder
    file = manifest.file or folder / MANIFEST_NAME
    places = [file, folder, *(each for name in ("runs", "pinning") if (each := folder / name).exists())]
    for place in places:
        if not os.access(place, os.W_OK):
            message = "this workspace cannot be written to, so no run can be saved in it"
            fix = "make the folder writable, or open a copy of the workspace"
            return Problem("not_writable", message, where=str(place), fix=fix)
    return None
