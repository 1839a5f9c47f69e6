"""What was found out about a workspace's files, and asked again only when one of them has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from core.errors import Fault
from core.manifest.check import CheckReport, OnProgress, check_workspace
from core.manifest.paths import artifact_path
from core.manifest.types import Artifact, Manifest
from core.services.checking import everything
from core.services.goals import goals_of
from core.services.placer import Recent
from core.ui import safe, session

#: A bar that moves more often than this costs more than what it tells of.
SECONDS_BETWEEN_STEPS = 0.2


def check(opened: session.Opened, *, hashes: bool) -> CheckReport:
    """What `proofspan check` reports, looked up again only when a file changed.

    Without `hashes` no file is read whole and no PDF is opened.
    """

    def look() -> CheckReport:
        others = goals_of(opened.manifest)[1]
        if not hashes:
            return check_workspace(opened.manifest, hashes=False, others=others)
        with _checking() as on_progress:
            examine = everything(opened.manifest, session.pdf_pool())
            return check_workspace(opened.manifest, examine=examine, on_progress=on_progress, others=others)

    return _checks().get_or_make((*state_of_files(opened), hashes), look)


@contextmanager
def _checking() -> Iterator[OnProgress]:
    """A bar while files are hashed and read; it is gone when that is done."""
    place, told = st.empty(), time.monotonic()
    place.progress(0.0, text="Checking the workspace …")

    def on_progress(key: str, done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= SECONDS_BETWEEN_STEPS:
            told = time.monotonic()
            place.progress(done / total if total else 0.0, text=f"Checking {safe.label(key)}")

    try:
        yield on_progress
    finally:
        place.empty()


def known_check(opened: session.Opened) -> CheckReport:
    """The fullest report that costs nothing: with hashes and opened PDFs once somebody asked for those."""
    return _checks().get((*state_of_files(opened), True)) or check(opened, hashes=False)


def state_of_files(opened: session.Opened) -> tuple[str, ...]:
    """Changes whenever a report on the workspace may."""
    manifest = opened.manifest
    return (*session.identity(opened), *(state_of(manifest, artifact) for artifact in manifest.artifacts()))


@st.cache_resource(show_spinner=False)
def _checks() -> Recent[CheckReport]:
    return Recent(8)


def state_of(manifest: Manifest, artifact: Artifact) -> str:
    """Changes when the artifact's file does, also when it goes or comes."""
    try:
        return session.fingerprint(artifact_path(manifest, artifact))
    except Fault as fault:
        return fault.problems[0].code
