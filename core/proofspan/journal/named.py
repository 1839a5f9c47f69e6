"""The file of a journal that the manifest names: its path for reading, and for adding lines."""

from __future__ import annotations

from pathlib import Path

from proofspan.errors import InputFault, ManifestFault, Problem
from proofspan.manifest.paths import artifact_path, is_missing, journal_path
from proofspan.manifest.types import Artifact, Manifest


def path_to_read(manifest: Manifest, artifact: Artifact) -> Path | None:
    """Return the journal's path, None while it is not written. Raises ManifestFault if it is refused."""
    try:
        return artifact_path(manifest, artifact)
    except ManifestFault as fault:
        if is_missing(fault):
            return None
        raise


def refusal_to_write(manifest: Manifest, artifact: Artifact | None, *, key: str, line: str) -> Problem | None:
    """Return why the manifest lets nobody add to the journal of its `key`; None if it does.

    `line` is what to add to a manifest without it.
    """
    where = str(manifest.file or manifest.folder)
    if artifact is None:
        message = f"the manifest names no file for {key}"
        return Problem(f"no_{key}_file", message, where, f"add the line: {line}")
    if artifact.sha256 is not None:
        message = f"the manifest states the sha256 of the {key} file, so nothing may be added to it"
        return Problem("journal_pinned", message, where, f"take `sha256` out of `{key}`")
    return None


def path_to_write(manifest: Manifest, artifact: Artifact | None, *, key: str, line: str) -> Path:
    """Return the path of the journal, which need not exist yet.

    Raises InputFault if the manifest names no file or states its hash, ManifestFault if the path is refused.
    """
    refusal = refusal_to_write(manifest, artifact, key=key, line=line)
    if refusal is not None or artifact is None:
        raise InputFault(*filter(None, [refusal]))
    return journal_path(manifest, artifact)
