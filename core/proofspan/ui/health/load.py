"""Load what Health shows, once for each state of the index and of the workspace's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.contracts.records.records import Chunk, GoldQuestion
from proofspan.errors import Fault
from proofspan.evidence.bundles import Level
from proofspan.evidence.text_file import extractor
from proofspan.manifest.check import CheckReport
from proofspan.services.chunk_ids import audit_workspace, gold_questions, workspace_chunks
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.health.failure_modes import FailureCounts, FailureMode, failure_counts, failure_modes
from proofspan.services.health.parity import ParityRow, logged_of_run, parity_rows
from proofspan.services.health.rule_counts import HealthTable, health_table
from proofspan.services.health.run_findings import RunFinding, index_findings, run_findings, to_fix
from proofspan.services.metrics.run_metrics import in_order, run_metrics, stored_bundles
from proofspan.store.query.store import Store
from proofspan.ui.status import background, workspace_status
from proofspan.ui.visit import session

T = TypeVar("T")

#: The share of a page's patience that is spent on each part that is read in the background.
SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Health:
    """The findings about the shown run, and its settings beside those of its index.

    `levels` counts its stored bundles. `pending` is the key of the files that are still being read, None once
    `findings` and `levels` are complete.
    """

    table: HealthTable
    findings: tuple[RunFinding, ...]
    parity: tuple[ParityRow, ...]
    levels: Mapping[Level, int] = field(default_factory=dict)
    pending: Hashable | None = None


def prepare(opened: session.Opened) -> None:
    """Compute what the index alone gives: beside background tasks its queries are several times slower.

    Faults are left to those who ask for it.
    """
    store = session.store_of(opened)
    with suppress(Fault):
        if store.stamp(opened.run.run_id) is not None:
            _of_index(opened, store)


def _of_index(opened: session.Opened, store: Store) -> Health:
    manifest, run = opened.manifest, opened.run
    runs = [each for each in in_order(manifest) if store.stamp(each.run_id) is not None]

    def make() -> Health:
        table = health_table(store, runs, run.run_id)
        parity = parity_rows(manifest, run, logged_of_run(store, run.run_id))
        return Health(table, index_findings(store, manifest, table), parity)

    key = (*session.identity(opened), run.run_id, *(_stamps(store, each.run_id) for each in runs))
    return session.cached("health", key, make, most=64)


def load(opened: session.Opened, store: Store) -> Health:
    """Load the table of all indexed runs and the findings about the shown one."""
    manifest, run, known = opened.manifest, opened.run, session.identity(opened)
    health = _of_index(opened, store)

    def read() -> tuple[tuple[RunFinding, ...], Mapping[Level, int]]:
        pages = session.cited_pages(opened, store, run.run_id)  # half a second of 100,000 citations
        findings = run_findings(
            store, manifest, health.table, run_metrics(store, manifest, run.run_id), pages
        )
        bundles, _ = stored_bundles(manifest, run)
        return findings, Counter(bundles.levels.values() if bundles is not None else ())

    files = [each.metrics for each in manifest.runs] + [run.bundles, run.record]
    prints = (workspace_status.state_of(manifest, each) for each in files if each is not None)
    key: tuple[Hashable, ...] = ("health", *known, run.run_id, _stamps(store, run.run_id), *prints)
    found = _read(key, read)
    if found is None:
        return replace(health, pending=key)
    return replace(health, findings=found[0], levels=found[1])


def _read(key: Hashable, make: Callable[[], T]) -> T | None:
    """Return what `make` returns, None while it is read in the background. Raises its Fault."""
    outcome = background.ask(key, make, share=SHARE)
    if isinstance(outcome, Failed):
        raise outcome.fault
    return outcome.value if isinstance(outcome, Done) else None


def remember_problems(opened: session.Opened, report: CheckReport, health: Health, audited: Audited) -> None:
    """Remember how many problems Health shows: of files, errors of the run, failed audits."""
    errors = sum(each.problem.severity == "error" for each in to_fix(health.table, health.findings))
    count = len(report.findings) + errors + audited.failed
    session.recent("problems", 64).put((*session.identity(opened), opened.run.run_id), count)


def known_problems(opened: session.Opened) -> int | None:
    """Return how many problems Health showed last for the shown run; None where it has not been looked at."""
    key = (*session.identity(opened), opened.run.run_id)
    count: int | None = session.recent("problems", 64).get(key)
    return count


@dataclass(frozen=True, slots=True)
class Audited:
    """The audits of the chunk file so far; `pending` is the key of those being made, None once complete."""

    audits: tuple[Audit, ...] = ()
    extractor: str | None = None
    pending: Hashable | None = None

    @property
    def failed(self) -> int:
        """The number of audits that fail a requirement."""
        return sum(audit.is_error for audit in self.audits)


def audits(opened: session.Opened, *, with_documents: bool) -> Audited:
    """Return the audits, with those of documents if requested; none without chunks."""
    manifest, pool, cache = opened.manifest, session.pdf_pool(), session.cache_dir().path
    if manifest.chunks is None:
        return Audited()
    key = ("chunk ids", *workspace_status.state_of_files(opened))
    quick = background.ask(key, partial(audit_workspace, manifest, None, cache_dir=cache), share=SHARE)
    if not isinstance(quick, Done):
        return Audited(pending=key if isinstance(quick, Waiting) else None)
    if with_documents:
        make = partial(audit_workspace, manifest, pool, cache_dir=cache)
        whole = background.ask((*key, "documents"), make, share=SHARE)
        if isinstance(whole, Done):
            return Audited(whole.value, extractor(paged=True))
        if isinstance(whole, Waiting):
            return Audited(quick.value, pending=(*key, "documents"))
    return Audited(quick.value)


def modes(
    opened: session.Opened, store: Store, table: HealthTable, audits: Sequence[Audit]
) -> tuple[Hashable, tuple[FailureMode, ...] | None]:
    """Return the typical failures of the shown run, None while gold and chunks are read under the key."""
    manifest, cache = opened.manifest, session.cache_dir().path
    key = ("modes", *workspace_status.state_of_files(opened), table.run_id, _stamps(store, table.run_id))

    def count() -> FailureCounts:
        gold: Mapping[str, GoldQuestion] = {}
        chunks: Sequence[Chunk] = ()
        with suppress(Fault):  # a file that is lost is reported elsewhere
            if known := gold_questions(manifest, cache_dir=cache):
                gold, chunks = known, workspace_chunks(manifest, cache_dir=cache)[0]
        return failure_counts(store, table, gold, chunks)

    counts = _read(key, count)
    return key, None if counts is None else failure_modes(counts, audits)


def _stamps(store: Store, run_id: str) -> str:
    return f"{store.stamp(run_id)} {store.placed_stamp(run_id)}"
