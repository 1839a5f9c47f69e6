"""The product's own bundles of the demo's runs, built from files that are not written yet."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from core.evidence.bundlefile import packed
from core.evidence.client import PdfPool
from core.manifest.load import load_manifest
from core.services.bundle_report import Built
from core.services.bundles import build_bundles, load_sources


def bundle_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The file of bundles of every run whose manifest names one, by its path.

    `files` are those of the workspace by their paths, its manifest among them.
    """
    made: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="proofspan-demo-") as folder, PdfPool(workers=1) as pool:
        for path, data in files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        manifest = load_manifest(Path(folder))
        sources, _ = load_sources(manifest, pool)
        for run in manifest.runs:
            if run.bundles is not None:
                built = build_bundles(manifest, run.run_id, sources=sources)
                lines = b"".join(each.line for each in built if isinstance(each, Built))
                made[run.bundles.path] = packed(lines, path=Path(run.bundles.path))
    return made
