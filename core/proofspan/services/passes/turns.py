"""Take turns with other processes on what is stored beside the index of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proofspan.manifest.types import Manifest
from proofspan.store.files.cache_dir import turn, writing_to
from proofspan.store.files.run_file import RunFile, whole_run_file
from proofspan.store.index.build import index_folder, not_indexed


@contextmanager
def turn_on(
    manifest: Manifest, run_id: str, results: str, *, cache_dir: Path
) -> Iterator[tuple[Path, RunFile]]:
    """Yield the folder of a run's index and its run file once no other process writes its folder `results`.

    StoreFault where the run has no index or the cache cannot be written.
    """
    folder = index_folder(manifest, run_id, cache_dir)
    if whole_run_file(folder) is None:
        raise not_indexed(manifest, run_id)
    with writing_to(folder):
        (folder / results).mkdir(exist_ok=True)
        with turn(folder / results):
            run_file = whole_run_file(folder)  # another process may have rebuilt it
            if run_file is None:
                raise not_indexed(manifest, run_id)
            yield folder, run_file
