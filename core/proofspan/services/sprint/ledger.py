"""The run ledger: which files each run of the manifest read and wrote, with their hashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from proofspan.contracts.records.records import Json
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.metrics.run_metrics import in_order
from proofspan.services.pinning.findings import pin_report
from proofspan.services.sprint.types import LedgerRow
from proofspan.store.query.metrics import RunSums
from proofspan.store.query.store import Store

_HIT = "section_match_at_1"


def ledger(manifest: Manifest, sums: Mapping[str, RunSums]) -> tuple[LedgerRow, ...]:
    """Return a row per run, the oldest first; `sums` are those of the runs with an index."""
    return tuple(_row(manifest, run, sums.get(run.run_id)) for run in in_order(manifest))


def sums_of(manifest: Manifest, store: Store | None) -> Mapping[str, RunSums]:
    """Return the sums of all runs with an index, in the order of time."""
    indexed = set() if store is None else set(store.runs())
    wanted = [run.run_id for run in in_order(manifest) if run.run_id in indexed]
    return {} if store is None else store.run_sums(wanted)


def _row(manifest: Manifest, run: Run, sums: RunSums | None) -> LedgerRow:
    report = pin_report(manifest, run)
    record = report.record.values if report.record is not None else {}
    tally = None if sums is None else sums.measures[_HIT]
    is_judged = tally is not None and tally.of > 0
    return LedgerRow(
        run_id=run.run_id,
        ts=run.ts,
        title=run.title,
        kind=run.kind,
        baseline=run.baseline,
        inputs=tuple(_inputs(manifest, run, record)),
        outputs=tuple(_hashes(_outputs(run))),
        unpinned=len(report.findings) if run.record is not None else None,
        hits=round(tally.total) if tally is not None and is_judged else None,
        judged=tally.of if tally is not None and is_judged else None,
        parent=_parent(record),
    )


def _inputs(manifest: Manifest, run: Run, record: Mapping[str, Json]) -> Iterator[tuple[str, str | None]]:
    """Yield documents, chunks, gold questions and the parent's traces.

    The hash is that of the pinning record, which says what the run read, else the manifest's.
    """
    pinned = record.get("inputs")
    read = pinned if isinstance(pinned, dict) else {}
    artifacts = [*(document.artifact for document in manifest.documents), manifest.chunks, manifest.gold]
    for path, sha256 in _hashes(artifacts):
        stated = read.get(path)
        yield path, stated if isinstance(stated, str) else sha256
    parent = manifest.run(_parent(record) or "")
    if parent is not None:
        yield from _hashes(parent.trace_artifacts)


def _outputs(run: Run) -> Iterator[Artifact | None]:
    yield from run.trace_artifacts
    yield from (run.report, run.bundles, run.metrics, run.record)


def _hashes(artifacts: Iterable[Artifact | None]) -> Iterator[tuple[str, str | None]]:
    yield from ((artifact.path, artifact.sha256) for artifact in artifacts if artifact is not None)


def _parent(record: Mapping[str, Json]) -> str | None:
    derived = record.get("derived")
    parent = derived.get("parent") if isinstance(derived, dict) else None
    return parent if isinstance(parent, str) else None
