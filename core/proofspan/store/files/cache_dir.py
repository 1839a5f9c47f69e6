"""The cache folder of the index, which may be deleted at any time without losing anything."""

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
#: Part of every path, made from version and columns: program versions with other columns never read or
#: replace each other's files, so that they can share a cache.
LAYOUT = f"index-{hashlib.sha256(_FILES.encode()).hexdigest()[:8]}"

_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
_FULL = {errno.ENOSPC, errno.EDQUOT}


def default_cache_dir() -> Path:
    """Return `PROOFSPAN_CACHE_DIR`, else the user's cache folder."""
    named = os.environ.get("PROOFSPAN_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("proofspan", appauthor=False))


def run_folder(cache_dir: Path, workspace: Path, run_id: str, variant: str) -> Path:
    """Return the folder of one run's index.

    The run id may come from an untrusted manifest: only a hash and its harmless characters are in the name.
    `variant` differs between profiles.
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
    """Turn a system error about a cache folder that cannot be written into a StoreFault with a fix."""
    try:
        yield
    except OSError as error:
        problem = _problem_of(error, folder)
        if problem is None:
            raise
        raise StoreFault(problem) from error


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the system releases the lock of a process that dies."""
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
    """A writable folder; `problem` says why it is not the one that was requested."""

    path: Path
    problem: Problem | None = None


def writable_cache_dir(requested: Path) -> CacheDir:
    """Return `requested`, or a temporary folder with a problem where it cannot be written."""
    try:
        with writing_to(requested):
            requested.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=requested):
                pass
    except StoreFault as fault:
        return CacheDir(Path(tempfile.mkdtemp(prefix="proofspan-")), fault.problems[0])
    return CacheDir(requested)
