"""Building and refreshing the index: trace files in, segments and one small file a run out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofspan.diagnosis.profile import profile_from
from proofspan.errors import StoreFault
from proofspan.manifest.types import Manifest, Run
from proofspan.store.build import Builder, SharedLabeller
from proofspan.store.cache import run_folder, turn, writing_to
from proofspan.store.labelling import variant_of
from proofspan.store.plan import make_plan
from proofspan.store.runfile import whole_run_file
from proofspan.store.types import IndexReport, IndexState, OnProgress, Progress, RunReport

__all__ = ["IndexReport", "IndexState", "Progress", "RunReport", "build_index", "index_folder", "index_state"]


def build_index(
    manifest: Manifest,
    *,
    runs: Sequence[str] | None = None,
    cache_dir: Path,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> IndexReport:
    """Bring the index of all (or the named) runs up to date; what is fresh is left alone.

    The result does not depend on `workers` (None: as many as pay). Several processes may call this at once:
    they take turns run by run, and the later finds the earlier's work done. StoreFault where the cache
    cannot be written or a run is not in the manifest; what is wrong with single files is in the report.
    """
    profile = profile_from(manifest.triage)
    chosen = _chosen_runs(manifest, runs)
    labellers = SharedLabeller(profile)
    reports = []
    for run in chosen:
        folder = index_folder(manifest, run.run_id, cache_dir)
        builder = Builder(manifest, run, folder, cache_dir, labellers, workers, on_progress)
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with turn(folder):
                reports.append(builder.refresh())
    return IndexReport(tuple(reports))


def index_state(manifest: Manifest, run_id: str, cache_dir: Path) -> IndexState:
    """Compares a run's files with its index without reading them."""
    (run,) = _chosen_runs(manifest, [run_id])
    earlier = whole_run_file(index_folder(manifest, run_id, cache_dir))
    profile = profile_from(manifest.triage)
    plan = make_plan(manifest, run, profile, earlier, cache_dir=cache_dir, join=False)
    return IndexState(plan.state, plan.reason)


def index_folder(manifest: Manifest, run_id: str, cache_dir: Path) -> Path:
    """Where the index of a run lies when it is read with the manifest's profile."""
    return run_folder(cache_dir, manifest.folder, run_id, variant_of(profile_from(manifest.triage)))


def _chosen_runs(manifest: Manifest, wanted: Sequence[str] | None) -> list[Run]:
    if wanted is None:
        return list(manifest.runs)
    known = {run.run_id: run for run in manifest.runs}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise StoreFault.of(
            "unknown_run",
            f"the manifest has no run {unknown[0]!r}",
            where=str(manifest.folder),
            remedy=f"name one of {', '.join(known) or '(it has none)'}",
        )
    return [known[name] for name in dict.fromkeys(wanted)]
