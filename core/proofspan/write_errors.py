"""Why the system refuses to write somewhere, in words, and what to do about it."""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path
from typing import Final, NamedTuple

#: Errors of writing to a file that is open already.
OF_WRITING: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
#: Errors of a disk without room.
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
#: Errors of a place that may not be written to.
READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
#: Errors of a path that leads through a file.
NO_FOLDER: Final = frozenset({errno.ENOTDIR, errno.EEXIST})
_BUSY = frozenset({errno.EBUSY, errno.ETXTBSY, errno.EAGAIN})


class Refusal(NamedTuple):
    """Why a place cannot be written, to follow "cannot be written: ", and what to do."""

    reason: str
    fix: str


def write_refusal(error: OSError, place: Path) -> Refusal:
    """Return why writing the file or folder `place`, or what the error names, failed."""
    code, reason = error.errno, error.strerror or str(error)
    if isinstance(error.filename, (str, bytes)):
        place = Path(os.fsdecode(error.filename))
    nearest = _nearest(place)
    if code == errno.EROFS:
        return Refusal(reason, "name a place on another file system")
    if code in READ_ONLY:
        return Refusal(
            reason, f"make it writable: chmod u+w {shlex.quote(str(nearest))}, or name another place"
        )
    if code in FULL:
        return Refusal(reason, "free some space, or name a place on another disk")
    if code in NO_FOLDER and not nearest.is_dir():
        return Refusal(f"{nearest} is a file, not a folder", "name a folder that exists, or a new one in it")
    if code == errno.EISDIR:
        return Refusal("it is a folder", "name a file in it")
    if code == errno.ENOENT and not os.path.lexists(place.parent):
        return Refusal(
            "its folder does not exist", f"make it first: mkdir -p {shlex.quote(str(place.parent))}"
        )
    if code in _BUSY:
        return Refusal("another program uses it", "close that program, or name another file")
    if code == errno.ENAMETOOLONG:
        return Refusal("its name is too long", "name a shorter one")
    if code == errno.ELOOP:
        return Refusal("it is a link, or in a loop of links", "name the file itself")
    return Refusal(reason, "name a file in a folder that you may write to, on a disk with free space")


def refused(place: Path) -> Refusal | None:
    """Return why a file could not be written at `place`, as far as that is known before; None if it could.

    A file without any permission to write is left alone, though it could be replaced in its folder.
    """
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if place.is_file() and not (place.stat().st_mode & 0o222 and os.access(place, os.W_OK)):
            fix = f"make it writable: chmod u+w {shlex.quote(str(place))}, or name another file"
            return Refusal("the file is read-only", fix)
        place.parent.stat()
        if not place.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not place.exists() and not os.access(place.parent, os.W_OK | os.X_OK):
            code = errno.EROFS if _is_read_only(place.parent) else errno.EACCES
            raise OSError(code, os.strerror(code))
    except OSError as error:
        return write_refusal(OSError(error.errno, error.strerror), place)
    return None


def _is_read_only(folder: Path) -> bool:
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _nearest(place: Path) -> Path:
    """Return the part of the path that exists: the place itself, or what is above it."""
    for each in (place, *place.parents):
        try:
            each.lstat()
        except OSError:
            continue
        return each
    return Path("/")
