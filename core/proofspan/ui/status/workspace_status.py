"""Reports on a workspace's files, made again only when one of them has changed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from proofspan.manifest.check import CheckReport, check_workspace
from proofspan.services.documents.background import Failed, Waiting
from proofspan.services.workspace.contents_check import everything
from proofspan.services.workspace.open import goals_of
from proofspan.services.workspace.readable import rows_of
from proofspan.ui.status import background
from proofspan.ui.visit import session
from proofspan.ui.visit.files import state_of as state_of

#: So much of a page's patience is spent on the files.
SHARE = 0.15


def full_check(opened: session.Opened) -> tuple[CheckReport, Mapping[str, int]] | None:
    """Hash and read every file and open every document; None while that is under way.

    Returns the report of `proofspan check`, and the row counts of artifacts that have rows.
    """
    manifest, pool = opened.manifest, session.pdf_pool()

    def look() -> tuple[CheckReport, Mapping[str, int]]:
        others = goals_of(manifest)[1]
        report = check_workspace(manifest, examine=everything(manifest, pool), others=others)
        return report, rows_of(report.artifacts)

    outcome = background.ask(full_key(opened), look, share=SHARE)
    if isinstance(outcome, Failed):
        raise outcome.fault
    if isinstance(outcome, Waiting):
        return None
    session.recent("reports", 8).put(state_of_files(opened), outcome.value[0])
    return outcome.value


def full_key(opened: session.Opened) -> Hashable:
    """Return the key of that task."""
    return ("check", *state_of_files(opened))


def known_check(opened: session.Opened) -> CheckReport:
    """Return the fullest report so far: with hashes and opened PDFs after a full check."""
    manifest = opened.manifest
    return session.cached(
        "reports",
        state_of_files(opened),
        lambda: check_workspace(manifest, hashes=False, others=goals_of(manifest)[1]),
        most=8,
    )


def state_of_files(opened: session.Opened) -> tuple[str, ...]:
    """Return what changes whenever a report on the workspace may."""
    manifest = opened.manifest
    return (*session.identity(opened), *(state_of(manifest, artifact) for artifact in manifest.artifacts()))
