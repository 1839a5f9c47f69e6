"""The product's own bundles of the demo's runs, built from files that are not written yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofspan.contracts.records.records import LineIssue
from proofspan.evidence.bundles import packed
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.bundles.build import build_bundles, load_sources
from proofspan.store.index.build import build_index
from tools.demo.folder import written


def bundle_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The file of bundles of every run whose manifest names one, by its path.

    `files` are those of the workspace by their paths, its manifest among them.
    """
    made: dict[str, bytes] = {}
    with written(files) as folder, PdfPool(workers=1) as pool:
        manifest = load_manifest(folder)
        sources, _ = load_sources(manifest, pool)
        build_index(manifest, cache_dir=folder / "cache")
        for run in manifest.runs:
            if run.bundles is not None:
                built = build_bundles(manifest, run.run_id, sources=sources, cache_dir=folder / "cache")
                lines = b"".join(each[1] for each in built if not isinstance(each, LineIssue))
                made[run.bundles.path] = packed(lines, path=Path(run.bundles.path))
    return made
