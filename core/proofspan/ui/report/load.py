"""The release report of the shown run, and the pictures of its proofs, made in the background."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Literal

from proofspan.services.documents.background import Done
from proofspan.services.page.crop import Crop
from proofspan.services.release import ReleaseVerdict
from proofspan.services.report.content import ReleaseReport, release_report
from proofspan.services.report.proofs import Proof, proofs_of, reader_of
from proofspan.services.report.sheet import report_sheet
from proofspan.store.query.store import Store
from proofspan.ui.status import background, documents, release, workspace_status
from proofspan.ui.visit import session

KINDS: tuple[Literal["pdf", "png"], ...] = ("pdf", "png")


def report_of(opened: session.Opened, store: Store, verdict: ReleaseVerdict) -> ReleaseReport:
    """Return the report; one that was made is not made again."""
    key = _key(opened, store, verdict)
    return session.cached("report", key, lambda: release_report(store, opened.manifest, verdict), most=8)


def proofs(
    opened: session.Opened, store: Store, report: ReleaseReport
) -> tuple[tuple[Proof, ...], Hashable | None]:
    """Return the proofs, and the key of the task that makes their pictures, None when that is done."""
    make = _maker(opened, store, report)
    key = _proofs_key(opened, store, report)
    outcome = background.ask(key, make)
    if isinstance(outcome, Done):
        return outcome.value, None
    return tuple(Proof(flip, Crop("")) for flip in report.flips), key


def file_of(
    opened: session.Opened, store: Store, report: ReleaseReport, to: Literal["pdf", "png"]
) -> Callable[[], bytes]:
    """Return what draws the report as a file, in the download's own thread."""
    pool, make = session.pdf_pool(), _maker(opened, store, report)
    return lambda: pool.draw(report_sheet(report, make()), to=to).data


def _maker(opened: session.Opened, store: Store, report: ReleaseReport) -> Callable[[], tuple[Proof, ...]]:
    """Return what makes the proofs; it uses nothing of Streamlit."""
    manifest = opened.manifest
    read = reader_of(store, manifest, opened.run.run_id, cache_dir=session.cache_dir().path)
    return partial(proofs_of, report.flips, read, manifest=manifest, placer=documents.placer())


def _key(opened: session.Opened, store: Store, verdict: ReleaseVerdict) -> tuple[Hashable, ...]:
    return release.verdict_key(opened, store, verdict.against)


def _proofs_key(opened: session.Opened, store: Store, report: ReleaseReport) -> Hashable:
    manifest = opened.manifest
    states = tuple(workspace_status.state_of(manifest, each.artifact) for each in manifest.documents)
    return ("proofs", _key(opened, store, report.verdict), states)
