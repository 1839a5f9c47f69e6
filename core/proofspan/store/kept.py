"""The runs' indexes as they are kept in memory between questions, and what was worked out of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from proofspan.errors import StoreFault
from proofspan.manifest.types import Manifest
from proofspan.store.files import DamagedError
from proofspan.store.index import index_folder
from proofspan.store.loaded import LoadedRun
from proofspan.store.placed import PlacedFile, Placements
from proofspan.store.runfile import RUN_FILE, read_run_file

T = TypeVar("T")
V = TypeVar("V")

#: So many bytes of columns are kept in memory, of the runs used last; of so few runs in any case.
KEPT_BYTES = 512 << 20
KEPT_RUNS = 2


class KeptRuns:
    """The runs of a workspace whose index was read. Safe for several threads.

    An index that is rebuilt meanwhile is picked up with the next call.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        self._manifest = manifest
        self._cache_dir = cache_dir
        self._placements = Placements(manifest)
        self._folders: dict[str, Path] = {}
        self._runs: OrderedDict[str, tuple[tuple[int, int], PlacedFile | None, LoadedRun]] = OrderedDict()
        self._when_gone: list[Callable[[LoadedRun], None]] = []
        self._lock = Lock()

    def when_gone(self, forget: Callable[[LoadedRun], None]) -> None:
        """Has `forget` called with every state that is replaced, or makes room."""
        self._when_gone.append(forget)

    def stamp(self, run: str) -> tuple[int, int] | None:
        """Changes whenever the run's index does; None where there is no index."""
        try:
            status = (self._folder(run) / RUN_FILE).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_ino

    def with_run(self, run: str, read: Callable[[LoadedRun], T]) -> T:
        """What `read` makes of a run, as `with_runs`."""
        return self.with_runs([run], lambda loaded: read(loaded[0]))

    def with_runs(self, runs: Sequence[str], read: Callable[[Sequence[LoadedRun]], T]) -> T:
        """Calls `read`, again if an index was replaced meanwhile and its old files are gone.

        StoreFault where a run has no index, or a damaged one.
        """
        for _ in range(3):
            try:
                return read([self.loaded(run) for run in runs])
            except DamagedError:
                with self._lock:
                    for run in runs:
                        self._drop(run)
        raise StoreFault.of(
            "index_damaged",
            f"files of the index of run {' or '.join(map(repr, runs))} are missing or damaged",
            where=" or ".join(str(self._folder(run)) for run in runs),
            remedy=f"delete {'that folder' if len(runs) == 1 else 'them'} and run `proofspan index` again",
        )

    def loaded(self, run: str) -> LoadedRun:
        """The run as its index is now: the same object as long as nothing changes."""
        stamp, folder = self.stamp(run), self._folder(run)
        with self._lock:
            placed = self._placements.of(folder)
            known = self._runs.get(run)
            if known and known[0] == stamp and known[1] is placed:
                self._runs.move_to_end(run)
                return known[2]
            run_file = read_run_file(folder)
            if run_file is None or stamp is None:
                raise StoreFault.of(
                    "not_indexed",
                    f"run {run!r} has no index yet",
                    where=str(self._manifest.folder),
                    remedy=f"proofspan index {self._manifest.folder}",
                )
            self._drop(run)
            self._make_room()
            holds = placed is not None and placed.is_of(run_file)
            loaded = LoadedRun(folder, run_file, placed if holds else None)
            self._runs[run] = (stamp, placed, loaded)
            return loaded

    def _folder(self, run: str) -> Path:
        """Where the run's index lies, worked out once."""
        if run not in self._folders:
            self._folders[run] = index_folder(self._manifest, run, self._cache_dir)
        return self._folders[run]

    def _make_room(self) -> None:
        """Drops the runs that were not used for longest, as far as all take too much."""
        used = sum(loaded.nbytes for _, _, loaded in self._runs.values())
        while used > KEPT_BYTES and len(self._runs) >= KEPT_RUNS:
            run, (_, _, loaded) = next(iter(self._runs.items()))
            used -= loaded.nbytes
            self._drop(run)

    def _drop(self, run: str) -> None:
        known = self._runs.pop(run, None)
        if known is not None:
            for forget in self._when_gone:
                forget(known[2])


class Memory(Generic[V]):
    """The last `most` results that were worked out of states of runs, as long as those are kept.

    Safe for several threads: two that ask at once may both do the work, and its result is the same.
    """

    def __init__(self, kept: KeptRuns, *, most: int) -> None:
        self._most = most
        self._known: OrderedDict[tuple[tuple[LoadedRun, ...], Hashable], V] = OrderedDict()
        self._lock = Lock()
        kept.when_gone(self._forget)

    def get(self, runs: tuple[LoadedRun, ...], key: Hashable) -> V | None:
        """What is known of these states, None where it is not."""
        with self._lock:
            if (runs, key) not in self._known:
                return None
            self._known.move_to_end((runs, key))
            return self._known[runs, key]

    def keep(self, runs: tuple[LoadedRun, ...], key: Hashable, value: V) -> V:
        """Remembers a result, and gives it back."""
        with self._lock:
            self._known[runs, key] = value
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return value

    def get_or_make(self, runs: tuple[LoadedRun, ...], key: Hashable, make: Callable[[], V]) -> V:
        """What is known of these states, worked out where it is not."""
        known = self.get(runs, key)
        return self.keep(runs, key, make()) if known is None else known

    def _forget(self, gone: LoadedRun) -> None:
        with self._lock:
            for known in [known for known in self._known if gone in known[0]]:
                del self._known[known]
