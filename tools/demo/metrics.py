"""The product's own numbers of the demo's runs: a metrics pack each, and the cohorts of the first."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proofspan.journal.cohorts import Cohort, freeze
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import Bucket
from proofspan.services.metrics.report import run_pack
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tools.demo.folder import written

COHORTS = "cohorts.jsonl"
#: The run whose buckets are frozen, and what the sprint plan calls them.
BASELINE = "R001"
FROZEN: Mapping[str, Bucket] = {"RETRIEVAL-GAP": "retrieval_gap", "SCORE-POLICY": "score_policy"}


def metrics_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The metrics pack of every run whose manifest names one, and the file of cohorts, by their paths.

    `files` are those of the workspace by their paths, its manifest among them.
    """
    with written(files) as folder, tempfile.TemporaryDirectory(prefix="proofspan-demo-") as cache:
        manifest = load_manifest(folder)
        build_index(manifest, cache_dir=Path(cache), workers=1)
        store = Store(manifest, Path(cache))
        _freeze(manifest, store)
        return {path: pack.encode() for path, pack in _packs(manifest, store, Path(cache)).items()} | {
            COHORTS: (folder / COHORTS).read_bytes()
        }


def copy_packs(files: dict[str, bytes], faults: Sequence[Mapping[str, Any]]) -> None:
    """Puts another run's pack in the place of a run's own, as declared. ValueError where that is the same."""
    for fault in faults:
        if fault["kind"] == "copied_metrics":
            own, other = (f"runs/{fault[name]}/metrics.json" for name in ("run", "from"))
            if files[own] == files[other]:
                raise ValueError(f"{fault['id']}: {fault['kind']} changes nothing")
            files[own] = files[other]


def _packs(manifest: Manifest, store: Store, cache: Path) -> dict[str, str]:
    return {
        run.metrics.path: run_pack(store, manifest, run.run_id, cache_dir=cache)
        for run in manifest.runs
        if run.metrics is not None
    }


def _freeze(manifest: Manifest, store: Store) -> None:
    run = manifest.run(BASELINE)
    for name, bucket in FROZEN.items():
        held = store.places(Filter(BASELINE, bucket=(bucket,)), Sort("file"))["q_id"]
        freeze(manifest, Cohort(name, tuple(held), BASELINE, bucket, run.ts if run else None))
