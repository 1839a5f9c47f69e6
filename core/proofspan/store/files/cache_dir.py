"""Where the index lies: a folder that may be deleted at any time without losing anything."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from proofspan.errors import Problem, StoreFault
from proofspan.store.files.columns import BATCH_ROWS, INDEX_VERSION, ISSUE_SCHEMA, LISTED, ROW_SCHEMA

_FILES = repr((INDEX_VERSION, ROW_SCHEMA.to_string(), ISSUE_SCHEMA.to_string(), LISTED, BATCH_ROWS))
#: Part of every path, made from the version and the columns: programs with other rules or columns never read
#: or replace each other's files, so that two versions can share a cache.
LAYOUT = f"index-{hashlib.sha256(_FILES.encode()).hexdigest()[:8]}"

_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_FULL = {errno.ENOSPC, errno.EDQUOT}


def default_cache_dir() -> Path:
    """`PROOFSPAN_CACHE_DIR`, else the user's cache folder."""
    named = os.environ.get("PROOFSPAN_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("proofspan", appauthor=False))


def run_folder(cache_dir: Path, workspace: Path, run_id: str, variant: str) -> Path:
    """The folder of one run's index.

    A run id comes from a manifest that anybody may have written: it goes into the name only as a hash and
    as what is left of it between harmless characters. `variant` tells readings with other profiles apart.
    """
    return (
        cache_dir
        / LAYOUT
        / _name(workspace.name, str(workspace.resolve()))
        / f"{_name(run_id, run_id)}-{variant}"
    )


def _name(readable: str, identity: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9_]+", "-", readable)[:40].strip("-")
    return f"{kept}-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turns what the system says about a cache folder that cannot be written into a fault with a remedy."""
    try:
        yield
    except OSError as error:
        problem = _problem_of(error, folder)
        if problem is None:
            raise
        raise StoreFault(problem) from error


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Waits until no other process works in this folder; the system ends a turn whose process dies."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _problem_of(error: OSError, folder: Path) -> Problem | None:
    elsewhere = "name another folder with --cache-dir or PROOFSPAN_CACHE_DIR"
    if error.errno in _READ_ONLY:
        return Problem(
            "cache_read_only",
            "the cache folder cannot be written",
            str(folder),
            f"make it writable, or {elsewhere}",
        )
    if error.errno in _FULL:
        return Problem(
            "cache_full",
            "there is no room left for the index",
            str(folder),
            f"free some space, or {elsewhere}",
        )
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return Problem("cache_not_a_folder", "the cache folder is a file", str(folder), elsewhere)
    return None


@dataclass(frozen=True, slots=True)
class CacheDir:
    """A folder that can be written; `problem` says why it is not the one that was asked for."""

    path: Path
    problem: Problem | None = None


def writable_cache_dir(wanted: Path) -> CacheDir:
    """`wanted`, or a temporary folder with the problem to be shown where it cannot be written."""
    try:
        with writing_to(wanted):
            wanted.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=wanted):
                pass
    except StoreFault as fault:
        return CacheDir(Path(tempfile.mkdtemp(prefix="proofspan-")), fault.problems[0])
    return CacheDir(wanted)
