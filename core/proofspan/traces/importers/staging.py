"""Writing a workspace in one step: beside its place, then renamed into it; never over what a person wrote."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

from proofspan.errors import InputFault, Problem

#: What an import made, so that `--force` knows what it may replace.
RECORD = "import.json"


@contextlib.contextmanager
def staged(target: Path, *, force: bool) -> Iterator[Path]:
    """A folder to write into that becomes `target` when the block ends well, and vanishes when it does not.

    A target that holds anything is refused; with `force`, what an earlier import made there is replaced and
    everything else is kept. InputFault where a file of that import was changed since.
    """
    target = target.absolute()
    kept = _kept(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise _not_writable(target, error) from error
    try:
        stage.chmod(0o755)
        yield stage
        for name in kept:
            _bring(target / name, stage / name)
        _swap(stage, target)
    except OSError as error:
        raise _not_writable(target, error) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _not_writable(target: Path, error: OSError) -> InputFault:
    reason = f"cannot be written: {error.strerror or error}"
    fix = "Name another folder, or free some space on its disk."
    return InputFault.of("not_writable", reason, where=str(target), fix=fix)


def sha256_of(path: Path) -> str:
    """The file's sha256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kept(target: Path, *, force: bool) -> list[str]:
    """The files of the target that stay; a Fault where it must not be touched."""
    if target.exists() and not target.is_dir():
        raise InputFault.of("not_a_folder", "is a file", where=str(target), fix="Name a folder.")
    present = _files(target)
    if not present:
        return []
    if not force:
        fix = "Name an empty or new folder, or pass --force to replace what an import made there."
        raise InputFault.of("not_empty", "the folder is not empty", where=str(target), fix=fix)
    made = _made(target)
    changed = [name for name in sorted(made) if name in present and sha256_of(target / name) != made[name]]
    if changed:
        fix = "Move it away, or import into another folder: --force replaces only what an import made."
        raise InputFault(
            *(
                Problem("changed_since", "was changed since the import", str(target / name), fix)
                for name in changed
            )
        )
    return sorted(present - made.keys() - {RECORD})


def mapping_of(workspace: Path) -> str | None:
    """The name of the mapping that a workspace was imported by; None for one that no import made."""
    try:
        name = orjson.loads((workspace / RECORD).read_bytes())["mapping"]["file"]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return name if isinstance(name, str) else None


def _files(folder: Path) -> set[str]:
    """Every file and link below a folder by its relative path; links are not followed."""
    return {
        (Path(parent) / name).relative_to(folder).as_posix()
        for parent, folders, files in os.walk(folder)
        for name in [*files, *(each for each in folders if (Path(parent) / each).is_symlink())]
    }


def _made(target: Path) -> dict[str, str]:
    """What the earlier import wrote, by path, with its sha256."""
    try:
        record = orjson.loads((target / RECORD).read_bytes())
        return {str(name): str(digest) for name, digest in record["files"].items()}
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        reason = f"no import made this folder: it holds no readable {RECORD}"
        fix = "Name another folder; --force replaces only what an import made."
        raise InputFault.of("not_an_import", reason, where=str(target), fix=fix) from None


def _bring(source: Path, place: Path) -> None:
    """Copies a kept file into the new folder, unless the import made one of that name."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, place, follow_symlinks=False)


def _swap(stage: Path, target: Path) -> None:
    """The stage takes the target's place; the old folder is put back if that fails."""
    if not target.exists():
        stage.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(old)
    try:
        stage.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)
