"""A store to count from: the index of the runs that a command needs, brought up to date first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proofspan.cli.index_progress import progress
from proofspan.cli.interrupts import heeding
from proofspan.manifest.types import Manifest
from proofspan.store.cache import default_cache_dir
from proofspan.store.index import build_index
from proofspan.store.queries import Store


def indexed(manifest: Manifest, runs: Sequence[str], cache_dir: Path | None) -> Store:
    """The store of a workspace; in a terminal a bar tells how far the index of these runs is.

    `cache_dir` None: where the dashboard's index lies. StoreFault where the index cannot be written.
    """
    cache = cache_dir or default_cache_dir()
    with progress(as_lines=False, quiet=False) as telling:
        tell = heeding(telling)
        build_index(manifest, runs=runs, cache_dir=cache, on_progress=lambda step: tell("progress", step))
    return Store(manifest, cache)
