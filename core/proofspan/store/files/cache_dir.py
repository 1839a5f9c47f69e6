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
from pathlib import Path
from typing import NamedTuple

import platformdirs

from proofspan.errors import Problem, StoreFault
from proofspan.store.files.columns import BATCH_ROWS, INDEX_VERSION, ISSUE_SCHEMA, LISTED, ROW_SCHEMA
from proofspan.write_errors import FULL, NO_FOLDER, READ_ONLY, write_refusal

_FILES = repr((INDEX_VERSION, ROW_SCHEMA.to_string(), ISSUE_SCHEMA.to_string(), LISTED, BATCH_ROWS))
#: Part of every path, made from version and columns: program versions with other columns never read or
#: replace each other's files, so that they can share a cache.
LAYOUT = f"index-{hashlib.sha256(_FILES.encode()).hexdigest()[:8]}"


def default_cache_dir() -> Path:
    """Return `PROOFSPAN_CACHE_DIR`, else the user's cache folder."""
    named = os.environ.get("PROOFSPAN_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("proofspan", appauthor=False))


def run_folder(cache_dir: Path, workspace: Path, run_id: str, variant: str) -> Path:
    """Return the folder of one run's index.

    The run id may come from an untrusted manifest: only a hash and its harmless characters are in the name.
    `variant` differs between profiles.
    """
    folder = cache_dir / LAYOUT / _name(workspace.name, str(workspace.resolve()))
    return folder / f"{_name(run_id, run_id)}-{variant}"


def _name(readable: str, identity: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9_]+", "-", readable)[:40].strip("-")
    return f"{kept}-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Turn a system error about a cache folder that cannot be written into a StoreFault with a fix."""
    elsewhere = "name another folder with --cache-dir or PROOFSPAN_CACHE_DIR"
    try:
        yield
    except OSError as error:
        why = write_refusal(error, folder)
        if error.errno in READ_ONLY:
            code, message = "cache_read_only", f"the cache folder cannot be written: {why.reason}"
            fix = f"make it writable, or {elsewhere}"
        elif error.errno in FULL:
            code, message = "cache_full", "there is no room left for the index"
            fix = f"free some space, or {elsewhere}"
        elif error.errno in NO_FOLDER:
            code, message, fix = "cache_not_a_folder", f"the cache folder is a file: {why.reason}", elsewhere
        elif error.errno not in (errno.ENOENT, None):
            code, message = "cache_not_writable", f"the cache folder cannot be written: {why.reason}"
            fix = f"look after it, or {elsewhere}"
        else:
            raise
        raise StoreFault.of(code, message, where=str(folder), fix=fix) from error


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the system releases the lock of a process that dies."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class CacheDir(NamedTuple):
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
