"""Writing a workspace in one step: beside its place, then renamed; never over a person's files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.write_errors import write_refusal

#: The file that lists what an import made, so that `--force` knows what it may replace.
RECORD = "import.json"


@contextlib.contextmanager
def staged(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder that becomes `target` when the block succeeds, and is removed when it fails.

    A target that holds anything is refused; with `force`, the files of an earlier import are replaced and
    everything else is kept. Raises InputFault, also if a file of that import was changed since.
    """
    target = target.absolute()
    kept = _kept(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            stage.chmod(0o755)
            yield stage
            for name in kept:
                if not (stage / name).exists():
                    (stage / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(target / name, stage / name, follow_symlinks=False)
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
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    except OSError as error:
        why = write_refusal(error, target)
        fix = f"{why.fix[:1].upper()}{why.fix[1:]}."
        message = f"cannot be written: {why.reason}"
        raise InputFault.of("not_writable", message, where=str(target), fix=fix) from error


def mapping_of(workspace: Path) -> str | None:
    """Return the file name of the mapping that made a workspace; None if no import made it."""
    mapping = _record(workspace).get("mapping")
    name = mapping.get("file") if isinstance(mapping, dict) else None
    return name if isinstance(name, str) else None


def _record(workspace: Path) -> dict[str, Json]:
    """Return the record of the import that made a workspace, {} without a readable one."""
    try:
        record = orjson.loads((workspace / RECORD).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return record if isinstance(record, dict) else {}


def _kept(target: Path, *, force: bool) -> list[str]:
    """Return the target's files that stay. Raises InputFault if the target must not be touched."""
    if target.exists() and not target.is_dir():
        raise InputFault.of("not_a_folder", "is a file", where=str(target), fix="Name a folder.")
    present = {
        (Path(parent) / name).relative_to(target).as_posix()
        for parent, folders, files in os.walk(target)
        for name in [*files, *(each for each in folders if (Path(parent) / each).is_symlink())]
    }
    if not present:
        return []
    if not force:
        fix = "Name an empty or new folder, or pass --force to replace what an import made there."
        raise InputFault.of("not_empty", "the folder is not empty", where=str(target), fix=fix)
    made = _record(target).get("files")
    if not isinstance(made, dict):
        message = f"no import made this folder: it has no readable {RECORD}"
        fix = "Name another folder; --force replaces only what an import made."
        raise InputFault.of("not_an_import", message, where=str(target), fix=fix)
    changed = [name for name in sorted(made) if name in present and sha256_of(target / name) != made[name]]
    if changed:
        fix = "Move it away, or import into another folder: --force replaces only what an import made."
        message = "was changed since the import"
        raise InputFault(*(Problem("changed_since", message, str(target / name), fix) for name in changed))
    return sorted(present - made.keys() - {RECORD})
