"""A page that follows an index job, whose steps and end are files that appear in a folder."""

from __future__ import annotations

import os
import sys

import streamlit as st

from proofspan.services.workspace.index_job import IndexJob
from proofspan.ui.status import notices
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.visit import session

STEPS = """
import json, pathlib, time
folder = pathlib.Path({folder!r})
for step in ("first", "second", "end"):
    while not (folder / step).exists():
        time.sleep(0.01)
    if step != "end":
        print(json.dumps(dict(event="progress", run_id=step, done=1, total=2, rows=1)), flush=True)
"""


@fragment()
def follow(job: IndexJob) -> None:
    steps = session.jobs().progress
    seen = steps.count
    if not job.is_running:
        st.rerun()
    run_again_after(steps, seen)
    st.text(f"step {job.progress.run_id if job.progress else 'none'}")


command = [sys.executable, "-c", STEPS.format(folder=os.environ["FOLDER"])]
job = session.jobs().ensure("job", lambda: command)
if job is None:
    st.text("over")
else:
    follow(job)
    notices.wait(lambda: not job.is_running, "waiting")
