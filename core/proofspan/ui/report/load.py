"""The release report of the shown run, and the pictures of its proofs, made in the background."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Literal

from proofspan.services.documents.background import Done, Waiting
from proofspan.services.page.crop import Crop
from proofspan.services.release import ReleaseVerdict
from proofspan.services.report.content import ReleaseReport, release_report
from proofspan.services.report.proofs import Proof, proofs_of, reader_of
from proofspan.services.report.sheet import report_sheet
from proofspan.services.report.what_if import Suggestion, suggestion
from proofspan.store.query.store import Store
from proofspan.ui.status import background, documents, release, workspace_status
from proofspan.ui.visit import session

KINDS: tuple[Literal["pdf", "png"], ...] = ("pdf", "png")


def report_of(opened: session.Opened, store: Store, verdict: ReleaseVerdict) -> ReleaseReport:
    """Return the report; one that was made is not made again."""
    key = _key(opened, store, verdict)
    return session.cached("report", key, lambda: release_report(store, opened.manifest, verdict), most=8)


def with_what_if(
    opened: session.Opened, store: Store, report: ReleaseReport
) -> tuple[ReleaseReport, Hashable | None]:
    """Return the report with a setting that would help, and the key of the task while it is looked for.

    It reads and ranks all lists of the run, in the background.
    """
    key = ("report what-if", _key(opened, store, report.verdict))
    outcome = background.ask(key, _looking(opened, store, report), share=0.5)
    found = outcome.value if isinstance(outcome, Done) else None
    return replace(report, what_if=found), key if isinstance(outcome, Waiting) else None


def _looking(opened: session.Opened, store: Store, report: ReleaseReport) -> Callable[[], Suggestion | None]:
    return partial(suggestion, store, opened.manifest, report.verdict)


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
    opened: session.Opened,
    store: Store,
    report: ReleaseReport,
    to: Literal["pdf", "png"],
    *,
    is_whole: bool,
) -> Callable[[], bytes]:
    """Return what draws the report as a file, in the download's own thread.

    Unless it `is_whole` a setting that would help is looked for there.
    """
    pool, make, look = session.pdf_pool(), _maker(opened, store, report), _looking(opened, store, report)

    def drawn() -> bytes:
        whole = report if is_whole else replace(report, what_if=look())
        return pool.draw(report_sheet(whole, make()), to=to).data

    return drawn


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
